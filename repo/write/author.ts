/**
 * The author: this replica's own chain in one repository.
 *
 * It numbers the chain, names its parents and seals its batches. A new
 * incarnation begins whenever continuity cannot be proved (docs/architecture.md); it is
 * chosen with the first commit, so that merely opening leaves no trace.
 */

import { ByteWriter, equalBytes } from "../../src/base/bytes.ts";
import { assert, DatabaseError } from "../../src/base/errors.ts";
import { compareHlc, nextHlc, wallMax } from "../../src/base/hlc.ts";
import type { World } from "../../src/base/world.ts";
import type { Origin } from "../../src/schema/cell.ts";
import {
  batchLength,
  batchParts,
  type Run,
  sealRun,
  writeBatch,
} from "../commit/batch.ts";
import { encodeHeader, joinChain, nameOf } from "../commit/commit.ts";
import type { QueuedCommit } from "./commit_queue.ts";
import type { Mode } from "../commit/genesis.ts";
import type { Chain, Graph } from "../graph/graph.ts";
import type { Store } from "../log/store.ts";
import { recordKind } from "../log/format.ts";
import { type Session, sessionKeyOfSession } from "../commit/session.ts";
import type { VoidCommits } from "../refusal/void_commits.ts";

/** Batches up to this size share one buffer. */
const WRITER_BYTES_MAX = 256 * 1024;
/** Where payloads are larger than this on average, they are written from where they are. */
const PAYLOAD_BYTES_COPIED = 16 * 1024;
/** What the shared buffer begins with. */
const WRITER_BYTES = 1024;

export interface AuthorParts {
  readonly session: Session;
  readonly mode: Mode;
  readonly genesisId: Uint8Array;
  readonly graph: Graph;
  readonly world: World;
  /** May the last incarnation of this session go on? A name: exactly this chain goes on. */
  readonly continues: boolean | string;
  readonly voided: Pick<VoidCommits, "begun">;
  /** Does a chain never go on? */
  readonly isOver: (chain: string) => boolean;
}

/** The writer of one chain. */
export class Author {
  readonly #parts: AuthorParts;
  #session: Session;
  #key: Uint8Array;
  #keyName: string;
  #writer: ByteWriter | undefined;
  #chain: string | undefined;
  /** Number of the next commit to be written to the log. */
  #next = 0;
  /** The id of the last commit written; the graph's until then. */
  #lastId: Uint8Array | undefined;

  constructor(parts: AuthorParts) {
    this.#parts = parts;
    this.#session = parts.session;
    this.#key = sessionKeyOfSession(parts.session);
    this.#keyName = nameOf(this.#key, 0, 32);
    const { continues, graph } = parts;
    if (continues === true) this.#continue();
    else if (continues !== false) {
      this.#chain = continues;
      this.#next = graph.lengthOf(continues);
    }
  }

  /** The name of its chain: 40 characters, one a byte. */
  get chain(): string {
    return this.#chain ?? this.#begin();
  }

  /** The session key as the first 32 characters of its chains' names. */
  get keyName(): string {
    return this.#keyName;
  }

