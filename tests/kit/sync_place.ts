/**
 * A server and clients in one thread, on memory wires and a clock by hand.
 *
 * @module
 */

import type { Signer } from "../../crypto/mod.ts";
import type { Position } from "../../repo/commit/commit.ts";
import type { Session } from "../../repo/commit/session.ts";
import type { FollowingWorld } from "../../src/base/server_clock.ts";
import type { World } from "../../src/base/world.ts";
import { Editor } from "../../src/db/editor.ts";
import { IdSource } from "../../src/schema/names.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { SyncChannel } from "../../sync/client_channel.ts";
import { SyncClient } from "../../sync/client.ts";
import { rights } from "../../sync/conversation.ts";
import type { Prover, ServerProver } from "../../sync/proof.ts";
import { SyncHost } from "../../sync/host.ts";
import type { Access, HostEvent, HostHooks } from "../../sync/host_hooks.ts";
import {
  memoryConnector,
  type MemoryWire,
  type Schedule,
} from "../../sync/transport/memory_transport.ts";
import type { Connector, Transport } from "../../sync/transport/transport.ts";
import {
  bareSession,
  certificateFor,
  ManualWorld,
  Note,
  Place,
  sessionOf,
} from "./replica_place.ts";

const SERVER_SEED = 90;

/**
 * Lets turns and time go by, in steps, until something holds. No time of real
 * clocks: what comes over real wires is waited for as `patience.ts` does.
 */
export async function until(
  world: ManualWorld,
  isThere: () => boolean,
  ms = 60_000,
  stepMs = 10,
): Promise<void> {
  for (let passed = 0; !isThere(); passed += stepMs) {
    if (passed > ms) throw new Error(`It did not happen: ${isThere}`);
    await new Promise((resolve) => setImmediate(resolve));
    if (!isThere()) world.advance(stepMs);
  }
}

/** The prover of a session. */
export function proverOf(session: Session): ServerProver {
  const { certificate } = session;
  const signer = session.signer as Signer; // Proof: a test's session signs at once.
  return {
    publicKey: signer.publicKey,
    certificates: certificate === undefined ? [] : [certificate],
    sign: (message) => signer.sign(message),
  };
}

type Delays = Pick<HostHooks, "creditDelay" | "workDelay">;

/** A server of the repository "place". */
export class ServerPlace {
  readonly world: ManualWorld;
  readonly wires: MemoryWire[] = [];
  readonly events: HostEvent[] = [];
  place!: Place;
  host!: SyncHost;
  /** Refuses connections. */
  isDown = false;
  /** How many times it was connected to. */
  attempts = 0;
  /** What a session may do. */
  access: Access = { rights: rights.read | rights.write };
  /** Asked for each channel. */
  authorize: HostHooks["authorize"] = () => this.access;
  /** Refuses batches where it says so. */
  gate: HostHooks["gate"] = () => undefined;
  /** How long a peer waits for credit, or for more work. */
  readonly #delays: Delays;
  /** How often the repository was opened and released. */
  opened = 0;
  released = 0;
  readonly #schedule: Schedule | undefined;
  #close: (() => Promise<void>) | undefined;

  private constructor(
    world: ManualWorld,
    schedule: Schedule | undefined,
    delays: Delays,
  ) {
    this.world = world;
    this.#schedule = schedule;
    this.#delays = delays;
  }

  /** Starts it. */
  static async start(
    world = new ManualWorld(),
    schedule?: Schedule,
    delays: Delays = {},
  ): Promise<ServerPlace> {
    const server = new ServerPlace(world, schedule, delays);
    await server.#start();
    return server;
  }

