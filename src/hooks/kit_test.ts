/**
 * The test kit of this folder: just enough of a document for Preact to render
 * into, and components that count how often they render. What a browser alone
 * can show is tested in `tests/browser/`.
 *
 * @module
 */

import { type ComponentChild, render } from "preact";

/** One node: an element or a text. */
class FakeNode {
  readonly ownerDocument = fakeDocument;
  readonly namespaceURI = "http://www.w3.org/1999/xhtml";
  readonly childNodes: FakeNode[] = [];
  readonly attributes: { name: string; value: string }[] = [];
  readonly style = {};
  parentNode: FakeNode | null = null;

  constructor(
    readonly nodeType: number,
    readonly localName: string,
    public data = "",
  ) {}

  get firstChild(): FakeNode | null {
    return this.childNodes[0] ?? null;
  }

  get nextSibling(): FakeNode | null {
    const siblings = this.parentNode?.childNodes ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  insertBefore(node: FakeNode, before: FakeNode | null): FakeNode {
    node.remove();
    const at = before === null ? -1 : this.childNodes.indexOf(before);
    this.childNodes.splice(at < 0 ? this.childNodes.length : at, 0, node);
    node.parentNode = this;
    return node;
  }

  appendChild(node: FakeNode): FakeNode {
    return this.insertBefore(node, null);
  }

  removeChild(node: FakeNode): FakeNode {
    node.remove();
    return node;
  }

  remove(): void {
    const siblings = this.parentNode?.childNodes;
    siblings?.splice(siblings.indexOf(this), 1);
    this.parentNode = null;
  }

  setAttribute(): void {}
  removeAttribute(): void {}
  addEventListener(): void {}
  removeEventListener(): void {}

  contains(node: FakeNode): boolean {
    return node === this || this.childNodes.some((own) => own.contains(node));
  }

  get textContent(): string {
    return this.data + this.childNodes.map((node) => node.textContent).join("");
  }
}

const fakeDocument = {
  createElementNS: (_space: string, name: string) => new FakeNode(1, name),
  createElement: (name: string) => new FakeNode(1, name),
  createTextNode: (data: string) => new FakeNode(3, "#text", data),
};

/** A page that shows one component tree. */
export class Screen implements Disposable {
  readonly #root = new FakeNode(1, "div");

  constructor() {
    Object.assign(globalThis, { document: fakeDocument });
  }

  /** Renders, and waits until effects ran. */
  async show(child: ComponentChild): Promise<void> {
    render(child, this.#root);
    await settled();
  }

  /** What a reader would read. */
  get text(): string {
    return this.#root.textContent;
  }

  [Symbol.dispose](): void {
    render(null, this.#root);
    Reflect.deleteProperty(globalThis, "document");
  }
}

/** Renders and effects that wait have run. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 4; i++) {
    await new Promise<void>((resolve) => setTimeout(resolve));
  }
}
