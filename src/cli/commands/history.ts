/** `sheaf history`: who changed what and when, newest last. */

import type { CommitSummary } from "../../db/history.ts";
import type { Repository } from "../../db/repository.ts";
import { escapeControls, escapeJson, type Output } from "../output.ts";
import { Failure } from "../failure.ts";
import { formatMoment } from "../figures.ts";
import {
  chooseCollection,
  type CommonOptions,
  type Context,
  withRepository,
} from "../session.ts";

export interface HistoryOptions extends CommonOptions {
  readonly limit?: number;
  readonly json?: boolean;
}

interface Entry {
  readonly commit: string;
  readonly at: Date;
  readonly user: string;
  readonly changes: readonly string[];
}

/** Runs `sheaf history`: of one item, or of the repository. */
export function runHistory(
  { out }: Context,
  id: string | undefined,
  options: HistoryOptions,
): Promise<void> {
  return withRepository(options, (repository) => {
    const { limit } = options;
    const commits = id === undefined
      ? repository.history(limit === undefined ? {} : { limit })
      : historyOfItem(repository, id, options);
    for (const commit of commits) {
      const entry = entryOf(commit);
      if (options.json) printJson(out, entry);
      else printEntry(out, entry);
    }
  });
}

function historyOfItem(
  repository: Repository,
  id: string,
  { collection, limit = Infinity }: HistoryOptions,
): CommitSummary[] {
  const { name } = chooseCollection(repository, collection).collection;
  const item = { collection: name, id };
  const commits = repository.history({ limit, item });
  if (commits.length > 0) return commits;
  throw new Failure(
    "item-missing",
    `No item "${id}" was ever in "${name}"`,
    "sheaf keys lists the ids",
  );
}

function entryOf(commit: CommitSummary): Entry {
  return {
    commit: commit.commit,
    at: commit.at,
    user: commit.user ?? "unknown",
    changes: commit.operations.map(({ what, collection, id, fields }) => {
      const names = fields.map((field) => field.name).join(", ");
      return `${what} ${collection} ${id}${names === "" ? "" : `: ${names}`}`;
    }),
  };
}

function printJson(out: Output, entry: Entry): void {
  const json = JSON.stringify(entry);
  out.line(out.isTerminal ? escapeJson(json) : json);
}

/** A commit's name is its chain and number; the chain's first digits do. */
function shorten(commit: string): string {
  return commit.replace(/^([0-9a-f]{8})[0-9a-f]*:/, "$1:");
}

const shownChanges = 8;

function printEntry(out: Output, entry: Entry): void {
  const commit = shorten(entry.commit);
  const user = escapeControls(entry.user);
  out.line(`${formatMoment(entry.at)}  ${commit}  ${user}`);
  for (const change of entry.changes.slice(0, shownChanges)) {
    out.line(`    ${escapeControls(change)}`);
  }
  const more = entry.changes.length - shownChanges;
  if (more > 0) out.line(`    and ${more} more`);
}
