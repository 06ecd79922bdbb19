/**
 * The inspector: a panel at the foot of a page in development. It shows items and
 * edits them, answers queries, tries rules as anybody, shows the order in which
 * commits were accepted, commits as a graph and who signed them, what is said to
 * the server, live queries and their cost, and latencies of writes as they happen.
 *
 * It measures only while it is open, and changes nothing but what is edited in it,
 * as the app would. It is checked beside the DOM types that apps have.
 *
 * ```ts ignore
 * if (import.meta.env.DEV) {
 *   const { inspect } = await import("@sheaf/sheaf/inspector");
 *   inspect(database);
 * }
 * ```
 *
 * @module
 */

import { checkOptions } from "../base/known_options.ts";
import type { Database } from "../db/database.ts";
import { observe, type Observed } from "../db/observe.ts";
import type { Repository } from "../db/repository.ts";
import { CommitsView } from "./commits_view.ts";
import { DataView } from "./data_view.ts";
import { choices, element, type View } from "./element.ts";
import { LatencyView } from "./latency_view.ts";
import { QueriesView } from "./queries_view.ts";
import { OrderView } from "./order_view.ts";
import { QueryView } from "./query_view.ts";
import { RulesView } from "./rules_view.ts";
import { style } from "./style.ts";
import { SyncView } from "./sync_view.ts";

/** How it comes up. */
export interface InspectOptions {
  /** Is it open at once? (default: false) */
  readonly isOpen?: boolean;
}

/** An inspector that is there. */
export interface Inspector extends Disposable {
  /** Opens or closes the panel, as Alt+Shift+S does. */
  toggle(): void;
}

/** While it is open it looks again this often. */
const DRAW_MS = 250;

/** Puts an inspector into the page; Alt+Shift+S opens and closes it. */
export function inspect(
  database: Database,
  options: InspectOptions = {},
): Inspector {
  const { isOpen = false } = checkOptions(options, { isOpen: 0 });
  const host = element("sheaf-inspector");
  document.body.append(host);
  const root = host.attachShadow({ mode: "open" });
  let panel: Panel | undefined;
  const toggle = () => {
    // Pages may make room for it: `sheaf-inspector[open]`.
    host.toggleAttribute("open", panel === undefined);
    if (panel === undefined) {
      return void (panel = new Panel(database, root, toggle));
    }
    panel.close();
    panel = undefined;
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.altKey && event.shiftKey && event.code === "KeyS") {
      event.preventDefault();
      toggle();
    }
  };
  addEventListener("keydown", onKey);
  root.addEventListener("keydown", (event) => onKey(event as KeyboardEvent));
  // What is typed here is none of the page's shortcuts.
  for (const type of ["keydown", "keypress", "keyup"]) {
    root.addEventListener(type, (event) => event.stopPropagation());
  }
  if (isOpen) toggle();
  const dispose = () => {
    removeEventListener("keydown", onKey);
    panel?.close();
    host.remove();
  };
  return { toggle, [Symbol.dispose]: dispose };
}

/** An open panel; it measures from now until it is closed. */
class Panel {
  readonly #observed: Observed;
  readonly #root: ShadowRoot;
  readonly #views: readonly View[];
  readonly #main = element("div", { tabindex: 0, role: "tabpanel" });
  readonly #tabs: readonly HTMLElement[];
  readonly #choice = element("select", {
    "aria-label": "Repository",
  }) as HTMLSelectElement;
  readonly #timer: ReturnType<typeof setInterval>;
  #shown: View;

  constructor(database: Database, root: ShadowRoot, toggle: () => void) {
    const chosen = () => this.#chosen();
    const [sync, latency] = [new SyncView(chosen), new LatencyView()];
    const order = new OrderView(chosen, () => this.#observed);
    this.#root = root;
    this.#observed = observe(database, {
      wrote: (ms) => latency.latencies.add(ms),
      frame: (frame) => {
        sync.add(frame);
        order.add(frame);
      },
    });
    const costs = () => this.#observed.costs();
    this.#views = [
      new DataView(chosen),
      new QueryView(chosen),
      new RulesView(chosen, this.#observed.rules),
      order,
      new CommitsView(chosen),
      new QueriesView(costs),
      sync,
      latency,
    ];
    this.#shown = this.#views[0]!;
    this.#tabs = this.#views.map((view) =>
      element(
        "button",
        { role: "tab", onclick: () => this.#show(view) },
        view.title,
      )
    );
    root.replaceChildren(
      element("style", {}, style),
      element(
        "section",
        { "aria-label": "Sheaf inspector" },
        element(
          "header",
          {},
          element("strong", {}, "Sheaf"),
          element("div", { role: "tablist" }, ...this.#tabs),
          this.#choice,
          element(
            "button",
            { "aria-label": "Close the inspector", onclick: toggle },
            "✕",
          ),
        ),
        this.#main,
      ),
    );
    this.#show(this.#shown);
    this.#timer = setInterval(() => this.#draw(), DRAW_MS);
  }

  #show(view: View): void {
    this.#shown = view;
    for (const [i, tab] of this.#tabs.entries()) {
      tab.setAttribute("aria-selected", String(this.#views[i] === view));
    }
    this.#main.setAttribute("aria-label", view.title);
    this.#main.replaceChildren(view.element);
    this.#draw();
  }

  #draw(): void {
    choices(
      this.#choice,
      this.#observed.repositories().map(({ name }) => name),
    );
    this.#shown.draw();
  }

  #chosen(): Repository | undefined {
    const { value } = this.#choice;
    return this.#observed.repositories().find(({ name }) => name === value);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const view of this.#views) view.close?.();
    this.#observed[Symbol.dispose]();
    this.#root.replaceChildren();
  }
}
