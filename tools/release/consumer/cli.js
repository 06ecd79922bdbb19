/** @module The program that the package brings, beside `serve`. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { sheafProgram, withFolder } from "./place.js";

const CSV = "id,name,people\r\na,Ulm,126329\r\nb,Köln,5\r\n";

/** The checks by their sentences. */
export function cli() {
  return {
    "what is imported is exported again, from files and standard input": () =>
      withFolder((folder) => {
        const sheaf = (args, input = "") =>
          execFileSync(process.execPath, [sheafProgram(), ...args], {
            cwd: folder,
            input,
            encoding: "utf8",
          });
        writeFileSync(`${folder}/towns.csv`, CSV);
        const place = ["--repo", "geo", "--collection", "town"];
        sheaf(["import", "towns.csv", ...place]);
        assert.equal(sheaf(["export", ...place, "--format", "csv"]), CSV);
        sheaf(["export", ...place, "--out", "towns.jsonl"]);
        const lines = readFileSync(`${folder}/towns.jsonl`, "utf8");
        assert.match(lines, /"people":5/);
        const other = [...place, "--data", "other", "--format", "jsonl"];
        sheaf(["import", "-", ...other], lines);
        assert.equal(sheaf(["export", ...other]), lines);
      }),
  };
}
