/**
 * Loro: one map of items, each a map of its own, so that fields merge; the
 * whole document is in memory. After each commit what is new (`export` from
 * the version before) is appended to a file and flushed; opening imports all
 * of the file at once, as its page on persistence says.
 *
 * @module
 */

import type { Item } from "../../harness/items.ts";
import { loadPeer } from "../../peers/load.ts";
import { type Load, splitItem, type Store } from "../store.ts";
import { UpdateLog } from "./update_log.ts";

interface LoroMap {
  set(key: string, value: unknown): void;
  setContainer(key: string, map: LoroMap): LoroMap;
  get(key: string): LoroMap | undefined;
  toJSON(): Record<string, unknown>;
}

interface LoroDoc {
  getMap(name: string): LoroMap;
  commit(): void;
  oplogVersion(): unknown;
  export(what: { mode: "update"; from: unknown }): Uint8Array;
  importBatch(updates: readonly Uint8Array[]): unknown;
  free(): void;
}

interface Loro {
  readonly LoroDoc: new () => LoroDoc;
  readonly LoroMap: new () => LoroMap;
}

/** Loro. */
export const loro: Load = async ({ folder, peers }) => {
  const package_ = await loadPeer<Loro>(peers, "loro-crdt");
  return { open: () => open(package_, `${folder}/updates`) };
};

function open({ LoroDoc, LoroMap }: Loro, path: string): Store {
  const log = new UpdateLog(path);
  const doc = new LoroDoc();
  if (log.updates.length > 0) doc.importBatch(log.updates);
  const items = doc.getMap("item");
  let written = doc.oplogVersion();
  const write = (many: readonly Item[]): void => {
    for (const item of many) {
      const [id, fields] = splitItem(item);
      const map = items.setContainer(id, new LoroMap());
      for (const [name, value] of Object.entries(fields)) map.set(name, value);
    }
    doc.commit();
    log.append(doc.export({ mode: "update", from: written }));
    written = doc.oplogVersion();
  };
  return {
    insert: (item) => write([item]),
    insertMany: write,
    get(id): Item | undefined {
      const fields = items.get(id)?.toJSON();
      return fields && itemOf(id, fields);
    },
    all: () =>
      Object.entries(items.toJSON()).map(([id, fields]) =>
        itemOf(id, fields as Record<string, unknown>)
      ),
    close(): void {
      doc.free();
      log.close();
    },
  };
}

function itemOf(id: string, fields: Record<string, unknown>): Item {
  // The fields are those of `write`.
  return { id, ...fields } as unknown as Item;
}
