/**
 * One item, to be changed, made or deleted through the ordinary way to write:
 * rules, validation and constraints are asked with every key, and what they do
 * not allow cannot be saved.
 */

import type { Repository } from "../db/repository.ts";
import type { Write } from "../db/write.ts";
import type { Decision } from "../schema/rule_types.ts";
import type { Schema, UpdateInput } from "../schema/schema.ts";
import { element } from "./element.ts";
import { FieldInput } from "./field_input.ts";

export interface ItemFormParts {
  readonly repository: Repository;
  readonly schema: Schema;
  /** Which item; absent for one that is to be made. */
  readonly id?: string;
  /** Something is about to be written. */
  readonly writing: () => void;
  /** Says what became of a write. */
  readonly say: (text: string) => void;
  /** It is done with: it closes, or goes on with an item that was made. */
  readonly done: (id?: string) => void;
}

/** What is typed may be written, or why not. */
interface Judged {
  readonly mayBeSaved: boolean;
  readonly text: string;
}

export class ItemForm {
  readonly element: HTMLElement;
  readonly id: string | undefined;
  readonly #parts: ItemFormParts;
  readonly #inputs: readonly FieldInput[];
  readonly #idInput = element("input", {
    "aria-label": "id",
    autocomplete: "off",
  });
  readonly #save = element("button", { type: "submit" }, "Save");
  readonly #delete = element("button", { type: "button" }, "Delete");
  readonly #verdict = element("p", { role: "status", class: "verdict" });

  constructor(parts: ItemFormParts) {
    const { schema, id, done } = parts;
    this.#parts = parts;
    this.id = id;
    const changed = () => this.#judge();
    this.#inputs = schema.plan.map((field) => new FieldInput(field, changed));
    this.#idInput.addEventListener("input", changed);
    this.#delete.addEventListener("click", () => this.#remove());
    this.#delete.hidden = id === undefined;
    const title = id === undefined
      ? `New ${schema.name}`
      : `${schema.name}/${id}`;
    const idHint = element("span", { class: "hint" }, "made where it is empty");
    const onsubmit = (event: Event) => {
      event.preventDefault();
      this.#write();
    };
    const onkeydown = (event: Event) => {
      const { key, ctrlKey, metaKey } = event as KeyboardEvent;
      if (key === "Escape") done();
      else if (key === "Enter" && (ctrlKey || metaKey)) this.#write();
    };
    this.element = element(
      "form",
      { "aria-label": title, onsubmit, onkeydown },
      element("h2", {}, title),
      ...id === undefined
        ? [element("label", {}, element("b", {}, "id"), idHint, this.#idInput)]
        : [],
      ...this.#inputs.map(({ element }) => element),
      element(
        "footer",
        {},
        this.#save,
        this.#delete,
        element("button", { type: "button", onclick: () => done() }, "Close"),
        this.#verdict,
      ),
    );
    this.refresh();
  }

  focus(): void {
    this.element.querySelector<HTMLElement>("input, select, textarea")?.focus();
  }

  /** Shows the item as it is now; what is being typed stays. */
  refresh(): void {
    const item: Readonly<Record<string, unknown>> | undefined = this.#item();
    for (const input of this.#inputs) input.show(item?.[input.name]);
    this.#judge();
  }

  #item() {
    const { repository, schema } = this.#parts;
    return this.id === undefined
      ? undefined
      : repository.collection(schema).get(this.id);
  }

  #judge(): void {
    const { mayBeSaved, text } = judged(() => this.#ask());
    setOff(this.#save, !mayBeSaved);
    if (this.#verdict.textContent !== text) this.#verdict.textContent = text;
    this.#verdict.classList.toggle("no", !mayBeSaved && this.#isTouched);
    const { repository, schema } = this.#parts;
    const { id } = this;
    if (id === undefined) return;
    const deletion = judged(() =>
      verdictOf(repository.can("delete", schema, id))
    );
    setOff(this.#delete, !deletion.mayBeSaved);
    this.#delete.title = deletion.mayBeSaved ? "" : deletion.text;
  }

  #ask(): Judged {
    const { repository, schema } = this.#parts;
    const { id } = this;
    if (id === undefined) {
      return verdictOf(
        repository.can("create", schema, this.#draft() as never),
      );
    }
    if (this.#item() === undefined) {
      return { mayBeSaved: false, text: "This item is not there any more" };
    }
    const draft = this.#draft();
    if (Object.keys(draft).length === 0) {
      return { mayBeSaved: false, text: "Nothing is changed" };
    }
    return verdictOf(repository.can("update", schema, id, draft));
  }

  get #isTouched(): boolean {
    return this.#inputs.some(({ isTouched }) => isTouched);
  }

  /** What was typed; `SyntaxError` where it is no value. */
  #draft(): UpdateInput<Schema> & { readonly id?: string } {
    const touched = this.#inputs.filter(({ isTouched }) => isTouched);
    const draft = Object.fromEntries(
      touched.map(({ name, value }) => [name, value]),
    );
    const { value } = this.#idInput as HTMLInputElement;
    if (this.id === undefined && value !== "") draft["id"] = value;
    return draft as UpdateInput<Schema>; // The write says whether it fits.
  }

  #write(): void {
    const { repository, schema, done, say, writing } = this.#parts;
    if (isOff(this.#save)) return;
    const collection = repository.collection(schema);
    try {
      writing();
      if (this.id === undefined) {
        const write = collection.create(this.#draft() as never);
        done(write.id);
        return follow(write, `Created ${write.id}`, say);
      }
      const write = collection.update(this.id, this.#draft());
      for (const input of this.#inputs) input.reset();
      this.refresh();
      follow(write, `Saved ${this.id}`, say);
    } catch (error) {
      say((error as Error).message);
    }
  }

  #remove(): void {
    const { repository, schema, done, say, writing } = this.#parts;
    if (isOff(this.#delete)) return;
    try {
      writing();
      const write = repository.collection(schema).delete(this.id!);
      done();
      follow(write, `Deleted ${this.id}`, say);
    } catch (error) {
      say((error as Error).message);
    }
  }
}

/** A button that is off can be reached all the same, so that its reason can. */
function setOff(button: HTMLElement, isOff: boolean): void {
  button.setAttribute("aria-disabled", String(isOff));
}

function isOff(button: HTMLElement): boolean {
  return button.getAttribute("aria-disabled") === "true";
}

function judged(ask: () => Judged): Judged {
  try {
    return ask();
  } catch (error) {
    return { mayBeSaved: false, text: (error as Error).message };
  }
}

function verdictOf(decision: Decision): Judged {
  return decision.allowed
    ? { mayBeSaved: true, text: "May be saved" }
    : { mayBeSaved: false, text: `${decision.reason} (rule ${decision.rule})` };
}

/** Says what becomes of a write: here, and at the server. */
export function follow(
  write: Write<unknown>,
  what: string,
  say: (text: string) => void,
): void {
  say(`${what}; the server does not have it yet`);
  write.synced.then(
    () => say(`${what}; the server has it`),
    (error: Error) => say(error.message),
  );
}
