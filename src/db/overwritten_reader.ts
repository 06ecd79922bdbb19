/**
 * Tells the listeners of this page which own edits lost, one batch after the
 * other, and what they have taken.
 */

// As in online.ts.
import { getOrMake } from "../base/collections.ts";
import "../storage/memory_storage.ts";
import "./repository.ts";
import "./repository_sync.ts";
import { DatabaseError } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import { copyValue } from "../schema/json.ts";
import { copyForReader } from "../schema/reader.ts";
import type { Item, Value } from "../schema/patch.ts";
import type { Infer, Schema } from "../schema/schema.ts";
import type { View } from "../schema/view.ts";
import { cellOf, chainHex, type Replica } from "../../repo/mod.ts";
import type { QueryHooks } from "./engines.ts";
import { includesOf, itemHistory } from "./history.ts";
import { throwLater } from "./listeners.ts";
import type { LocalFile } from "./local_file.ts";
import type {
  OverwrittenEdit,
  OverwrittenListener,
  OverwrittenSource,
  Taking,
  Told,
  ToldEdit,
} from "./overwritten.ts";

/** What it works with. */
export interface ReaderParts {
  readonly replica: Replica;
  readonly world: World;
  readonly hooks: QueryHooks;
  /** Keeps what was not taken, where the files are here. */
  readonly overwrittenFile?: LocalFile | undefined;
  /** Where it is kept, when that is not here. */
  readonly overwritten?: OverwrittenSource | undefined;
}

interface Place {
  readonly schema: Schema;
  readonly view: View;
}

/** Any listener; which edits it gets is for its collection to say. */
type Listener = (
  edits: readonly OverwrittenEdit<unknown>[],
  dropped: number,
) => unknown;

interface Reading extends Place {
  readonly listeners: Set<Listener>;
  isRunning: boolean;
  /** Was there news while it ran? */
  isWoken: boolean;
  /** What a listener failed at. */
  failed: readonly string[];
}

interface LocalSource extends OverwrittenSource {
  close(): Promise<void>;
}

export class OverwrittenReader {
  readonly #replica: Replica;
  readonly #source: OverwrittenSource & Partial<LocalSource>;
  readonly #report: (error: unknown) => void;
  readonly #readings = new Map<string, Reading>();

  private constructor(
    replica: Replica,
    source: OverwrittenSource,
    report: (error: unknown) => void,
  ) {
    this.#replica = replica;
    this.#source = source;
    this.#report = report;
    source.onNews = () => {
      for (const reading of this.#readings.values()) void this.#run(reading);
    };
  }

  /** Over the files that are here, or elsewhere. */
  static async open(parts: ReaderParts): Promise<OverwrittenReader> {
    const { onError: report = throwLater } = parts.hooks;
    const source = parts.overwritten ?? await localSource(parts, report);
    return new OverwrittenReader(parts.replica, source, report);
  }

  /** Tells a listener from now on; the result ends it. */
  listen<S extends Schema>(
    place: Place & { readonly schema: S },
    listener: OverwrittenListener<S>,
  ): () => void {
    const { name } = place.schema;
    const reading: Reading = getOrMake(this.#readings, name, () => {
      const state = { isRunning: false, isWoken: false, failed: [] };
      return { ...place, ...state, listeners: new Set<Listener>() };
    });
    const { listeners } = reading;
    // They are edits of this very schema's items.
    const own: Listener = (edits, dropped) =>
      listener(edits as OverwrittenEdit<Infer<S>>[], dropped);
    listeners.add(own);
    reading.failed = []; // Who comes now may take them.
    void this.#run(reading);
    return () => {
      listeners.delete(own);
      if (listeners.size === 0) void this.#run(reading);
    };
  }

  async #run(reading: Reading): Promise<void> {
    reading.isWoken = true;
    if (reading.isRunning) return;
    reading.isRunning = true;
    try {
      while (reading.isWoken) {
        reading.isWoken = false;
        await this.#read(reading);
      }
    } catch (error) {
      const isOver = error instanceof DatabaseError && error.code === "closed";
      if (!isOver) this.#report(error);
    } finally {
      reading.isRunning = false;
    }
  }

  async #read(reading: Reading): Promise<void> {
    const { schema: { name }, listeners } = reading;
    let taking: Taking = {};
    for (;;) {
      const isEnd = listeners.size === 0;
      const { failed } = reading;
      const told = await this.#source.take(name, { ...taking, failed, isEnd });
      if (told.edits.length === 0 && told.dropped === 0) return;
      taking = await this.#tell(reading, told);
    }
  }

  async #tell(reading: Reading, { edits, dropped }: Told): Promise<Taking> {
    const tickets = edits.map(({ ticket }) => ticket);
    try {
      await Promise.all(
        [...reading.listeners].map(async (listener) => {
          const shown = edits.map((edit) =>
            shownEdit(this.#replica, reading, edit)
          );
          return await listener(shown, dropped);
        }),
      );
    } catch (error) {
      this.#report(error);
      reading.failed = tickets;
      return {};
    }
    return { taken: tickets, dropped };
  }

  /** Ends it, where the files are here: what is kept is written down. */
  async close(): Promise<void> {
    for (const { listeners } of this.#readings.values()) listeners.clear();
    await this.#source.close?.();
  }
}

async function localSource(
  { replica, world, overwrittenFile }: ReaderParts,
  report: (error: unknown) => void,
): Promise<LocalSource> {
  const { OverwrittenEdits } = await import("./overwritten_edits.ts");
  const source: LocalSource = {
    onNews: undefined,
    take: (collection, taking) => edits.take("", collection, taking),
    async close() {
      await edits.save();
      edits.stop();
    },
  };
  const edits = new OverwrittenEdits({
    ...{ replica, world, report },
    file: overwrittenFile ?? noFile,
    news: () => source.onNews?.(),
  });
  return source;
}

const noFile: LocalFile = {
  read: () => Promise.resolve(undefined),
  write: () => Promise.resolve(),
};

function shownEdit(
  replica: Replica,
  place: Place,
  { ticket, ...edit }: ToldEdit,
): OverwrittenEdit<unknown> {
  if (edit.kind !== "deleted") {
    // Proof: others have a field, of which both are values.
    const [before, after] = [edit.before as Value, edit.after as Value];
    const copies = { before: copyValue(before), after: copyValue(after) };
    return { ...edit, ...copies } as OverwrittenEdit<unknown>;
  }
  // Whoever found it had no schema, perhaps.
  const { schema, view } = place;
  const found = view.recast(schema.shape, edit.before as Item);
  const item = withTexts(replica, place, found, ticket);
  const before = copyForReader(item, view);
  return { ...edit, kind: "deleted", before, after: undefined };
}

/** An item with its texts, which no worker puts in order: as the newest own commit had left them. */
function withTexts(
  replica: Replica,
  { schema: { name: collection, shape }, view }: Place,
  item: Item,
  ticket: string,
): Item {
  const lacks = shape.fields.filter(({ kind, name }) =>
    kind === "text" && item[name] === undefined
  );
  if (lacks.length === 0) return item;
  const name = { collection, id: item.id };
  const [, wall, , chain] = JSON.parse(ticket);
  const own = itemHistory(replica, name).findLast(({ commit, at }) =>
    at.getTime() === wall && commit.startsWith(chainHex(chain))
  );
  const then = own &&
    cellOf(
      replica.commits,
      () => view,
      includesOf(replica, own.commit),
      name,
    )?.item;
  const texts = lacks.map(({ name }) => [name, then?.[name]]);
  return Object.freeze({ ...item, ...Object.fromEntries(texts) });
}
