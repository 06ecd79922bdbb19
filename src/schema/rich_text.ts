/**
 * Texts: characters merge, as `text_state.ts` says. And from a whole text, or
 * splices of one, to the least change that says the same.
 */

import { getOrMake } from "../base/collections.ts";
import { DatabaseError } from "../base/errors.ts";
import { checkOptions } from "../base/known_options.ts";
import { limits } from "../base/limits.ts";
import type { Change, Shape, ShapeField, Value } from "./patch.ts";
import { type ElementIds, explicitParts, type RichKind } from "./rich_kind.ts";
import { readTextState, writeTextState } from "./text_codec.ts";
import {
  clientOf,
  emptyText,
  isWithinCharacter,
  joinAhead,
  joinTexts,
  normalText,
  type TextEngine,
  textOfCreate,
  type TextSplice,
  TextState,
} from "./text_state.ts";
import { parseValue, refuseValue, type SchemaField } from "./validate.ts";

export const text: RichKind<TextState> = {
  empty: emptyText,
  begin: (value) => textOfCreate(stringOf(value)),
  create: (state, value) => joinTexts(state, textOfCreate(stringOf(value))),
  change: (state, change) =>
    change.what === "edit" ? joinTexts(state, change.text) : state,
  write: writeTextState,
  read: readTextState,
  prepare,
};

/** A change of a text whose units are all deleted. */
export function withoutText({ clients }: TextState): TextState {
  const gone = Array.from(clients, ([client, { runs, gone }]) => {
    const deleted = runs.map((run) => ({ ...run, text: undefined }));
    return [client, { runs: deleted, gone }] as const;
  });
  return normalText(new Map(gone));
}

function stringOf(value: Value): string {
  return typeof value === "string" ? value : "";
}

function prepare(
  field: SchemaField,
  before: TextState,
  given: unknown,
  ids: ElementIds,
): readonly Change[] {
  const text = given instanceof TextState
    ? given
    : editOf(field, before, given, ids);
  if (text.clients.size === 0) return [];
  const after = joinAhead(before, text);
  checkText(field, text, after);
  return [{ what: "edit", text }];
}

function editOf(
  field: SchemaField,
  before: TextState,
  given: unknown,
  ids: ElementIds,
): TextState {
  const { engine } = field;
  if (engine === undefined) throw noEngine(field);
  const client = () => newClient(before, ids);
  const parts = explicitParts(field, given, ["splice"]);
  if (parts === undefined) {
    const text = parseValue(field, given);
    if (text === before.show(engine)) return emptyText;
    return engine.edit(before, String(text), client);
  }
  const splices = parseSplices(field, engine, before, parts.splice);
  if (splices.length === 0) return emptyText;
  return engine.edit(before, splices, client);
}

function noEngine({ collection, name }: SchemaField): DatabaseError {
  return new DatabaseError(
    "invalid-schema",
    `Cannot write ${collection}.${name}: declare it with text() of @sheaf/sheaf/text`,
  );
}

/** A client that nobody has typed under yet. */
function newClient(before: TextState, ids: ElementIds): number {
  for (;;) {
    const client = clientOf(ids.elementId());
    if (!before.mayHave(client)) return client;
  }
}

function parseSplices(
  field: SchemaField,
  engine: TextEngine,
  before: TextState,
  given: unknown,
): TextSplice[] {
  if (!Array.isArray(given)) refuseValue(field, "an array of splices", given);
  const text = before.show(engine) ?? "";
  let end = 0;
  return given.map((one: unknown) => {
    const splice = parseSplice(field, one);
    const { at, delete: length } = splice;
    const isWithin = at >= end && at + length <= text.length &&
      !isWithinCharacter(text, at) && !isWithinCharacter(text, at + length);
    if (!isWithin) {
      refuseValue(
        field,
        `splices in ascending order, within its ${text.length} units and between whole characters`,
        at,
      );
    }
    end = at + length;
    return splice;
  });
}

const spliceParts = { at: 0, delete: 0, insert: 0 };

function parseSplice(field: SchemaField, given: unknown) {
  if (typeof given === "object" && given !== null) {
    const { at, delete: length = 0, insert = "" } = checkOptions<
      Record<string, unknown>
    >({ ...given }, spliceParts, "splice.");
    if (
      isCount(at) && isCount(length) && typeof insert === "string" &&
      insert.isWellFormed()
    ) return { at, delete: length, insert };
  }
  const expected =
    "{ at, delete, insert }: two counts and a well-formed string";
  refuseValue(field, expected, given);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function checkText(
  field: SchemaField,
  change: TextState,
  after: TextState,
): void {
  if (field.isBounded) parseValue(field, after.show(field.engine));
  if (
    after.lengthMax > limits.valueBytesMax &&
    after.length > limits.valueBytesMax
  ) {
    const expected = `at most ${limits.valueBytesMax} characters`;
    refuseValue(field, expected, `${after.length}`, "value-too-large");
  }
  for (const { runs } of change.clients.values()) {
    if (runs.length <= limits.textRunsMax) continue;
    const expected = `at most ${limits.textRunsMax} insertions at a time`;
    refuseValue(field, expected, `${runs.length}`, "value-too-large");
  }
}

const narrow = new WeakMap<ShapeField, Shape>();

/**
 * The shape of an update that only edits one text: it names no other field,
 * because it travels with every few keystrokes.
 */
export function shapeOfEdit(shape: Shape, field: ShapeField): Shape {
  return getOrMake(
    narrow,
    field,
    () => Object.freeze({ ...shape, fields: Object.freeze([field]) }),
  );
}
