/**
 * Bad luck with a real medium: full, read-only, forbidden, of a newer format.
 *
 * The small file systems are mounted in a name space of their own, which ends
 * with its process: nothing is left on the machine.
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import {
  DatabaseError,
  type DatabaseOptions,
  memoryStorage,
  type Mode,
  openDatabase,
} from "../mod.ts";
import { crc32 } from "../src/base/crc32.ts";
import { Child, type Ran } from "./kit/child.ts";
import { type Files, filesOf, restored, withFile } from "./kit/mod.ts";
import {
  answersOf,
  GARDEN,
  openSmall,
  writeSmall,
} from "./kit/small_database.ts";
import { sized } from "./kit/tier.ts";

const script = new URL("./kit/tiny_medium.ts", import.meta.url).pathname;

/** Can this machine give a process a file system of its own? */
async function canMount(): Promise<boolean> {
  if (Deno.build.os !== "linux") return false;
  const folder = await Deno.makeTempDir();
  try {
    return (await inNameSpace(folder, "true")).code === 0;
  } catch {
    return false; // There is no `unshare` here, or it may not be run.
  } finally {
    await Deno.remove(folder);
  }
}

/** Runs shell commands with a file system of 900 KB mounted at `folder`. */
async function inNameSpace(folder: string, commands: string): Promise<Ran> {
  const mount = `mount -t tmpfs -o size=900k none ${folder}`;
  return await Child.run(
    ["--map-root-user", "--mount", "sh", "-ec", `${mount}; ${commands}`],
    { program: "unshare" },
  );
}

const isMountable = await canMount();
const needed = isMountable
  ? ""
  : " (skipped: this machine mounts nothing here)";

const modes: readonly Mode[] = sized(["default"], [
  ...["default", "trusted", "fast"] as const,
]);

for (const mode of modes) {
  Deno.test({
    name:
      `a full disk and a read-only disk lose nothing acknowledged and say what to do: ${mode} mode${needed}`,
    ignore: !isMountable,
    fn: async () => {
      const folder = await Deno.makeTempDir();
      try {
        await onTinyMedium(folder, mode);
      } finally {
        await Deno.remove(folder);
      }
    },
  });
}

async function onTinyMedium(folder: string, mode: Mode): Promise<void> {
  const deno = Deno.execPath();
  // A platform that crashes on its way out has said its line before.
  const run = (phase: string) =>
    `${deno} run --no-check -A ${script} ${phase} ${folder}/db ${mode} || [ $? -gt 128 ]`;
  const { code, out, report } = await inNameSpace(
    folder,
    `${run("fill")}; mount -o remount,size=4m ${folder}; ${run("reopen")}; ` +
      `mount -o remount,ro ${folder}; ${run("readonly")}`,
  );
  equal(code, 0, report);
  const [filled, reopened, readonly] = out.trimEnd().split("\n")
    .map((line) => JSON.parse(line));
  ok(filled.kept > 50, "it got somewhere");
  for (const ending of [filled.ending, filled.again]) {
    equal(ending.code, "storage-full");
    match(ending.message, /Free some space .* open the database again/);
  }
  ok(filled.readable, "a full medium can still be read");
  for (const seen of [filled.reopened, reopened]) {
    equal(seen.opening.code, undefined, seen.opening.message);
    // The write that was refused may be there, or not.
    ok(seen.count === filled.kept || seen.count === filled.kept + 1);
    ok(seen.isPrefix && seen.ok);
  }
  equal(reopened.write.code, undefined, "with room it goes on");
  for (const ending of [readonly.known, readonly.unknown]) {
    equal(ending.code, "storage-readonly");
    match(ending.message, /Make the medium writable/);
  }
}

async function fails(
  options: DatabaseOptions,
  code: string,
  advice: RegExp,
): Promise<void> {
  try {
    const db = await openDatabase(options);
    try {
      await db.repository(GARDEN);
    } finally {
      await db.close();
    }
  } catch (error) {
    ok(error instanceof DatabaseError, String(error));
    equal(error.code, code, error.message);
    match(error.message, advice);
    return;
  }
  throw new Error(`Expected ${code}`);
}

