import { deepEqual, equal, rejects } from "node:assert/strict";
import { readRootKeyFile, writeRootKeyFile } from "./root_key_file.ts";

const secret = new Uint8Array(32).fill(7);
const invalid = { code: "invalid-option" };

async function withPath(work: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(`${folder}/root.key`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("writeRootKeyFile() writes what is read again, for its owner only", () =>
  withPath(async (path) => {
    equal(await readRootKeyFile(path), undefined);
    await writeRootKeyFile(path, secret);
    deepEqual(await readRootKeyFile(path), secret);
    const { mode } = await Deno.stat(path);
    if (Deno.build.os !== "windows") equal(mode! & 0o777, 0o600);
  }));

Deno.test("writeRootKeyFile() begins anew where a killed process left half a file", () =>
  withPath(async (path) => {
    await Deno.writeTextFile(`${path}.half`, "0707");
    equal(await readRootKeyFile(path), undefined, "half a key is none");
    await writeRootKeyFile(path, secret);
    deepEqual(await readRootKeyFile(path), secret);
    await rejects(Deno.stat(`${path}.half`), Deno.errors.NotFound);
  }));

Deno.test("writeRootKeyFile() replaces nothing, and readRootKeyFile() takes nothing else for a key", () =>
  withPath(async (path) => {
    await Deno.writeTextFile(path, "not a key");
    await rejects(writeRootKeyFile(path, secret), invalid);
    await rejects(readRootKeyFile(path), invalid);
    equal(await Deno.readTextFile(path), "not a key");
  }));

Deno.test("writeRootKeyFile() says what keeps it from removing what is in its way", () =>
  withPath(async (path) => {
    await Deno.mkdir(`${path}.half/not-ours`, { recursive: true });
    await rejects(writeRootKeyFile(path, secret), ({ code, cause }) => {
      equal(code, "invalid-option");
      equal(cause instanceof Deno.errors.AlreadyExists, false, String(cause));
      return true;
    });
    await Deno.stat(`${path}.half/not-ours`);
    equal(await readRootKeyFile(path), undefined);
  }));
