import { lateRich } from "./late_rich.ts";
import { rich } from "./rich.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Cell, Origin } from "./cell.ts";
import { cellDigestBytes } from "./cell_digest.ts";
import { fold } from "./merge.ts";
import { defineSchema, field } from "./mod.ts";
import { engine } from "../text/engine.ts";
import { sized } from "../../tests/kit/tier.ts";
import { textField } from "./field.ts";
import type { Operation } from "./patch.ts";
import { decodePatch, PatchWriter } from "./patch_codec.ts";
import { prepareCreate, prepareDelete, prepareUpdate } from "./prepare.ts";
import { createView } from "./view.ts";

lateRich.provide(rich);

const Note = defineSchema("note", {
  title: field.string().default(""),
  votes: field.counter(),
  tags: field.set(field.string()),
  labels: field.map(field.string()),
  steps: field.list(field.string()),
  body: textField(engine),
});
const view = createView(Note);
const writer = new PatchWriter();

interface Commit {
  readonly origin: Origin;
  readonly operation: Operation;
}

/** One device: its own clock, and the commits it knows in the order it learnt them. */
class Replica {
  cell: Cell | undefined;
  readonly known: Commit[] = [];
  readonly #name: string;
  #wall = 0;
  #elements = 0;

  constructor(name: string) {
    this.#name = name;
  }

  #context(generation: number) {
    const chain = this.#name.repeat(40);
    return {
      newId: () => "note-1",
      elementId: () => `${this.#name}${this.#elements++}`,
      origin: { wall: ++this.#wall, count: 0, chain, operationsAt: -1 },
      generation,
    };
  }

  write(input: object): void {
    const { cell } = this;
    const next = cell === undefined ? 0 : cell.generation + 1;
    const context = this.#context(next);
    const operation = cell?.item === undefined
      ? prepareCreate(Note, input, context)
      : prepareUpdate(Note, cell, input, context);
    if (operation === undefined) return;
    this.#take({ origin: context.origin, operation });
  }

  delete(): void {
    if (this.cell?.item === undefined) return;
    const { origin } = this.#context(0);
    this.#take({ origin, operation: prepareDelete(Note, this.cell) });
  }

  #take(commit: Commit): void {
    this.known.push(commit);
    this.cell = fold(this.cell, commit.operation, commit.origin, -1, view);
  }

  /** Learns what the other knows, as bytes and in an order that respects causes. */
  learnFrom(other: Replica): void {
    for (const { origin, operation } of other.known) {
      if (this.known.some((commit) => commit.origin === origin)) continue;
      this.#wall = Math.max(this.#wall, origin.wall);
      writer.begin();
      writer.add(operation);
      const [decoded] = decodePatch(writer.finish().payload).operations;
      this.#take({ origin, operation: decoded! });
    }
  }
}

const word = fc.constantFrom("a", "b", "c", "d");
const input = fc.oneof(
  fc.record({ title: word }),
  fc.record({
    votes: fc.record({ increment: fc.integer({ min: -3, max: 3 }) }),
  }),
  fc.record({
    tags: fc.record({ add: fc.array(word), remove: fc.array(word) }),
  }),
  fc.record({ labels: fc.record({ put: fc.dictionary(word, word) }) }),
  fc.record({ labels: fc.record({ drop: fc.array(word) }) }),
  fc.record({ steps: fc.array(word, { maxLength: 5 }) }),
  fc.record({
    body: fc.array(word, { maxLength: 5 }).map((all) => all.join("")),
  }),
);
const step = fc.record({
  at: fc.nat(2),
  from: fc.nat(2),
  what: fc.constantFrom("write", "write", "write", "learn", "delete"),
  isRare: fc.nat(6),
  input,
});

function meet(replicas: readonly Replica[]): void {
  for (const one of replicas) {
    for (const other of replicas) if (one !== other) one.learnFrom(other);
  }
  for (const one of replicas) {
    for (const other of replicas) if (one !== other) one.learnFrom(other);
  }
}

