import { deepEqual, equal } from "node:assert/strict";
import { seededRandom } from "../../tests/kit/random.ts";
import { memoryStorage } from "./memory_storage.ts";
import { readOnlyStorage } from "./read_only_storage.ts";

Deno.test("readOnlyStorage() is what a storage is whose changes are not kept", () => {
  const random = seededRandom(4);
  const choose = (count: number) => Math.floor(random() * count);
  for (let round = 0; round < 60; round++) {
    const start = Array.from({ length: 3 }, (_, i) =>
      [
        `f/${i}`,
        Uint8Array.from({ length: choose(20_000) }, () => choose(256)),
      ] as const);
    const inner = memoryStorage(start.map(([n, b]) => [n, b.slice()]));
    const storage = readOnlyStorage(inner);
    const model = memoryStorage(start.map(([n, b]) => [n, b.slice()]));
    for (let step = 0; step < 40; step++) {
      const name = `f/${choose(5)}`;
      const other = `f/${choose(5)}`;
      const what = choose(6);
      const bytes = Uint8Array.from({ length: choose(9_000) }, () => choose(9));
      const offset = choose(25_000);
      for (const one of [storage, model]) {
        const file = one.open(name, { create: what === 0 });
        if (what === 1) one.remove(name);
        else if (what === 2 && file !== undefined && name !== other) {
          one.rename(name, other);
        } else if (what === 3) file?.truncate(offset);
        else file?.writeAt(bytes, offset);
        file?.close();
      }
      deepEqual(storage.list("f").sort(), model.list("f").sort());
      for (const name of model.list("f")) {
        deepEqual(bytesOf(storage, `f/${name}`), bytesOf(model, `f/${name}`));
      }
    }
    for (const [name, bytes] of start) deepEqual(bytesOf(inner, name), bytes);
    equal(inner.list("f").length, 3);
  }
});

function bytesOf(
  storage: ReturnType<typeof memoryStorage>,
  name: string,
): Uint8Array {
  const file = storage.open(name)!;
  const bytes = new Uint8Array(file.size());
  equal(file.readAt(bytes, 0), bytes.length);
  file.close();
  return bytes;
}
