/**
 * What a server asks of the meaning of commits, once, in the order in which it
 * accepts them: bounds and kinds, names, rules, constraints, compare-and-sets.
 *
 * What a true witness shows to have been accepted before a log was lost is not
 * judged again, where it comes with the commit whose id is proved: it comes back
 * in another order than it had. Beyond that others
 * bring only what its author could bring himself at that moment.
 */

import { getOrMake } from "../src/base/collections.ts";
import { equalBytes } from "../src/base/bytes.ts";
import { type Refusal, refuseAt } from "../src/base/errors.ts";
import type { Hlc } from "../src/base/hlc.ts";
import type { World } from "../src/base/world.ts";
import { entrySchema } from "../src/kv/entry.ts";
import { EntryJudge, isConditional } from "../src/kv/judge.ts";
import { type CommitJudge, judgeCommits } from "../src/schema/judge.ts";
import { NameJudge, namingCollections } from "../src/schema/known_names.ts";
import { partOf } from "../src/schema/rechain.ts";
import type { Rules } from "../src/schema/rules.ts";
import type { Schema } from "../src/schema/schema.ts";
import { isErased, isSalted, SALT } from "../src/schema/stub.ts";
import type { Gate } from "../repo/admission/arrival.ts";
import { type Batch, hashBatch } from "../repo/commit/batch.ts";
import { nameOf } from "../repo/commit/commit.ts";
import type { Graph } from "../repo/graph/graph.ts";
import { ConstraintJudge, RuleGate } from "../repo/admission/rule_gate.ts";
import type { Constraints } from "../repo/admission/constraints.ts";
import { boundedPatches, checkMerge } from "../repo/admission/merge_gate.ts";
import type { Replica } from "../repo/mod.ts";
import type { State } from "../repo/state/state.ts";
import type { PeerSession } from "../sync/proof.ts";
import type { ChainEnd } from "../sync/summary.ts";
import type { Log } from "./log.ts";
import type { RestoreReport } from "./restore_report.ts";

export interface JudgeParts {
  readonly rules: Rules | undefined;
  /** Is a commit without a salt refused? */
  readonly salt?: boolean | undefined;
  /** Collections that have their room beside those of the rules. */
  readonly schemas?: readonly Schema[];
  readonly restores: Pick<
    RestoreReport,
    "accepted" | "isAwaited" | "isUnknown"
  >;
  readonly world: Pick<World, "now">;
  /** The items of a replica, for this turn. */
  readonly itemsOf: (replica: Replica) => State;
  readonly log: Pick<Log, "write">;
}

const KEY_CHARACTERS = 32;

interface ChainsByPart {
  readonly count: number;
  readonly chains: ReadonlyMap<string, string>;
}

export class Judge {
  readonly #parts: JudgeParts;
  readonly #gates = new WeakMap<Replica, RuleGate>();
  /** Chains by the part that stands in names of elements: looked through when there are more. */
  readonly #chainsByPart = new WeakMap<Graph, ChainsByPart>();
  /** Parts of large fields that were put together for rules, of the batch that was judged last. */
  partsRead = 0;

  constructor(parts: JudgeParts) {
    this.#parts = parts;
  }

