/**
 * Random histories of two devices and a server that refuses, with redactions,
 * revocations and lost disks: after every one of them the author's state, its
 * peers' and that of its next opening are the same; columns, live results and what
 * callbacks hear follow, and of what is erased no file has a word.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import type { Mode } from "../repo/commit/genesis.ts";
import { cellOf, upTo } from "../repo/history/time_travel.ts";
import type { ItemChange } from "../src/schema/source.ts";
import { AuthorPlace, Leaf, refusedAt } from "./kit/author_place.ts";
import { filesWith } from "./kit/found_text.ts";
import { seededRandom } from "./kit/mod.ts";
import { sized } from "./kit/tier.ts";

const IDS = ["a", "b", "c", "d", "é"];
const VALUES = ["p", "q", "r"];

/** One random transaction. */
function writeRandom(place: AuthorPlace, random: () => number): void {
  const pick = <T>(list: readonly T[]) =>
    list[Math.floor(random() * list.length)]!;
  place.write((tx, leaves) => {
    for (let left = 1 + Math.floor(random() * 3); left > 0; left--) {
      const id = pick(IDS);
      const item = leaves.get(tx, id);
      if (item === undefined) {
        leaves.create(tx, {
          id,
          title: pick(VALUES),
          rank: Math.floor(random() * 5),
          tags: VALUES.filter(() => random() < 0.4),
          steps: VALUES.filter(() => random() < 0.5),
          notes: { [pick(VALUES)]: pick(VALUES) },
          votes: Math.floor(random() * 4),
          body: pick(["", "pqr"]),
        });
        continue;
      }
      const steps = (item.steps as readonly string[]).slice();
      const what = Math.floor(random() * 8);
      if (what === 0) leaves.delete(tx, id);
      if (what === 1) {
        leaves.update(tx, id, {
          title: pick(VALUES),
          rank: Math.floor(random() * 5),
        });
      }
      if (what === 2) {
        leaves.update(tx, id, {
          votes: { increment: 1 + Math.floor(random() * 9) },
        });
      }
      if (what === 3) {
        leaves.update(tx, id, { tags: VALUES.filter(() => random() < 0.5) });
      }
      if (what === 4) {
        leaves.update(tx, id, {
          steps: [...steps.reverse().slice(1), pick(VALUES)],
        });
      }
      if (what === 5) {
        leaves.update(tx, id, {
          notes: { put: { [pick(VALUES)]: pick(VALUES) } },
        });
      }
      if (what === 7) {
        const body = String(item.body);
        const at = Math.floor(random() * (body.length + 1));
        const length = Math.floor(random() * 3);
        leaves.update(tx, id, {
          body: body.slice(0, at) + pick(VALUES) + body.slice(at + length),
        });
      }
      if (what === 6) {
        leaves.update(tx, id, { steps: steps.slice(0, -1), tags: [] });
      }
    }
  });
}

/** Follows a table by what its listeners hear, and reads its columns. */
class Follower {
  readonly #place: AuthorPlace;
  readonly #seen = new Map<number, unknown>();

  constructor(place: AuthorPlace) {
    this.#place = place;
    const { table } = place.editor;
    for (let i = 0; i < table.size; i++) this.#see(i, table.itemAt(i));
    table.column("title");
    table.column("rank");
    table.subscribe((changes: readonly ItemChange[]) => {
      for (const { ordinal, before, after } of changes) {
        ok(
          this.#seen.get(ordinal) === before,
          "a change leads on from what was there",
        );
        this.#see(ordinal, after);
      }
    });
  }

  #see(ordinal: number, item: unknown): void {
    if (item === undefined) this.#seen.delete(ordinal);
    else this.#seen.set(ordinal, item);
  }

  check(what: string): void {
    const { table } = this.#place.editor;
    const items = table.items();
    equal(table.count, items.length, what);
    equal(this.#seen.size, items.length, what);
    const rank = table.column("rank");
    const title = table.column("title");
    for (let i = 0; i < table.size; i++) {
      const item = table.itemAt(i);
      ok(
        this.#seen.get(i) === item,
        `${what}: what was heard is what is there`,
      );
      if (rank?.kind === "number") {
        deepEqual(rank.values[i] ?? NaN, item?.rank ?? NaN, what);
      }
      if (title?.kind === "word") {
        equal(title.words[title.codes[i] ?? 0], item?.title, what);
      }
    }
  }
}

/** What nothing but erased commits says. */
const SECRET = "wild rose lane";

