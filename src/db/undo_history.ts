/**
 * What was written here, step by step, to take it back and to do it again.
 *
 * It remembers what own transactions did as marks. An undo writes their
 * inverse, as far as nobody else changed the same since; what it writes is
 * heard likewise, and is the step to redo.
 *
 * Architecture invariant: an undo writes what its user could write: rules are
 * asked, and others see one more commit.
 *
 * @module
 */

// As in online.ts.
import "../storage/memory_storage.ts";
import "./repository.ts";
import "./repository_sync.ts";
import { DatabaseError } from "../base/errors.ts";
import type { Stamp } from "../base/hlc.ts";
import { limits } from "../base/limits.ts";
import type { Noted } from "../../repo/mod.ts";
import { Inversion, type UndoResult } from "./undo_apply.ts";
import { decodeSteps, encodeSteps } from "./undo_file.ts";
import { type Mark, marksOf, plainStamp } from "./undo_marks.ts";
import { MarkNames } from "./undo_names.ts";
import { isSameSlot, type Step, StepList } from "./undo_steps.ts";
import type { UndoParts } from "./undo.ts";
import { Write } from "./write.ts";

/** The steps of one repository. */
export class UndoHistory {
  readonly #parts: UndoParts;
  readonly #changes: () => void;
  readonly #done = new StepList();
  readonly #undone = new StepList();
  /** Resolves when what was kept is known. */
  readonly ready: Promise<void>;
  /** Where the step goes that is being written; the steps to undo, as a rule. */
  #target: StepList | undefined;
  #groups = 0;
  /** The step that later writes may still join. */
  #open: Step | undefined;
  #cancelSave: (() => void) | undefined;
  #saving: Promise<void>;
  /** Loads and saves that are under way. */
  #saves = 1;

  /** `changes` runs whenever steps came or went. */
  constructor(parts: UndoParts, changes: () => void) {
    this.#parts = parts;
    this.#changes = changes;
    this.#saving = this.ready = this.#load().finally(() => this.#saves--);
  }

  /** Is there something to undo? */
  get canUndo(): boolean {
    return this.#done.size > 0;
  }

  /** Is there something to redo? */
  get canRedo(): boolean {
    return this.#undone.size > 0;
  }

  /** Takes the last step back. */
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

  /** Forgets all steps. */
  clear(): void {
    this.#done.clear();
    this.#undone.clear();
    this.#open = undefined;
    this.#changed();
  }

  /** Takes what an own transaction did. */
  note(notes: readonly Noted[], origin: Stamp): void {
    if (notes.length > limits.undoMarksMax) return this.clear();
    const stamp = plainStamp(origin)!;
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

  #take(from: StepList, to: StepList): Write<UndoResult> | undefined {
    const { replica, arrivals } = this.#parts;
    replica.check();
    const { withdrawals } = replica.loaded;
    this.#open = undefined;
    const isKept = (mark: Mark) => !withdrawals.isRefused(mark.stamp);
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
        const stampOf = (stamp: Stamp) => withdrawals.stampOf(stamp);
        const { schemaOf, ids } = this.#parts;
        const tableOf = (collection: string) => replica.state.table(collection);
        return new Inversion(tx, { schemaOf, tableOf, ids, stampOf, names })
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

  async #load(): Promise<void> {
    const { file, replica } = this.#parts;
    const bytes = await file?.read().catch(() => undefined);
    const kept = bytes && decodeSteps(bytes, replica.loaded.genesisId);
    if (kept === undefined) return;
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
    const bytes = encodeSteps({ done, undone }, replica.loaded.genesisId);
    // A step whose commit was lost would take back what nobody did. What a tab says to the owner of the files stays in
    // order, and its page may be gone before an answer.
    const isTab = replica.device.outgoing !== undefined;
    if (!isTab) await replica.durable();
    await file?.write(bytes);
  }
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
