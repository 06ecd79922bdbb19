/**
 * What was written here, step by step, to take it back and to do it again.
 *
 * It remembers what own transactions did as marks. An undo writes their
 * inverse, as far as nobody else changed the same since; what it writes is
 * heard likewise, and is the step to redo.
 *
 * Steps are kept within bounds: no more of them, no more marks and no more
 * characters than the limits say; the oldest are forgotten first.
 *
 * Architecture invariant: an undo writes what its user could write: rules are
 * asked, and others see one more commit.
 */

import "../storage/memory_storage.ts";
import { DatabaseError } from "../base/errors.ts";
import { compareStamps, type Hlc, type Stamp } from "../base/hlc.ts";
import { limits } from "../base/limits.ts";
import type { ItemName, Noted } from "../../repo/mod.ts";
import { isOneOf } from "./items.ts";
import "./repository.ts";
import "./repository_sync.ts";
import {
  Inversion,
  MarkNames,
  type UndoParts,
  type UndoResult,
} from "./undo_apply.ts";
import {
  type FieldMark,
  type Mark,
  marksOf,
  plainStamp,
  slotOf,
} from "./undo_marks.ts";
import { Write } from "./write.ts";
import { decodeSteps, encodeSteps } from "./undo_file.ts";

// As in online.ts.
export class UndoHistory {
  readonly #parts: UndoParts;
  readonly #changes: () => void;
  readonly #done = new StepList();
  readonly #undone = new StepList();
  /** Resolves when what was kept is known. */
  readonly ready: Promise<void>;
  /** Where the step goes that is being written; the steps to undo, as a rule. */
  #target: StepList | undefined;
  /** The newest own commit that the steps know of. */
  #upTo: Stamp | undefined;
  #groups = 0;
  /** The step that later writes may still join. */
  #open: Step | undefined;
  #cancelSave: (() => void) | undefined;
  #saving: Promise<void>;
  /** Loads and saves that are under way. */
  #saves = 1;

