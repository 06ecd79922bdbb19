/**
 * The naive judge: replays the order of acceptance of each life of a log, one
 * commit after the other as it comes, and asks plain predicates whether each
 * was allowed: by whom (`allowed.ts`), in which generation, as which kind,
 * naming what, and when; where no rules hold, only when.
 *
 * What another life had, the same bytes at the same place, may come back
 * unjudged as far as a witness was shown of it or somebody accepted it from
 * quarantine. All else is new, and judged by the order that it comes to.
 *
 * @module
 */

import { payloadOf } from "../../../repo/commit/batch.ts";
import { bytesOf } from "../../../repo/commit/batch_parts.ts";
import {
  chainHex,
  chainName,
  type Position,
} from "../../../repo/commit/commit.ts";
import type { Replica } from "../../../repo/replica.ts";
import { sha256 } from "../../../crypto/mod.ts";
import { fromHex } from "../../../src/base/bytes.ts";
import { getOrMake } from "../../../src/base/collections.ts";
import type { QuarantineEntry } from "../../../server/quarantine.ts";
import {
  absentDigest,
  isEntryCollection,
  isThere,
} from "../../../src/kv/entry.ts";
import type { Cell, Origin } from "../../../src/schema/cell.ts";
import { fold, stampIn } from "../../../src/schema/merge.ts";
import type { Operation } from "../../../src/schema/patch.ts";
import { decodePatch } from "../../../src/schema/patch_codec.ts";
import { decodeMessage } from "../../../sync/message_codec.ts";
import { chainEndsOf } from "../../../sync/summary.ts";
import { type Asker, mayWrite } from "../allowed.ts";
import { knowing, Mark } from "../collections.ts";
import { check } from "../failure.ts";
import type { Cast } from "../simulation.ts";
import { Names } from "./names.ts";

/** An accepted commit. */
export interface Known {
  readonly chain: string;
  readonly number: number;
  readonly origin: Origin;
  readonly operations: readonly Operation[];
  readonly bytes: Uint8Array;
}

/** Kind of the frames that show a witness of an earlier life. */
const PROOF = 0x27;
/** Hexadecimal digits of a session's key. */
const KEY_DIGITS = 64;

/** What the server had in a life of a log, as far as it was looked at. */
interface Order {
  readonly replica: Replica;
  /** Is what was there before perhaps not what it was? */
  readonly isRotten: boolean;
  end: number;
  /** Commits by chain. */
  readonly lengths: Map<string, number>;
  readonly cells: Map<string, Cell>;
  readonly names: Names;
}

/** See the file's header. */
export class NaiveJudge {
  readonly #cast: Cast;
  /** Commits that a log of the server has had, by their bytes and where they stand. */
  readonly #known = new Set<string>();
  /** How many commits of a chain need not be judged where they come back. */
  readonly #proved = new Map<string, number>();
  /** Commits that somebody accepted from quarantine: no log may ever have had them. */
  readonly #granted = new Set<string>();
  /** How many commits of a chain a witness showed since the last loss. */
  readonly #shown = new Map<string, number>();
  /** Commits that were void before a witness showed any: it counts them, and does not say that they are. */
  readonly #anew = new Set<string>();
  /** Accepted commits by the mark that they leave. */
  readonly #marks = new Map<string, Position[]>();
  /** When a witness of a mark was first shown since the last loss, in virtual milliseconds. */
  readonly #shownMs = new Map<string, number>();
  /** How often the server lost what it had. */
  #losses = 0;
  /** Collections of each repository, and after how many losses they were first there. */
  readonly #collections = new Map<string, Map<string, number>>();
  readonly #followed = new WeakSet<Replica>();

  constructor(cast: Cast) {
    this.#cast = cast;
  }

