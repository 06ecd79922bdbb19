/**
 * Above the columns: the board's name, its filters, undo and the way back in
 * time.
 *
 * @module
 */

import type { JSX } from "preact";
import { Avatar } from "../app/avatar.tsx";
import { Choice } from "../app/choice.tsx";
import { Icon } from "../app/icons.tsx";
import { useDirectory } from "../data/directory.tsx";
import type { BoardItem } from "../data/schema.ts";
import { useTeam } from "../data/team_context.ts";
import { redo, undo } from "../data/undo.ts";
import { toggleTime } from "../panels/past_board.tsx";
import { useSource, useStore } from "../state/store.ts";
import {
  type DueFilter,
  filterBy,
  isFiltering,
  noFilter,
  toggled,
  togglePanel,
  ui,
} from "../state/ui.ts";

/** Name, filters and tools of a board. */
export function BoardHead({ board }: { board: BoardItem }): JSX.Element {
  const filter = useStore(ui, (value) => value.filter);
  const isOpen = useStore(ui, ({ panel }) => panel === "filter");
  const isPast = useStore(ui, ({ moment }) => moment !== undefined);
  const isOn = isFiltering(filter);
  return (
    <div class="board-head">
      <div class="board-words">
        <h1>{board.name}</h1>
        <p class="faint">{board.purpose}</p>
      </div>
      <div class="tools">
        <button
          type="button"
          class="tool"
          aria-expanded={isOpen}
          aria-pressed={isOn}
          title="Filters (F)"
          onClick={() => togglePanel("filter")}
        >
          <Icon name="filter" /> <span class="tool-words">Filter</span>
        </button>
        {!isPast && <UndoTools />}
        <button
          type="button"
          class="tool tool-time"
          aria-pressed={isPast}
          title="Back in time (T)"
          onClick={toggleTime}
        >
          <Icon name="clock" /> <span class="tool-words">Back in time</span>
        </button>
      </div>
      {(isOpen || isOn) && <FilterBar />}
    </div>
  );
}

function UndoTools(): JSX.Element {
  const team = useTeam();
  const { canUndo, canRedo } = useSource(team.repo.undo);
  return (
    <>
      <button
        type="button"
        class="tool"
        aria-label="Undo"
        title="Undo (Ctrl Z)"
        disabled={!canUndo}
        onClick={() => undo(team)}
      >
        <Icon name="undo" />
      </button>
      <button
        type="button"
        class="tool"
        aria-label="Redo"
        title="Redo (Ctrl Shift Z)"
        disabled={!canRedo}
        onClick={() => redo(team)}
      >
        <Icon name="redo" />
      </button>
    </>
  );
}

const dues: readonly (readonly [DueFilter, string])[] = [
  ["any", "Any day"],
  ["overdue", "Overdue"],
  ["week", "This week"],
  ["none", "No day"],
];

function FilterBar(): JSX.Element {
  const { people, labels } = useDirectory();
  const { me } = useTeam();
  const filter = useStore(ui, (value) => value.filter);
  const byPerson = (id: string) =>
    filterBy({ people: toggled(filter.people, id) });
  return (
    <div class="filter-bar" role="group" aria-label="Filters">
      <span class="choices">
        {[...people.values()].map((person) => (
          <button
            key={person.id}
            type="button"
            class="choice choice-face"
            aria-pressed={filter.people.has(person.id)}
            aria-label={person.id === me.id ? "Mine" : person.name}
            title={person.name}
            onClick={() => byPerson(person.id)}
          >
            <Avatar face={person} />
          </button>
        ))}
      </span>
      <span class="choices">
        {[...labels.values()].map(({ id, name, hue }) => (
          <button
            key={id}
            type="button"
            class={`choice label hue-${hue}`}
            aria-pressed={filter.labels.has(id)}
            onClick={() => filterBy({ labels: toggled(filter.labels, id) })}
          >
            {name}
          </button>
        ))}
      </span>
      <DueChoice due={filter.due} />
      {isFiltering(filter) && (
        <button
          type="button"
          class="link"
          onClick={() => ui.set({ filter: noFilter })}
        >
          Show everything
        </button>
      )}
    </div>
  );
}

function DueChoice({ due }: { due: DueFilter }): JSX.Element {
  return (
    <Choice
      label="When it is due"
      value={due}
      options={dues}
      onChoose={(due) => filterBy({ due })}
    />
  );
}
