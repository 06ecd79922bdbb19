/**
 * Types of the key-value face; mostly compile-time. Lines with
 * `@ts-expect-error` fail the check when they stop being errors.
 */

import { deepEqual, equal } from "node:assert/strict";
import { memoryStorage, openDatabase, type Repository } from "../../mod.ts";
import { type Kv, type KvOf, type KvValue, openKv } from "./mod.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends
  (<T>() => T extends B ? 1 : 2) ? true : false;

/** Fails to compile unless `T` is `true`; the caller's `true` stands for that proof. */
function proves<T extends true>(proof: T): void {
  equal(proof, true);
}

/** An interface: it has no index signature, as `KvValue` would want. */
interface Session {
  user: string;
  seen?: Date;
  roles: string[];
  limits: Map<string, { perDay: number }>;
  inner?: Session;
}

async function repositoryIn(run: (repository: Repository) => unknown) {
  await using db = await openDatabase({ storage: memoryStorage() });
  run(await db.repository("team"));
}

Deno.test("what a store holds is its type, read-only all the way down", () => {
  proves<Same<KvOf<KvValue>, KvValue>>(true);
  proves<Same<KvOf<unknown>, unknown>>(true);
  proves<Same<KvOf<number | undefined>, number>>(true);
  proves<Same<KvOf<string[]>, readonly string[]>>(true);
  proves<Same<KvOf<[1, "a"]>, readonly [1, "a"]>>(true);
  proves<Same<KvOf<Date | Uint8Array>, Date | Uint8Array>>(true);
  proves<Same<KvOf<Set<string[]>>, ReadonlySet<readonly string[]>>>(true);
  proves<Same<KvOf<() => void>, never>>(true);
  type Read = KvOf<Session>;
  proves<Same<Read["roles"], readonly string[]>>(true);
  proves<
    Same<Read["limits"], ReadonlyMap<string, { readonly perDay: number }>>
  >(true);
  proves<Same<NonNullable<Read["inner"]>["seen"], Date | undefined>>(true);
  proves<Same<KvOf<{ any: unknown }>, { readonly any: unknown }>>(true);
});

Deno.test("a store whose values have a type is read and written without casts", () =>
  repositoryIn((repository) => {
    const sessions = openKv<Session>(repository, { name: "sessions" });
    const ada: Session = { user: "ada", roles: [], limits: new Map() };
    sessions.set("a", ada, { ttlMs: 60_000 });
    sessions.setMany([["b", ada]]);
    equal(sessions.get("a")?.user, "ada");
    equal(sessions.getMany(["a", "c"])[1]?.user, undefined);
    equal(sessions.entry("a")?.value?.roles.length, 0);
    equal(sessions.list().entries[0]?.value?.user, "ada");
    const grown = sessions.update("a", (session) => {
      return { ...session ?? ada, roles: [...session?.roles ?? [], "admin"] };
    });
    deepEqual(grown.result?.roles, ["admin"]);
    equal(sessions.compareAndSet("b", ada, undefined).result, true);
    const users: (string | undefined)[] = [];
    using _ = sessions.subscribe({}, (changes) => {
      for (const { value, before } of changes) {
        users.push(value?.user, before?.user);
      }
    });
    repository.transact((tx) => {
      const inside = sessions.within(tx);
      const session = inside.get("a");
      if (session !== undefined) inside.set("a", { ...session, user: "bob" });
    });
    deepEqual(users, ["bob", "ada"]);
    const plain: Kv = openKv(repository, { name: "sessions" });
    equal(plain, sessions);
  }));

Deno.test("a store whose values have none is what it was", () =>
  repositoryIn((repository) => {
    const kv = openKv(repository);
    proves<Same<typeof kv, Kv>>(true);
    kv.set("k", { n: [1, new Date(0), undefined] });
    const value = kv.get("k");
    proves<Same<typeof value, KvValue | undefined>>(true);
    const any = openKv<unknown>(repository).get("k");
    proves<Same<typeof any, unknown>>(true);
    deepEqual(any, { n: [1, new Date(0), undefined] });
  }));

/** Never called: what does not fit is told by the compiler. */
export function refused(repository: Repository): void {
  const sessions = openKv<Session>(repository);
  // @ts-expect-error: limits are missing
  sessions.set("a", { user: "ada", roles: [] });
  // @ts-expect-error: a user is text
  sessions.setMany([["a", { user: 1, roles: [], limits: new Map() }]]);
  // @ts-expect-error: what is not there is compared as undefined
  sessions.compareAndSet("a", null, undefined);
  // @ts-expect-error: it may not be there
  sessions.get("a").user;
  // @ts-expect-error: what was read is frozen
  sessions.get("a")?.roles.push("admin");
  // @ts-expect-error: a function makes a session, or nothing
  sessions.update("a", () => 1);
  // @ts-expect-error: inside of a transaction as well
  repository.transact((tx) => sessions.within(tx).set("a", 1));
  // @ts-expect-error: instances of other classes cannot be kept
  openKv<{ home: URL }>(repository).set("a", { home: new URL("a:b") });
  // @ts-expect-error: without a type a value may be anything
  openKv(repository).update("n", (n) => n + 1);
  // @ts-expect-error: `undefined` is no value
  openKv<string | undefined>(repository).set("a", undefined);
  // @ts-expect-error: there is no such option
  sessions.delete("a", { ttl: 5 });
}