  constructor(
    parts: UndoParts,
    changes: () => void,
    before: Iterable<ChainEnd>,
  ) {
    const upTo = this.#upTo = newestOwn(before, parts.replica);
    this.#parts = parts;
    this.#changes = changes;
    this.#saving = this.ready = this.#load(upTo).finally(() => this.#saves--);
    parts.replica.onRedacted((items) => this.#forget(isOneOf(items)));
  }

  get canUndo(): boolean {
    return this.#done.size > 0;
  }

  get canRedo(): boolean {
    return this.#undone.size > 0;
  }

  undo(): Write<UndoResult> | undefined {
    return this.#take(this.#done, this.#undone);
  }

  /** Does again what was undone last. */
  redo(): Write<UndoResult> | undefined {
    return this.#take(this.#undone, this.#done);
  }

  /** What comes now is one step. */
  begin(): void {
    if (this.#groups++ === 0) this.#open = undefined;
  }

  /** What was one step is at its end. */
  end(): void {
    if (--this.#groups === 0) this.#open = undefined;
  }

  clear(): void {
    this.#done.clear();
    this.#undone.clear();
    this.#open = undefined;
    this.#changed();
  }

  /** Takes what an own transaction did. */
  note(notes: readonly Noted[], origin: Stamp): void {
    const stamp = this.#upTo = plainStamp(origin)!;
    if (notes.length > limits.undoMarksMax) return this.clear();
    const marks = notes.flatMap((note) => marksOf(note, stamp));
    if (marks.length === 0) return;
    if (this.#target !== undefined) this.#target.push(marks, 0);
    else {
      const now = this.#parts.world.monotonic();
      const open = this.#open;
      const isJoined = open !== undefined && this.#done.last === open &&
        (this.#groups > 0 || isTyping(open, marks, now));
      if (isJoined) this.#done.join(marks, now);
      else this.#open = this.#done.push(marks, now);
      this.#undone.clear();
    }
    this.#changed();
  }

  /** Nobody takes back what is erased. */
  async #forget(isErased: (item: ItemName) => boolean): Promise<void> {
    await this.ready;
    this.#done.drop(isErased);
    this.#undone.drop(isErased);
    this.#open = undefined;
    this.#changed();
    await this.save();
  }

  #take(from: StepList, to: StepList): Write<UndoResult> | undefined {
    const { replica, arrivals } = this.#parts;
    replica.check();
    const { voided } = replica.loaded;
    this.#open = undefined;
    const isKept = (mark: Mark) => !voided.isRefused(mark.stamp);
    let marks: readonly Mark[] = [];
    while (from.size > 0 && marks.length === 0) {
      marks = from.last!.marks.filter(isKept);
      if (marks.length === 0) from.pop(); // The server refused all of it.
    }
    if (marks.length === 0) return undefined;
    const names = new MarkNames([
      ...this.#done.marks(),
      ...this.#undone.marks(),
    ]);
    this.#target = to;
    try {
      const done = replica.transact((tx) => {
        const stampOf = (stamp: Stamp) => voided.stampOf(stamp);
        const { schemas, ids } = this.#parts;
        const tableOf = (collection: string) => replica.state.table(collection);
        return new Inversion(tx, { schemas, tableOf, ids, stampOf, names })
          .run(marks);
      });
      from.pop();
      return new Write(done.result, done, arrivals);
    } catch (error) {
      names.restore();
      // Nobody shall be stuck before a step that can never be undone.
      if (error instanceof DatabaseError && isHopeless(error)) from.pop();
      throw error;
    } finally {
      this.#target = undefined;
      this.#changed();
    }
  }

  #changed(): void {
    this.#saveSoon();
    this.#changes();
  }

  async #load(upTo: Stamp | undefined): Promise<void> {
    const { file, replica } = this.#parts;
    const bytes = await file?.read().catch(() => undefined);
    const kept = bytes && decodeSteps(bytes, replica.loaded.genesisId);
    if (kept === undefined) return;
    // Who wrote after it may have taken back what it holds: the log knows, and it does not.
    if (isLater(upTo, kept.upTo)) return;
    if (this.#done.size === 0) this.#undone.begin(kept.undone);
    this.#done.begin(kept.done);
    this.#changed();
  }

  #saveSoon(): void {
    if (this.#parts.file === undefined) return;
    this.#cancelSave ??= this.#parts.world.after(
      limits.undoSaveMs,
      () => void this.save(),
    );
  }

  /** Writes the steps down, if they changed since; resolves when that is done. It never fails. */
  save(): Promise<void> {
    if (this.#cancelSave === undefined) return this.#saving;
    this.#cancelSave();
    this.#cancelSave = undefined;
    const write = this.#saves === 0
      ? this.#write()
      : this.#saving.then(() => this.#write());
    this.#saves++;
    this.#saving = write.catch(() => {}) // Then a reload forgets some steps.
      .finally(() => this.#saves--);
    return this.#saving;
  }

  async #write(): Promise<void> {
    const { file, replica } = this.#parts;
    const done = this.#done.all();
    const undone = this.#undone.all();
    const steps = { upTo: this.#upTo, done, undone };
    const bytes = encodeSteps(steps, replica.loaded.genesisId);
    // A step whose commit was lost would take back what nobody did. What a tab says to the owner of the files stays in
    // order, and its page may be gone before an answer.
    const isTab = replica.device.outgoing !== undefined;
    if (!isTab) await replica.durable();
    await file?.write(bytes);
  }
}

interface ChainEnd {
  readonly name: string;
  readonly last: Hlc;
}

/** The stamp of the newest commit in these chains that this device signed. */
function newestOwn(
  chains: Iterable<ChainEnd>,
  { device: { keys } }: UndoParts["replica"],
): Stamp | undefined {
  let newest: Stamp | undefined;
  for (const { name: chain, last: { wall, count } } of chains) {
    const stamp = { wall, count, chain };
    if (keys.has(chain.slice(0, 32)) && isLater(stamp, newest)) newest = stamp;
  }
  return newest;
}

function isLater(a: Stamp | undefined, b: Stamp | undefined): boolean {
  return a !== undefined && (b === undefined || compareStamps(a, b) > 0);
}

/** Would it fail the next time, too? */
function isHopeless({ code }: DatabaseError): boolean {
  return code === "denied" || code === "constraint" ||
    code === "value-too-large";
}

/** Is this one more letter in the field that was written last? */
function isTyping(open: Step, marks: readonly Mark[], now: number): boolean {
  return now - open.at < limits.undoTypingMs &&
    now - open.from < limits.undoTypingMsMax &&
    isSameSlot([...open.marks, ...marks]);
}

/** What is undone at once. */
interface Step {
  readonly marks: Mark[];
  readonly from: number;
  /** When it was written last, on the world's steady clock. */
  at: number;
  chars: number;
}

/** Marks that are looked through for one to be joined with. */
const LOOK_BACK = 32;
/** What a mark takes besides its texts, roughly. */
const MARK_CHARS = 100;

class StepList {
  #steps: Step[] = [];

  get size(): number {
    return this.#steps.length;
  }

  get last(): Step | undefined {
    return this.#steps.at(-1);
  }

  *marks(): Generator<Mark> {
    for (const { marks } of this.#steps) yield* marks;
  }

  all(): readonly (readonly Mark[])[] {
    return this.#steps.map(({ marks }) => marks);
  }

  push(marks: readonly Mark[], at: number): Step {
    const step: Step = { marks: [], from: at, at, chars: 0 };
    this.#steps.push(step);
    this.join(marks, at);
    return step;
  }

  join(marks: readonly Mark[], at: number): void {
    const step = this.last!;
    step.at = at;
    for (const mark of marks) {
      if (!isAbsorbed(step, mark)) step.marks.push(mark);
    }
    step.chars = charsOf(step.marks);
    this.#trim();
  }

  begin(older: readonly (readonly Mark[])[]): void {
    const steps = older.map((marks) => ({
      marks: [...marks],
      from: -Infinity,
      at: -Infinity,
      chars: charsOf(marks),
    }));
    this.#steps.unshift(...steps);
    this.#trim();
  }

  pop(): void {
    this.#steps.pop();
  }

  clear(): void {
    this.#steps.length = 0;
  }

  /** Forgets what is said of some items. */
  drop(isErased: (item: ItemName) => boolean): void {
    const left = this.all().map((marks) =>
      marks.filter((mark) => !isErased(mark))
    );
    this.clear();
    this.begin(left.filter((marks) => marks.length > 0));
  }

  #trim(): void {
    let [marks, chars, from] = [0, 0, this.#steps.length];
    while (from > 0 && this.#steps.length - from < limits.undoStepsMax) {
      const step = this.#steps[from - 1]!;
      marks += step.marks.length;
      chars += step.chars;
      if (marks > limits.undoMarksMax || chars > limits.undoCharsMax) break;
      from--;
    }
    this.#steps.splice(0, from);
  }
}

/**
 * Goes on from a mark of the same step: what was before that one is before both,
 * and whose item goes needs no more.
 */
function isAbsorbed({ marks }: Step, mark: Mark): boolean {
  const end = Math.max(0, marks.length - LOOK_BACK);
  for (let i = marks.length - 1; i >= end; i--) {
    const old = marks[i]!;
    if (!isSameItem(old, mark)) continue;
    if (old.what === "create" && "field" in mark) return true;
    if (!isSameSlot([old, mark])) continue;
    if (old.what === "edit" && mark.what === "edit") {
      if (old.after !== mark.before) return false;
      old.after = mark.after;
    } else if (old.what === "set" && mark.what === "set") {
      if (mark.was === undefined || compareStamps(old.stamp, mark.was) !== 0) {
        return false;
      }
      old.stamp = mark.stamp;
    } else return false;
    return true;
  }
  return false;
}

/** Are they all of one register or text of one item? */
function isSameSlot(marks: readonly Mark[]): boolean {
  const [first] = marks;
  if (!isWhole(first)) return false;
  return marks.every((mark) =>
    isWhole(mark) && isSameItem(mark, first) && slotOf(mark) === slotOf(first)
  );
}

function isSameItem(a: Mark, b: Mark): boolean {
  return a.id === b.id && a.generation === b.generation &&
    a.collection === b.collection;
}

function isWhole(mark: Mark | undefined): mark is FieldMark {
  return mark?.what === "set" || mark?.what === "edit";
}

function charsOf(marks: readonly Mark[]): number {
  let chars = 0;
  for (const mark of marks) chars += MARK_CHARS + charsIn(Object.values(mark));
  return chars;
}

function charsIn(value: unknown): number {
  if (typeof value === "string" || value instanceof Uint8Array) {
    return value.length;
  }
  if (typeof value !== "object" || value === null) return 8;
  let chars = 8;
  for (const part of Object.values(value)) chars += charsIn(part);
  return chars;
}