  /**
   * The first commit from index `from` on that may not be.
   *
   * @param by who brings it; an "issuer" (an operator, a session that may issue) waives
   *   the rules, and nothing else; of a "restorer" nothing is taken but what is proved
   */
  judge(
    replica: Replica,
    by: Pick<PeerSession, "key"> | "issuer" | "restorer",
    ...[batch, from, decode]: Parameters<Gate>
  ): Refusal | undefined {
    this.partsRead = 0;
    const accepted = this.proved(replica, batch, from);
    if (typeof accepted === "object") return accepted;
    const patches = decode(boundedPatches);
    if ("refused" in patches) return patches;
    const { restores, world } = this.#parts;
    const { name, graph, loaded: { items } } = replica;
    const isAwaited = restores.isAwaited(name);
    const next = Math.max(from, accepted - batch.first);
    if (by === "restorer") {
      // Where nothing is signed, nothing is proved.
      const unproved = replica.mode === "default" ? next : from;
      return unproved < batch.commits.length
        ? restoringFrom(batch.first + unproved)
        : undefined;
    }
    if (next >= batch.commits.length) return undefined;
    const bare = this.#parts.salt === true
      ? checkSalts(batch, next)
      : undefined;
    if (bare !== undefined) return bare;
    const fresh = patches.slice(next - from);
    const gate = this.#ruleGateOf(replica);
    // Of what may be a piece of what was accepted it is not asked.
    const isPiece = accepted === 0 &&
      restores.accepted(name, batch.chain) !== undefined;
    const relayed = isPiece
      ? undefined
      : this.#checkRelayed(replica, by, batch, next);
    if (relayed !== undefined) return relayed;
    const first = batch.first + from;
    // A relay knows what there is only where a write asks for it.
    const isAsking = isConditional(fresh);
    const { itemsOf } = this.#parts;
    const known = isAsking || items.outline === undefined
      ? itemsOf(replica)
      : items.outline;
    const odd = checkMerge(known, first, patches, gate, accepted);
    if (odd !== undefined) {
      return isAwaited ? restoringFrom(odd.number ?? batch.first + next) : odd;
    }
    const nowMs = world.now();
    const rules = gate?.judgeOf(batch.chain, nowMs, by === "issuer");
    const judges: CommitJudge[] = rules === undefined ? [] : [rules];
    const constraints = this.#constraintsOf(replica);
    if (constraints?.concerns(fresh)) {
      judges.push(new ConstraintJudge(constraints));
    }
    if (isAsking) judges.push(new EntryJudge(nowMs));
    const naming = namingCollections(fresh);
    if (naming.size > 0 && items.outline === undefined) {
      judges.push(new NameJudge(naming, (part) => this.#lastOf(graph, part)));
    }
    if (isAwaited && judges.length > 0 || restores.isUnknown()) {
      return restoringFrom(batch.first + next);
    }
    if (judges.length === 0) return undefined;
    const refusal = judgeCommits(
      batch,
      from,
      patches,
      itemsOf(replica),
      judges,
      accepted,
    );
    this.partsRead = rules?.partsRead ?? 0;
    return refusal;
  }

  /** What it asks of writes in a repository, by names that clients compare with theirs. */
  enforced(replica: Replica): readonly string[] {
    return [
      ...this.#ruleGateOf(replica) === undefined ? [] : ["rules"],
      ...this.#parts.salt === true ? [SALT] : [],
      ...replica.loaded.constraints?.statements ?? [],
    ];
  }

  /**
   * How far the chain of a batch was accepted before the log was lost, which the
   * batch is a part of: 0 where nothing shows that, a refusal where it is not what
   * was accepted, or not known to be.
   *
   * @param from what comes before it is known
   */
  proved(
    replica: Replica,
    batch: Batch,
    from: number,
  ): number | Refusal {
    const { restores } = this.#parts;
    const { name, mode } = replica;
    const { chain, first, commits } = batch;
    const end = restores.accepted(name, chain, first + commits.length);
    if (end === undefined || end.count <= first + from) return end?.count ?? 0;
    if (mode !== "default") return end.count;
    if (first + commits.length >= end.count) {
      return forkFrom(replica, batch, from, end) ?? end.count;
    }
    // Nothing shows that a piece is what was accepted: it waits for the rest of
    // its chain, and is judged as new when that was waited for in vain.
    return restores.isAwaited(name) ? restoringFrom(first + from) : 0;
  }

  /** The clock of the last commit of the chain whose name has this part. */
  #lastOf(graph: Graph, part: string): Hlc | undefined {
    let known = this.#chainsByPart.get(graph);
    if (known?.count !== graph.size) {
      const chains = new Map(
        Array.from(graph.chains(), ({ name }) => [partOf(name), name]),
      );
      known = { count: graph.size, chains };
      this.#chainsByPart.set(graph, known);
    }
    return graph.chain(known.chains.get(part) ?? "")?.last;
  }

  /** Has its author a certificate that is good now, if somebody else brings it? */
  #checkRelayed(
    { mode, certificates }: Replica,
    by: Pick<PeerSession, "key"> | "issuer",
    { chain, first }: Batch,
    from: number,
  ): Refusal | undefined {
    if (mode !== "default" || by === "issuer") return undefined;
    const key = chain.slice(0, KEY_CHARACTERS);
    if (key === nameOf(by.key, 0, KEY_CHARACTERS)) return undefined;
    const nowMs = this.#parts.world.now();
    if (certificates.covering(key, nowMs) !== undefined) return undefined;
    const detail =
      "Its author's certificate has run out: others cannot bring it";
    // From there on: what comes before it was accepted once, and comes back.
    return refuseAt(first + from, "expired-session", detail);
  }

