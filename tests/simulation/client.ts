/**
 * A client: a database with the repositories that it may read, a connection to
 * the server, and somebody who writes all the time.
 *
 * @module
 */

// Here already, nobody waits for their files.
import "../../repo/seldom.ts";
import "../../src/db/online.ts";
import "../../src/db/undo_history.ts";
import { nameOf } from "../../repo/commit/commit.ts";
import type { Replica } from "../../repo/replica.ts";
import { fromHex } from "../../src/base/bytes.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import type { Incident } from "../../src/db/channel.ts";
import type { ConnectOptions } from "../../src/db/connect.ts";
import "../kit/audits.ts";
import { type Database, openDatabase } from "../../src/db/database.ts";
import type { Repository } from "../../src/db/repository.ts";
import type { Connector } from "../../sync/transport/transport.ts";
import { Actor } from "./actor.ts";
import type { ActorWorld } from "./actor_world.ts";
import { mayRead } from "./allowed.ts";
import { type AppSchemas, releases, shows } from "./collections.ts";
import type { Dice } from "./dice.ts";
import { Desk } from "./desk.ts";
import { loginOver } from "./logins.ts";
import { Pages } from "./pages.ts";
import type { Link } from "./network.ts";
import type { Person } from "./people.ts";
import { rules } from "./rules.ts";
import type { Stage } from "./stage.ts";

const ADDRESS = "ws://sim/";
const TEAMS = ["red", "blue", "none"];

/** See the file's header. */
export class Client extends Actor {
  readonly person: Person;
  readonly link: Link;
  /** Does it know no rules, and write what they forbid? */
  readonly isNaughty: boolean;
  /** Is it a browser with pages, and not one process with a database? */
  readonly isBrowser: boolean;
  /** Does somebody take writes back? */
  readonly hasUndo: boolean;
  /** Which release of the app it has. */
  #release = 0;
  /** What its channels reported, over all lives. */
  readonly incidents: (Incident & { readonly isTainted: boolean })[] = [];
  readonly #heard = new Set<string>();
  readonly #tainted = new Set<string>();
  readonly #spoiled = new Set<string>();
  /** Was its session revoked? */
  isRevoked = false;
  /** Did somebody begin with a copy of its files? */
  isCopied = false;
  #desks: Desk[] = [];
  #pages: Pages | undefined;
  /** What pages keep beside their files. */
  readonly #texts = new Map<string, string>();
  #pageLives = 0;
  #database: Database | undefined;
  #writes = 0;
  #network: ((isThere: boolean) => void) | undefined;

  constructor(stage: Stage, index: number, dice: Dice) {
    super(stage, `c${index}`, dice);
    const { plan, network } = stage;
    this.person = {
      user: `user${index}`,
      team: dice.pick(TEAMS),
    };
    this.isNaughty = index < plan.naughty;
    this.isBrowser = index >= plan.clients - plan.browsers;
    this.hasUndo = dice.chance(0.5) && !this.isBrowser;
    this.link = network.link(this.name, lane(dice), lane(dice));
  }

  /** What it has open of its repositories: each once, or once a page. */
  get desks(): readonly Desk[] {
    return this.#pages?.desks ?? this.#desks;
  }

  /** Is all that it opened open, and awake? */
  get isCalm(): boolean {
    return this.#pages?.isCalm ?? true;
  }

  /** Does a part of it sleep, which then knows nothing of the network? */
  get isAsleep(): boolean {
    return this.#pages?.isAsleep ?? false;
  }

  /** A number for one more of its lives: each page has one. */
  nextLife(): number {
    return 1_000 + ++this.#pageLives;
  }

  /** Something happens to a page of its. */
  happen(): void {
    if (this.state === "up") this.#pages?.happen();
  }

  /** Names of the repositories that it may read. */
  get readable(): string[] {
    const { user, team } = this.person;
    return this.stage.repositories.filter((repository) =>
      mayRead({ user, team, repository })
    );
  }

  /** From now on it has the latest release of the app. */
  #update(): void {
    if (this.#release === releases.length - 1) return;
    this.#release++;
    this.stage.trace.note(this.name, "update");
  }

  /** What was written in a repository until now cannot be taken back. */
  forget(repository: Repository): void {
    if (this.hasUndo) repository.undo.clear();
  }

  /** Tries to connect now, and not only after a while. */
  retryNow(): void {
    this.#database?.connection?.retry();
    this.#pages?.retryNow();
  }

