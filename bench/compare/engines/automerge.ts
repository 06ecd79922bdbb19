/**
 * Automerge: one map of items, each a map of its own, so that fields merge;
 * texts are `ImmutableString`, its cheap ones for values that nobody edits by
 * the letter, and tags are one of them, as a list would be one to edit; the
 * whole document is in memory. After each change what is new
 * (`saveIncremental`) is appended to a file and flushed, and opening loads the
 * file, as its page on storage says.
 *
 * @module
 */

import type { Item } from "../../harness/items.ts";
import { loadPeer } from "../../peers/load.ts";
import { type Load, splitItem, type Store } from "../store.ts";
import { UpdateLog } from "./update_log.ts";

interface Root {
  readonly item: Record<string, Record<string, unknown>>;
}

interface Automerge {
  readonly ImmutableString: new (text: string) => { toString(): string };
  from(root: Root): Root;
  change(doc: Root, change: (root: Root) => void): Root;
  saveIncremental(doc: Root): Uint8Array;
  init(): Root;
  loadIncremental(doc: Root, bytes: Uint8Array): Root;
  free(doc: Root): void;
}

/** Automerge. */
export const automerge: Load = async ({ folder, peers }) => {
  const package_ = await loadPeer<Automerge>(peers, "@automerge/automerge");
  return { open: () => open(package_, `${folder}/updates`) };
};

function open(automerge: Automerge, path: string): Store {
  const log = new UpdateLog(path);
  let doc = log.updates.reduce(
    (doc, update) => automerge.loadIncremental(doc, update),
    automerge.init(),
  );
  if (log.updates.length === 0) {
    doc = automerge.from({ item: {} });
  }
  const put = ({ item }: Root, one: Item): void => {
    const [id, { tags, ...rest }] = splitItem(one);
    const cells = Object.entries({ ...rest, tags: tags.join() }).map((
      [name, value],
    ) => [
      name,
      typeof value === "string" ? new automerge.ImmutableString(value) : value,
    ]);
    item[id] = Object.fromEntries(cells);
  };
  const write = (items: readonly Item[]): void => {
    doc = automerge.change(
      doc,
      (root) => items.forEach((one) => put(root, one)),
    );
    log.append(automerge.saveIncremental(doc));
  };
  return {
    insert: (one) => write([one]),
    insertMany: write,
    get(id): Item | undefined {
      const fields = doc.item[id];
      return fields && itemOf(id, fields);
    },
    all: () =>
      Object.entries(doc.item).map(([id, fields]) => itemOf(id, fields)),
    close(): void {
      automerge.free(doc);
      log.close();
    },
  };
}

function itemOf(id: string, fields: Record<string, unknown>): Item {
  const { title, author, body, tags, ...rest } = fields;
  const item = {
    ...rest,
    id,
    title: String(title),
    author: String(author),
    body: String(body),
    tags: String(tags).split(","),
  };
  // The fields are those of `put`.
  return item as unknown as Item;
}
