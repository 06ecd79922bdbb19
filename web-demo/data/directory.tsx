/**
 * Who and what cards speak of: people and labels by id, and who is looking at
 * what just now.
 *
 * @module
 */

import { type ComponentChildren, createContext, type JSX } from "preact";
import { useContext, useMemo } from "preact/hooks";
import { useSource } from "../state/store.ts";
import { useRows } from "./live.ts";
import type { LabelItem, PersonItem } from "./schema.ts";
import { useTeam } from "./team_context.ts";

/** Somebody who is here now. */
export interface Guest {
  readonly peer: number;
  readonly person: PersonItem;
  readonly board: string | undefined;
  readonly card: string | undefined;
  readonly isDragging: boolean;
  readonly isTyping: boolean;
}

/** People and labels by id, and who is here. */
export interface Directory {
  readonly people: ReadonlyMap<string, PersonItem>;
  readonly labels: ReadonlyMap<string, LabelItem>;
  readonly here: readonly Guest[];
}

const empty: Directory = { people: new Map(), labels: new Map(), here: [] };
const DirectoryContext = createContext(empty);

/** People and labels by id, and who is here. */
export function useDirectory(): Directory {
  return useContext(DirectoryContext);
}

function byId<T extends { readonly id: string }>(
  rows: readonly T[],
): ReadonlyMap<string, T> {
  return new Map(rows.map((row) => [row.id, row]));
}

/** Keeps the directory for what is inside. */
export function DirectoryProvider(
  { children }: { children: ComponentChildren },
): JSX.Element {
  const team = useTeam();
  const people = useRows(() => team.people.orderBy("name"), [team]);
  const labels = useRows(() => team.labels.orderBy("name"), [team]);
  const others = useSource(team.repo.presence);
  const directory = useMemo(() => {
    const known = byId(people);
    const here = others.flatMap(({ peer, user, data }) => {
      const person = known.get(user);
      // Other pages of one's own are nobody else.
      const isOther = person !== undefined && user !== team.me.id;
      return isOther ? [guestOf(peer, person, data)] : [];
    });
    return { people: known, labels: byId(labels), here };
  }, [people, labels, others]);
  return (
    <DirectoryContext.Provider value={directory}>
      {children}
    </DirectoryContext.Provider>
  );
}

/** What others show is foreign input. */
function guestOf(peer: number, person: PersonItem, data: unknown): Guest {
  const shown = typeof data === "object" && data !== null
    ? data as Readonly<Record<string, unknown>>
    : {};
  const text = (value: unknown) =>
    typeof value === "string" ? value : undefined;
  return {
    peer,
    person,
    board: text(shown["board"]),
    card: text(shown["card"]),
    isDragging: shown["doing"] === "dragging",
    isTyping: shown["doing"] === "typing",
  };
}