  async #start(storage?: Storage): Promise<void> {
    const bare = bareSession(SERVER_SEED);
    const session = {
      ...bare,
      certificate: certificateFor(bare, undefined, true),
    };
    const place = await Place.open({
      world: this.world,
      session,
      ...(storage && { storage }),
    });
    const { replica } = place;
    const order = await replica.serve();
    this.place = place;
    this.#close = async () => {
      await replica.durable();
      await replica.close();
    };
    const port = replica.port();
    this.host = new SyncHost({
      world: this.world,
      prover: proverOf(session),
      rootKey: port.rootKey,
      name: "test",
      hooks: {
        authorize: (...args) => this.authorize(...args),
        openRepository: (name) => {
          if (name !== port.name) return Promise.resolve(undefined);
          this.opened++;
          return Promise.resolve({
            port,
            order,
            release: () => void this.released++,
          });
        },
        gate: (...args) => this.gate?.(...args),
        ...this.#delays,
        event: (_peer, event) => void this.events.push(event),
      },
    });
  }

  /** Stops in good order and starts again on the same storage. */
  async restart(waitMs = 0): Promise<void> {
    this.isDown = true;
    await this.host.close(waitMs);
    await this.#close?.();
    await this.#start(this.place.storage);
    this.isDown = false;
  }

  /** Ends it. */
  async stop(): Promise<void> {
    await this.host.close();
    await this.#close?.();
  }

  /** Where clients connect to. */
  get connector(): Connector {
    return memoryConnector("memory:test", (transport, wire) => {
      this.attempts++;
      if (this.isDown) throw { code: "lost", detail: "It is down" };
      this.wires.push(wire);
      this.host.accept(transport as Transport, "test");
    }, this.#schedule);
  }

  /** All wires go away. */
  cut(): void {
    for (const wire of this.wires.splice(0)) wire.cut();
  }

  /** How many are connected. */
  get peers(): number {
    const count = (kind: HostEvent["kind"]) =>
      this.events.filter((event) => event.kind === kind).length;
    return count("accepted") - count("ended");
  }

  /** Faults of the host. */
  get faults(): unknown[] {
    return this.events.flatMap((event) =>
      event.kind === "fault" ? [event.error] : []
    );
  }
}

/** How a client is made. */
export interface ClientParts {
  /** What it kept of the server. */
  readonly resume?: Uint8Array;
  readonly connector?: Connector;
  /** Who proves itself; the replica's session when absent. */
  readonly prover?: (renew: boolean) => Prover;
  /** Where its clock is another one than the server's. */
  readonly world?: World;
  /** What dates its commits: it follows the server's clock. */
  readonly clock?: FollowingWorld;
  /** Has it no memory for more? */
  readonly isFull?: () => boolean;
}

/** A client of it. */
export class ClientPlace {
  readonly server: ServerPlace;
  readonly place: Place;
  readonly client: SyncClient;
  readonly channel: SyncChannel;
  /** The states that it went through. */
  readonly states: string[] = [];

  private constructor(
    server: ServerPlace,
    place: Place,
    parts: ClientParts,
  ) {
    this.server = server;
    this.place = place;
    this.client = new SyncClient({
      connector: parts.connector ?? server.connector,
      world: parts.world ?? server.world,
      rootKey: place.replica.port().rootKey,
      prover: (renew) =>
        Promise.resolve(
          parts.prover?.(renew) ?? proverOf(place.replica.session),
        ),
      follow: (offsetMs) => parts.clock?.follow(offsetMs),
      isFull: () => parts.isFull?.() ?? false,
    });
    this.channel = this.client.add(place.replica.port(), parts.resume);
    this.states.push(this.channel.status.state);
    this.channel.subscribe(() => {
      const { state } = this.channel.status;
      if (state !== this.states.at(-1)) this.states.push(state);
    });
  }

  /** Connects a replica: a new one, or the given one. */
  static async connect(
    server: ServerPlace,
    seed: number,
    parts: ClientParts & { place?: Place } = {},
  ): Promise<ClientPlace> {
    const { world } = server;
    const place = parts.place ??
      await Place.open({
        seed,
        world: parts.clock ?? world,
        session: sessionOf(seed),
      });
    return new ClientPlace(server, place, parts);
  }

  /** Is it live, with nothing unsent? */
  get isLive(): boolean {
    const { state, unsent } = this.channel.status;
    return state === "live" && unsent.commits === 0;
  }

  /** Waits until it is live and has nothing unsent. */
  async live(): Promise<void> {
    await until(this.server.world, () => this.isLive);
  }

  /** Writes a note; says where the commit stands when it is durable here. */
  async write(id: string, text: string): Promise<Position> {
    const { replica } = this.place;
    const table = replica.state.table(Note.name);
    const editor = new Editor(Note, table, new IdSource(this.server.world));
    const done = replica.transact((tx) => editor.upsert(tx, { id, text }));
    await done.durability.promise;
    return done.commit!;
  }

  /** Resolves when the server has a commit durably; rejects with the reason where it was refused. */
  async synced(commit: Position): Promise<void> {
    const arrived = Promise.withResolvers<void>();
    const check = () => {
      const { voided } = this.place.replica.loaded;
      const { chain, number, isRefused } = voided.placeOf(commit);
      if (isRefused) arrived.reject(new Error(this.#whyRefused()));
      else if (number < this.channel.acknowledged(chain)) arrived.resolve();
    };
    const end = this.channel.subscribe(check);
    check();
    await arrived.promise.finally(end);
  }

  #whyRefused(): string {
    return this.place.replica.refusals().map(({ reason }) => reason).join();
  }

  /** Disconnects. */
  close(): void {
    this.client.close();
  }
}
