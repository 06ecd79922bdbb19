/**
 * Random work on one open repository: typed operations over several
 * collections, alone and in transactions, each with its mark.
 *
 * @module
 */

import type { Done, Replica } from "../../repo/replica.ts";
import type { Transaction } from "../../repo/transaction.ts";
import type { World } from "../../src/base/world.ts";
import { Editor } from "../../src/db/editor.ts";
import { IdSource } from "../../src/schema/names.ts";
import { Card, Mark, placeMark, Tally } from "./collections.ts";
import type { Dice } from "./dice.ts";

const words = ["ash", "birch", "cedar", "döner", "elm 🌳"];
const CARDS = 6;

/** Who works where. */
export interface WorkerParts {
  readonly replica: Replica;
  readonly world: World;
  readonly dice: Dice;
  readonly user: string;
  /** Does this one write what the rules forbid? */
  readonly isNaughty: boolean;
}

/** Edits one repository in one life. */
export class Worker {
  readonly #parts: WorkerParts;
  readonly #cards: Editor<typeof Card>;
  readonly #tallies: Editor<typeof Tally>;
  readonly #marks: Editor<typeof Mark>;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    const { state } = parts.replica;
    const ids = new IdSource(parts.world);
    this.#cards = new Editor(Card, state.table(Card.name), ids);
    this.#tallies = new Editor(Tally, state.table(Tally.name), ids);
    this.#marks = new Editor(Mark, state.table(Mark.name), ids);
  }

  /** Writes one transaction under a mark; throws what the replica throws. */
  write(mark: string): Done<void> {
    const { replica, dice, user } = this.#parts;
    return replica.transact((tx) => {
      const operations = dice.chance(0.7) ? 1 : dice.between(2, 6);
      for (let i = 0; i < operations; i++) this.#change(tx);
      const tally = dice.chance(0.5) ? this.#pickTally(tx) : "";
      const by = tally === "" ? 0 : dice.between(1, 9);
      if (tally !== "") {
        this.#tallies.update(tx, tally, { total: { increment: by } });
      }
      const place = placeMark(replica.name);
      this.#marks.create(tx, { id: mark, owner: user, place, tally, by });
    });
  }

  /** One's own tally, made when missing, or one that is here. */
  #pickTally(tx: Transaction): string {
    const { dice, user } = this.#parts;
    const own = `tally-${user}`;
    if (this.#tallies.get(tx, own) === undefined) {
      this.#tallies.create(tx, { id: own, owner: user });
      return own;
    }
    const ids = this.#tallies.table.ids();
    return dice.pick([...ids, own].sort());
  }

  #change(tx: Transaction): void {
    const { dice, user, isNaughty } = this.#parts;
    const id = `card-${dice.between(1, CARDS)}`;
    const word = dice.pick(words);
    const item = this.#cards.get(tx, id);
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
      this.#cards.create(tx, input);
    } else if (dice.chance(0.1) && (isForbidden || item.owner === user)) {
      this.#cards.delete(tx, id);
    } else if (dice.chance(0.3)) {
      this.#cards.update(tx, id, { title, rank: dice.between(0, 9) });
    } else if (dice.chance(0.35)) this.#edit(tx, id, item.body as string, word);
    else this.#enrich(tx, id, item.steps as string[], word);
  }

  #edit(tx: Transaction, id: string, body: string, word: string): void {
    const { dice } = this.#parts;
    const at = dice.between(0, body.length);
    const to = dice.chance(0.3) ? dice.between(at, body.length) : at;
    const edited = body.slice(0, at) + word + body.slice(to);
    this.#cards.update(tx, id, { body: edited.toWellFormed() });
  }

  #enrich(
    tx: Transaction,
    id: string,
    steps: readonly string[],
    word: string,
  ): void {
    const { dice } = this.#parts;
    const by = dice.between(1, 4);
    const last = steps.length - 1;
    const at = dice.between(0, steps.length);
    this.#cards.update(tx, id, {
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
