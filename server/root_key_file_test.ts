import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { readRootKeyFile, writeKeyFile } from "./root_key_file.ts";

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

Deno.test("writeKeyFile() writes what is read again, for its owner only", () =>
  withPath(async (path) => {
    equal(await readRootKeyFile(path), undefined);
    await writeKeyFile(path, { secret });
    deepEqual(await readRootKeyFile(path), secret);
    const { mode } = await Deno.stat(path);
    if (Deno.build.os !== "windows") equal(mode! & 0o777, 0o600);
  }));

Deno.test("writeKeyFile() begins anew where a killed process left half a file", () =>
  withPath(async (path) => {
    await Deno.writeTextFile(`${path}.half`, "0707");
    equal(await readRootKeyFile(path), undefined, "half a key is none");
    await writeKeyFile(path, { secret });
    deepEqual(await readRootKeyFile(path), secret);
    await rejects(Deno.stat(`${path}.half`), Deno.errors.NotFound);
  }));

Deno.test("writeKeyFile() replaces nothing, and readRootKeyFile() takes nothing else for a key", () =>
  withPath(async (path) => {
    await Deno.writeTextFile(path, "not a key");
    await rejects(writeKeyFile(path, { secret }), invalid);
    await rejects(readRootKeyFile(path), invalid);
    equal(await Deno.readTextFile(path), "not a key");
  }));

Deno.test("writeKeyFile() says what keeps it from removing what is in its way", () =>
  withPath(async (path) => {
    await Deno.mkdir(`${path}.half/not-ours`, { recursive: true });
    await rejects(writeKeyFile(path, { secret }), ({ code, cause }) => {
      equal(code, "invalid-option");
      equal(cause instanceof Deno.errors.AlreadyExists, false, String(cause));
      return true;
    });
    await Deno.stat(`${path}.half/not-ours`);
    equal(await readRootKeyFile(path), undefined);
  }));

Deno.test("readRootKeyFile() takes no other secret for the one that was written, whatever byte was changed", () =>
  withPath(async (path) => {
    const secret = new Uint8Array(32).map((_, i) => i * 37 + 11);
    await writeKeyFile(path, { secret });
    const bytes = await Deno.readFile(path);
    let refused = 0;
    for (let at = 0; at < bytes.length; at++) {
      for (const mask of [...Array(8).keys()].map((bit) => 1 << bit)) {
        const rotten = bytes.slice();
        rotten[at]! ^= mask;
        await Deno.writeFile(path, rotten);
        const read = readRootKeyFile(path);
        const found = await read.catch((error) =>
          equal(error.code, "invalid-option")
        );
        if (found === undefined) refused++;
        else deepEqual(found, secret, `bit ${mask} of byte ${at}`);
      }
    }
    ok(refused >= 64 * 8, "what is behind the digits may be any white space");
  }));

Deno.test("readRootKeyFile() reads what people write: small or capital letters", () =>
  withPath(async (path) => {
    const secret = new Uint8Array(32).fill(0xab);
    for (const text of [secret.toHex(), secret.toHex().toUpperCase()]) {
      await Deno.writeTextFile(path, text);
      deepEqual(await readRootKeyFile(path), secret);
    }
    await Deno.writeTextFile(path, secret.toHex().replace("ab", "Ab"));
    await rejects(readRootKeyFile(path), invalid);
  }));
