/**
 * One database for all components below: opened once for a page, however often
 * components are rendered, mounted twice (StrictMode) or put in place anew (hot
 * reload), and closed when the last provider of its name is gone.
 */

import type { Database } from "../db/face.ts";
import type { StoreHooks } from "./framework.ts";
import type { Store } from "./result.ts";

/** What a framework has for handing a value to all components below. */
export interface ContextFramework<Rendered> {
  createContext(value: undefined): { readonly Provider: unknown };
  useContext(context: { readonly Provider: unknown }): unknown;
  createElement(type: never, props: object, ...children: never[]): Rendered;
}

/** What is opened, and closed again. */
export interface Closable {
  close(): Promise<void>;
}

/** What a `DatabaseProvider` is given. */
export type DatabaseProviderProps<Children> =
  & {
    readonly children?: Children;
    /** Shown until the database is open. */
    readonly fallback?: Children;
  }
  & ({
    /** One that is open; the provider does not close it. */
    readonly database: Closable;
  } | {
    /** Opens it; asked once for all providers of this name. */
    readonly open: () => Promise<Closable>;
    /** Tells databases of one page apart; "database" when it is not said. */
    readonly name?: string;
  });

/** The provider and its hook. */
export interface Provider<Children, Rendered> {
  /** Gives a database to all components below; a failure to open goes to the error boundary. */
  DatabaseProvider(props: DatabaseProviderProps<Children>): Rendered;
  /**
   * The database of the nearest `DatabaseProvider`.
   *
   * @throws {TypeError} there is none
   */
  useDatabase<D extends Closable = Database>(): D;
}

export function providerOf<Children, Rendered>(
  framework: ContextFramework<Rendered>,
  { useMade }: StoreHooks,
): Provider<Children, Rendered> {
  const { createContext, createElement, useContext } = framework;
  const context = createContext(undefined);
  return {
    DatabaseProvider(props) {
      const given = "database" in props ? props.database : undefined;
      const name = "name" in props ? props.name ?? "database" : "database";
      const { data, error } = useMade<Closable | undefined>(
        () => "open" in props ? storeOf(name, props.open) : undefined,
        [name, given],
      );
      if (error !== undefined) throw error;
      const database = given ?? data;
      // Proof: a context's provider takes a value and children.
      return createElement(
        context.Provider as never,
        { value: database },
        (database ? props.children : props.fallback) as never,
      );
    },
    useDatabase<D extends Closable>(): D {
      const database = useContext(context);
      if (database === undefined) {
        throw new TypeError("useDatabase() stands below no DatabaseProvider");
      }
      return database as D; // Proof: who calls says which one was provided.
    },
  };
}

/** By name; there are as many as an app has databases. */
const stores = new Map<string, DatabaseStore>();

function storeOf(
  name: string,
  open: () => Promise<Closable>,
): Store<Closable | undefined> {
  const store = stores.get(name) ?? new DatabaseStore();
  stores.set(name, store);
  store.begin(open);
  return store;
}

/** Opens when it is first shown, and closes when nobody shows it any more. */
class DatabaseStore implements Store<Closable | undefined> {
  readonly #listeners = new Set<() => void>();
  #open: () => Promise<Closable> = () => Promise.reject();
  #opening: Promise<Closable> | undefined;
  #closing: Promise<void> = Promise.resolve();
  #read: () => Closable | undefined = () => undefined;

  /** Opens, unless it is open or about to be. */
  begin(open: () => Promise<Closable>): void {
    this.#open = open;
    if (this.#opening !== undefined) return;
    const opening = this.#closing.then(open);
    this.#opening = opening;
    opening.then(
      (database) => this.#settle(opening, () => database),
      (error: unknown) =>
        this.#settle(opening, () => {
          throw error;
        }),
    );
  }

  #settle(opening: Promise<Closable>, read: () => Closable): void {
    if (this.#opening !== opening) return;
    this.#read = read;
    for (const listener of [...this.#listeners]) listener();
  }

  getSnapshot(): Closable | undefined {
    return this.#read();
  }

  subscribe(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    this.begin(this.#open); // It may have been closed while it was hidden.
    return () => {
      this.#listeners.delete(own);
      // Who is mounted twice, or put in place anew, is back in the same turn.
      queueMicrotask(() => this.#leave());
    };
  }

  #leave(): void {
    const opening = this.#opening;
    if (this.#listeners.size > 0 || opening === undefined) return;
    this.#opening = undefined;
    this.#read = () => undefined;
    // What could not be opened was told; what cannot be closed says so where it is used.
    this.#closing = opening.then((database) => database.close()).catch(
      () => {},
    );
  }
}
