/**
 * A judge that is slow and plain: for each commit it folds everything that was
 * accepted anew, asks the rules as the functions that they are, and looks for
 * violations in all that is there. Of the product it reads the bytes, nothing else.
 *
 * @module
 */

import { type Batch, decodeBatch, payloadOf } from "../repo/commit/batch.ts";
import { digestOfItem } from "../src/kv/entry.ts";
import type { Item, Operation, Value } from "../src/schema/patch.ts";
import { decodePatch } from "../src/schema/patch_codec.ts";
import type { RuleResult, RuleSession } from "../src/schema/rule_types.ts";
import type { Schema } from "../src/schema/schema.ts";
import {
  classOf,
  dueOf,
  fieldsOf,
  isLater,
  keyOf,
  type PlainCommit,
  PlainField,
  type PlainItem,
  PlainState,
} from "./naive_state.ts";

/** What a rule is given. */
// deno-lint-ignore no-explicit-any -- this judge knows no schema's types
export type Asked = any;

/** The rules of one collection, as plain functions. */
export interface PlainRules {
  readonly schema: Schema;
  readonly create?: (asked: Asked) => RuleResult;
  readonly update?: (asked: Asked) => RuleResult;
  readonly delete?: (asked: Asked) => RuleResult;
}

/** Rules of a repository: what no collection's rules are for is free where `others` says so. */
export interface PlainRuleSet {
  readonly collections: readonly PlainRules[];
  readonly others?: boolean;
}

/** Who writes under a key. */
export interface PlainSession {
  readonly session: RuleSession;
  readonly mayIssue: boolean;
}

/** A commit that may not be. */
export interface Said {
  readonly refused: string;
  readonly number: number;
}

/** What a judge is told at its beginning. */
export interface NaiveParts {
  readonly rules: PlainRuleSet;
  /** Everything that is wrong in a state. */
  readonly wrongIn: (
    items: (schema: Schema) => readonly Item[],
  ) => readonly string[];
  /** The collections that constraints are of. */
  readonly constrained: readonly Schema[];
  /** By key, as 32 characters. */
  readonly sessions: ReadonlyMap<string, PlainSession>;
}

/** The order of acceptance, and what may come next in it. */
export class NaiveJudge {
  readonly #parts: NaiveParts;
  readonly #accepted: PlainCommit[] = [];
  readonly #lengths = new Map<string, number>();

  constructor(parts: NaiveParts) {
    this.#parts = parts;
  }

  /** How many commits it has accepted. */
  get size(): number {
    return this.#accepted.length;
  }

  /** What was accepted, folded anew. */
  state(): PlainState {
    return new PlainState(this.#accepted);
  }

  /** Is there nothing new in a batch? */
  knows({ chain, first, commits }: Batch): boolean {
    return first + commits.length <= (this.#lengths.get(chain) ?? 0);
  }

  /** The first commit of a batch that may not be at a moment; accepts all of it otherwise. */
  judge(view: Batch, nowMs: number): Said | undefined {
    const { chain, first, commits } = view;
    const known = Math.max(first, this.#lengths.get(chain) ?? 0);
    const fresh = this.#decode(view).slice(known - first);
    const at = (refused: string, i: number) =>
      i < 0 ? undefined : { refused, number: known + i };
    const said = this.#early(commits.slice(known - first), nowMs, at) ??
      this.#oddForm(fresh, at);
    if (said !== undefined) return said;
    for (const [i, commit] of fresh.entries()) {
      if (commit.isVoid) continue;
      const earlier = fresh.slice(0, i).filter(({ isVoid }) => !isVoid);
      const isBegun = earlier.length > 0 ||
        this.#accepted.some(({ origin }) =>
          origin.chain.startsWith(chain.slice(0, 32))
        );
      const now = new PlainState([...this.#accepted, ...earlier]);
      const refused = !this.#isKnown(commit, now)
        ? "unknown-name"
        : !isBegun && this.#isHistory(commit)
        ? "denied"
        : this.#meaning(commit, earlier, nowMs);
      if (refused !== undefined) return at(refused, i);
    }
    this.#accepted.push(...fresh.filter(({ isVoid }) => !isVoid));
    this.#lengths.set(chain, Math.max(known, first + commits.length));
    return undefined;
  }

  #decode(view: Batch): (PlainCommit & { readonly isVoid: boolean })[] {
    const batch = decodeBatch(view.bytes.slice(), true);
    const { chain } = batch;
    return batch.commits.map((commit) => ({
      origin: { wall: commit.wall, count: commit.count, chain },
      operations: decodePatch(payloadOf(batch, commit)).operations,
      isVoid: commit.isVoid,
    }));
  }

  /** Nothing counts before its time, and nothing that is a minute ahead waits for it. */
  #early(
    commits: readonly { readonly wall: number }[],
    nowMs: number,
    at: (refused: string, i: number) => Said | undefined,
  ): Said | undefined {
    const far = commits.findIndex(({ wall }) => wall > nowMs + 60_000);
    return at("bad-clock", far) ??
      at("early", commits.findIndex(({ wall }) => wall > nowMs));
  }

  /** Is all of it meant for ended items that rules are for? Nobody begins with that. */
  #isHistory({ operations, origin }: PlainCommit): boolean {
    const { rules, sessions } = this.#parts;
    if (sessions.get(origin.chain.slice(0, 32))!.mayIssue) return false;
    const state = this.state();
    return operations.every((operation) =>
      (this.#rulesOf(operation.shape.collection) || !rules.others) &&
      operation.generation < dueOf(state.items.get(keyOf(operation)))
    );
  }

  #rulesOf(collection: string): PlainRules | undefined {
    return this.#parts.rules.collections.find(({ schema }) =>
      schema.name === collection
    );
  }

