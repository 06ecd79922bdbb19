/**
 * Loads the cities: regions in one transaction, cities in transactions of ten
 * thousand, all awaited together at the end.
 *
 * @module
 */

import type { Repository } from "../../mod.ts";
import { City, type CityData, readCityData, Region } from "./data.ts";
import {
  formatCount,
  formatMegabytes,
  type Report,
  timedAsync,
} from "./report.ts";

const citiesPerTransaction = 10_000;

/** Reads the package and stores it; the data, for checking answers. */
export async function load(
  repository: Repository,
  report: Report,
): Promise<CityData> {
  report.section("Load the cities of the world into a signed repository");
  const [data, readMs] = await timedAsync(readCityData);
  const read = formatMegabytes(data.bytes);
  report.step(`Parse ${read} of JSON (not the database)`, readMs);
  const [, writeMs] = await timedAsync(() => store(repository, data));
  const items = data.cities.length + data.regions.length;
  const speed = `${formatCount(Math.round(items / writeMs * 1000))} a second`;
  const stored = formatCount(data.cities.length);
  const regions = formatCount(data.regions.length);
  report.step(`Store ${stored} cities, ${regions} regions`, writeMs, speed);
  const { commits, logBytes } = repository.status();
  report.step(
    `Durable: ${commits} commits, signed, ${formatMegabytes(logBytes)} of log`,
    undefined,
  );
  const cities = repository.collection(City);
  const allRegions = repository.collection(Region);
  report.check(cities.count() === data.cities.length, "every city is stored");
  report.check(
    allRegions.count() === data.regions.length,
    "every region is stored",
  );
  return data;
}

async function store(repository: Repository, data: CityData): Promise<void> {
  repository.collection(Region).createMany(data.regions);
  const cities = repository.collection(City);
  for (let at = 0; at < data.cities.length; at += citiesPerTransaction) {
    cities.createMany(data.cities.slice(at, at + citiesPerTransaction));
  }
  await repository.durable();
}
