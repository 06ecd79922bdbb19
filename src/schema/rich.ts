/**
 * What counters, sets, maps, lists and texts take: see `late_rich.ts`.
 *
 * @module
 */

import { LostUnits } from "./lost_units.ts";
import { readChange, writeChange } from "./change_codec.ts";
import {
  beginState,
  changeState,
  emptyState,
  isShownLater,
  nameOf,
  showState,
  stateOfCreate,
} from "./merge_rich.ts";
import { richChanges } from "./prepare_rich.ts";
import { shapeOfEdit, textIn } from "./prepare_text.ts";
import { readState, shownTextOf, writeState } from "./state_codec.ts";

/** The code of rich kinds. */
export const rich = {
  beginState,
  changeState,
  emptyState,
  isShownLater,
  LostUnits,
  nameOf,
  readChange,
  readState,
  richChanges,
  shapeOfEdit,
  showState,
  shownTextOf,
  stateOfCreate,
  textIn,
  writeChange,
  writeState,
} as const;
