/**
 * A replica as its peers deal with it: commits as sealed bytes, counts and
 * digests; never an item, except by name for an audit. A page loads it when it
 * connects (`door.ts`).
 *
 * Architecture invariant: what is not durable here is not shareable (law 3);
 * nothing else is handed out.
 */

import { isSettled, settle, type Signature } from "../crypto/signature.ts";
import { assert } from "../src/base/errors.ts";
import { NumberRanges } from "../src/base/number_ranges.ts";
import type { Judged } from "./admission/admit.ts";
import type { Arrival } from "./admission/arrival.ts";
import { sealOf, verifyBatch } from "./admission/signature_check.ts";
import { batchIn, decodeBatch } from "./commit/batch.ts";
import { isTakenUnsigned } from "./commit/credentials.ts";
import { stubbedBytes } from "./commit/stubs.ts";
import { ChainIds } from "./graph/chain_ids.ts";
import { lowerBound } from "../src/base/lower_bound.ts";
import { Feed } from "./log/feed.ts";
import { recordKind } from "./log/format.ts";
import type { Mode, RepositoryName } from "./commit/genesis.ts";
import { type ChainEnd, digestOfSummary } from "./graph/graph.ts";
import { isRecordStart } from "./log/own_log.ts";
import type {
  FeedRecord,
  FeedSlice,
  ReceiveOptions,
  RepositoryPort,
  SeamOf,
  Sliced,
} from "./port.ts";
import type { LoadedReplica } from "./loaded_replica.ts";
import type { Cut } from "./refusal/void_commits.ts";
import { retire } from "./write/retire.ts";
import type { Writer } from "./write/writer.ts";
import type { Device } from "./device.ts";
import type { Sharing } from "./graph/sharing.ts";
import type { ItemName } from "./state/state.ts";
import { lateStateTree } from "./state/late_state_tree.ts";
import type { StateTree } from "./state/state_tree.ts";
import type { VersionVector } from "./commit/version_vector.ts";

export interface ReplicaPortParts {
  readonly name: RepositoryName;
  readonly rootKey: Uint8Array;
  readonly loaded: LoadedReplica;
  readonly sharing: Sharing;
  readonly writer: Pick<Writer, "ownKeys" | "session" | "failure" | "written">;
  readonly replica:
    & Pick<RepositoryPort, "receive" | "signaturesOf" | "refuse" | "cut">
    & {
      flush(): void;
      readonly isClosed: boolean;
      readonly device: Pick<Device, "isIdle" | "isLeft" | "isLending">;
    };
}

/** A record that is no batch, wherever it stands in the log. */
function loose(kind: number, bytes: Uint8Array): FeedRecord {
  return { kind, bytes, chain: "", first: 0, count: 0, next: 0 };
}

