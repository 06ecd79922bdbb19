/**
 * A panel that hangs from the bar: Escape and a press outside close it, and the
 * focus goes back to where it came from.
 *
 * @module
 */

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ui } from "../state/ui.ts";

/** Of radio buttons, Tab reaches the checked one. */
const REACHED = "button:not(:disabled), a[href], textarea, " +
  "input:not([type=radio]), input:checked";

/** At its end the focus begins anew, and the other way round. */
function keepInside(event: KeyboardEvent, box: HTMLElement): void {
  const all = [...box.querySelectorAll<HTMLElement>(REACHED)];
  const [first, last] = [all[0] ?? box, all.at(-1) ?? box];
  const { activeElement } = document;
  const isInside = activeElement !== box && box.contains(activeElement);
  const end = event.shiftKey ? first : last;
  if (isInside && activeElement !== end) return;
  event.preventDefault();
  (event.shiftKey ? last : first).focus();
}

/** A panel that hangs from the bar. */
export function Popover(
  { label, children }: { label: string; children: ComponentChildren },
): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current?.focus();
    const close = () => ui.set({ panel: undefined });
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Tab") return keepInside(event, box.current!);
      if (event.key !== "Escape") return;
      if (box.current?.querySelector(":popover-open")) return; // It closes first.
      event.stopPropagation();
      close();
      if (before instanceof HTMLElement) before.focus();
    };
    const onPress = (event: PointerEvent) => {
      const { target } = event;
      if (!(target instanceof Element)) return;
      if (box.current?.contains(target)) return;
      if (target.closest("[aria-expanded=true]") !== null) return;
      close();
    };
    addEventListener("keydown", onKey, true);
    addEventListener("pointerdown", onPress, true);
    return () => {
      removeEventListener("keydown", onKey, true);
      removeEventListener("pointerdown", onPress, true);
    };
  }, []);
  return (
    <div
      class="popover"
      role="dialog"
      aria-label={label}
      tabIndex={-1}
      ref={box}
    >
      {children}
    </div>
  );
}
