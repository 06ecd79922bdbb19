/** A console for queries: what they give, how they are answered, and how long that takes. */

import type { Repository } from "../db/repository.ts";
import type { Explanation, Live } from "../query/mod.ts";
import type { Query } from "../query/query.ts";
import { collectionOf, collectionsOf } from "./collections.ts";
import { choices, element, type View } from "./element.ts";
import { type Column, itemTable } from "./item_table.ts";
import { formatMs } from "./latencies.ts";
import { type Call, parseQuery } from "./query_text.ts";

/** More rows are counted, not shown. */
const ROWS_MAX = 200;

type Row = { readonly id: string };
/** What text asks for: the query itself says whether it was given what it takes. */
type Asked =
  & Pick<Query<Row>, "run" | "explain" | "subscribe">
  & { readonly [M in Call["method"]]: (...given: readonly unknown[]) => Asked };

export class QueryView implements View {
  readonly title = "Query";
  readonly element: HTMLElement;
  readonly #chosen: () => Repository | undefined;
  readonly #collection = element("select", {
    "aria-label": "Collection to query",
  }) as HTMLSelectElement;
  readonly #text = element("textarea", {
    "aria-label": "Query",
    rows: 1,
    spellcheck: "false",
    placeholder: 'where({ … }).orderBy("…").limit(20)',
  }, "limit(50)") as HTMLTextAreaElement;
  readonly #isLive = element("input", { type: "checkbox" }) as HTMLInputElement;
  readonly #fields = element("p", { class: "hint" });
  readonly #said = element("p", { role: "status", class: "explained" });
  readonly #rows = element("div", {
    class: "rows",
    tabindex: 0,
    role: "region",
    "aria-label": "Rows",
  });
  #repository: Repository | undefined;
  #columns: readonly Column[] = [];
  #live: Live<Row> | undefined;
  #changes = 0;
  #isNews = false;

  constructor(chosen: () => Repository | undefined) {
    this.#chosen = chosen;
    const onsubmit = (event: Event) => {
      event.preventDefault();
      this.#run();
    };
    this.#text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      event.preventDefault();
      this.#run();
    });
    this.#isLive.addEventListener("change", () => this.#run());
    this.#collection.addEventListener("change", () => this.#begin());
    this.element = element(
      "div",
      { class: "data query" },
      element(
        "form",
        { class: "bar", onsubmit },
        this.#collection,
        this.#text,
        element("button", {}, "Run"),
        element("label", { class: "check" }, this.#isLive, "live"),
      ),
      this.#fields,
      this.#said,
      this.#rows,
    );
  }

  draw(): void {
    const repository = this.#chosen();
    const names = repository === undefined ? [] : collectionsOf(repository);
    choices(this.#collection, names);
    if (repository !== this.#repository) {
      this.#repository = repository;
      this.#begin();
    }
    if (this.#live === undefined || !this.#isNews) return;
    this.#isNews = false;
    this.#show(
      this.#live.getSnapshot(),
      `live, changed ${this.#changes} times`,
    );
  }

  get #source() {
    const { value } = this.#collection;
    return value === "" || this.#repository === undefined
      ? undefined
      : collectionOf(this.#repository, value);
  }

  /** Another collection: its fields are named, and nothing is asked yet. */
  #begin(): void {
    this.#end();
    this.#rows.replaceChildren();
    this.#said.replaceChildren();
    const { plan = [] } = this.#source?.schema ?? {};
    this.#columns = plan;
    const fields = plan.map(({ name, kind }) => `${name} ${kind}`);
    this.#fields.textContent = ["id", ...fields].join(" · ");
  }

  #run(): void {
    this.#end();
    const source = this.#source;
    if (source === undefined) return;
    try {
      let query = source.query() as unknown as Asked; // Proof: `Asked` is what a query has.
      for (const { method, given } of parseQuery(this.#text.value)) {
        query = query[method](...given);
      }
      const start = performance.now();
      const rows = query.run();
      const took = formatMs(performance.now() - start);
      const explanation = query.explain();
      if (this.#isLive.checked) {
        this.#live = query.subscribe(() => {
          this.#changes++;
          this.#isNews = true;
        });
      }
      this.#show(rows, took, explanation);
    } catch (error) {
      this.#rows.replaceChildren();
      this.#said.replaceChildren(
        element("span", { class: "no" }, (error as Error).message),
      );
    }
  }

  #show(
    rows: readonly Row[],
    how: string,
    explanation?: Explanation,
  ): void {
    const count = element("b", {}, `${rows.length} rows`);
    const shown = rows.length > ROWS_MAX ? `, the first ${ROWS_MAX} shown` : "";
    const summary = element("span", {}, count, `${shown} · ${how}`);
    if (explanation === undefined) this.#said.firstChild?.replaceWith(summary);
    else this.#said.replaceChildren(summary, ...explained(explanation));
    this.#rows.replaceChildren(
      itemTable(this.#columns, rows.slice(0, ROWS_MAX)),
    );
  }

  /** Nothing is followed any more. */
  #end(): void {
    this.#live?.[Symbol.dispose]();
    this.#live = undefined;
    this.#changes = 0;
    this.#isNews = false;
  }

  close(): void {
    this.#end();
  }
}

function explained(
  { plan, rowsScanned, rowsReturned, hint }: Explanation,
): HTMLElement[] {
  return [
    element("span", {}, "plan: ", element("b", {}, plan)),
    element("span", {}, `${rowsScanned} scanned, ${rowsReturned} returned`),
    ...hint === undefined ? [] : [element("span", { class: "no" }, hint)],
  ];
}
