/**
 * A card's column, day, people and labels; beneath each, who set it.
 *
 * @module
 */

import type { ComponentChildren, JSX } from "preact";
import { Avatar } from "../app/avatar.tsx";
import { Choice } from "../app/choice.tsx";
import { mayChange, moveCard } from "../data/actions.ts";
import { agoWords } from "../data/days.ts";
import { useDirectory } from "../data/directory.tsx";
import { useRows } from "../data/live.ts";
import type { CardItem } from "../data/schema.ts";
import { useTeam } from "../data/team_context.ts";
import { attempt } from "../state/say.ts";
import { DayChoice } from "./day_choice.tsx";
import type { Blame } from "./history_words.ts";

type Blames = ReadonlyMap<string, Blame>;

/** The fields of a card beside its title and note. */
export function CardFields(
  { card, blame }: { card: CardItem; blame: Blames },
): JSX.Element {
  const team = useTeam();
  const decision = mayChange(team, card);
  const why = decision.allowed ? undefined : decision.reason;
  return (
    <div class="fields" title={why}>
      {why !== undefined && <p class="fields-why">{why}</p>}
      <ColumnField card={card} blame={blame} isFixed={why !== undefined} />
      <DueField card={card} blame={blame} isFixed={why !== undefined} />
      <PeopleField card={card} blame={blame} isFixed={why !== undefined} />
      <LabelsField card={card} blame={blame} isFixed={why !== undefined} />
    </div>
  );
}

interface FieldProps {
  readonly card: CardItem;
  readonly blame: Blames;
  readonly isFixed: boolean;
}

function Field(
  { name, words, blame, children }: {
    name: string;
    words: string;
    blame: Blames;
    children: ComponentChildren;
  },
): JSX.Element {
  return (
    <div class="field" role="group" aria-labelledby={`field-${name}`}>
      <span id={`field-${name}`} class="field-name">{words}</span>
      <div class="field-value">{children}</div>
      <BlameLine blame={blame.get(name)} />
    </div>
  );
}

/** Who set it, and when. */
export function BlameLine(
  { blame }: { blame: Blame | undefined },
): JSX.Element | null {
  const { people } = useDirectory();
  if (blame === undefined) return null;
  const name = people.get(blame.user)?.name ?? blame.user;
  return (
    <span class="blame">
      {name.split(" ")[0]}, {agoWords(blame.at)}
    </span>
  );
}

function ColumnField({ card, blame, isFixed }: FieldProps): JSX.Element {
  const team = useTeam();
  const columns = useRows(
    () => team.columns.where({ board: card.board }).orderBy("position"),
    [team, card.board],
  );
  return (
    <Field name="column" words="Column" blame={blame}>
      <Choice
        labelledBy="field-column"
        isFixed={isFixed}
        value={card.column}
        options={columns.map(({ id, name }) => [id, name])}
        onChoose={(column) =>
          attempt(() => moveCard(team, card.id, { column, before: undefined }))}
      />
    </Field>
  );
}

function DueField({ card, blame, isFixed }: FieldProps): JSX.Element {
  const team = useTeam();
  return (
    <Field name="due" words="Due" blame={blame}>
      <DayChoice
        labelledBy="field-due"
        isFixed={isFixed}
        value={card.due}
        onChoose={(due) => attempt(() => team.cards.update(card.id, { due }))}
      />
    </Field>
  );
}

function PeopleField({ card, blame, isFixed }: FieldProps): JSX.Element {
  const team = useTeam();
  const { people } = useDirectory();
  const chosen = new Set(card.assignees);
  const toggle = (id: string) => {
    const assignees = chosen.has(id) ? { remove: [id] } : { add: [id] };
    attempt(() => team.cards.update(card.id, { assignees }));
  };
  return (
    <Field name="assignees" words="People" blame={blame}>
      <span class="choices">
        {[...people.values()].map((person) => (
          <button
            key={person.id}
            type="button"
            class="choice choice-face"
            aria-pressed={chosen.has(person.id)}
            aria-label={person.name}
            title={person.name}
            disabled={isFixed}
            onClick={() => toggle(person.id)}
          >
            <Avatar face={person} />
          </button>
        ))}
      </span>
    </Field>
  );
}

function LabelsField({ card, blame, isFixed }: FieldProps): JSX.Element {
  const team = useTeam();
  const { labels } = useDirectory();
  const chosen = new Set(card.labels);
  const toggle = (id: string) => {
    const change = chosen.has(id) ? { remove: [id] } : { add: [id] };
    attempt(() => team.cards.update(card.id, { labels: change }));
  };
  return (
    <Field name="labels" words="Labels" blame={blame}>
      <span class="choices">
        {[...labels.values()].map(({ id, name, hue }) => (
          <button
            key={id}
            type="button"
            class={`choice label hue-${hue}`}
            aria-pressed={chosen.has(id)}
            disabled={isFixed}
            onClick={() => toggle(id)}
          >
            {name}
          </button>
        ))}
      </span>
    </Field>
  );
}
