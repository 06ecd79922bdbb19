/**
 * Observing a database for an inspector: what writes take, what live queries
 * cost, what is said on the connection. Nothing is measured for who does not
 * observe, and one observer at a time does.
 */

import type { Done } from "../../repo/mod.ts";
import type { FollowerCost, QueryEngine } from "../query/engine.ts";
import { describe } from "../query/condition.ts";
import type { Request } from "../query/plan.ts";
import type { Rules } from "../schema/rules.ts";
import type { Schema } from "../schema/schema.ts";
import type { Database } from "./database.ts";
import {
  type AcceptedChain,
  type Frame,
  observableOf,
  openedOf,
  type OpenRepository,
} from "./internals.ts";
import type { Repository } from "./repository.ts";

export type { AcceptedChain, Frame };

export interface LiveCost extends Omit<FollowerCost, "result"> {
  readonly collection: string;
  /** What it asks, for people. */
  readonly asks: string;
  readonly rows: number;
}

/** Takes how far a write got, in milliseconds since it was begun. */
export type WriteProgress = (stage: "durable" | "synced", ms: number) => void;

export interface Observer {
  /** A write became visible after `ms`; the result hears what becomes of it. */
  wrote(ms: number): WriteProgress;
  /** A message came or went. */
  frame(frame: Frame): void;
}

export interface Observed extends Disposable {
  /** The repositories that are open. */
  repositories(): readonly Repository[];
  /** Those that it was opened with. */
  readonly rules: Rules | undefined;
  /** How much of each chain the server had accepted when it began to look; of others' all that was here. */
  acceptedBefore(repository: Repository): ReadonlyMap<string, number>;
  /** Live queries of all of them, and what they have cost so far. */
  costs(): LiveCost[];
}

export function observe(database: Database, observer: Observer): Observed {
  const observable = observableOf(database);
  const { world, rules } = observable;
  const watched = new Map<object, () => void>();
  const accepted = new WeakMap<object, ReadonlyMap<string, number>>();
  const watch = () => {
    for (const opened of observable.open()) {
      const { repository, replica, engines } = opened;
      if (watched.has(repository)) continue;
      accepted.set(repository, acceptedNow(opened));
      engines.measure(true);
      const clock = () => world.monotonic();
      replica.watch = (begin) => watchWrite(begin, clock, opened, observer);
      watched.set(repository, () => {
        engines.measure(false);
        replica.watch = undefined;
      });
    }
  };
  observable.tap((frame) => observer.frame(frame));
  watch();
  return {
    rules,
    repositories: () => {
      watch(); // Others may have been opened since.
      // Proof: nothing else has items.
      return observable.open().map((one) => one.repository as Repository);
    },
    acceptedBefore: (repository) => accepted.get(repository) ?? new Map(),
    costs: () =>
      observable.open().flatMap(({ engines }) => engines.all().flatMap(costs)),
    [Symbol.dispose]: () => {
      observable.tap(undefined);
      for (const end of watched.values()) end();
    },
  };
}

/** How much of each chain the server has accepted, as far as that is known here. */
function acceptedNow(opened: OpenRepository): Map<string, number> {
  const { graph, device } = opened.replica;
  const { unsent } = (opened.repository as Repository).sync.status;
  const counts = Array.from(graph.chains(), ({ name, length }) => {
    const waiting = name === device.chain ? unsent.commits : 0;
    return [name, Math.max(0, length - waiting)] as const;
  });
  return new Map(counts);
}

/** The schemas that a repository was opened with. */
export function schemasOf(repository: Repository): readonly Schema[] {
  return openedOf(repository).flatMap(({ engines }) => engines.schemas.all());
}

function watchWrite<R>(
  begin: () => Done<R>,
  clock: () => number,
  { arrivals }: OpenRepository,
  observer: Observer,
): Done<R> {
  const start = clock();
  const done = begin();
  if (done.commit === undefined) return done;
  const progress = observer.wrote(clock() - start);
  const note = (stage: "durable" | "synced") => () =>
    progress(stage, clock() - start);
  done.durability.promise.then(note("durable"), () => {});
  arrivals.synced(done).then(note("synced"), () => {});
  return done;
}

function costs(engine: QueryEngine): LiveCost[] {
  return engine.costs().map(({ result, ...cost }) => ({
    ...cost,
    collection: engine.name,
    asks: asks(result.request),
    rows: result.count(),
  }));
}

function asks({ parts, order, limit }: Request): string {
  const texts = [
    parts.length === 0 ? "all" : parts.map(describe).join(" and "),
  ];
  if (order.length > 0) {
    const terms = order.map(({ field, descending }) =>
      descending ? `${field} down` : field
    );
    texts.push(`by ${terms.join(", ")}`);
  }
  if (limit < Infinity) texts.push(`limit ${limit}`);
  return texts.join(", ");
}
