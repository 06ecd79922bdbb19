/**
 * A private copy of the tree, in which a tool may break files and run what
 * ought to notice. The checkout is only read; the copy lies in a temporary
 * folder, has the checkout's `node_modules` by a link, and goes when it is
 * closed.
 *
 * @module
 */

import { dirname, join } from "node:path";

/** What a copy has no use for at the root of the tree; `node_modules` is linked. */
const LEFT_OUT = new Set([".git", ".data", "data", "node_modules"]);

/** Windows has no groups of processes. */
const hasGroups = Deno.build.os !== "windows";

/** How a run in a sandbox ended. */
export interface SandboxRun {
  readonly isSuccess: boolean;
  /** It was ended because its time was up. */
  readonly isLate: boolean;
  /** Standard output and standard error, as they came. */
  readonly output: string;
  readonly seconds: number;
}

export interface SandboxRunOptions {
  readonly secondsMax: number;
  /** It is ended as soon as this holds of its output so far. */
  readonly until?: (output: string) => boolean;
  readonly env?: Readonly<Record<string, string>>;
}

async function copyFolder(
  from: string,
  to: string,
  leftOut: ReadonlySet<string> = new Set(),
): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const entry of Deno.readDir(from)) {
    if (leftOut.has(entry.name)) continue;
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory) await copyFolder(source, copy);
    else if (entry.isFile) await Deno.copyFile(source, copy);
  }
}

/** One copy of the tree. It runs one program at a time. */
export class Sandbox {
  /** The files that are not as in the checkout, with their text there. */
  readonly #changed = new Map<string, string>();
  #process: Deno.ChildProcess | undefined;

  private constructor(readonly path: string) {}

  /** Copies the tree at `root`, uncommitted changes included. */
  static async open(root: string): Promise<Sandbox> {
    // Its real name: a link in the path would give each module two names.
    const path = await Deno.realPath(
      await Deno.makeTempDir({ prefix: "sheaf-sandbox-" }),
    );
    await copyFolder(root, path, LEFT_OUT);
    const packages = join(await Deno.realPath(root), "node_modules");
    await Deno.symlink(packages, join(path, "node_modules"), { type: "dir" });
    return new Sandbox(path);
  }

  /** Changes one file of the copy; `file` is relative to the tree. */
  async change(file: string, edit: (text: string) => string): Promise<void> {
    const text = await Deno.readTextFile(join(this.path, file));
    if (!this.#changed.has(file)) this.#changed.set(file, text);
    await Deno.writeTextFile(join(this.path, file), edit(text));
  }

  /** Makes every file that was changed what it is in the checkout. */
  async restore(): Promise<void> {
    for (const [file, text] of this.#changed) {
      await Deno.writeTextFile(join(this.path, file), text);
    }
    this.#changed.clear();
  }

  /** Runs Deno in the copy until it ends or its time is up. */
  async run(
    args: readonly string[],
    { secondsMax, until, env = {} }: SandboxRunOptions,
  ): Promise<SandboxRun> {
    const start = performance.now();
    const process = new Deno.Command(Deno.execPath(), {
      args: [...args],
      cwd: this.path,
      env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      detached: hasGroups,
    }).spawn();
    this.#process = process;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.end();
    }, secondsMax * 1_000);
    let output = "";
    const take = (text: string) => {
      output += text;
      if (until?.(output)) this.end();
    };
    const outputs = [process.stdout, process.stderr]
      .map((stream) => collect(stream, take));
    const { success } = await process.status;
    clearTimeout(timer);
    // What it started itself and did not end would hold the pipes open.
    this.end();
    await Promise.all(outputs);
    this.#process = undefined;
    return {
      isSuccess: success,
      isLate,
      output,
      seconds: (performance.now() - start) / 1_000,
    };
  }

  /** Ends what runs, and what that has started. */
  end(): void {
    const process = this.#process;
    if (process === undefined) return;
    try {
      if (hasGroups) Deno.kill(-process.pid, "SIGKILL");
      else process.kill("SIGKILL");
    } catch {
      // It has ended already, which is what was wanted.
    }
  }

  /** Ends what runs, and removes the copy. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
    await Deno.remove(this.path, { recursive: true });
  }
}

async function collect(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  take: (text: string) => void,
): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    take(text);
  }
}

/** The folder of this checkout. */
export const checkout: string = dirname(import.meta.dirname ?? "");
