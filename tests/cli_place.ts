/**
 * A folder for one test of the command line, with real commands in it.
 *
 * @module
 */

import assert from "node:assert/strict";

const main = new URL("../src/cli/main.ts", import.meta.url).pathname;
const config = new URL("../deno.json", import.meta.url).pathname;
/** What a command gave. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder for one test, with commands that run in it. */
export class Place implements AsyncDisposable {
  readonly path = Deno.makeTempDirSync({ prefix: "sheaf-cli-" });

  file(name: string, text: string): string {
    const path = `${this.path}/${name}`;
    Deno.writeTextFileSync(path, text);
    return path;
  }

  spawn(args: readonly string[], stdin: "null" | "piped"): Deno.ChildProcess {
    return new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        `--config=${config}`,
        "--allow-read",
        "--allow-write",
        "--allow-env",
        "--allow-sys",
        main,
        ...args,
      ],
      cwd: this.path,
      stdin,
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  }

  async run(args: readonly string[], stdin?: string): Promise<Ran> {
    const child = this.spawn(args, stdin === undefined ? "null" : "piped");
    if (stdin !== undefined) {
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode(stdin));
      await writer.close();
    }
    const { code, stdout, stderr } = await child.output();
    const decoder = new TextDecoder();
    return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
  }

  /** Runs a command that must succeed. */
  async sheaf(...args: readonly string[]): Promise<Ran> {
    const ran = await this.run(args);
    assert.equal(ran.code, 0, `sheaf ${args.join(" ")}\n${ran.err}`);
    return ran;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

/** A failure is one line with a code, and maybe a hint. */
export function assertFailure(ran: Ran, code: number, start: RegExp): void {
  assert.equal(ran.code, code, ran.err);
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
