/**
 * A repository without its items: how it converges, and that it is kept.
 *
 * Who owns the files for a browser's pages has no more of it; what users hold
 * is built upon it.
 */

import { checkOptions, refuseOptions } from "../base/known_options.ts";
import type { World } from "../base/world.ts";
import type {
  Mode,
  Replica,
  ReplicaStatus,
  VerifyOptions,
  VerifyReport,
} from "../../repo/mod.ts";
import { inside, type OpenRepository } from "./internals.ts";
import type { Presence } from "./presence.ts";
import type { RepositoryLink } from "./repository_link.ts";
import type { RepositorySync } from "./repository_sync.ts";

export interface BareParts {
  readonly replica: Replica;
  readonly world: World;
  readonly link: RepositoryLink;
  /** What is done where the files are, when that is not here. */
  readonly remote?: RemoteRepository | undefined;
  /** Runs when it begins to close, with what tells the end. */
  readonly closing: (done: Promise<void>) => void;
}

export interface RemoteRepository {
  durable(): Promise<void>;
  checkpoint(): Promise<void>;
  verify(options: VerifyOptions): Promise<VerifyReport>;
}

/** One repository: what it is, with whom it converges, and its files. */
export class BareRepository implements AsyncDisposable {
  readonly #parts: BareParts;
  #closing: Promise<void> | undefined;

  /** Use `database.repository(name)`. */
  constructor(parts: BareParts) {
    refuseOptions(this);
    this.#parts = parts;
  }

  /** @internal */
  get [inside](): Partial<OpenRepository> {
    return { replica: this.#parts.replica };
  }

  /** Its name. */
  get name(): string {
    return this.#parts.replica.name;
  }

  /** How it signs, and when it calls a write durable. */
  get mode(): Mode {
    return this.#parts.replica.mode;
  }

  /** How it and the server converge: status, refusals, audits. */
  get sync(): RepositorySync {
    return this.#parts.link.sync;
  }

  /** Who else is here now, and what they show. */
  get presence(): Presence {
    return this.#parts.link.presence;
  }

  /** Counts, sizes, the recovery report, and why it is read-only, if it is. */
  status(): ReplicaStatus {
    return this.#parts.replica.status();
  }

  /** Resolves when everything visible now is on the medium, in every mode. */
  durable(): Promise<void> {
    const { remote, replica } = this.#parts;
    return (remote ?? replica).durable();
  }

  /** Writes a checkpoint now; they are also written by themselves. */
  checkpoint(): Promise<void> {
    const { remote, replica } = this.#parts;
    return (remote ?? replica).checkpoint();
  }

  /** Checks every byte, hash and signature again; reports, never repairs. */
  async verify(given?: VerifyOptions): Promise<VerifyReport> {
    const { replica, world, remote } = this.#parts;
    const options = checkOptions(given, { onProgress: 0, signal: 0 });
    if (remote !== undefined) return await remote.verify(options);
    // Few ask for it: no page loads it before.
    const { verifyReplica } = await import("../../repo/seldom.ts");
    // What cannot be written any more can still be read.
    if (replica.status().failure === undefined) await replica.durable();
    const pause = () =>
      new Promise<void>((resolve) => void world.after(0, resolve));
    return await verifyReplica(replica.loaded, options, pause);
  }

  /** Makes everything durable, ends live queries, and closes the files. */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#closing = this.#close();
      this.#parts.closing(this.#closing);
    }
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#parts.link.close();
    try {
      await this.leaving();
      await this.#parts.replica.close();
    } finally {
      this.left();
    }
  }

  /** Runs before the files are closed. */
  protected async leaving(): Promise<void> {}

  /** Runs when they are. */
  protected left(): void {}

  /** As {@linkcode close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
