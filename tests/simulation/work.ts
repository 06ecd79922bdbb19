/**
 * Random work on one open repository: typed operations over several
 * collections, alone and in transactions, each with its mark.
 *
 * @module
 */

import type { Repository } from "../../src/db/repository.ts";
import type { TransactionScope } from "../../src/db/transaction_scope.ts";
import type { Write } from "../../src/db/write.ts";
import { Card, Mark, placeMark, Tally } from "./collections.ts";
import type { Dice } from "./dice.ts";

const words = ["ash", "birch", "cedar", "döner", "elm 🌳"];
const CARDS = 6;

/** Who works where. */
export interface WorkerParts {
  readonly repository: Repository;
  readonly dice: Dice;
  readonly user: string;
  /** Does this one write what the rules forbid? */
  readonly isNaughty: boolean;
}

/** Edits one repository in one life. */
export class Worker {
  readonly #parts: WorkerParts;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
  }

  /** Writes one transaction under a mark; throws what the repository throws. */
  write(mark: string): Write<void> {
    const { repository, dice, user } = this.#parts;
    return repository.transact((tx) => {
      const operations = dice.chance(0.7) ? 1 : dice.between(2, 6);
      for (let i = 0; i < operations; i++) this.#change(tx);
      const tally = dice.chance(0.5) ? this.#pickTally(tx) : "";
      const by = tally === "" ? 0 : dice.between(1, 9);
      if (tally !== "") {
        tx.collection(Tally).update(tally, { total: { increment: by } });
      }
      const place = placeMark(repository.name);
      tx.collection(Mark).create({ id: mark, owner: user, place, tally, by });
    });
  }

  /** One's own tally, made when missing, or one that is here. */
  #pickTally(tx: TransactionScope): string {
    const { repository, dice, user } = this.#parts;
    const own = `tally-${user}`;
    const tallies = tx.collection(Tally);
    if (!tallies.has(own)) {
      tallies.create({ id: own, owner: user });
      return own;
    }
    const ids = repository.collection(Tally).keys();
    return dice.pick([...ids, own].sort());
  }

  #change(tx: TransactionScope): void {
    const { dice, user, isNaughty } = this.#parts;
    const id = `card-${dice.between(1, CARDS)}`;
    const word = dice.pick(words);
    const cards = tx.collection(Card);
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
    tx.collection(Card).update(id, { body: edited.toWellFormed() });
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
    tx.collection(Card).update(id, {
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
