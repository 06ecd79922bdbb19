/**
 * What is said on the connection, message by message, and where the chosen
 * repository stands.
 */

import type { Frame } from "../db/observe.ts";
import type { Repository } from "../db/repository.ts";
import { clockOf, element, type View } from "./element.ts";

const FRAMES_MAX = 200;

export class SyncView implements View {
  readonly title = "Sync";
  readonly element: HTMLElement = element("div", { class: "sync" });
  readonly #chosen: () => Repository | undefined;
  readonly #frames: Frame[] = [];
  #bytesIn = 0;
  #bytesOut = 0;

  constructor(chosen: () => Repository | undefined) {
    this.#chosen = chosen;
  }

  add(frame: Frame): void {
    if (frame.way === "in") this.#bytesIn += frame.bytes;
    else this.#bytesOut += frame.bytes;
    this.#frames.unshift(frame);
    if (this.#frames.length > FRAMES_MAX) this.#frames.pop();
  }

  draw(): void {
    this.element.replaceChildren(
      element("p", {}, this.#summary()),
      element(
        "p",
        {},
        `${this.#bytesIn} B in, ${this.#bytesOut} B out since the inspector opened`,
      ),
      element("ol", {}, ...this.#frames.map(line)),
    );
  }

  #summary(): string {
    const repository = this.#chosen();
    if (repository === undefined) return "No repository is open.";
    const { state, reason, unsent, equalAt, refusals } = repository.sync.status;
    const parts = [
      `${repository.name}: ${state}`,
      ...(reason === undefined ? [] : [`(${reason.code}: ${reason.message})`]),
      `${unsent.commits} commits unsent`,
      `${refusals.length} refused`,
      equalAt === undefined
        ? "never seen equal"
        : `equal at ${clockOf(equalAt)}`,
    ];
    return parts.join(" · ");
  }
}

function line({ at, way, kind, bytes }: Frame): HTMLElement {
  return element(
    "li",
    { class: way },
    element("time", {}, clockOf(new Date(at))),
    element("b", {}, way === "in" ? "← " : "→ ", kind),
    element("span", {}, `${bytes} B`),
  );
}
