/**
 * A client: replicas of the repositories that it may read, a connection to the
 * server, and somebody who writes all the time.
 *
 * @module
 */

import { createSigner, generateKeyPair } from "../../crypto/mod.ts";
import type { CommitPlace } from "../../repo/commit_place.ts";
import { parseRepositoryName } from "../../repo/genesis.ts";
import { Replica } from "../../repo/replica.ts";
import type { Session } from "../../repo/session.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import type { Channel, Incident } from "../../src/db/channel.ts";
import { SyncClient } from "../../sync/client.ts";
import type { Prover } from "../../sync/conversation.ts";
import type { Connector } from "../../sync/transport/transport.ts";
import { Actor } from "./actor.ts";
import type { ActorWorld } from "./actor_world.ts";
import { mayRead } from "./allowed.ts";
import { knowing, Mark } from "./collections.ts";
import type { Dice } from "./dice.ts";
import type { Entry } from "./ledger.ts";
import type { Link } from "./network.ts";
import type { Person } from "./people.ts";
import { loadResume, saveResume } from "./resume_files.ts";
import { rules } from "./rules.ts";
import type { Stage } from "./stage.ts";
import { Worker } from "./work.ts";

/** One repository of a client in one life. */
export interface Desk {
  readonly name: string;
  readonly replica: Replica;
  readonly channel: Channel;
  readonly worker: Worker;
  /** Writes of this life whose fate is not known. */
  pending: { readonly entry: Entry; readonly place: CommitPlace }[];
  /** What `equalAt` was when it was looked at last. */
  equalAtMs: number;
  /** How many of its incidents were heard. */
  incidents: number;
}

/** A session that outlives every simulation. */
const ENDLESS_MS = 1e11;
const TEAMS = ["red", "blue", "none"];

/** See the file's header. */
export class Client extends Actor {
  readonly person: Person;
  readonly link: Link;
  /** Does it know no rules, and write what they forbid? */
  readonly isNaughty: boolean;
  /** What its channels reported, over all lives. */
  readonly incidents: Incident[] = [];
  /** Was its session revoked? */
  isRevoked = false;
  desks: Desk[] = [];
  #sync: SyncClient | undefined;
  #certificate: Uint8Array;
  #writes = 0;
  #online: (() => void) | undefined;

