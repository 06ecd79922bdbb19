/**
 * Lines of text out of a process's bytes.
 *
 * @module
 */

/** Each whole line, as it comes. */
export async function* linesOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string, void> {
  let rest = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

/** Says a value on standard output, as one line of JSON. */
export function say(value: unknown): void {
  const line = new TextEncoder().encode(`${JSON.stringify(value)}\n`);
  for (let at = 0; at < line.length;) {
    at += Deno.stdout.writeSync(line.subarray(at));
  }
}

/** Has every line on standard input, a value in JSON, obeyed and answered, one after the other, until there are no more. */
export async function obeyLines<Command>(
  obey: (command: Command) => Promise<unknown>,
): Promise<void> {
  for await (const line of linesOf(Deno.stdin.readable)) {
    say(await obey(JSON.parse(line)));
  }
}
