/**
 * The input of an import: a file or standard input, in pieces, so that a large
 * one never has to fit into memory.
 *
 * Standard input is spooled to a temporary file, because inferring a schema
 * reads everything once before the import reads it again.
 */

import { createWriteStream, rmSync } from "node:fs";
import { mkdtemp, open, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pipeline } from "node:stream/promises";
import { Failure, usageFailure } from "./failure.ts";

export type TextFormat = "json" | "jsonl" | "csv";

export type Format = TextFormat | "msgpack";

export const textFormats: readonly TextFormat[] = ["json", "jsonl", "csv"];

export const formats: readonly Format[] = [...textFormats, "msgpack"];

export interface Input extends AsyncDisposable {
  readonly name: string;
  readonly bytes: number;
  /** Its bytes from the start, in pieces; `onBytes` hears how far it was read. */
  pieces(onBytes: (done: number) => void): AsyncGenerator<Uint8Array>;
}

/** Opens a file; `-` is standard input. */
export async function openInput(path: string): Promise<Input> {
  if (path === "-") return await spoolStdin();
  try {
    const found = await stat(path);
    if (found.isFile()) return fileInput(path, path, found.size, () => {});
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") {
      throw new Failure("not-found", `No file "${path}"`);
    }
    throw error;
  }
  throw usageFailure(`"${path}" is not a file`);
}

async function spoolStdin(): Promise<Input> {
  const folder = await mkdtemp(join(tmpdir(), "sheaf-stdin-"));
  const path = join(folder, "input");
  const remove = () => rmSync(folder, { recursive: true });
  try {
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }));
    const { size } = await stat(path);
    return fileInput("stdin", path, size, remove);
  } catch (error) {
    remove();
    throw error;
  }
}

function fileInput(
  name: string,
  path: string,
  bytes: number,
  dispose: () => void,
): Input {
  return {
    name,
    bytes,
    pieces: (onBytes) => readPieces(path, onBytes),
    [Symbol.asyncDispose]: async () => await dispose(),
  };
}

const pieceBytes = 256 * 1024;

async function* readPieces(
  path: string,
  onBytes: (done: number) => void,
): AsyncGenerator<Uint8Array> {
  const file = await open(path);
  try {
    let done = 0;
    for (;;) {
      const piece = new Uint8Array(pieceBytes);
      const { bytesRead } = await file.read(piece, 0, pieceBytes);
      if (bytesRead === 0) break;
      yield piece.subarray(0, bytesRead);
      onBytes(done += bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** The text of an input; pieces end between characters. */
export async function* textOf(
  { name, pieces }: Input,
  onBytes: (done: number) => void,
): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let done = 0;
  try {
    for await (const piece of pieces(onBytes)) {
      const text = decoder.decode(piece, { stream: true });
      if (text !== "") yield text;
      done += piece.length;
    }
    decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Failure(
      "bad-encoding",
      `${name}: not UTF-8 text, near byte ${done}`,
      "save the file as UTF-8 first",
    );
  }
}

/** The format of a file by its name; `undefined` when it does not tell. */
export function formatOf(path: string): Format | undefined {
  const ending = /\.([A-Za-z]+)$/.exec(path)?.[1]?.toLowerCase();
  if (ending === "ndjson") return "jsonl";
  return formats.find((format) => format === ending);
}
