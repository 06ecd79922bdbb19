/**
 * The types of `where` objects: which operators make sense for which field.
 *
 * Types only. At run time the same rules are checked in `parse_where.ts`,
 * because queries also come from plain JavaScript and from JSON.
 */

/** Whatever has an id can be a row. */
export interface AnyRow {
  readonly id: string;
}

interface Chosen<V> {
  /** One of these values. */
  readonly in?: readonly V[];
}

interface Ranged<V> {
  readonly gt?: V;
  readonly gte?: V;
  readonly lt?: V;
  readonly lte?: V;
}

interface Texted {
  /** The string starts with this. */
  readonly prefix?: string;
  /** The string has this within. */
  readonly contains?: string;
}

/** Operators of a set or a list. */
export interface ElementOperators<E> {
  /** One element equals this. */
  readonly contains?: E;
  /** `undefined`: the field is there. */
  readonly not?: undefined | ElementOperators<E>;
}

/** Operators of a map. */
export interface KeyOperators {
  /** The map has this key. */
  readonly contains?: string;
  /** `undefined`: the field is there. */
  readonly not?: undefined | KeyOperators;
}

interface Negated<V, O> {
  /** Not this value, or not what these operators ask. Absent values pass. */
  readonly not?: V | undefined | O;
}

/** Operators of a string. */
export interface TextOperators<V>
  extends Chosen<V>, Ranged<V>, Texted, Negated<V, TextOperators<V>> {}

/** Operators of a number, a date or bytes. */
export interface OrderedOperators<V>
  extends Chosen<V>, Ranged<V>, Negated<V, OrderedOperators<V>> {}

/** Operators of a boolean. */
export interface BooleanOperators
  extends Chosen<boolean>, Negated<boolean, BooleanOperators> {}

/** What may be asked of a present value of type `V`. */
type Asked<V> = [V] extends [string] ? V | TextOperators<V>
  : [V] extends [number] ? number | OrderedOperators<number>
  : [V] extends [boolean] ? boolean | BooleanOperators
  : [V] extends [Date] ? Date | OrderedOperators<Date>
  : [V] extends [Uint8Array] ? Uint8Array | OrderedOperators<Uint8Array>
  : [V] extends [readonly (infer E)[]] ? ElementOperators<E>
  : KeyOperators;

/** What may be asked of a field of type `V`: `undefined` where it can be absent. */
export type FieldWhere<V> =
  | Asked<Exclude<V, undefined>>
  | (undefined extends V ? undefined : never);

/**
 * A condition on rows. Several fields are joined by "and". The names `and`,
 * `or` and `not` are combinators, never fields.
 */
export type Where<Row extends AnyRow> =
  & { readonly [F in keyof Row]?: FieldWhere<Row[F]> }
  & {
    readonly and?: readonly Where<Row>[];
    readonly or?: readonly Where<Row>[];
    readonly not?: Where<Row>;
  };

/** Fields that rows can be ordered by. */
export type OrderField<Row extends AnyRow> = {
  [F in keyof Row & string]: Exclude<Row[F], undefined> extends
    string | number | boolean | Date | Uint8Array ? F : never;
}[keyof Row & string];

/** Fields that hold numbers. */
export type NumberField<Row extends AnyRow> = {
  [F in keyof Row & string]: Exclude<Row[F], undefined> extends number ? F
    : never;
}[keyof Row & string];

/** Which way to order. */
export type Direction = "asc" | "desc";
