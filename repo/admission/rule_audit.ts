/**
 * What rules, and the constraints of their schemas, would have said of a log:
 * its commits are judged once more, in the order in which they lie there, each
 * on what the ones before it did. Reports and changes nothing: what was accepted
 * stands.
 *
 * Rules see the moment of acceptance, which the marks of a served log say; of what
 * stands before the first mark they see its own time. Beside what is folded anew
 * nothing is kept of the log while it is read.
 */

import { type CommitJudge, judgeCommits } from "../../src/schema/judge.ts";
import { equalBytes } from "../../src/base/bytes.ts";
import { decodePatch } from "../../src/schema/patch_codec.ts";
import type { RepositoryRules } from "../../src/schema/rules.ts";
import { createView } from "../../src/schema/view.ts";
import { type Batch, batchIn, payloadOf } from "../commit/batch.ts";
import { ConstraintJudge, RuleJudge } from "./rule_gate.ts";
import { Constraints } from "./constraints.ts";
import { recordKind, SEGMENT_HEADER_BYTES } from "../log/format.ts";
import { decodeMark, type OrderMark } from "../log/order.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import { RuleSessions } from "./own_rules.ts";
import { State } from "../state/state.ts";
import type { VerifyOptions } from "../repair/verify.ts";

export interface AuditFinding {
  /** Its chain, as bytes in characters, and its number there. */
  readonly chain: string;
  readonly number: number;
  /** Its own clock, wall milliseconds. */
  readonly wall: number;
  readonly user: string;
  readonly rule: string;
  readonly reason: string;
}

export interface AuditReport {
  readonly commits: number;
  /** Commits of sessions that may issue, or that nobody certified: no rule is asked about them, but constraints are. */
  readonly unjudged: number;
  readonly findings: number;
}

export interface AuditOptions extends VerifyOptions {
  readonly rules: RepositoryRules;
  readonly found: (finding: AuditFinding) => void;
}

/** Bytes between two pauses. */
const STEP_BYTES = 1024 * 1024;

/** Judges the whole log; others may work in between. */
export async function auditRules(
  loaded: LoadedReplica,
  options: AuditOptions,
  pause: () => Promise<void>,
): Promise<AuditReport> {
  const { log } = loaded;
  const total = log.sealed;
  const audit = new RuleAudit(loaded, options);
  let at = SEGMENT_HEADER_BYTES;
  let pausedAt = at;
  let epoch: Uint8Array | undefined;
  while (at < total) {
    const mark = nextMark(loaded, at, total);
    // What stands before an epoch was not accepted in it.
    const isAccepted = mark && epoch && equalBytes(mark.epoch, epoch);
    const accepted = isAccepted ? mark.accepted : undefined;
    const to = mark?.position ?? total;
    while (at < to) {
      options.signal?.throwIfAborted();
      const end = at + STEP_BYTES;
      at = log.records(at, to, (kind, body, address) => {
        const batch = batchIn(kind, body);
        if (batch !== undefined) audit.batch(batch, address, accepted);
        return address + body.length > end;
      });
      options.onProgress?.({ done: at, total });
      if (at > pausedAt + STEP_BYTES || at === total) {
        pausedAt = at;
        await pause();
      }
    }
    epoch = mark?.epoch;
  }
  return audit.report;
}

/** The next mark of a log's order. */
function nextMark(
  { log, order }: LoadedReplica,
  from: number,
  to: number,
): OrderMark | undefined {
  if (order === undefined) return undefined;
  let mark: OrderMark | undefined;
  log.records(from, to, (kind, body, address) => {
    if (kind === recordKind.order) mark = decodeMark(body, address);
    return mark !== undefined;
  });
  return mark;
}

class RuleAudit {
  readonly report = { commits: 0, unjudged: 0, findings: 0 };
  readonly #loaded: LoadedReplica;
  readonly #options: AuditOptions;
  readonly #sessions: RuleSessions;
  readonly #state = new State(() => createView(undefined));
  readonly #constraints: Constraints | undefined;
  readonly #lengths = new Map<string, number>();

  constructor(loaded: LoadedReplica, options: AuditOptions) {
    this.#loaded = loaded;
    this.#options = options;
    this.#sessions = new RuleSessions(loaded.credentials.certificates);
    const schemas = options.rules.schemas();
    const isConstrained = schemas.some(({ isConstrained }) => isConstrained);
    this.#constraints = isConstrained
      ? new Constraints(schemas, this.#state)
      : undefined;
  }

  /** @param accepted when, wall milliseconds, where that is known */
  batch(batch: Batch, address: number, accepted: number | undefined): void {
    const { chain, first, commits } = batch;
    const { voided } = this.#loaded;
    if (voided.isCut(chain, first, address)) return;
    const from = Math.max(0, (this.#lengths.get(chain) ?? 0) - first);
    for (let i = from; i < commits.length; i++) {
      const isVoid = commits[i]!.isVoid ||
        voided.wasRefused(chain, first + i, address);
      if (!isVoid) this.#commit(batch, i, accepted ?? commits[i]!.wall);
      this.#lengths.set(chain, first + i + 1);
    }
  }

  #commit(batch: Batch, i: number, atMs: number): void {
    const { chain, first } = batch;
    const commit = batch.commits[i]!;
    const { wall, count } = commit;
    const patch = decodePatch(payloadOf(batch, commit));
    const state = this.#state;
    const known = this.#sessions.of(chain.slice(0, 32));
    this.report.commits++;
    const judges: CommitJudge[] = [];
    if (this.#constraints) judges.push(new ConstraintJudge(this.#constraints));
    if (known === undefined || known.mayIssue) this.report.unjudged++;
    else judges.push(new RuleJudge(this.#options.rules, known.session, atMs));
    const alone = { chain, first: first + i, commits: [commit] };
    const refusal = judgeCommits(alone, 0, [patch], state, judges);
    if (refusal !== undefined) {
      const { rule = "", detail: reason = "" } = refusal;
      const user = known?.session.user ?? "";
      const number = first + i;
      this.report.findings++;
      this.#options.found({ chain, number, wall, user, rule, reason });
    }
    const origin = { wall, count, chain, operationsAt: -1 };
    const createOffsets = patch.createOffsets.map(() => -1);
    state.fold({ ...patch, createOffsets }, origin);
  }
}
