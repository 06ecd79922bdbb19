/**
 * Yjs: one map of items, each a map of its own, so that fields merge; the
 * whole document is in memory. What each transaction emits is appended to a
 * file and flushed, as its guide on providers says.
 *
 * @module
 */

import type { Item } from "../../harness/items.ts";
import { loadPeer } from "../../peers/load.ts";
import { type Load, splitItem, type Store } from "../store.ts";
import { UpdateLog } from "./update_log.ts";

interface YMap<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  forEach(visit: (value: T, key: string) => void): void;
}

interface Doc {
  getMap<T>(name: string): YMap<T>;
  transact(actions: () => void): void;
  on(event: "update", listener: (update: Uint8Array) => void): void;
  destroy(): void;
}

interface Yjs {
  readonly Doc: new () => Doc;
  readonly Map: new (entries: Iterable<[string, unknown]>) => YMap<unknown>;
  applyUpdate(doc: Doc, update: Uint8Array): void;
}

/** Yjs. */
export const yjs: Load = async ({ folder, peers }) => {
  const package_ = await loadPeer<Yjs>(peers, "yjs");
  return { open: () => open(package_, `${folder}/updates`) };
};

function open(yjs: Yjs, path: string): Store {
  const doc = new yjs.Doc();
  const items = doc.getMap<YMap<unknown>>("item");
  const log = new UpdateLog(path);
  doc.transact(() => {
    for (const update of log.updates) yjs.applyUpdate(doc, update);
  });
  doc.on("update", (update) => log.append(update));
  const insert = (item: Item): void => {
    const [id, fields] = splitItem(item);
    items.set(id, new yjs.Map(Object.entries(fields)));
  };
  return {
    insert,
    insertMany: (many) => doc.transact(() => many.forEach(insert)),
    get(id): Item | undefined {
      const fields = items.get(id);
      return fields && itemOf(id, fields);
    },
    all(): Item[] {
      const all: Item[] = [];
      items.forEach((fields, id) => all.push(itemOf(id, fields)));
      return all;
    },
    close(): void {
      doc.destroy();
      log.close();
    },
  };
}

function itemOf(id: string, fields: YMap<unknown>): Item {
  const item: Record<string, unknown> = { id };
  fields.forEach((value, name) => item[name] = value);
  // The fields are those of `insert`.
  return item as unknown as Item;
}
