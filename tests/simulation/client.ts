/**
 * A client: replicas of the repositories that it may read, a connection to the
 * server, and somebody who writes all the time.
 *
 * @module
 */

import { ruledDoor } from "../../repo/ruled_door.ts";
import { createSigner, generateKeyPair } from "../../crypto/mod.ts";
import { parseRepositoryName } from "../../repo/genesis.ts";
import type { RefusedEntry } from "../../repo/refusals.ts";
import { type Done, Replica } from "../../repo/replica.ts";
import type { Session } from "../../repo/session.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import type { Incident } from "../../src/db/channel.ts";
import { SyncClient } from "../../sync/client.ts";
import type { Prover } from "../../sync/conversation.ts";
import type { Connector } from "../../sync/transport/transport.ts";
import { Actor } from "./actor.ts";
import type { ActorWorld } from "./actor_world.ts";
import { mayRead } from "./allowed.ts";
import { knowing, Mark, shows } from "./collections.ts";
import type { Dice } from "./dice.ts";
import type { Desk } from "./desk.ts";
import type { Entry } from "./ledger.ts";
import type { Link } from "./network.ts";
import type { Person } from "./people.ts";
import { loadResume, saveResume } from "./resume_files.ts";
import { rules } from "./rules.ts";
import type { Stage } from "./stage.ts";
import { Worker } from "./work.ts";

export type { Desk } from "./desk.ts";

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
  readonly incidents: (Incident & { readonly isTainted: boolean })[] = [];
  readonly #tainted = new Set<string>();
  readonly #spoiled = new Set<string>();
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
      signer: createSigner(keys.secretKey),
      certificate: this.#certificate,
      others,
    };
    return { rootKey: authority.root.publicKey, session };
  }

  #openReplica(name: string, world: ActorWorld): Promise<Replica> {
    const { plan } = this.stage;
    return Replica.open({
      door: ruledDoor,
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
      equalHeardMs: channel.status.equalAt?.getTime() ?? 0,
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

  /** Deals with a write that was refused: tries it again as it is, or gives it up. */
  #reconsider(desk: Desk, world: ActorWorld): void {
    const { replica } = desk;
    const refusals = replica.refusals();
    if (refusals.length === 0) return;
    const refusal = this.dice.pick(refusals);
    const entries = marksOf(refusal).map((mark) =>
      this.stage.ledger.find(mark)!
    );
    const isRetried = this.dice.chance(0.5);
    const { trace } = this.stage;
    try {
      if (!isRetried) {
        for (const entry of entries) entry.isGone = true;
        const gone = replica.discard(refusal);
        this.guard(world, gone);
        trace.note(this.name, "discard", desk.name);
        return;
      }
      const done = replica.retry(refusal);
      trace.note(this.name, "retry", desk.name);
      for (const entry of entries) {
        entry.refused = undefined;
        entry.isRetried = true;
        entry.isGone = false;
        this.#follow(desk, entry, done, world);
      }
    } catch (cause) {
      if (cause instanceof DatabaseError && cause.code === "denied") {
        trace.note(this.name, "denied", "again");
      } else if (!world.isDead) this.broke(cause);
    }
  }

  #follow(desk: Desk, entry: Entry, done: Done<void>, world: ActorWorld): void {
    const pending = { entry, place: done.commit!, isDurable: false };
    desk.pending.push(pending);
    const durable = done.durability.promise.then(() => {
      if (!world.isDead) entry.isDurable = pending.isDurable = true;
    });
    this.guard(world, durable);
  }

  #write(world: ActorWorld): void {
    const desk = this.dice.pick(this.desks);
    if (this.dice.chance(0.2)) this.#reconsider(desk, world);
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
      this.#follow(desk, entry, done, world);
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
    this.#hearEqual(desk);
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

  /** It says that it is equal with the server: is it? */
  #hearEqual(desk: Desk): void {
    const atMs = desk.channel.status.equalAt?.getTime() ?? 0;
    if (atMs === desk.equalHeardMs) return;
    desk.equalHeardMs = atMs;
    if (this.link.mangler === undefined) this.#tainted.delete(desk.name);
    if (!this.isTainted(desk.name)) this.stage.equal?.(this, desk);
  }

  #hearIncidents(desk: Desk): void {
    const { incidents } = desk.channel.status;
    for (const incident of incidents.slice(desk.incidents)) {
      // A certificate that was lost on the way is missed only when a commit needs it.
      const isLateLoss = this.#spoiled.has(desk.name) &&
        incident.message.endsWith("unknown-session");
      if (isLateLoss) this.#tainted.add(desk.name);
      const isTainted = this.isTainted(desk.name);
      this.incidents.push({ ...incident, isTainted });
      this.stage.trace.note(
        this.name,
        "incident",
        `${desk.name} ${incident.kind}: ${incident.message}`,
      );
    }
    desk.incidents = incidents.length;
  }

  /** Is the mark part of what its replica shows? */
  shows(repository: string, mark: string): boolean {
    const desk = this.desks.find(({ name }) => name === repository);
    return desk !== undefined && shows(desk.replica, mark);
  }

  /**
   * From now on frames of its may be others than were sent, until it was found
   * equal with the server again: of commits and items, not of certificates.
   */
  taint(): void {
    for (const name of this.readable) {
      this.#tainted.add(name);
      this.#spoiled.add(name);
    }
  }

  /** May what it knows of the server be wrong, since somebody changed frames? */
  isTainted(repository: string): boolean {
    return this.#tainted.has(repository);
  }

  /** Marks of the writes that its replica says were refused. */
  refusedMarks(repository: string): Set<string> {
    const desk = this.desks.find(({ name }) => name === repository);
    const marks = new Set<string>();
    for (const refusal of desk?.replica.refusals() ?? []) {
      for (const mark of marksOf(refusal)) marks.add(mark);
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

/** Marks of the writes of a refused commit. */
function marksOf({ patch }: RefusedEntry): string[] {
  return patch.operations
    .filter(({ shape }) => shape.collection === Mark.name)
    .map(({ id }) => id);
}

function lane(dice: Dice) {
  return {
    delayMs: dice.between(1, 150),
    jitterMs: dice.between(0, 30),
    bytesPerMs: 1_000,
    isStalled: false,
  };
}
