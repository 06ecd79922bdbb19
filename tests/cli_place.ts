/**
 * A folder for one test of the command line, with real commands in it.
 *
 * @module
 */

import assert from "node:assert/strict";
import { Child, type Ran } from "./kit/child.ts";

const main = new URL("../src/cli/main.ts", import.meta.url).pathname;
const config = new URL("../deno.json", import.meta.url).pathname;
/** How the command line is started. */
const deno = [
  ...["run", "--quiet", `--config=${config}`],
  ...["--allow-read", "--allow-write", "--allow-env", "--allow-sys", main],
];

/** A folder for one test, with commands that run in it. */
export class Place implements AsyncDisposable {
  readonly path = Deno.makeTempDirSync({ prefix: "sheaf-cli-" });

  file(name: string, text: string): string {
    const path = `${this.path}/${name}`;
    Deno.writeTextFileSync(path, text);
    return path;
  }

  spawn(args: readonly string[]): Child {
    return new Child([...deno, ...args], { cwd: this.path });
  }

  async run(args: readonly string[], input?: string): Promise<Ran> {
    return await Child.run([...deno, ...args], {
      cwd: this.path,
      ...(input !== undefined && { input }),
    });
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
