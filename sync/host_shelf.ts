/** The repositories that a host has open, each once for all of its peers. */

import type { RepositoryName } from "../repo/commit/genesis.ts";
import type { World } from "../src/base/world.ts";
import type { ServerProver } from "./proof.ts";
import type { HostedRepository } from "./host_hooks.ts";
import { Broadcast } from "./broadcast.ts";
import { PresenceRoom } from "./presence_room.ts";
import { ReceiptDesk } from "./receipt.ts";
import { WitnessMaker } from "./witness.ts";

/** A repository that is open, with what its peers share. */
export interface OpenRepository {
  readonly hosted: HostedRepository;
  /** At most one signature a second, whoever asks. */
  readonly witness: WitnessMaker;
  /** What its peers get in common. */
  readonly broadcast: Broadcast;
  /** One signature a flush, for all who are acknowledged by it. */
  readonly receipts: ReceiptDesk;
  readonly room: PresenceRoom;
  /** What to do for each follower when there is more to share. */
  readonly followers: Set<() => void>;
}

/** What a shelf works with. */
export interface ShelfParts {
  readonly world: World;
  readonly prover: ServerProver;
  open(name: RepositoryName): Promise<HostedRepository | undefined>;
  /** There is more to share; tell these. */
  news(followers: ReadonlySet<() => void>): void;
}

interface Entry {
  users: number;
  readonly opened: Promise<OpenRepository | undefined>;
}

/** Opens on demand, shares, and releases with the last user. */
export class HostShelf {
  readonly #parts: ShelfParts;
  readonly #entries = new Map<RepositoryName, Entry>();

  constructor(parts: ShelfParts) {
    this.#parts = parts;
  }

  /** One more user of a repository; each must `release`, also when there is none. */
  acquire(name: RepositoryName): Promise<OpenRepository | undefined> {
    let entry = this.#entries.get(name);
    if (entry === undefined) {
      entry = { users: 0, opened: this.#open(name) };
      this.#entries.set(name, entry);
    }
    entry.users++;
    return entry.opened;
  }

  /** One user less; with the last one it is released, as soon as it has been opened. */
  release(name: RepositoryName): void {
    const entry = this.#entries.get(name);
    if (entry === undefined || --entry.users > 0) return;
    const settle = (repository?: OpenRepository) => {
      if (entry.users > 0 || this.#entries.get(name) !== entry) return;
      this.#entries.delete(name);
      repository?.hosted.release();
    };
    // Whoever waited for it has heard of its failure.
    entry.opened.then(settle, () => settle());
  }

  async #open(name: RepositoryName): Promise<OpenRepository | undefined> {
    const { world, prover, open, news } = this.#parts;
    const hosted = await open(name);
    if (hosted === undefined) return undefined;
    const { port, order } = hosted;
    const followers = new Set<() => void>();
    const end = port.onShareable(() => news(followers));
    return {
      hosted: {
        ...hosted,
        release() {
          end();
          hosted.release();
        },
      },
      witness: new WitnessMaker({ prover, port, order }),
      broadcast: new Broadcast(),
      receipts: new ReceiptDesk({ prover, port, order }),
      room: new PresenceRoom(world),
      followers,
    };
  }
}
