/**
 * The pages of one browser: each with a database whose files are with one of
 * their workers, and all that happens to pages.
 *
 * @module
 */

import { DatabaseError } from "../../src/base/errors.ts";
import type { ConnectOptions } from "../../src/db/connect.ts";
import type { Database } from "../../src/db/database.ts";
import type { Connector, Transport } from "../../sync/transport/transport.ts";
import { type Life, Origin } from "../kit/origin.ts";
import { Tab } from "../kit/tab_place.ts";
import type { ActorWorld } from "./actor_world.ts";
import { virtualPlatform } from "./browser.ts";
import type { Client } from "./client.ts";
import type { AppSchemas } from "./collections.ts";
import { Desk } from "./desk.ts";
import type { Dice } from "./dice.ts";
import { rules } from "./rules.ts";

const PAGES_MAX = 4;
/** How long nobody is without a page. */
const MISSED_MS = 1_000;
/** A page that is told of its sleep sleeps so long on average. */
const SLEEP_MS = 4_000;

/** What pages are made of. */
export interface PagesParts {
  readonly client: Client;
  readonly world: ActorWorld;
  readonly dice: Dice;
  readonly app: AppSchemas;
  /** Where the server is. */
  readonly address: string;
  readonly connector: Connector;
  readonly connect: ConnectOptions;
  /** What pages keep beside the files, over all lives. */
  readonly texts: Map<string, string>;
}

/** One page. */
interface Page {
  readonly tab: Tab;
  readonly life: Life;
  readonly desks: Desk[];
  database: Database | undefined;
  isOpen: boolean;
  isAsleep: boolean;
}

/** See the file's header. */
export class Pages {
  readonly #parts: PagesParts;
  readonly #origin: Origin;
  readonly #pages = new Set<Page>();
  /** Those that are being closed. */
  readonly #leaving = new Set<Page>();