async function run(seed: number, mode: Mode): Promise<void> {
  const random = seededRandom(seed);
  let place = await AuthorPlace.open({ mode, seed: 1 });
  let other = await AuthorPlace.open({ mode, seed: 2 });
  let key = 0;
  let follower = new Follower(place);
  /** Up to which address of the log the server has everything, chain by chain. */
  const acknowledged = new Map<string, number>();
  for (let step = 0; step < 14; step++) {
    const what = `seed ${seed}, ${mode}, step ${step}`;
    for (let i = Math.floor(random() * 4); i >= 0; i--) {
      writeRandom(place, random);
    }
    if (random() < 0.4) await place.replica.durable();
    if (random() < 0.2) {
      // Either says it, and the other one may have said something of it meanwhile.
      const [says, hears] = random() < 0.5 ? [place, other] : [other, place];
      const id = IDS[Math.floor(random() * IDS.length)]!;
      for (const one of random() < 0.5 ? [says, hears] : [says]) {
        one.write((tx, leaves) => {
          const title = `${SECRET} ${step}.`;
          leaves.upsert(tx, { id, title, steps: [title], notes: { a: title } });
        });
        if (random() < 0.5) await one.replica.durable();
      }
      if (random() < 0.3) await says.tell(hears);
      if (random() < 0.3) await place.replica.checkpoint();
      await says.redact([id]);
      deepEqual(filesWith(says.storage, `${SECRET} ${step}.`), [], what);
      if (random() < 0.5) await says.tell(hears);
    }
    if (mode === "default" && random() < 0.05) {
      const cuts = await place.revoke(other);
      await place.tell(other);
      other = await other.reopened({ key: ++key });
      other.replica.cut(cuts);
    } else if (random() < 0.05) {
      // Its disk is lost: what it had seen stays seen, and it has another key.
      for (const [chain, count] of other.replica.graph.vector()) {
        const known = acknowledged.get(chain) ?? 0;
        acknowledged.set(chain, Math.max(known, count));
      }
      other = await AuthorPlace.open({ mode, seed: 2, key: ++key });
    }
    const dice = random();
    if (dice < 0.25) {
      // Everything is taken; the other one answers.
      await place.tell(other);
      for (const [chain, count] of place.replica.graph.vector()) {
        acknowledged.set(chain, count);
      }
      writeRandom(other, random);
      await other.tell(place);
    } else if (dice < 0.4) {
      writeRandom(other, random);
      await other.tell(place);
    } else if (dice < 0.75) {
      place.replica.flush();
      const open = [...place.replica.graph.vector()].filter(([chain, count]) =>
        chain.startsWith(place.keyName) &&
        count > (acknowledged.get(chain) ?? 0) &&
        other.replica.graph.lengthOf(chain) < count
      );
      const [chain, count] = open[Math.floor(random() * open.length)] ??
        ["", 0];
      if (chain === "") continue;
      const from = Math.max(
        acknowledged.get(chain) ?? 0,
        other.replica.graph.lengthOf(chain),
      );
      const refused = [];
      for (let number = from; number < count; number++) {
        if (random() < 0.35) refused.push(refusedAt(number));
      }
      place.replica.refuse(chain, refused);
      follower.check(what);
      const goesOn = random() < 0.7;
      if (!goesOn) place.replica.cut([{ chain, from }]);
      follower.check(what);
      const length = place.replica.graph.lengthOf(chain);
      // What was typed behind refused text is written again at its end.
      ok(goesOn ? length >= count : length === from, what);
      await place.agrees(what);
    } else if (dice < 0.85) {
      const [entry] = place.replica.refusals();
      if (entry !== undefined && random() < 0.5) place.replica.retry(entry);
      else if (entry !== undefined) await place.replica.discard(entry);
    } else {
      if (random() < 0.5) await place.replica.checkpoint();
      if (random() < 0.5) await place.replica.close();
      else await place.replica.durable();
      place = await place.reopened();
      follower = new Follower(place);
    }
    follower.check(what);
  }
  await place.agrees(`seed ${seed}, ${mode}, end`);
  // What was said meanwhile of what others erased is erased when all is said.
  await place.tell(other);
  await other.tell(place);
  await place.redact(IDS);
  await place.tell(other);
  for (const { storage } of [place, other]) {
    deepEqual(filesWith(storage, SECRET), [], `seed ${seed}, ${mode}, end`);
  }
  await place.agrees(`seed ${seed}, ${mode}, erased`);
  equal(place.digest(), other.digest(), `seed ${seed}, ${mode}, erased`);
  for (const id of IDS) {
    const past = cellOf(
      place.replica.commits,
      () => place.editor.table.view,
      upTo(Infinity),
      {
        collection: Leaf.name,
        id,
      },
    )?.item;
    deepEqual(past, place.get(id), "time travel knows what is void");
  }
}

for (const mode of ["default", "trusted", "fast"] as const) {
  Deno.test(`whatever is refused of a ${mode} repository, what stays is what others have`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 2 ** 30 }),
        (seed) => run(seed, mode),
      ),
      {
        numRuns: sized(12, 700),
        examples: [[5], [904767922], [728477706]],
        seed: 4,
        endOnFailure: true,
      },
    );
  });
}
