import { faultyStorage } from "../../tests/kit/faulty_storage.ts";
import { type OpenedStorage, storageConformance } from "./conformance.ts";
import { diskStorage } from "./disk_storage.ts";
import { memoryStorage } from "./memory_storage.ts";
import type { Storage } from "./storage.ts";

function openDeno(): Promise<OpenedStorage> {
  const path = Deno.makeTempDirSync();
  return Promise.resolve({
    storage: diskStorage(path),
    reopen: () => diskStorage(path),
    cleanup: () => Deno.remove(path, { recursive: true }),
  });
}

function openShared(storage: Storage): Promise<OpenedStorage> {
  return Promise.resolve({
    storage,
    reopen: () => storage,
    cleanup: () => Promise.resolve(),
  });
}

const cases = [
  ...storageConformance("diskStorage()", openDeno),
  ...storageConformance("memoryStorage()", () => openShared(memoryStorage())),
  ...storageConformance("faultyStorage()", () => openShared(faultyStorage())),
  ...storageConformance(
    "faultyStorage({ slow })",
    () => openShared(faultyStorage({ slow: true })),
  ),
];

for (const { name, run } of cases) Deno.test(name, run);
