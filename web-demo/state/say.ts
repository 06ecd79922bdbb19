/**
 * What the page tells: aloud to screen readers, and in short notes.
 *
 * @module
 */

import { Store } from "./store.ts";

/** A short note at the edge of the page. */
export interface Note {
  readonly id: number;
  readonly text: string;
  readonly tone: "plain" | "warning";
  readonly action?: { readonly label: string; readonly run: () => void };
}

/** What is being told. */
export const telling: Store<{
  readonly aloud: string;
  readonly notes: readonly Note[];
}> = new Store<{ readonly aloud: string; readonly notes: readonly Note[] }>({
  aloud: "",
  notes: [],
});

const NOTE_MS = 7_000;
const NOTES_MAX = 3;
let notes = 0;

/** Tells screen readers. The same words twice are told twice. */
export function announce(text: string): void {
  const isSame = telling.get().aloud === text;
  telling.set({ aloud: isSame ? `${text}\u00a0` : text });
}

/** Shows a short note; `action` is what one may do about it. */
export function tell(
  text: string,
  { tone = "plain", action, staysMs = NOTE_MS }: {
    readonly tone?: Note["tone"];
    readonly action?: Note["action"];
    readonly staysMs?: number;
  } = {},
): void {
  const id = ++notes;
  const note: Note = { id, text, tone, ...(action && { action }) };
  telling.set({ notes: [...telling.get().notes, note].slice(-NOTES_MAX) });
  if (staysMs < Infinity) setTimeout(() => untell(id), staysMs);
}

/** Takes a note away. */
export function untell(id: number): void {
  telling.set({ notes: telling.get().notes.filter((note) => note.id !== id) });
}

/** Runs something that may be denied; says why when it is. */
export function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    tellFailure(error);
    return undefined;
  }
}

/** Says why something did not work. */
export function tellFailure(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  tell(reasonOf(text), { tone: "warning" });
  announce(text);
}

/** The reason in a rule's denial, without the rule's name around it. */
export function reasonOf(message: string): string {
  return /^Cannot [^:]+: ([^]+?) \(rule [^)]*\)$/.exec(message)?.[1] ??
    message;
}