export class ReplicaPort implements RepositoryPort {
  readonly name: RepositoryName;
  readonly mode: Mode;
  readonly rootKey: Uint8Array;
  readonly genesisId: Uint8Array;
  readonly #parts: ReplicaPortParts;
  readonly #feed: Feed;
  readonly #ids: ChainIds;
  /** What chains were looked through for: with none begun, left or free since, none is over since. */
  #retiring: {
    readonly size: number;
    readonly chain: string;
    readonly isLeft: Device["isLeft"] | undefined;
  } = { size: 0, chain: "", isLeft: undefined };
  /** The state's digests, from the first question on. */
  #tree: StateTree | undefined;

  constructor(parts: ReplicaPortParts) {
    const { name, rootKey, loaded, sharing } = parts;
    const { log, mode, genesisId, commits } = loaded;
    this.name = name;
    this.mode = mode;
    this.rootKey = rootKey;
    this.genesisId = genesisId;
    this.#parts = parts;
    this.#feed = new Feed({
      log,
      mode,
      isOrdered: () => loaded.order !== undefined,
      hasVoid: (chain) => this.hasVoid(chain),
      isCut: (...commit) => commits.isCut(...commit),
      stubbed: (chain, kind, body, address) => {
        if (!loaded.voided.hasRefused(chain)) return undefined;
        const batch = batchIn(kind, body)!;
        const others = commits.withRefused(batch, address);
        return others === batch
          ? undefined
          : stubbedBytes(others, commits.erased);
      },
    });
    this.#ids = new ChainIds(commits, genesisId);
    sharing.open();
  }

  get commits(): number {
    return this.#parts.sharing.commits;
  }

  lengthOf(chain: string): number {
    return this.#parts.sharing.lengthOf(chain);
  }

  clockOf(chain: string): number {
    return this.#parts.loaded.graph.chain(chain)?.last.wall ?? 0;
  }

  vector(): VersionVector {
    return this.#parts.sharing.vector();
  }

  get shareable(): number {
    return this.#parts.sharing.shareable;
  }

  hasVoid(chain: string): boolean {
    return this.#parts.loaded.graph.chain(chain)?.voids !== undefined;
  }

  isVoid(chain: string, number: number, end = number + 1): boolean {
    const { graph } = this.#parts.loaded;
    return graph.chain(chain)?.voids?.covers(number, end) === true;
  }

  voidsOf(chain: string, first: number, end: number): FeedRecord[] {
    if (this.mode !== "default") return [];
    const { voids } = this.#parts.loaded.credentials;
    return Array.from(
      voids.of(chain, first, end),
      ({ bytes }) => loose(recordKind.void, bytes),
    );
  }

  redactionsOf(chain: string, first: number, end: number): FeedRecord[] {
    const { redactions } = this.#parts.loaded.credentials;
    if (!redactions.means(chain)) return [];
    return Array.from(
      redactions.within(chain, first, end),
      ({ bytes }) => loose(recordKind.redaction, bytes),
    );
  }

  get isComplete(): boolean {
    return this.#parts.sharing.isComplete;
  }

  onShareable(listener: () => void): () => void {
    return this.#parts.sharing.onShareable(listener);
  }

  isReplacement(chain: string): boolean {
    return this.#parts.loaded.voided.replacements.has(chain);
  }

  isRevoked(sessionKey: Uint8Array): boolean {
    return this.#parts.loaded.credentials.revocations.countOf(sessionKey) > 0;
  }

  credentials(): FeedRecord[] {
    // Doors of the other modes take nothing but redactions.
    const isTaken = (kind: number) =>
      this.mode === "default" || isTakenUnsigned(kind);
    return [...this.#parts.loaded.credentials]
      .filter(({ kind }) => isTaken(kind))
      .map(({ kind, bytes }) => loose(kind, bytes));
  }

  read(
    from: number,
    bytesMax: number,
    seamOf?: SeamOf,
  ): FeedSlice {
    const { shareable } = this;
    if (from >= shareable) return { records: [], order: [], next: from };
    return this.#feed.read(from, shareable, bytesMax, seamOf);
  }

  vouches(record: FeedRecord, from: number): boolean | undefined {
    const { loaded, replica, writer, sharing } = this.#parts;
    const { kind, chain, first, bytes, next } = record;
    const isOfPages = replica.device.isLending &&
      kind === recordKind.signedBatch &&
      writer.ownKeys().has(chain.slice(0, 32));
    const before = isOfPages ? this.#ids.before(chain, first) : undefined;
    if (before === undefined) return true;
    const batch = decodeBatch(bytes, true);
    const { genesisId, commits } = loaded;
    if (!isSettled()) {
      const seal = sealOf(batch, before, genesisId, commits.erased);
      if (!isSettled(seal)) {
        // Where even our own code could not be loaded, whatever comes next asks again.
        void settle([seal]).then(() => isSettled(seal) && sharing.tell());
        return undefined;
      }
    }
    const verdict = verifyBatch(batch, before, genesisId, commits.erased);
    if (!("refused" in verdict)) return true;
    // Neighbours were joined under the seal of the last one: that one ends it.
    let last = first;
    for (let at = from; at < next;) {
      const slice = this.#feed.read(at, this.shareable, 1);
      const [one] = slice.records;
      if (one?.chain === chain) last = Math.max(last, one.first);
      at = slice.next;
    }
    replica.cut([{ chain, from: last }]);
    return false;
  }

  isStart(address: number): boolean {
    return isRecordStart(this.#parts.loaded.log, address, this.shareable);
  }

  receive(
    arrivals: readonly Arrival[],
    options: ReceiveOptions = {},
  ): Judged[] {
    return this.#parts.replica.receive(arrivals, options);
  }

  signaturesOf(arrivals: readonly Arrival[]): Signature[] | undefined {
    return this.#parts.replica.signaturesOf?.(arrivals);
  }

  settle(): void {
    this.#parts.sharing.settle();
  }

  refuse(
    ...request: Parameters<RepositoryPort["refuse"]>
  ): number | undefined {
    return this.#parts.replica.refuse(...request);
  }

  cut(...request: Parameters<RepositoryPort["cut"]>): void {
    this.#parts.replica.cut(...request);
  }

  retire(): void {
    const { loaded, replica, writer, sharing } = this.#parts;
    const { signer, certificate } = writer.session;
    const { size } = loaded.graph;
    const { chain } = writer.written;
    const { isLeft } = replica.device;
    const asked = this.#retiring;
    const isSame = asked.size === size && asked.chain === chain &&
      asked.isLeft === isLeft;
    if (certificate === undefined || isSame) return;
    this.#retiring = { size, chain, isLeft };
    retire(
      loaded,
      signer,
      (chain) => replica.device.isIdle(chain),
      () => replica.isClosed || writer.failure !== undefined,
    ).then((isNew) => isNew && sharing.settle(), () => {}); // A key that is lost says so when it writes.
  }

  aheadOf(latestMs: number, has: (chain: string) => number): Cut[] {
    const { loaded: { graph, commits }, writer, replica } = this.#parts;
    const keys = writer.ownKeys();
    replica.flush(); // Clocks are read from the log.
    const cuts: Cut[] = [];
    for (const { name: chain, length, last } of graph.chains()) {
      if (last.wall <= latestMs || !keys.has(chain.slice(0, 32))) continue;
      // The clocks of a chain go up.
      const isAhead = (number: number) =>
        commits.clockAt(chain, number)!.wall > latestMs;
      const from = Math.max(has(chain), lowerBound(length - 1, isAhead));
      if (from < length) cuts.push({ chain, from });
    }
    return cuts;
  }

  /** Commits are void now: what was computed of them is, too. */
  forget(): void {
    this.#feed.forget();
    this.#ids.forget();
  }

  summary(): Uint8Array | undefined {
    const { sharing, loaded: { commits, graph } } = this.#parts;
    if (!sharing.isComplete) return undefined;
    commits.hashLazily();
    return graph.summary();
  }

  endOf(chain: string, count: number): ChainEnd | undefined {
    const isHere = count > 0 && count <= this.lengthOf(chain);
    if (this.mode !== "default" || !isHere) return undefined;
    const { graph } = this.#parts.loaded;
    const id = graph.idBefore(chain, count) ??
      graph.endedBefore(chain, count) ?? this.#ids.before(chain, count);
    if (id === undefined) return undefined;
    const voids = new NumberRanges();
    for (const [first, end] of graph.chain(chain)?.voids ?? []) {
      voids.add(first, Math.min(end, count));
    }
    return voids.size > 0 ? { count, id, voids } : { count, id };
  }

  digestOf(summary: Uint8Array): Uint8Array {
    return digestOfSummary(this.genesisId, summary);
  }

  *idsAt(
    chain: string,
    numbers: readonly number[],
  ): Sliced<Uint8Array[] | undefined> {
    const length = this.lengthOf(chain);
    for (const number of numbers) {
      if (!Number.isInteger(number) || number < 0 || number >= length) {
        return undefined;
      }
    }
    return yield* this.#ids.at(chain, numbers);
  }

  get isFolded(): boolean {
    return this.#parts.loaded.items.folded !== undefined;
  }

  stateDigests(prefix: readonly number[]): Sliced<Uint8Array[]> {
    return this.#stateTree.digests(prefix);
  }

  itemsBelow(prefix: readonly number[], limit: number): Sliced<ItemName[]> {
    assert(limit >= 0, "a limit is a count");
    return this.#stateTree.items(prefix, limit);
  }

  get #stateTree(): StateTree {
    return this.#tree ??= lateStateTree.code(this.#parts.loaded.items.state);
  }
}
