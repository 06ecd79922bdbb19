/**
 * A text field under an editor: what is typed goes into a document at once and
 * into the repository a moment later, what others type comes into the document.
 *
 * Architecture invariant: the document is a working copy. What the repository
 * says counts: where the two differ in more than what was not written yet, the
 * document is made anew.
 */

import type * as Y from "yjs";
import type { Collection } from "../db/collection.ts";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { Schema, UpdateInput } from "../schema/schema.ts";
import { emptyText, type TextState } from "../schema/text_state.ts";
import { engine } from "./engine.ts";
import { applySplices, type Splice, splicesOf } from "./splices.ts";
import { WorkingText } from "./working_text.ts";

/** Which text. */
export interface TextPlace<S extends Schema = Schema> {
  readonly collection: Collection<S>;
  /** The item. */
  readonly id: string;
  /** One of its text fields. */
  readonly field: keyof S["fields"] & string;
}

/** Runs a task after a delay; the result cancels it. */
export type After = (delayMs: number, task: () => void) => () => void;

export interface LiveTextParts<S extends Schema> extends TextPlace<S> {
  readonly after: After;
  /** Hands over, by {@linkcode LiveText.edit}, what was typed and not handed over yet. */
  readonly pull?: () => void;
  /** Typing is written when it pauses for so long. */
  readonly delayMs: number;
  /** Is somebody else here? Then typing is shown every `delayMs`, pause or not. */
  readonly isWatched: () => boolean;
  /** Others changed the text, or a change of ours was taken back; places are meant as before all of them. */
  readonly onChange: (splices: readonly Splice[]) => void;
  /** A write failed: the text is again as the repository has it. */
  readonly onError: (error: unknown) => void;
}

/** Whoever types on without a pause is written after so many delays. */
const delaysMax = 4;

export class LiveText<S extends Schema> {
  readonly #parts: LiveTextParts<S>;
  #working: WorkingText;
  #pieces = 0;
  #cancelPause: (() => void) | undefined;
  #cancelLast: (() => void) | undefined;
  #isPaused = false;
  #isSaving = false;
  readonly #stop: () => void;

  constructor(parts: LiveTextParts<S>) {
    this.#parts = parts;
    checkPlace(parts);
    this.#working = this.#begin();
    this.#stop = parts.collection.store(parts.id).subscribe(() => this.#take());
  }

  get text(): string {
    return this.#working.text;
  }

  /** The working copy: for places that move with the text. Another one after each {@linkcode onChange} at most. */
  get doc(): Y.Doc {
    return this.#working.doc;
  }

  #state(): TextState | undefined {
    const { collection, id, field } = this.#parts;
    return collection.textOf(id, field);
  }

  /** A document of the text as the repository has it, under a client that nobody has typed under. */
  #begin(): WorkingText {
    return new WorkingText(this.#state() ?? emptyText);
  }

  #end(): void {
    this.#working.release();
    this.#working.doc.destroy();
  }

  /** Takes what was typed here; places are meant as before all of them. `after` is the text then, where it is known. */
  edit(splices: readonly Splice[], after?: string): void {
    if (splices.length === 0) return;
    const pieces = this.#merge(splices);
    this.#pieces += pieces.length;
    if (this.#pieces > limits.textRunsMax) {
      this.flush();
      this.#pieces = pieces.length;
    }
    this.#working.splice(pieces, after);
  }

  /** Somebody types: it is written in a moment. Each commit costs a seal, so few take many keys. */
  wait(): void {
    const { after, delayMs, isWatched } = this.#parts;
    const write = () => this.flush();
    const lastMs = isWatched() ? delayMs : delaysMax * delayMs;
    this.#cancelLast ??= after(lastMs, write);
    this.#cancelPause?.();
    this.#cancelPause = after(delayMs, write);
  }

  /** One change takes so many pieces only; more of them become one that holds them all. */
  #merge(splices: readonly Splice[]): readonly Splice[] {
    if (splices.length <= limits.textRunsMax) return splices;
    const { text } = this;
    const after = applySplices(text, splices);
    const [first, last] = [splices[0]!, splices.at(-1)!];
    const tail = text.length - last.at - last.delete;
    const insert = after.slice(first.at, after.length - tail);
    const length = text.length - tail - first.at;
    return [{ at: first.at, delete: length, insert }];
  }

  flush(): void {
    this.#parts.pull?.();
    this.#cancelPause?.();
    this.#cancelLast?.();
    this.#cancelPause = this.#cancelLast = undefined;
    const working = this.#working;
    if (working.isGiven) return;
    this.#pieces = 0;
    const { collection, id, field } = this.#parts;
    this.#isSaving = true;
    try {
      const change = working.give(this.#state());
      // A schema's text field takes a change of its text.
      collection.update(id, { [field]: change } as UpdateInput<S>);
    } catch (error) {
      // A closed repository shows no text: what was typed stays to be seen.
      const isClosed = error instanceof DatabaseError &&
        error.code === "closed";
      const { text } = this;
      if (isClosed) working.give();
      else this.#startOver();
      this.#tell(text);
      this.#parts.onError(error);
    } finally {
      this.#isSaving = false;
    }
  }

  /** Leaves the text alone, whatever others type, until {@linkcode resume}. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#take();
  }

  #take(): void {
    if (this.#isPaused || this.#isSaving) return;
    this.#parts.pull?.();
    const working = this.#working;
    const state = this.#state();
    if (state === undefined || state === working.state) return;
    // What was written was taken back, or somebody else types under this name.
    const before = this.text;
    const isLost = working.given !== state.endOf(working.doc.clientID);
    if (isLost || !working.take(state, engine.show)) this.#startOver();
    this.#tell(before);
  }

  /** The text as the repository has it. */
  #startOver(): void {
    this.flush();
    this.#end();
    this.#working = this.#begin();
  }

  #tell(before: string): void {
    const splices = splicesOf(before, this.text);
    if (splices.length > 0) this.#parts.onChange(splices);
  }

  /** Writes what was typed, and lets go. */
  close(): void {
    this.#stop();
    this.flush();
    this.#end();
  }
}

/** Stops at what is no text field of a collection. */
export function checkPlace<S extends Schema>(
  { collection, field }: Partial<TextPlace<S>>,
): void {
  const schema = collection?.schema;
  if (schema === undefined) {
    throw new DatabaseError(
      "invalid-option",
      "Cannot bind a text: name its place by `collection`, `id` and `field`",
    );
  }
  const { kind } = schema.plan.find(({ name }) => name === field) ?? {};
  if (kind === "text") return;
  throw new DatabaseError(
    "invalid-option",
    `Cannot bind ${schema.name}.${field}: it is not a field made with text()`,
  );
}
