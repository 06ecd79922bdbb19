/**
 * A day, as a calendar that hangs from a button.
 *
 * After the "date picker dialog" of the ARIA Authoring Practices Guide.
 *
 * @module
 */

import type { JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useDropdown } from "../app/dropdown.ts";
import { Icon } from "../app/icons.tsx";
import {
  addDays,
  addMonths,
  dayOf,
  fullDay,
  monthWords,
  weeksAround,
} from "../data/days.ts";

const WEEKDAYS = [
  ["Mon", "Monday"],
  ["Tue", "Tuesday"],
  ["Wed", "Wednesday"],
  ["Thu", "Thursday"],
  ["Fri", "Friday"],
  ["Sat", "Saturday"],
  ["Sun", "Sunday"],
] as const;

interface DayChoiceProps {
  /** As `2026-11-24`; `undefined`: none. */
  readonly value: string | undefined;
  readonly labelledBy: string;
  readonly isFixed: boolean;
  readonly onChoose: (day: string | undefined) => void;
}

/** A choice of a day, or of none. */
export function DayChoice(
  { value, labelledBy, isFixed, onChoose }: DayChoiceProps,
): JSX.Element {
  const id = useId();
  const dropdown = useDropdown();
  const { isOpen, button, box, press } = dropdown;
  const choose = (day: string | undefined) => {
    dropdown.close();
    if (day !== value) onChoose(day);
  };
  return (
    <>
      <button
        type="button"
        id={`${id}-button`}
        class="choose"
        aria-haspopup="dialog"
        aria-controls={`${id}-box`}
        aria-expanded={isOpen}
        aria-labelledby={`${labelledBy} ${id}-button`}
        disabled={isFixed}
        ref={button}
        {...press}
      >
        <Icon name="calendar" size={16} />
        <span>{value === undefined ? "No day" : fullDay(value)}</span>
      </button>
      <div
        id={`${id}-box`}
        class="dropdown calendar"
        popover="auto"
        role="dialog"
        aria-label="Choose a day"
        ref={box}
        onKeyDown={(event) => event.stopPropagation()}
      >
        {isOpen && <Calendar value={value} onChoose={choose} />}
      </div>
    </>
  );
}

function Calendar(
  { value, onChoose }: Pick<DayChoiceProps, "value" | "onChoose">,
): JSX.Element {
  const today = dayOf(Date.now());
  const [day, setDay] = useState(value ?? today);
  const focused = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => focused.current?.focus(), [day]);
  const onKey = (event: KeyboardEvent) => {
    const next = dayAt(day, event.key);
    if (next === undefined) return;
    event.preventDefault();
    setDay(next);
  };
  const turn = (months: number, words: string, icon: "left" | "right") => (
    <button
      type="button"
      class="quiet-button"
      aria-label={words}
      onClick={() => setDay(addMonths(day, months))}
    >
      <Icon name={icon} />
    </button>
  );
  return (
    <>
      <div class="calendar-head">
        {turn(-1, "The month before", "left")}
        <strong aria-live="polite">{monthWords(day)}</strong>
        {turn(1, "The next month", "right")}
      </div>
      <table role="grid" aria-label={monthWords(day)} onKeyDown={onKey}>
        <thead>
          <tr>
            {WEEKDAYS.map(([short, long]) => (
              <th key={short} scope="col" abbr={long}>{short}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksAround(day).map((week, row) => (
            // The focus stays in the table while months go by.
            <tr key={row}>
              {week.map((one, column) => (
                <td key={column} role="gridcell" aria-selected={one === value}>
                  <button
                    type="button"
                    class={one.slice(0, 7) === day.slice(0, 7)
                      ? "day"
                      : "day is-outside"}
                    aria-label={fullDay(one)}
                    aria-current={one === today ? "date" : undefined}
                    tabIndex={one === day ? 0 : -1}
                    ref={one === day ? focused : null}
                    onClick={() =>
                      onChoose(one)}
                  >
                    {Number(one.slice(8))}
                  </button>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <div class="calendar-foot">
        <button type="button" class="link" onClick={() => onChoose(today)}>
          Today
        </button>
        <button
          type="button"
          class="link"
          onClick={() => onChoose(addDays(today, 1))}
        >
          Tomorrow
        </button>
        {value !== undefined && (
          <button
            type="button"
            class="link"
            onClick={() => onChoose(undefined)}
          >
            No day
          </button>
        )}
      </div>
    </>
  );
}

/** The day to which a key leads from one. */
function dayAt(day: string, key: string): string | undefined {
  const weekday = (new Date(day).getUTCDay() + 6) % 7;
  switch (key) {
    case "ArrowLeft":
      return addDays(day, -1);
    case "ArrowRight":
      return addDays(day, 1);
    case "ArrowUp":
      return addDays(day, -7);
    case "ArrowDown":
      return addDays(day, 7);
    case "Home":
      return addDays(day, -weekday);
    case "End":
      return addDays(day, 6 - weekday);
    case "PageUp":
      return addMonths(day, -1);
    case "PageDown":
      return addMonths(day, 1);
  }
}
