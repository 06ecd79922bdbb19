/**
 * Rules: may this session write this, may it read here? Pure functions, declared
 * for repositories by pattern and for items by collection.
 *
 * What no rule allows is denied: a repository that no pattern fits, a collection
 * without rules (unless `others` is true), an action without a function.
 *
 * Architecture invariant: an answer depends on the session, the moment, the
 * commit and the repository as it is where they are asked, and on nothing else.
 * Everything that a rule is given is frozen, or a copy of its own.
 */

import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import { isHistory, isThere } from "./cell.ts";
import type { Cells } from "./judge.ts";
import { show } from "./names.ts";
import { type Around, denial, LookUps } from "./rule_look_ups.ts";
import { ruleItem } from "./rule_item.ts";
import {
  isNeverAsked,
  matchPattern,
  type ParamsOf,
  parsePattern,
  type RuleParams,
  type RulePattern,
} from "./rule_pattern.ts";
import {
  allowed,
  type AnyRule,
  type CollectionRules,
  type Decision,
  type PatternRules,
  type RuleAction,
  type RuleContext,
  type RuleResult,
  type RuleSession,
  type WriteRules,
} from "./rule_types.ts";
import {
  changedBy,
  faultOf,
  kindFault,
  type WrittenCell,
} from "./rule_write.ts";
import type { Schema } from "./schema.ts";
import { isPlainObject } from "./validate.ts";
import { createView, type View } from "./view.ts";

const ACTIONS: readonly RuleAction[] = ["create", "update", "delete"];
const PARTS = ["read", "collections", "others"];

/** The rules of a collection's items: one function for each action. */
export function rulesFor<S extends Schema, Params = RuleParams>(
  schema: S,
  rules: WriteRules<S, Params>,
): CollectionRules<Params> {
  if (!isSchema(schema)) {
    invalid(`${show(schema)} was not made with defineSchema()`);
  }
  const what = `the rules for ${show(schema.name)}`;
  checkKeys(what, rules, ACTIONS);
  const actions = new Map<RuleAction, AnyRule>();
  for (const action of ACTIONS) {
    const rule = rules[action];
    if (rule !== undefined) actions.set(action, parseRule(action, what, rule));
  }
  return Object.freeze({ schema, actions });
}

function isSchema(value: unknown): value is Schema {
  const schema = value as Schema | null | undefined;
  return typeof schema?.name === "string" && Array.isArray(schema.plan);
}

/**
 * Declares rules: patterns of repository names, each with who may read and who
 * may write what. The first pattern that fits a name, in the order of their
 * declaration, is the one that counts.
 */
export function defineRules<const Pattern extends string>(
  definition: {
    readonly [Text in Pattern]: PatternRules<ParamsOf<Text>>;
  },
): Rules {
  if (!isPlainObject(definition)) {
    invalid('they are an object of patterns, such as { "team/{team}": … }');
  }
  const entries = Object.entries<PatternRules<never>>(definition);
  if (entries.length > limits.rulePatternsMax) {
    invalid(`they have over ${limits.rulePatternsMax} patterns`);
  }
  const patterns: RulePattern[] = [];
  const compiled = entries.map(([text, rules]) => {
    const pattern = parsePattern(text);
    if (isNeverAsked(pattern, patterns)) {
      invalid(`${show(text)} is never asked`);
    }
    patterns.push(pattern);
    return compile(pattern, rules);
  });
  return new Rules(compiled);
}

function invalid(why: string): never {
  throw new DatabaseError("invalid-option", `Cannot define rules: ${why}.`);
}

function checkKeys(
  what: string,
  given: object,
  allowedKeys: readonly string[],
): void {
  if (!isPlainObject(given)) invalid(`${what} are not an object`);
  for (const key of Object.keys(given)) {
    if (allowedKeys.includes(key)) continue;
    const known = allowedKeys.join(", ");
    invalid(`${what} have the unknown key ${show(key)}: use ${known}`);
  }
}

function parseRule(name: string, what: string, rule: unknown): AnyRule {
  if (typeof rule !== "function") {
    invalid(`${name} in ${what} is not a function`);
  }
  if (rule.constructor.name !== "Function") {
    invalid(
      `${name} in ${what} is not a plain function: rules are synchronous`,
    );
  }
  return rule as AnyRule;
}

interface CompiledCollection {
  readonly schema: Schema;
  /** How its rules see items, on every replica alike. */
  readonly view: View;
  readonly actions: ReadonlyMap<RuleAction, AnyRule>;
}

interface CompiledPattern {
  readonly pattern: RulePattern;
  readonly read: ((context: RuleContext) => RuleResult) | undefined;
  readonly collections: ReadonlyMap<string, CompiledCollection>;
  readonly others: boolean;
}

function compile(
  pattern: RulePattern,
  rules: PatternRules<never>,
): CompiledPattern {
  const what = `the rules for ${show(pattern.text)}`;
  checkKeys(what, rules, PARTS);
  const { read, collections = [], others = false } = rules;
  if (typeof others !== "boolean") invalid(`others in ${what} is no boolean`);
  if (!Array.isArray(collections)) {
    invalid(`collections in ${what} is no array`);
  }
  const compiled = new Map<string, CompiledCollection>();
  for (const entry of collections as readonly CollectionRules<never>[]) {
    if (!(entry?.actions instanceof Map)) {
      invalid(`collections in ${what} holds what rulesFor() did not make`);
    }
    const { schema, actions } = entry;
    if (compiled.has(schema.name)) {
      invalid(`${what} have two entries for ${show(schema.name)}`);
    }
    compiled.set(schema.name, { schema, actions, view: createView(schema) });
  }
  const parsed = read === undefined ? undefined : parseRule("read", what, read);
  return {
    pattern,
    read: parsed as CompiledPattern["read"],
    collections: compiled,
    others,
  };
}

