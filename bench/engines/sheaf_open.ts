/**
 * Opens Sheaf for a bench, in one of its modes; nothing is tuned, because
 * there is nothing to tune.
 *
 * The module is loaded when asked for, so that the processes of other engines
 * do without.
 *
 * @module
 */

import type { Database, Repository, Schema } from "../../mod.ts";
import type { SheafName } from "./names.ts";

/** One open database and a repository of it. */
export interface OpenSheaf {
  readonly database: Database;
  readonly repository: Repository;
}

/** What a suite wants otherwise. */
export interface SheafOptions {
  readonly schemas?: readonly Schema[];
  /** The repository's name; `bench` unless told. */
  readonly repository?: string;
  /** Nothing on a disk: then the durability is `memory`. */
  readonly isInMemory?: boolean;
}

/** Opens Sheaf in `folder`, making database and repository when they are missing; close by `database.close()`. */
export async function openSheaf(
  folder: string,
  engine: SheafName,
  options: SheafOptions = {},
): Promise<OpenSheaf> {
  const sheaf = await import("../../mod.ts");
  const place = options.isInMemory
    ? { storage: sheaf.memoryStorage() }
    : { path: folder };
  const database = await sheaf.openDatabase({
    ...place,
    mode: modeOf(engine),
    schemas: options.schemas ?? [],
    user: "bench",
  });
  const repository = await database.repository(options.repository ?? "bench");
  return { database, repository };
}

/** The mode that an engine's name says. */
export function modeOf(engine: SheafName): "default" | "trusted" | "fast" {
  switch (engine) {
    case "sheaf-default":
      return "default";
    case "sheaf-trusted":
      return "trusted";
    case "sheaf-fast":
      return "fast";
  }
}
