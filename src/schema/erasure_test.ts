import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { decodeText } from "../base/bytes.ts";
import { engine } from "../text/engine.ts";
import { sized } from "../../tests/kit/tier.ts";
import type { Cell } from "./cell.ts";
import { cellDigestBytes } from "./cell_digest.ts";
import { erase } from "./erasure.ts";
import { textField } from "./field.ts";
import { lateRich } from "./late_rich.ts";
import { fold } from "./merge.ts";
import { defineSchema, field } from "./mod.ts";
import type { Operation } from "./patch.ts";
import { decodePatch, PatchWriter } from "./patch_codec.ts";
import { prepareCreate, prepareDelete, prepareUpdate } from "./prepare.ts";
import { rich } from "./rich.ts";
import { createView } from "./view.ts";

lateRich.provide(rich);

const run = { seed: 7, numRuns: sized(150, 2_000) } as const;
const SECRET = "Lane";
const word = fc.constantFrom("a", "b", "c", "d").map((end) => SECRET + end);

const Thing = defineSchema("thing", {
  title: field.string(),
  done: field.boolean().default(false),
  rank: field.number().optional(),
  owner: field.ref("user").optional(),
  blob: field.bytes().optional(),
  extra: field.json().optional(),
  votes: field.counter(),
  tags: field.set(field.string()),
  labels: field.map(field.json()),
  steps: field.list(field.string()),
  body: textField(engine),
});
const view = createView(Thing);

const input = fc.record({
  title: word,
  rank: fc.option(fc.integer(), { nil: undefined }),
  owner: fc.option(word, { nil: undefined }),
  blob: fc.option(word.map((text) => new TextEncoder().encode(text)), {
    nil: undefined,
  }),
  extra: fc.option(word.map((said) => ({ said })), { nil: undefined }),
  votes: fc.nat(9),
  tags: fc.array(word, { maxLength: 4 }),
  labels: fc.dictionary(fc.constantFrom("k", "l"), word),
  steps: fc.array(word, { maxLength: 4 }),
  body: fc.array(word, { maxLength: 3 }).map((words) => words.join(" ")),
});

interface Said {
  readonly id: string;
  readonly origin: ReturnType<typeof context>["origin"];
  readonly operation: Operation;
}

let count = 0;
function context(id: string) {
  count++;
  const chain = "\u0000\u0001\u00ff\u0080".repeat(10);
  const origin = { wall: 1e12 + count, count: 0, chain, operationsAt: -1 };
  return {
    ...{ newId: () => id, elementId: () => `e${count++}`, generation: 0 },
    origin,
  };
}

/** A create and updates of an item. */
function story(id: string, inputs: readonly unknown[], ends: boolean): Said[] {
  const said: Said[] = [];
  let cell: Cell | undefined;
  for (const next of inputs) {
    const given = context(id);
    const operation = cell === undefined
      ? prepareCreate(Thing, next, given)
      : prepareUpdate(Thing, cell, next, given);
    if (operation === undefined) continue;
    said.push({ id, origin: given.origin, operation });
    cell = fold(cell, operation, given.origin, -1, view);
  }
  if (ends) {
    const operation = prepareDelete(Thing, cell!);
    said.push({ id, origin: context(id).origin, operation });
  }
  return said;
}

const stories = fc.tuple(
  fc.array(input, { minLength: 1, maxLength: 4 }),
  fc.array(input, { minLength: 1, maxLength: 3 }),
  fc.boolean(),
).map(([ann, bob, ends]) => [
  ...story("ann", ann, ends),
  ...story("bob", bob, false),
]);

const writer = new PatchWriter();
const SALT = Uint8Array.from({ length: 16 }, (_, i) => 200 + i);
const salts = fc.constantFrom(undefined, SALT);
function encode(said: readonly Said[], salt?: Uint8Array): Uint8Array {
  writer.begin();
  for (const { operation } of said) writer.add(operation);
  return writer.finish(salt).payload;
}

const isAnn = ({ id }: Operation) => id === "ann";
const isBob = ({ id }: Operation) => id === "bob";
const isAny = () => true;

/** What stands where a salt did. */
const PADDED = new Uint8Array(16).fill(3);

