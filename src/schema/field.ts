/**
 * Field builders: what an application says about one field of a schema.
 *
 * A builder is immutable: each call gives a new one. It only records what was
 * asked; {@linkcode defineSchema} judges it as a whole.
 */

import type { StandardSchemaV1 } from "@standard-schema/spec";
import { DatabaseError } from "../base/errors.ts";
import type { FieldKind } from "./patch.ts";
import type { TextEngine, TextSplice, TextState } from "./text_state.ts";

/** Must a create name the field? `optional` reads as `undefined`, `default` is filled in. */
export type FieldMode = "required" | "optional" | "default";

/** The types that a field has for its users; never there at run time. */
export interface FieldTypes {
  /** What readers see. */
  readonly read: unknown;
  /** A whole value, as create and update take it. */
  readonly write: unknown;
  /** Explicit changes, as update takes them. */
  readonly change: unknown;
  /** Whether create needs it. */
  readonly mode: FieldMode;
}

/** A validator of an application: a Standard Schema, or a function that says `true`, `false` or what is wrong. */
export type Check<T> =
  | StandardSchemaV1<unknown, T>
  | ((value: T) => boolean | string);

/** A validator whatever it validates. */
export type AnyCheck =
  | StandardSchemaV1<unknown, unknown>
  | ((value: never) => boolean | string);

/** What was recorded of one field. */
export interface FieldDefinition {
  /** Which values it holds, and how they merge. */
  readonly kind: FieldKind;
  /** Whether a create needs it. */
  readonly mode: FieldMode;
  /** As given; judged by `defineSchema`. */
  readonly initial?: unknown;
  /** Allowed values of an enum. */
  readonly options?: readonly string[];
  /** The field of the elements of a set, map or list. */
  readonly inner?: FieldDefinition;
  /** Knows the order of a text's characters. */
  readonly engine?: TextEngine;
  /** The collection that a ref points into. */
  readonly target?: string;
  /** Must the item that a ref names be there? */
  readonly mustExist?: boolean;
  /** Least number, or least length. */
  readonly min?: number;
  /** Greatest number, or greatest length. */
  readonly max?: number;
  /** Only whole numbers. */
  readonly isInteger?: boolean;
  /** In the order given. */
  readonly checks: readonly AnyCheck[];
}

/** Any field, whatever its types. */
export interface AnyField {
  /** What was recorded. */
  readonly definition: FieldDefinition;
  /** Types only. */
  readonly "~types"?: FieldTypes;
}

/** The types of one field, as `FieldTypes` names them. */
export interface TypesOfField<Read, Write, Change, Mode extends FieldMode> {
  readonly read: Read;
  readonly write: Write;
  readonly change: Change;
  readonly mode: Mode;
}

/** A field whose last writer wins. */
export interface ScalarField<T, Mode extends FieldMode = "required">
  extends AnyField {
  /** Types only. */
  readonly "~types"?: TypesOfField<
    Mode extends "optional" ? T | undefined : T,
    Mode extends "optional" ? T | undefined : T,
    never,
    Mode
  >;
  /** May be `undefined`. */
  optional(): ScalarField<T, "optional">;
  /** Filled in when a create leaves it out. */
  default(value: T): ScalarField<T, "default">;
  /** Asks a validator of the application, too. */
  check(check: Check<T>): ScalarField<T, Mode>;
}

/** A ref field: the item that it names can be asked for. */
export interface RefField<Mode extends FieldMode = "required">
  extends ScalarField<string, Mode> {
  /** May be `undefined`. */
  optional(): RefField<"optional">;
  /** Filled in when a create leaves it out. */
  default(value: string): RefField<"default">;
  /** Asks a validator of the application, too. */
  check(check: Check<string>): RefField<Mode>;
  /** The item must be there, and cannot be deleted while it is named. */
  exists(): RefField<Mode>;
}

/** A string or bytes field: its length can be bounded. */
export interface SizedField<T, Mode extends FieldMode = "required">
  extends ScalarField<T, Mode> {
  /** May be `undefined`. */
  optional(): SizedField<T, "optional">;
  /** Filled in when a create leaves it out. */
  default(value: T): SizedField<T, "default">;
  /** Asks a validator of the application, too. */
  check(check: Check<T>): SizedField<T, Mode>;
  /** Least value, or least length. */
  min(bound: number): SizedField<T, Mode>;
  /** Greatest value, or greatest length. */
  max(bound: number): SizedField<T, Mode>;
}

