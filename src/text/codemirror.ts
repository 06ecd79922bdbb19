/**
 * CodeMirror 6 on a text field: an extension that merges what is typed with what
 * others type, and shows where they are.
 *
 * An entry point of its own, so that an app without CodeMirror needs none.
 *
 * @module
 */

import {
  Annotation,
  type Extension,
  type Range,
  type Text,
} from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from "@codemirror/view";
import { checkOptions } from "../base/known_options.ts";
import type { Schema } from "../schema/schema.ts";
import type { TextCursor } from "./cursors.ts";
import { checkPlace, LiveText, type TextPlace } from "./live_text.ts";
import { type Splice, splicesOf } from "./splices.ts";
import {
  type BindOptions,
  bindOptions,
  DELAY_MS,
  lastEvents,
  listen,
  rethrow,
  timerOf,
  windowOf,
} from "./textarea.ts";

/** Marks what others did: it is not typed here. */
const fromOthers = Annotation.define<boolean>();

/** An extension that binds an editor to a text field. */
export function codemirror<S extends Schema>(
  place: TextPlace<S> & BindOptions,
): Extension {
  checkPlace(checkOptions(place, bindOptions));
  const plugin = ViewPlugin.define((view) => new Bound(view, place), {
    decorations: (bound) => bound.decorations,
  });
  return place.cursors === undefined ? plugin : [plugin, theme];
}

class Bound<S extends Schema> {
  decorations: DecorationSet = Decoration.none;
  readonly #view: EditorView;
  readonly #place: TextPlace<S> & BindOptions;
  readonly #live: LiveText<S>;
  readonly #off: readonly (() => void)[];
  #isOpen = true;
  /** What the editor shows, where it is known to be the text. */
  #alike: Text | undefined;

  constructor(view: EditorView, place: TextPlace<S> & BindOptions) {
    this.#view = view;
    this.#place = place;
    const { delayMs = DELAY_MS, onError = rethrow, cursors } = place;
    const page = windowOf(view.dom);
    this.#live = new LiveText({
      ...place,
      delayMs,
      isWatched: () => cursors?.hasOthers ?? false,
      onError,
      after: timerOf(page),
      onChange: () => {
        this.#alike = undefined;
        this.#later();
      },
    });
    this.#off = [
      ...lastEvents.map((type) => listen(page, type, this.#flush)),
      ...cursors === undefined ? [] : [cursors.subscribe(() => this.#later())],
    ];
    this.#later();
  }

  readonly #flush = () => this.#live.flush();

  /** What others did may be heard while the editor is in the middle of an update. */
  #later(): void {
    queueMicrotask(() => {
      if (this.#isOpen) this.#show();
    });
  }

  #show(): void {
    const { doc } = this.#view.state;
    const changes = splicesOf(doc.toString(), linesOf(this.#live.text))
      .map(({ at, delete: length, insert }) => ({
        from: at,
        to: at + length,
        insert,
      }));
    this.#view.dispatch({ changes, annotations: fromOthers.of(true) });
  }

  update(update: ViewUpdate): void {
    const { transactions } = update;
    const isTyped = update.docChanged &&
      transactions.some((one) => !one.annotation(fromOthers));
    if (isTyped) {
      const splices = this.#splicesOf(update);
      this.#alike = update.state.doc;
      this.#live.edit(splices);
      this.#live.wait();
    }
    if (isTyped || update.selectionSet || update.focusChanged) this.#tell();
    const isLeft = update.focusChanged && !this.#view.hasFocus;
    // Not in the middle of an update: what fails is shown by another one.
    if (isLeft) queueMicrotask(this.#flush);
    this.decorations = this.#decorate();
  }

  /** What was typed; the difference where editor and text were not alike before. */
  #splicesOf({ changes, startState, state }: ViewUpdate): Splice[] {
    if (this.#alike !== startState.doc) {
      const { text } = this.#live;
      if (text !== startState.doc.toString()) {
        return splicesOf(text, state.doc.toString());
      }
    }
    const splices: Splice[] = [];
    changes.iterChanges((from, to, _from, _to, inserted) => {
      splices.push({
        at: from,
        delete: to - from,
        insert: inserted.toString(),
      });
    });
    return splices;
  }

  #tell(): void {
    const { cursors } = this.#place;
    if (cursors === undefined) return;
    const { anchor, head } = this.#view.state.selection.main;
    if (this.#view.hasFocus) {
      cursors.set(this.#place, this.#live.doc, anchor, head);
    } else cursors.clear();
  }

  #decorate(): DecorationSet {
    const { cursors } = this.#place;
    const { length } = this.#view.state.doc;
    const ranges: Range<Decoration>[] = [];
    for (const cursor of cursors?.of(this.#place, this.#live.doc) ?? []) {
      const [from, to] = [cursor.anchor, cursor.head].sort((a, b) => a - b);
      if (from === undefined || to === undefined || to > length) continue;
      if (from < to) ranges.push(selectionOf(cursor).range(from, to));
      ranges.push(caretOf(cursor).range(cursor.head));
    }
    return Decoration.set(ranges, true);
  }

  destroy(): void {
    this.#isOpen = false;
    for (const stop of this.#off) stop();
    this.#place.cursors?.clear();
    this.#live.close();
  }
}

/** Lines as the editor ends them. */
function linesOf(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

function selectionOf({ color }: TextCursor): Decoration {
  return Decoration.mark({
    attributes: { style: `background-color: ${color}44` },
  });
}

function caretOf(cursor: TextCursor): Decoration {
  return Decoration.widget({ widget: new Caret(cursor), side: 1 });
}

class Caret extends WidgetType {
  readonly #cursor: TextCursor;

  constructor(cursor: TextCursor) {
    super();
    this.#cursor = cursor;
  }

  override eq(other: Caret): boolean {
    const [a, b] = [this.#cursor, other.#cursor];
    return a.name === b.name && a.color === b.color && a.peer === b.peer;
  }

  override toDOM(view: EditorView): ReturnType<WidgetType["toDOM"]> {
    const { name, color } = this.#cursor;
    const caret = view.dom.ownerDocument.createElement("span");
    caret.className = "sheaf-caret";
    caret.style.borderColor = color;
    caret.setAttribute("aria-hidden", "true");
    const label = view.dom.ownerDocument.createElement("span");
    label.className = "sheaf-caret-name";
    label.style.backgroundColor = color;
    label.textContent = name;
    caret.append(label);
    return caret;
  }
}

const theme: Extension = EditorView.theme({
  // Room for a name above the first line.
  ".cm-content": { paddingTop: "1.4em" },
  ".sheaf-caret": {
    position: "relative",
    borderLeft: "2px solid",
    marginLeft: "-1px",
    marginRight: "-1px",
  },
  ".sheaf-caret-name": {
    position: "absolute",
    top: "-1.2em",
    left: "-2px",
    padding: "0 4px",
    borderRadius: "3px 3px 3px 0",
    color: "white",
    font: "600 11px/1.3 system-ui, sans-serif",
    whiteSpace: "nowrap",
    pointerEvents: "none",
    userSelect: "none",
  },
});
