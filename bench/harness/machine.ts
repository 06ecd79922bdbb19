/**
 * On what the figures were taken: without it they say little.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { figuresOf } from "./stats.ts";

/** The machine, as far as it bears on the figures. */
export interface Machine {
  readonly os: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly fileSystem: string;
  /** Median of an append of 300 bytes with fdatasync. */
  readonly fdatasyncMicros: number;
}

/** What ran on it. */
export interface Versions {
  readonly deno: string;
  readonly v8: string;
  readonly sqlite: string;
  readonly sheaf: string;
  readonly commit: string;
  readonly date: string;
}

/** File systems on which a sync means nothing. */
const volatileFileSystems: ReadonlySet<string> = new Set(["tmpfs", "ramfs"]);

/** Describes this machine; `folder` is where the databases will be. */
export function describeMachine(folder: string): Machine {
  return {
    os: `${Deno.build.os} ${Deno.osRelease()} ${Deno.build.arch}`,
    cpu: processorName() ?? Deno.build.arch,
    cores: navigator.hardwareConcurrency,
    memoryGiB: Math.round(Deno.systemMemoryInfo().total / 2 ** 30),
    fileSystem: fileSystemOf(folder) ?? "unknown",
    fdatasyncMicros: measureSync(folder),
  };
}

/** Describes what runs. */
export function describeVersions(): Versions {
  return {
    deno: Deno.version.deno,
    v8: Deno.version.v8,
    sqlite: sqliteVersion(),
    sheaf: packageVersion(),
    commit: commitName(),
    date: new Date().toISOString().slice(0, 10),
  };
}

/** What must be said of the file system before any figure, if anything. */
export function warningOf(machine: Machine): string | undefined {
  if (!volatileFileSystems.has(machine.fileSystem)) return undefined;
  return `The folder is on ${machine.fileSystem}: syncing there means nothing, and no durable figure counts. ` +
    "Choose another with --dir.";
}

function fileSystemOf(folder: string): string | undefined {
  if (Deno.build.os !== "linux") return undefined;
  return fileSystemIn(
    Deno.readTextFileSync("/proc/mounts"),
    Deno.realPathSync(folder),
  );
}

/** The type of the longest mount point that holds `path`, out of the lines of /proc/mounts. */
export function fileSystemIn(mounts: string, path: string): string | undefined {
  let best: { point: string; type: string } | undefined;
  for (const line of mounts.split("\n")) {
    const [, point = "", type = ""] = line.split(" ");
    const holds = point === "/" || path === point ||
      path.startsWith(point + "/");
    // Of two mounts on one point the later hides the earlier.
    if (
      point !== "" && holds &&
      (best === undefined || point.length >= best.point.length)
    ) best = { point, type };
  }
  return best?.type;
}

function processorName(): string | undefined {
  if (Deno.build.os !== "linux") return undefined;
  return /^model name\s*:\s*(.+)$/m.exec(Deno.readTextFileSync("/proc/cpuinfo"))
    ?.[1];
}

/** Median of an append of 300 bytes with fdatasync, in microseconds. */
export function measureSync(folder: string): number {
  const path = `${folder}/fdatasync`;
  using file = Deno.openSync(path, { create: true, write: true });
  const bytes = new Uint8Array(300);
  const samples: number[] = [];
  for (let turn = 0; turn < 100; turn++) {
    const from = performance.now();
    file.writeSync(bytes);
    file.syncDataSync();
    samples.push((performance.now() - from) * 1_000);
  }
  Deno.removeSync(path);
  return figuresOf(samples).median;
}

function sqliteVersion(): string {
  using database = new DatabaseSync(":memory:");
  return String(
    Object.values(database.prepare("SELECT sqlite_version()").get() ?? {})[0],
  );
}

function packageVersion(): string {
  const text = Deno.readTextFileSync(
    new URL("../../deno.json", import.meta.url),
  );
  return /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? "unknown";
}

function commitName(): string {
  const name = git("rev-parse", "--short", "HEAD");
  if (name === undefined) return "unknown";
  return git("status", "--porcelain") === ""
    ? name
    : `${name} with local changes`;
}

function git(...args: string[]): string | undefined {
  try {
    const output = new Deno.Command("git", {
      args,
      cwd: new URL("../..", import.meta.url),
      stderr: "null",
    }).outputSync();
    return output.success
      ? new TextDecoder().decode(output.stdout).trim()
      : undefined;
  } catch (error) {
    // A machine without git has no commit to name.
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
