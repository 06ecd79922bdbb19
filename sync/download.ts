/**
 * The client's way down: what the server sends, and up to which cursor all of
 * it is durable here.
 *
 * Architecture invariant: a cursor is kept only when everything before it can
 * not be lost any more (law 3); otherwise a crash would leave a hole.
 *
 * @module
 */

import type { RepositoryPort } from "../repo/port.ts";
import type { VersionVector } from "../repo/commit/version_vector.ts";
import type { Upload } from "./upload.ts";
import type { PartBudget } from "./window.ts";
import type { Doubts } from "./doubts.ts";
import { Inbox, type Intake, isForgery } from "./inbox.ts";
import type { Line } from "./line.ts";
import type { MessageOf } from "./message.ts";
import type { Cursor } from "./frame_fields.ts";

/** What a download works with. */
export interface DownloadParts {
  readonly line: Line;
  readonly port: RepositoryPort;
  readonly budget: PartBudget;
  /** Hears what the server has. */
  readonly up: Upload;
  readonly doubts: Doubts;
  /** Commits that the server has and we lacked when the channel opened. */
  readonly total: number;
  /** What the channel goes on from; `undefined` where it began with a vector. */
  readonly cursor: Cursor | undefined;
}

/** Refusals for want of what comes before. */
const BEFORE: ReadonlySet<string> = new Set([
  "gap",
  "missing-parent",
  "unknown-session",
]);

/** Records on their way down. */
export class Download {
  readonly #parts: DownloadParts;
  readonly #inbox: Inbox;
  /** Cursors that wait for the records before them. */
  #cursors: { sequence: number; cursor: Cursor }[] = [];
  #cursor: Cursor | undefined;
  /** Was something refused that lies before the cursors that come? Who goes on there never gets a sound copy of it. */
  #hasHole = false;
  #durable = 0;
  #done = 0;
  /** Was something refused that a fresh start by vectors may bring? */
  isMissing = false;

  constructor(parts: DownloadParts) {
    const { port, budget, up, line, cursor } = parts;
    this.#parts = parts;
    this.#cursor = cursor;
    this.#inbox = new Inbox({
      port,
      budget,
      noteHas: (chain, count) => up.outbox.noteHas(chain, count),
      noteCredential: (bytes) => up.noteCredential(bytes),
      release: (bytes) => line.receiving.release(bytes),
    });
  }

  /** Everything of the server's log before it is durable here. */
  get cursor(): Cursor | undefined {
    return this.#cursor;
  }

  /** Is everything that came durable here? */
  get isQuiet(): boolean {
    return this.#inbox.isIdle;
  }

  /** Takes records; true when there were new commits. */
  records(
    { records, cursor }: MessageOf<"records">,
    frameBytes: number,
  ): boolean {
    const { line } = this.#parts;
    if (cursor === undefined) {
      line.fail("bad-message", "Records without a cursor");
      return false;
    }
    const { monotonicMs } = line.moment;
    const isNew = this.#taken(
      this.#inbox.records(records, frameBytes, monotonicMs),
    );
    this.reach(cursor);
    return isNew;
  }

  /** Takes a part; true when there were new commits. */
  part(part: MessageOf<"part">, frameBytes: number): boolean {
    const { line } = this.#parts;
    const { monotonicMs } = line.moment;
    const intake = this.#inbox.part(part, frameBytes, monotonicMs);
    if (intake === "bad") line.fail("bad-message", "A part does not go on");
    else if (intake === "no-room") {
      line.fail("unavailable", "Too many large records at once");
    } else return this.#taken(intake);
    return false;
  }

  /** Everything before this cursor has come. */
  reach(cursor: Cursor): void {
    const sequence = this.#inbox.last;
    if (this.#cursors.at(-1)?.sequence === sequence) this.#cursors.pop();
    this.#cursors.push({ sequence, cursor });
    this.settle();
  }

  /** Looks what is durable now. */
  settle(): void {
    this.#durable = this.#inbox.acknowledge() ?? this.#durable;
    while (this.#cursors.length > 0) {
      const { sequence, cursor } = this.#cursors[0]!;
      if (sequence > this.#durable) return;
      if (!this.#hasHole) this.#cursor = cursor;
      this.#cursors.shift();
    }
  }

  /** What may be shared has grown: something that waited may go on. */
  shareable(): void {
    if (this.#inbox.hasParked) {
      const { monotonicMs } = this.#parts.line.moment;
      this.#taken(this.#inbox.retryParked(monotonicMs));
    }
    this.settle();
  }

  /** Looks at the clock. */
  tick(): void {
    const { line } = this.#parts;
    this.#taken(this.#inbox.expire(line.moment.monotonicMs));
    line.due(this.#inbox.expiresMs);
  }

  #taken({ judged, refused }: Intake): boolean {
    const { line, port: { name }, total } = this.#parts;
    let count = 0;
    for (const { verdict } of judged) {
      if (verdict.verdict !== "admit") continue;
      count += verdict.batch.commits.length - verdict.from;
    }
    for (const { refusal, pending } of refused) {
      this.#refused(refusal, pending.chain, pending.first);
    }
    if (count === 0) return false;
    this.#done += count;
    if (total > 0) {
      const done = Math.min(this.#done, total);
      line.tell({ tell: "progress", name, done, total });
    }
    return true;
  }

  /** Both sides judge alike: who differs is broken, or lies. */
  #refused(
    refusal: Intake["refused"][number]["refusal"],
    chain: string,
    number: number,
  ): void {
    const { line, port: { name }, doubts } = this.#parts;
    const { refused: reason, detail = "" } = refusal;
    this.#hasHole = true;
    // What comes behind it may mean something else without it.
    if (reason === "unknown-kind") return line.fail("wrong-version", detail);
    if (["gap", "fork"].includes(reason) && doubts.of(chain)) return;
    const isCut = this.#parts.cursor !== undefined && BEFORE.has(reason);
    if (isCut || reason === "gap" || reason === "missing-parent") {
      this.isMissing = true;
    }
    // A log that was set back may have given its positions to other records: vectors show who is wrong.
    if (isCut) return;
    line.tell({
      tell: "incident",
      name,
      kind: "bad-record",
      message: `The server sent a record that is refused here: ${reason}`,
      details: { chain, number, reason, detail },
    });
    if (isForgery(refusal)) {
      line.fail("bad-message", `A record was refused: ${reason}`);
    }
  }

  /** The channel ends: frees what is half received. */
  end(): void {
    this.#inbox.end();
  }
}

/** How many commits of a vector are not here. */
export function lackingOf(port: RepositoryPort, vector: VersionVector): number {
  let lacking = 0;
  for (const [chain, count] of vector) {
    lacking += Math.max(0, count - port.lengthOf(chain));
  }
  return lacking;
}
