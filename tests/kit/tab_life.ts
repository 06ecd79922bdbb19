/**
 * The life of one origin by a seed: tabs that come, write, sleep, are robbed,
 * reload and die, files that are removed, and a server that refuses; and the
 * ledger of what each of them was promised.
 *
 * Each write is one transaction: a card of its own, a vote on the card that all
 * share, and a mark in that card's text. So what is lost, doubled or torn shows.
 *
 * @module
 */

import type { Database, Repository, Write } from "../../mod.ts";
import { MemoryServer } from "./memory_server.ts";
import { Origin } from "./origin.ts";
import {
  audit,
  Card,
  dice,
  type Entry,
  judgeFiles,
  judgeLedger,
  judgeServer,
  rules,
  schemas,
  SHARED,
  stateOf,
  titlesOf,
  WAIT_MS,
} from "./tab_ledger.ts";
import { Tab } from "./tab_place.ts";
import { pause, trips, until } from "./patience.ts";
import { TABS_VERSION } from "../../src/browser/messages.ts";

/** What happens in a life, and how often. */
export interface LifeOptions {
  readonly mode: "default" | "trusted" | "fast";
  readonly seed: number;
  readonly steps: number;
  readonly hasServer: boolean;
  readonly hasEvictions: boolean;
}

/** One origin, from its first tab to a look at its files. */
export class TabLife {
  /** What happened. */
  readonly diary: string[] = [];
  readonly #options: LifeOptions;
  readonly #roll: (sides: number) => number;
  readonly #origin: Origin;
  readonly #server: MemoryServer | undefined;
  readonly #tabs: Tab[] = [];
  readonly #all: Tab[] = [];
  /** Closed ones, which may be asleep and have something to give still. */
  readonly #closings = new Map<Tab, Promise<void>>();
  readonly #ledger = new Map<string, Entry>();
  readonly #connected = new Set<Database>();
  #count = 0;

