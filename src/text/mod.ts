/**
 * Collaborative text: a field whose characters merge, and editors bound to it.
 *
 * Yjs is behind this door and behind no other: an app that does not import it
 * does not load it, and a replica without it still joins, stores and syncs texts.
 *
 * @module
 */

import {
  field as fields,
  strict,
  type TextField,
  textField,
} from "../schema/field.ts";
import type { TextEngine } from "../schema/text_state.ts";
import { engine } from "./engine.ts";

export type { TextChange, TextField } from "../schema/field.ts";
export type { TextSplice } from "../schema/text_state.ts";

export {
  type CursorUser,
  type TextCursor,
  type TextCursors,
  textCursors,
} from "./cursors.ts";
export type { TextPlace } from "./live_text.ts";
export {
  type BindOptions,
  bindTextarea,
  type BoundText,
  type TextareaOptions,
  type TextElement,
} from "./textarea.ts";

/** Shows texts of collections that no schema was given for: an option of `openDatabase`. */
export const textEngine: TextEngine = engine;

/** A text whose characters merge; empty at first. */
export const text: () => TextField = strict("text", () => textField(engine));

/** All builders of fields, and `text`. */
export const field: typeof fields & { readonly text: typeof text } = Object
  .freeze({ ...fields, text });
