/**
 * What an owner asks its tabs for: credentials and logins, which only the code
 * of a page can give.
 *
 * Architecture invariant: a tab that is gone keeps nobody waiting.
 *
 * @module
 */

import { type Deferred, deferred } from "../base/deferred.ts";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import { errorOf } from "./failure.ts";
import type { Ask, OfTab } from "./messages.ts";
import type { Member } from "./owner_members.ts";

/** A question under way. */
interface Asking {
  readonly tab: string;
  readonly answer: Deferred<unknown>;
}

/** The answer of a tab that gives none. */
const NONE = Symbol("none");

/** Questions to tabs. */
export class Asks {
  readonly #world: World;
  readonly #asked = new Map<number, Asking>();
  /** Of the last question. No owner's begins like another's: late answers to one are none to the next. */
  #last: number;

  constructor(world: World) {
    this.#world = world;
    const dice = new Uint8Array(4);
    world.random(dice);
    this.#last = dice.reduce((number, byte) => number * 256 + byte, 0);
  }

  /** Asks one tab after the other until one answers; what that one fails with is the answer. */
  async ask(
    tabs: readonly Member[],
    what: Ask["what"],
    args: readonly unknown[],
  ): Promise<unknown> {
    for (const tab of tabs) {
      const answer = await this.#askOne(tab, what, args);
      if (answer !== NONE) return answer;
    }
    throw new DatabaseError(
      "login-failed",
      "No page is there to log in: it was closed. Call connect() again",
    );
  }

  async #askOne(
    tab: Member,
    what: Ask["what"],
    args: readonly unknown[],
  ): Promise<unknown> {
    const ask = ++this.#last;
    const answer = deferred<unknown>();
    const forget = this.#world.after(
      limits.tabAskMsMax,
      () => answer.resolve(NONE),
    );
    this.#asked.set(ask, { tab: tab.id, answer });
    try {
      tab.post({ kind: "ask", ask, what, args });
      return await answer.promise;
    } finally {
      forget();
      this.#asked.delete(ask);
    }
  }

  /** A tab answers. */
  reply(tab: Member, { ask, value, failure }: OfTab["reply"]): void {
    const asking = this.#asked.get(ask);
    if (asking?.tab !== tab.id) return;
    if (failure === undefined) asking.answer.resolve(value);
    else asking.answer.reject(errorOf(failure));
  }

  /** A tab is gone. */
  left(tab: Member): void {
    for (const asking of this.#asked.values()) {
      if (asking.tab === tab.id) asking.answer.resolve(NONE);
    }
  }
}
