/**
 * What became of a seed, and the line on which a player tells it.
 *
 * @module
 */

/** What one seed did. */
export interface Outcome {
  readonly seed: number;
  /** The run in a few words. */
  readonly line: string;
  /** What a summary adds up, by name: "events", "writes". */
  readonly counts: Readonly<Record<string, number>>;
  /** What did not hold, with all that helps to find out why; absent when all is well. */
  readonly failure?: string;
}

/** Lines of a player that begin otherwise are not meant for its pool. */
const BEGIN = "outcome ";

/** One line without its end. */
export function writeOutcome(outcome: Outcome): string {
  return BEGIN + JSON.stringify(outcome);
}

/** Reads a line of a player; `undefined` where something else was printed. */
export function readOutcome(line: string): Outcome | undefined {
  if (!line.startsWith(BEGIN)) return undefined;
  return JSON.parse(line.slice(BEGIN.length)) as Outcome;
}

/** The lines of a stream, as they come. */
export async function* linesOf(
  bytes: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string, undefined> {
  let rest = "";
  for await (const text of bytes.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== "") yield rest;
}
