/**
 * Steps, in order and within bounds: no more of them, no more marks and no more
 * characters than the limits say; the oldest are forgotten first.
 *
 * @module
 */

import { compareStamps } from "../base/hlc.ts";
import { limits } from "../base/limits.ts";
import { type FieldMark, type Mark, slotOf } from "./undo_marks.ts";

/** What is undone at once. */
export interface Step {
  readonly marks: Mark[];
  /** When it began. */
  readonly from: number;
  /** When it was written last, on the world's steady clock. */
  at: number;
  chars: number;
}

/** Marks that are looked through for one to be joined with. */
const LOOK_BACK = 32;
/** What a mark takes besides its texts, roughly. */
const MARK_CHARS = 100;

/** Steps, the newest last. */
export class StepList {
  #steps: Step[] = [];

  /** How many there are. */
  get size(): number {
    return this.#steps.length;
  }

  /** The newest one. */
  get last(): Step | undefined {
    return this.#steps.at(-1);
  }

  /** All of their marks. */
  *marks(): Generator<Mark> {
    for (const { marks } of this.#steps) yield* marks;
  }

  /** The marks of each. */
  all(): readonly (readonly Mark[])[] {
    return this.#steps.map(({ marks }) => marks);
  }

  /** Adds one. */
  push(marks: readonly Mark[], at: number): Step {
    const step: Step = { marks: [], from: at, at, chars: 0 };
    this.#steps.push(step);
    this.join(marks, at);
    return step;
  }

  /** Adds marks to the newest one. */
  join(marks: readonly Mark[], at: number): void {
    const step = this.last!;
    step.at = at;
    for (const mark of marks) {
      if (!isAbsorbed(step, mark)) step.marks.push(mark);
    }
    step.chars = charsOf(step.marks);
    this.#trim();
  }

  /** Puts older ones before all others. */
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

  /** Takes the newest one away. */
  pop(): void {
    this.#steps.pop();
  }

  /** Forgets all. */
  clear(): void {
    this.#steps.length = 0;
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
export function isSameSlot(marks: readonly Mark[]): boolean {
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
