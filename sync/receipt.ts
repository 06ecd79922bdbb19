/**
 * Receipts: what a server signs of the commits that their author brought.
 *
 * A receipt says as a witness does which commits were accepted up to a place of
 * the order, of some chains in the place of all: its digest is that of their
 * summary. It is signed under a domain of its own, so that neither passes for
 * the other. Who holds one shows it to whom he likes, with its signer's
 * certificates and the summary: `sheaf verify --receipt`.
 *
 * Architecture invariant: a write is synced when a receipt, or a witness that was
 * found equal, covers it; no other word of a server counts for that.
 */

import type { ChainEnd } from "../repo/graph/graph.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { type Signed, SignedLayout } from "../repo/commit/signed_record.ts";
import { isSigned } from "../repo/admission/signature_check.ts";
import { sha256 } from "../crypto/sha256.ts";
import { concatBytes, encodeText, readable, toHex } from "../src/base/bytes.ts";
import {
  bytes,
  copied,
  encodeFile,
  type Field,
  type FileLayout,
  struct,
  type ValueOf,
} from "../src/base/layout.ts";
import { limits } from "../src/base/limits.ts";
import {
  certificates,
  hashes,
  type Place,
  type SentReceipt,
} from "./frame_fields.ts";
import type { LogOrder } from "./order_teller.ts";
import type { PeerSession, ServerProver } from "./proof.ts";
import { encodeSummary, isSameEnd, readSummary } from "./summary.ts";
import { statedLayout, witnessBytes, type WitnessFields } from "./witness.ts";

/** A receipt's bytes: those of a witness, under its own domain. */
export const receiptLayout: SignedLayout<WitnessFields> = new SignedLayout(
  "sheaf receipt 1",
  statedLayout,
  witnessBytes,
);

const kept = struct({
  /** The receipt or witness. */
  statement: copied(witnessBytes),
  /** Its signer's, own first. */
  certificates,
  /** What its digest is of, alone … */
  summary: bytes,
  /** … or with what was signed together with it: the hashes beside its way up. */
  path: hashes,
});

/** What shows somebody else what a server signed. */
export type Evidence = ValueOf<typeof kept>;

/** Its bytes among others. */
export const evidenceLayout: Field<Evidence> = kept;

/** Evidence as a file, which an incident has in hexadecimal digits. */
export const evidenceFile: FileLayout<Evidence> = {
  magic: "SHEAFRCT",
  format: 1,
  layout: kept,
};

/** Evidence as an incident shows it. */
export function shown(evidence: Evidence): string {
  return toHex(encodeFile(evidenceFile, evidence));
}

/** How many commits of each chain. */
type Lengths = Iterable<readonly [chain: string, count: number]>;

/** Who signs receipts of what. */
export interface ReceiptSigner {
  readonly port: Pick<
    RepositoryPort,
    "genesisId" | "digestOf" | "endOf" | "lengthOf"
  >;
  readonly prover: ServerProver;
  readonly epoch: Uint8Array;
}

/**
 * Signs receipts for some authors at once, of chains as they are at a place: nothing
 * for one of whose chains that cannot be said. As many as one signature can serve.
 */
export function giveReceipts(
  { port, prover, epoch }: ReceiptSigner,
  { at, wall, authors }: {
    readonly at: Place;
    readonly wall: number;
    readonly authors: readonly Lengths[];
  },
): (SentReceipt | undefined)[] {
  const summaries = authors.map((lengths) => summaryOf(port, lengths));
  const leaves = summaries.flatMap((summary) =>
    summary.length > 0 ? [port.digestOf(summary)] : []
  );
  if (leaves.length === 0) return [];
  const { root, paths } = treeOver(leaves);
  const said = statementOf(port, { ...{ epoch, at, wall }, digest: root });
  const { message } = receiptLayout.begin(said, prover.publicKey);
  const signature = prover.sign(message);
  let next = 0;
  return summaries.map((summary) =>
    summary.length > 0
      ? { place: at, wall, path: paths[next++]!, summary, signature }
      : undefined
  );
}

function summaryOf(
  port: Pick<RepositoryPort, "endOf" | "lengthOf">,
  lengths: Lengths,
): Uint8Array {
  const ends = new Map<string, ChainEnd>();
  for (const [chain, count] of lengths) {
    // Where an id in its middle is not at hand, a chain is signed for up to its end.
    const end = port.endOf(chain, count) ??
      port.endOf(chain, port.lengthOf(chain));
    if (end !== undefined) ends.set(chain, end);
  }
  return encodeSummary(ends);
}

const RECEIPTS_DOMAIN = encodeText("sheaf receipts 1\n");

function nodeOf(one: Uint8Array, other: Uint8Array): Uint8Array {
  return toHex(one) < toHex(other)
    ? sha256(RECEIPTS_DOMAIN, one, other)
    : sha256(RECEIPTS_DOMAIN, other, one);
}

/** What stands above a digest, by the hashes beside the way up. */
export function rootOver(
  digest: Uint8Array,
  path: readonly Uint8Array[],
): Uint8Array {
  return path.reduce(nodeOf, digest);
}

