/** A textarea, or a text input, that several people write in. */

import { DatabaseError } from "../base/errors.ts";
import { checkOptions } from "../base/known_options.ts";
import type { Schema } from "../schema/schema.ts";
import type { TextCursor, TextCursors } from "./cursors.ts";
import { LiveText, type TextPlace } from "./live_text.ts";
import { type Splice, splicesOf } from "./splices.ts";

export interface TextWindow {
  setTimeout(task: () => void, delayMs: number): number;
  clearTimeout(timer: number): void;
  addEventListener(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
}

/** What is needed of a textarea: an `HTMLTextAreaElement` or `HTMLInputElement` has it. */
export interface TextElement {
  value: string;
  readonly selectionStart: number | null;
  readonly selectionEnd: number | null;
  readonly selectionDirection: string | null;
  readonly ownerDocument: { readonly defaultView: object | null };
  setSelectionRange(start: number, end: number, direction?: never): void;
  matches(selector: string): boolean;
  addEventListener(type: string, listener: () => void): void;
  removeEventListener(type: string, listener: () => void): void;
}

/** How an editor is bound. */
export interface BindOptions {
  /**
   * Typing is written when it pauses for so many milliseconds, 500 when it is not said, and after four times as many at
   * the latest. While `cursors` know of others it is written that soon after its first key, pause or not.
   */
  readonly delayMs?: number;
  /** A write failed (a rule denies it, the item is gone): the text is again as the repository has it. */
  readonly onError?: (error: unknown) => void;
  /** Shows the own cursor to others. */
  readonly cursors?: TextCursors;
}

/** How a textarea is bound. */
export interface TextareaOptions extends BindOptions {
  /** Cursors of others came, moved or went: a textarea cannot show them by itself. */
  readonly onCursors?: (cursors: readonly TextCursor[]) => void;
}

/** A bound editor. Both functions may be handed on as they are: an effect may return `bound.close`. */
export interface BoundText {
  /** The text with all that was typed. */
  readonly text: string;
  /** Writes what was typed now, not in a moment. */
  readonly flush: () => void;
  /** Writes what was typed, and lets go of the editor. */
  readonly close: () => void;
}

/** The names of options that every binding takes, and of its place. */
export const bindOptions = {
  collection: 0,
  id: 0,
  field: 0,
  delayMs: 0,
  onError: 0,
  cursors: 0,
};

const textareaOptions = { ...bindOptions, onCursors: 0 };

/** What a page hears before it may be gone. */
export const lastEvents = ["pagehide", "visibilitychange"] as const;

/** Typing that pauses for so long is written: soon for others to see. */
export const DELAY_MS = 500;

/** Binds a textarea to a text field: what is typed in it merges with what others type. */
export function bindTextarea<S extends Schema>(
  element: TextElement,
  place: TextPlace<S> & TextareaOptions,
): BoundText {
  return new BoundTextarea(element, checkOptions(place, textareaOptions));
}

class BoundTextarea<S extends Schema> implements BoundText {
  readonly #element: TextElement;
  readonly #place: TextPlace<S> & TextareaOptions;
  readonly #live: LiveText<S>;
  readonly #off: readonly (() => void)[];
  #isComposing = false;
  /** Behind what was typed and not read yet. */
  #end: number | undefined;

