/** A text that several people write in, bound to an element of a component. */

import type { Framework } from "./framework.ts";

/** A bound editor: what `bindTextarea` and `bindCodeMirror` answer. */
export interface Bound {
  readonly close: () => void;
}

/** The hook `useText`. */
export interface UseText {
  /**
   * A `ref` that binds an element, and binds it anew when one of `deps` changes.
   * Give the element no `value`: the text is its own.
   *
   * @param bind calls `bindTextarea` of `@sheaf/sheaf/text`, or another binding;
   * `undefined` while there is nothing to bind
   */
  <E>(
    bind: (element: E) => Bound | undefined,
    deps: readonly unknown[],
  ): (element: E | null) => void;
}

export function textHookOf({ useMemo }: Framework): UseText {
  return <E>(
    bind: (element: E) => Bound | undefined,
    deps: readonly unknown[],
  ) =>
    useMemo(() => {
      let bound: Bound | undefined;
      return (element: E | null) => {
        bound?.close();
        bound = element === null ? undefined : bind(element);
      };
    }, deps);
}
