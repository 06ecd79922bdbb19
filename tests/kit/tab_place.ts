/**
 * Pages of one origin with the database that apps hold in them.
 *
 * @module
 */

import { openTab, type TabOptions } from "../../src/browser/open.ts";
import type { KeptTexts } from "../../src/browser/tab_left.ts";
import type { Page as TabPage, PageEvent } from "../../src/browser/tab_page.ts";
import type { Database, Repository } from "../../mod.ts";
import type { Origin, Page } from "./origin.ts";
import { WaitingWrites } from "./waiting_writes.ts";

/** What happens to a page. */
export class PlayedPage implements TabPage {
  isHidden = false;
  readonly #listeners = new Set<(what: PageEvent) => void>();

  watch(listener: (what: PageEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Tells who listens. */
  tell(what: PageEvent): void {
    if (what === "hidden" || what === "visible") {
      this.isHidden = what === "hidden";
    }
    for (const listener of [...this.#listeners]) listener(what);
  }
}

/** One page and its database. */
export class Tab implements AsyncDisposable {
  readonly page: Page;
  readonly seen = new PlayedPage();
  readonly opening: Promise<Database>;
  readonly #waiting = new WaitingWrites();

  constructor(origin: Origin, options: Omit<TabOptions, "name">) {
    const page = this.page = origin.page();
    const waiting = this.#waiting;
    void page.life.death.promise.then(() => waiting.end());
    this.opening = openTab({ ...options, name: origin.name }, {
      locks: page.locks,
      world: page.world,
      page: this.seen,
      near: waiting.watch(page.port),
      far: waiting.watch(page.channel()),
      persist: () => Promise.resolve(true),
      texts: textsOf(page, origin.texts),
      end: () => page.kill(),
    });
    this.opening.catch(() => {});
  }

  /** A repository of its database. */
  async repository(name = "board"): Promise<Repository> {
    return await (await this.opening).repository(name);
  }

  /** It ends without a word. */
  kill(): void {
    this.page.kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.page.life.isDead) return;
    await (await this.opening).close();
    this.#waiting.end();
  }
}

/** The origin's kept texts, as long as a page lives. */
function textsOf({ life }: Page, texts: Map<string, string>): KeptTexts {
  return {
    get length() {
      return texts.size;
    },
    key: (index) => [...texts.keys()][index] ?? null,
    getItem: (key) => texts.get(key) ?? null,
    setItem: (key, text) => void (life.isDead || texts.set(key, text)),
    removeItem: (key) => void (life.isDead || texts.delete(key)),
  };
}