  /** The first commit that writes a field as what it is not, or skips a generation. */
  #oddForm(
    fresh: readonly PlainCommit[],
    at: (refused: string, i: number) => Said | undefined,
  ): Said | undefined {
    const state = this.state();
    for (const [i, { operations, origin }] of fresh.entries()) {
      for (const operation of operations) {
        const { shape: { collection }, generation } = operation;
        const { plan = [] } = this.#rulesOf(collection)?.schema ?? {};
        const isOdd = fieldsOf(operation).some(({ name, kind }, _, all) => {
          const is = plan.find((one) => one.name === name)?.kind ??
            state.kinds.get(`${collection} ${name}`) ??
            all.find((one) => one.name === name)!.kind;
          return classOf(is) !== classOf(kind);
        });
        if (isOdd) return at("wrong-kind", i);
        const due = dueOf(state.items.get(keyOf(operation)));
        if (generation > due) return at("denied", i);
        state.fold(operation, origin);
      }
    }
    return undefined;
  }

  /** Why a commit may not be after those that were accepted and some more. */
  #meaning(
    commit: PlainCommit,
    earlier: readonly PlainCommit[],
    nowMs: number,
  ): string | undefined {
    const all = [...this.#accepted, ...earlier];
    const before = new PlainState(all);
    const after = new PlainState([...all, commit]);
    if (!this.#isAllowed(commit, before, after, new PlainState(all), nowMs)) {
      return "denied";
    }
    if (!this.#isSound(commit, new PlainState(all))) return "constraint";
    const items = (schema: Schema) =>
      [...after.of(schema.name).keys()].map((id) =>
        after.show(schema.name, id, schema)!
      );
    if (this.#parts.wrongIn(items).length > 0) return "constraint";
    return this.#isExpected(commit, earlier, new PlainState(all), nowMs)
      ? undefined
      : "kv-conflict";
  }

  /** Do the rules let its author do this? */
  #isAllowed(
    { operations, origin }: PlainCommit,
    before: PlainState,
    after: PlainState,
    now: PlainState,
    nowMs: number,
  ): boolean {
    const { session, mayIssue } = this.#parts.sessions.get(
      origin.chain.slice(0, 32),
    )!;
    return mayIssue || operations.every((operation) => {
      const { shape: { collection }, id } = operation;
      const rules = this.#rulesOf(collection);
      const item = now.items.get(keyOf(operation));
      const was = rules && now.show(collection, id, rules.schema);
      now.fold(operation, origin);
      if (rules === undefined) return this.#parts.rules.others === true;
      if (operation.generation < dueOf(item)) return true;
      if (isMeaningless(operation, item)) return false;
      const { what, shape: { fields } } = operation;
      const names = what === "create" && was === undefined
        ? fields.filter(({ name }) => operation.item[name] !== undefined)
        : fieldsOf(operation);
      const rule = rules[what === "create" && was ? "update" : what];
      return rule !== undefined && answers(
        rule,
        {
          session,
          repository: "team/acme",
          params: { team: "acme" },
          at: new Date(nowMs),
          before: was,
          after: now.show(collection, id, rules.schema),
          changed: [...new Set(names.map(({ name }) => name))],
        },
        before,
        after,
      );
    });
  }

  /** Are its operations such as leave no parts of items that constraints ask about? */
  #isSound({ operations, origin }: PlainCommit, now: PlainState): boolean {
    return operations.every((operation) => {
      const { shape: { collection } } = operation;
      const schema = this.#parts.constrained.find(({ name }) =>
        name === collection
      );
      const item = now.items.get(keyOf(operation));
      now.fold(operation, origin);
      if (schema === undefined || operation.generation < dueOf(item)) {
        return true;
      }
      return !isMeaningless(operation, item) &&
        fieldsOf(operation).every(({ name, kind }) => {
          const is = schema.plan.find((one) => one.name === name)?.kind ?? kind;
          return classOf(is) === classOf(kind);
        });
    });
  }

  /** Does each compare-and-set find what its author compared with, and win? */
  #isExpected(
    { operations, origin }: PlainCommit,
    earlier: readonly PlainCommit[],
    now: PlainState,
    nowMs: number,
  ): boolean {
    const own = new Set(
      earlier.flatMap(({ operations }) => operations.map(keyOf)),
    );
    return operations.every((operation) => {
      const { shape: { collection }, id } = operation;
      const was = now.show(collection, id);
      const lease = now.items.get(keyOf(operation))?.fields.get("expiresAt");
      const isOwn = own.has(keyOf(operation)) &&
        lease?.register?.stamp.chain === origin.chain;
      now.fold(operation, origin);
      own.add(keyOf(operation));
      const expected = collection === "kv" ? expectedOf(operation) : undefined;
      if (expected === undefined) return true;
      const digest = digestOfItem(was, isOwn ? origin.wall : nowMs);
      const { register } =
        now.items.get(keyOf(operation))?.fields.get("expected") ?? {};
      const isDigest = digest !== "unreadable"; // Nothing can expect that.
      return isDigest && digest === expected && register !== undefined &&
        !isLater(register.stamp, origin) && !isLater(origin, register.stamp);
    });
  }

  /** Is all known that it names? */
  #isKnown({ operations, origin }: PlainCommit, now: PlainState): boolean {
    return operations.every((operation) => {
      const item = now.items.get(keyOf(operation));
      const isAsked = operation.what === "update" &&
        operation.generation >= dueOf(item);
      if (!isAsked) {
        now.fold(operation, origin);
        return true;
      }
      const { changes, ...rest } = operation;
      return changes.every((one) => {
        const fields = now.items.get(keyOf(operation))?.fields;
        const field = fields?.get(one.field.name) ??
          new PlainField(classOf(one.field.kind));
        const isKnown = field.knows(one.change, origin);
        now.fold({ ...rest, changes: [one] }, origin);
        return isKnown;
      });
    });
  }
}

/** Does an operation that is no history change what is not there, or another generation? */
function isMeaningless(
  { what, generation }: Operation,
  item: PlainItem | undefined,
): boolean {
  return what !== "create" && !item?.isThere || generation !== dueOf(item);
}

function expectedOf(operation: Operation): Value {
  if (operation.what === "create") return operation.item["expected"];
  if (operation.what === "delete") return undefined;
  const change = operation.changes.findLast(({ field }) =>
    field.name === "expected"
  )?.change;
  return change?.what === "set" ? change.value : undefined;
}

/** Asks a rule, which may look up 16 items. */
function answers(
  rule: (asked: Asked) => RuleResult,
  asked: object,
  before: PlainState,
  after: PlainState,
): boolean {
  let left = 16;
  const lookUp = (state: PlainState) => (schema: Schema, id: string) => {
    if (--left < 0 || typeof id !== "string") throw new Error("no look-up");
    return state.show(schema.name, id, schema);
  };
  try {
    const context = { ...asked, get: lookUp(before), getAfter: lookUp(after) };
    return rule(context) === true && left >= 0;
  } catch {
    return false;
  }
}