  protected async open(world: ActorWorld): Promise<void> {
    const { plan, authority } = this.stage;
    if (plan.hasReleases && this.dice.chance(0.4)) this.#update();
    const app = releases[this.#release]!;
    if (this.isBrowser) {
      this.#browse(app, world);
      return this.#writeSoon(world);
    }
    const database = await openDatabase({
      storage: this.disk.storage,
      world,
      schemas: app.schemas,
      mode: plan.mode,
      user: this.person.user,
      rootKey: authority.root.publicKey,
      onListenerError: (cause) => {
        if (!world.isDead) this.stage.fail(cause);
      },
      ...(plan.hasRules && !this.isNaughty && { rules }),
    });
    if (world.isDead) return;
    this.#database = database;
    // Apps connect before they open what they need, or afterwards.
    // Who is connected is live, and reads its log whenever it wants to.
    const isEarly = this.dice.chance(0.5) && !this.areReadsSpoiled;
    if (isEarly) this.#connect(database, world);
    const desks: Desk[] = [];
    for (const name of this.readable) {
      const repository = await database.repository(name);
      if (world.isDead) return;
      const number = this.lives;
      desks.push(
        new Desk({ client: this, repository, app, life: world, number }),
      );
    }
    this.readsWell();
    if (!isEarly) this.#connect(database, world);
    this.#desks = desks;
    this.#writeSoon(world);
  }

  #browse(app: AppSchemas, world: ActorWorld): void {
    this.#pages = new Pages({
      client: this,
      world,
      dice: this.dice.fork(),
      app,
      address: ADDRESS,
      connector: this.#connector(world),
      connect: this.#options(world),
      texts: this.#texts,
    });
  }

  #connect(database: Database, world: ActorWorld): void {
    database.connect(this.#connector(world), this.#options(world));
  }

  #options(world: ActorWorld): ConnectOptions {
    const { network, trace } = this.stage;
    const { user, team } = this.person;
    const place = { network, link: this.link, isDead: () => world.isDead };
    return {
      session: { app: { user, claims: { team } } },
      login: async (request) => {
        const answer = await loginOver(place, request);
        trace.note(this.name, "login");
        return answer;
      },
    };
  }

  #connector(world: ActorWorld): Connector {
    const { network } = this.stage;
    return {
      address: ADDRESS,
      connect: (signal) =>
        network.connect(this.link, signal, () => world.isDead),
      onNetwork: (tell) => {
        this.#network = tell;
        return () => void (this.#network = undefined);
      },
    };
  }

  /** The platform says that the network is back, as it may at any time. */
  networkReturned(): void {
    if (this.state === "up") this.#network?.(true);
  }

  #writeSoon(world: ActorWorld): void {
    world.after(this.dice.wait(this.stage.plan.writeEveryMs), () => {
      if (this.stage.phase !== "work") return;
      if (this.state === "up") this.#write();
      this.#writeSoon(world);
    });
  }

  #write(): void {
    const { desks } = this;
    if (desks.length === 0) return;
    const desk = this.dice.pick(desks);
    if (this.dice.chance(0.2)) desk.reconsider();
    if (this.hasUndo && this.dice.chance(0.2)) desk.turn(this.dice.chance(0.4));
    else desk.write(`${this.name}-${++this.#writes}`);
  }

  /** A repository says that it is equal with the server's: is it? */
  saysEqual(desk: Desk): void {
    if (this.link.mangler === undefined) this.#tainted.delete(desk.name);
    // A page says what the owner of its files says, who may not have what it wrote just now.
    if (!this.isBrowser && !this.isTainted(desk.name)) {
      this.stage.equal?.(this, desk);
    }
  }

  /** A repository reports that something is wrong. */
  reports(repository: string, incident: Incident): void {
    if (this.#isHeard(repository, incident)) return;
    // A certificate that was lost on the way is missed only when a commit needs it.
    const isLateLoss = this.#spoiled.has(repository) &&
      incident.message.endsWith("unknown-session");
    if (isLateLoss) this.#tainted.add(repository);
    const isTainted = this.isTainted(repository);
    this.incidents.push({ ...incident, isTainted });
    const { kind, message } = incident;
    this.stage.trace.note(
      this.name,
      "incident",
      `${repository} ${kind}: ${message}`,
    );
  }

  /** Another page is told again what the owner of the files has heard. */
  #isHeard(repository: string, { at, kind, message }: Incident): boolean {
    const text = `${repository} ${at.getTime()} ${kind} ${message}`;
    const isHeard = this.isBrowser && this.#heard.has(text);
    this.#heard.add(text);
    return isHeard;
  }

  /** How many commits of a chain it has; the chain's name is hexadecimal. */
  lengthOf(repository: string, chain: string): number {
    const desk = this.desks.find(({ name }) => name === repository);
    const bytes = fromHex(chain);
    return desk?.replica.graph.lengthOf(nameOf(bytes, 0, bytes.length)) ?? 0;
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

  /** May credentials be missing here, since somebody changed frames? */
  isSpoiled(repository: string): boolean {
    return this.#spoiled.has(repository);
  }

  /** May what it knows of the server be wrong, since somebody changed frames? */
  isTainted(repository: string): boolean {
    return this.#tainted.has(repository);
  }

  /** Marks of the writes that its replica says were refused. */
  refusedMarks(repository: string): Set<string> {
    const desk = this.desks.find(({ name }) => name === repository);
    return new Set(desk?.refusedMarks());
  }

  /** The file of undo is not synced: who lives again may not know what it took back. */
  #forgetTurns(): void {
    const { ledger, timeline, plan } = this.stage;
    for (const entry of ledger.entries) {
      if (entry.author !== this.name) continue;
      if (entry.turn !== undefined) entry.isForgotten = true;
      // What was refused just now may be handed in again, and judged anew.
      const refusedMs = timeline.nowMs - entry.refusedMs;
      if (refusedMs <= 2 * plan.syncMs) entry.refused = undefined;
    }
  }

  /** Pages have no files: the owner of theirs writes checkpoints by itself. */
  override checkpoint(): void {
    if (!this.isBrowser) return super.checkpoint();
  }

  /** A page hears of the disk of the owner of its files only that this does not sync any more. */
  override lookAtDisk(): void {
    super.lookAtDisk();
    if (!this.isBrowser || this.state !== "up" || !this.mayBreak) return;
    for (const { channel: { status: { reason } } } of this.desks) {
      if (reason?.message !== "storage-readonly") continue;
      return this.broke(new DatabaseError("storage-readonly", "An owner says"));
    }
  }

  protected replicas(): Replica[] {
    return this.desks.map(({ replica }) => replica);
  }

  /** The simulation is over: nothing of a page waits any longer. */
  leave(): void {
    this.#pages?.kill();
  }

  protected async shut(): Promise<void> {
    await this.#database?.close();
    await this.#pages?.close();
  }

  protected drop(isClean: boolean): void {
    if (!isClean) this.#forgetTurns();
    this.#database = undefined;
    this.#network = undefined;
    this.#desks = [];
    this.#pages?.kill();
    this.#pages = undefined;
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
