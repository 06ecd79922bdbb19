/** What counters, sets, maps, lists and texts take: see `late_rich.ts`. */

import type { ByteReader, ByteWriter } from "../base/bytes.ts";
import { compareStamps, type Stamp } from "../base/hlc.ts";
import {
  changeCodes,
  joinChanges,
  joinParts,
  readChange,
  writeChange,
} from "./change_codec.ts";
import type { RichClass } from "./kinds.ts";
import type { RichCode } from "./late_rich.ts";
import { LostUnits } from "./lost_units.ts";
import type { Change, Value } from "./patch.ts";
import { counter } from "./rich_counter.ts";
import type { ReadStamp, WriteStamp } from "./rich_kind.ts";
import { list, nameOf } from "./rich_list.ts";
import { map } from "./rich_map.ts";
import { set } from "./rich_set.ts";
import type { RichState } from "./rich_state.ts";
import { shapeOfEdit, text, withoutText } from "./rich_text.ts";
import { textStateOf } from "./text_codec.ts";
import type { TextState } from "./text_state.ts";
import { malformed } from "./value_codec.ts";

const kinds: RichCode["kinds"] = { counter, set, map, list, text };
/** In the order of their numbers in bytes of states. */
const classes = ["counter", "set", "map", "list", "text"] as const;

/** States of values that a create wrote, by value: whoever asks first makes it, for all. */
const begun = /* @__PURE__ */ new WeakMap<
  object,
  { readonly state: RichState; readonly stamp: Stamp }
>();

/** The state of a field that nothing but a create has written. */
function beginState(
  merge: RichClass,
  value: Value,
  stamp: Stamp,
): RichState {
  if (typeof value !== "object" || value === null) {
    return kinds[merge].begin(value, stamp);
  }
  const known = begun.get(value);
  const isMeant = known?.state.merge === merge &&
    compareStamps(known.stamp, stamp) === 0;
  if (isMeant) return known.state;
  const state = kinds[merge].begin(value, stamp);
  begun.set(value, { state, stamp });
  return state;
}

/** The state after one change; a change of another class leaves it as it is. */
function changeState(
  state: RichState,
  change: Change,
  stamp: Stamp,
): RichState {
  return kinds[state.merge].change(state, change, stamp);
}

/** Writes a state; entries in ascending order, so that equal states are equal bytes. */
function writeState(w: ByteWriter, state: RichState, stamp: WriteStamp): void {
  w.u8(classes.indexOf(state.merge));
  kinds[state.merge].write(w, state, stamp);
}

function readState(r: ByteReader, stamp: ReadStamp): RichState {
  const merge = classes[r.u8()] ?? malformed("a state is of an unknown class");
  return kinds[merge].read(r, stamp);
}

/** Bytes of a text of which it is known what it shows. */
function shownTextOf(
  bytes: Uint8Array,
  shown: string,
  order?: Uint8Array,
): TextState {
  if (bytes[0] !== classes.indexOf("text")) malformed("only a text is shown");
  return textStateOf(bytes.subarray(1), shown, order);
}

export const rich: RichCode = {
  kinds,
  beginState,
  changeState,
  writeState,
  readState,
  shownTextOf,
  changeCodes,
  joinChanges,
  joinParts,
  writeChange,
  readChange,
  shapeOfEdit,
  withoutText,
  LostUnits,
  nameOf,
};
