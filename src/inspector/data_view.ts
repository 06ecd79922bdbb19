/** The items of a repository, page by page, to be looked at and changed. */

import type { Repository } from "../db/repository.ts";
import type { Undo } from "../db/undo.ts";
import type { Schema } from "../schema/schema.ts";
import { collectionOf, collectionsOf, schemaOf } from "./collections.ts";
import { Changes } from "./changes.ts";
import { choices, element, type View } from "./element.ts";
import { follow, ItemForm } from "./item_form.ts";
import { focusRow, itemTable, keepRow } from "./item_table.ts";

/** A page is what a person looks through. */
const PAGE = 50;

export class DataView implements View {
  readonly title = "Data";
  readonly element: HTMLElement;
  readonly #chosen: () => Repository | undefined;
  readonly #changes = new Changes();
  readonly #collection = element("select", {
    "aria-label": "Collection",
  }) as HTMLSelectElement;
  readonly #prefix = element("input", {
    "aria-label": "Ids that begin with",
    placeholder: "id begins with",
    autocomplete: "off",
  }) as HTMLInputElement;
  readonly #count = element("span", { class: "count" });
  readonly #said = element("p", { role: "status", class: "said" });
  readonly #rows = element("div", {
    class: "rows",
    tabindex: 0,
    role: "region",
    "aria-label": "Items",
  });
  readonly #place = element("div", { class: "place" });
  readonly #undo: HTMLButtonElement;
  readonly #redo: HTMLButtonElement;
  readonly #new: HTMLButtonElement;
  #page = 0;
  #form: ItemForm | undefined;
  /** What can be taken back, once somebody wrote here: asking makes it begin. */
  #steps: Undo | undefined;
  #repository: Repository | undefined;

  constructor(chosen: () => Repository | undefined) {
    this.#chosen = chosen;
    const anew = () => {
      this.#page = 0;
      this.#changes.touch();
      this.draw();
    };
    this.#collection.addEventListener("change", () => {
      this.#page = 0;
      this.#open(undefined);
    });
    this.#prefix.addEventListener("input", anew);
    this.#undo = this.#button("Undo", () => this.#step("undo"));
    this.#redo = this.#button("Redo", () => this.#step("redo"));
    this.#new = this.#button("New", () => this.#open({}));
    this.element = element(
      "div",
      { class: "data" },
      element(
        "div",
        { class: "bar" },
        this.#collection,
        this.#prefix,
        this.#button("‹", () => this.#turn(-1), "Page before"),
        this.#count,
        this.#button("›", () => this.#turn(1), "Next page"),
        this.#new,
        this.#undo,
        this.#redo,
      ),
      element("div", { class: "split" }, this.#rows, this.#place),
      this.#said,
    );
  }

  #button(text: string, act: () => void, label = text): HTMLButtonElement {
    return element("button", {
      type: "button",
      "aria-label": label,
      onclick: act,
    }, text) as HTMLButtonElement;
  }

  draw(): void {
    const repository = this.#chosen();
    if (repository !== this.#repository) {
      this.#repository = repository;
      this.#steps = undefined;
      return this.#open(undefined);
    }
    const { canUndo = false, canRedo = false } = this.#steps ?? {};
    this.#undo.disabled = !canUndo;
    this.#redo.disabled = !canRedo;
    if (!this.#changes.of(repository)) return;
    const all = repository === undefined ? [] : collectionsOf(repository);
    choices(this.#collection, all);
    this.#new.disabled = this.#schema === undefined;
    this.#drawRows(repository);
    this.#form?.refresh();
  }

  #drawRows(repository: Repository | undefined): void {
    const name = this.#collection.value;
    if (repository === undefined || name === "") {
      this.#count.textContent = "";
      return this.#rows.replaceChildren(
        element("p", {}, "Nothing is stored, and no schema is declared."),
      );
    }
    const collection = collectionOf(repository, name);
    const prefix = this.#prefix.value;
    const query = prefix === ""
      ? collection.query()
      : collection.where({ id: { prefix } });
    const count = query.count();
    this.#page = Math.max(0, Math.min(this.#page, Math.ceil(count / PAGE) - 1));
    const first = this.#page * PAGE;
    // With a limit they come in the order of their ids.
    const rows = query.offset(first).limit(PAGE).run();
    this.#count.textContent = count === 0
      ? "0 items"
      : `${first + 1}–${first + rows.length} of ${count}`;
    const open = (id: string) => this.#open({ id });
    keepRow(this.#rows, () =>
      this.#rows.replaceChildren(
        itemTable(collection.schema.plan, rows, open, this.#form?.id),
      ));
  }

  /** The schema of the chosen collection, where the app declared it: without one nothing can be written. */
  get #schema(): Schema | undefined {
    return this.#repository &&
      schemaOf(this.#repository, this.#collection.value);
  }

  #turn(pages: number): void {
    this.#page += pages;
    this.#changes.touch();
    this.draw();
  }

  /** Opens an item, or a new one; none closes what is open. */
  #open(item: { readonly id?: string } | undefined): void {
    const repository = this.#repository;
    const schema = this.#schema;
    const before = this.#form?.id;
    this.#form = undefined;
    if (item !== undefined && repository !== undefined) {
      if (schema === undefined) {
        this.#say("The app declares no schema for it: it can only be read");
      } else {
        this.#form = new ItemForm({
          ...{ repository, schema, ...item },
          say: (text) => this.#say(text),
          writing: () => this.#steps = repository.undo,
          done: (id) => this.#open(id === undefined ? undefined : { id }),
        });
      }
    }
    this.#place.replaceChildren(...this.#form ? [this.#form.element] : []);
    this.#changes.touch();
    this.draw();
    if (this.#form !== undefined) this.#form.focus();
    else if (before !== undefined) focusRow(this.#rows, before);
  }

  #step(what: "undo" | "redo"): void {
    try {
      const write = this.#steps?.[what]();
      if (write === undefined) return;
      const { leftAlone } = write.result;
      follow(
        write,
        leftAlone.length === 0
          ? what === "undo" ? "Undone" : "Redone"
          : `Done but for ${leftAlone.length} that others changed since`,
        (text) => this.#say(text),
      );
    } catch (error) {
      this.#say((error as Error).message);
    }
  }

  #say(text: string): void {
    this.#said.textContent = this.#said.title = text;
  }

  close(): void {
    this.#changes.close();
  }
}
