import fs from "node:fs";
import { faultyStorage } from "../../tests/kit/faulty_storage.ts";
import {
  type OpenedStorage,
  storageConformance,
} from "../../tests/kit/storage_conformance.ts";
import { type DiskCalls, diskCalls } from "./disk_calls.ts";
import { diskStorageOver } from "./disk_storage.ts";
import { memoryStorage } from "./memory_storage.ts";
import type { Storage } from "./storage.ts";

function openDisk(calls: DiskCalls): Promise<OpenedStorage> {
  const path = Deno.makeTempDirSync();
  return Promise.resolve({
    storage: diskStorageOver(calls, path),
    reopen: () => diskStorageOver(calls, path),
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
  ...storageConformance("diskStorage()", () => openDisk(diskCalls()!)),
  ...storageConformance(
    "diskStorage() over node:fs",
    () => openDisk(fs as DiskCalls),
  ),
  ...storageConformance("memoryStorage()", () => openShared(memoryStorage())),
  ...storageConformance("faultyStorage()", () => openShared(faultyStorage())),
  ...storageConformance(
    "faultyStorage({ slow })",
    () => openShared(faultyStorage({ slow: true })),
  ),
];

for (const { name, run } of cases) Deno.test(name, run);
