import { equal } from "node:assert/strict";
import { checkMerge } from "./merge_gate.ts";
import { limits } from "../../src/base/limits.ts";
import type { FieldKind, Operation } from "../../src/schema/patch.ts";
import { Outline } from "../state/outline.ts";

function create(
  collection: string,
  fields: Record<string, FieldKind>,
  generation = 0,
): Operation {
  const list = Object.entries(fields).map(([name, kind]) => ({ name, kind }));
  const shape = { collection, version: 1, fields: list };
  return { what: "create", shape, id: "x", generation, item: { id: "x" } };
}

/** What a gate says that knows no item. */
function ask(outline: Outline, ...operations: Operation[]): string | undefined {
  const createOffsets = operations.map(() => -1);
  const patches = [{ operations, createOffsets }];
  const refusal = checkMerge(outline, 0, patches as never);
  if (refusal === undefined) { for (const one of patches) outline.fold(one); }
  return refusal?.refused;
}

Deno.test("a relay holds who writes a field to what it was first, also after its outline was written down", () => {
  const outline = new Outline([]);
  equal(ask(outline, create("card", { title: "string" })), undefined);
  equal(ask(outline, create("card", { title: "list" })), "wrong-kind");
  const again = new Outline(outline.shapes(limits.fieldsMax));
  equal(ask(again, create("card", { title: "list" })), "wrong-kind");
  equal(ask(again, create("card", { other: "list" })), undefined);
});

Deno.test("a relay bounds collections and their fields over all writers, also after its outline was written down", () => {
  let outline = new Outline([]);
  for (let i = 0; i < limits.collectionsMax; i++) {
    equal(ask(outline, create(`c${i}`, {})), undefined);
  }
  outline = new Outline(outline.shapes(limits.fieldsMax));
  equal(ask(outline, create("one-more", {})), "too-large");
  for (let i = 0; i < limits.collectionFieldsMax; i++) {
    equal(ask(outline, create("c0", { [`f${i}`]: "string" })), undefined);
  }
  outline = new Outline(outline.shapes(limits.fieldsMax));
  equal(outline.find("c0")?.kinds.size, limits.collectionFieldsMax);
  equal(ask(outline, create("c0", { "one-more": "string" })), "too-large");
});

Deno.test("a relay takes generations that it cannot ask about, and none that comes near the last one", () => {
  const outline = new Outline([]);
  equal(ask(outline, create("card", {}, 3)), undefined);
  const { relayGenerationMax, generationMax } = limits;
  equal(ask(outline, create("card", {}, relayGenerationMax)), undefined);
  equal(ask(outline, create("card", {}, relayGenerationMax + 1)), "denied");
  equal(ask(outline, create("card", {}, generationMax)), "denied");
});