Deno.test(
  "openDatabase() without Deno's permission to write says which one is missing",
  {
    permissions: { read: true, write: false },
  },
  async () => {
    await fails(
      { path: "./.data/never" },
      "permission-denied",
      /--allow-write/,
    );
  },
);

const isRoot = Deno.build.os !== "windows" && Deno.uid() === 0;

Deno.test({
  name:
    `openDatabase() of a folder that is forbidden fails with permission-denied${
      isRoot ? " (skipped: root may do everything)" : ""
    }`,
  ignore: isRoot || Deno.build.os === "windows",
  fn: async () => {
    const path = await Deno.makeTempDir();
    try {
      await (await openDatabase({ path })).close();
      for (const mode of [0o000, 0o500]) {
        await Deno.chmod(path, mode);
        await fails({ path: `${path}/x` }, "permission-denied", /the right/);
      }
      await Deno.chmod(path, 0o700);
      await Deno.chmod(`${path}/database`, 0o000);
      await fails({ path }, "permission-denied", /the right/);
    } finally {
      await Deno.chmod(path, 0o700);
      await Deno.remove(path, { recursive: true });
    }
  },
});

/** The files of a small database, closed well, and its answers. */
async function small(): Promise<{ files: Files; answers: string }> {
  const storage = memoryStorage();
  const db = await openSmall(storage, "default");
  const repo = await db.repository(GARDEN);
  await writeSmall(repo, () => {});
  const answers = answersOf(repo);
  await db.close();
  const place = restored(filesOf(storage));
  await (await openSmall(place, "default")).close();
  return { files: filesOf(place), answers };
}

/** A file whose format is one higher, its header's checksum right again. */
function newer(bytes: Uint8Array, sumAt: number): Uint8Array {
  const changed = bytes.slice();
  const view = new DataView(changed.buffer);
  view.setUint16(8, view.getUint16(8, true) + 1, true);
  view.setUint32(sumAt, crc32(changed.subarray(0, sumAt)), true);
  return changed;
}

function find(files: Files, part: string): readonly [string, Uint8Array] {
  return files.find(([name]) => name.includes(part))!;
}

Deno.test("files of a newer format are refused and left alone: the log and the keys", async () => {
  const { files } = await small();
  const [log, logBytes] = find(files, "/log-");
  const [keys, keyBytes] = find(files, "database");
  const images = [
    withFile(files, log, newer(logBytes, 60)),
    withFile(files, keys, newer(keyBytes, keyBytes.length - 4)),
  ];
  for (const image of images) {
    const storage = restored(image);
    for (const repair of [false, true]) {
      await fails({ storage, repair }, "format-too-new", /[Uu]pdate|newer/);
    }
    deepEqual(filesOf(storage), image);
  }
});

Deno.test("a checkpoint of a newer format is not used: the log has everything", async () => {
  const { files, answers } = await small();
  const [name, bytes] = find(files, "checkpoint-");
  const changed = bytes.slice();
  const page = changed.subarray(-4096);
  page.set(newer(page, 4092));
  const db = await openSmall(
    restored(withFile(files, name, changed)),
    "default",
  );
  const repo = await db.repository(GARDEN);
  equal(answersOf(repo), answers);
  const { skippedCheckpoints } = repo.status().recovery;
  equal(skippedCheckpoints.length, 1);
  match(skippedCheckpoints[0]!.reason, /format/);
  await db.close();
});

Deno.test("another root key and another mode are refused, and the folder is left alone", async () => {
  const { files } = await small();
  const storage = restored(files);
  const rootKey = new Uint8Array(32).fill(7);
  await fails({ storage, rootKey }, "root-key-mismatch", /right folder/);
  for (const mode of ["trusted", "fast"] as const) {
    await fails({ storage, mode }, "mode-mismatch", /mode "default"/);
  }
  deepEqual(filesOf(storage), files);
});

Deno.test("a repository of another database is refused, and left alone", async () => {
  const { files } = await small();
  const others = memoryStorage();
  await (await openSmall(others, "default", { seed: 2 })).close();
  const [, keys] = find(filesOf(others), "database");
  const storage = restored(withFile(files, "database", keys));
  await fails({ storage }, "root-key-mismatch", /"database" file/);
  const log = (all: Files) => find(all, "/log-");
  deepEqual(log(filesOf(storage)), log(files));
});
