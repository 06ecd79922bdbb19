/**
 * What is missing after a loss: a client shows the newest witness of an earlier
 * epoch and the summary that it is the hash of; so the server knows which
 * commits there were, and says so until it has them all, in whatever order they
 * come back.
 *
 * Architecture invariant: a client cannot make one up: the witness was signed
 * by this database's root or under it, and was checked before it came here.
 */

import { limits } from "../src/base/limits.ts";
import type { World } from "../src/base/world.ts";
import { mayIssueIn, sessionKeyIn } from "../repo/commit/certificate.ts";
import { nameOf } from "../repo/commit/commit.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { type ChainEnd, chainEndsOf } from "../sync/summary.ts";
import { equalBytes, readable } from "../src/base/bytes.ts";
import { NumberRanges } from "../src/base/number_ranges.ts";
import type { Arrival } from "../repo/admission/arrival.ts";
import { type Batch, decodeBatch, hashBatch } from "../repo/commit/batch.ts";
import { recordKind, type Replica } from "../repo/mod.ts";
import type { Staging } from "../sync/conversation.ts";
import { type Books, SERVER_REPOSITORY } from "./books.ts";
import { type Log, messageOf } from "./log.ts";

/** What a repository lacks. */
export interface Restoring {
  readonly repository: string;
  /** Commits that are known to have been there and are not here yet. */
  readonly missing: number;
  /** Commits that there were. */
  readonly total: number;
  /** When the server had said that there were so many. */
  readonly at: Date;
}

/** How far a chain went, and when a server said so: wall milliseconds. */
interface ProvedEnd extends ChainEnd {
  readonly atMs: number;
}

interface Loss {
  readonly ends: ReadonlyMap<string, ProvedEnd>;
  /** The sessions that wrote it, as 32 characters. */
  readonly keys: ReadonlySet<string>;
  readonly total: number;
  readonly at: Date;
  missing: number;
  /** When a commit came back last; milliseconds of the monotonic clock. */
  cameMs: number;
}

const KEY_CHARACTERS = 32;

/** Ends in a chain, by how many commits there are up to them. */
export type ChainEnds = ReadonlyMap<number, ChainEnd>;

export class RestoreReport {
  readonly #books: Books;
  readonly #log: Log;
  readonly #world: Pick<World, "monotonic">;
  readonly #losses = new Map<string, Loss>();
  /** When the first loss of a repository was learned, on the monotonic clock: kept while this process lives. */
  readonly #firstMs = new Map<string, number>();
  /** On the monotonic clock. */
  readonly #unknownToMs: number;
  /** How far chains of open repositories went, as witnesses of any epoch have shown. */
  readonly #accepted = new Map<string, Map<string, ProvedEnd>>();
  /** Whose these chains are. */
  readonly #acceptedKeys = new Map<string, ReadonlySet<string>>();
  /** Where pieces of chains end that are on their way back. */
  readonly #proved = new Map<string, Map<string, ChainEnds>>();

  /**
   * @param books where losses are remembered over a restart
   * @param log hears of a loss and of its end
   * @param isRestored whether any repository may have lost commits before the start
   */
  constructor(
    books: Books,
    log: Log,
    world: Pick<World, "monotonic">,
    isRestored = false,
  ) {
    this.#books = books;
    this.#log = log;
    this.#world = world;
    const nowMs = world.monotonic();
    this.#unknownToMs = isRestored ? nowMs + limits.restoredWaitMs : -Infinity;
    for (const { id, summary, wall } of books.losses.all()) {
      this.#losses.set(nameFrom(id), lossOf(summary, wall, nowMs));
      this.#firstMs.set(nameFrom(id), nowMs);
    }
  }

  get size(): number {
    return this.#losses.size;
  }

