/**
 * Opening a database in a page: its worker, its locks, its line to the owner.
 */

import { toHex } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import {
  checkRules,
  checkSalt,
  type DatabaseOptions,
  parseMode,
  parseRootKey,
  parseUser,
} from "../db/options.ts";
import type { Database } from "../db/face.ts";
import { Schemas } from "../db/schemas.ts";
import {
  holdLock,
  type Locks,
  ownedByLock,
  tabLock,
  whenFree,
} from "./locks.ts";
import type { Wishes } from "./messages.ts";
import type { Wire } from "./route.ts";
import { TabDatabase } from "./tab_database.ts";
import { type KeptTexts, Left } from "./tab_left.ts";
import { type OwnerSight, TabLink } from "./tab_link.ts";
import { type Page, seenLock, SwitchedLock } from "./tab_page.ts";

export interface TabPlatform {
  readonly locks: Locks;
  readonly world: World;
  readonly page: Page;
  /** To the worker of this page. */
  readonly near: Wire;
  /** To everybody. */
  readonly far: Wire;
  /** Asks the browser to keep the files when space gets scarce. */
  readonly persist: () => Promise<boolean>;
  /** Where a page that goes away can still write: `localStorage`. */
  readonly texts?: KeptTexts | undefined;
  /** Rejects when the worker does not start. */
  readonly failed?: Promise<never>;
  readonly end: () => void;
}

export type TabOptions =
  & Omit<
    DatabaseOptions,
    | "path"
    | "storage"
    | "rootSecret"
    | "mayIssue"
    | "repair"
    | "readOnly"
    | "scrub"
    | "world"
  >
  & {
    /** 1 to 64 of A-Z, a-z, 0-9, "_" and "-": one database of this origin. */
    readonly name: string;
  };

const NAME = /^[\w-]{1,64}$/;

/** A name of a database, or `invalid-option`. */
export function parseDatabaseName(name: unknown): string {
  if (typeof name === "string" && NAME.test(name)) return name;
  throw new DatabaseError(
    "invalid-option",
    '`name` must name the database: 1 to 64 of A-Z, a-z, 0-9, "_" and "-"',
  );
}

/** Opens the database of a tab; resolves when an owner of its files has taken it in. */
export async function openTab(
  options: TabOptions,
  platform: TabPlatform,
): Promise<Database> {
  const { locks, world, page, near, far, failed } = platform;
  failed?.catch(() => {}); // Heard below, as long as it matters.
  const name = parseDatabaseName(options.name);
  const schemas = new Schemas(options.schemas ?? []);
  const wishes = wishesOf(options);
  const id = newId(world);
  const release = await holdLock(locks, tabLock(name, id));
  const seen = new SwitchedLock(locks, seenLock(name, id));
  seen.set(!page.isHidden);
  const database = new TabDatabase({
    options,
    schemas,
    world,
    wishes,
    isHidden: () => page.isHidden,
    persist: platform.persist,
    left: new Left(platform.texts, name, id),
    ended: () => {
      unwatch();
      seen.set(false);
      release();
      link.tellWorker("yield");
      // The worker may be writing its last checkpoints.
      whenFree(locks, ownedByLock(name, id), () => platform.end());
    },
  });
  const link: TabLink = new TabLink({
    name,
    id,
    near,
    far,
    world,
    hello: () => database.hello(),
    welcomed: (welcome) => database.welcomed(welcome),
    hear: (message) => database.hear(message),
    rejected: (why) => database.rejected(why),
    otherVersion: () => database.otherVersion(),
    isJoined: (repository) => database.isJoined(repository),
    isWaiting: () => database.isWaiting,
    lookAtOwner: () => lookAtOwner(locks, name, id, page.isHidden),
  });
  const unwatch = watchPage(page, link, seen, database);
  try {
    await Promise.race([database.begin(link), ...failed ? [failed] : []]);
  } catch (cause) {
    await database.close().catch(() => {});
    throw cause;
  }
  return database;
}

function wishesOf({ user, rootKey, mode, rules, salt }: TabOptions): Wishes {
  checkRules(rules);
  checkSalt(salt);
  return {
    user: parseUser(user ?? "local"),
    ...rootKey !== undefined && { rootKey: toHex(parseRootKey(rootKey)) },
    ...mode !== undefined && { mode: parseMode(mode) },
    ...salt !== undefined && { salt },
  };
}

function newId(world: World): string {
  const dice = new Uint8Array(12);
  world.random(dice);
  return `t${toHex(dice)}`;
}

/** Hears of the page's network, sleep and end; the result ends that. */
function watchPage(
  page: Page,
  link: TabLink,
  seen: SwitchedLock,
  database: TabDatabase,
): () => void {
  return page.watch((what) => {
    if (what === "online" || what === "offline") {
      return link.post({ kind: "network", isThere: what === "online" });
    }
    if (what === "visible" || what === "resume") database.back();
    else database.keep(); // Before all else: its worker may stop with the next word.
    if (what === "gone") return void database.close();
    if (what === "freeze") link.tellWorker("freeze");
    else if (what === "resume") {
      link.tellWorker("resume");
      link.greet();
    } else {
      seen.set(what === "visible");
      link.post({ kind: "visibility", isHidden: what === "hidden" });
    }
  });
}

async function lookAtOwner(
  locks: Locks,
  name: string,
  id: string,
  isHidden: boolean,
): Promise<OwnerSight> {
  const { held = [] } = await locks.query();
  const names = new Set(held.map((lock) => lock.name));
  if (names.has(ownedByLock(name, id))) return "own";
  const by = ownedByLock(name, "");
  const owner = [...names].find((lock) => lock?.startsWith(by));
  if (owner === undefined) return "none";
  // Who is not seen itself has time.
  if (isHidden) return "seen";
  return names.has(seenLock(name, owner.slice(by.length))) ? "seen" : "hidden";
}
