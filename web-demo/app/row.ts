/**
 * Rows of names that are wider than their room: boards, and columns on a phone.
 *
 * @module
 */

import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/** Keeps one of a row's names in its middle. Only the row scrolls, never the page. */
export function useInRow(
  row: RefObject<HTMLElement | null>,
  at: number,
): void {
  useEffect(() => {
    const element = row.current;
    const name = element?.children[at];
    if (!element || !name) return;
    const [whole, part] = [element, name].map((each) =>
      each.getBoundingClientRect()
    ) as [DOMRect, DOMRect];
    const off = part.left + part.width / 2 - (whole.left + whole.width / 2);
    element.scrollLeft += off;
  }, [at]);
}
