/**
 * Connects to a PostgreSQL at an address, through `pg`: one connection, or as
 * many as are in flight; statements are prepared on the server by giving each a
 * `name`, once a connection.
 *
 * Its durability is the server's setting, asked of it: `fsync` unless
 * `synchronous_commit` (then `queued`: its writer comes by) or `fsync` (then
 * `written`) is off.
 *
 * @module
 */

import type { Durability } from "../harness/figure.ts";
import { NotHere } from "../harness/suite.ts";
import { loadPeer } from "../peers/load.ts";

const connectMsMax = 2_000;

/** A statement; with a `name` it is prepared once a connection. */
export interface PostgresQuery {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Rows as arrays: quicker. */
  readonly rowMode?: "array";
}

/** What a query answers. */
export interface PostgresResult {
  readonly rows: readonly unknown[];
  readonly rowCount: number | null;
}

/** What benches use of a connection; queries wait for each other. */
export interface PostgresClient {
  query(query: PostgresQuery): Promise<PostgresResult>;
  release(): void;
}

/** What benches use of `pg`: a pool, which gives each query a free connection. */
export interface Postgres {
  query(query: PostgresQuery): Promise<PostgresResult>;
  connect(): Promise<PostgresClient>;
  on(event: "error", listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

interface PostgresModule {
  readonly Pool: new (
    options: Readonly<Record<string, unknown>>,
  ) => Postgres;
}

/** A connected PostgreSQL, and what its writes are worth. */
export interface OpenPostgres {
  readonly postgres: Postgres;
  readonly durability: Durability;
}

/** Connects to `address` (`postgres://…`) by up to `connections`; throws `NotHere` when there is none or nobody answers. */
export async function openPostgres(
  peers: string,
  address: string | undefined,
  connections = 1,
): Promise<OpenPostgres> {
  if (address === undefined) {
    throw new NotHere("postgres: no --postgres address is given");
  }
  const { Pool } = await loadPeer<PostgresModule>(peers, "pg");
  const postgres = new Pool({
    connectionString: address,
    max: connections,
    connectionTimeoutMillis: connectMsMax,
  });
  // An idle connection that breaks says so here; the next query fails by itself.
  postgres.on("error", () => {});
  try {
    return { postgres, durability: await durabilityOf(postgres) };
  } catch (error) {
    await postgres.end();
    throw new NotHere(`postgres: ${placeOf(address)} does not answer`, {
      cause: error,
    });
  }
}

async function durabilityOf(postgres: Postgres): Promise<Durability> {
  if (await settingOf(postgres, "fsync") === "off") return "written";
  const commit = await settingOf(postgres, "synchronous_commit");
  return commit === "off" ? "queued" : "fsync";
}

async function settingOf(postgres: Postgres, name: string): Promise<string> {
  const text = "SELECT current_setting($1)";
  const { rows } = await postgres.query({
    text,
    values: [name],
    rowMode: "array",
  });
  const row = rows[0];
  return Array.isArray(row) ? String(row[0]) : "";
}

/** The address without its password. */
function placeOf(address: string): string {
  return URL.parse(address)?.host ?? "the address";
}
