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
import type { RepositoryRules } from "../../src/schema/rules.ts";
import type { Origin } from "../../src/schema/cell.ts";
import type { DecodedPatch } from "../../src/schema/patch_codec.ts";
import { createView } from "../../src/schema/view.ts";
import type { LoggedBatch } from "../commit/batch.ts";
import { ConstraintJudge, RuleJudge } from "./rule_gate.ts";
import { Constraints } from "./constraints.ts";
import { recordKind, SEGMENT_HEADER_BYTES } from "../log/format.ts";
import { decodeMark, type OrderMark } from "../log/order.ts";
import { markBehind } from "../log/served_order.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import { RuleSessions } from "./rule_sessions.ts";
import { foldBatch, State } from "../state/state.ts";
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

/** Judges a log, and what comes to it. */
export class RuleAudit {
  readonly report = { commits: 0, unjudged: 0, findings: 0 };
  readonly #options: AuditOptions;
  #sessions!: RuleSessions;
  /** Log address up to which it has judged. */
  #at = SEGMENT_HEADER_BYTES;
  /** Of the last mark before that. */
  #epoch: Uint8Array | undefined;
  #last: OrderMark | undefined;
  readonly #state = new State(() => createView(undefined));
  readonly #constraints: Constraints | undefined;
  readonly #lengths = new Map<string, number>();

  constructor(options: AuditOptions) {
    this.#options = options;
    const schemas = options.rules.schemas();
    const isConstrained = schemas.some(({ isConstrained }) => isConstrained);
    this.#constraints = isConstrained
      ? new Constraints(schemas, this.#state)
      : undefined;
  }

  /** Is it the log that was judged so far, as it was or longer? */
  goesOn({ log }: LoadedReplica): boolean {
    if (log.sealed < this.#at) return false;
    if (this.#last === undefined) return true;
    const { position, order } = this.#last;
    const mark = markBehind(log, position);
    return mark !== undefined && equalBytes(mark.order, order);
  }

  /**
   * Judges what it has not judged yet; others may work in between.
   *
   * @param isGoing does somebody write to it? Then what stands behind its last mark waits for the next one
   */
  async run(
    loaded: LoadedReplica,
    pause: () => Promise<void>,
    isGoing = false,
  ): Promise<void> {
    const { log, commits } = loaded;
    this.#sessions = new RuleSessions(loaded.credentials.certificates);
    const waits = isGoing && loaded.order !== undefined;
    const total = waits ? loaded.order!.position : log.sealed;
    let pausedAt = this.#at;
    while (this.#at < total) {
      const mark = nextMark(loaded, this.#at, total);
      // What stands before an epoch was not accepted in it.
      const isAccepted = mark && this.#epoch &&
        equalBytes(mark.epoch, this.#epoch);
      const accepted = isAccepted ? mark.accepted : undefined;
      const to = mark?.position ?? total;
      while (this.#at < to) {
        this.#options.signal?.throwIfAborted();
        const end = this.#at + STEP_BYTES;
        const take = (logged: LoggedBatch) => {
          foldBatch(logged, (patch, origin, number) => {
            this.#commit(patch, origin, number, accepted ?? origin.wall);
          });
          return logged.address + logged.batch.bytes.length > end;
        };
        const lengths = this.#lengths;
        this.#at = commits.each(take, this.#at, to, undefined, lengths);
        this.#options.onProgress?.({ done: this.#at, total });
        if (this.#at > pausedAt + STEP_BYTES || this.#at === total) {
          pausedAt = this.#at;
          await pause();
        }
      }
      this.#epoch = mark?.epoch;
      this.#last = mark ?? this.#last;
    }
  }

  /** @param atMs when it was accepted, as far as that is known */
  #commit(
    patch: DecodedPatch,
    origin: Origin,
    number: number,
    atMs: number,
  ): void {
    const { chain, wall } = origin;
    const state = this.#state;
    const known = this.#sessions.of(chain.slice(0, 32));
    this.report.commits++;
    const judges: CommitJudge[] = [];
    if (this.#constraints) judges.push(new ConstraintJudge(this.#constraints));
    if (known === undefined || known.mayIssue) this.report.unjudged++;
    else judges.push(new RuleJudge(this.#options.rules, known.session, atMs));
    const alone = { chain, first: number, commits: [origin] };
    const refusal = judgeCommits(alone, 0, [patch], state, judges);
    if (refusal !== undefined) {
      const { rule = "", detail: reason = "" } = refusal;
      const user = known?.session.user ?? "";
      this.report.findings++;
      this.#options.found({ chain, number, wall, user, rule, reason });
    }
    state.fold(patch, origin);
  }
}