  constructor(options: LifeOptions) {
    this.#options = options;
    this.#roll = dice(options.seed);
    const { mode, hasServer } = options;
    const server = hasServer
      ? new MemoryServer({
        mode,
        ...mode === "default" && { rules },
        users: { t: "ann" },
      })
      : undefined;
    this.#server = server;
    this.#origin = new Origin(
      server && { connectorOf: server.connectorOf },
    );
  }

  /** Lives it; fails where a promise was broken. */
  async run(): Promise<void> {
    try {
      await this.#open();
      await this.#plant();
      for (let i = 0; i < this.#options.steps; i++) await this.#step();
      await this.#end();
    } catch (cause) {
      throw new Error(
        `${JSON.stringify(this.#options)}: ${this.diary.join(" ")}`,
        { cause },
      );
    } finally {
      await this.#server?.[Symbol.asyncDispose]();
      this.#origin[Symbol.dispose]();
    }
  }

  get #living(): Tab[] {
    return this.#tabs.filter(({ page }) => !page.life.isDead);
  }

  #nameOf = (tab: Tab): string => `t${this.#all.indexOf(tab)}`;
  #note(what: string, tab?: Tab): void {
    this.diary.push(tab === undefined ? what : `${what}:${this.#nameOf(tab)}`);
  }

  /** What a tab answers, unless it dies first. */
  async #of<T>(tab: Tab, answer: Promise<T>, what: string) {
    const died = tab.page.life.death.promise.then(() => undefined);
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(new Error(`${this.#nameOf(tab)} hangs: ${what}`)),
      WAIT_MS,
    );
    try {
      return await Promise.race([answer, died, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #open(): Promise<Tab> {
    const { mode } = this.#options;
    const rootKey = this.#server?.rootKey;
    const tab = new Tab(this.#origin, {
      schemas,
      mode,
      ...rootKey !== undefined && { rootKey },
    });
    this.#tabs.push(tab);
    this.#all.push(tab);
    this.#note("open", tab);
    // Half of them are opened while others go on.
    if (this.#roll(2) === 0) await this.#ready(tab);
    return tab;
  }

  async #ready(tab: Tab): Promise<Repository | undefined> {
    const database = await this.#of(tab, tab.opening, "its database");
    if (database === undefined) return undefined;
    this.#connect(database);
    return await this.#of(tab, tab.repository(), "its repository");
  }

  #connect(database: Database): void {
    if (this.#server === undefined || this.#connected.has(database)) return;
    this.#connected.add(database); // Each page connects.
    this.#server.connect(database);
  }

  async #plant(): Promise<void> {
    const repository = await this.#ready(this.#tabs[0]!);
    const cards = repository!.collection(Card);
    const write = cards.create({ id: SHARED, title: SHARED, note: "" });
    await write.durable;
    if (this.#server !== undefined) await write.synced;
    await repository!.durable();
  }

  async #step(): Promise<void> {
    const living = this.#living;
    const tab = living[this.#roll(living.length)];
    const isOne = living.length < 2;
    if (tab === undefined) return void await this.#open();
    switch (this.#roll(24)) {
      case 0:
      case 1:
        if (living.length < 5) await this.#open();
        return;
      case 2:
        if (!isOne) this.#kill(tab);
        return;
      case 3:
        if (isOne) return;
        this.#note("doom", tab);
        return tab.page.killAfter(1 + this.#roll(8));
      case 4:
      case 5:
        return await this.#sleep(tab);
      case 6:
        if (!isOne) await this.#close(tab);
        return;
      case 7:
        return await this.#reopen(tab);
      case 9:
        if (this.#options.hasEvictions) await this.#evict();
        return;
      case 10:
        if (this.#roll(2) === 0) this.#server?.cut();
        else if (this.#server) this.#server.isDown = !this.#server.isDown;
        return this.#note("weather");
      case 11:
        return await this.#refusals(tab);
      case 12: // Its worker takes the files, whoever has them.
        this.#note("steal", tab);
        return tab.page.port.postMessage({
          sheaf: TABS_VERSION,
          from: "somebody",
          to: undefined,
          term: 0,
          message: { kind: "steal" },
        }, []);
      case 8:
        return await pause(this.#roll(6));
      default:
        return await this.#write(tab);
    }
  }

  #kill(tab: Tab): void {
    this.#note("kill", tab);
    tab.kill();
  }

  /** Hidden and frozen, with or without a word to its worker. */
  async #sleep(tab: Tab): Promise<void> {
    const isTold = this.#roll(2) === 0;
    this.#note(isTold ? "sleep" : "freeze", tab);
    tab.seen.tell("hidden");
    await trips(2); // Most often its worker has heard of it by then.
    if (isTold) tab.seen.tell("freeze");
    tab.page.life.freeze();
    const wake = () => {
      if (tab.page.life.isDead) return;
      this.#note("wake", tab);
      tab.page.life.thaw();
      if (isTold) tab.seen.tell("resume");
      tab.seen.tell("visible");
    };
    const ms = this.#roll(isTold ? 20 : 220);
    // Others live on meanwhile, or everybody waits.
    if (this.#living.length > 1 && this.#roll(2) === 0) {
      setTimeout(wake, ms);
      return;
    }
    await pause(ms);
    wake();
  }

  async #close(tab: Tab): Promise<void> {
    this.#note("close", tab);
    this.#tabs.splice(this.#tabs.indexOf(tab), 1);
    const closing = tab.opening.then((database) => database.close());
    this.#closings.set(tab, closing);
    closing.catch(() => {});
    if (this.#roll(2) === 0) await this.#of(tab, closing, "closing");
  }

  /** Who was closed in its sleep wakes and goes. */
  async #closed(): Promise<void> {
    for (const { page: { life } } of this.#closings.keys()) life.thaw();
    for (const one of this.#closings) await this.#of(...one, "closing");
  }

  /** Closes a repository and opens it again. */
  async #reopen(tab: Tab): Promise<void> {
    this.#note("reopen", tab);
    const repository = await this.#ready(tab);
    if (repository === undefined) return;
    const closing = repository.close();
    closing.catch(() => {});
    if (this.#roll(2) === 0) await this.#of(tab, closing, "its repository");
    await this.#ready(tab);
  }

  /** Retries or lets go what was refused. */
  async #refusals(tab: Tab): Promise<void> {
    const repository = await this.#ready(tab);
    const [refusal] = repository?.sync.status.refusals ?? [];
    if (refusal === undefined || tab.page.life.isDead) return;
    const isRetry = this.#roll(2) === 0;
    this.#note(isRetry ? "retry" : "discard", tab);
    if (isRetry) refusal.retry().synced.catch(() => {});
    else refusal.discard().catch(() => {});
  }

  async #write(tab: Tab): Promise<void> {
    const repository = await this.#ready(tab);
    const { life } = tab.page;
    if (repository === undefined || life.isDead) return;
    const cards = repository.collection(Card);
    if (cards.get(SHARED) === undefined) return; // Its files are being filled.
    const isBad = this.#server !== undefined &&
      this.#options.mode === "default" && this.#roll(6) === 0;
    const title = `${isBad ? "bad" : "card"} ${++this.#count}`;
    const entry = { tab, isBad, isDurable: false, isSynced: false };
    this.#ledger.set(title, entry);
    this.#note(title.replace(" ", "-"), tab);
    const at = this.#roll(1 + (cards.get(SHARED)!.note?.length ?? 0));
    const write = repository.transact((tx) => {
      tx.collection(Card).create({ title, note: title });
      const votes = { increment: 1 };
      // What is typed next to refused text waits for it: decision 17.
      const note = { splice: [{ at, insert: "x" }] };
      const change = isBad ? { votes } : { votes, note };
      tx.collection(Card).update(SHARED, change);
    });
    this.#follow(write, repository, entry);
    if (this.#roll(3) === 0) await this.#of(tab, write.durable, "a write");
  }

  #follow(write: Write<void>, repository: Repository, entry: Entry): void {
    const { life } = entry.tab.page;
    // In Fast mode a page promises what it has in memory: its death breaks that.
    const isFast = this.#options.mode === "fast";
    const durable = isFast ? repository.durable() : write.durable;
    // What a dead page was told, nobody was told.
    durable.then(() => entry.isDurable ||= !life.isDead, () => {});
    if (this.#server === undefined) return;
    write.synced.then(() => entry.isSynced ||= !life.isDead, () => {});
  }

  /**
   * The files go. What is left is what living tabs hold, and the server: nobody
   * dies until it is in files again.
   */
  async #evict(): Promise<void> {
    await this.#calm();
    const seen = new Set<string>();
    for (const tab of this.#living) {
      for (const title of titlesOf(await tab.repository())) seen.add(title);
    }
    for (const [title, entry] of this.#ledger) {
      entry.isDurable &&= seen.has(title);
    }
    this.#note("evict");
    this.#origin.evict();
    for (let i = this.#roll(6); i > 0; i--) {
      const [tab] = this.#living;
      if (this.#roll(3) === 0) await this.#open();
      else if (tab !== undefined) await this.#write(tab);
    }
    await this.#calm();
    const fresh = await this.#open();
    const repository = await this.#ready(fresh);
    const all = [...this.#ledger].filter(([, one]) =>
      one.isDurable && !one.isBad
    );
    const lacks = () => {
      const titles = titlesOf(repository!);
      return all.filter(([title]) => !titles.has(title)).map(([one]) => one);
    };
    await until(
      () => lacks().length === 0,
      `filled again; the new tab lacks ${lacks()}`,
    );
  }

  /** Everybody is awake, nobody is doomed, and what was dead is forgotten. */
  async #calm(): Promise<void> {
    for (const tab of [...this.#tabs]) {
      const { life } = tab.page;
      life.countdown = undefined;
      if (life.isDead) this.#tabs.splice(this.#tabs.indexOf(tab), 1);
      else {
        life.thaw();
        tab.seen.tell("resume");
        tab.seen.tell("visible");
      }
    }
    for (const tab of this.#living) {
      const repository = await this.#ready(tab);
      await this.#of(tab, repository!.durable(), "being durable");
    }
  }

  async #end(): Promise<void> {
    this.#note("end");
    await this.#calm();
    await this.#closed();
    await this.#open();
    if (this.#server !== undefined) this.#server.isDown = false;
    for (const tab of this.#living) (await tab.opening).connection?.retry();
    const repositories: Repository[] = [];
    for (const tab of this.#living) {
      repositories.push((await this.#ready(tab))!);
    }
    await Promise.all(repositories.map((one) => one.durable()));
    if (this.#server !== undefined) {
      await judgeServer(this.#server, repositories);
    }
    const states = () => repositories.map(stateOf);
    await until(
      () => new Set(states()).size === 1,
      "all tabs show the same",
    ).catch((cause) => {
      throw new Error(states().join("\n"), { cause });
    });
    judgeLedger(this.#ledger, repositories[0]!);
    await audit(repositories.at(-1)!, this.#server !== undefined);
    const state = stateOf(repositories[0]!);
    for (const tab of this.#living) await (await tab.opening).close();
    await until(() => this.#living.length === 0, "all workers are done");
    await judgeFiles(this.#origin.files, this.#server?.rootKey, state);
  }
}