/** The root over some digests, and the way up from each. */
function treeOver(
  leaves: readonly Uint8Array[],
): { readonly root: Uint8Array; readonly paths: readonly Uint8Array[][] } {
  const paths = leaves.map((): Uint8Array[] => []);
  let row = leaves.map((hash, leaf) => ({ hash, below: [leaf] }));
  while (row.length > 1) {
    const above: typeof row = [];
    for (let i = 0; i < row.length; i += 2) {
      const [one, other] = [row[i]!, row[i + 1]];
      if (other === undefined) above.push(one);
      else {
        for (const leaf of one.below) paths[leaf]!.push(other.hash);
        for (const leaf of other.below) paths[leaf]!.push(one.hash);
        const below = [...one.below, ...other.below];
        above.push({ hash: nodeOf(one.hash, other.hash), below });
      }
    }
    row = above;
  }
  return { root: row[0]!.hash, paths };
}

function statementOf(
  { genesisId }: Pick<RepositoryPort, "genesisId">,
  { epoch, at: { position, order }, wall, digest }: {
    readonly epoch: Uint8Array;
    readonly at: Place;
    readonly wall: number;
    readonly digest: Uint8Array;
  },
): WitnessFields {
  return { genesisId, epoch, position, commits: 0, digest, order, wall };
}

/** Who brought something. */
export interface ReceiptAsker {
  /** What of its own chains is durable, and was not acknowledged yet. */
  readonly owed: ReadonlyMap<string, number>;
}

interface Given {
  readonly receipt: SentReceipt;
  readonly lengths: ReadonlyMap<string, number>;
}

/** Signs for all whose commits one flush made durable, when the first of them is acknowledged. */
export class ReceiptDesk {
  readonly #signer: Omit<ReceiptSigner, "epoch">;
  readonly #order: Pick<LogOrder, "epoch" | "before">;
  /** Those of whom something is not acknowledged yet. */
  readonly #waiting = new Set<ReceiptAsker>();
  /** What was signed for those who were not acknowledged first. */
  #given = new Map<ReceiptAsker, Given>();

  /** One for all channels of a repository. */
  constructor(
    { port, prover, order }: {
      readonly port: RepositoryPort;
      readonly prover: ServerProver;
      readonly order: Pick<LogOrder, "epoch" | "before">;
    },
  ) {
    this.#signer = { port, prover };
    this.#order = order;
  }

  /** Something came of an author that is not acknowledged yet. */
  await(asker: ReceiptAsker): void {
    this.#waiting.add(asker);
  }

  /** Nothing of an author waits any more. */
  forget(asker: ReceiptAsker): void {
    this.#waiting.delete(asker);
    this.#given.delete(asker);
  }

  /**
   * What one author gets, at the last place that is durable, or at the one at which
   * the same was signed for with others.
   */
  take(
    asker: ReceiptAsker,
    lengths: ReadonlyMap<string, number>,
    { durable, wall }: { readonly durable: number; readonly wall: number },
  ): SentReceipt | undefined {
    const before = this.#given.get(asker);
    this.forget(asker);
    if (before !== undefined && isSame(before.lengths, lengths)) {
      return before.receipt;
    }
    const at = this.#order.before(durable);
    if (at === undefined) return undefined;
    const others = this.#others();
    const authors = [lengths, ...others.map(({ lengths }) => lengths)];
    const { epoch } = this.#order;
    const signer = { ...this.#signer, epoch };
    const [own, ...rest] = giveReceipts(signer, { at, wall, authors });
    this.#given = new Map();
    for (const [i, { asker, lengths }] of others.entries()) {
      const receipt = rest[i];
      if (receipt !== undefined) this.#given.set(asker, { receipt, lengths });
    }
    return own;
  }

  /** Who else is to be acknowledged: of very many the first. */
  #others(): { asker: ReceiptAsker; lengths: ReadonlyMap<string, number> }[] {
    const others = [];
    for (const asker of this.#waiting) {
      const lengths = asker.owed;
      if (lengths.size > 0) others.push({ asker, lengths });
      if (others.length === AUTHORS_MAX - 1) break;
    }
    return others;
  }
}

/** So many stand below one root. */
const AUTHORS_MAX = 2 ** limits.receiptPathMax;

function isSame(
  one: ReadonlyMap<string, number>,
  other: ReadonlyMap<string, number>,
): boolean {
  return one.size === other.size &&
    [...one].every(([chain, count]) => other.get(chain) === count);
}

/**
 * A receipt as it was signed, and what it names, of what was sent of it.
 *
 * @throws {SyntaxError} where it is none
 */
export function receiptIn(
  port: Pick<RepositoryPort, "genesisId" | "digestOf">,
  { place, wall, path, summary, signature }: SentReceipt,
  { epoch, told }: { readonly epoch: Uint8Array; readonly told: Place },
  { key }: PeerSession,
): {
  readonly receipt: WitnessFields & Signed;
  readonly named: Map<string, ChainEnd>;
} {
  const named = readSummary(summary);
  const at = place ?? told;
  const digest = rootOver(port.digestOf(summary), path);
  const said = statementOf(port, { epoch, at, wall, digest });
  const { unsigned } = receiptLayout.begin(said, key);
  const receipt = receiptLayout.decode(concatBytes(unsigned, signature));
  return { receipt, named };
}

