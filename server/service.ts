/**
 * A server without a listener: a database that peers use over wires which are
 * open already. It wires and delegates; who may come is in `login*.ts` and
 * `sessions.ts`, what they may do in `hooks.ts`, what they cost in `quotas.ts`.
 *
 * Architecture invariant: nothing that was acknowledged is lost by closing:
 * clients are told first, repositories are made durable and checkpointed next,
 * the lock is given back last. It reads no clock but that of its `World`
 * (law 9).
 */

import { toHex } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { refuseOptions } from "../src/base/known_options.ts";
import { limits } from "../src/base/limits.ts";
import type { World } from "../src/base/world.ts";
import type { Database } from "../src/db/database.ts";
import type { ItemName, Replica, RepositoryName } from "../repo/mod.ts";
import type { PeerSession } from "../sync/proof.ts";
import { SyncHost } from "../sync/host.ts";
import type { Storage } from "../src/storage/storage.ts";
import { Acceptance } from "./acceptance.ts";
import { copyDatabase, type CopyReport } from "./backup.ts";
import { HttpFault } from "./body.ts";
import { Connections } from "./connections.ts";
import type { EmbeddedServer, ServerStatus, Whom } from "./api.ts";
import { failedOpening, Failures, Hub } from "./hub.ts";
import { type Foundation, layFoundation, quotasOf } from "./foundation.ts";
import { ServerHooks } from "./hooks.ts";
import { Latencies, type Metrics, openMetrics } from "./metrics.ts";
import { Log, standardSink } from "./log.ts";
import { createLogin, type Login } from "./login.ts";
import { LoginRoute } from "./login_route.ts";
import {
  type KnownOptions,
  type Quotas,
  type ServerOptions,
  withDefaults,
} from "./options.ts";
import { Quarantine, type QuarantineEntry } from "./quarantine.ts";
import { perMinute } from "./quotas.ts";
import { BorrowedItems } from "./borrowed_items.ts";
import { Judge } from "./judge.ts";
import { Readers } from "./readers.ts";
import { RestoreReport } from "./restore_report.ts";
import { RevocationList } from "./revocations.ts";
import { lastEnd, Sessions } from "./sessions.ts";
import type { Tracing } from "./tracing.ts";
import { checkLoginOptions } from "./login_options.ts";

/** Clients that are told to come back wait for so long. */
const COME_BACK_MS = 1_000;

export interface Health {
  readonly status: "ok" | "restoring" | "failing" | "shutting-down";
  readonly [detail: string]: unknown;
}

type Operated = Pick<
  EmbeddedServer,
  | ("name" | "rootKey" | "isNew" | "database" | "status")
  | ("revoke" | "quarantine" | "accept" | "drop")
>;

export interface ServiceParts {
  readonly world: World;
  readonly options: KnownOptions;
  readonly quotas: Quotas;
  readonly tracing: Tracing;
  readonly metrics: Metrics;
  readonly login: Login;
  readonly foundation: Foundation;
  readonly isFull: () => boolean;
}

/** What peers use, and those who run it: their words are in `api.ts`. */
export class Service implements Operated {
  readonly #parts: ServiceParts;
  readonly #hub: Hub;
  readonly #sessions: Sessions;
  readonly #revocations: RevocationList;
  readonly #quarantine: Quarantine;
  readonly #judge: Judge;
  readonly #readers: Readers | undefined;
  readonly #acceptance: Acceptance;
  readonly #restores: RestoreReport;
  readonly #latencies: Latencies;
  readonly #host: SyncHost;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly connections: Connections;
  readonly login: LoginRoute;
  #isClosing = false;
  readonly #borrowed: BorrowedItems;
  #cancelJudging: (() => void) | undefined;
  readonly #failures: Failures;

