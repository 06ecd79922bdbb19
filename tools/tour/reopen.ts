/**
 * Closes the database, opens it again, reads, and verifies every signature.
 *
 * @module
 */

import { type Database, openDatabase } from "../../mod.ts";
import { City, Region } from "./data.ts";
import type { Edited } from "./edits.ts";
import { formatCount, type Report, timedAsync } from "./report.ts";

/** The repository that the tour fills. */
export const repositoryName = "demo/world";

/** Opens the tour's database. */
export function open(path: string): Promise<Database> {
  return openDatabase({
    path,
    mode: "default",
    schemas: [City, Region],
    user: "ada",
  });
}

/** Closes, reopens and reads one city. */
export async function reopen(
  database: Database,
  path: string,
  edited: Edited,
  report: Report,
): Promise<Database> {
  report.section("Close and open again");
  const [, closeMs] = await timedAsync(() => database.close());
  report.step("Close, with a checkpoint", closeMs);
  const begun = performance.now();
  const opened = await open(path);
  const cities = (await opened.repository(repositoryName)).collection(City);
  const city = cities.get(edited.id);
  const ms = performance.now() - begun;
  report.step(`Open and read: "${city?.name}"`, ms);
  report.check(city?.name === edited.name, "the edit is there after opening");
  report.check(
    cities.count() === edited.count,
    "all cities are there after opening",
  );
  return opened;
}

/** Hashes every commit and verifies every signature again. */
export async function verify(
  database: Database,
  report: Report,
): Promise<void> {
  report.section("Verify");
  const repository = await database.repository(repositoryName);
  const [found, ms] = await timedAsync(() => repository.verify());
  report.step(
    `${found.commits} commits hashed, all ${found.signatures} seals verified`,
    ms,
    `${formatCount(found.operations)} operations`,
  );
  report.check(found.ok, "the log is whole");
  const { commits } = repository.status();
  report.check(found.commits === commits, "every commit was verified");
  report.check(found.signatures > 0, "the log is signed");
}
