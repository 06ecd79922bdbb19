/**
 * History: which commits touched what, by whom, when, and what they changed.
 *
 * Read from the log. Where an index tells what touches an item (see
 * `repo/history/item_touches.ts`), only its commits are read; in a page, all are.
 * A page of all commits reads its own.
 */

import { getOrMake } from "../base/collections.ts";
import { DatabaseError } from "../base/errors.ts";
import { checkOptions } from "../base/known_options.ts";
import {
  describeOperation,
  diffItems,
  type FieldDescription,
  type FieldDifference,
} from "../schema/describe.ts";
import type { Operation } from "../schema/patch.ts";
import type { View } from "../schema/view.ts";
import {
  ancestry,
  type Batch,
  cellOf,
  displayChain,
  eachChosen,
  type Includes,
  type ItemCommit,
  type ItemName,
  mentions,
  patchOf,
  type Position,
  type Replica,
  upTo,
} from "../../repo/mod.ts";
import { CommitPages } from "../../repo/history/commit_pages.ts";
import { commitName, findCommit } from "./commit_name.ts";

/** One operation of a commit, for people. */
export interface OperationSummary {
  readonly collection: string;
  readonly id: string;
  readonly what: Operation["what"];
  /** The fields that it set or changed. */
  readonly fields: readonly FieldDescription[];
}

/** One commit, for people. */
export interface CommitSummary {
  /** Names the commit in `repository.at()` and `diff()`. */
  readonly commit: string;
  /** The writer's chain, shortened. */
  readonly chain: string;
  /** The commit's number in its chain. */
  readonly number: number;
  /** When, by the writer's clock. */
  readonly at: Date;
  /**
   * Who, by the writer's certificate; `undefined` when none is known. While this
   * device waits for its certificate, its own commits show the local user.
   */
  readonly user: string | undefined;
  /** Heads of other chains that its writer had seen. */
  readonly parents: readonly string[];
  /** What it did: all of it, or only what concerns the item that was asked for. */
  readonly operations: readonly OperationSummary[];
}

/** Which part of a history to give, the newest one where nothing is said. */
export interface HistoryPage {
  /** At most this many, the newest ones. */
  readonly limit?: number;
  /**
   * Only those before this one, by its name: the `commit` of the first one of a
   * page asks for the page before it.
   */
  readonly before?: string;
}

/** Which commits to give. */
export interface HistoryOptions extends HistoryPage {
  /** At most this many, the newest ones (default: 100). */
  readonly limit?: number;
  /** Only commits that touched this item, and of them only what they did to it. */
  readonly item?: ItemName;
}

const pageOptions = { limit: 0, before: 0 };
const historyOptions = { ...pageOptions, item: 0 };

const LIMIT_DEFAULT = 100;

/** The newest commits of a repository, oldest first. */
export function repositoryHistory(
  replica: Replica,
  options: HistoryOptions = {},
): CommitSummary[] {
  const { item, limit = LIMIT_DEFAULT, ...rest } = checkOptions(
    options,
    historyOptions,
  );
  const page = { limit, ...rest };
  if (item !== undefined) return itemHistory(replica, item, page);
  const before = checkPage(replica, page);
  const summaries: CommitSummary[] = [];
  pagesOf(replica).each(limit, before, (logged, i) => {
    summaries.push(summary(replica, logged.batch, i, () => true));
  });
  return summaries;
}

const turned = new WeakMap<Replica, CommitPages>();

function pagesOf(replica: Replica): CommitPages {
  return getOrMake(turned, replica, () => new CommitPages(replica.commits));
}

function checkPage(
  replica: Replica,
  { limit = Infinity, before }: HistoryPage,
): Position | undefined {
  if (limit !== Infinity && !(Number.isInteger(limit) && limit >= 0)) {
    throw new DatabaseError(
      "invalid-option",
      "`limit` must be a whole number from 0 on",
    );
  }
  return before === undefined ? undefined : findCommit(replica, before);
}

/** The commits that touched an item, oldest first. */
export function itemHistory(
  replica: Replica,
  item: ItemName,
  page: HistoryPage = {},
): CommitSummary[] {
  const { limit = Infinity } = checkOptions(page, pageOptions);
  const before = checkPage(replica, page);
  const { touches } = replica.commits;
  const summaries = touches === undefined
    ? newestOf(scannedHistory(replica, item), limit, before)
    : touches.page(item, { limit, ...before && { before } })
      ?.map((commit) => shown(replica, commit));
  if (summaries !== undefined) return summaries;
  throw new DatabaseError(
    "commit-missing",
    `Commit ${JSON.stringify(page.before)} did not touch this item`,
  );
}

function newestOf(
  all: CommitSummary[],
  limit: number,
  before: Position | undefined,
): CommitSummary[] | undefined {
  const name = before && commitName(before);
  const end = name === undefined
    ? all.length
    : all.findIndex(({ commit }) => commit === name);
  return end < 0 ? undefined : all.slice(Math.max(0, end - limit), end);
}

function scannedHistory(replica: Replica, item: ItemName): CommitSummary[] {
  const summaries: CommitSummary[] = [];
  const isMentioned = mentions([item]);
  const isMeant = ({ id, shape }: Operation) =>
    id === item.id && shape.collection === item.collection;
  eachChosen(replica.commits, (batch, i) => {
    if (!isMentioned(batch.bytes, batch.commits[i]!)) return;
    const found = summary(replica, batch, i, isMeant);
    if (found.operations.length > 0) summaries.push(found);
  });
  return summaries;
}

/** The fields in which an item differs between two points of the history. */
export function itemDifference(
  replica: Replica,
  view: View,
  item: ItemName,
  points: readonly [string | Date, string | Date],
): FieldDifference[] {
  const [before, after] = points.map((point) =>
    cellOf(replica.commits, () => view, includesOf(replica, point), item)?.item
  );
  return diffItems(before, after);
}

function summary(
  replica: Replica,
  batch: Batch,
  index: number,
  concerns: (operation: Operation) => boolean,
): CommitSummary {
  const commit = batch.commits[index]!;
  const { operations } = patchOf(batch, commit);
  return shown(replica, {
    ...commit,
    chain: batch.chain,
    number: batch.first + index,
    operations: operations.filter(concerns),
  });
}

function shown(
  replica: Replica,
  { chain, number, wall, parents, operations }: ItemCommit,
): CommitSummary {
  return {
    commit: commitName({ chain, number }),
    chain: displayChain(chain),
    number,
    at: new Date(wall),
    user: replica.userOf(chain, wall),
    parents: parents.map((parent) => commitName(parent)),
    operations: operations.map((operation) => ({
      collection: operation.shape.collection,
      id: operation.id,
      ...describeOperation(operation),
    })),
  };
}

/** Which commits make the state at a commit or a moment. */
export function includesOf(replica: Replica, point: string | Date): Includes {
  if (typeof point === "string") {
    return ancestry(replica.commits, findCommit(replica, point));
  }
  if (point instanceof Date && !Number.isNaN(point.getTime())) {
    return upTo(point.getTime());
  }
  throw new DatabaseError(
    "invalid-option",
    "Give a commit's name or a valid Date",
  );
}
