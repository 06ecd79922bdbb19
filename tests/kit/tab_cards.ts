/**
 * Cards with a title, for tests of tabs that need no more; and a server that
 * refuses some of them, with an origin whose pages reach it.
 *
 * @module
 */

import {
  type Connection,
  type Database,
  defineRules,
  defineSchema,
  field,
  type Repository,
  rulesFor,
} from "../../mod.ts";
import { MemoryServer } from "./memory_server.ts";
import { Origin } from "./origin.ts";
import { Tab } from "./tab_place.ts";

export const Card = defineSchema("card", { title: field.string() });
export const schemas = [Card];

/** Titles of all cards. */
export function titlesOf(repository: Repository): string[] {
  return repository.collection(Card).all().map(({ title }) => title).sort();
}

/** Only the server has them: a client learns of a refusal when it is too late. */
const rules = defineRules({
  "**": {
    read: () => true,
    collections: [
      rulesFor(Card, {
        create: ({ after }) => after.title !== "bad" || "No bad cards",
        update: () => true,
        delete: () => true,
      }),
    ],
  },
});

/** A server, an origin that reaches it, and its pages. */
export class ServedOrigin {
  readonly server: MemoryServer;
  readonly origin: Origin;
  readonly tabs: Tab[] = [];

  /** @param others who comes with tokens of their own, beside ann */
  constructor(others: Readonly<Record<string, string>> = {}) {
    this.server = new MemoryServer({ rules, users: { t: "ann", ...others } });
    this.origin = new Origin({ connectorOf: this.server.connectorOf });
  }

  /** Opens a page. */
  async tab(): Promise<[Database, Repository]> {
    const { rootKey } = this.server;
    const tab = new Tab(this.origin, { schemas, rootKey });
    this.tabs.push(tab);
    return [await tab.opening, await tab.repository()];
  }

  /** Connects one page, and with it all of them. */
  connect(database: Database): Connection {
    return this.server.connect(database);
  }

  /** Closes all in good order. */
  async close(): Promise<void> {
    for (const tab of this.tabs) await tab[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}
