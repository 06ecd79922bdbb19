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
import { formatCount, type Report, timed } from "./report.ts";

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
  const asking = { repository, data, report };
  askSpringfields(asking);
  askNorthernmost(asking);
  askCountries(asking);
  askHawaii(asking);
  askPrefix(asking);
  askLongestName(asking);
}

function askSpringfields({ repository, data, report }: Asking): void {
  const query = repository.collection(City).where({ name: "Springfield" });
  const [found, ms] = timed(() => query.run());
  report.step(
    `Which cities are called Springfield? ${found.length}:`,
    ms,
    query.explain().plan,
  );
  const regions = repository.collection(Region).getMany(
    found.flatMap((city) => city.region ?? []),
  );
  report.line(wrap(regions.flatMap((region) => region?.name ?? []).sort()));
  const expected = data.cities.filter((city) => city.name === "Springfield");
  report.check(found.length === expected.length, "the Springfields");
}

function askNorthernmost({ repository, data, report }: Asking): void {
  const query = repository.collection(City).orderBy("lat", "desc").limit(5);
  const [found, ms] = timed(() => query.run());
  report.step("The five northernmost:", ms, query.explain().plan);
  report.rows(found.map(placeRow));
  const expected = [...data.cities].sort((a, b) => b.lat - a.lat).slice(0, 5);
  report.check(sameNames(found, expected), "the northernmost cities");
}

function askCountries({ repository, data, report }: Asking): void {
  const query = repository.collection(City).query().groupBy("country")
    .aggregate({ cities: count() });
  const [groups, ms] = timed(() => query.run());
  const top = [...groups].sort((a, b) => b.cities - a.cities).slice(0, 10);
  report.step(
    `The ten countries with most cities, of ${groups.length}:`,
    ms,
  );
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

const hawaii = { south: 18.9, north: 22.3, west: -160.3, east: -154.8 };

function askHawaii({ repository, data, report }: Asking): void {
  const { south, north, west, east } = hawaii;
  const query = repository.collection(City)
    .where({ lat: { gte: south, lt: north }, lng: { gte: west, lt: east } })
    .orderBy("name");
  const [found, ms] = timed(() => query.run());
  report.step(
    `Within the box around Hawaii: ${found.length}, such as`,
    ms,
    query.explain().plan,
  );
  report.line(wrap(found.slice(0, 12).map((city) => city.name)));
  const expected = data.cities.filter(({ lat, lng }) =>
    lat >= south && lat < north && lng >= west && lng < east
  );
  report.check(found.length === expected.length, "the cities of the box");
}

function askPrefix({ repository, data, report }: Asking): void {
  const query = repository.collection(City)
    .where({ name: { prefix: "Llan" } }).orderBy("name");
  const [found, ms] = timed(() => query.run());
  report.step(
    `Names that begin with "Llan": ${found.length}, such as`,
    ms,
    query.explain().plan,
  );
  report.line(wrap(found.slice(0, 8).map((city) => city.name)));
  const expected = data.cities.filter((city) => city.name.startsWith("Llan"));
  report.check(found.length === expected.length, "the names with a prefix");
}

function askLongestName({ repository, data, report }: Asking): void {
  const query = repository.collection(City)
    .where((city) => city.name.length > 60);
  const [found, ms] = timed(() => query.run());
  const longest = found.reduce((a, b) => b.name.length > a.name.length ? b : a);
  const all = formatCount(data.cities.length);
  report.step(`The longest name, by a function over all ${all}:`, ms);
  report.line(wrap([longest.name]));
  const expected = data.cities.filter((city) => city.name.length > 60);
  report.check(found.length === expected.length, "the long names");
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

/** Names with commas, in lines that fit a page. */
function wrap(names: readonly string[]): string {
  const lines: string[] = [];
  let line = "     ";
  names.forEach((name, i) => {
    const text = i < names.length - 1 ? `${name},` : name;
    if (line.length + text.length > 76 && line.trim() !== "") {
      lines.push(line);
      line = "     ";
    }
    line += ` ${text}`;
  });
  return [...lines, line].join("\n");
}
