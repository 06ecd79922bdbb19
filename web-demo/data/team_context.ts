/**
 * Hands the open database down to the views.
 *
 * @module
 */

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Team } from "./open.ts";

/** The open database. */
export const TeamContext = createContext<Team | undefined>(undefined);

/** The open database. */
export function useTeam(): Team {
  const team = useContext(TeamContext);
  if (team === undefined) throw new Error("There is no team around this view");
  return team;
}
