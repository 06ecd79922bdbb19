/** @module The program that the package brings, beside `serve`. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { sheafProgram, withFolder } from "./place.js";

const CSV = "id,name,people\r\na,Ulm,126329\r\nb,Köln,5\r\n";

/** Runs the program with arguments and standard input; gives what it said. */
function sheaf(folder, args, input = "") {
  return execFileSync(process.execPath, [sheafProgram(), ...args], {
    cwd: folder,
    input,
    encoding: "utf8",
  });
}

/** The checks by their sentences. */
export function cli() {
  return {
    "what is imported is exported again, from files and standard input": () =>
      withFolder((folder) => {
        writeFileSync(`${folder}/towns.csv`, CSV);
        const place = ["--repo", "geo", "--collection", "town"];
        sheaf(folder, ["import", "towns.csv", ...place]);
        const csv = ["export", ...place, "--format", "csv"];
        assert.equal(sheaf(folder, csv), CSV);
        sheaf(folder, ["export", ...place, "--out", "towns.jsonl"]);
        const lines = readFileSync(`${folder}/towns.jsonl`, "utf8");
        assert.match(lines, /"people":5/);
        const other = [...place, "--data", "other", "--format", "jsonl"];
        sheaf(folder, ["import", "-", ...other], lines);
        assert.equal(sheaf(folder, ["export", ...other]), lines);
      }),
    "explain has the texts that pages tell by number": () =>
      withFolder((folder) => {
        const table = join(dirname(sheafProgram()), "../dist/messages.json");
        const { version, messages } = JSON.parse(readFileSync(table, "utf8"));
        const at = messages.findIndex((text) => text.includes("{}"));
        const message = `#${version}-${at}${JSON.stringify(["one", "two"])}`;
        const text = sheaf(folder, ["explain", message]);
        assert.ok(text.includes(messages[at].split("{}")[0] + "one"), text);
      }),
  };
}
