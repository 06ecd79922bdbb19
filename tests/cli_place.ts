/**
 * A folder for one test of the command line, with commands that run in it: the
 * whole program in this process, which spares each its start, or one of its own
 * for what only a process shows.
 *
 * @module
 */

import assert from "node:assert/strict";
import { main } from "../src/cli/main.ts";
import { Output } from "../src/cli/output.ts";
import type { Context } from "../src/cli/session.ts";
import { Child, type Ran } from "./kit/child.ts";

const program = new URL("../src/cli/main.ts", import.meta.url).pathname;
const config = new URL("../deno.json", import.meta.url).pathname;
/** How the command line is started. */
const deno = [
  ...["run", "--quiet", `--config=${config}`],
  ...["--allow-read", "--allow-write", "--allow-env", "--allow-sys", program],
];

/** Runs one command in this process, as if it had been started in a folder. */
export async function runHere(
  args: readonly string[],
  folder: string,
  ask?: Context["ask"],
): Promise<Ran> {
  const [out, err] = [new Printed(), new Printed()];
  const before = Deno.cwd();
  const { signal } = new AbortController();
  Deno.chdir(folder);
  try {
    const outputs = { out: out.output, err: err.output };
    const code = await main(args, { ...outputs, signal, ask });
    const report = `\`sheaf ${
      args.join(" ")
    }\` ended with ${code}:\n${err.text}`;
    return { code, signal: null, out: out.text, err: err.text, report };
  } finally {
    Deno.chdir(before);
  }
}

/** What a command printed, as through a pipe. */
class Printed {
  readonly #decoder = new TextDecoder();
  text = "";
  readonly output: Output = new Output(
    (bytes) => {
      this.text += this.#decoder.decode(bytes, { stream: true });
      return bytes.length;
    },
    false,
    undefined,
  );
}

/** A folder for one test, with commands that run in it. */
export class Place implements AsyncDisposable {
  readonly path = Deno.makeTempDirSync({ prefix: "sheaf-cli-" });

  file(name: string, text: string): string {
    const path = `${this.path}/${name}`;
    Deno.writeTextFileSync(path, text);
    return path;
  }

  /** Starts a command as a process of its own. */
  spawn(args: readonly string[]): Child {
    return new Child([...deno, ...args], { cwd: this.path });
  }

  /** Runs a command as a process of its own, with an input. */
  async pipe(args: readonly string[], input: string): Promise<Ran> {
    return await Child.run([...deno, ...args], { cwd: this.path, input });
  }

  async run(args: readonly string[], ask?: Context["ask"]): Promise<Ran> {
    return await runHere(args, this.path, ask);
  }

  /** Runs a command that must succeed. */
  async sheaf(...args: readonly string[]): Promise<Ran> {
    const ran = await this.run(args);
    assert.equal(ran.code, 0, ran.report);
    return ran;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

/** A failure is one line with a code, and maybe a hint. */
export function assertFailure(ran: Ran, code: number, start: RegExp): void {
  assert.equal(ran.code, code, ran.report);
  const [line, hint = ""] = ran.err.trimEnd().split("\n");
  assert.match(line ?? "", start);
  assert.ok(hint === "" || hint.startsWith("  hint: "), ran.err);
  assert.ok(!ran.err.includes("    at "), "no stack trace");
}

/** A small CSV file with what makes CSV hard. */
export const csv = `id,name,lat,founded,capital,zip,note
rvk,Reykjavík,64.1466,1786-08-18,true,0101,"says ""hæ"",
twice"
osl,Oslo,59.9139,1048-01-01,TRUE,0150,
vik,"",63.4186,,false,870,""
`;
