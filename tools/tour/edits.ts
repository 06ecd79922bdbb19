/**
 * Edits under a live query, and the history that they leave.
 *
 * @module
 */

import type { OperationSummary, Repository } from "../../mod.ts";
import { City, type CityItem } from "./data.ts";
import { placeRow } from "./questions.ts";
import { type Report, timed, timedAsync } from "./report.ts";

/** What the edits leave behind. */
export interface Edited {
  /** The city that was edited. */
  readonly id: string;
  /** Its name after the edit. */
  readonly name: string;
  /** How many cities there are. */
  readonly count: number;
}

const nyAlesund = {
  name: "Ny-Ålesund",
  country: "SJ",
  lat: 78.92395,
  lng: 11.90988,
};

/** Edits cities while a live query watches the northernmost five. */
export async function edit(
  repository: Repository,
  report: Report,
): Promise<Edited> {
  report.section("Edit while a live query watches the five northernmost");
  const cities = repository.collection(City);
  const northernmost = cities.orderBy("lat", "desc").limit(5);
  let heard = 0;
  let rows: readonly CityItem[] = [];
  using live = northernmost.subscribe((change) => {
    heard++;
    rows = change.rows;
  });
  const [first] = live.getSnapshot();
  report.check(first?.name === "Longyearbyen", "Longyearbyen is first");
  const before = heard;

  const [write, shownMs] = timed(() => cities.create(nyAlesund));
  report.check(heard === before + 1, "the live query heard the new city");
  report.check(rows[0]?.name === nyAlesund.name, "the new city is on top");
  report.step("Add Ny-Ålesund: the live result moves within", shownMs);
  report.rows(rows.map(placeRow));
  const [, durableMs] = await timedAsync(() => write.durable);
  report.step("… signed and on the disk after another", durableMs);

  return await editFirst(repository, report, first);
}

async function editFirst(
  repository: Repository,
  report: Report,
  city: CityItem | undefined,
): Promise<Edited> {
  if (city === undefined) throw new Error("The live query is empty");
  const cities = repository.collection(City);
  const name = "Longyearbyen (Svalbard)";
  const [, ms] = await timedAsync(() =>
    repository.transact((tx) => {
      const edited = tx.collection(City);
      edited.update(city.id, { name });
      edited.update(city.id, { note: "the world's northernmost town" });
    }).durable
  );
  report.step("Rename Longyearbyen and note why, atomically", ms);
  report.check(cities.get(city.id)?.name === name, "the new name is read");
  return { id: city.id, name, count: cities.count() };
}

function describe({ what, fields }: OperationSummary): string {
  return `${what} ${fields.map((field) => field.name).join(", ")}`;
}

/** Shows what happened to the edited city, and how it was before. */
export function lookBack(
  repository: Repository,
  { id, name }: Edited,
  report: Report,
): void {
  report.section("Look back");
  const cities = repository.collection(City);
  const [history, ms] = timed(() => cities.history(id));
  report.step(`The history of ${name}:`, ms);
  report.rows(history.map((entry) => [
    entry.at.toISOString().slice(11, 19),
    entry.commit.replace(/^(.{8}).*:/, "$1…:"),
    entry.user ?? "",
    entry.operations.map(describe).join("; "),
  ]));
  report.check(history.length === 2, "the city has two commits");
  const [origin] = history;
  if (origin === undefined) return;
  const [past, pastMs] = timed(() =>
    repository.at(origin.commit).collection(City).get(id)
  );
  report.step(`Before the edit it was "${past?.name}"`, pastMs);
  report.check(
    past?.name === "Longyearbyen",
    "the past still has the old name",
  );
  report.check(past?.note === undefined, "the past has no note");
}
