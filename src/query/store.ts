/**
 * Live results as stores: what views subscribe to.
 *
 * Equal queries give one store, so that a query may be made anew in each
 * render and still runs once. A store follows its collection while somebody
 * reads or subscribes; a while after the last one it lets go.
 *
 * Architecture invariant: a snapshot is the same object until what it shows
 * changes.
 */

import type { Item } from "../schema/patch.ts";
import { askedKey } from "./asked.ts";
import type { QueryEngine } from "./engine.ts";
import { Following, Subscription, type Watched } from "./following.ts";
import { routeOfId } from "./interest.ts";
import { asRow } from "./rows.ts";

/** A value that changes, as views ask for it: `useSyncExternalStore`, Svelte, signals. */
export interface QueryStore<T> {
  /** What it is now: the same object until it changes. Bound; hand it on as it is. */
  readonly getSnapshot: () => T;
  /**
   * Calls with what it is now, and again whenever it changed; the result ends
   * it. Bound; hand it on as it is.
   */
  readonly subscribe: (listener: (value: T) => void) => () => void;
}

/**
 * A store that nobody uses ends after this long: a view reads it before it
 * subscribes, and one view often follows on another.
 */
const lingerMs = 2_000;

/** A live result that follows, and what of it is shown. */
interface Source<T> {
  readonly live: Watched<unknown>;
  readonly read: () => T;
}

class SharedStore<T> implements QueryStore<T> {
  readonly #engine: QueryEngine;
  readonly #key: string;
  readonly #open: () => Source<T>;
  #source: Source<T> | undefined;
  #users = 0;
  #cancel: (() => void) | undefined;

  constructor(engine: QueryEngine, key: string, open: () => Source<T>) {
    this.#engine = engine;
    this.#key = key;
    this.#open = open;
  }

  readonly getSnapshot = (): T => this.#follow().read();

  readonly subscribe = (listener: (value: T) => void): () => void => {
    const { live, read } = this.#follow();
    let end: (() => void) | undefined = live.onChange(() => listener(read()));
    this.#users++;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#engine.attempt(() => listener(read()));
    return () => {
      if (end === undefined) return;
      end();
      end = undefined;
      if (--this.#users === 0) this.#linger();
    };
  };

  #follow(): Source<T> {
    if (this.#source === undefined) {
      const source = this.#source = this.#open();
      this.#engine.stores.set(this.#key, this);
      source.live.onEnd(() => this.#cancel?.());
      this.#linger();
    }
    return this.#source;
  }

  #linger(): void {
    const { world } = this.#engine.options;
    const release = () => this.#release();
    if (world?.after === undefined) queueMicrotask(release);
    else this.#cancel = world.after(lingerMs, release);
  }

  #release(): void {
    this.#cancel = undefined;
    if (this.#users > 0) return;
    this.#source?.live.dispose();
    this.#source = undefined;
    const { stores } = this.#engine;
    if (stores.get(this.#key) === this) stores.delete(this.#key);
  }
}

/** The store of what is asked for: an equal one that is in use, or a new one. */
export function storeOf<T>(
  engine: QueryEngine,
  asked: unknown,
  open: () => Source<T>,
): QueryStore<T> {
  const key = askedKey(asked);
  const store = engine.stores.get(key) ?? new SharedStore(engine, key, open);
  // Proof: a key says what is asked for, and with it what is given.
  return store as QueryStore<T>;
}

export function itemStore<Row>(
  engine: QueryEngine,
  id: string,
): QueryStore<Row | undefined> {
  return storeOf<Row | undefined>(engine, id, () => {
    const live = new Subscription(engine, new LiveItem<Row>(engine, id));
    return { live, read: live.getSnapshot };
  });
}

/** One item, whatever becomes of it: one look per transaction, however large. */
class LiveItem<Row> extends Following<Row | undefined, undefined> {
  readonly #engine: QueryEngine;
  readonly #id: string;
  #item: Item | undefined;
  #row: Row | undefined;

  constructor(engine: QueryEngine, id: string) {
    super(engine);
    this.#engine = engine;
    this.#id = id;
    const interest = { routes: [routeOfId(id)] };
    const look = () => this.#look() && this.publish(undefined);
    this.follow(engine, look, interest);
    this.#look();
  }

  override readonly getSnapshot = (): Row | undefined => this.#row;

  #look(): boolean {
    const { source } = this.#engine;
    const ordinal = source.ordinalOf(this.#id);
    const item = ordinal < 0 ? undefined : source.itemAt(ordinal);
    if (item === this.#item) return false;
    this.#item = item;
    this.#row = item && asRow<Row>(this.#engine.read(item));
    return true;
  }
}
