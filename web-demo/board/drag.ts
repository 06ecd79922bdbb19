/**
 * Dragging cards: with a mouse or pen at once, with a finger after a moment's
 * hold, with the keyboard by Space and arrows. All three end in one place, and
 * only letting go writes.
 *
 * @module
 */

import { Store } from "../state/store.ts";
import type { Place } from "../data/actions.ts";
import type { CardItem } from "../data/schema.ts";

/** What is being dragged, and where it would land. */
export interface Drag {
  readonly card: CardItem | undefined;
  readonly place: Place | undefined;
  readonly how: "pointer" | "keys";
  /** Height of the gap that is kept for it. */
  readonly height: number;
  readonly width: number;
  /** Where the pointer took hold of it. */
  readonly grip: { readonly x: number; readonly y: number };
}

const atRest: Drag = {
  card: undefined,
  place: undefined,
  how: "pointer",
  height: 0,
  width: 0,
  grip: { x: 0, y: 0 },
};

/** What is being dragged. */
export const dragging: Store<Drag> = new Store<Drag>(atRest);

/** Nothing is dragged any more. */
export function rest(): void {
  if (dragging.get().card !== undefined) dragging.set(atRest);
}

const SLOP_PX = 5;
const HOLD_MS = 260;
/** Within this of an edge the board scrolls along. */
const EDGE_PX = 56;
const SCROLL_PX_MAX = 18;

/** What the board does with a drag. */
export interface DragHooks {
  readonly cardOf: (id: string) => CardItem | undefined;
  readonly drop: (card: CardItem, place: Place) => void;
  readonly lifted: (card: CardItem) => void;
}

/** One press of a pointer, from down to up. */
class Press {
  readonly #hooks: DragHooks;
  readonly #start: PointerEvent;
  readonly #tile: HTMLElement;
  readonly #end = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #at: { x: number; y: number };
  #frame = 0;

  constructor(start: PointerEvent, tile: HTMLElement, hooks: DragHooks) {
    this.#start = start;
    this.#tile = tile;
    this.#hooks = hooks;
    this.#at = { x: start.clientX, y: start.clientY };
    const options = { signal: this.#end.signal };
    addEventListener("pointermove", this.#move, options);
    addEventListener("pointerup", this.#up, options);
    addEventListener("pointercancel", this.#cancel, options);
    addEventListener("keydown", this.#key, { ...options, capture: true });
    if (start.pointerType === "touch") {
      this.#timer = setTimeout(() => this.#lift(), HOLD_MS);
    }
  }

  get #isDragging(): boolean {
    return dragging.get().card !== undefined;
  }

  readonly #move = (event: PointerEvent) => {
    if (event.pointerId !== this.#start.pointerId) return;
    this.#at = { x: event.clientX, y: event.clientY };
    if (this.#isDragging) return this.#follow();
    const far = Math.hypot(
      this.#at.x - this.#start.clientX,
      this.#at.y - this.#start.clientY,
    ) > SLOP_PX;
    if (!far) return;
    if (event.pointerType === "touch") this.#finish();
    else this.#lift();
  };

  readonly #up = (event: PointerEvent) => {
    if (event.pointerId !== this.#start.pointerId) return;
    const { card, place } = dragging.get();
    const wasDragging = this.#isDragging;
    this.#finish();
    if (!wasDragging) return;
    // The click that follows is no click.
    addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener("click", swallow, true), 50);
    if (card !== undefined && place !== undefined) {
      this.#hooks.drop(card, place);
    }
  };

  readonly #cancel = () => this.#finish();

  readonly #key = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !this.#isDragging) return;
    event.preventDefault();
    event.stopPropagation();
    this.#finish();
  };

  #lift(): void {
    const card = this.#hooks.cardOf(this.#tile.dataset["card"] ?? "");
    if (card === undefined) return this.#finish();
    const box = this.#tile.getBoundingClientRect();
    const grip = {
      x: this.#start.clientX - box.left,
      y: this.#start.clientY - box.top,
    };
    getSelection()?.removeAllRanges();
    navigator.vibrate?.(8);
    const { height, width } = box;
    dragging.set({
      card,
      place: undefined,
      how: "pointer",
      height,
      width,
      grip,
    });
    this.#hooks.lifted(card);
    document.documentElement.classList.add("is-dragging");
    this.#follow();
    this.#frame = requestAnimationFrame(this.#scrollAlong);
  }

  #follow(): void {
    const { grip } = dragging.get();
    const { x, y } = this.#at;
    const style = document.documentElement.style;
    style.setProperty("--drag-x", `${x - grip.x}px`);
    style.setProperty("--drag-y", `${y - grip.y}px`);
    const place = placeUnder(x, y, dragging.get().card?.id);
    const before = dragging.get().place;
    const isSame = before?.column === place?.column &&
      before?.before === place?.before;
    if (!isSame) dragging.set({ place });
  }

  readonly #scrollAlong = () => {
    if (!this.#isDragging) return;
    const { x, y } = this.#at;
    const lanes = document.querySelector(".lanes");
    if (lanes !== null) lanes.scrollLeft += pull(x, 0, innerWidth);
    const list = laneUnder(x)?.querySelector(".lane-cards");
    if (list) {
      const { top, bottom } = list.getBoundingClientRect();
      list.scrollTop += pull(y, top, bottom);
    }
    this.#follow();
    this.#frame = requestAnimationFrame(this.#scrollAlong);
  };

  #finish(): void {
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
    this.#end.abort();
    document.documentElement.classList.remove("is-dragging");
    rest();
  }
}

