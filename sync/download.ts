/**
 * The client's way down: what the server sends, in which order it took that, and
 * up to which place all of it is durable here.
 *
 * Architecture invariant: a place is kept only when everything before it can
 * not be lost any more (law 3); otherwise a crash would leave a hole.
 */

import type { RepositoryPort } from "../repo/port.ts";
import type { VersionVector } from "../repo/commit/version_vector.ts";
import type { Upload } from "./upload.ts";
import type { PartBudget } from "./window.ts";
import type { Doubts } from "./doubts.ts";
import { Inbox, type Intake, isForgery } from "./inbox.ts";
import type { Line } from "./line.ts";
import type { MessageOf, WireRecord } from "./message.ts";
import { orderAfter } from "../repo/log/order.ts";
import { equalBytes } from "../src/base/bytes.ts";
import type { Place } from "./frame_fields.ts";
import { type Progress, unnamed } from "./progress.ts";

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
  readonly place: Place | undefined;
}

/** Records on their way down. */
export class Download {
  readonly #parts: DownloadParts;
  readonly #inbox: Inbox;
  /** Places that wait for the records before them. */
  #places: { sequence: number; place: Place }[] = [];
  #place: Place | undefined;
  /** How far the order was told. */
  #told: Place | undefined;
  /** Is it told flush by flush? Until everything there was has come, the server's word is taken for it. */
  #isFollowed: boolean;
  /** Was something refused before the places that come, or is the order another one? Nobody goes on from these. */
  #hasHole = false;
  /** Does the order not follow? */
  #isForked = false;
  #durable = 0;
  #done = 0;
  /** Was something refused that a fresh start by vectors may bring? */
  isMissing = false;

  constructor(parts: DownloadParts) {
    const { port, budget, up, line, place } = parts;
    this.#parts = parts;
    this.#place = this.#told = place;
    this.#isFollowed = place !== undefined;
    this.#inbox = new Inbox({
      port,
      budget,
      noteHas: (chain, count) => up.outbox.noteHas(chain, count),
      noteCredential: (bytes) => up.noteCredential(bytes),
      release: (bytes) => line.receiving.release(bytes),
    });
  }

  /** Everything of the server's log before it is durable here. */
  get place(): Place | undefined {
    return this.#place;
  }

  /** How far the order was told, and what it is there. */
  get told(): Place | undefined {
    return this.#told;
  }

  /** Does the order not follow from what was told before? */
  get isForked(): boolean {
    return this.#isForked;
  }

  /** Is everything that came durable here? */
  get isQuiet(): boolean {
    return this.#inbox.isIdle;
  }

  /** Takes records; true when there were new commits. */
  records(
    { records, progress }: MessageOf<"records">,
    frameBytes: number,
  ): boolean {
    const { monotonicMs } = this.#parts.line.moment;
    const isNew = this.#taken(
      this.#inbox.records(records, frameBytes, monotonicMs),
    );
    this.#reach(progress, records);
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

  /** Everything that there was has come. */
  live({ progress }: MessageOf<"live">): void {
    this.#reach(progress, []);
    this.#isFollowed = this.#told !== undefined;
  }

  /** Everything before a place has come. */
  #reach(
    progress: Progress | undefined,
    records: readonly WireRecord[],
  ): void {
    if (progress === undefined) return;
    let place: Place | undefined;
    try {
      place = this.#follow(progress, records);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return this.#parts.line.fail("bad-message", error.message);
    }
    if (place === undefined) return;
    const sequence = this.#inbox.last;
    if (this.#places.at(-1)?.sequence === sequence) this.#places.pop();
    this.#places.push({ sequence, place });
    this.settle();
  }

  /** Where the order stands by what is told of it; `undefined` where the server says otherwise. */
  #follow(
    { flushes, place }: Progress,
    records: readonly WireRecord[],
  ): Place | undefined {
    const { line, port: { name } } = this.#parts;
    if (this.#isForked) return undefined;
    if (this.#isFollowed) {
      let { order } = this.#told!;
      for (const flush of unnamed(flushes, records)) {
        order = orderAfter(order, flush);
      }
      if (!equalBytes(order, place.order)) {
        this.#isForked = this.#hasHole = true;
        line.tell({
          tell: "incident",
          name,
          kind: "server-forked",
          message:
            "The server's order does not follow from what it told before",
          details: { position: place.position },
        });
        return undefined;
      }
    }
    return this.#told = place;
  }

  /** Looks what is durable now. */
  settle(): void {
    this.#durable = this.#inbox.acknowledge()?.sequence ?? this.#durable;
    while (this.#places.length > 0) {
      const { sequence, place } = this.#places[0]!;
      if (sequence > this.#durable) return;
      if (!this.#hasHole) this.#place = place;
      this.#places.shift();
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
    const isForged = isForgery(refusal);
    const isCut = this.#parts.place !== undefined && !isForged;
    this.isMissing ||= isCut || ["gap", "missing-parent"].includes(reason);
    // Another life of the log may have had other records, or credentials, before that place: vectors show who is wrong.
    if (isCut) return;
    line.tell({
      tell: "incident",
      name,
      kind: "bad-record",
      message: `The server sent a record that is refused here: ${reason}`,
      details: { chain, number, reason, detail },
    });
    if (isForged) {
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
