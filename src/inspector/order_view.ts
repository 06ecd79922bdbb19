/**
 * Commits in the order in which the server accepted them, newest first: what
 * waits for it, what it refused and why, and when it took the rest.
 */

import { orderOfAcceptance, type PlacedCommit } from "../db/acceptance.ts";
import type { AcceptedChain, Frame, Observed } from "../db/observe.ts";
import type { Repository } from "../db/repository.ts";
import { timeOf, what } from "./commits_view.ts";
import { Changes } from "./changes.ts";
import { clockOf, element, type View } from "./element.ts";

/** As many as a person looks through. */
const COMMITS_MAX = 200;
const TOLD_MAX = 2_000;

export class OrderView implements View {
  readonly title = "Order";
  readonly element: HTMLElement = element("div", { class: "order" });
  readonly #chosen: () => Repository | undefined;
  readonly #observed: () => Observed;
  /** What the server told since the panel was opened, oldest first. */
  readonly #told: AcceptedChain[] = [];
  readonly #changes = new Changes();
  #isTold = false;
  #status: Repository["sync"]["status"] | undefined;

  constructor(chosen: () => Repository | undefined, observed: () => Observed) {
    this.#chosen = chosen;
    this.#observed = observed;
  }

  add({ accepted }: Frame): void {
    if (accepted.length === 0) return;
    this.#isTold = true;
    this.#told.push(...accepted);
    if (this.#told.length > TOLD_MAX) {
      this.#told.splice(0, this.#told.length - TOLD_MAX);
    }
  }

  draw(): void {
    const repository = this.#chosen();
    const status = repository?.sync.status;
    const isSame = status === this.#status && !this.#isTold;
    if (!this.#changes.of(repository) && isSame) return;
    this.#status = status;
    this.#isTold = false;
    const order = repository === undefined ? [] : orderOfAcceptance(
      repository,
      COMMITS_MAX,
      this.#told,
      this.#observed().acceptedBefore(repository),
    );
    this.element.replaceChildren(
      element(
        "p",
        {},
        order.length === 0
          ? "No commits yet."
          : "Newest first. Times of acceptance are the server's, known since this panel was opened; " +
            "before, others' commits stand as the server had them, own ones as they were written.",
      ),
      element("ol", {}, ...order.map(line)),
    );
  }

  close(): void {
    this.#changes.close();
  }
}

function line(placed: PlacedCommit): HTMLElement {
  const { commit, state, acceptedAt, refusal } = placed;
  const said = refusal === undefined
    ? commit
    : { ...commit, operations: refusal.operations };
  const isSilent = state === "void" && refusal === undefined;
  return element(
    "li",
    { class: state, title: commit.commit },
    element(
      "b",
      { class: "state" },
      acceptedAt === undefined || state !== "accepted"
        ? state
        : `accepted ${clockOf(acceptedAt)}`,
    ),
    element("time", { datetime: commit.at.toISOString() }, timeOf(commit.at)),
    element("b", {}, commit.user ?? "unknown"),
    element(
      "span",
      { class: "what" },
      isSilent ? "refused or given up: why, its author was told" : what(said),
    ),
    ...refusal === undefined
      ? []
      : [element("span", { class: "why no" }, reasonOf(refusal))],
    element("code", {}, `${commit.chain}·${commit.number}`),
  );
}

function reasonOf(
  { reason, rule, detail }: NonNullable<PlacedCommit["refusal"]>,
): string {
  const by = rule === "" ? "" : ` by rule ${rule}`;
  return `${reason}${by}${detail === "" ? "" : `: ${detail}`}`;
}
