/**
 * The command palette: everything by its name. Also what gives cards to people
 * and labels to cards by keys.
 *
 * @module
 */

import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { toggleOnCards } from "../data/actions.ts";
import { type Directory, useDirectory } from "../data/directory.tsx";
import { wordsOf } from "../data/matching.ts";
import type { Team } from "../data/open.ts";
import { useTeam } from "../data/team_context.ts";
import { redo, undo } from "../data/undo.ts";
import { attempt } from "../state/say.ts";
import { useStore } from "../state/store.ts";
import {
  type PaletteAsks,
  showBoard,
  showCard,
  togglePanel,
  ui,
} from "../state/ui.ts";
import { toggleTime } from "./past_board.tsx";

interface Command {
  readonly words: string;
  /** What kind of thing it is, or whether it is on. */
  readonly hint: string;
  readonly run: () => void;
}

/** As many as fit; whoever looks for another one types on. */
const SHOWN_MAX = 12;

/** Opens the palette. */
export function openPalette(palette: PaletteAsks): void {
  ui.set({ palette, panel: undefined });
}

/** The palette, where it is open. */
export function Palette(): JSX.Element | null {
  const asks = useStore(ui, ({ palette }) => palette);
  return asks === undefined ? null : <Asked asks={asks} />;
}

function Asked({ asks }: { asks: PaletteAsks }): JSX.Element {
  const team = useTeam();
  const directory = useDirectory();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  // Before anything is typed on.
  useLayoutEffect(() => dialog.current!.showModal(), []);
  const all = useMemo(() => commandsOf(team, directory, asks), [asks]);
  const found = useMemo(() => matching(all, text), [all, text]);
  // The focus goes back to where it came from, unless the command takes it.
  const close = () => dialog.current!.close();
  const run = (command: Command | undefined) => {
    close();
    command?.run();
  };
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown"
      ? 1
      : event.key === "ArrowUp"
      ? -1
      : 0;
    if (event.isComposing || (step === 0 && event.key !== "Enter")) return;
    event.preventDefault();
    if (step === 0) run(found[at]);
    else setAt(Math.max(0, Math.min(found.length - 1, at + step)));
  };
  return (
    <dialog
      class="palette"
      ref={dialog}
      aria-label={titles[asks.what]}
      onClose={() => ui.set({ palette: undefined })}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <input
        role="combobox"
        aria-label={titles[asks.what]}
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${at}`}
        autocomplete="off"
        placeholder={titles[asks.what]}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <div id="palette-list" role="listbox" aria-label="What it finds">
        {found.map(({ words, hint, run: act }, index) => (
          <div
            key={words}
            id={`palette-${index}`}
            role="option"
            class="palette-option"
            aria-selected={index === at}
            onPointerMove={() => setAt(index)}
            onClick={() => run({ words, hint, run: act })}
          >
            <span>{words}</span>
            <span class="faint">{hint}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="faint">Nothing is called that.</p>}
    </dialog>
  );
}

const titles: Readonly<Record<PaletteAsks["what"], string>> = {
  all: "Find a card, a board, or something to do",
  assignees: "Give to somebody, or take from them",
  labels: "Put a label on, or take it off",
};

function matching(all: readonly Command[], text: string): readonly Command[] {
  const asked = wordsOf(text);
  const found = all.filter(({ words, hint }) => {
    const whole = `${words} ${hint}`.toLocaleLowerCase();
    return asked.every((word) => whole.includes(word));
  });
  return found.slice(0, SHOWN_MAX);
}

function commandsOf(
  team: Team,
  { people, labels }: Directory,
  asks: PaletteAsks,
): readonly Command[] {
  if (asks.what === "all") return everything(team);
  const { what, cards } = asks;
  const held = cards.map((id) => new Set(team.cards.get(id)?.[what]));
  const choices = what === "labels" ? labels : people;
  return [...choices.values()].map(({ id, name }) => {
    const isOn = held.every((set) => set.has(id));
    const run = () =>
      attempt(() => toggleOnCards(team, cards, what, id, !isOn));
    return { words: name, hint: isOn ? "take off" : "", run };
  });
}

function everything(team: Team): readonly Command[] {
  const boards = team.boards.orderBy("position").run();
  const names = new Map(boards.map(({ id, name }) => [id, name]));
  return [
    { words: "Undo", hint: "Ctrl Z", run: () => undo(team) },
    { words: "Redo", hint: "Ctrl Shift Z", run: () => redo(team) },
    { words: "Filters", hint: "F", run: () => togglePanel("filter") },
    { words: "Back in time", hint: "T", run: toggleTime },
    { words: "Keys", hint: "?", run: () => togglePanel("keys") },
    ...boards.map(({ id, name }) => ({
      ...{ words: name, hint: "board", run: () => showBoard(id) },
    })),
    ...team.cards.all().map(({ id, board, title }) => ({
      words: title,
      hint: names.get(board) ?? "",
      run: () => showCard(board, id),
    })),
  ];
}
