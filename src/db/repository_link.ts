/**
 * What ties a repository to a connection: its channel while there is one, and
 * the resume file between them. Made of nothing until somebody asks.
 *
 * @module
 */

import type { World } from "../base/world.ts";
import type { Storage } from "../storage/storage.ts";
import type { Replica } from "../../repo/mod.ts";
import type { Channel, SyncReason } from "./channel.ts";
import { RepositoryPresence } from "./presence.ts";
import { RepositorySyncing } from "./repository_sync.ts";
import { readResume, type Resume, writeResume } from "./resume_file.ts";
import type { UnfitFields } from "./unfit_fields.ts";
import type { Arrivals, Written } from "./write.ts";

/** While connected, what is known of the server is written down this long after it changed. */
const SAVE_AFTER_MS = 5_000;

/** The side of a sync client that repositories ride on. */
export interface ChannelSource {
  add(replica: Replica, resume?: Uint8Array): Channel;
  remove(name: string): Uint8Array | undefined;
}

/** What a link is made of. */
export interface RepositoryLinkParts {
  readonly replica: Replica;
  readonly storage: Storage;
  readonly world: World;
  /** Fields that hold values of another kind. */
  readonly unfit?: UnfitFields;
  /** Runs when the repository closes. */
  readonly leaving?: (link: RepositoryLink) => void;
  /** Hears what listeners throw. */
  readonly report?: (error: unknown) => void;
}

/** One repository's tie to connections that come and go. */
export class RepositoryLink implements Arrivals {
  readonly #parts: RepositoryLinkParts;
  #sync: RepositorySyncing | undefined;
  #presence: RepositoryPresence | undefined;
  #source: ChannelSource | undefined;
  #channel: Channel | undefined;
  #endListening: (() => void) | undefined;
  /** What is known of the server, as it was last read or written. */
  #resume: Resume | undefined;
  #isResumeRead = false;
  #cancelSave: (() => void) | undefined;

  constructor(parts: RepositoryLinkParts) {
    this.#parts = parts;
  }

  /** The replica that it ties. */
  get replica(): Replica {
    return this.#parts.replica;
  }

  /** The repository's observable. */
  get sync(): RepositorySyncing {
    const { replica, report, unfit, world } = this.#parts;
    return this.#sync ??= new RepositorySyncing({
      replica,
      ...(unfit !== undefined && { unfit }),
      now: () => world.now(),
      knownBefore: () => this.known,
      ...(report !== undefined && { report }),
    });
  }

  /** Who else is here. */
  get presence(): RepositoryPresence {
    return this.#presence ??= new RepositoryPresence(this.#parts.report);
  }

  synced(written: Written): Promise<void> {
    return this.sync.synced(written);
  }

  #readResume(): Resume | undefined {
    if (!this.#isResumeRead) {
      this.#isResumeRead = true;
      this.#resume = readResume(this.#parts.storage, this.#parts.replica);
    }
    return this.#resume;
  }

  /** Opens a channel of its own on a connection. */
  join(source: ChannelSource): void {
    if (this.#source !== undefined) return;
    const { replica } = this.#parts;
    this.#source = source;
    const channel = source.add(replica, this.#readResume()?.bytes);
    this.#channel = channel;
    this.#endListening = channel.subscribe(() => this.#heard());
    this.sync.attach(channel);
    this.presence.attach(channel);
  }

  #heard(): void {
    this.#sync?.changed();
    this.#presence?.heard();
    this.#cancelSave ??= this.#parts.world.after(SAVE_AFTER_MS, () => {
      this.#cancelSave = undefined;
      this.#save(this.#channel?.resume());
    });
  }

  #save(bytes: Uint8Array | undefined): void {
    const known = this.#channel?.known;
    if (bytes === undefined || known === undefined) return;
    this.#resume = { bytes, known };
    writeResume(this.#parts.storage, this.#parts.replica, this.#resume);
  }

  /** Closes the channel and keeps what it knew. Waits for nothing. */
  leave(reason?: SyncReason): void {
    const source = this.#source;
    if (source === undefined) return;
    this.#source = undefined;
    this.#cancelSave?.();
    this.#cancelSave = undefined;
    this.#endListening?.();
    this.#sync?.detach(reason); // A channel that is removed knows less.
    this.#save(source.remove(this.#parts.replica.name));
    this.#channel = undefined;
    this.#presence?.attach(undefined);
  }

  /** Own log address up to which the server is known to have everything. */
  get known(): number {
    return this.#channel?.known ?? this.#readResume()?.known ?? 0;
  }

  /** The repository closes. */
  close(): void {
    this.#parts.leaving?.(this);
    this.leave();
    this.#sync?.close();
  }
}
