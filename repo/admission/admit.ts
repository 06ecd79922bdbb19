/**
 * The door: the one way in for foreign certificates and batches.
 *
 * `judge` is pure: it looks at the bytes and at what is known, and changes
 * neither. In this order: mode, form, certificate, clocks within the batch, its
 * place in its chain, seal, clock after its predecessor, revocation, parents,
 * gate, patches. The gate is the one question that may depend on the moment; only
 * the first replica that takes a batch from its author asks it, and it asks what
 * is cheap before it has the patches decoded.
 *
 * Architecture invariant: foreign commits enter only here (law 2). A verdict
 * depends on the commit, its ancestors, certificates and the revocations that the
 * server signed, never on wall clock or settings (law 7): a batch whose ancestors are still to
 * come is parked, not refused; a certificate travels ahead of the batches that
 * need it. What is admitted is stored as the bytes that were judged (law 1).
 * What is parked is bounded in batches and in bytes (law 10); of it, what waits
 * for a parent has a sound seal, and what waits for its own predecessor cannot
 * have been checked: each peer has a parking of its own, dropped with the peer.
 */

import type { Signature } from "../../crypto/signature.ts";
import { type Refusal, refuse, refuseAt } from "../../src/base/errors.ts";
import { compareHlc, type Hlc } from "../../src/base/hlc.ts";
import { limits } from "../../src/base/limits.ts";
import type { DecodedPatch } from "../../src/schema/patch_codec.ts";
import type {
  Admitted,
  Arrival,
  Gate,
  GivenUp,
  Knowledge,
  Park,
  Refuse,
  Verdict,
} from "./arrival.ts";
import { type Batch, batchIn, decodeBatch, patchOf } from "../commit/batch.ts";
import { batchFrom } from "../commit/batch_parts.ts";
import {
  type Credential,
  decodeCredential,
  isCredential,
  isTakenUnsigned,
} from "../commit/credentials.ts";
import type { Position } from "../commit/commit.ts";
import { retiredBy } from "../commit/retirement.ts";
import type { Mode } from "../commit/genesis.ts";
import type { Graph } from "../graph/graph.ts";
import { batchKind, recordKind } from "../log/format.ts";
import { checkCredential, signatureOfCredential } from "./credential_check.ts";
import type { Parking } from "./parking.ts";
import { batchLeft } from "../redaction/erased.ts";
import { sealOf, verifyBatch } from "./signature_check.ts";

const KNOWN: Verdict = { verdict: "known" };
const NOT_LATER = "A commit is not later than its predecessor";

function declined(refusal: Refusal): Refuse {
  return { verdict: "refuse", refusal };
}

export function judge(
  arrival: Arrival,
  knowledge: Knowledge,
  gate?: Gate,
): Verdict {
  const wrong = checkMode(arrival, knowledge.mode);
  if (wrong !== undefined) return declined(wrong);
  try {
    return judgeForm(arrival, knowledge, gate);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return declined(refuse("malformed", error.message));
  }
}

function judgeForm(
  { kind, bytes }: Arrival,
  knowledge: Knowledge,
  gate: Gate | undefined,
): Verdict {
  const batch = batchIn(kind, bytes);
  if (batch !== undefined) return judgeErased(batch, knowledge, gate);
  if (!isCredential(kind)) {
    return declined(
      refuse("unknown-kind", `Records of kind ${kind}: update this side`),
    );
  }
  return judgeCredential(decodeCredential(kind, bytes), knowledge, gate);
}

function checkMode({ kind }: Arrival, mode: Mode): Refusal | undefined {
  const isUnsigned = kind === recordKind.unsignedBatch;
  if (mode === "default") return isUnsigned ? refuse("unsigned") : undefined;
  const isTaken = isUnsigned || isTakenUnsigned(kind);
  return isTaken ? undefined : refuse("wrong-mode");
}

function judgeCredential(
  credential: Credential,
  knowledge: Knowledge,
  gate: Gate | undefined,
): Verdict {
  if (knowledge.credentials.has(credential)) return KNOWN;
  const refusal = checkCredential(credential, knowledge) ??
    (gate && checkEnds(credential, knowledge));
  if (refusal !== undefined) return declined(refusal);
  return { verdict: "admit-credential", credential };
}

