/**
 * The page of a tab: whether somebody sees it, its sleep and its network, as the
 * platform tells them.
 */

import { holdLock, type Locks, ownerLock } from "./locks.ts";

interface EventSource {
  addEventListener(type: string, listener: (event: Event) => void): void;
  removeEventListener(type: string, listener: (event: Event) => void): void;
}

export interface Page {
  readonly isHidden: boolean;
  /** Hears what happens to it; the result ends that. */
  watch(listener: (what: PageEvent) => void): () => void;
}

/** `gone`: for ever. */
export type PageEvent =
  | "hidden"
  | "visible"
  | "freeze"
  | "resume"
  | "gone"
  | "online"
  | "offline";

/** A page that is always seen, as where there is no document. */
export const steadyPage: Page = { isHidden: false, watch: () => () => {} };

export function platformPage(): Page {
  const { document } = globalThis as {
    readonly document?: EventSource & { readonly visibilityState: string };
  };
  if (document === undefined) return steadyPage;
  return {
    get isHidden() {
      return document.visibilityState === "hidden";
    },
    watch(listener) {
      const seen = () =>
        listener(document.visibilityState === "hidden" ? "hidden" : "visible");
      const freeze = () => listener("freeze");
      const resume = () => listener("resume");
      let isLeaving = false;
      // What the app, and a text that is being typed, still write while the page goes is heard before its end:
      // a page that was seen is told last, on its window, that nobody sees it any more.
      const left = (event: Event) => {
        // A page that is kept for the way back may come to life again.
        if ((event as Event & { readonly persisted?: boolean }).persisted) {
          return freeze();
        }
        isLeaving = document.visibilityState !== "hidden";
        listener(isLeaving ? "hidden" : "gone");
      };
      const last = () => isLeaving && listener("gone");
      const back = (event: Event) =>
        (event as Event & { readonly persisted?: boolean }).persisted &&
        resume();
      const page = globalThis as unknown as EventSource;
      const all: [EventSource, string, (event: Event) => void][] = [
        [document, "visibilitychange", seen],
        [document, "freeze", freeze],
        [document, "resume", resume],
        [page, "pagehide", left],
        [page, "visibilitychange", last],
        [page, "pageshow", back],
        [page, "online", () => listener("online")],
        [page, "offline", () => listener("offline")],
      ];
      for (const [on, type, hear] of all) on.addEventListener(type, hear);
      return () => {
        for (const [on, type, hear] of all) on.removeEventListener(type, hear);
      };
    },
  };
}

export function seenLock(database: string, tab: string): string {
  return `${ownerLock(database)}:seen:${tab}`;
}

export class SwitchedLock {
  readonly #locks: Locks;
  readonly #name: string;
  #isOn = false;
  #held: Promise<(() => void) | undefined> = Promise.resolve(undefined);

  constructor(locks: Locks, name: string) {
    this.#locks = locks;
    this.#name = name;
  }

  set(isOn: boolean): void {
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    this.#held = this.#held.then((release) => {
      release?.();
      return isOn ? holdLock(this.#locks, this.#name) : undefined;
    });
  }
}