  /** What is missing, the largest first; at most so many are named. */
  list(): Restoring[] {
    const all = [...this.#losses].map(([repository, loss]) => ({
      repository,
      missing: loss.missing,
      total: loss.total,
      at: loss.at,
    }));
    return all.sort((a, b) => b.missing - a.missing)
      .slice(0, limits.restoringNamedMax);
  }

  /** How far the chains of a repository went that is not whole again. */
  known(repository: string): ReadonlyMap<string, ChainEnd> | undefined {
    return this.#losses.get(repository)?.ends;
  }

  /** Is it too early to know what is missing, after a loss that was said? Then nothing is taken but what is proved. */
  isUnknown(): boolean {
    return this.#world.monotonic() < this.#unknownToMs;
  }

  /**
   * May what is missing be about to come back? Not for ever: what a witness
   * shows may be the commits of one session, which comes back as it likes.
   */
  isAwaited(repository: string): boolean {
    if (this.isUnknown()) return true;
    const nowMs = this.#world.monotonic();
    const loss = this.#losses.get(repository);
    const firstMs = this.#firstMs.get(repository);
    if (loss === undefined || firstMs === undefined) return false;
    return nowMs - loss.cameMs < limits.restoreWaitMs &&
      nowMs - firstMs < limits.restoreWaitTotalMsMax;
  }

  /** Is anything waited for? */
  get isWaiting(): boolean {
    return this.isUnknown() ||
      [...this.#losses.keys()].some((name) => this.isAwaited(name));
  }

  /**
   * How far a server of this database is known to have accepted a chain.
   *
   * @param count only so far, where that is proved
   */
  accepted(
    repository: string,
    chain: string,
    count?: number,
  ): ChainEnd | undefined {
    return this.#proved.get(repository)?.get(chain)?.get(count ?? 0) ??
      this.#accepted.get(repository)?.get(chain) ??
      this.#losses.get(repository)?.ends.get(chain);
  }

  /** Is there something proved that this certificate covers: of its key, or of those that it may certify? */
  proves(repository: string, certificate: Uint8Array): boolean {
    if (mayIssueIn(certificate)) return true;
    const key = sessionKeyIn(certificate);
    const name = nameOf(key, 0, key.length);
    return this.#acceptedKeys.get(repository)?.has(name) === true ||
      this.#losses.get(repository)?.keys.has(name) === true;
  }

  /** Ends between, which turned out to lead to the one that a witness proves. */
  prove(repository: string, chain: string, ends: ChainEnds): void {
    const proved = this.#proved.get(repository) ?? new Map();
    this.#proved.set(repository, proved);
    // Others may bring the same chain in other pieces, which wait for parents.
    proved.set(chain, new Map([...proved.get(chain) ?? [], ...ends]));
  }

  /** Something came back that cannot be taken yet. */
  cameBack(repository: string): void {
    const loss = this.#losses.get(repository);
    if (loss !== undefined) loss.cameMs = this.#world.monotonic();
  }

  /** A repository is closed: whoever hands in more shows his witness anew. */
  closed(repository: string): void {
    this.#proved.delete(repository);
    this.#accepted.delete(repository);
    this.#acceptedKeys.delete(repository);
  }

  /** Takes what a true witness was the hash of. */
  learn(port: RepositoryPort, summary: Uint8Array, wallMs: number): void {
    const before = this.#losses.get(port.name);
    const at = new Date(wallMs);
    const nowMs = this.#world.monotonic();
    const loss = lossOf(summary, at, before?.cameMs ?? nowMs);
    this.#accept(port.name, loss);
    if (before !== undefined && before.at >= at) return;
    loss.missing = missingIn(port, loss);
    if (loss.missing === 0) return;
    this.#losses.set(port.name, loss);
    if (!this.#firstMs.has(port.name)) this.#firstMs.set(port.name, nowMs);
    this.#remember(port.name, summary, at);
    this.#tell("warn", "restore-incomplete", port.name, loss);
  }

  #accept(repository: string, { ends, keys }: Loss): void {
    const before = this.#acceptedKeys.get(repository);
    this.#acceptedKeys.set(repository, before?.union(keys) ?? keys);
    const known = this.#accepted.get(repository) ??
      new Map(this.#losses.get(repository)?.ends);
    this.#accepted.set(repository, known);
    for (const [chain, end] of ends) {
      known.set(chain, joined(end, known.get(chain)));
    }
  }

  look(port: RepositoryPort): void {
    const loss = this.#losses.get(port.name);
    if (loss === undefined) return;
    const missing = missingIn(port, loss);
    if (missing < loss.missing) loss.cameMs = this.#world.monotonic();
    loss.missing = missing;
    if (missing > 0) return;
    this.#losses.delete(port.name);
    this.#proved.delete(port.name);
    this.#note(({ losses }) => losses.delete(idFrom(port.name)));
    this.#tell("info", "restore-complete", port.name, loss);
  }

  #remember(name: string, summary: Uint8Array, wall: Date): void {
    const id = idFrom(name);
    const values = { summary: summary.slice(), wall };
    this.#note(({ losses }) => {
      if (losses.has(id)) losses.update(id, values);
      else losses.create({ id, ...values });
    });
  }

  /** Books that cannot be written say so, and cost nobody else anything: what they lack is learned again. */
  #note(write: (books: Books) => void): void {
    try {
      write(this.#books);
    } catch (cause) {
      const repository = SERVER_REPOSITORY;
      const message = messageOf(cause);
      this.#log.write("error", "repository-failed", { repository, message });
    }
  }

  #tell(
    level: "info" | "warn",
    event: string,
    repository: string,
    { missing, total, at }: Loss,
  ): void {
    const fields = { repository, missing, total, at: at.toISOString() };
    this.#log.write(level, event, fields);
  }
}

