import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import {
  authorCount,
  authorNumberOf,
  difference,
  idOf,
  itemAt,
  itemsBetween,
  rankEnd,
  rankOf,
  touch,
} from "./items.ts";

Deno.test("itemAt() gives the same item every time, about 250 bytes long", () => {
  deepEqual(itemAt(12_345), itemAt(12_345));
  const bytes = itemsBetween(0, 1_000).reduce(
    (sum, item) => sum + JSON.stringify(Object.values(item)).length,
    0,
  );
  ok(bytes / 1_000 > 210 && bytes / 1_000 < 290, `${bytes / 1_000}`);
});

Deno.test("itemAt() gives titles of 24, bodies of 120 letters and three tags in order", () => {
  for (const item of itemsBetween(0, 500)) {
    equal(item.title.length, 24);
    equal(item.body.length, 120);
    equal(new Set(item.tags).size, 3);
    deepEqual([...item.tags].sort(), item.tags);
  }
});

Deno.test("idOf() and rankOf() never repeat", () => {
  const ids = new Set<string>();
  const ranks = new Set<number>();
  for (let index = 0; index < 200_000; index++) {
    ids.add(idOf(index));
    ranks.add(rankOf(index));
  }
  equal(ids.size, 200_000);
  equal(ranks.size, 200_000);
});

Deno.test("rankOf() and authorNumberOf() are spread evenly", () => {
  const inRange = new Array(10).fill(0);
  const byAuthor = new Array(authorCount).fill(0);
  for (let index = 0; index < 100_000; index++) {
    inRange[Math.floor(rankOf(index) / rankEnd * 10)]++;
    byAuthor[authorNumberOf(index)]++;
  }
  ok(
    Math.min(...inRange) > 9_000 && Math.max(...inRange) < 11_000,
    `${inRange}`,
  );
  ok(
    Math.min(...byAuthor) > 1_700 && Math.max(...byAuthor) < 2_300,
    `${byAuthor}`,
  );
});

Deno.test("difference() names the field that differs", () => {
  const item = itemAt(7);
  equal(difference(itemAt(7), item), undefined);
  ok(difference(undefined, item)?.includes("missing"));
  ok(difference({ ...item, rank: item.rank + 1 }, item)?.includes("rank"));
  ok(difference({ ...item, tags: item.tags.slice(1) }, item)?.includes("tags"));
});

Deno.test("touch() notices another rank, state, date or tag", () => {
  const item = itemAt(7);
  notEqual(touch({ ...item, rank: item.rank + 1 }), touch(item));
  notEqual(touch({ ...item, done: !item.done }), touch(item));
  notEqual(touch({ ...item, createdAt: item.createdAt + 1 }), touch(item));
  notEqual(touch({ ...item, tags: [] }), touch(item));
});
