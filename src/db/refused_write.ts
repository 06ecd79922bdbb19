/**
 * A write that the server refused: why, what it was, and what to do about it.
 *
 * It is undone here already; what was written after it went on without it.
 *
 * Architecture invariant: a refusal travels back as data, and its author's
 * replica shows it, undoes it and lets the app retry or discard (law 11).
 */

import { toHex } from "../base/bytes.ts";
import { refuseOptions } from "../base/known_options.ts";
import { describeOperation } from "../schema/describe.ts";
import type { JsonValue } from "../schema/mod.ts";
import type { RefusedEntry, Replica } from "../../repo/mod.ts";
import { commitName } from "./commit_name.ts";
import type { OperationSummary } from "./history.ts";
import { type Arrivals, Write } from "./write.ts";

/** A write that the server refused. */
export interface RefusedWrite {
  /** The commit's name, as it was. */
  readonly commit: string;
  /** When it was written. */
  readonly at: Date;
  /** Stable reason: `denied` (a rule), `revoked`, `quota`, `bad-clock`, … */
  readonly reason: string;
  /** The rule that denied it, as `"team/{team} task.update"`; "" where it was none. */
  readonly rule: string;
  /** More for a person. */
  readonly detail: string;
  /** Does the server keep it for somebody to decide? */
  readonly kept: boolean;
  /** What it did. */
  readonly operations: readonly OperationSummary[];
  /** Writes the same again, now, as a new commit; the refusal is settled. */
  retry(): Write<void>;
  /** Settles the refusal: it was seen, and nothing comes of it. */
  discard(): Promise<void>;
  /** All of it as JSON, to keep or to send elsewhere; dates and bytes are text. */
  export(): { readonly [key: string]: JsonValue };
}

export class RefusedEntryWrite implements RefusedWrite {
  readonly #replica: Replica;
  readonly #entry: RefusedEntry;
  readonly #arrivals: Arrivals;
  #operations: readonly OperationSummary[] | undefined;

  constructor(replica: Replica, entry: RefusedEntry, arrivals: Arrivals) {
    refuseOptions(this);
    this.#replica = replica;
    this.#entry = entry;
    this.#arrivals = arrivals;
  }

  get commit(): string {
    return commitName(this.#entry);
  }

  get at(): Date {
    return new Date(this.#entry.wall);
  }

  get reason(): string {
    return this.#entry.reason;
  }

  get rule(): string {
    return this.#entry.rule;
  }

  get detail(): string {
    return this.#entry.detail;
  }

  get kept(): boolean {
    return this.#entry.kept;
  }

  get operations(): readonly OperationSummary[] {
    return this.#operations ??= this.#entry.patch.operations.map(
      (operation) => ({
        collection: operation.shape.collection,
        id: operation.id,
        ...describeOperation(operation),
      }),
    );
  }

  retry(): Write<void> {
    this.#replica.check();
    return new Write(
      undefined,
      this.#replica.retry(this.#entry),
      this.#arrivals,
    );
  }

  async discard(): Promise<void> {
    this.#replica.check();
    await this.#replica.discard(this.#entry);
  }

  export(): { readonly [key: string]: JsonValue } {
    return {
      format: "sheaf refused write 1",
      repository: this.#replica.name,
      commit: this.commit,
      at: this.at.toISOString(),
      reason: this.reason,
      rule: this.rule,
      detail: this.detail,
      kept: this.kept,
      operations: asJson(this.operations),
    };
  }
}

/** Dates as ISO text, bytes as hexadecimal text, nothing as null. */
function asJson(value: unknown): JsonValue {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return toHex(value);
  if (Array.isArray(value)) return value.map(asJson);
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map((
      [name, part],
    ) => [name, asJson(part)]);
    return Object.fromEntries(entries) as { [key: string]: JsonValue };
  }
  return value === undefined ? null : value as JsonValue;
}

export function refusalText(
  { reason, rule, detail }: Pick<RefusedEntry, "reason" | "rule" | "detail">,
): string {
  const by = rule === "" ? "" : ` by rule "${rule}"`;
  const why = detail === "" ? "" : `: ${detail}`;
  return `The server refused the write (${reason}${by})${why}. ` +
    "It is undone here; see `sync.status.refusals` to retry, discard or export it";
}
