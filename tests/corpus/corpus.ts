/**
 * The corpus: folders as one version wrote them, which every later one opens,
 * reads and goes on with. `make.ts` writes them, and what was to be read.
 *
 * @module
 */

import {
  type Database,
  defineSchema,
  type Mode,
  openDatabase,
  type Repository,
  type Storage,
} from "../../mod.ts";
import { decodeGenesis } from "../../repo/commit/genesis.ts";
import { digestOfSummary } from "../../repo/graph/graph.ts";
import { decodeMark } from "../../repo/log/order.ts";
import { toHex } from "../../src/base/bytes.ts";
import { replicaOf } from "../../src/db/internals.ts";
import { field } from "../../src/text/mod.ts";
import { type Files, restored } from "../kit/images.ts";
import { headsOf } from "../kit/digest.ts";
import { steadyWorld } from "../kit/small_database.ts";

/** Each stands in a folder of this name. */
export const modes: readonly Mode[] = ["default", "trusted", "fast"];
/** The name of the repository in each. */
export const NAME = "corpus/tree";
/** Where the folders lie, for storages that are asked. */
export const IDENTITY = "corpus";

/** Items with every kind of field. */
export const Leaf = defineSchema("leaf", {
  name: field.string().optional(),
  height: field.number().optional(),
  alive: field.boolean().optional(),
  seen: field.date().optional(),
  data: field.bytes().optional(),
  color: field.enum(["green", "rød"]).optional(),
  extra: field.json().optional(),
  twig: field.ref("twig").optional(),
  votes: field.counter(),
  tags: field.set(field.string()),
  levels: field.set(field.number()),
  notes: field.map(field.string()),
  facts: field.map(field.json()),
  steps: field.list(field.string()),
  body: field.text(),
}, { version: 3, indexes: [["height"]] });

/** What leaves are on. */
export const Twig = defineSchema("twig", { name: field.string() });

/** The folder of one mode. */
export function folderOf(mode: Mode): URL {
  return new URL(`./${mode}/`, import.meta.url);
}

/** All files below a folder but what was to be read of them. */
export function readFiles(folder: URL, below = ""): Files {
  const files: (readonly [string, Uint8Array])[] = [];
  for (
    const { name, isDirectory } of Deno.readDirSync(new URL(below, folder))
  ) {
    if (isDirectory) files.push(...readFiles(folder, `${below}${name}/`));
    else if (name !== "expected.json") {
      const path = `${below}${name}`;
      files.push([path, Deno.readFileSync(new URL(path, folder))]);
    }
  }
  return files.sort(([a], [b]) => a < b ? -1 : 1);
}

/** A storage with these files in it, at the place where they were made. */
export function storageOf(files: Files, identity: string = IDENTITY): Storage {
  return restored(files, identity);
}

/** Opens a folder as the app does that wrote it. */
export function openCorpus(
  storage: Storage,
  options: {
    mode?: Mode;
    rootSecret?: Uint8Array;
    salt?: boolean;
    seed?: number;
  } = {},
): Promise<Database> {
  const { seed = 1, ...rest } = options;
  const world = steadyWorld(seed);
  const schemas = [Leaf, Twig];
  return openDatabase({ storage, schemas, world, user: "ada", ...rest });
}

/** What is read of a folder. */
export interface Said {
  readonly genesis: string;
  readonly root: string;
  readonly mode: string;
  /** By name: key and incarnation. */
  readonly chains: Readonly<
    Record<string, { length: number; last: string; user: string | null }>
  >;
  /** Chain and number. */
  readonly heads: readonly string[];
  readonly digest: string;
  /** The order of acceptance at the last mark. */
  readonly order: string | null;
  /** By collection and id; dates and bytes as objects of one property. */
  readonly items: Readonly<Record<string, Record<string, unknown>>>;
}

/** What a repository says. */
export function saidOf(repo: Repository): Said {
  const replica = replicaOf(repo);
  const { graph, certificates, loaded } = replica;
  const { mode, rootKey } = decodeGenesis(loaded.genesis);
  replica.commits.hashFrom(0);
  const chains = [...graph.chains()].map(({ name, length, hashedId }) => {
    const user = certificates.of(name.slice(0, 32))[0]?.user ?? null;
    return [hexOf(name), { length, last: toHex(hashedId), user }] as const;
  });
  const heads = headsOf(graph);
  return {
    genesis: toHex(loaded.genesisId),
    root: toHex(rootKey),
    mode,
    chains: Object.fromEntries(chains.sort(([a], [b]) => a < b ? -1 : 1)),
    heads: heads.map(({ chain, number }) => `${hexOf(chain)}:${number}`),
    digest: toHex(digestOfSummary(loaded.genesisId, graph.summary()!)),
    order: loaded.order === undefined
      ? null
      : toHex(decodeMark(loaded.order.body, 0).order),
    items: { leaf: itemsOf(repo, Leaf), twig: itemsOf(repo, Twig) },
  };
}

function hexOf(chain: string): string {
  return toHex(Uint8Array.from(chain, (one) => one.charCodeAt(0)));
}

function itemsOf(repo: Repository, schema: typeof Leaf | typeof Twig) {
  const all = repo.collection<typeof Leaf | typeof Twig>(schema).all();
  const sorted = [...all].sort((a, b) => a.id < b.id ? -1 : 1);
  return Object.fromEntries(sorted.map(({ id, ...item }) => [id, plain(item)]));
}

/** An item as JSON says it. */
export function plain(value: object): unknown {
  return JSON.parse(JSON.stringify(value, function (key, shown) {
    const one: unknown = this[key];
    if (one instanceof Date) return { date: one.getTime() };
    return one instanceof Uint8Array ? { bytes: toHex(one) } : shown;
  }));
}