Deno.test("a salt is behind a patch, which says the same, and no other bytes stand for it", () => {
  fc.assert(
    fc.property(stories, (said) => {
      const salted = encode(said, SALT);
      const { length } = salted;
      deepEqual(decodePatch(salted), decodePatch(encode(said)));
      const others = [
        salted.slice(0, -1),
        salted.slice(0, -16),
        Uint8Array.of(...salted, 1),
        salted.slice().fill(0, length - 16),
        Uint8Array.of(1, ...salted.slice(1)),
        Uint8Array.of(4, ...encode(said).slice(1)),
      ];
      for (const bytes of others) throws(() => decodePatch(bytes), SyntaxError);
    }),
    run,
  );
});

Deno.test("erase() leaves nothing of the values that are meant, and all else where it was", () => {
  fc.assert(
    fc.property(stories, salts, (said, salt) => {
      const payload = encode(said, salt);
      const left = erase(payload, isAnn)!;
      if (salt !== undefined) deepEqual(payload.slice(-16), salt);
      if (salt !== undefined) deepEqual(left.slice(-16), PADDED);
      equal(left.length, payload.length);
      const before = decodePatch(payload);
      const after = decodePatch(left);
      equal(after.operationsOffset, before.operationsOffset);
      deepEqual(after.createOffsets, before.createOffsets);
      for (
        const [i, { what, id, shape, generation }] of before.operations
          .entries()
      ) {
        const one = after.operations[i]!;
        deepEqual([one.what, one.id, one.generation], [what, id, generation]);
        deepEqual(one.shape, shape);
        if (id === "bob") deepEqual(one, before.operations[i]);
      }
      const all = erase(payload, isAny)!;
      const shown = new TextDecoder("latin1").decode(all);
      equal(shown.includes(SECRET), false);
    }),
    run,
  );
});

Deno.test("erase() makes the same in whatever order, and nothing more the second time", () => {
  fc.assert(
    fc.property(stories, salts, (said, salt) => {
      const payload = encode(said, salt);
      const ann = erase(payload, isAnn)!;
      const bob = erase(payload, isBob)!;
      const both = erase(payload, isAny)!;
      deepEqual(erase(ann, isBob), both);
      deepEqual(erase(bob, isAnn), both);
      equal(erase(ann, isAnn), undefined);
      equal(erase(both, isAny), undefined);
    }),
    run,
  );
});

Deno.test("what erase() leaves folds to the same cell in any order, and a reader sees nothing of it", () => {
  fc.assert(
    fc.property(stories, fc.infiniteStream(fc.nat(1_000)), (said, dice) => {
      const left = said.filter(({ id }) => id === "ann").map((one) => {
        const payload = erase(encode([one]), isAny) ?? encode([one]);
        return { ...one, operation: decodePatch(payload).operations[0]! };
      });
      const shuffled = left.map((one) => ({ one, at: dice.next().value! }))
        .sort((a, b) => a.at - b.at).map(({ one }) => one);
      const [first, second] = [left, shuffled].map(cellOf);
      equal(digest(first), digest(second));
      if (first?.item === undefined) return;
      const { votes, ...shown } = first.item;
      ok(Number(votes) >= 0);
      const { title, tags, labels, steps, body } = shown;
      deepEqual([title, tags, { ...labels as object }, steps, body], [
        undefined,
        [],
        {},
        [],
        "",
      ]);
      equal(JSON.stringify(shown).includes(SECRET), false);
      equal(latin(digest(first)).includes(SECRET), false);
    }),
    run,
  );
});

Deno.test("decodePatch() takes values away from nobody but an erased payload", () => {
  const said = story("ann", [
    { title: "t", tags: ["x"], labels: { k: 1 }, steps: ["s"], body: "b" },
    { tags: ["y"], labels: { k: 2 }, steps: ["s", "u"] },
  ], false);
  for (const one of said) {
    const left = erase(encode([one]), isAny)!;
    decodePatch(left);
    const whole = left.slice();
    whole[0] = 1;
    let error: unknown;
    try {
      decodePatch(whole);
    } catch (cause) {
      error = cause;
    }
    ok(error instanceof SyntaxError);
  }
});

function cellOf(said: readonly Said[]): Cell | undefined {
  let cell: Cell | undefined;
  for (const { operation, origin } of said) {
    cell = fold(cell, operation, origin, 0, view);
  }
  return cell;
}

function digest(cell: Cell | undefined): string {
  return cell === undefined ? "" : cellDigestBytes(cell).toHex();
}

function latin(hex: string): string {
  return decodeText(
    Uint8Array.fromHex(hex).map((byte) => byte < 0x80 ? byte : 0x3f),
  );
}