/**
 * Who accepts commits takes no end before one that he accepted, and no second end:
 * others, who may hear of an end before they have the chain, can go by it so.
 */
function checkEnds(
  { what, one }: Credential,
  { graph, credentials: { retirements } }: Knowledge,
): Refusal | undefined {
  if (what !== "retirement") return undefined;
  for (const { chain, length } of retiredBy(one)) {
    const isOther = retirements.isRetired(chain) &&
      retirements.lengthOf(chain) !== length;
    if (!isOther && graph.lengthOf(chain) <= length) continue;
    return refuse("fork", "A chain that it ends is longer, or ended elsewhere");
  }
  return undefined;
}

/** Takes what is to be erased out of a batch before anything else looks at it. */
function judgeErased(
  batch: Batch,
  knowledge: Knowledge,
  gate: Gate | undefined,
): Verdict {
  const left = batchLeft(knowledge.credentials.redactions, batch);
  if (left !== undefined) return judgeBatch(left, knowledge, gate);
  return declined(
    refuse("denied", "Values are missing, and nobody who may has erased them"),
  );
}

function judgeBatch(
  batch: Batch,
  knowledge: Knowledge,
  gate: Gate | undefined,
): Verdict {
  const { graph } = knowledge;
  const { chain, first, commits } = batch;
  const wrong = checkSession(batch, knowledge) ?? checkOrder(batch);
  if (wrong !== undefined) return declined(wrong);

  const from = graph.lengthOf(chain) - first;
  if (from < 0) return park(batch, { chain, number: first - 1 });
  const behind = countBehind(batch, from, knowledge);
  if (behind > 0) return judgeRest(batch, behind, knowledge, gate);
  const fork = checkKnown(batch, from, knowledge);
  if (fork !== undefined) return declined(fork);
  const givenUp = givenUpIn(batch, from, knowledge, gate !== undefined);
  if (gate !== undefined && givenUp !== undefined) {
    const detail = "It was accepted";
    return declined(refuseAt(givenUp.numbers[0]!, "fork", detail));
  }
  if (from >= commits.length) {
    return givenUp === undefined ? KNOWN : { verdict: "known", givenUp };
  }

  // The seal comes before the parents, so that what waits for parents is
  // known to come from its author.
  const lastId = lastIdOf(batch, from, knowledge);
  if (lastId !== undefined && "refused" in lastId) return declined(lastId);
  const early = checkPredecessor(batch, from, graph) ??
    checkRevoked(batch, from, knowledge);
  if (early !== undefined) return declined(early);
  const parents = judgeParents(batch, from, knowledge);
  if (parents !== undefined) return parents;
  let patches: readonly DecodedPatch[] | Refusal | undefined;
  const decode: Parameters<Gate>[2] = (decoder) =>
    patches ??= decoder(batch, from);
  // The gate first: the author's word may have been put off as the batch is.
  const refusal = gate?.(batch, from, decode) ??
    checkGivenUp(batch, from, knowledge);
  if (refusal !== undefined) return declined(refusal);
  const decoded = decode(patchesOf);
  if ("refused" in decoded) return declined(decoded);
  return { verdict: "admit", batch, from, patches: decoded, lastId, givenUp };
}

/**
 * How many of a batch's commits are behind a cut of history: known by the length of
 * their chain alone. What only this replica's own writer has is none of them.
 */
function countBehind(
  { chain, first, commits }: Batch,
  from: number,
  knowledge: Knowledge,
): number {
  const end = Math.min(from, commits.length);
  let behind = 0;
  while (
    behind < end && knowledge.clockAt(chain, first + behind) === undefined
  ) behind++;
  const isOwn = behind > 0 && knowledge.mode === "default" &&
    knowledge.graph.idBefore(chain, first + from) === undefined;
  return isOwn ? 0 : behind;
}