/**
 * Keeps what is under a dragging finger from scrolling. It must listen before
 * the finger comes down: browsers ask then who wants to stop them.
 */
export function holdStill(element: HTMLElement): () => void {
  const hold = (event: Event) => {
    if (dragging.get().card !== undefined) event.preventDefault();
  };
  element.addEventListener("touchmove", hold, { passive: false });
  return () => element.removeEventListener("touchmove", hold);
}

function swallow(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}

/** How far to scroll when something is held at `at`. */
function pull(at: number, low: number, high: number): number {
  if (at < low + EDGE_PX) {
    return -SCROLL_PX_MAX * Math.min(1, (low + EDGE_PX - at) / EDGE_PX);
  }
  if (at > high - EDGE_PX) {
    return SCROLL_PX_MAX * Math.min(1, (at - high + EDGE_PX) / EDGE_PX);
  }
  return 0;
}

function laneUnder(x: number): HTMLElement | undefined {
  const lanes = document.querySelectorAll<HTMLElement>("[data-lane]");
  return [...lanes].find((lane) => {
    const { left, right } = lane.getBoundingClientRect();
    return x >= left - 6 && x <= right + 6;
  });
}

/** The place under a point: before the first card whose middle lies below it. */
function placeUnder(
  x: number,
  y: number,
  moving: string | undefined,
): Place | undefined {
  const lane = laneUnder(x);
  const column = lane?.dataset["lane"];
  if (lane === undefined || column === undefined) return undefined;
  const tiles = lane.querySelectorAll<HTMLElement>("[data-card]");
  for (const tile of tiles) {
    const id = tile.dataset["card"];
    if (id === moving) continue;
    const top = Number(tile.dataset["top"]) + listTop(lane);
    if (y < top + tile.offsetHeight / 2) return { column, before: id };
  }
  const list = lane.querySelector<HTMLElement>(".lane-cards");
  const after = list?.dataset["after"];
  return { column, before: after || undefined };
}

function listTop(lane: HTMLElement): number {
  const list = lane.querySelector(".lane-rows");
  return list?.getBoundingClientRect().top ?? 0;
}

/** Begins a press on a card. */
export function press(
  event: PointerEvent,
  tile: HTMLElement,
  hooks: DragHooks,
): void {
  if (event.button !== 0 || !event.isPrimary) return;
  new Press(event, tile, hooks);
}
