/**
 * Own edits that lost to somebody who had not seen them: what apps are told.
 *
 * Types only. What finds them is loaded when an app first listens.
 */

import type { Infer, Schema } from "../schema/schema.ts";

interface Lost {
  /** Of the item. */
  readonly id: string;
  /** Who wrote what stands now. */
  readonly by: {
    /** By the certificate; `undefined` when none is known. */
    readonly user: string | undefined;
    /** The session's public key: 64 hexadecimal digits. */
    readonly session: string;
  };
  /** When that was written, by its writer's clock. */
  readonly at: Date;
}

/** The item was deleted by somebody who had not seen all that was written to it here. */
export interface DeletedItem<T> extends Lost {
  readonly kind: "deleted";
  /** The item as it was: `create()` takes it to bring it back. */
  readonly before: T;
  readonly after: undefined;
}

/** A value that was written here does not stand. */
export interface OverwrittenValue extends Lost {
  /** `moved`: the place of a list's element. */
  readonly kind: "overwritten" | "moved";
  readonly field: string;
  /** The key, where the field is a map. */
  readonly key?: string;
  /** What was written here: a value, `undefined` where it was removed; of `moved`, an index in the list. */
  readonly before: unknown;
  /** What stands now, likewise; `undefined` where item, key or element is gone. */
  readonly after: unknown;
}

/** An own edit that lost. */
export type OverwrittenEdit<T> = DeletedItem<T> | OverwrittenValue;

/**
 * Hears which own edits lost, oldest first. They are taken when it returns, or
 * when its promise resolves; what throws leaves them to be told again.
 *
 * @param edits each field once, at most `limits.overwrittenMax` of them
 * @param dropped how many older ones are not told: nobody took them in time
 */
export type OverwrittenListener<S extends Schema> = (
  edits: readonly OverwrittenEdit<Infer<S>>[],
  dropped: number,
) => unknown;

/** An edit that lost, as it comes from where the log is: values as no schema shows them. */
export interface ToldEdit extends Omit<OverwrittenValue, "kind" | "field"> {
  readonly kind: OverwrittenEdit<unknown>["kind"];
  readonly field?: string;
  readonly ticket: string;
}

export interface Told {
  readonly edits: readonly ToldEdit[];
  readonly dropped: number;
}

export interface Taking {
  /** Tickets of what was taken. */
  readonly taken?: readonly string[];
  /** How many dropped ones were told. */
  readonly dropped?: number;
  /** Tickets of what a listener failed at: not told again before there is more. */
  readonly failed?: readonly string[];
  /** Nobody listens here any more. */
  readonly isEnd?: boolean;
}

/** Where own edits that lost are found and kept. */
export interface OverwrittenSource {
  /** Notes what was taken, and gives what there is to tell now. */
  take(collection: string, taking: Taking): Promise<Told>;
  /** Runs when there may be more; one at a time. */
  onNews: (() => void) | undefined;
}
