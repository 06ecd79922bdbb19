/**
 * What a hook gives, and how it stays the same object while nothing changes.
 */

/** What a hook knows just now. */
export type Result<T> = Loading | Ready<T> | Failed;

/** What is asked for is not there yet. */
export interface Loading {
  readonly data: undefined;
  readonly status: "loading";
  readonly error: undefined;
}

/** Here it is. */
export interface Ready<T> {
  readonly data: T;
  readonly status: "ready";
  readonly error: undefined;
}

/** Asking failed. */
export interface Failed {
  readonly data: undefined;
  readonly status: "error";
  /** What was thrown: a `DatabaseError`, as a rule. */
  readonly error: unknown;
}

/** A value that changes: `query.store()`, `collection.store(id)`, `repository.sync` and their kind. */
export interface Store<T> {
  getSnapshot(): T;
  subscribe(listener: () => void): () => void;
}

export const loading: Loading = Object.freeze({
  data: undefined,
  status: "loading",
  error: undefined,
});

/** What a store says now; `last` itself where that is the same. */
export function resultOf<T>(
  store: Store<T> | undefined,
  last: Result<T>,
): Result<T> {
  if (store === undefined) return loading;
  try {
    const data = store.getSnapshot();
    return last.status === "ready" && isSame(last.data, data)
      ? last
      : { data, status: "ready", error: undefined };
  } catch (error) {
    return last.status === "error" && String(last.error) === String(error)
      ? last
      : { data: undefined, status: "error", error };
  }
}

/** The same, or lists of the same. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  return Array.isArray(a) && Array.isArray(b) && a.length === b.length &&
    a.every((part, at) => Object.is(part, b[at]));
}