  /** What was wrong before they were declared is told when they are first asked. */
  #constraintsOf({ name, loaded }: Replica): Constraints | undefined {
    const { constraints } = loaded;
    if (constraints === undefined) return undefined;
    constraints.reporting ??= (collection, found) => {
      const [{ constraint, id, detail } = {}] = found;
      const { length: count } = found;
      const fields = { collection, count, constraint, id, detail };
      const event = "constraint-violations";
      this.#parts.log.write("warn", event, { repository: name, ...fields });
    };
    return constraints;
  }

  /** Who wrote is proved in Default mode only: elsewhere there is nobody to ask rules about. */
  #ruleGateOf(replica: Replica): RuleGate | undefined {
    const { rules, schemas = [] } = this.#parts;
    if (rules === undefined || replica.mode !== "default") return undefined;
    return getOrMake(this.#gates, replica, () => {
      const known = [entrySchema(undefined), ...schemas];
      return new RuleGate(rules.of(replica.name), replica.loaded, known);
    });
  }
}

/** Has every commit from index `from` on a salt that says something? */
function checkSalts(
  { bytes, first, commits }: Batch,
  from: number,
): Refusal | undefined {
  for (let i = from; i < commits.length; i++) {
    const { payloadAt, end, isVoid } = commits[i]!;
    // What was erased had one, or had been accepted without.
    if (isVoid || isErased(bytes, payloadAt, end)) continue;
    if (isSalted(bytes, payloadAt)) continue;
    const detail =
      "Payloads have a salt here: open the database with salt: true";
    return { ...refuseAt(first + i, "denied", detail), rule: SALT };
  }
  return undefined;
}

function restoringFrom(number: number): Refusal {
  const detail = "What it is judged by has not come back yet";
  return refuseAt(number, "restoring", detail);
}

/** Is what was accepted another commit than the one of its number in this batch, or does one of them say nothing? */
function forkFrom(
  { graph, loaded: { credentials: { redactions } } }: Replica,
  batch: Batch,
  from: number,
  { count, id, voids }: ChainEnd,
): Refusal | undefined {
  const { chain, first, commits } = batch;
  const last = count - first;
  const odd = commits.findIndex(({ isVoid }, i) =>
    i >= from && i < last && isVoid !== (voids?.has(first + i) ?? false)
  );
  if (odd >= 0) {
    const was = commits[odd]!.isVoid ? "was accepted" : "had been given up";
    const detail = `It ${was} before the server lost it`;
    return refuseAt(first + odd, "fork", detail);
  }
  const previousId = graph.idBefore(chain, first + from);
  if (previousId === undefined) return undefined; // Only of a chain that is written here.
  if (equalBytes(hashBatch(batch, previousId, redactions, from, last), id)) {
    return undefined;
  }
  const detail = "Another commit was accepted before the server lost it";
  return refuseAt(first + from, "fork", detail);
}
