/**
 * A query as text, as code says it: `where({ done: false }).orderBy("rank").limit(20)`.
 * Pure.
 *
 * It is read and never run: names of methods, with literals in brackets. What
 * they are given is judged by the query itself.
 */

import { limits } from "../base/limits.ts";

const methods = ["where", "orderBy", "limit", "offset", "after"] as const;

/** A method of a query, and what it is given. */
export interface Call {
  readonly method: typeof methods[number];
  readonly given: readonly unknown[];
}

/** More is no query that a person writes. */
const CHARACTERS_MAX = 10_000;

const TOKEN =
  /[A-Za-z_$][\w$]*|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\S/g;

const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
  ["undefined", undefined],
]);

/**
 * Reads a query; no text asks for all items.
 *
 * @throws {SyntaxError} which says what is expected, and where
 */
export function parseQuery(text: string): Call[] {
  if (text.length > CHARACTERS_MAX) {
    throw new SyntaxError(`A query has at most ${CHARACTERS_MAX} characters`);
  }
  return new Parser(text).calls();
}

class Parser {
  readonly #tokens: readonly { readonly text: string; readonly at: number }[];
  #next = 0;

  constructor(text: string) {
    this.#tokens = Array.from(
      text.matchAll(TOKEN),
      ({ 0: text, index: at }) => ({ text, at }),
    );
  }

  calls(): Call[] {
    const calls: Call[] = [];
    this.#skip("."); // Somebody copied what follows a collection.
    while (this.#next < this.#tokens.length) {
      calls.push(this.#call());
      if (this.#next < this.#tokens.length) this.#expect(".");
    }
    return calls;
  }

  #call(): Call {
    const method = methods.find((method) => method === this.#token);
    if (method === undefined) this.#fail(`one of ${methods.join(", ")}`);
    this.#next++;
    this.#expect("(");
    const given: unknown[] = [];
    this.#each(")", () => given.push(this.#value(0)));
    return { method, given };
  }

  #value(depth: number): unknown {
    if (depth > limits.queryDepthMax) this.#fail("less nesting");
    const token = this.#token ?? this.#fail("a value");
    const isWord = WORDS.has(token);
    if (!isWord && !/^[-\d"'[{]|^new$/.test(token) || token === "-") {
      this.#fail(
        "a string, a number, true, false, undefined, a list, an object or new Date()",
      );
    }
    if (token.startsWith('"') || token.startsWith("'")) return this.#string();
    this.#next++;
    if (isWord) return WORDS.get(token);
    if (token === "new") return this.#date();
    if (token === "[") {
      const list: unknown[] = [];
      this.#each("]", () => list.push(this.#value(depth + 1)));
      return list;
    }
    if (token !== "{") return Number(token);
    const entries: [string, unknown][] = [];
    this.#each("}", () => {
      const name = this.#name();
      this.#expect(":");
      entries.push([name, this.#value(depth + 1)]);
    });
    return Object.fromEntries(entries);
  }

  #date(): Date {
    for (const token of ["Date", "("]) this.#expect(token);
    const date = new Date(this.#string());
    this.#expect(")");
    return date;
  }

  #name(): string {
    const token = this.#token ?? "";
    if (!/^[A-Za-z_$]/.test(token)) return this.#string();
    this.#next++;
    return token;
  }

  #string(): string {
    const token = this.#token ?? "";
    if (!/^["']./.test(token)) this.#fail("a string");
    const inside = token.slice(1, -1);
    const text = token.startsWith('"')
      ? inside
      : inside.replace(/\\'|"/g, (one) => one === '"' ? '\\"' : "'");
    try {
      const value: unknown = JSON.parse(`"${text}"`);
      this.#next++;
      return String(value);
    } catch {
      this.#fail("a string with escapes as JSON has them");
    }
  }

  /** Reads what stands between commas, up to where it ends; a comma may stand before the end. */
  #each(end: string, read: () => void): void {
    while (!this.#skip(end)) {
      read();
      if (this.#token !== end) this.#expect(",");
    }
  }

  get #token(): string | undefined {
    return this.#tokens[this.#next]?.text;
  }

  #skip(text: string): boolean {
    const isThere = this.#token === text;
    if (isThere) this.#next++;
    return isThere;
  }

  #expect(text: string): void {
    if (!this.#skip(text)) this.#fail(`"${text}"`);
  }

  #fail(expected: string): never {
    const token = this.#tokens[this.#next];
    const where = token === undefined
      ? "at the end"
      : `at ${token.at + 1}, where ${token.text} is`;
    throw new SyntaxError(`Expected ${expected} ${where}`);
  }
}
