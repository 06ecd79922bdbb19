/**
 * The people of the demo's team, and how they log in: by saying who they are.
 * A real app would ask its identity provider; the server takes a JSON Web Token
 * in the same place.
 *
 * @module
 */

import type { Hue, Role } from "./schema.ts";

/** Somebody who may log in. */
export interface Member {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly role: Role;
  readonly hue: Hue;
}

/** The team. */
export const team: readonly Member[] = [
  {
    id: "maya",
    name: "Maya Lindqvist",
    title: "Product",
    role: "lead",
    hue: "pine",
  },
  {
    id: "jonas",
    name: "Jonas Weber",
    title: "Apps",
    role: "member",
    hue: "cornflower",
  },
  {
    id: "ines",
    name: "Ines Carvalho",
    title: "Design",
    role: "member",
    hue: "plum",
  },
  {
    id: "tomasz",
    name: "Tomasz Nowak",
    title: "Timetable data",
    role: "member",
    hue: "lagoon",
  },
  {
    id: "aiko",
    name: "Aiko Tanaka",
    title: "Research",
    role: "member",
    hue: "clover",
  },
  {
    id: "priya",
    name: "Priya Raman",
    title: "Quality",
    role: "member",
    hue: "wheat",
  },
  {
    id: "sam",
    name: "Sam Okafor",
    title: "Harbour master, Vik",
    role: "guest",
    hue: "slate",
  },
];

/** Who has this id. */
export function memberOf(id: unknown): Member | undefined {
  return team.find((member) => member.id === id);
}