/** The rules of one repository. */
export class RepositoryRules {
  readonly repository: string;
  readonly #compiled: CompiledPattern | undefined;
  readonly #params: RuleParams;
  readonly #lookUps = new LookUps();

  /** Use `rules.of(repository)`. */
  constructor(
    repository: string,
    compiled: CompiledPattern | undefined,
    params: RuleParams,
  ) {
    this.repository = repository;
    this.#compiled = compiled;
    this.#params = params;
  }

  /**
   * May this session read the repository? `undefined` when that depends on its
   * items, and `before` is not given.
   */
  mayRead(
    session: RuleSession,
    nowMs: number,
    before?: Cells,
  ): Decision | undefined {
    if (this.#compiled === undefined) return this.#noPattern();
    const { read, pattern } = this.#compiled;
    const name = `${pattern.text} read`;
    if (read === undefined) return denial(name, "No rule lets anybody read it");
    const { repository } = this;
    const context: RuleContext = Object.freeze({
      session,
      repository,
      params: this.#params,
      at: new Date(nowMs),
      get: this.#lookUps.get,
    });
    return this.#lookUps.ask({ before }, name, read, context);
  }

  #noPattern(): Decision {
    const name = show(this.repository);
    return denial("no pattern", `No pattern of the rules fits ${name}`);
  }

  /** The rules of a collection; a decision where there are none. */
  collection(name: string): CompiledCollection | Decision {
    if (this.#compiled === undefined) return this.#noPattern();
    const { pattern, collections, others } = this.#compiled;
    const entry = collections.get(name);
    if (entry !== undefined) return entry;
    if (others) return allowed;
    return denial(
      `${pattern.text} ${name}`,
      `No rule lets anybody write ${show(name)} items here`,
    );
  }

  schemas(): Schema[] {
    const collections = this.#compiled?.collections.values() ?? [];
    return Array.from(collections, ({ schema }) => schema);
  }

  /** Denies an action of a collection for a reason that no rule needs to say. */
  deny(collection: string, action: string, reason: string): Decision {
    return denial(this.#nameOf(collection, action), reason);
  }

  #nameOf(collection: string, action: string): string {
    return `${this.#compiled?.pattern.text ?? ""} ${collection}.${action}`;
  }

  /**
   * May the session write this? Asked here and not beside it, so that the rules bring what judges by them:
   * a page that has none does not load it.
   *
   * @returns `undefined` when that depends on what is not known of `around`
   */
  judge(
    { session, wall, operation, before, after }: WrittenCell,
    around: Around,
  ): Decision | undefined {
    const { what, shape: { collection } } = operation;
    const entry = this.collection(collection);
    if ("allowed" in entry) return entry;
    if (isHistory(operation, before)) return allowed;
    const { schema, actions, view } = entry;
    const fault = faultOf(operation, before) ?? kindFault(operation, schema);
    if (fault !== undefined) return this.deny(collection, what, fault);
    if (session === undefined) return allowed;
    const isOld = before !== undefined && isThere(before);
    const isOver = what === "create" && isOld;
    const action = isOver ? "update" : what;
    const rule = actions.get(action);
    if (rule === undefined) {
      const items = show(collection);
      const reason = `No rule lets anybody ${action} ${items} items`;
      return this.deny(collection, action, reason);
    }
    const { read, get, getAfter } = this.#lookUps;
    const context = Object.freeze({
      session,
      repository: this.repository,
      params: this.#params,
      at: new Date(wall),
      before: isOld ? ruleItem(() => before, view, read) : undefined,
      after: what === "delete" ? undefined : ruleItem(after, view, read),
      changed: Object.freeze(changedBy(operation, isOver)),
      get,
      getAfter,
    });
    return this.#lookUps.ask(
      around,
      this.#nameOf(collection, action),
      rule as (given: typeof context) => RuleResult,
      context,
    );
  }
}

/** Rules for all repositories of a database, as {@linkcode defineRules} makes them. */
export class Rules {
  readonly #patterns: readonly CompiledPattern[];

  /** Use `defineRules(…)`. */
  constructor(patterns: readonly CompiledPattern[]) {
    this.#patterns = patterns;
    Object.freeze(this);
  }

  /** The rules that hold in a repository. */
  of(repository: string): RepositoryRules {
    for (const compiled of this.#patterns) {
      const params = matchPattern(compiled.pattern, repository);
      if (params === undefined) continue;
      return new RepositoryRules(repository, compiled, params);
    }
    return new RepositoryRules(repository, undefined, Object.freeze({}));
  }

  /** As {@linkcode RepositoryRules.mayRead}. */
  mayRead(
    session: RuleSession,
    repository: string,
    nowMs: number,
    before?: Cells,
  ): Decision | undefined {
    return this.of(repository).mayRead(session, nowMs, before);
  }
}
