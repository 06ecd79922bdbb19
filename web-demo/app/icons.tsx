/**
 * Icons, drawn with one pen: 20 by 20, a line of 1.6.
 *
 * @module
 */

import type { JSX } from "preact";

const paths = {
  search: "M9 15a6 6 0 1 0 0-12 6 6 0 0 0 0 12Zm4.5-1.5L18 18",
  plus: "M10 4v12M4 10h12",
  close: "M5 5l10 10M15 5 5 15",
  undo: "M7 5 3.5 8.5 7 12M4 8.5h8a4 4 0 0 1 0 8H9",
  redo: "M13 5l3.5 3.5L13 12M16 8.5H8a4 4 0 0 0 0 8h3",
  clock: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm0-11v4l2.6 1.8",
  filter: "M3 5h14M6 10h8M8.5 15h3",
  calendar: "M4 5.5h12v11H4zM4 9h12M7 3.5v3M13 3.5v3",
  note: "M4.5 5h11M4.5 9h11M4.5 13h6.5",
  comment: "M4 4.5h12v9H9.5L6 16.5v-3H4z",
  trash: "M4.5 6h11M8 6V4h4v2M6 6l.7 10.5h6.6L14 6",
  play: "M7 4.5v11l8.5-5.5z",
  pause: "M7 4.5v11M13 4.5v11",
  inspect: "M3 11.5h3.2l2-6 3.4 10 2-4H17",
  check: "M4 10.5 8.2 15 16 5.5",
  cloud: "M6 15.5a3.5 3.5 0 0 1-.3-7A4.8 4.8 0 0 1 15 9.6a3 3 0 0 1-.5 5.9z",
  alone:
    "M3.5 3.5l13 13M6 15.5a3.5 3.5 0 0 1-.3-7M9 5.5a4.8 4.8 0 0 1 6 4.1 3 3 0 0 1 1.6 4.6",
  sun:
    "M10 13.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM10 2v2M10 16v2M2 10h2M16 10h2",
  moon: "M16 12.2A6.5 6.5 0 0 1 7.8 4 6.5 6.5 0 1 0 16 12.2Z",
  people:
    "M8 9.5a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4ZM2.5 16c.4-3 2.7-4.5 5.5-4.5s5.1 1.5 5.5 4.5M14.5 11.8c1.8.5 2.8 2 3 4.2",
  keys: "M3 6h14v8.5H3zM6 9h.1M9 9h.1M12 9h.1M15 9h-.1M7 12h6",
  warning: "M10 3.5 17.5 16h-15zM10 8.2v3.6M10 13.9v.1",
  more: "M5 10h.1M10 10h.1M15 10h.1",
  left: "M12.5 4.5 7 10l5.5 5.5",
  right: "M7.5 4.5 13 10l-5.5 5.5",
  down: "M4.5 7.5 10 13l5.5-5.5",
  back: "M10 17a7 7 0 1 0-6.6-4.7M3 8v4.5h4.5",
} as const;

/** Which icons there are. */
export type IconName = keyof typeof paths;

/** An icon; what it means is said by the words beside it, or by its button's label. */
export function Icon(
  { name, size = 20 }: { name: IconName; size?: number },
): JSX.Element {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 20 20"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}

/** The mark: a stook, sheaves that lean on each other. */
export function Mark({ size = 28 }: { size?: number }): JSX.Element {
  return (
    <svg
      class="mark"
      width={size}
      height={size}
      viewBox="0 0 32 32"
      aria-hidden="true"
    >
      <path d="M16 28V5M16 28 7 8M16 28l9-20M16 28 3.5 14M16 28l12.5-14" />
      <path
        class="mark-band"
        d="M9.3 19.5c4.3 2.3 9.1 2.3 13.4 0"
      />
    </svg>
  );
}
