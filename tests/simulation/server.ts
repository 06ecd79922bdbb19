/**
 * The server: the service of `server/` over a virtual disk, in virtual time,
 * and whoever runs it.
 *
 * @module
 */

import type { Replica } from "../../repo/replica.ts";
import { HttpFault } from "../../server/body.ts";
import { SERVER_REPOSITORY } from "../../server/books.ts";
import type { Wire } from "../../server/connections.ts";
import type { LogRecord } from "../../server/log.ts";
import type { QuarantineEntry } from "../../server/quarantine.ts";
import { makeService, Service } from "../../server/service.ts";
import { noTracing } from "../../server/tracing.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { openDatabase } from "../../src/db/database.ts";
import { observableOf } from "../../src/db/internals.ts";
import type { FaultyStorage } from "../kit/mod.ts";
import type { AppAnswer } from "../../server/login_options.ts";
import { Actor } from "./actor.ts";
import type { ActorWorld } from "./actor_world.ts";
import type { Client } from "./client.ts";
import { shows } from "./collections.ts";
import type { Dice } from "./dice.ts";
import type { Answer, Link } from "./network.ts";
import { rules } from "./rules.ts";
import type { Stage } from "./stage.ts";

/** A repository that nobody asks for stays open for this long. */
const IDLE_MS = 20_000;
const DAY_MS = 86_400_000;
/** What the log tells of when something failed that must not, unless the disk did. */
const FAULTS = new Set(["repository-failed", "fault", "request-failed"]);
/** What comes before it, in its chain or in others, may come yet. */
const EARLY = new Set(["gap", "missing-parent", "restoring"]);
/** What it changes, or a value that it needs, went with a disk. */
const LOST = new Set(["denied", "unknown-name", "constraint"]);

/** Whose sessions can be revoked. */
type Revocable = Pick<Client, "name" | "person" | "isRevoked">;

/** See the file's header. */
export class Server extends Actor {
  #service: Service | undefined;
  /** Keys by user, as the operator has them from the log. */
  readonly #keys = new Map<string, Set<string>>();
  /** Keys that were revoked, by what the operator wrote down. */
  readonly revoked = new Set<string>();
  /** Those that this disk is not known to have heard of. */
  readonly #toRevoke = new Set<string>();
  /** Repositories that peers use, since they were brought up to date. */
  readonly opened = new Set<string>();
  /** Since when wires are open, by who is at the other end. */
  readonly wires = new Map<
    Wire,
    { readonly who: string; readonly sinceMs: number }
  >();
  /** Did a bit of its disk flip that nobody has looked for? */
  #isRotten = false;
  #isToRepair = false;
  /** A backup, or the disk of the other server. */
  copy: FaultyStorage | undefined;
  /** As with its own disk. */
  #isCopyRotten = false;
  /** Is somebody looking through what was kept? */
  isAccepting = false;
  /** When somebody was connected last. */
  readonly connectedMs = new Map<string, number>();
  /** When its disk was lost last, in virtual milliseconds. */
  wipedMs = -Infinity;

  constructor(stage: Stage, dice: Dice) {
    super(stage, "s", dice);
    this.clock.offsetMs = 0;
  }

  /** What serves, while it is up. */
  get service(): Service | undefined {
    return this.#service;
  }

  /** What is open of a repository; nothing, while what it reads of its disk may be wrong. */
  replica(name: string): Replica | undefined {
    if (this.#isRotten) return undefined;
    return this.replicas().find((replica) => replica.name === name);
  }

  /** How many commits it has, over all open repositories of clients. */
  get commits(): number {
    let commits = 0;
    for (const { name, graph } of this.replicas()) {
      if (this.stage.repositories.includes(name)) commits += graph.commits;
    }
    return commits;
  }

  protected replicas(): Replica[] {
    const service = this.#service;
    if (service === undefined) return [];
    return observableOf(service.database).open().map(({ replica }) => replica);
  }

  protected async open(world: ActorWorld): Promise<void> {
    const { authority, network, plan } = this.stage;
    if (this.#isToRepair) await this.#repair(world);
    if (world.isDead) return;
    const service = await makeService(
      (parts) => new Service(parts),
      {
        storage: this.disk.storage,
        name: "sim",
        mode: plan.mode,
        rootSecret: authority.root.secretKey,
        ...(plan.hasRules && { rules }),
        // Everybody is who they say: it is not logins that are put to the test.
        login: { app: (answer) => answer as unknown as AppAnswer },
        ...(plan.sessionMs < Infinity &&
          { sessionDays: plan.sessionMs / DAY_MS }),
        idleMs: IDLE_MS,
        quotas: plan.quotas,
        logLevel: "debug",
        log: (record) => this.#told(record, world),
      },
      world,
      noTracing,
      () => false,
    );
    if (world.isDead) return;
    this.#service = service;
    this.#follow();
    network.listener = (wire, link) => this.#accept(service, wire, link);
    network.answerer = (body, link) => this.#answer(service, body, link);
    this.#revokeAll(service);
  }

  #follow(): void {
    const { repositories, judge } = this.stage;
    for (const replica of this.replicas()) {
      if (!repositories.includes(replica.name)) continue;
      judge?.follow(replica, this.#isRotten);
    }
  }

  #accept(service: Service, wire: Wire, { client }: Link): void {
    service.connections.accept(wire, client);
    const { nowMs } = this.stage.timeline;
    this.connectedMs.set(client, nowMs);
    this.wires.set(wire, { who: client, sinceMs: nowMs });
    wire.closed.then(() => this.wires.delete(wire));
  }

  /** A login over HTTP, without the socket. */
  async #answer(
    service: Service,
    body: string,
    { client }: Link,
  ): Promise<Answer> {
    const request = new Request("http://sim/login", { method: "POST", body });
    try {
      const response = await service.login.answer(request, client);
      const answer = await response.json();
      this.#noteKey(answer.user, JSON.parse(body).sessionKey);
      return { status: response.status, body: answer };
    } catch (error) {
      if (!(error instanceof HttpFault)) throw error;
      const { status, code, message, fields } = error;
      return { status, body: { ...fields, code, message } };
    }
  }

