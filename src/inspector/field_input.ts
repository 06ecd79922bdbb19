/** One field of an item, to be read and typed. */

import type { SchemaField } from "../schema/validate.ts";
import { type Attributes, element } from "./element.ts";
import { isJson, textOf, valueOf } from "./values.ts";

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

export class FieldInput {
  readonly name: string;
  readonly element: HTMLElement;
  readonly #field: SchemaField;
  readonly #control: Control;
  readonly #hint = element("span", { class: "hint" });
  /** What was shown when somebody began to type. */
  #shown = "";
  #isTouched = false;

  /** @param changed hears that something was typed */
  constructor(field: SchemaField, changed: () => void) {
    this.name = field.name;
    this.#field = field;
    const touch = () => {
      this.#isTouched = true;
      changed();
    };
    this.#control = controlOf(field, {
      "aria-label": field.name,
      oninput: touch,
    });
    this.element = element(
      "label",
      {},
      element("b", {}, field.name),
      element("span", { class: "hint" }, kindOf(field)),
      this.#control,
      this.#hint,
    );
  }

  get isTouched(): boolean {
    return this.#isTouched;
  }

  /** What was typed, as a value: nothing is absent where it may be; `SyntaxError` where it is no value. */
  get value(): unknown {
    const { value } = this.#control;
    const isAbsent = value === "" && this.#field.isOptional;
    return isAbsent ? undefined : valueOf(value, this.#field);
  }

  /** Shows what is stored; what is being typed stays, and what is stored is told beside it. */
  show(value: unknown): void {
    const text = textOf(value, this.#field);
    const isOverwritten = this.#isTouched && text !== this.#shown;
    this.#hint.textContent = isOverwritten
      ? `Changed meanwhile: ${text === "" ? "absent" : text}`
      : "";
    if (this.#isTouched) return;
    this.#shown = text;
    if (this.#control.value !== text) this.#control.value = text;
  }

  /** What was typed is written, or given up. */
  reset(): void {
    this.#isTouched = false;
  }
}

function kindOf({ kind, inner, isOptional, target }: SchemaField): string {
  const what = inner === undefined ? kind : `${kind} of ${inner.kind}`;
  const to = target ?? inner?.target;
  return `${what}${to === undefined ? "" : ` to ${to}`}${
    isOptional ? ", optional" : ""
  }`;
}

function controlOf(field: SchemaField, attributes: Attributes): Control {
  const { kind, options } = field;
  const choices = kind === "boolean" ? ["true", "false"] : options;
  if (choices !== undefined) {
    const empty = element("option", { value: "" }, "");
    const all = [...choices].map((one) =>
      element("option", { value: one }, one)
    );
    return element("select", attributes, empty, ...all) as HTMLSelectElement;
  }
  const isLong = isJson(kind) || kind === "text" || kind === "string";
  return isLong
    ? element("textarea", {
      ...attributes,
      rows: 1,
      spellcheck: "false",
    }) as HTMLTextAreaElement
    : element("input", {
      ...attributes,
      autocomplete: "off",
    }) as HTMLInputElement;
}