  constructor(parts: PagesParts) {
    const { client, world, dice, connector, texts } = parts;
    this.#parts = parts;
    this.#origin = new Origin({
      name: "sim",
      texts,
      platform: virtualPlatform({
        world,
        dice,
        medium: () => client.disk.storage,
      }),
      connectorOf: (_, life) => connectorOf(connector, life),
    });
    this.open();
  }

  /** Repositories of pages that are open and awake. */
  get desks(): Desk[] {
    return [...this.#pages].flatMap(({ desks, isOpen, isAsleep, life }) =>
      isOpen && !isAsleep && !life.isDead ? desks : []
    );
  }

  /** Is every page open and awake? */
  get isCalm(): boolean {
    return this.#pages.size > 0 && this.#leaving.size === 0 &&
      [...this.#pages].every(({ isOpen, isAsleep, life }) =>
        isOpen && !isAsleep && !life.isDead
      );
  }

  /** Does one of them sleep? */
  get isAsleep(): boolean {
    return [...this.#pages, ...this.#leaving].some(({ isAsleep }) => isAsleep);
  }

  #note(what: string): void {
    const { client } = this.#parts;
    client.stage.trace.note(client.name, `page-${what}`);
  }

  /** Opens one more page. */
  open(): void {
    const { client, world, app } = this.#parts;
    const { stage, person } = client;
    const { plan, authority } = stage;
    this.#note("open");
    const tab = new Tab(this.#origin, {
      schemas: app.schemas,
      mode: plan.mode,
      user: person.user,
      rootKey: authority.root.publicKey,
      onListenerError: (cause) => {
        if (!world.isDead) stage.fail(cause);
      },
      ...(plan.hasRules && !client.isNaughty && { rules }),
    });
    const page: Page = {
      tab,
      life: tab.page.life,
      desks: [],
      database: undefined,
      isOpen: false,
      isAsleep: false,
    };
    this.#pages.add(page);
    void page.life.death.promise.then(() => this.#died(page));
    client.guard(this.#lifeOf(page), this.#fill(page));
  }

  /** It is over with a page when it is dead, closed, or its whole browser is gone. */
  #lifeOf(page: Page): { readonly isDead: boolean } {
    const { world } = this.#parts;
    const isGone = () =>
      world.isDead || page.life.isDead || !this.#pages.has(page);
    return {
      get isDead() {
        return isGone();
      },
    };
  }

  async #fill(page: Page): Promise<void> {
    const { client, app, address, connect } = this.#parts;
    const life = this.#lifeOf(page);
    const database = page.database = await page.tab.opening;
    if (life.isDead) return;
    database.connect(address, connect);
    const number = client.nextLife();
    for (const name of client.readable) {
      const repository = await database.repository(name);
      if (life.isDead) return;
      page.desks.push(new Desk({ client, repository, app, life, number }));
    }
    page.isOpen = true;
    this.#note("is-open");
  }

  #died(page: Page): void {
    const { world } = this.#parts;
    this.#leaving.delete(page);
    this.#pages.delete(page);
    if (world.isDead || this.#pages.size > 0) return;
    world.after(MISSED_MS, () => {
      if (this.#pages.size === 0 && !this.#isShut) this.open();
    });
  }

  #isShut = false;

  /** Something happens to one of them. */
  happen(): void {
    const { dice } = this.#parts;
    const pages = [...this.#pages].filter(({ isAsleep }) => !isAsleep);
    if (pages.length === 0) return;
    const page = dice.pick(pages);
    const what = dice.number();
    if (what < 0.3) {
      if (this.#pages.size < PAGES_MAX) this.open();
    } else if (what < 0.4) this.#kill(page);
    else if (what < 0.5) {
      this.#note("doom");
      page.tab.page.killAfter(dice.between(1, 8));
    } else if (what < 0.6) {
      this.#kill(page);
      this.open();
    } else if (what < 0.75) this.#close(page);
    else this.#sleep(page);
  }

  #kill(page: Page): void {
    this.#note("kill");
    page.tab.kill();
  }

  #close(page: Page): void {
    if (page.database === undefined) return this.#kill(page);
    this.#note("close");
    this.#pages.delete(page);
    this.#leaving.add(page);
    const { client, world } = this.#parts;
    client.guard(world, page.database.close());
    if (this.#pages.size === 0) this.open();
  }

  /** Who is told stops its work first; others just stand still. */
  #sleep(page: Page): void {
    const { dice, world } = this.#parts;
    const isTold = dice.chance(0.5);
    this.#note(isTold ? "sleep" : "freeze");
    page.tab.seen.tell("hidden");
    world.after(dice.number() * 5, () => {
      if (page.life.isDead || !this.#pages.has(page)) return;
      if (isTold) page.tab.seen.tell("freeze");
      page.isAsleep = true;
      page.life.freeze();
      world.after(dice.wait(SLEEP_MS), () => this.#wake(page, isTold));
    });
  }

  #wake(page: Page, isTold: boolean): void {
    if (!page.isAsleep || page.life.isDead) return;
    this.#note("wake");
    page.isAsleep = false;
    page.life.thaw();
    if (isTold) page.tab.seen.tell("resume");
    page.tab.seen.tell("visible");
  }

  /** Tries to connect now. */
  retryNow(): void {
    for (const { database } of this.#pages) database?.connection?.retry();
  }

  /** Closes all of them in good order. */
  async close(): Promise<void> {
    this.#isShut = true;
    for (const page of this.#pages) {
      this.#wake(page, true);
      if (page.database === undefined) this.#kill(page);
      else this.#leaving.add(page);
    }
    this.#pages.clear();
    await Promise.all([...this.#leaving].map(async ({ database, life }) => {
      await database!.close();
      await life.death.promise;
    }));
  }

  /** All of them end without a word. */
  kill(): void {
    this.#isShut = true;
    for (const page of [...this.#pages, ...this.#leaving]) page.tab.kill();
  }
}

/** The connector of a page's worker, whose connection ends with it and stands still with it. */
function connectorOf(connector: Connector, life: Life): Connector {
  return {
    ...connector,
    connect: async (signal) => {
      const transport = await connector.connect(signal);
      if (life.isDead) {
        transport.close("lost", "Its page is gone");
        throw new DatabaseError("closed", "Its page is gone");
      }
      void life.death.promise.then(() =>
        transport.close("lost", "Its page is gone")
      );
      return transportOf(transport, life);
    },
  };
}

function transportOf(transport: Transport, life: Life): Transport {
  return {
    get buffered() {
      return transport.buffered;
    },
    listen({ frame, ended }) {
      transport.listen({
        frame: (bytes) => life.run(() => frame(bytes)),
        ended: (end) => life.run(() => ended(end)),
      });
    },
    send(frame) {
      if (!life.isDead) transport.send(frame);
    },
    close(code, detail) {
      if (!life.isDead) transport.close(code, detail);
    },
  };
}
