/**
 * The engine of text fields: Yjs puts characters in order and makes changes.
 *
 * @module
 */

import {
  emptyText,
  type TextEngine,
  type TextSplice,
  type TextState,
} from "../schema/text_state.ts";
import { splicesOf } from "./splices.ts";
import { changeOf, docOf, rootOf } from "./yjs.ts";
import type * as Y from "yjs";

/** Knows the order of characters by Yjs. */
export const engine: TextEngine = {
  show(state) {
    try {
      return rootOf(docOf(state)).toString();
    } catch {
      // Only of bytes that no door let in: what is there, in the order of its names.
      return unorderedOf(state);
    }
  },
  edit(state, change, client) {
    const doc = docOf(state);
    doc.clientID = client;
    const splices = typeof change === "string"
      ? splicesOf(rootOf(doc).toString(), change)
      : change;
    return changeBy(doc, () => spliceDoc(doc, splices));
  },
};

function unorderedOf({ clients }: TextState): string {
  const ascending = [...clients].sort(([a], [b]) => a - b);
  return ascending.flatMap(([, { runs }]) => runs.map(({ text }) => text ?? ""))
    .join("").toWellFormed();
}

/** Splices a document's text; all places are meant as before the first splice. */
export function spliceDoc(
  doc: Y.Doc,
  splices: readonly TextSplice[],
  origin?: unknown,
): void {
  doc.transact(() => {
    const root = rootOf(doc);
    for (const splice of splices.toReversed()) {
      const { at, delete: length = 0, insert = "" } = splice;
      if (length > 0) root.delete(at, length);
      if (insert !== "") root.insert(at, insert);
    }
  }, origin);
}

/** The change that `edit` makes to a document. */
function changeBy(doc: Y.Doc, edit: () => void): TextState {
  let change = emptyText;
  doc.on("update", (update) => void (change = changeOf(update)));
  edit();
  return change;
}
