/**
 * A text field under an editor: what is typed goes into a document at once and
 * into the repository a moment later, what others type comes into the document.
 *
 * Architecture invariant: the document is a working copy. What the repository
 * says counts: where the two differ in more than what was not written yet, the
 * document is made anew.
 *
 * @module
 */

import * as Y from "yjs";
import type { Collection } from "../db/collection.ts";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { Schema, UpdateInput } from "../schema/schema.ts";
import { emptyText, joinTexts, type TextState } from "../schema/text_state.ts";
import { engine, spliceDoc } from "./engine.ts";
import { isTooMuch } from "./effort.ts";
import { applySplices, type Splice, splicesOf } from "./splices.ts";
import { changeOf, docOf, rootOf, updateOf } from "./yjs.ts";

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

/** What a live text tells and asks. */
export interface LiveTextParts<S extends Schema> extends TextPlace<S> {
  readonly after: After;
  /** Typing is gathered for so long. */
  readonly delayMs: number;
  /** Others changed the text, or a change of ours was taken back; places are meant as before all of them. */
  readonly onChange: (splices: readonly Splice[]) => void;
  /** A write failed: the text is again as the repository has it. */
  readonly onError: (error: unknown) => void;
}

const OWN = Symbol("typed here");

/** One text and its working copy. */
export class LiveText<S extends Schema> {
  readonly #parts: LiveTextParts<S>;
  #doc: Y.Doc = new Y.Doc();
  #text = "";
  /** What was typed and not written yet. */
  #unsaved: TextState = emptyText;
  #pieces = 0;
  /** Units of this document's own client that were written. */
  #written = 0;
  #taken: TextState | undefined;
  #cancel: (() => void) | undefined;
  #isPaused = false;
  #isSaving = false;
  readonly #stop: () => void;

  constructor(parts: LiveTextParts<S>) {
    this.#parts = parts;
    checkField(parts);
    this.#begin(this.#state() ?? emptyText);
    this.#stop = parts.collection.store(parts.id).subscribe(() => this.#take());
  }

  /** The text with all that was typed. */
  get text(): string {
    return this.#text;
  }

  /** The working copy: for places that move with the text. Another one after each {@linkcode onChange} at most. */
  get doc(): Y.Doc {
    return this.#doc;
  }

  #state(): TextState | undefined {
    const { collection, id, field } = this.#parts;
    return collection.textOf(id, field);
  }

  /** A document of a state, under a client that nobody has typed under. */
  #begin(state: TextState): void {
    this.#doc.destroy();
    this.#doc = docOf(state);
    this.#text = rootOf(this.#doc).toString();
    this.#unsaved = emptyText;
    this.#pieces = 0;
    this.#written = 0;
    this.#taken = state;
    this.#doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin !== OWN) return;
      this.#unsaved = joinTexts(this.#unsaved, changeOf(update));
    });
  }

  /** Takes what was typed here; places are meant as before all of them. */
  edit(splices: readonly Splice[]): void {
    if (splices.length === 0) return;
    const pieces = this.#merge(splices);
    this.#pieces += pieces.length;
    if (this.#pieces > limits.textRunsMax) {
      this.flush();
      this.#pieces = pieces.length;
    }
    spliceDoc(this.#doc, pieces, OWN);
    this.#text = applySplices(this.#text, splices);
    this.#cancel ??= this.#parts.after(this.#parts.delayMs, () => this.flush());
  }

  /** One change takes so many pieces only; more of them become one that holds them all. */
  #merge(splices: readonly Splice[]): readonly Splice[] {
    if (splices.length <= limits.textRunsMax) return splices;
    const after = applySplices(this.#text, splices);
    const [first, last] = [splices[0]!, splices.at(-1)!];
    const tail = this.#text.length - last.at - last.delete;
    const insert = after.slice(first.at, after.length - tail);
    const length = this.#text.length - tail - first.at;
    return [{ at: first.at, delete: length, insert }];
  }

  /** Writes what was typed now. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const change = this.#unsaved;
    if (change.clients.size === 0) return;
    this.#unsaved = emptyText;
    this.#pieces = 0;
    const { collection, id, field } = this.#parts;
    this.#written = ownUnits(this.#doc);
    this.#isSaving = true;
    try {
      // A schema's text field takes a change of its text.
      collection.update(id, { [field]: change } as UpdateInput<S>);
    } catch (error) {
      // A closed repository shows no text: what was typed stays to be seen.
      const isClosed = error instanceof DatabaseError &&
        error.code === "closed";
      if (!isClosed) this.#startOver();
      this.#parts.onError(error);
    } finally {
      this.#isSaving = false;
    }
  }

  /** Leaves the text alone, whatever others type, until {@linkcode resume}. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Takes what others typed meanwhile. */
  resume(): void {
    this.#isPaused = false;
    this.#take();
  }

  /** The repository changed. */
  #take(): void {
    const state = this.#state();
    if (this.#isPaused || state === undefined || state === this.#taken) return;
    this.#taken = state;
    if (this.#isSaving) return;
    const own = state.clients.get(this.#doc.clientID)?.runs.at(-1);
    // What was written was taken back, or somebody else types under this name.
    const isLost = this.#written !== (own ? own.clock + own.length : 0);
    if (isLost || isTooMuch(state)) return this.#startOver();
    const known = Y.decodeStateVector(Y.encodeStateVector(this.#doc));
    const before = this.#text;
    Y.applyUpdate(this.#doc, updateOf(state, known));
    this.#text = rootOf(this.#doc).toString();
    const isSaved = this.#unsaved.clients.size === 0;
    if (isSaved && this.#text !== state.show(engine)) this.#begin(state);
    this.#tell(before);
  }

  /** The text as the repository has it. */
  #startOver(): void {
    const before = this.#text;
    this.flush();
    this.#begin(this.#state() ?? emptyText);
    this.#tell(before);
  }

  #tell(before: string): void {
    const splices = splicesOf(before, this.#text);
    if (splices.length > 0) this.#parts.onChange(splices);
  }

  /** Writes what was typed, and lets go. */
  close(): void {
    this.#stop();
    this.flush();
    this.#doc.destroy();
  }
}

function checkField<S extends Schema>(
  { collection: { schema }, field }: TextPlace<S>,
): void {
  const { kind } = schema.plan.find(({ name }) => name === field) ?? {};
  if (kind === "text") return;
  throw new DatabaseError(
    "invalid-option",
    `Cannot bind ${schema.name}.${field}: it is no field made with text()`,
  );
}

/** How far the document's own client has counted. */
function ownUnits(doc: Y.Doc): number {
  return Y.getState(doc.store, doc.clientID);
}
