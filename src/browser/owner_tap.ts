/**
 * The connection's frames for tabs that inspect them: collected for a moment,
 * the newest ones where there are many.
 *
 * Architecture invariant: nothing is collected for who does not look.
 *
 * @module
 */

import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { Frame, Observable } from "../db/internals.ts";
import type { Member } from "./owner_members.ts";

/** What it works with. */
export interface OwnerTapParts {
  readonly observable: Pick<Observable, "tap">;
  readonly world: World;
  readonly tabs: () => readonly Member[];
}

/** Shows frames to those who look. */
export class OwnerTap {
  readonly #parts: OwnerTapParts;
  readonly #lookers = new Set<string>();
  #frames: Frame[] = [];
  #cancel: (() => void) | undefined;

  constructor(parts: OwnerTapParts) {
    this.#parts = parts;
  }

  /** A tab begins to look, or looks no more. */
  set({ id }: Pick<Member, "id">, isLooking: boolean): void {
    const had = this.#lookers.size > 0;
    if (isLooking) this.#lookers.add(id);
    else this.#lookers.delete(id);
    const has = this.#lookers.size > 0;
    if (had === has) return;
    this.#parts.observable.tap(
      has ? (frame) => this.#note(frame) : undefined,
    );
    if (!has) this.#drop();
  }

  #note(frame: Frame): void {
    this.#frames.push(frame);
    if (this.#frames.length > 2 * limits.tabFramesMax) this.#trim();
    this.#cancel ??= this.#parts.world.after(
      limits.tabFramesMs,
      () => this.#tell(),
    );
  }

  #trim(): void {
    this.#frames = this.#frames.slice(-limits.tabFramesMax);
  }

  #tell(): void {
    this.#trim();
    const frames = this.#frames;
    this.#drop();
    for (const tab of this.#parts.tabs()) {
      if (this.#lookers.has(tab.id)) tab.post({ kind: "frames", frames });
    }
  }

  #drop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#frames = [];
  }

  /** Shows nothing more to anybody. */
  close(): void {
    this.#lookers.clear();
    this.#parts.observable.tap(undefined);
    this.#drop();
  }
}
