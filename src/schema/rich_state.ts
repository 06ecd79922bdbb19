/** The states of all rich kinds. */

import type { RichClass } from "./kinds.ts";
import type { CounterState } from "./rich_counter.ts";
import type { ListState } from "./rich_list.ts";
import type { MapState } from "./rich_map.ts";
import type { SetState } from "./rich_set.ts";
import type { TextState } from "./text_state.ts";

/** The state of one counter, set, map, list or text. */
export type RichState =
  | CounterState
  | SetState
  | MapState
  | ListState
  | TextState;

export type StateOf<C extends RichClass> = Extract<
  RichState,
  { readonly merge: C }
>;