  /** Hears what somebody shows the server of an earlier life. */
  overhear(frame: Uint8Array): void {
    if (frame[0] !== PROOF) return;
    try {
      const message = decodeMessage(frame);
      if (message.is !== "proof") return;
      for (const [chain, { count }] of chainEndsOf(message.summary)) {
        raise(this.#proved, chain, count);
        raise(this.#shown, chain, count);
      }
      const { nowMs } = this.#cast.stage.timeline;
      for (const mark of this.#marks.keys()) {
        if (this.#shownMs.has(mark) || !this.#isShownNow(mark)) continue;
        this.#shownMs.set(mark, nowMs);
      }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error; // Frames may be spoilt.
    }
  }

  /** Hears what somebody accepts from quarantine. */
  accepts({ chain: hex, first, count }: QuarantineEntry): void {
    const chain = chainName(fromHex(hex));
    raise(this.#proved, chain, first + count);
    for (let number = first; number < first + count; number++) {
      this.#granted.add(placeOf({ chain, number }));
    }
  }

  /** The server lacks what it had: what it was shown is to be shown anew. */
  lost(): void {
    this.#shown.clear();
    this.#shownMs.clear();
    this.#losses++;
  }

  /** Was a witness ever shown of an accepted commit with this mark? */
  isShown(mark: string): boolean {
    return this.#placesOf(mark).some((place) => isWithin(this.#proved, place));
  }

  /** Was one shown since the last loss, and not after a moment? */
  isShownBy(mark: string, ms: number): boolean {
    return this.#isShownNow(mark) && (this.#shownMs.get(mark) ?? 0) <= ms;
  }

  #isShownNow(mark: string): boolean {
    return this.#placesOf(mark).some((place) =>
      isWithin(this.#shown, place) && !this.#anew.has(placeOf(place))
    );
  }

  /** Was a commit with this mark accepted, that is another one than this, and did a server lose something? */
  standsElsewhere(mark: string, { chain, number }: Position): boolean {
    return this.#losses > 0 &&
      this.#placesOf(mark).some((place) =>
        place.chain !== chain || place.number !== number
      );
  }

  /** How many of these collections of a repository were there before the last loss. */
  hadCollections(name: string, collections: readonly string[]): number {
    const known = this.#collections.get(name);
    return collections.filter((collection) =>
      (known?.get(collection) ?? Infinity) < this.#losses
    ).length;
  }

  #placesOf(mark: string): readonly Position[] {
    return this.#marks.get(mark) ?? [];
  }

  /** Judges all that a replica of the server's takes from now on. */
  follow(replica: Replica, isRotten: boolean): void {
    if (this.#followed.has(replica)) return;
    this.#followed.add(replica);
    const { graph, loaded: { log } } = replica;
    const order: Order = {
      replica,
      isRotten,
      end: isRotten ? log.end : 0,
      lengths: new Map(),
      cells: new Map(),
      names: new Names(this.#cast.stage.plan.hasRules),
    };
    if (isRotten) {
      for (const { name, length } of graph.chains()) {
        order.lengths.set(name, length);
      }
    }
    this.#look(order, true);
    const { publishing } = replica;
    replica.publishing = (tell) => {
      publishing(tell);
      this.#look(order, false);
    };
  }

  /** Looks at what came; before it is followed that is what its disk had. */
  #look(order: Order, isOld: boolean): void {
    const { stage } = this.#cast;
    try {
      for (const commit of commitsOf(order.replica, order.end, order.lengths)) {
        this.#take(order, commit, isOld);
      }
      order.end = order.replica.loaded.log.end;
    } catch (cause) {
      stage.fail(cause);
    }
  }

  #take(order: Order, commit: Known, isOld: boolean): void {
    const { replica, isRotten, cells, names } = order;
    const { chain, number, origin, operations, bytes } = commit;
    const { name } = replica;
    const key = `${name} ${chain} ${number} ${sha256(bytes).toHex()}`;
    const isKnown = this.#known.has(key);
    this.#known.add(key);
    if (!isKnown) this.#note(commit);
    if (isRotten) return;
    const isBack = this.#granted.has(placeOf(commit)) ||
      isKnown && isWithin(this.#proved, commit);
    // A disk that fails may keep what was taken and never told.
    // Of a void one nothing counts, whenever it comes.
    const isVoid = operations.length === 0;
    if (isVoid && !isWithin(this.#shown, commit)) {
      this.#anew.add(placeOf(commit));
    }
    if (!isOld && !isBack && !isVoid) {
      this.#checkTime(commit, replica, isKnown);
    }
    const asker = isBack || isKnown && isOld
      ? undefined
      : askerOf(replica, chain);
    names.begin(origin);
    const collections = getOrMake(this.#collections, name, () => new Map());
    for (const operation of operations) {
      const { shape: { collection }, id } = operation;
      getOrMake(collections, collection, () => this.#losses);
      const key = `${collection} ${id}`;
      const before = cells.get(key);
      const after = fold(before, operation, origin, -1, knowing(collection));
      cells.set(key, after);
      if (isEnded(operation, before)) continue;
      const unknown = names.fault(operation, origin);
      if (asker === undefined) continue;
      const { hasRules } = this.#cast.stage.plan;
      // A relay holds no items to ask what is there.
      const odd = hasRules ? skipped(operation, before) ?? unknown : undefined;
      const fault = odd ?? this.#taken(operation, origin, before);
      check(
        fault === undefined && (!hasRules ||
          mayWrite(asker, collection, before?.item, after.item)),
        "judge",
        () => {
          return `${asker.user} was let change ${key} in ${name}: ` +
            `${JSON.stringify(before?.item)} to ${JSON.stringify(after.item)} ${
              fault ?? ""
            }`;
        },
      );
    }
  }

  #note({ chain, number, operations }: Known): void {
    for (const { what, shape: { collection }, id } of operations) {
      if (what !== "create" || collection !== Mark.name) continue;
      const places = this.#marks.get(id) ?? [];
      this.#marks.set(id, places);
      places.push({ chain, number });
    }
  }

  /** Nothing is accepted before its time, nor of a session that was revoked before, but what its cut lets stand. */
  #checkTime(
    { chain, number, origin: { wall } }: Known,
    { name, loaded: { credentials: { revocations } } }: Replica,
    isKnown: boolean,
  ): void {
    const { stage, server } = this.#cast;
    const session = chainHex(chain).slice(0, KEY_DIGITS);
    check(
      !server.hasRevoked(session) ||
        isKnown && number < revocations.cutOf(chain),
      "revoked",
      () => `a commit of ${session} in ${name} came after its revocation`,
    );
    const nowMs = server.world.now();
    check(
      wall <= nowMs || stage.blames.has("clock s"),
      "early",
      () => `${name} took a commit of ${wall} at ${nowMs}`,
    );
  }

  /** A lease of somebody else that lasts is there for a compare-and-set. */
  #taken(
    operation: Operation,
    { chain }: Origin,
    before: Cell | undefined,
  ): string | undefined {
    const { stage, server } = this.#cast;
    // What was right when it was accepted may be wrong by a clock that was set.
    if (stage.blames.has("clock s")) return undefined;
    const isLease = isEntryCollection(operation.shape.collection) &&
      before?.item?.["expiresAt"] !== undefined &&
      isThere(before.item, server.world.now());
    const isOther = isLease && stampIn(before, "expiresAt")?.chain !== chain;
    return isOther && expectsNothing(operation)
      ? "before its lease had ended"
      : undefined;
  }
}

function raise(counts: Map<string, number>, chain: string, count: number) {
  counts.set(chain, Math.max(counts.get(chain) ?? 0, count));
}

function placeOf({ chain, number }: Pick<Known, "chain" | "number">): string {
  return `${number} ${chain}`;
}

function isWithin(
  counts: ReadonlyMap<string, number>,
  { chain, number }: Pick<Known, "chain" | "number">,
): boolean {
  return number < (counts.get(chain) ?? 0);
}

function expectsNothing(operation: Operation): boolean {
  if (operation.what === "create") {
    return operation.item["expected"] === absentDigest;
  }
  return operation.what === "update" &&
    operation.changes.some(({ field: { name }, change }) =>
      name === "expected" && change.what === "set" &&
      change.value === absentDigest
    );
}

/** Is it of a generation that nobody has come to? */
function skipped({ generation }: Operation, before?: Cell): string | undefined {
  const due = before === undefined
    ? 0
    : before.generation + Number(before.item === undefined);
  return generation > due ? `in generation ${generation}` : undefined;
}

/** Is it meant for a generation that has ended, so that it changes nothing? */
function isEnded({ generation }: Operation, before: Cell | undefined): boolean {
  if (before === undefined) return false;
  return generation < before.generation ||
    generation === before.generation && before.item === undefined;
}

/** Who signed the chain; `undefined` for those who are not judged. */
function askerOf(
  { certificates, name: repository }: Replica,
  chain: string,
): Asker | undefined {
  const [certificate] = certificates.of(chain.slice(0, 32));
  check(
    certificate !== undefined,
    "judge",
    () => `a chain in ${repository} has no certificate`,
  );
  if (certificate.mayIssue) return undefined;
  const { team } = JSON.parse(certificate.claims) as { team: string };
  return { user: certificate.user, team, repository };
}

/**
 * Commits in the order in which they were accepted.
 *
 * @param from log address from which on
 * @param lengths how many commits of each chain come before; is brought up to date
 */
export function commitsOf(
  replica: Replica,
  from = 0,
  lengths: Map<string, number> = new Map(),
): Known[] {
  const commits: Known[] = [];
  replica.flush();
  replica.commits.each(({ batch, address }) => {
    const { chain, first, commits: all } = batch;
    const known = lengths.get(chain) ?? 0;
    for (let i = Math.max(0, known - first); i < all.length; i++) {
      const commit = all[i]!;
      const { operations, operationsOffset } = decodePatch(
        payloadOf(batch, commit),
      );
      const operationsAt = address + commit.payloadAt + operationsOffset;
      const { wall, count } = commit;
      const origin = { wall, count, chain, operationsAt };
      const bytes = bytesOf(batch, commit);
      commits.push({ chain, number: first + i, operations, origin, bytes });
    }
    lengths.set(chain, Math.max(known, first + all.length));
  }, from);
  return commits;
}