  constructor(stage: Stage, index: number, dice: Dice) {
    super(stage, `c${index}`, dice);
    const { plan, network, authority } = stage;
    this.person = {
      user: `user${index}`,
      team: dice.pick(TEAMS),
      keys: generateKeyPair(dice.fill),
    };
    this.isNaughty = index < plan.naughty;
    this.link = network.link(this.name, lane(dice), lane(dice));
    this.#certificate = authority.certify(
      this.person,
      plan.sessionMs === Infinity ? ENDLESS_MS : plan.sessionMs,
    );
  }

  /** Names of the repositories that it may read. */
  get readable(): string[] {
    const { user, team } = this.person;
    return this.stage.repositories.filter((repository) =>
      mayRead({ user, team, repository })
    );
  }

  /** The connection, while there is one. */
  get sync(): SyncClient | undefined {
    return this.#sync;
  }

  protected async open(world: ActorWorld): Promise<void> {
    const replicas: Replica[] = [];
    for (const name of this.readable) {
      replicas.push(await this.#openReplica(name, world));
      if (world.isDead) return;
    }
    const { rootKey } = this.#keys();
    this.#sync = new SyncClient({
      connector: this.#connector(world),
      world,
      rootKey,
      keepResume: (name, bytes) => {
        if (!world.isDead) {
          saveResume(this.disk.storage, this.readable.indexOf(name), bytes);
        }
      },
      prover: (renew: boolean) => this.#prove(renew, world),
    });
    this.desks = replicas.map((replica, index) =>
      this.#desk(replica, index, world)
    );
    this.#writeSoon(world);
  }

  #keys(): { rootKey: Uint8Array; session: Session } {
    const { authority } = this.stage;
    const { user, keys } = this.person;
    const others = [authority.serverCertificate];
    const session = {
      user,
      secretKey: keys.secretKey,
      certificate: this.#certificate,
      others,
    };
    return { rootKey: authority.root.publicKey, session };
  }

  #openReplica(name: string, world: ActorWorld): Promise<Replica> {
    const { plan } = this.stage;
    return Replica.open({
      storage: this.disk.storage,
      world,
      name: parseRepositoryName(name),
      mode: plan.mode,
      isModeRequired: true,
      ...this.#keys(),
      isOriginal: true,
      viewOf: knowing,
      repair: false,
      settle: () => Promise.resolve(),
      ...(plan.hasRules && !this.isNaughty && { rules }),
    });
  }

  #desk(replica: Replica, index: number, world: ActorWorld): Desk {
    const channel = this.#sync!.add(
      replica.port(),
      loadResume(this.disk.storage, index),
    );
    const desk: Desk = {
      name: replica.name,
      replica,
      channel,
      worker: new Worker({
        replica,
        world,
        dice: this.dice.fork(),
        user: this.person.user,
        isNaughty: this.isNaughty,
      }),
      pending: [],
      equalAtMs: channel.status.equalAt?.getTime() ?? 0,
      incidents: 0,
    };
    channel.subscribe(() => {
      if (world.isDead) return;
      try {
        this.#heard(desk);
      } catch (cause) {
        this.stage.fail(cause);
      }
    });
    return desk;
  }

  #connector(world: ActorWorld): Connector {
    const { network } = this.stage;
    return {
      address: "sim:",
      connect: (signal) =>
        network.connect(this.link, signal, () => world.isDead),
      onOnline: (retry) => {
        this.#online = retry;
        return () => void (this.#online = undefined);
      },
    };
  }

  /** The platform says that the network is back, as it may at any time. */
  networkReturned(): void {
    if (this.state === "up") this.#online?.();
  }

  async #prove(renew: boolean, world: ActorWorld): Promise<Prover> {
    const { authority, plan, timeline } = this.stage;
    if (renew && !this.isRevoked) {
      await new Promise<void>((done) => world.after(20, done));
      const endMs = plan.sessionMs === Infinity
        ? ENDLESS_MS
        : timeline.nowMs + plan.sessionMs;
      this.#certificate = authority.certify(this.person, endMs);
      this.stage.trace.note(this.name, "login");
      const { session } = this.#keys();
      for (const { replica } of this.desks) replica.useSession(session);
    }
    const signer = createSigner(this.person.keys.secretKey);
    return {
      publicKey: signer.publicKey,
      certificates: [this.#certificate, authority.serverCertificate],
      sign: (message) => signer.sign(message),
    };
  }

  #writeSoon(world: ActorWorld): void {
    world.after(this.dice.wait(this.stage.plan.writeEveryMs), () => {
      if (this.stage.phase !== "work") return;
      if (this.state === "up") this.#write(world);
      this.#writeSoon(world);
    });
  }

  #write(world: ActorWorld): void {
    const desk = this.dice.pick(this.desks);
    const { trace, ledger, timeline } = this.stage;
    const mark = `${this.name}-${++this.#writes}`;
    try {
      const done = desk.worker.write(mark);
      const { name: author, lives: life } = this;
      const entry = ledger.add({
        mark,
        repository: desk.name,
        author,
        life,
        madeMs: timeline.nowMs,
      });
      trace.note(this.name, "write", `${mark} ${desk.name}`);
      desk.pending.push({ entry, place: done.commit! });
      const durable = done.durability.promise.then(() => {
        if (!world.isDead) entry.isDurable = true;
      });
      this.guard(world, durable);
    } catch (cause) {
      if (cause instanceof DatabaseError && cause.code === "denied") {
        trace.note(this.name, "denied", mark);
      } else if (!world.isDead) this.broke(cause);
    }
  }

  /** Something changed on a channel: whose writes arrived, and whose were refused? */
  #heard(desk: Desk): void {
    const { channel, pending } = desk;
    this.#hearIncidents(desk);
    desk.pending = pending.filter(({ entry, place }) => {
      if (place.state === "refused") {
        entry.refused = "refused";
        this.stage.trace.note(this.name, "refused", entry.mark);
        return false;
      }
      if (channel.acknowledged(place.chain) <= place.number) return true;
      // Somebody who exchanges frames can make one acknowledgement look like another's.
      if (this.link.mangler === undefined) entry.isSynced = true;
      this.stage.trace.note(this.name, "synced", entry.mark);
      return false;
    });
  }

  #hearIncidents(desk: Desk): void {
    const { incidents } = desk.channel.status;
    for (const incident of incidents.slice(desk.incidents)) {
      this.incidents.push(incident);
      this.stage.trace.note(
        this.name,
        "incident",
        `${desk.name} ${incident.kind}: ${incident.message}`,
      );
    }
    desk.incidents = incidents.length;
  }

  /** Marks of the writes that its replica says were refused. */
  refusedMarks(repository: string): Set<string> {
    const desk = this.desks.find(({ name }) => name === repository);
    const marks = new Set<string>();
    for (const { patch } of desk?.replica.refusals() ?? []) {
      for (const { shape, id } of patch.operations) {
        if (shape.collection === Mark.name) marks.add(id);
      }
    }
    return marks;
  }

  protected replicas(): Replica[] {
    return this.desks.map(({ replica }) => replica);
  }

  protected async shut(): Promise<void> {
    this.#sync?.close();
    for (const { replica } of this.desks) await replica.close();
  }

  protected drop(isClean: boolean): void {
    this.#sync = undefined;
    this.#online = undefined;
    this.desks = [];
    if (isClean) return;
    const server = this.dice.chance(0.7) ? "told" : "untold";
    this.stage.network.breakLink(this.link, { client: "dead", server });
  }
}

function lane(dice: Dice) {
  return {
    delayMs: dice.between(1, 150),
    jitterMs: dice.between(0, 30),
    bytesPerMs: 1_000,
    isStalled: false,
  };
}