/** A number field: it can be bounded and restricted to whole numbers. */
export interface NumberField<Mode extends FieldMode = "required">
  extends SizedField<number, Mode> {
  /** May be `undefined`. */
  optional(): NumberField<"optional">;
  /** Filled in when a create leaves it out. */
  default(value: number): NumberField<"default">;
  /** Asks a validator of the application, too. */
  check(check: Check<number>): NumberField<Mode>;
  /** Least number. */
  min(bound: number): NumberField<Mode>;
  /** Greatest number. */
  max(bound: number): NumberField<Mode>;
  /** Only whole numbers. */
  int(): NumberField<Mode>;
}

/** A field whose concurrent changes are all kept. It always has a value, empty at first. */
export interface RichField<Read, Write, Change> extends AnyField {
  /** Types only. */
  readonly "~types"?: TypesOfField<Read, Write, Change, "default">;
  /** What a create begins with when it leaves the field out. */
  default(value: Write): RichField<Read, Write, Change>;
  /** Asks a validator of the application about the whole value, too. */
  check(check: Check<Read>): RichField<Read, Write, Change>;
  /** Least number of elements; of a counter a constraint: its sum is never less. */
  min(bound: number): RichField<Read, Write, Change>;
  /** Greatest number of elements; of a counter a constraint: its sum is never more. */
  max(bound: number): RichField<Read, Write, Change>;
}

/** A type with all its properties read-only, all the way down. */
export type DeepReadonly<T> = T extends
  string | number | boolean | null | undefined ? T
  : { readonly [Key in keyof T]: DeepReadonly<T[Key]> };

/** Whatever JSON can say. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** What a JSON field of type `T` holds: `T`, read-only all the way down. */
export type FrozenJson<T> = [JsonValue] extends [T] ? T : DeepReadonly<T>;

/** Explicit changes of a counter. */
export interface CounterChange {
  /** A whole number, negative to count down. */
  readonly increment: number;
}

/** Explicit changes of a set. */
export interface SetChange<T> {
  /** Values to add; one that is removed, too, is there afterwards. */
  readonly add?: Iterable<T>;
  /** Values to remove. */
  readonly remove?: Iterable<T>;
}

/** Explicit changes of a map. */
export interface MapChange<T> {
  /** Values to put, by key. */
  readonly put?: { readonly [key: string]: T };
  /** Keys to drop. */
  readonly drop?: Iterable<string>;
}

/**
 * Explicit changes of a list. `replace` and `delete` mean indexes of the list
 * as it was; then each move happens after the other, then each insert.
 */
export interface ListChange<T> {
  /** New values for elements, which keep their places. */
  readonly replace?: readonly { readonly at: number; readonly value: T }[];
  /** Indexes of elements to delete. */
  readonly delete?: readonly number[];
  /** An element is taken out, and put back at the index `to` of the rest. */
  readonly move?: readonly { readonly from: number; readonly to: number }[];
  /** New elements; index `at` counts those before it. */
  readonly insert?: readonly { readonly at: number; readonly value: T }[];
}

/** Explicit changes of a text: splices, all meant for the text as it was; or what a bound editor did. */
export type TextChange = { readonly splice: readonly TextSplice[] } | TextState;

/** A map as readers see it: a frozen object without a prototype. */
export type ReadonlyRecord<T> = { readonly [key: string]: T };

/** A set of scalars. */
export type SetOf<T> = RichField<readonly T[], Iterable<T>, SetChange<T>>;
/** Values by key. */
export type MapOf<T> = RichField<
  ReadonlyRecord<T>,
  ReadonlyRecord<T>,
  MapChange<T>
>;
/** Text whose characters merge. */
export type TextField = RichField<string, string, TextChange>;
/** Values in an order. */
export type ListOf<T> = RichField<readonly T[], readonly T[], ListChange<T>>;

function begin(kind: FieldKind): FieldDefinition {
  return { kind, mode: "required", checks: [] };
}

