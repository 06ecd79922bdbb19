/** @module What a folder must do as a storage, and who else may open it. */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, statSync } from "node:fs";
import process from "node:process";
import { diskStorage } from "@sheaf/sheaf";
import { storageConformance } from "@sheaf/sheaf/testing";
import { beside, Child, withFolder } from "./place.js";

if (process.argv[2] === "hold") {
  diskStorage(process.argv[3]).lock();
  console.log("locked");
  setInterval(() => {}, 1000);
}

/** The checks by their sentences. */
export function storage() {
  let paths = 0;
  const conformance = (folder) =>
    storageConformance("diskStorage()", () => {
      const path = `${folder}/${paths++}`;
      mkdirSync(path);
      return Promise.resolve({
        storage: diskStorage(path),
        reopen: () => diskStorage(path),
        cleanup: () => Promise.resolve(),
      });
    });
  return {
    "diskStorage() does what every storage does": () =>
      withFolder(async (folder) => {
        for (const { run } of conformance(folder)) await run();
      }),
    "files and folders are readable by their owner only": () =>
      withFolder((folder) => {
        const medium = diskStorage(`${folder}/new`);
        const unlock = medium.lock();
        medium.makeFolder("logs");
        medium.open("logs/one", { create: true }).close();
        const modeOf = (name) => statSync(`${folder}/new${name}`).mode & 0o777;
        assert.deepEqual(
          ["", "/logs", "/lock", "/logs/one"].map(modeOf),
          [0o700, 0o700, 0o600, 0o600],
        );
        unlock();
      }),
    "identity() differs for a copy of the folder": () =>
      withFolder((folder) => {
        const one = diskStorage(`${folder}/one`);
        one.lock()();
        cpSync(`${folder}/one`, `${folder}/two`, { recursive: true });
        const two = diskStorage(`${folder}/two`);
        assert.notEqual(one.identity(), two.identity());
        const unlock = one.lock();
        const held = one.identity();
        unlock();
        assert.equal(held, one.identity());
      }),
    "lock() is refused while another process has it, and free after kill -9":
      () =>
        withFolder(async (folder) => {
          const child = new Child(beside("storage.js"), "hold", folder);
          await child.said(/locked/);
          const code = "database-locked";
          assert.throws(() => diskStorage(folder).lock(), { code });
          child.signal("SIGKILL");
          await child.ended;
          diskStorage(folder).lock()();
        }),
  };
}