/** What became of a receipt. */
export interface Taken {
  /** What it names; `undefined`: it is none of this server, this repository, this epoch or this place. */
  readonly named: ReadonlyMap<string, ChainEnd> | undefined;
  /** The place that it was given at. */
  readonly at: Place;
  /** What shows it to others. */
  readonly evidence?: Evidence;
}

/** An end of a chain that a receipt shows. */
interface Covered extends ChainEnd {
  readonly by: Evidence;
}

/** The life of the log that a receipt is of. */
export function epochOf({ statement }: Evidence): Uint8Array {
  return receiptLayout.decode(statement).epoch;
}

/** Has this replica the very commits up to an end of a chain? */
export function isHere(
  port: Pick<RepositoryPort, "endOf">,
  chain: string,
  end: ChainEnd,
): boolean {
  const here = port.endOf(chain, end.count);
  return here !== undefined && isSameEnd(here, end);
}

/** The receipts of one repository that a device holds of its own commits. */
export class Receipts {
  readonly #port: RepositoryPort;
  readonly #owns: (chain: string) => boolean;
  /** The newest last. */
  #kept: readonly Evidence[];
  /** How many commits of own chains each covers, which are those that are here; what is covered last comes last. */
  #covered: Map<string, Covered> | undefined;
  /** The last one that said something new, which an app may ask for, also when a witness says more. */
  #newest: Evidence | undefined;

  /** @param owns is a chain of this replica? */
  constructor(
    port: RepositoryPort,
    owns: (chain: string) => boolean,
    kept: readonly Evidence[],
  ) {
    this.#port = port;
    this.#owns = owns;
    this.#kept = kept;
    this.#newest = kept.at(-1);
  }

  /** What to keep for the next connection. */
  get kept(): readonly Evidence[] {
    return this.#kept;
  }

  /** Which chains they cover, and how many commits of each. */
  get covered(): ReadonlyMap<string, Covered> {
    if (this.#covered === undefined) {
      this.#covered = new Map();
      for (const one of this.#kept) this.#cover(one, readSummary(one.summary));
    }
    return this.#covered;
  }

  /** Takes what a server sent; `epoch` and `told` are of its channel. */
  take(
    sent: SentReceipt,
    { epoch, told, nowMs }: {
      readonly epoch: Uint8Array;
      readonly told: Place;
      /** The server's wall clock, as far as it is known. */
      readonly nowMs: number;
    },
    server: PeerSession,
  ): Taken {
    const { place, wall, path, summary } = sent;
    const at = place ?? told;
    const none = { named: undefined, at };
    const isDated = server.notBefore <= wall && wall <= server.notAfter &&
      wall <= nowMs + limits.clockAheadMsMax;
    if (summary.length > limits.receiptBytesMax || !isDated) return none;
    const said = readable(() =>
      receiptIn(this.#port, sent, { epoch, told }, server)
    );
    if (said === undefined) return none;
    const { receipt, named } = said;
    if (!isSigned(receiptLayout, receipt)) return none;
    const { certificates } = server;
    const evidence = {
      statement: receipt.bytes,
      certificates,
      summary: summary.slice(),
      path,
    };
    void this.covered; // Of the older ones.
    this.#cover(evidence, named);
    this.#drop();
    return { named, at, evidence };
  }

  /** Only what is here as the receipt says it is covered by it. */
  #cover(by: Evidence, named: ReadonlyMap<string, ChainEnd>): void {
    for (const [chain, end] of named) {
      const before = this.#covered!.get(chain)?.count ?? 0;
      if (end.count <= before || !this.#owns(chain)) continue;
      if (!isHere(this.#port, chain, end)) continue;
      this.#covered!.delete(chain);
      this.#covered!.set(chain, { ...end, by });
      this.#newest = by;
    }
  }

  /** The server takes back what they cover of a chain: who was told of that has them. */
  forget(chain: string): void {
    const covered = this.covered.get(chain);
    this.#covered!.delete(chain);
    if (covered?.by === this.#newest) this.#newest = undefined;
    this.#drop();
  }

  /** A witness that was found equal covers these: they need no receipts of their own. */
  settle(countOf: (chain: string) => number): void {
    for (const [chain, { count }] of this.covered) {
      if (count <= countOf(chain)) this.#covered!.delete(chain);
    }
    this.#drop();
  }

  /** Forgets what covers nothing alone any more, and of too many the first. */
  #drop(): void {
    const by = new Set(Array.from(this.covered.values(), ({ by }) => by));
    if (this.#newest !== undefined) by.add(this.#newest);
    const needed = [...by];
    this.#kept = needed.slice(-limits.receiptsMax);
    if (needed.length === this.#kept.length) return;
    for (const [chain, { by }] of this.covered) {
      if (!this.#kept.includes(by)) this.#covered!.delete(chain);
    }
  }
}