/**
 * Nobody can tell whether they are the ones that were accepted: they are taken for
 * known and left out, so that what is kept and passed on is under the seal.
 */
function judgeRest(
  { first, commits, bytes }: Batch,
  behind: number,
  knowledge: Knowledge,
  gate: Gate | undefined,
): Verdict {
  if (behind === commits.length) return KNOWN;
  const isSigned = knowledge.mode === "default";
  const kind = batchKind(isSigned);
  const rest = batchFrom(kind, bytes, first + behind);
  return judgeBatch(decodeBatch(rest, isSigned), knowledge, gate);
}

/**
 * Known commits that say something here and nothing in the batch: a server was
 * lost in between. A gate answers for what it accepted, whether it has its
 * author's word or takes none of him any more; who follows one has it so.
 */
function givenUpIn(
  { chain, first, commits }: Batch,
  from: number,
  { isSilent, mode, credentials: { voids } }: Knowledge,
  hasGate: boolean,
): GivenUp | undefined {
  const numbers: number[] = [];
  for (let i = 0; i < Math.min(from, commits.length); i++) {
    const number = first + i;
    const isNew = commits[i]!.isVoid && !isSilent(chain, number) &&
      (hasGate || mode !== "default" || voids.covers(chain, number));
    if (isNew) numbers.push(number);
  }
  return numbers.length === 0 ? undefined : { chain, numbers };
}

function park(batch: Batch, missing: Position): Park {
  return { verdict: "park", batch, missing };
}

/** Has the signer a certificate that covers the date of every commit that says something? */
function checkSession(
  { chain, first, commits }: Batch,
  { mode, credentials: { certificates }, mendedKey }: Knowledge,
): Refusal | undefined {
  if (mode !== "default") return undefined;
  const key = chain.slice(0, 32);
  if (key === mendedKey) return undefined; // Its own folder takes it back.
  if (certificates.of(key).length === 0) return refuse("unknown-session");
  const from = commits[0]!.wall;
  const to = commits[commits.length - 1]!.wall;
  if (certificates.covering(key, from, to) !== undefined) return undefined;
  for (const [i, { wall, isVoid }] of commits.entries()) {
    if (!isVoid && certificates.covering(key, wall) === undefined) {
      const detail = `No certificate covers ${new Date(wall).toISOString()}`;
      return refuseAt(first + i, "expired-session", detail);
    }
  }
  return undefined;
}

/** Do the clocks within the batch go up? */
function checkOrder({ first, commits }: Batch): Refusal | undefined {
  for (let i = 1; i < commits.length; i++) {
    if (compareHlc(commits[i]!, commits[i - 1]!) <= 0) {
      return refuseAt(first + i, "bad-clock", NOT_LATER);
    }
  }
  return undefined;
}

/**
 * Are the batch's first `from` commits the ones that are known by these numbers?
 * Compared are bytes, because the id of an old commit is not at hand. A fork is
 * only what the author sealed: a spoilt copy is a bad signature.
 */
function checkKnown(
  batch: Batch,
  from: number,
  knowledge: Knowledge,
): Refusal | undefined {
  const end = Math.min(from, batch.commits.length);
  const equal = knowledge.countEqual(batch, end);
  if (equal === end) return undefined;
  const number = batch.first + equal;
  const detail = `Another commit ${number} is known`;
  return checkSeal(batch, knowledge) ?? refuseAt(number, "fork", detail);
}

/** Did the author seal the batch, on top of what is known? */
function checkSeal(batch: Batch, knowledge: Knowledge): Refusal | undefined {
  if (knowledge.mode !== "default") return undefined;
  const previousId = knowledge.idBefore(batch.chain, batch.first);
  if (previousId === undefined) return undefined;
  const verified = verifySeal(batch, previousId, knowledge);
  return "refused" in verified ? verified : undefined;
}

/**
 * The id of the last commit under a sound seal. One that does not fit is forged
 * where the batch begins its chain; any other may go on from other commits than
 * those that are known: its chain from its beginning on shows which it is.
 */
