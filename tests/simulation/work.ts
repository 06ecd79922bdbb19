/**
 * Random work on one open repository: typed operations over several
 * collections, alone and in transactions, each with its mark.
 *
 * @module
 */

import type { Repository } from "../../src/db/repository.ts";
import type { TransactionScope } from "../../src/db/transaction_scope.ts";
import type { Write } from "../../src/db/write.ts";
import type { Kv, KvValue } from "../../src/kv/mod.ts";
import { type AppSchemas, Mark, placeMark, Tally } from "./collections.ts";
import type { Dice } from "./dice.ts";

const words = ["ash", "birch", "cedar", "döner", "elm 🌳"];
const CARDS = 6;
const KEYS = 4;

/** Who works where. */
export interface WorkerParts {
  readonly repository: Repository;
  readonly kv: Kv;
  readonly app: AppSchemas;
  readonly dice: Dice;
  readonly user: string;
  /** Does this one compare and set? */
  readonly hasSwaps: boolean;
  /** Does this one write what the rules forbid? */
  readonly isNaughty: boolean;
}

/** Edits one repository in one life. */
export class Worker {
  readonly #parts: WorkerParts;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
  }

  /** Did it begin a tally? Whoever takes that back takes it from others, too. */
  hasBegun = false;

  /** Writes one transaction under a mark, and gives the tally that it adds to, or ""; throws what the repository throws. */
  write(mark: string): Write<string> {
    const { repository, dice, user } = this.#parts;
    this.hasBegun = false;
    return repository.transact((tx) => {
      const operations = dice.chance(0.7) ? 1 : dice.between(2, 6);
      for (let i = 0; i < operations; i++) {
        if (dice.chance(0.2)) this.#put(tx, mark);
        else this.#change(tx);
      }
      const tally = dice.chance(0.5) ? this.#pickTally(tx) : "";
      const by = tally === "" ? 0 : dice.between(1, 9);
      if (tally !== "") {
        tx.collection(Tally).update(tally, { total: { increment: by } });
      }
      const place = placeMark(repository.name);
      tx.collection(Mark).create({ id: mark, owner: user, place, tally, by });
      return tally;
    });
  }

  /** One's own tally, made when missing, or one that is here. */
  #pickTally(tx: TransactionScope): string {
    const { repository, dice, user } = this.#parts;
    const own = `tally-${user}`;
    const tallies = tx.collection(Tally);
    if (!tallies.has(own)) {
      tallies.create({ id: own, owner: user });
      this.hasBegun = true;
      return own;
    }
    const ids = repository.collection(Tally).keys();
    return dice.pick([...ids, own].sort());
  }

  /** Writes entries of the store; each value is written once. */
  #put(tx: TransactionScope, mark: string): void {
    const { dice, kv, hasSwaps } = this.#parts;
    const scope = kv.within(tx);
    const key = `key-${dice.between(1, KEYS)}`;
    const known = scope.get(key);
    const value: KvValue = dice.chance(0.3)
      ? new Map([[mark, dice.between(0, 9)]])
      : { mark, by: dice.between(0, 9) };
    const ends = dice.chance(0.2) ? { ttlMs: dice.between(500, 60_000) } : {};
    if (hasSwaps && dice.chance(0.5)) {
      const expected = dice.chance(0.9) ? known : "never there";
      scope.compareAndSet(key, expected, value, ends);
    } else if (dice.chance(0.2)) scope.delete(key);
    else if (known === undefined || dice.chance(0.5)) {
      scope.set(key, value, ends);
    }
  }

  #change(tx: TransactionScope): void {
    const { dice, user, isNaughty } = this.#parts;
    const id = `card-${dice.between(1, CARDS)}`;
    const word = dice.pick(words);
    const cards = tx.collection(this.#parts.app.Card);
    const item = cards.get(id);
    const isForbidden = isNaughty && dice.chance(0.3);
    const title = isForbidden ? "forbidden" : word;
    if (item === undefined) {
      const owner = isForbidden ? "somebody" : user;
      const input = {
        id,
        title,
        owner,
        rank: dice.between(0, 9),
        tags: [word],
        steps: [word],
        body: word,
      };
      cards.create(input);
    } else if (dice.chance(0.1) && (isForbidden || item.owner === user)) {
      cards.delete(id);
    } else if (dice.chance(0.3)) {
      cards.update(id, { title, rank: dice.between(0, 9) });
    } else if (dice.chance(0.35)) this.#edit(tx, id, item.body, word);
    else this.#enrich(tx, id, item.steps, word);
  }

  #edit(tx: TransactionScope, id: string, body: string, word: string): void {
    const { dice } = this.#parts;
    const at = dice.between(0, body.length);
    const to = dice.chance(0.3) ? dice.between(at, body.length) : at;
    const edited = body.slice(0, at) + word + body.slice(to);
    tx.collection(this.#parts.app.Card).update(id, {
      body: edited.toWellFormed(),
    });
  }

  #enrich(
    tx: TransactionScope,
    id: string,
    steps: readonly string[],
    word: string,
  ): void {
    const { dice } = this.#parts;
    const by = dice.between(1, 4);
    const last = steps.length - 1;
    const at = dice.between(0, steps.length);
    tx.collection(this.#parts.app.Card).update(id, {
      tags: dice.chance(0.5) ? { add: [word] } : { remove: [word] },
      votes: { increment: by },
      steps: last > 0 && dice.chance(0.4)
        ? dice.chance(0.5)
          ? { move: [{ from: 0, to: last }] }
          : { delete: [last] }
        : { insert: [{ at, value: word }] },
      notes: dice.chance(0.7) ? { put: { [word]: `${by}` } } : { drop: [word] },
    });
  }
}
