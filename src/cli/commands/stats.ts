/** `sheaf stats`: what a repository holds, in figures. */

import type { Repository } from "../../db/repository.ts";
import { formatBytes, formatCount } from "../figures.ts";
import {
  type CommonOptions,
  type Context,
  withRepository,
} from "../session.ts";
import { escapeControls, escapeJson, type Output } from "../output.ts";
import { formatTable } from "../table.ts";

export interface StatsOptions extends CommonOptions {
  readonly json?: boolean;
}

export function runStats(
  { out }: Context,
  options: StatsOptions,
): Promise<void> {
  return withRepository(options, (repository) => {
    if (options.json) printJson(out, repository);
    else printStats(out, repository);
  });
}

function printJson(out: Output, repository: Repository): void {
  const stats = {
    repository: repository.name,
    mode: repository.mode,
    ...repository.status(),
    collections: repository.collections().map(({ name, count, fields }) => ({
      name,
      count,
      fields,
    })),
  };
  const json = JSON.stringify(stats, undefined, 2);
  out.line(out.isTerminal ? escapeLines(json) : json);
}

/** Escapes all but the line breaks of indented JSON. */
function escapeLines(json: string): string {
  return json.split("\n").map(escapeJson).join("\n");
}

function printStats(out: Output, repository: Repository): void {
  const status = repository.status();
  const facts = [
    ["repository", repository.name],
    ["mode", repository.mode],
    ["commits", formatCount(status.commits)],
    ["chains", formatCount(status.chains)],
    ["heads", formatCount(status.heads)],
    ["log", formatBytes(status.logBytes)],
    ["checkpoint", formatBytes(status.checkpointBytes)],
    ["recovery", formatRecovery(status.recovery)],
  ];
  for (const [name = "", value = ""] of facts) {
    out.line(`${name.padEnd(10)}  ${escapeControls(value)}`);
  }
  out.line();
  const rows = repository.collections().map(({ name, count, fields }) => [
    name,
    formatCount(count),
    fields.map((field) => `${field.name} ${field.kind}`).join(", "),
  ]);
  const columns = [
    { title: "collection" },
    { title: "items", align: "right" as const },
    { title: "fields" },
  ];
  out.print(formatTable(columns, rows, out.width));
}

function formatRecovery(recovery: object): string {
  const isQuiet = (value: unknown) =>
    value === 0 || value === undefined ||
    (Array.isArray(value) && value.length === 0);
  const told = Object.entries(recovery)
    .filter(([name, value]) => !isQuiet(value) && name !== "clean")
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return told.length === 0 ? "nothing lost" : told.join(", ");
}