  constructor(parts: ServiceParts) {
    refuseOptions(this);
    this.#parts = parts;
    const { options, foundation, metrics, tracing, world } = parts;
    const { books, issuer } = foundation;
    this.metrics = metrics;
    this.tracing = tracing;
    const now = () => world.now();
    this.log = new Log(options.log ?? standardSink(), options.logLevel, now);
    this.#latencies = new Latencies(metrics, world);
    const hub = this.#hub = this.#createHub();
    const { sessionDays: days, restored = false } = options;
    this.#restores = new RestoreReport(books, this.log, world, restored);
    const revocations = this.#revocations = new RevocationList({
      books,
      hub,
      restores: this.#restores,
      signer: issuer.signer,
      now,
      lastEnd: () => lastEnd(issuer, days, now()),
      log: this.log,
      metrics,
      disconnect: (isMeant) => this.#disconnect(isMeant),
    });
    const { rootKey } = this;
    this.#sessions = new Sessions({
      ...{ books, issuer, rootKey, days, now, revocations },
    });
    this.#quarantine = new Quarantine(books, now, parts.foundation.own);
    const { rules, schemas = [], salt } = options;
    const { log } = this;
    const restores = this.#restores;
    const borrowed = this.#borrowed = new BorrowedItems(world);
    const itemsOf = (replica: Replica) => borrowed.of(replica);
    const judge = this.#judge = new Judge({
      ...{ rules, schemas, salt, restores, world, itemsOf, log },
    });
    this.#readers = rules && new Readers({ rules, hub, restores, world });
    this.#acceptance = new Acceptance({ hub, judge, revocations, now });
    this.connections = this.#createConnections();
    this.#host = this.#createHost();
    this.login = this.#createLogin();
    this.#failures = new Failures({
      log: this.log,
      hub: this.#hub,
      decline: (...asked) => this.#host.decline(...asked),
      ...{ own: foundation.own, database: foundation.database },
    });
    metrics.show(() => this.status());
    this.#tellRepairs();
    this.#judgeLater();
  }

  /** Says what was damaged and set right before anybody could hear it. */
  #tellRepairs(): void {
    const { repaired, own } = this.#parts.foundation;
    for (const { code, message } of this.database.storage.status().incidents) {
      this.log.write("error", code, { message });
    }
    if (repaired === undefined) return;
    const { quarantine, lost } = own.status().recovery;
    this.log.write("error", "repository-damaged", {
      repository: own.name,
      message: repaired.message,
      quarantine,
      lost: lost?.commits ?? 0,
    });
  }

  #createLogin(): LoginRoute {
    const { login, quotas, metrics, tracing, world } = this.#parts;
    return new LoginRoute({
      login,
      sessions: this.#sessions,
      rate: perMinute(quotas.loginsPerMinute),
      metrics,
      log: this.log,
      tracing,
      world,
      rootKey: this.rootKey,
    });
  }

  #createHub(): Hub {
    const { options, foundation, quotas, world, isFull } = this.#parts;
    return new Hub({
      isFull,
      database: foundation.database,
      world,
      idleMs: options.idleMs,
      openMax: options.openMax,
      repositoriesMax: quotas.repositories,
      opened: (replica) => this.#opened(replica),
      failed: failedOpening(
        this.log,
        options.scrub === false ? undefined : foundation.storage,
      ),
      recovered: (repository) =>
        this.log.write("info", "repository-recovered", { repository }),
    });
  }

  /** Brings a repository up to date, and follows it until it is closed. */
  async #opened(replica: Replica): Promise<() => void> {
    const { name: repository } = replica;
    const lookForRevoked = this.#revocations.follow(replica);
    const learnSessions = this.#sessions.follow(replica);
    learnSessions();
    const unfail = this.#failures.follow(replica);
    await this.#revocations.prepare(replica);
    const port = replica.port();
    const unfollow = this.#latencies.follow(replica);
    // A crash may have come before the quarantine was looked through.
    const erase = (items: readonly ItemName[]) =>
      this.#quarantine.erase(repository, items);
    const unhear = replica.onRedacted(erase);
    await erase([...replica.loaded.credentials.redactions.items()]);
    const unlook = port.onShareable(() => {
      lookForRevoked();
      learnSessions();
      this.#restores.look(port);
    });
    this.#restores.look(port);
    this.log.write("debug", "repository-opened", { repository });
    return () => {
      for (const end of [unfail, unfollow, unhear, unlook]) end();
      this.#restores.closed(repository);
      this.log.write("debug", "repository-closing", { repository });
    };
  }

  #createConnections(): Connections {
    const { quotas, metrics, tracing, world } = this.#parts;
    return new Connections({
      quotas,
      metrics,
      log: this.log,
      world,
      tracing,
      latencies: this.#latencies,
      accept: (transport, address) => this.#host.accept(transport, address),
      proven: ({ name, witness, summary }) => {
        const replica = this.#hub.replicaOf(name);
        if (replica === undefined) return;
        this.#revocations.raise(replica, summary);
        this.#restores.learn(replica.port(), summary, witness.wall);
        this.#judgeLater();
      },
    });
  }

  #createHost(): SyncHost {
    const { foundation, quotas, tracing, world, isFull } = this.#parts;
    const hooks = new ServerHooks({
      hub: this.#hub,
      readers: this.#readers,
      judge: this.#judge,
      restores: this.#restores,
      sessions: this.#sessions,
      revocations: this.#revocations,
      quarantine: this.#quarantine,
      quotas,
      world,
      tracing,
      rootKey: foundation.database.rootKey,
      mode: foundation.database.mode,
      isFull,
      shed: (name) => this.#shed(name),
      connections: this.connections,
    });
    return new SyncHost({
      world,
      prover: foundation.prover,
      rootKey: foundation.database.rootKey,
      name: this.name,
      hooks,
    });
  }

  /** Closes what has grown: opened anew, it takes what of it is used. */
  #shed(name: RepositoryName): void {
    if (!this.#hub.mayReopen(name)) return;
    const detail = "The server's memory is full: it opens this anew";
    this.log.write("warn", "memory-full", { repository: name });
    this.#hub.leave(name);
    // What has asked is answered first.
    this.#parts.world.after(0, () => {
      this.#host.decline(name, "unavailable", detail);
    });
  }

  /** Who may read is judged again when what was missing is waited for no longer. */
  #judgeLater(): void {
    if (this.#cancelJudging !== undefined || !this.#restores.isWaiting) return;
    const { world } = this.#parts;
    this.#cancelJudging = world.after(limits.restoreWaitMs, () => {
      this.#cancelJudging = undefined;
      this.#host.reauthorize(() => true);
      this.#judgeLater();
    });
  }

  get options(): KnownOptions {
    return this.#parts.options;
  }

  get name(): string {
    return this.options.name;
  }

  get rootKey(): Uint8Array {
    return this.database.rootKey;
  }

  get isNew(): boolean {
    return this.#parts.foundation.isNew;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get database(): Database {
    return this.#parts.foundation.database;
  }

  status(): ServerStatus {
    return {
      name: this.name,
      mode: this.database.mode,
      isClosing: this.#isClosing,
      connections: this.connections.size,
      sessions: this.connections.sessions,
      open: this.#hub.names,
      quarantine: {
        entries: this.#quarantine.size,
        bytes: this.#quarantine.bytes,
      },
      restoring: this.#restores.list(),
      failing: this.#failures.count,
    };
  }

  info(): unknown {
    return {
      protocol: 1,
      name: this.name,
      rootKey: toHex(this.rootKey),
      mode: this.database.mode,
      login: this.login.kinds,
    };
  }

  health(): Health {
    if (this.#isClosing) return { status: "shutting-down" };
    // Everybody may ask how it is: names and reasons are for the log.
    if (this.#failures.count > 0) return { status: "failing" };
    const restoring = this.#restores.size;
    if (restoring === 0) return { status: "ok" };
    let missing = 0;
    for (const one of this.#restores.list()) missing += one.missing;
    return { status: "restoring", repositories: restoring, missing };
  }

  async revoke(
    whom: Whom,
    reason = "",
  ): Promise<{ sessions: readonly string[]; repositories: number }> {
    this.#check();
    return await this.#revocations.revoke(whom, reason);
  }

  #disconnect(isMeant: (session: PeerSession) => boolean): void {
    this.#host.disconnect(
      ({ session }) => session !== undefined && isMeant(session),
      "unavailable",
      "The session was revoked",
    );
  }

  quarantine(): QuarantineEntry[] {
    return this.#quarantine.list();
  }

  async accept(id: string): Promise<number> {
    this.#check();
    const item = this.#quarantine.get(id);
    if (item === undefined) throw noEntry();
    const commits = await this.#acceptance.accept(item);
    await this.#quarantine.drop(id);
    this.log.write("info", "quarantine-accepted", { id, commits });
    return commits;
  }

  async drop(id: string): Promise<void> {
    this.#check();
    if (!(await this.#quarantine.drop(id))) throw noEntry();
    this.log.write("info", "quarantine-dropped", { id });
  }

  /** Copies the database to an empty storage, while it is in use. */
  async copyTo(target: Storage): Promise<CopyReport> {
    this.#check();
    const { foundation, world } = this.#parts;
    return await copyDatabase(foundation.storage, target, world);
  }

  #check(): void {
    if (!this.#isClosing) return;
    throw new DatabaseError("closed", "The server is closed");
  }

  /** Tells clients goodbye, and waits for what they hand in, but not for ever. */
  async drain(): Promise<void> {
    this.#isClosing = true;
    this.#cancelJudging?.();
    this.#borrowed.close();
    const { options: { drainMs }, world } = this.#parts;
    this.log.write("info", "closing", { connections: this.connections.size });
    await atMost(drainMs, this.#host.close(COME_BACK_MS), world);
  }

  async close(): Promise<void> {
    await this.#hub.close();
    await this.database.close();
    this.log.write("info", "closed");
  }
}

function noEntry(): HttpFault {
  return new HttpFault(404, "not-found", "The quarantine has no such entry");
}

/** Waits for work, but not for ever. */
export async function atMost(
  ms: number,
  work: Promise<unknown>,
  world: Pick<World, "after">,
): Promise<void> {
  let cancel = () => {};
  const late = new Promise<void>((resolve) => {
    cancel = world.after(ms, resolve);
  });
  await Promise.race([work, late]);
  cancel();
}

/** Makes a service of a kind over keys, database and books that it opens; what a listener is told is not looked at. */
export async function makeService<S extends Service>(
  make: (parts: ServiceParts) => S,
  given: ServerOptions,
  world: World,
  tracing: Tracing,
  isFull: () => boolean,
): Promise<S> {
  const options = withDefaults(given);
  checkLoginOptions(options.login ?? {});
  const quotas = quotasOf(options);
  const login = await createLogin(options.login ?? {}, world);
  const metrics = await openMetrics();
  const synced = () => metrics.synced();
  const foundation = await layFoundation(options, world, synced);
  const ground = { world, options, quotas, tracing, metrics, login, isFull };
  try {
    return make({ ...ground, foundation });
  } catch (cause) {
    await foundation.database.close();
    throw cause;
  }
}
