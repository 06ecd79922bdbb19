/**
 * On a phone: names of the columns, to jump from one to the other.
 *
 * @module
 */

import type { JSX, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useInRow } from "../app/row.ts";
import type { ColumnItem } from "../data/schema.ts";

/** Which column is in view, and a way to the others. */
export function LaneTabs(
  { columns, lanes }: {
    columns: readonly ColumnItem[];
    lanes: RefObject<HTMLDivElement | null>;
  },
): JSX.Element {
  const [shown, setShown] = useState(0);
  const row = useRef<HTMLElement>(null);
  useInRow(row, shown);
  useEffect(() => {
    const element = lanes.current;
    if (element === null) return;
    const read = () => {
      const width = element.firstElementChild?.clientWidth ?? 1;
      setShown(Math.round(element.scrollLeft / width));
    };
    element.addEventListener("scroll", read, { passive: true });
    return () => element.removeEventListener("scroll", read);
  }, [columns.length]);
  const go = (at: number) => {
    lanes.current?.children[at]?.scrollIntoView({
      behavior: matchMedia("(prefers-reduced-motion: reduce)").matches
        ? "instant"
        : "smooth",
      inline: "center",
      block: "nearest",
    });
  };
  return (
    <nav class="lane-tabs" ref={row} aria-label="Columns">
      {columns.map((column, at) => (
        <button
          key={column.id}
          type="button"
          class="lane-tab"
          aria-current={at === shown ? "true" : undefined}
          onClick={() => go(at)}
        >
          {column.name}
        </button>
      ))}
    </nav>
  );
}