function verifySeal(
  batch: Batch,
  previousId: Uint8Array,
  { genesisId, credentials: { redactions } }: Knowledge,
  from = 0,
): Uint8Array | Refusal {
  const verified = verifyBatch(batch, previousId, genesisId, redactions, from);
  if (!("refused" in verified) || batch.first === 0) return verified;
  return refuse("gap", "It does not go on from what is known of its chain");
}

/** The id of the batch's last commit under a sound seal; `undefined` without signatures. */
function lastIdOf(
  batch: Batch,
  from: number,
  knowledge: Knowledge,
): Uint8Array | Refusal | undefined {
  const { mode, graph } = knowledge;
  if (mode !== "default") return undefined;
  const previousId = graph.idBefore(batch.chain, batch.first + from);
  if (previousId === undefined) {
    // Only our own chain may be ahead of its last seal, and only we go on with it.
    return refuse("fork", "This replica is writing that chain");
  }
  return verifySeal(batch, previousId, knowledge, from);
}

/** Has its author given up every commit that says nothing? Where nothing is signed, nobody can say so. */
function checkGivenUp(
  { chain, first, commits }: Batch,
  from: number,
  { mode, credentials: { voids } }: Knowledge,
): Refusal | undefined {
  if (mode !== "default") return undefined;
  for (let i = from; i < commits.length; i++) {
    const number = first + i;
    if (!commits[i]!.isVoid || voids.covers(chain, number)) continue;
    return refuseAt(number, "denied", "Its author has not given it up");
  }
  return undefined;
}

function checkPredecessor(
  { chain, first, commits }: Batch,
  from: number,
  graph: Graph,
): Refusal | undefined {
  const last = graph.chain(chain)?.last;
  if (last === undefined || compareHlc(commits[from]!, last) > 0) {
    return undefined;
  }
  return refuseAt(first + from, "bad-clock", NOT_LATER);
}

/** Does a revocation end the chain before the batch does? */
function checkRevoked(
  { chain, first, commits }: Batch,
  from: number,
  { revocations }: Knowledge,
): Refusal | undefined {
  const cut = revocations.cutOf(chain);
  if (first + commits.length <= cut) return undefined;
  const reasons = revocations.of(chain.slice(0, 32)).map(({ reason }) => reason)
    .filter((reason) => reason !== "");
  return refuseAt(
    Math.max(first + from, cut),
    "revoked",
    reasons.length > 0 ? reasons.at(-1) : "The session was revoked",
  );
}

/**
 * Are all parents known, and earlier? `undefined` when they are. Of several that
 * are missing the greatest number is waited for: so each chain is waited for once.
 */
function judgeParents(
  batch: Batch,
  from: number,
  knowledge: Knowledge,
): Verdict | undefined {
  const { commits } = batch;
  let missing: Position | undefined;
  for (let i = from; i < commits.length; i++) {
    const commit = commits[i]!;
    for (let j = 0; j < commit.parents.length; j++) {
      const parent = commit.parents[j]!;
      const isLate = isLater(commit, parent, knowledge);
      if (isLate === undefined) {
        const isGreatest = parent.number >= (missing?.number ?? 0);
        if (isGreatest) missing = parent;
      } else if (missing === undefined && !isLate) {
        const detail = "A commit is not later than its parent";
        return declined(refuseAt(batch.first + i, "bad-clock", detail));
      }
    }
  }
  return missing && park(batch, missing);
}

/** A patch that cannot be read makes its batch malformed, for every replica alike. */
export function patchesOf(batch: Batch, from: number): readonly DecodedPatch[] {
  return batch.commits.slice(from).map((commit) => patchOf(batch, commit));
}

/**
 * Is a commit later than one that it names as parent? `undefined` when that is not
 * known. Who is later than all of a chain is later than the parent; only else, its
 * clock is looked up. One that nobody has any more is behind a cut of history, and
 * older than all that is not.
 */