  #noteKey(user: string, key: string): void {
    const keys = this.#keys.get(user) ?? new Set();
    this.#keys.set(user, keys.add(key));
  }

  /** A fault is a failure, unless its disk was made to fail. */
  #told({ time: _, level, event, ...fields }: LogRecord, world: ActorWorld) {
    if (world.isDead) return;
    this.stage.trace.note(this.name, event, JSON.stringify(fields));
    const repository = String(fields.repository);
    if (event === "repository-opened") {
      this.opened.add(repository);
      this.#follow();
    }
    if (event === "repository-closing") this.opened.delete(repository);
    const isFault = FAULTS.has(event) || fields.detail === "log-damaged";
    if (level === "debug" || !isFault) return;
    const text = `${event}: ${JSON.stringify(fields)}`;
    const cause = new DatabaseError("storage-failed", text);
    if (!this.mayBreak) return this.stage.fail(cause);
    world.after(0, () => this.broke(cause));
  }

  protected async shut(): Promise<void> {
    const service = this.#service!;
    this.#hangUp();
    await service.drain();
    await service.close();
  }

  #hangUp(): void {
    this.stage.network.listener = undefined;
    this.stage.network.answerer = undefined;
  }

  protected drop(isClean: boolean): void {
    this.#service = undefined;
    this.isAccepting = false;
    this.opened.clear();
    this.wires.clear();
    this.#hangUp();
    if (isClean) return;
    // In Fast mode it may lack what it had signed for.
    const { plan, blames } = this.stage;
    if (plan.mode === "fast") blames.add("tail");
    const client = this.dice.chance(0.7) ? "told" : "untold";
    this.stage.network.breakAll({ client, server: "dead" });
  }

  /**
   * The sessions of a user end before their time: what they wrote until now
   * stands, and nothing more. While it is down it is done when it is up again.
   */
  revoke(client: Revocable): void {
    const { plan, trace, blames } = this.stage;
    const keys = this.#keys.get(client.person.user);
    const isPossible = plan.mode === "default" && keys !== undefined;
    if (!isPossible || client.isRevoked) return;
    client.isRevoked = true;
    blames.add("revoke");
    trace.note(this.name, "revoke", client.name);
    for (const key of keys) {
      this.revoked.add(key);
      this.#toRevoke.add(key);
    }
    if (this.state === "up") this.#revokeAll(this.#service!);
  }

  #revokeAll(service: Service): void {
    for (const key of this.#toRevoke) {
      this.guard(this.world, this.#revokeKey(service, key));
    }
  }

  /** Does it know that this key is revoked? */
  hasRevoked(key: string): boolean {
    return this.revoked.has(key) && !this.#toRevoke.has(key);
  }

  async #revokeKey(service: Service, sessionKey: string): Promise<void> {
    const { world } = this;
    try {
      await service.revoke({ sessionKey }, "simulated");
    } catch (cause) {
      // An operator tries again when it is up again.
      if (this.state === "stopping" && isUnreachable(cause)) return;
      throw cause;
    }
    if (!world.isDead) this.#toRevoke.delete(sessionKey);
  }

  /**
   * Somebody looks through what was kept, and accepts what others than its
   * author have; then everybody comes back.
   */
  acceptKept(clients: readonly Client[]): void {
    const service = this.#service;
    if (this.state !== "up" || service === undefined) return;
    if (this.isAccepting) return;
    const others = clients.filter(({ isRevoked }) => !isRevoked);
    const entries = service.quarantine()
      .filter(({ repository, chain, first, count }) =>
        others.some((client) =>
          client.lengthOf(repository, chain) >= first + count
        )
      );
    if (entries.length === 0) return;
    this.isAccepting = true;
    this.guard(this.world, this.#acceptAll(service, entries));
  }

  async #acceptAll(
    service: Service,
    entries: readonly QuarantineEntry[],
  ): Promise<void> {
    const { world, stage } = this;
    for (const entry of entries) {
      stage.judge?.accepts(entry);
      try {
        await service.accept(entry.id);
      } catch (error) {
        if (!(error instanceof HttpFault)) throw error;
        // What it changes may be lost for good: then it is let go.
        const isLost = this.wipedMs > -Infinity && LOST.has(error.code);
        if (isLost) await service.drop(entry.id);
        else if (!EARLY.has(error.code)) throw error;
      }
      if (world.isDead) return;
    }
    for (const entry of stage.ledger.entries) {
      if (entry.refused === undefined) continue;
      const served = this.replica(entry.repository);
      // Its author was told no, and somebody who has it said yes.
      if (served && shows(served, entry.mark)) entry.refused = undefined;
    }
    this.isAccepting = false;
    stage.network.breakAll({ client: "told", server: "told" });
  }

  override get mayBreak(): boolean {
    return this.#isRotten || super.mayBreak;
  }

  override broke(cause: unknown): void {
    // Whoever runs it looks at the disk when it fails.
    this.#isToRepair = this.#isRotten;
    super.broke(cause);
  }

  /** A bit of its disk flips, while nobody uses it. */
  rot(): void {
    if (this.state !== "down") return;
    const file = this.disk.rot();
    this.#isRotten = true;
    this.stage.trace.note(this.name, "rot", file);
  }

  /** Whoever runs it has heard of a bad disk, and sets what is damaged aside. */
  lookForRot(): void {
    if (!this.#isRotten) return;
    this.crash(false);
    this.#isToRepair = true;
  }

  /** Sets aside what is damaged; where the keys are, all that is left is another disk. */
  async #repair(world: ActorWorld): Promise<void> {
    const { authority, trace, plan, repositories } = this.stage;
    trace.note(this.name, "repair");
    try {
      const database = await openDatabase({
        storage: this.disk.storage,
        world,
        user: "server",
        mayIssue: true,
        mode: plan.mode,
        rootSecret: authority.root.secretKey,
        repair: true,
      });
      // By name: where a log's first record is damaged, nothing tells its name.
      for (const name of [SERVER_REPOSITORY, ...repositories]) {
        await database.repository(name);
      }
      await database.close();
    } catch (cause) {
      if (world.isDead) return;
      trace.note(this.name, "beyond-repair", String(cause));
      this.disk.wipe();
    }
    this.#isRotten = this.#isToRepair = false;
    this.#hasLost("repaired");
  }

  /** Somebody makes a backup while it is in use. */
  backup(): void {
    if (this.state !== "up") return;
    const { world } = this;
    const target = this.disk.empty();
    const copied = this.#service!.copyTo(target).then((report) => {
      if (world.isDead) return;
      this.copy = target;
      this.#isCopyRotten = this.#isRotten;
      this.stage.trace.note(this.name, "backup", JSON.stringify(report));
    });
    this.guard(world, copied);
  }

  /** Its disk is lost; another one comes, and the same root key. */
  wipe(): void {
    this.crash(true);
    this.disk.wipe();
    this.#isRotten = this.#isToRepair = false;
    this.#hasLost("wipe");
  }

  /**
   * A backup takes the place of its disk, for good; or until the next time,
   * when what was there comes back.
   */
  replaceDisk(how: "restore" | "fail-over"): void {
    const { copy } = this;
    if (copy === undefined || this.state !== "down") return;
    const before = this.disk.exchange(copy.afterPowerCut("all"));
    const wasRotten = this.#isRotten;
    this.#isRotten = this.#isCopyRotten;
    this.#isToRepair = false;
    if (how === "fail-over") {
      this.copy = before;
      this.#isCopyRotten = wasRotten;
    }
    this.stage.blames.add("replaced");
    this.#hasLost(how);
  }

  /** From now on it may lack what it had; whom it had revoked is written down elsewhere. */
  #hasLost(how: string): void {
    const { stage } = this;
    this.wipedMs = stage.timeline.nowMs;
    stage.judge?.lost();
    for (const key of this.revoked) this.#toRevoke.add(key);
    stage.blames.add("wipe");
    stage.trace.note(this.name, how);
  }
}

function isUnreachable(cause: unknown): boolean {
  return cause instanceof DatabaseError && cause.code === "unreachable";
}
