/**
 * A file of updates for the libraries that leave keeping to their users, as
 * their guides advise: each update is appended, length first, and flushed
 * before the write counts as done; opening reads all of them.
 *
 * @module
 */

const headLength = 4;

/** A file to which updates are added. */
export class UpdateLog {
  readonly #file: Deno.FsFile;
  /** What was there when it was opened, in order. */
  readonly updates: readonly Uint8Array<ArrayBuffer>[];

  /** Opens the file at `path`, making it when it is missing; what a crash left half written at its end is cut off. */
  constructor(path: string) {
    this.#file = Deno.openSync(path, { read: true, write: true, create: true });
    const { updates, length } = split(Deno.readFileSync(path));
    this.updates = updates;
    this.#file.truncateSync(length);
    this.#file.seekSync(length, Deno.SeekMode.Start);
  }

  /** Adds one update; when it returns, the medium has it. */
  append(update: Uint8Array): void {
    const record = new Uint8Array(headLength + update.length);
    new DataView(record.buffer).setUint32(0, update.length);
    record.set(update, headLength);
    // A file of the system takes what it is given in a few bites at most.
    for (let at = 0; at < record.length;) {
      at += this.#file.writeSync(record.subarray(at));
    }
    this.#file.syncDataSync();
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
  }
}

/** The whole updates in `bytes`, and how far they reach. */
function split(bytes: Uint8Array<ArrayBuffer>): {
  updates: Uint8Array<ArrayBuffer>[];
  length: number;
} {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const updates: Uint8Array<ArrayBuffer>[] = [];
  let at = 0;
  while (at + headLength <= bytes.length) {
    const end = at + headLength + view.getUint32(at);
    if (end > bytes.length) break;
    updates.push(bytes.subarray(at + headLength, end));
    at = end;
  }
  return { updates, length: at };
}