const recorders = {
  optional: () => ({ mode: "optional" }),
  default: (initial: unknown) => ({ mode: "default", initial }),
  check: (check: AnyCheck, { checks }: FieldDefinition) => ({
    checks: [...checks, check],
  }),
  min: (min: number) => ({ min }),
  max: (max: number) => ({ max }),
  int: () => ({ isInteger: true }),
  exists: () => ({ mustExist: true }),
} satisfies Record<string, Recorder>;

type Recorder = (
  given: never,
  before: FieldDefinition,
) => Partial<FieldDefinition>;
type Methods = readonly (keyof typeof recorders)[];
const ofScalar: Methods = ["optional", "default", "check"];
const ofSized: Methods = [...ofScalar, "min", "max"];
const ofNumber: Methods = [...ofSized, "int"];
const ofRef: Methods = [...ofScalar, "exists"];
const ofRich: Methods = ["default", "check", "min", "max"];

function build<F extends AnyField>(
  methods: Methods,
  definition: FieldDefinition,
): F {
  const field: Record<string, unknown> = { definition };
  Object.freeze(definition);
  for (const name of methods) {
    field[name] = (given: never) =>
      build(methods, { ...definition, ...recorders[name](given, definition) });
  }
  return Object.freeze(field) as unknown as F; // proof: `F` has these methods
}

function collectionOf(kind: FieldKind, inner: AnyField): FieldDefinition {
  const { definition } = inner ?? {};
  if (definition !== undefined) {
    return { ...begin(kind), mode: "default", inner: definition };
  }
  throw new DatabaseError(
    "invalid-schema",
    `field.${kind}() needs the kind of its elements, such as field.string()`,
  );
}

/** A text field over an engine: `text()` of `@sheaf/sheaf/text` has one. */
export function textField(engine: TextEngine): TextField {
  return build(ofRich, { ...begin("text"), mode: "default", engine });
}

const builders = {
  /** Text. */
  string: (): SizedField<string> => build(ofSized, begin("string")),
  /** A finite number. */
  number: (): NumberField => build(ofNumber, begin("number")),
  /** True or false. */
  boolean: (): ScalarField<boolean> => build(ofScalar, begin("boolean")),
  /** A moment, to the millisecond. */
  date: (): ScalarField<Date> => build(ofScalar, begin("date")),
  /** Bytes. */
  bytes: (): SizedField<Uint8Array> => build(ofSized, begin("bytes")),
  /** One of the given strings. */
  enum: <const T extends string>(options: readonly T[]): ScalarField<T> =>
    build(ofScalar, {
      ...begin("enum"),
      options: Object.freeze(Array.isArray(options) ? [...options] : []),
    }),
  /** Whatever JSON can say, as one value: its last writer wins. */
  json: <T = JsonValue>(): ScalarField<FrozenJson<T>> =>
    build(ofScalar, begin("json")),
  /** The id of an item of another collection. */
  ref: (collection: string): RefField =>
    build(ofRef, { ...begin("ref"), target: collection }),
  /** A whole number whose concurrent increments add up. */
  counter: (): RichField<number, number, CounterChange> =>
    build(ofRich, { ...begin("counter"), mode: "default" }),
  /** Distinct values in ascending order: an add wins over a concurrent remove. */
  set: <T extends string | number | boolean>(inner: ScalarField<T>): SetOf<T> =>
    build(ofRich, collectionOf("set", inner)),
  /** Values by key: the last writer wins for each key. */
  map: <T>(inner: ScalarField<T>): MapOf<T> =>
    build(ofRich, collectionOf("map", inner)),
  /** Values in an order: inserts never clobber, a move never duplicates. */
  list: <T>(inner: ScalarField<T>): ListOf<T> =>
    build(ofRich, collectionOf("list", inner)),
} as const;

/** A builder that is given no more than it takes: what a field may add are methods. */
export function strict<F extends (...given: never[]) => unknown>(
  name: string,
  builder: F,
): F {
  const checked = (...given: never[]) => {
    if (given.length <= builder.length) return builder(...given);
    throw new DatabaseError(
      "invalid-schema",
      `field.${name}() takes no options: what a field may add are methods, as in field.string().optional()`,
    );
  };
  return checked as F; // proof: it gives what the builder gives
}

/** Builders of fields, one for each kind. */
export const field: typeof builders = Object.freeze(
  Object.fromEntries(
    Object.entries(builders).map(([name, make]) => [name, strict(name, make)]),
  ),
) as typeof builders; // proof: each builder under its name
