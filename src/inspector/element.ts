/** Elements in one call: tag, attributes, children. */

export interface View {
  /** What its tab says. */
  readonly title: string;
  /** Where it draws. */
  readonly element: HTMLElement;
  /** Looks again and draws; runs a few times a second while it is shown. */
  draw(): void;
  /** It is not shown any more, for good. */
  close?(): void;
}

/** What an element gets: attributes, and listeners under `on…`. */
export type Attributes = Readonly<
  Record<string, string | number | boolean | ((event: Event) => void)>
>;

export type Child = Node | string | number;

const SVG = "http://www.w3.org/2000/svg";

export function element(
  tag: string,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElement {
  return fill(document.createElement(tag), attributes, children);
}

export function shape(
  tag: string,
  attributes: Attributes = {},
  ...children: readonly Child[]
): Element {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Offers names to choose from; what is chosen stays, where it is still there. */
export function choices(
  select: HTMLSelectElement,
  names: readonly string[],
): void {
  const shown = [...select.options].map(({ value }) => value);
  if (JSON.stringify(shown) === JSON.stringify(names)) return;
  const { value } = select;
  select.replaceChildren(
    ...names.map((name) =>
      element("option", { value: name, selected: name === value }, name)
    ),
  );
}

/** The time of day, to the second, by the device's clock of 24 hours. */
export function clockOf(at: Date): string {
  return at.toLocaleTimeString(undefined, { hourCycle: "h23" });
}

function fill<E extends Element>(
  target: E,
  attributes: Attributes,
  children: readonly Child[],
): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      target.addEventListener(name.slice(2), value);
    } else if (value !== false) {
      target.setAttribute(name, value === true ? "" : String(value));
    }
  }
  // Text is text: what users wrote is never read as markup.
  target.append(
    ...children.map((child) =>
      typeof child === "number" ? String(child) : child
    ),
  );
  return target;
}
