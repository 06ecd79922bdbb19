/**
 * A page with a key-value store, for `kv_test.ts`: its exports are called.
 *
 * @module
 */

import { openDatabase, type Write } from "@sheaf/sheaf/browser";
import { type Kv, openKv } from "../../src/kv/mod.ts";

let kv: Kv;
const heard: string[] = [];

/** Opens it, and listens to keys that begin with "user/". */
export async function open(): Promise<void> {
  const database = await openDatabase({ name: "kv", worker: "/worker.js" });
  kv = openKv(await database.repository("team/board"));
  kv.subscribe({ prefix: "user/" }, (changes) => {
    for (const { key, why } of changes) heard.push(`${key} ${why}`);
  });
}

export async function set(
  key: string,
  value: string | number,
  ttlMs?: number,
): Promise<void> {
  await settled(kv.set(key, value, ttlMs === undefined ? {} : { ttlMs }));
}

/** Sets a value that JSON cannot say. */
export async function setDate(key: string, at: number): Promise<void> {
  await settled(kv.set(key, new Map([["at", new Date(at)]])));
}

export async function remove(key: string): Promise<boolean> {
  const write = kv.delete(key);
  await settled(write);
  return write.result;
}

/** Takes a key that must not be there; was it free? */
export async function take(key: string, by: string): Promise<boolean> {
  const write = kv.compareAndSet(key, undefined, by);
  await settled(write);
  return write.result;
}

export function keys(prefix: string): string[] {
  return kv.keys({ prefix });
}

export function get(key: string): string {
  const value = kv.get(key);
  const isMap = value instanceof Map;
  const at = isMap ? value.get("at") : undefined;
  return at instanceof Date ? `date ${at.getTime()}` : JSON.stringify(value);
}

/** The value that a key had first. */
export function first(key: string): string {
  return JSON.stringify(kv.at(kv.history(key)[0]!.commit).get(key));
}

export function told(): readonly string[] {
  return heard;
}

async function settled<T>(write: Write<T>): Promise<void> {
  await write.durable;
}