/** What two witnesses show of a chain: the further end, and what is void as the later one has it, as far as that goes. */
function joined(one: ProvedEnd, other: ProvedEnd = one): ProvedEnd {
  const [earlier, later] = one.atMs < other.atMs ? [one, other] : [other, one];
  if (earlier.count <= later.count) return later;
  const voids = new NumberRanges();
  for (const range of later.voids ?? []) voids.add(...range);
  for (const [first, end] of earlier.voids ?? []) {
    voids.add(Math.max(first, later.count), end);
  }
  return { ...earlier, voids, atMs: later.atMs };
}

export function idFrom(name: string): string {
  return name.replaceAll("/", ".");
}

function nameFrom(id: string): string {
  return id.replaceAll(".", "/");
}

function lossOf(summary: Uint8Array, at: Date, cameMs: number): Loss {
  const ends = new Map<string, ProvedEnd>();
  let total = 0;
  for (const [chain, end] of chainEndsOf(summary)) {
    ends.set(chain, { ...end, atMs: at.getTime() });
    total += end.count;
  }
  const keys = new Set(
    Array.from(ends.keys(), (chain) => chain.slice(0, KEY_CHARACTERS)),
  );
  return { ends, keys, total, at, missing: total, cameMs };
}

function missingIn(port: RepositoryPort, { ends }: Loss): number {
  let missing = 0;
  for (const [chain, { count }] of ends) {
    missing += Math.max(0, count - port.lengthOf(chain));
  }
  return missing;
}

export type StagingRestores = Pick<
  RestoreReport,
  "accepted" | "isAwaited" | "prove" | "cameBack"
>;

/** The pieces of a chain that have come, one behind the other. */
interface Staged {
  /** Where they end, by how many commits there are. */
  readonly ends: Map<number, ChainEnd>;
  /** The last of these. */
  readonly end: ChainEnd;
  readonly arrivals: Arrival[];
}

/**
 * Staging: pieces of a chain that was accepted before the server lost it, until
 * the commit has come whose id a witness proves. One piece alone shows nothing:
 * its author could put any other commits in its place.
 *
 * Architecture invariant: nothing staged is part of the repository, nor judged.
 * Whoever holds it bounds its bytes, and drops it with the peer.
 */
export class ChainStaging implements Staging {
  readonly #replica: Replica;
  readonly #restores: StagingRestores;
  readonly #chains = new Map<string, Staged>();

  constructor(replica: Replica, restores: StagingRestores) {
    this.#replica = replica;
    this.#restores = restores;
  }

  take(arrival: Arrival): readonly Arrival[] {
    const batch = this.#batchOf(arrival);
    const end = batch && this.#endOf(batch);
    if (batch === undefined || end === undefined) return [arrival];
    const { chain, first } = batch;
    const staged = this.#chains.get(chain);
    const { graph, name } = this.#replica;
    const length = graph.lengthOf(chain);
    const { count, id } = staged?.end ??
      { count: length, id: graph.idBefore(chain, length) };
    const to = first + batch.commits.length;
    const isFirst = staged === undefined;
    if (first > count || id === undefined || isFirst && to >= end.count) {
      return [arrival]; // The door says what is wrong, or that it is whole.
    }
    const last = Math.max(count, Math.min(to, end.count));
    const lastId = hashBatch(
      batch,
      id,
      this.#replica.loaded.credentials.redactions,
      count - first,
      last - first,
    );
    this.#restores.cameBack(name);
    const ends = staged?.ends ?? new Map<number, ChainEnd>();
    const arrivals = staged?.arrivals ?? [];
    arrivals.push(arrival);
    if (to < end.count) {
      const { voids } = end;
      const next = { count: Math.max(count, to), id: lastId, voids };
      this.#chains.set(chain, { ends, arrivals, end: next });
      ends.set(next.count, next);
      return [];
    }
    if (equalBytes(lastId, end.id)) this.#restores.prove(name, chain, ends);
    return this.drop(chain);
  }

  drop(chain: string): readonly Arrival[] {
    const arrivals = this.#chains.get(chain)?.arrivals ?? [];
    this.#chains.delete(chain);
    return arrivals;
  }

  #batchOf({ kind, bytes }: Arrival): Batch | undefined {
    const { mode, name } = this.#replica;
    const isOf = kind === recordKind.signedBatch && mode === "default";
    if (!isOf || !this.#restores.isAwaited(name)) return undefined;
    return readable(() => decodeBatch(bytes, true));
  }

  #endOf({ chain, first, commits }: Batch): ChainEnd | undefined {
    const { graph, name } = this.#replica;
    const to = first + commits.length;
    const end = this.#restores.accepted(name, chain, to);
    const isBack = end === undefined ||
      graph.lengthOf(chain) >= Math.min(to, end.count);
    return isBack || end.count === to && !this.#chains.has(chain)
      ? undefined
      : end;
  }
}
