/**
 * Patterns of repository names: which rules hold where.
 *
 * A pattern has segments like a name: `team` stands for itself, `{team}` for
 * any one segment, which rules get by that name, and `**`, at the end, for one
 * segment or more.
 */

import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import { show } from "./names.ts";

const LITERAL = /^[A-Za-z0-9_-]{1,64}$/;
const PARAMETER = /^\{([A-Za-z][A-Za-z0-9_]{0,63})\}$/;
const REST = "**";

/** What the parameters of a pattern stand for, by name. */
export type RuleParams = Readonly<Record<string, string>>;

type ParamNames<Pattern extends string> = Pattern extends
  `${infer Segment}/${infer Rest}` ? ParamNames<Segment> | ParamNames<Rest>
  : Pattern extends `{${infer Name}}` ? Name
  : never;

/** The parameters of a pattern that is known when it is compiled. */
export type ParamsOf<Pattern extends string> = string extends Pattern
  ? RuleParams
  : { readonly [Name in ParamNames<Pattern>]: string };

export interface RulePattern {
  /** As it was declared. */
  readonly text: string;
  readonly segments: readonly string[];
  /** By segment: the name of the parameter, where it is one. */
  readonly params: readonly (string | undefined)[];
  /** Does `**` stand at its end? */
  readonly hasRest: boolean;
}

/** Reads a pattern; `invalid-option` when it is none. */
export function parsePattern(text: string): RulePattern {
  const parts = text.split("/");
  const hasRest = parts.at(-1) === REST;
  const segments = hasRest ? parts.slice(0, -1) : parts;
  if (parts.length > limits.nameSegmentsMax) {
    invalid(text, `it has over ${limits.nameSegmentsMax} segments`);
  }
  const params = segments.map((segment) => PARAMETER.exec(segment)?.[1]);
  for (const [i, segment] of segments.entries()) {
    if (params[i] !== undefined || LITERAL.test(segment)) continue;
    const why = segment === REST ? "** stands only at the end" : "";
    invalid(text, why || `${show(segment)} is no segment`);
  }
  const named = params.filter((name) => name !== undefined);
  if (new Set(named).size < named.length) {
    invalid(text, "it uses one parameter twice");
  }
  return { text, segments, params, hasRest };
}

function invalid(pattern: string, why: string): never {
  throw new DatabaseError(
    "invalid-option",
    `Cannot use ${show(pattern)} as a pattern of repository names: ${why}. ` +
      'Write segments such as "team/{team}/notes", or "**" at the end for all the rest',
  );
}

/** What the pattern's parameters are in a name; `undefined` when it does not fit. */
export function matchPattern(
  { segments, params, hasRest }: RulePattern,
  name: string,
): RuleParams | undefined {
  const parts = name.split("/");
  const fits = hasRest
    ? parts.length > segments.length
    : parts.length === segments.length;
  if (!fits) return undefined;
  const values: Record<string, string> = Object.create(null);
  for (let i = 0; i < segments.length; i++) {
    const param = params[i];
    if (param !== undefined) values[param] = parts[i]!;
    else if (segments[i] !== parts[i]) return undefined;
  }
  return Object.freeze(values);
}

/** A segment that no literal is. */
const FRESH = "~";

/**
 * Do earlier patterns take every name that this one fits? For each length one
 * name tells that of all: where nothing is said, it has a word of its own.
 */
export function isNeverAsked(
  { segments, params, hasRest }: RulePattern,
  earlier: readonly RulePattern[],
): boolean {
  const words = segments.map((word, i) => params[i] ? FRESH : word);
  if (hasRest) words.push(FRESH);
  do {
    const name = words.join("/");
    if (!earlier.some((one) => matchPattern(one, name))) return false;
  } while (hasRest && words.push(FRESH) <= limits.nameSegmentsMax);
  return true;
}
