/**
 * What hangs from a button: a list, a calendar. The platform keeps it on top,
 * and closes it at Escape and at a press outside.
 *
 * @module
 */

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

const GAP = 4;

/** A button and what hangs from it. */
export interface Dropdown {
  readonly isOpen: boolean;
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly box: RefObject<HTMLDivElement | null>;
  open(): void;
  /** Of the button: a press opens it, or closes it. */
  readonly press: { onPointerDown(): void; onClick(): void };
  /** Closes it; the focus goes back to the button. */
  close(): void;
}

/** What hangs from a button; the box has `popover="auto"`. */
export function useDropdown(): Dropdown {
  const button = useRef<HTMLButtonElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const wasOpen = useRef(false);
  const [isOpen, setIsOpen] = useState(false);
  const close = () => {
    box.current?.hidePopover();
    setIsOpen(false);
    button.current?.focus();
  };
  const open = () => {
    box.current?.showPopover();
    setIsOpen(true); // The event comes later than the next key, perhaps.
  };
  useEffect(() => {
    const { current } = box;
    const turn = (event: Event) =>
      setIsOpen((event as ToggleEvent).newState === "open");
    current?.addEventListener("toggle", turn);
    return () => current?.removeEventListener("toggle", turn);
  }, []);
  useLayoutEffect(() => {
    if (!isOpen) return;
    const follow = () => place(button.current!, box.current!);
    follow();
    // What it hangs in stays open.
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      close();
    };
    addEventListener("keydown", onKey, true);
    addEventListener("scroll", follow, true);
    addEventListener("resize", follow);
    return () => {
      removeEventListener("keydown", onKey, true);
      removeEventListener("scroll", follow, true);
      removeEventListener("resize", follow);
    };
  }, [isOpen]);
  return {
    isOpen,
    button,
    box,
    open,
    close,
    press: {
      // The platform closes it before the click comes.
      onPointerDown: () => void (wasOpen.current = isOpen),
      onClick() {
        if (isOpen || wasOpen.current) close();
        else open();
        wasOpen.current = false;
      },
    },
  };
}

/** Below the button, or above it where there is more room. */
function place(button: HTMLElement, box: HTMLElement): void {
  const at = button.getBoundingClientRect();
  box.style.minWidth = `${at.width}px`;
  const { width, height } = box.getBoundingClientRect();
  const below = innerHeight - at.bottom - 2 * GAP;
  const above = at.top - 2 * GAP;
  const isAbove = height > below && above > below;
  box.style.maxHeight = `${isAbove ? above : below}px`;
  const top = isAbove ? Math.max(GAP, at.top - height - GAP) : at.bottom + GAP;
  const left = Math.max(GAP, Math.min(at.left, innerWidth - width - GAP));
  box.style.top = `${top}px`;
  box.style.left = `${left}px`;
}
