/**
 * Who runs the stress suite, and what each promises of a write.
 *
 * `sheaf-fast-memory` keeps its log in memory, unsigned, as SQLite's
 * `:memory:`; `sheaf-opfs` and `sheaf-indexeddb` run in Chromium, in the Default
 * mode, their files with a worker of the page.
 *
 * @module
 */

import type { Durability } from "../harness/figure.ts";

/** One engine of the suite. */
export interface StressEngine {
  readonly name: string;
  readonly durability: Durability;
  readonly isInBrowser: boolean;
  /** Its writes wait for a medium: then fewer of them are made one at a time. */
  readonly isSlowToWrite: boolean;
}

function engine(name: string, durability: Durability): StressEngine {
  return { name, durability, isInBrowser: false, isSlowToWrite: false };
}

function inBrowser(name: string): StressEngine {
  return { name, durability: "fsync", isInBrowser: true, isSlowToWrite: true };
}

export const engines: readonly StressEngine[] = [
  engine("sheaf-default", "fsync"),
  engine("sheaf-trusted", "fsync"),
  engine("sheaf-fast", "queued"),
  engine("sheaf-fast-memory", "memory"),
  engine("sqlite-full", "fsync"),
  engine("sqlite-normal", "written"),
  engine("sqlite-off", "written"),
  engine("sqlite-memory", "memory"),
  inBrowser("sheaf-opfs"),
  inBrowser("sheaf-indexeddb"),
];

/** An engine by its name. */
export function engineNamed(name: string): StressEngine {
  const found = engines.find((engine) => engine.name === name);
  if (found === undefined) throw new RangeError(`no engine is named ${name}`);
  return found;
}
