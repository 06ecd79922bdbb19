/**
 * The server's repositories: opened when somebody asks for them, closed when
 * nobody has for a while.
 *
 * @module
 */

import { ruledDoor } from "../../repo/ruled_door.ts";
import { type Epoch, epochFactsOf, openEpoch } from "../../repo/epoch.ts";
import { parseRepositoryName } from "../../repo/genesis.ts";
import { Replica } from "../../repo/replica.ts";
import type { ActorWorld } from "./actor_world.ts";
import { unknowing } from "./collections.ts";
import { rules } from "./rules.ts";
import type { Server } from "./server.ts";

/** A repository that nobody asks for stays open for this long. */
const IDLE_MS = 20_000;

/** An open repository of the server. */
export interface Served {
  readonly replica: Replica;
  readonly epoch: Epoch;
}

interface Place {
  readonly opening: Promise<Served>;
  served: Served | undefined;
  users: number;
  /** Takes back that it will be closed. */
  keep: () => void;
}

/** See the file's header. */
export class Shelf {
  readonly #server: Server;
  readonly #world: ActorWorld;
  readonly #places = new Map<string, Place>();
  readonly #closings = new Map<string, Promise<void>>();

  constructor(server: Server, world: ActorWorld) {
    this.#server = server;
    this.#world = world;
  }

  /** What is open of a repository. */
  find(name: string): Served | undefined {
    return this.#places.get(name)?.served;
  }

  /** Everything that is open. */
  *all(): Iterable<Served> {
    for (const { served } of this.#places.values()) {
      if (served !== undefined) yield served;
    }
  }

  /** Opens a repository for one more user. */
  take(name: string): Promise<Served> {
    let place = this.#places.get(name);
    if (place === undefined) {
      const made: Place = {
        opening: this.#open(name),
        served: undefined,
        users: 0,
        keep: () => {},
      };
      place = made;
      this.#places.set(name, made);
      made.opening.then(
        (served) => void (made.served = served),
        () => this.#places.delete(name),
      );
    }
    place.keep();
    place.users++;
    return place.opening;
  }

  /** One user less. */
  release(name: string): void {
    const place = this.#places.get(name);
    if (place === undefined || --place.users > 0) return;
    place.keep = this.#world.after(IDLE_MS, () => {
      this.#places.delete(name);
      this.#server.closes(this.#close(name, place));
    });
  }

  async #open(name: string): Promise<Served> {
    await this.#closings.get(name);
    const { stage, disk } = this.#server;
    const { plan, authority } = stage;
    stage.trace.note("s", "open", name);
    const replica = await Replica.open({
      door: ruledDoor,
      storage: disk.storage,
      world: this.#world,
      name: parseRepositoryName(name),
      mode: plan.mode,
      isModeRequired: true,
      rootKey: authority.root.publicKey,
      session: {
        user: "server",
        signer: authority.issuer,
        certificate: authority.serverCertificate,
      },
      isOriginal: true,
      viewOf: unknowing,
      repair: false,
      settle: () => Promise.resolve(),
      ...(plan.hasRules && { rules }),
    });
    const revocations = this.#server.revocations.filter((one) =>
      one.name === name
    );
    replica.receive(
      revocations.map(({ bytes }) => ({ kind: "revocation", bytes })),
    );
    await replica.durable();
    const { folder } = replica.loaded;
    const epoch = openEpoch(
      disk.storage,
      folder,
      this.#world,
      epochFactsOf(replica),
    );
    return { replica, epoch };
  }

  async #close(name: string, { opening }: Place): Promise<void> {
    const done = opening.then(async ({ replica, epoch }) => {
      this.#server.stage.trace.note("s", "close", name);
      await replica.durable();
      const facts = epochFactsOf(replica);
      await replica.close();
      if (facts !== undefined) await epoch.close(facts);
    });
    this.#closings.set(name, done.catch(() => {}));
    await done;
    this.#closings.delete(name);
  }

  /** Closes everything. */
  async shut(): Promise<void> {
    const places = [...this.#places];
    this.#places.clear();
    for (const [name, place] of places) {
      place.keep();
      await this.#close(name, place);
    }
    await Promise.all(this.#closings.values());
  }
}