function isLater(
  commit: Hlc,
  { chain, number }: Position,
  knowledge: Pick<Knowledge, "graph" | "clockAt">,
): boolean | undefined {
  const known = knowledge.graph.chain(chain);
  if (known === undefined || number >= known.length) return undefined;
  if (compareHlc(commit, known.last) > 0) return true;
  if (number === known.length - 1) return false;
  const clock = knowledge.clockAt(chain, number);
  return clock === undefined || compareHlc(commit, clock) > 0;
}

/**
 * The gate's question, asked once, by the first replica that takes a batch from
 * its author: has its time come? Nothing is accepted before that, so what is
 * accepted later can be dated later, and nobody wins by dating ahead.
 */
export function checkGate(batch: Batch, nowMs: number): Refusal | undefined {
  const { first, commits } = batch;
  const ahead = commits[commits.length - 1]!.wall - nowMs;
  if (ahead <= 0) return undefined;
  const isFar = ahead > limits.clockAheadMsMax;
  const latest = isFar ? nowMs + limits.clockAheadMsMax : nowMs;
  const at = commits.findIndex(({ wall }) => wall > latest);
  const detail = `It is ${Math.round(ahead)} ms ahead of the server's clock: ` +
    new Date(nowMs).toISOString();
  return refuseAt(first + at, isFar ? "bad-clock" : "early", detail);
}

/**
 * The signatures that arrivals are going to be judged by, one after the other;
 * `undefined` where that shows only then.
 */
export function signaturesOf(
  arrivals: Iterable<Arrival>,
  knowledge: Knowledge,
): Signature[] | undefined {
  const { mode, graph, genesisId, credentials } = knowledge;
  if (mode !== "default") return [];
  const { redactions } = credentials;
  const asked: Signature[] = [];
  const ends = new Map<string, { length: number; id: Uint8Array }>();
  for (const { kind, bytes } of arrivals) {
    if (isCredential(kind)) {
      const credential = decodeCredential(kind, bytes);
      if (credentials.has(credential)) continue;
      const signature = signatureOfCredential(credential);
      if (signature === undefined) return undefined;
      asked.push(signature);
    } else if (kind === recordKind.signedBatch) {
      const batch = decodeBatch(bytes, true);
      const { chain, first, commits } = batch;
      const from = (ends.get(chain)?.length ?? graph.lengthOf(chain)) - first;
      const known = Math.min(from, commits.length);
      const isOther = known > 0 &&
        (ends.has(chain) || knowledge.countEqual(batch, known) < known);
      if (isOther) return undefined; // What a fork costs is asked of its whole batch.
      if (from >= commits.length) continue;
      const id = ends.get(chain)?.id ?? graph.idBefore(chain, first + from);
      const isErased = batchLeft(redactions, batch) !== batch;
      if (from < 0 || id === undefined || isErased) return undefined;
      const seal = sealOf(batch, id, genesisId, redactions, from);
      asked.push(seal);
      ends.set(chain, { length: first + commits.length, id: seal.lastId });
    }
  }
  return asked;
}

export interface Judged {
  readonly arrival: Arrival;
  readonly verdict: Verdict;
}

/**
 * Judges an arrival and everything parked that it releases. `take` must make
 * what is admitted part of the knowledge before it returns. The result tells
 * all verdicts in order; the first one is the arrival's own.
 */
export function admit(
  arrival: Arrival,
  knowledge: Knowledge,
  parking: Parking,
  take: (admitted: Admitted, bytes: Uint8Array) => void,
  gate?: Gate,
): Judged[] {
  const queue: Arrival[] = [arrival];
  const judged: Judged[] = [];
  for (let next = 0; next < queue.length; next++) {
    const arrival = queue[next]!;
    let verdict = judge(arrival, knowledge, gate);
    if (verdict.verdict === "park") {
      const full = parking.park(arrival, verdict);
      if (full !== undefined) verdict = declined(full);
    } else parking.leave(arrival);
    if (verdict.verdict === "admit") {
      take(verdict, arrival.bytes);
      queue.push(...parking.release(verdict));
    } else if (
      verdict.verdict === "admit-credential"
    ) {
      take(verdict, arrival.bytes);
    }
    judged.push({ arrival, verdict });
  }
  return judged;
}
