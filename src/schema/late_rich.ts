/**
 * What counters, sets, maps, lists and texts take, as far as it is loaded: an app
 * whose fields are all registers never meets any.
 *
 * A repository is opened with it where its schemas name such a field. Commits of
 * others may, too: nobody reads their shapes before it is here ({@linkcode
 * readShape}), so nothing is ever folded without it.
 */

import type { ByteReader, ByteWriter } from "../base/bytes.ts";
import type { Stamp } from "../base/hlc.ts";
import { Late } from "../base/late.ts";
import type { RichClass } from "./kinds.ts";
import type { LostUnits } from "./lost_units.ts";
import type {
  Change,
  FieldChange,
  RichChange,
  Shape,
  ShapeField,
  Value,
} from "./patch.ts";
import type { ReadStamp, RichKind, WriteStamp } from "./rich_kind.ts";
import type { RichState } from "./rich_state.ts";
import type { TextState } from "./text_state.ts";

/** What `rich.ts` has, each function as it stands there. */
export interface RichCode {
  readonly kinds: Readonly<Record<RichClass, RichKind<RichState>>>;
  beginState(merge: RichClass, value: Value, stamp: Stamp): RichState;
  changeState(state: RichState, change: Change, stamp: Stamp): RichState;
  writeState(w: ByteWriter, state: RichState, stamp: WriteStamp): void;
  readState(r: ByteReader, stamp: ReadStamp): RichState;
  shownTextOf(bytes: Uint8Array, shown: string, order?: Uint8Array): TextState;
  readonly changeCodes: Readonly<Record<RichChange["what"], number>>;
  joinChanges(sorted: readonly FieldChange[]): FieldChange[];
  joinParts(...changes: readonly Change[]): Change;
  writeChange(w: ByteWriter, change: RichChange): void;
  readChange(r: ByteReader, field: ShapeField): Change;
  shapeOfEdit(shape: Shape, field: ShapeField): Shape;
  withoutText(text: TextState): TextState;
  readonly LostUnits: new () => LostUnits;
  nameOf(commit: Stamp): string;
}

export const lateRich: Late<RichCode> = /* @__PURE__ */ new Late();