function digest(cell: Cell): string {
  return cellDigestBytes(cell).toHex();
}

Deno.test("replicas that met show the same item, whatever each did before", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const replicas = ["a", "b", "c"].map((name) => new Replica(name));
      replicas[0]!.write({ steps: ["one", "two"], tags: ["a"] });
      for (const { at, from, what, isRare, input } of steps) {
        const replica = replicas[at]!;
        if (what === "learn") replica.learnFrom(replicas[from]!);
        else if (what === "write" && "tags" in input && !replica.cell?.item) {
          replica.write({ tags: ["b"] });
        } else if (what === "write" && replica.cell?.item) replica.write(input);
        else if (isRare === 0) replica.delete();
      }
      meet(replicas);
      const [first, ...others] = replicas.map(({ cell }) => cell!);
      for (const other of others) {
        assert.equal(digest(other), digest(first!));
        assert.deepEqual(other.item, first!.item);
      }
    }),
    { seed: 5, numRuns: sized(250, 1_000) },
  );
});

Deno.test("replicas that met can still make any list of what they have", () => {
  const list = fc.array(word, { maxLength: 6 });
  fc.assert(
    fc.property(list, list, list, (mine, yours, wanted) => {
      const a = new Replica("a");
      const b = new Replica("b");
      a.write({ steps: ["x", "y"] });
      b.learnFrom(a);
      // Both insert at the same place, so that their positions are the same.
      a.write({ steps: ["x", ...mine, "y"] });
      b.write({ steps: ["x", ...yours, "y"] });
      meet([a, b]);
      const merged = a.cell!.item!.steps;
      assert.ok(Array.isArray(merged));
      assert.equal(merged.length, mine.length + yours.length + 2);
      a.write({ steps: [...merged].reverse() });
      assert.deepEqual(a.cell!.item!.steps, [...merged].reverse());
      a.write({ steps: wanted });
      assert.deepEqual(a.cell!.item!.steps, wanted);
    }),
    { seed: 5, numRuns: sized(150, 500) },
  );
});

function twins(begin: object): [Replica, Replica] {
  const pair: [Replica, Replica] = [new Replica("a"), new Replica("b")];
  pair[0].write(begin);
  pair[1].learnFrom(pair[0]);
  return pair;
}

Deno.test("an add wins over a concurrent remove that has not seen it", () => {
  const [a, b] = twins({ tags: ["x"] });
  a.write({ tags: { remove: ["x"] } });
  b.write({ tags: { remove: ["x"] } });
  b.write({ tags: { add: ["x"] } });
  meet([a, b]);
  assert.deepEqual(a.cell!.item!.tags, ["x"]);
});

Deno.test("concurrent increments add up", () => {
  const [a, b] = twins({ votes: 5 });
  a.write({ votes: { increment: 2 } });
  b.write({ votes: 4 });
  meet([a, b]);
  assert.equal(a.cell!.item!.votes, 6);
});

Deno.test("concurrent moves of one element leave one element", () => {
  const [a, b] = twins({ steps: ["a", "b", "c"] });
  a.write({ steps: { move: [{ from: 0, to: 2 }] } });
  b.write({ steps: { move: [{ from: 0, to: 1 }] } });
  meet([a, b]);
  const steps = a.cell!.item!.steps;
  assert.ok(Array.isArray(steps));
  assert.deepEqual([...steps].sort(), ["a", "b", "c"]);
});

Deno.test("a concurrent edit does not resurrect a deleted item, a create does", () => {
  const [a, b] = twins({ title: "old" });
  a.delete();
  b.write({ title: "new" });
  meet([a, b]);
  assert.equal(b.cell!.item, undefined);
  b.write({ title: "again" });
  a.learnFrom(b);
  assert.equal(a.cell!.item!.title, "again");
});
