/**
 * YCSB's table in Sheaf: a schema of ten string fields, a record's name as the
 * item's id, an update of one field. Records come in the order of their ids.
 *
 * Through a server a client reads what it has itself, as every client of Sheaf
 * does: reads make no trip. Its writes count when the server has them durably
 * (`synced`), not when they are on its own medium.
 *
 * @module
 */

import type { Collection, Database, Repository } from "../../../mod.ts";
import { modeOf, openSheaf } from "../../engines/sheaf_open.ts";
import { durabilityOf, type SheafName } from "../../engines/names.ts";
import type { Durability } from "../../harness/figure.ts";
import type { FieldName, Fields } from "../records.ts";
import type { Done, Found, Store } from "../store.ts";

type Sheaf = typeof import("../../../mod.ts");
type RecordSchema = ReturnType<typeof recordSchema>;

function recordSchema({ defineSchema, field }: Sheaf) {
  return defineSchema("usertable", {
    field0: field.string(),
    field1: field.string(),
    field2: field.string(),
    field3: field.string(),
    field4: field.string(),
    field5: field.string(),
    field6: field.string(),
    field7: field.string(),
    field8: field.string(),
    field9: field.string(),
  });
}

/** A server that a client works through. */
export interface ServerAddress {
  /** `ws://…` */
  readonly url: string;
  /** In hexadecimal. */
  readonly rootKey: string;
  readonly process: number;
}

/** Records in Sheaf. */
class SheafStore implements Store {
  readonly durability: Durability;
  readonly others: readonly number[];
  readonly #database: Database;
  readonly #items: Collection<RecordSchema>;
  readonly #acknowledged: "durable" | "synced";

  constructor(
    database: Database,
    items: Collection<RecordSchema>,
    durability: Durability,
    server?: Pick<ServerAddress, "process">,
  ) {
    this.#database = database;
    this.#items = items;
    this.durability = durability;
    this.#acknowledged = server === undefined ? "durable" : "synced";
    this.others = server === undefined ? [] : [server.process];
  }

  read(key: string): Fields | undefined {
    return this.#items.get(key);
  }

  scan(key: string, count: number): readonly Found[] {
    return this.#items.where({ id: { gte: key } }).orderBy("id").limit(count)
      .run().map((item) => ({ key: item.id, fields: item }));
  }

  update(key: string, field: FieldName, value: string): Done {
    return this.#items.update(key, { [field]: value })[this.#acknowledged];
  }

  insert(key: string, fields: Fields): Done {
    return this.#items.create({ id: key, ...fields })[this.#acknowledged];
  }

  load(records: readonly Found[]): Done {
    return this.#items.createMany(
      records.map(({ key, fields }) => ({ id: key, ...fields })),
    )[this.#acknowledged];
  }

  close(): Done {
    return this.#database.close();
  }
}

/** Opens the table in `folder`. */
export async function openSheafStore(
  folder: string,
  engine: SheafName,
): Promise<Store> {
  const schema = recordSchema(await import("../../../mod.ts"));
  const { database, repository } = await openSheaf(folder, engine, {
    schemas: [schema],
  });
  const items = repository.collection(schema);
  return new SheafStore(database, items, durabilityOf(engine));
}

/** Opens a client with its files in `folder`, or in memory, and waits until it has all that the server has. */
export async function openServedSheaf(
  folder: string | undefined,
  engine: SheafName,
  server: ServerAddress,
): Promise<Store> {
  const sheaf = await import("../../../mod.ts");
  const schema = recordSchema(sheaf);
  const place = folder === undefined
    ? { storage: sheaf.memoryStorage() }
    : { path: folder };
  const database = await sheaf.openDatabase({
    ...place,
    mode: modeOf(engine),
    rootKey: server.rootKey,
    schemas: [schema],
  });
  const repository = await database.repository("bench");
  database.connect(server.url, { session: { anonymous: true } });
  await live(repository);
  const items = repository.collection(schema);
  return new SheafStore(database, items, durabilityOf(engine), server);
}

/** Nothing is missing on either side. */
async function live(repository: Repository): Promise<void> {
  await repository.sync.ready;
  while (repository.sync.status.state !== "live") {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
