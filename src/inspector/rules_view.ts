/** Rules tried as anybody: may this user, with these claims, do that? Nothing is written. */

import { schemasOf } from "../db/observe.ts";
import type { Repository } from "../db/repository.ts";
import { strangerOf, Trial, type Tried } from "../db/trial.ts";
import { parseJson } from "../schema/json.ts";
import type {
  Decision,
  RuleClaims,
  RuleSession,
} from "../schema/rule_types.ts";
import type { Rules } from "../schema/rules.ts";
import type { Schema } from "../schema/schema.ts";
import { Changes } from "./changes.ts";
import { schemaOf } from "./collections.ts";
import { choices, element, type View } from "./element.ts";
import { FieldInput } from "./field_input.ts";

const ACTIONS = ["read", "create", "update", "delete"] as const;

export class RulesView implements View {
  readonly title = "Rules";
  readonly element: HTMLElement;
  readonly #chosen: () => Repository | undefined;
  readonly #rules: Rules | undefined;
  readonly #changes = new Changes();
  readonly #users = element("datalist", { id: "users" });
  readonly #user = input("User", { list: "users" });
  readonly #claims = element("textarea", {
    "aria-label": "Claims",
    rows: 1,
    spellcheck: "false",
  }, "{}") as HTMLTextAreaElement;
  readonly #action = element("select", {
    "aria-label": "Action",
  }) as HTMLSelectElement;
  readonly #collection = element("select", {
    "aria-label": "Collection",
  }) as HTMLSelectElement;
  readonly #ids = element("datalist", { id: "ids" });
  readonly #id = input("Item", { list: "ids" });
  readonly #verdict = element("p", { role: "status", class: "decision" });
  readonly #fields = element("div", { class: "fields" });
  #inputs: readonly FieldInput[] = [];
  /** What the inputs are of. */
  #shown = "";
  #trial: Trial | undefined;
  #repository: Repository | undefined;

  constructor(chosen: () => Repository | undefined, rules: Rules | undefined) {
    this.#chosen = chosen;
    this.#rules = rules;
    choices(this.#action, ACTIONS);
    this.#action.value = "update";
    const judge = () => this.#judge();
    const labelled = (text: string, control: HTMLElement) =>
      element("label", {}, element("b", {}, text), control);
    this.#user.addEventListener("input", () => this.#fillClaims());
    this.element = element(
      "div",
      { class: "data rules" },
      this.#verdict,
      element(
        "div",
        { class: "split", oninput: judge },
        element(
          "div",
          { class: "who" },
          labelled("user", this.#user),
          labelled("claims", this.#claims),
          labelled("action", this.#action),
          labelled("collection", this.#collection),
          labelled("item", this.#id),
          this.#users,
          this.#ids,
        ),
        this.#fields,
      ),
    );
  }

  draw(): void {
    const repository = this.#chosen();
    if (!this.#changes.of(repository)) return;
    if (repository !== this.#repository) this.#begin(repository);
    if (this.#trial === undefined) return;
    offer(this.#users, this.#trial.sessions().map(({ user }) => user));
    this.#judge();
  }

  /** Another repository: begins with whoever is signed in here. */
  #begin(repository: Repository | undefined): void {
    this.#repository = repository;
    this.#trial = repository && this.#rules &&
      new Trial(this.#rules, repository);
    const schemas = repository === undefined ? [] : schemasOf(repository);
    choices(this.#collection, schemas.map(({ name }) => name));
    if (this.#trial === undefined) {
      this.#say(
        "This database was opened without rules: nothing is asked of writes here.",
      );
    } else if (this.#user.value === "") {
      this.#user.value = this.#trial.user;
      this.#fillClaims();
    }
  }

  get #schema(): Schema | undefined {
    return this.#repository &&
      schemaOf(this.#repository, this.#collection.value);
  }

  /** Of who is known, the claims are, too. */
  #fillClaims(): void {
    const known = this.#known();
    if (known !== undefined) this.#claims.value = JSON.stringify(known.claims);
  }

  #known(): RuleSession | undefined {
    const { value } = this.#user;
    return this.#trial?.sessions().find(({ user }) => user === value);
  }

  #judge(): void {
    const schema = this.#schema;
    if (this.#trial === undefined || schema === undefined) return;
    this.#showFields(schema);
    try {
      this.#tell(this.#ask(this.#trial, schema));
    } catch (error) {
      this.#say((error as Error).message);
    }
  }

  #ask(trial: Trial, schema: Schema): Decision {
    const claims = claimsOf(this.#claims.value);
    const session: RuleSession = {
      ...this.#known() ?? strangerOf(this.#user.value, claims),
      claims,
    };
    const { value } = this.#action;
    if (value === "read") return trial.mayRead(session);
    const touched = this.#inputs.filter(({ isTouched }) => isTouched);
    if (value === "update" && touched.length === 0) {
      throw new SyntaxError(
        "Change a field: an update of nothing asks no rule.",
      );
    }
    const given = touched.map(({ name, value }) => [name, value]);
    const id = this.#id.value;
    if (value === "create" && id !== "") given.push(["id", id]);
    return trial.mayWrite(Object.freeze(session), {
      action: value as Tried["action"],
      schema,
      id,
      fields: Object.fromEntries(given),
    });
  }

  /** The fields of a create, or of an update with what is stored. */
  #showFields(schema: Schema): void {
    const { value } = this.#action;
    const has = value === "create" || value === "update";
    const shown = `${has} ${schema.name} ${value} ${has && this.#id.value}`;
    const items = this.#repository!.collection(schema);
    if (shown !== this.#shown) {
      this.#shown = shown;
      this.#inputs = has
        ? schema.plan.map((field) => new FieldInput(field, () => {}))
        : [];
      this.#fields.replaceChildren(
        ...this.#inputs.map(({ element }) => element),
      );
    }
    const { value: prefix } = this.#id;
    const near = items.where({ id: { prefix } } as never).limit(20).run();
    offer(this.#ids, near.map(({ id }) => id));
    if (value !== "update") return;
    const item: Readonly<Record<string, unknown>> | undefined = items.get(
      prefix,
    );
    for (const input of this.#inputs) input.show(item?.[input.name]);
  }

  #tell(decision: Decision): void {
    if (decision.allowed) return this.#say("Allowed", "yes");
    this.#say(`Denied: ${decision.reason} (rule ${decision.rule})`, "no");
  }

  #say(text: string, kind = ""): void {
    if (this.#verdict.textContent !== text) this.#verdict.textContent = text;
    this.#verdict.className = `decision ${kind}`;
  }

  close(): void {
    this.#changes.close();
  }
}

function input(label: string, more: { readonly list: string }) {
  return element("input", {
    "aria-label": label,
    autocomplete: "off",
    ...more,
  }) as HTMLInputElement;
}

function offer(list: HTMLElement, names: readonly string[]): void {
  list.replaceChildren(
    ...names.map((value) => element("option", { value })),
  );
}

function claimsOf(text: string): RuleClaims {
  let claims: unknown;
  try {
    claims = parseJson(text);
  } catch {
    // Said below.
  }
  if (typeof claims === "object" && claims !== null && !Array.isArray(claims)) {
    return claims as RuleClaims;
  }
  throw new SyntaxError("Claims are a JSON object, such as {}");
}
