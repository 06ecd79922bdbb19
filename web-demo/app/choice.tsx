/**
 * One of several, as a list that hangs from a button.
 *
 * After the "select-only combobox" of the ARIA Authoring Practices Guide.
 *
 * @module
 */

import type { JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useDropdown } from "./dropdown.ts";
import { Icon } from "./icons.tsx";

/** Letters that come so soon after each other are one word. */
const WORD_MS = 600;

/** A value, and what a person reads for it. */
export type Option<T extends string> = readonly [value: T, words: string];

interface ChoiceProps<T extends string> {
  readonly value: T;
  readonly options: readonly Option<T>[];
  /** Its name, or the id of what has it. */
  readonly label?: string;
  readonly labelledBy?: string;
  readonly isFixed?: boolean;
  readonly class?: string;
  readonly onChoose: (value: T) => void;
}

/** A choice. */
export function Choice<T extends string>(
  { value, options, label, labelledBy, isFixed, onChoose, ...props }:
    ChoiceProps<T>,
): JSX.Element {
  const id = useId();
  const { isOpen, button, box, open, close, press } = useDropdown();
  const chosen = options.findIndex(([one]) => one === value);
  const [active, setActive] = useState(chosen);
  const typed = useTyped(isOpen);
  useLayoutEffect(() => setActive(chosen), [isOpen, chosen]);
  useLayoutEffect(() => {
    if (isOpen) {
      box.current?.children[active]?.scrollIntoView({ block: "nearest" });
    }
  }, [isOpen, active]);

  const choose = (at: number) => {
    close();
    const option = options[at];
    if (option !== undefined && option[0] !== value) onChoose(option[0]);
  };
  const onKey = (event: KeyboardEvent) => {
    const { key } = event;
    if (event.ctrlKey || event.metaKey || key === "Tab") return;
    const last = options.length - 1;
    const next = {
      ArrowDown: Math.min(last, active + 1),
      ArrowUp: Math.max(0, active - 1),
      Home: 0,
      End: last,
    }[key];
    const isPress = key === "Enter" || key === " ";
    if (next === undefined && key.length > 1 && !isPress) return;
    event.preventDefault();
    event.stopPropagation();
    if (!isOpen) open();
    if (isPress) {
      if (isOpen) choose(active);
    } else if (next !== undefined) {
      if (isOpen) setActive(next);
    } else setActive(startingWith(options, typed(key), active));
  };
  const [, words] = options[chosen] ?? [];
  return (
    <>
      <button
        type="button"
        class={`choose ${props.class ?? ""}`}
        role="combobox"
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-activedescendant={isOpen ? `${id}-${active}` : undefined}
        aria-label={label}
        aria-labelledby={labelledBy}
        disabled={isFixed}
        ref={button}
        onKeyDown={onKey}
        {...press}
      >
        <span>{words}</span>
        <Icon name="down" size={14} />
      </button>
      <div
        id={`${id}-list`}
        class="dropdown"
        popover="auto"
        role="listbox"
        aria-label={label}
        aria-labelledby={labelledBy}
        ref={box}
      >
        {options.map(([one, words], at) => (
          <div
            key={one}
            id={`${id}-${at}`}
            class={at === active ? "option is-active" : "option"}
            role="option"
            aria-selected={at === chosen}
            onPointerMove={() => setActive(at)}
            onClick={() => choose(at)}
          >
            <span>{words}</span>
            {at === chosen && <Icon name="check" size={16} />}
          </div>
        ))}
      </div>
    </>
  );
}

/** The word that is being typed; it begins anew with the list. */
function useTyped(isOpen: boolean): (letter: string) => string {
  const word = useRef({ text: "", at: 0 });
  useLayoutEffect(() => {
    if (!isOpen) word.current = { text: "", at: 0 };
  }, [isOpen]);
  return (letter) => {
    const at = performance.now();
    const { current } = word;
    const text = at - current.at < WORD_MS ? current.text + letter : letter;
    word.current = { text, at };
    return text;
  };
}

/** The first that begins so, from the active one on. */
function startingWith<T extends string>(
  options: readonly Option<T>[],
  typed: string,
  active: number,
): number {
  const from = typed.length > 1 ? active : active + 1;
  const { length } = options;
  for (let i = 0; i < length; i++) {
    const at = (from + i) % length;
    const [, words] = options[at]!;
    if (words.toLowerCase().startsWith(typed.toLowerCase())) return at;
  }
  return active;
}
