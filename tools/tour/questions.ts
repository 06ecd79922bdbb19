/**
 * Questions to the cities, each answered by a query and checked against a
 * plain walk over the data.
 *
 * @module
 */

import { count, type Repository } from "../../mod.ts";
import {
  City,
  type CityData,
  type CityInput,
  type CityItem,
  Region,
} from "./data.ts";
import { type Report, timed } from "./report.ts";

/** What the questions work with. */
interface Asking {
  readonly repository: Repository;
  readonly data: CityData;
  readonly report: Report;
}

/** Asks everything. */
export function ask(
  repository: Repository,
  data: CityData,
  report: Report,
): void {
  report.section("Ask");
  report.line(
    "   First by a scan; asked again, the declared index is built; later it is read.",
  );
  report.columns(["first", "again", "later"]);
  const asking = { repository, data, report };
  askSpringfields(asking);
  askNorthernmost(asking);
  askCountries(asking);
  askIceland(asking);
  askPrefix(asking);
  askLongestName(asking);
}

function askSpringfields({ repository, data, report }: Asking): void {
  const query = repository.collection(City).where({ name: "Springfield" });
  const found = answer(
    report,
    query,
    (rows) => `Which cities are called Springfield? ${rows.length}:`,
  );
  const regions = repository.collection(Region).getMany(
    found.flatMap((city) => city.region ?? []),
  );
  report.line(
    wrap(withCommas(regions.flatMap((region) => region?.name ?? []).sort())),
  );
  const expected = data.cities.filter((city) => city.name === "Springfield");
  report.check(found.length === expected.length, "the Springfields");
}

function askNorthernmost({ repository, data, report }: Asking): void {
  const query = repository.collection(City).orderBy("lat", "desc").limit(5);
  const found = answer(report, query, () => "The five northernmost:");
  report.rows(found.map(placeRow));
  const expected = [...data.cities].sort((a, b) => b.lat - a.lat).slice(0, 5);
  report.check(sameNames(found, expected), "the northernmost cities");
}

function askCountries({ repository, data, report }: Asking): void {
  const query = repository.collection(City).query().groupBy("country")
    .aggregate({ cities: count() });
  const groups = answer(
    report,
    query,
    (rows) => `The ten countries with most cities, of ${rows.length}:`,
  );
  const top = [...groups].sort((a, b) => b.cities - a.cities).slice(0, 10);
  const names = new Intl.DisplayNames("en", { type: "region" });
  report.rows(
    top.map(({ country, cities }) => [names.of(country) ?? country, cities]),
  );
  const expected = Map.groupBy(data.cities, (city) => city.country);
  report.check(groups.length === expected.size, "the number of countries");
  for (const { country, cities } of groups) {
    report.check(expected.get(country)?.length === cities, `all of ${country}`);
  }
}

const iceland = { south: 63.2, north: 66.7, west: -24.7, east: -13.4 };

function askIceland({ repository, data, report }: Asking): void {
  const { south, north, west, east } = iceland;
  const query = repository.collection(City)
    .where({ lat: { gte: south, lt: north }, lng: { gte: west, lt: east } })
    .orderBy("name");
  const found = answer(
    report,
    query,
    (rows) => `Within the box around Iceland: ${rows.length}, such as`,
  );
  report.line(wrap(withCommas(found.slice(0, 9).map((city) => city.name))));
  report.line(`      planned as: ${query.explain().plan}`);
  const expected = data.cities.filter(({ lat, lng }) =>
    lat >= south && lat < north && lng >= west && lng < east
  );
  report.check(found.length === expected.length, "the cities of the box");
}

function askPrefix({ repository, data, report }: Asking): void {
  const query = repository.collection(City)
    .where({ name: { prefix: "Llan" } }).orderBy("name");
  const found = answer(
    report,
    query,
    (rows) => `Names that begin with "Llan": ${rows.length}, such as`,
  );
  report.line(wrap(withCommas(found.slice(0, 9).map((city) => city.name))));
  const expected = data.cities.filter((city) => city.name.startsWith("Llan"));
  report.check(found.length === expected.length, "the names with a prefix");
}

function askLongestName({ repository, data, report }: Asking): void {
  const query = repository.collection(City)
    .where((city) => city.name.length > 60);
  const found = answer(
    report,
    query,
    () => "The longest name, by a function over them all:",
  );
  const longest = found.reduce((a, b) => b.name.length > a.name.length ? b : a);
  report.line(wrap(longest.name.split(" ")));
  const expected = data.cities.filter((city) => city.name.length > 60);
  report.check(found.length === expected.length, "the long names");
}

/**
 * Asks three times: the first question is answered by a scan, the second one
 * builds the declared index, and those after it only read it.
 */
function answer<Row>(
  report: Report,
  query: { run(): Row[] },
  what: (rows: readonly Row[]) => string,
): Row[] {
  const [rows, firstMs] = timed(() => query.run());
  const [again, indexMs] = timed(() => query.run());
  const [, laterMs] = timed(() => query.run());
  report.check(again.length === rows.length, "the index agrees with the scan");
  report.times(what(rows), [firstMs, indexMs, laterMs]);
  return rows;
}

/** A city as a row of the report. */
export function placeRow(city: CityItem): readonly (string | number)[] {
  return [city.name, city.country, city.lat, city.lng];
}

function sameNames(
  found: readonly CityInput[],
  expected: readonly CityInput[],
): boolean {
  return found.length === expected.length &&
    found.every(({ name }, i) => name === expected[i]?.name);
}

function withCommas(names: readonly string[]): readonly string[] {
  return names.map((name, i) => i < names.length - 1 ? `${name},` : name);
}

const lineWidth = 76;

/** Words in lines that fit a page. */
function wrap(words: readonly string[]): string {
  const lines: string[] = [];
  let line = "     ";
  for (const word of words) {
    if (line.length + word.length >= lineWidth) {
      lines.push(line);
      line = "     ";
    }
    line += ` ${word}`;
  }
  return [...lines, line].join("\n");
}
