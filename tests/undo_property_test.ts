/**
 * Undo among others: to undo everything leaves what would be there had only the
 * others written, and to redo it brings all of it back, over reloads, whatever
 * the order in which people wrote.
 */

import { deepEqual } from "node:assert/strict";
import fc from "fast-check";
import { Device, ticking } from "./undo_device.ts";
import { sized } from "./kit/tier.ts";
import { assertOneForm } from "./one_form.ts";
import { replicaOf } from "../src/db/internals.ts";

const shared = ["a", "b"];

/** A number decides what is written; `who` keeps people from each other's elements. */
interface Writing {
  readonly what: number;
  readonly at: number;
  readonly size: number;
  /** Written by nobody else. */
  readonly unique: number;
}

function write(
  device: Device,
  who: "i" | "they",
  writing: Writing,
  register: "title" | "rank",
): void {
  const { cards } = device;
  const { what, at, size } = writing;
  const own = [`${who}1`, `${who}2`];
  const ids = [...shared, ...own].filter((id) => cards.has(id));
  const id = ids[at % ids.length]!;
  const word = `${who}${size % 4}`;
  const unique = `${who}:${writing.unique}`;
  const card = cards.get(id)!;
  switch (what) {
    case 0:
      if (register === "rank") cards.update(id, { rank: size });
      else cards.update(id, { title: unique });
      return;
    case 1:
      return void cards.update(id, { votes: { increment: size - 3 } });
    case 2:
      return void cards.update(id, { tags: { add: [word] } });
    case 3:
      return void cards.update(id, { tags: { remove: [word] } });
    case 4:
      return void cards.update(id, {
        notes: { ...card.notes, [word]: unique },
      });
    case 5: {
      const { [word]: _, ...notes } = card.notes;
      return void cards.update(id, { notes });
    }
    case 6:
      return void cards.update(id, { steps: [...card.steps, unique] });
    case 7:
      return void cards.update(id, {
        steps: card.steps.filter((step) =>
          !step.startsWith(`${who}:`) || Number(step.slice(-1)) % 2 > 0
        ),
      });
    case 8:
      return void cards.upsert({
        id: own[size % 2]!,
        title: unique,
        tags: [word],
        steps: ["1", "2"],
      });
    case 9:
      if (cards.has(own[size % 2]!)) cards.delete(own[size % 2]!);
      return;
    case 10:
      // I write at the beginning of the note, they at its end.
      return void cards.update(id, {
        note: who === "i" ? `${unique} ${card.note}` : `${card.note} ${unique}`,
      });
    case 11:
      if (who === "they") return;
      return void cards.update(id, { note: card.note.replace(/^i:\d+ /, "") });
    default: {
      // Mine may stand anywhere, theirs stay in their order.
      const mine = card.steps.filter((step) => step.startsWith(`${who}:`));
      const rest = card.steps.filter((step) => !mine.includes(step));
      if (who === "i") {
        cards.update(id, { steps: [...mine.reverse(), ...rest] });
      }
    }
  }
}

const writing = fc.record({
  what: fc.nat(12),
  at: fc.nat(7),
  size: fc.integer({ min: 0, max: 7 }),
});
const happenings = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ who: fc.constant("i" as const), writing }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ who: fc.constant("they" as const), writing }),
    },
    { weight: 2, arbitrary: fc.constantFrom("undo" as const, "redo" as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("sync" as const, "reload" as const),
    },
  ),
  { maxLength: 30 },
);

type Happening = typeof happenings extends fc.Arbitrary<(infer T)[]> ? T
  : never;

/** I and they write to one board; they also write the same to one of their own. */
async function live(
  all: typeof happenings extends fc.Arbitrary<infer T> ? T : never,
  isInTurn: boolean,
): Promise<void> {
  const world = ticking();
  const [me, them, alone] = await Promise.all(
    [1, 2, 3].map(() => new Device(world).open()),
  ) as [Device, Device, Device];
  const exchange = async () => {
    await me.tell(them);
    await them.tell(me);
  };
  for (const device of [them, alone]) {
    device.cards.createMany(
      shared.map((id) => ({ id, title: id, steps: ["0"] })),
    );
  }
  await exchange();
  // What both write at the same time, one of them has lost for good.
  const register = isInTurn ? "title" : "rank";
  let unique = 0;
  for (const one of all) {
    if (one === "undo") me.repository.undo.undo();
    else if (one === "redo") me.repository.undo.redo();
    else if (one === "sync") await exchange();
    else if (one === "reload") {
      await me.database.close();
      await me.open();
    } else {
      const writing = { ...one.writing, unique: unique++ };
      if (one.who === "i") write(me, "i", writing, register);
      else {
        write(them, "they", writing, "title");
        write(alone, "they", writing, "title");
      }
    }
    if (isInTurn) await exchange();
  }
  await exchange();
  // An element that came back has another id: among those put in one place at one time it may stand elsewhere.
  const boardOf = ({ cards, board }: Device) =>
    isInTurn ? board : cards.all()
      .map((card) => JSON.stringify({ ...card, steps: card.steps.toSorted() }))
      .sort();
  const before = boardOf(me);
  const { undo } = me.repository;
  let steps = 0;
  for (let done = undo.undo(); done !== undefined; done = undo.undo()) {
    if (done.result.changed > 0) steps++;
  }
  deepEqual(me.board, alone.board);
  for (let step = 0; step < steps; step++) undo.redo();
  deepEqual(boardOf(me), before);
  await exchange();
  deepEqual(them.board, me.board);
  for (const { database, repository } of [me, them, alone]) {
    assertOneForm(replicaOf(repository));
    await database.close();
  }
}

Deno.test("undo of everything leaves what others wrote, where all see each other's writes", async () => {
  await fc.assert(fc.asyncProperty(happenings, (all) => live(all, true)), {
    seed: 7,
    numRuns: sized(25, 1_500),
  });
});

Deno.test("undo of everything leaves what others wrote, where people write at the same time", async () => {
  await fc.assert(fc.asyncProperty(happenings, (all) => live(all, false)), {
    seed: 7,
    numRuns: sized(25, 1_500),
  });
});