  constructor(element: TextElement, place: TextPlace<S> & TextareaOptions) {
    this.#element = element;
    this.#place = place;
    const { delayMs = DELAY_MS, onError = rethrow, cursors } = place;
    const page = windowOf(element);
    this.#live = new LiveText({
      ...place,
      delayMs,
      isWatched: () => cursors?.hasOthers ?? false,
      onError,
      after: timerOf(page),
      pull: () => this.#read(),
      onChange: (splices) => {
        show(element, this.#live.text, splices);
        this.#hear();
      },
    });
    element.value = this.#live.text;
    const tell = () => this.#moved();
    this.#off = [
      listen(element, "input", () => this.#typed()),
      listen(element, "compositionstart", () => this.#compose()),
      listen(element, "compositionend", () => this.#composed()),
      listen(element, "blur", () => this.#leave()),
      ...["focus", "keyup", "pointerup", "selectionchange"].map((type) =>
        listen(element, type, tell)
      ),
      ...lastEvents.map((type) => listen(page, type, this.flush)),
      ...cursors === undefined ? [] : [cursors.subscribe(() => this.#hear())],
    ];
    this.#hear();
  }

  get text(): string {
    this.#read();
    return this.#live.text;
  }

  readonly flush = (): void => this.#live.flush();

  /** Keys that nobody watches are read together: what is typed and erased again was never there. */
  #typed(): void {
    if (this.#isComposing) return;
    const { value, selectionEnd } = this.#element;
    this.#end = selectionEnd ?? value.length;
    this.#live.wait();
    if (this.#place.cursors?.hasOthers) this.#read();
  }

  #read(): void {
    if (this.#isComposing || this.#end === undefined) return;
    const { value } = this.#element;
    const splices = splicesOf(this.#live.text, value, this.#end);
    this.#end = undefined;
    this.#live.edit(splices, value);
    this.#tell();
  }

  /** The cursor may be elsewhere. */
  #moved(): void {
    if (this.#end === this.#element.selectionEnd) return;
    this.#read();
    this.#tell();
  }

  /** While a character is being composed the text must not change under it. */
  #compose(): void {
    this.#read();
    this.#isComposing = true;
    this.#live.pause();
  }

  #composed(): void {
    this.#isComposing = false;
    this.#typed();
    this.#live.resume();
  }

  #tell(): void {
    const { cursors } = this.#place;
    const { selectionStart, selectionEnd, selectionDirection } = this.#element;
    if (cursors === undefined || this.#isComposing) return;
    if (selectionStart === null || selectionEnd === null) return;
    if (!this.#element.matches(":focus")) return;
    const [anchor, head] = selectionDirection === "backward"
      ? [selectionEnd, selectionStart]
      : [selectionStart, selectionEnd];
    cursors.set(this.#place, this.#live.doc, anchor, head);
  }

  #hear(): void {
    this.#read();
    const { cursors, onCursors } = this.#place;
    if (cursors !== undefined) {
      onCursors?.(cursors.of(this.#place, this.#live.doc));
    }
  }

  #leave(): void {
    this.flush();
    this.#place.cursors?.clear();
  }

  readonly close = (): void => {
    for (const stop of this.#off) stop();
    this.flush();
    this.#place.cursors?.clear();
    this.#live.close();
  };
}

/** What nobody handles ends where a page reports errors. */
export function rethrow(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}

/** The window that an element is shown in. */
export function windowOf(element: Pick<TextElement, "ownerDocument">) {
  const page = element?.ownerDocument?.defaultView;
  if (!page) {
    throw new DatabaseError(
      "invalid-option",
      "Cannot bind: the element must be in a page, such as a textarea",
    );
  }
  return page as TextWindow; // Every window has timers and events.
}

export function timerOf(page: TextWindow) {
  return (delayMs: number, task: () => void): () => void => {
    const timer = page.setTimeout(task, delayMs);
    return () => page.clearTimeout(timer);
  };
}

export function listen(
  target: Pick<TextWindow, "addEventListener" | "removeEventListener">,
  type: string,
  listener: () => void,
): () => void {
  target.addEventListener(type, listener);
  return () => target.removeEventListener(type, listener);
}

/** Shows a text that others changed; the selection stays on its characters. */
function show(
  element: TextElement,
  text: string,
  splices: readonly Splice[],
): void {
  const { selectionStart, selectionEnd, selectionDirection } = element;
  const isFocused = element.matches(":focus");
  element.value = text;
  // Some browsers focus what gets a selection.
  if (!isFocused || selectionStart === null || selectionEnd === null) return;
  element.setSelectionRange(
    moved(selectionStart, splices),
    moved(selectionEnd, splices),
    // One that the element itself gave.
    selectionDirection as never,
  );
}

export function moved(place: number, splices: readonly Splice[]): number {
  let now = place;
  for (const { at, delete: length, insert } of splices) {
    if (at >= place) break;
    now += insert.length - Math.min(length, place - at);
  }
  return now;
}