  /** Its chain, once it has begun, and how many of its commits are in the log. */
  get written(): { readonly chain: string; readonly written: number } {
    return { chain: this.#chain ?? "", written: this.#next };
  }

  /**
   * Writes as another session, or as the same one with a certificate. All its
   * commits must be in the log.
   */
  use(session: Session): void {
    const key = sessionKeyOfSession(session);
    this.#session = session;
    if (equalBytes(key, this.#key)) return;
    this.#key = key;
    this.#keyName = nameOf(key, 0, 32);
    this.renew();
  }

  /** Begins a new incarnation with the next commit. All its commits must be in the log. */
  renew(): void {
    this.#chain = undefined;
    this.#next = 0;
    this.#lastId = undefined;
  }

  /** Is there a chain that its session wrote, and none noted to begin? */
  get wasHere(): boolean {
    return this.#begun() === undefined && this.#latest() !== undefined;
  }

  /** A chain that was noted to begin, and has no commit yet. */
  #begun(): string | undefined {
    const { graph, voided: { begun } } = this.#parts;
    const isOwn = begun?.startsWith(this.#keyName) === true;
    return isOwn && graph.lengthOf(begun) === 0 ? begun : undefined;
  }

  #continue(): void {
    this.#chain = this.#begun();
    if (this.#chain !== undefined) return;
    const latest = this.#latest();
    if (latest === undefined) return;
    this.#chain = latest.name;
    this.#next = latest.length;
  }

  #latest(): Chain | undefined {
    const { graph, isOver } = this.#parts;
    let latest: Chain | undefined;
    for (const chain of graph.chains()) {
      if (isOver(chain.name)) continue;
      if (!chain.name.startsWith(this.#keyName)) continue;
      if (latest === undefined || compareHlc(chain.last, latest.last) > 0) {
        latest = chain;
      }
    }
    return latest;
  }

  #begin(): string {
    const incarnation = new Uint8Array(8);
    this.#parts.world.random(incarnation);
    return this.#chain = joinChain(this.#key, incarnation);
  }

  /** The stamp of the next commit: later than everything known here. */
  stamp(): Origin {
    const { graph, world } = this.#parts;
    const { wall, count } = nextHlc(
      graph.clock,
      Math.min(wallMax, Math.max(0, Math.floor(world.now()))),
    );
    if (wall > wallMax) {
      throw new DatabaseError(
        "value-too-large",
        "Cannot write: a commit from the end of all time is known here. Restore the repository from a copy",
      );
    }
    return { wall, count, chain: this.chain, operationsAt: -1 };
  }

  /** Makes the commit of a payload and adds it to the graph. */
  commit(
    origin: Origin,
    payload: Uint8Array,
    operationsOffset: number,
  ): QueuedCommit {
    const { graph } = this.#parts;
    const { wall, count, chain } = origin;
    const header = { wall, count, parents: graph.parentsForNext(chain) };
    graph.add(chain, header);
    return {
      header: encodeHeader(header),
      payload,
      payloadAt: -1,
      operationsOffset,
      origin,
    };
  }

  /** Appends commits to the log as one batch and tells their origins where they are. */
  append(log: Store, commits: readonly QueuedCommit[]): void {
    const run: Run = { chain: this.chain, first: this.#next, commits };
    const isSealed = this.#parts.mode === "default";
    const seal = isSealed ? this.#seal(run) : undefined;
    const address = appendRun(log, this.#encode(run), seal);
    for (let i = 0; i < commits.length; i++) {
      const { origin, payloadAt, operationsOffset } = commits[i]!;
      origin.operationsAt = address + payloadAt + operationsOffset;
    }
    this.#next += commits.length;
  }

  /** Small commits are gathered in one buffer; a bulk load is not copied. */
  #encode(run: Run): Uint8Array[] {
    const length = batchLength(run);
    if (length > run.commits.length * PAYLOAD_BYTES_COPIED + WRITER_BYTES) {
      return batchParts(run);
    }
    const writer = length > WRITER_BYTES_MAX
      ? new ByteWriter(length)
      : this.#writer ??= new ByteWriter(WRITER_BYTES);
    writer.clear();
    writeBatch(writer, run);
    return [writer.view()];
  }

  #seal(run: Run): Seal {
    const { graph } = this.#parts;
    const previousId = this.#lastId ?? graph.idBefore(run.chain, run.first);
    assert(previousId !== undefined, "a chain is hashed before it goes on");
    const { genesisId } = this.#parts;
    const { signer } = this.#session;
    const { seal, lastId } = sealRun(run, previousId, genesisId, signer);
    this.#lastId = lastId;
    graph.setHashed(run.chain, run.first + run.commits.length, lastId);
    return seal;
  }
}

type Seal = Uint8Array | Promise<Uint8Array>;

/** Appends a batch with its seal, where it has one. */
function appendRun(log: Store, parts: Uint8Array[], seal?: Seal): number {
  if (seal === undefined) return log.append(recordKind.unsignedBatch, parts);
  const kind = recordKind.signedBatch;
  return seal instanceof Uint8Array
    ? log.append(kind, [...parts, seal])
    : log.append(kind, parts, seal);
}
