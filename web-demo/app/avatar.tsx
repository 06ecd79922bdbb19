/**
 * Somebody, as a small round picture of initials.
 *
 * @module
 */

import type { JSX } from "preact";
import type { PersonItem } from "../data/schema.ts";

/** Somebody's initials. */
export function initialsOf(name: string): string {
  const words = name.split(/\s+/).filter((word) => word !== "");
  // By code point: half of a pair is no letter.
  return words.slice(0, 2).map((word) => [...word][0]!.toUpperCase()).join("");
}

/** What an avatar shows of somebody. */
export type Face = Pick<PersonItem, "name" | "hue">;

/** Somebody who is not known, or not any more. */
export const nobody: Face = { name: "?", hue: "slate" };

/** Somebody. Their name is beside it, or is its title. */
export function Avatar(
  { face, size = "m", isHere = false, title }: {
    face: Face;
    size?: "s" | "m" | "l";
    isHere?: boolean;
    title?: string;
  },
): JSX.Element {
  return (
    <span
      class={`avatar avatar-${size} hue-${face.hue}${isHere ? " is-here" : ""}`}
      title={title ?? face.name}
      data-initials={initialsOf(face.name)}
      aria-hidden="true"
    />
  );
}
