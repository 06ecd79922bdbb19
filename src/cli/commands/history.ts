/**
 * `sheaf history`: who changed what and when, newest last.
 *
 * @module
 */

import { escapeControls, escapeJson } from "../escape.ts";
import { Failure } from "../failure.ts";
import { formatMoment } from "../figures.ts";
import type { Output } from "../output.ts";
import {
  chooseCollection,
  type CommonOptions,
  type Context,
  withRepository,
} from "../session.ts";
import type { HistoryEntry, Repository } from "../store.ts";

/** Options of `sheaf history`. */
export interface HistoryOptions extends CommonOptions {
  readonly limit?: number;
  readonly json?: boolean;
}

/** Runs `sheaf history`: of one item, or of the repository. */
export function runHistory(
  context: Context,
  id: string | undefined,
  options: HistoryOptions,
): Promise<void> {
  return withRepository(context, options, async (repository) => {
    const entries = id === undefined
      ? await repository.history(options.limit)
      : await historyOfItem(repository, id, options);
    for (const entry of entries) {
      if (options.json) printJson(context.out, entry);
      else printEntry(context.out, entry);
    }
  });
}

async function historyOfItem(
  repository: Repository,
  id: string,
  { collection, limit }: HistoryOptions,
): Promise<readonly HistoryEntry[]> {
  const chosen = chooseCollection(repository, collection);
  const entries = await chosen.history(id);
  if (entries.length === 0) {
    throw new Failure(
      "item-missing",
      `No item "${id}" was ever in "${chosen.name}"`,
      "sheaf keys lists the ids",
    );
  }
  return limit === undefined ? entries : entries.slice(-limit);
}

function printJson(out: Output, entry: HistoryEntry): void {
  const json = JSON.stringify(entry);
  out.line(out.isTerminal ? escapeJson(json) : json);
}

/** A commit's name is its chain and number; the chain's first digits do. */
function shorten(commit: string): string {
  return commit.replace(/^([0-9a-f]{8})[0-9a-f]*:/, "$1:");
}

const shownChanges = 8;

function printEntry(out: Output, entry: HistoryEntry): void {
  const commit = shorten(entry.commit);
  const user = escapeControls(entry.user);
  out.line(`${formatMoment(entry.at)}  ${commit}  ${user}`);
  for (const change of entry.changes.slice(0, shownChanges)) {
    out.line(`    ${escapeControls(change)}`);
  }
  const more = entry.changes.length - shownChanges;
  if (more > 0) out.line(`    and ${more} more`);
}
