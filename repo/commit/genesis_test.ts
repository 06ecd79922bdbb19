import assert from "node:assert/strict";
import fc from "fast-check";
import { throwsOnlySyntaxError } from "../../tests/kit/garbage.ts";
import { root } from "../../tests/kit/door.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import {
  decodeGenesis,
  encodeGenesis,
  folderOf,
  genesisId,
  parseRepositoryName,
} from "./genesis.ts";

const rootKey = root.publicKey;
const segment = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
const names = fc.array(segment, { minLength: 1, maxLength: 8 })
  .map((segments) => segments.join("/"));
const modes = fc.constantFrom("default", "trusted", "fast");

Deno.test("parseRepositoryName() takes one to eight segments of 64 characters", () => {
  fc.assert(
    fc.property(names, (name) => assert.equal(parseRepositoryName(name), name)),
    { seed: 1 },
  );
  assert.ok(parseRepositoryName(Array(8).fill("a".repeat(64)).join("/")));
});

Deno.test("parseRepositoryName() refuses everything else with invalid-name", () => {
  const bad = [
    "",
    "/",
    "a/",
    "/a",
    "a//b",
    "a b",
    "a.b",
    "..",
    "ä",
    "a\n",
    "a\0",
    "\ud800",
    "a".repeat(65),
    Array(9).fill("a").join("/"),
    "a/".repeat(1_000_000),
    undefined,
    null,
    7,
    {},
    ["a"],
  ];
  for (const name of bad) {
    assert.throws(
      () => parseRepositoryName(name),
      (error) =>
        error instanceof DatabaseError && error.code === "invalid-name",
    );
  }
});

Deno.test("folderOf() gives 32 hexadecimal digits that differ by name", () => {
  const one = folderOf(parseRepositoryName("team/acme"));
  assert.match(one, /^[0-9a-f]{32}$/);
  assert.notEqual(one, folderOf(parseRepositoryName("team/acm")));
});

Deno.test("decodeGenesis() gives back what encodeGenesis() took, in one form", () => {
  fc.assert(
    fc.property(names, modes, (name, mode) => {
      const genesis = { name: parseRepositoryName(name), rootKey, mode };
      const bytes = encodeGenesis(genesis);
      assert.deepEqual(decodeGenesis(bytes), genesis);
      assert.deepEqual(encodeGenesis(decodeGenesis(bytes)), bytes);
    }),
    { seed: 2 },
  );
});

Deno.test("decodeGenesis() throws only SyntaxError on damaged bytes, or gives another genesis", () => {
  const name = parseRepositoryName("team/acme");
  const bytes = encodeGenesis({ name, rootKey, mode: "default" });
  throwsOnlySyntaxError(bytes, (damaged) => {
    // What still decodes has a form of its own and so an id of its own.
    assert.deepEqual(encodeGenesis(decodeGenesis(damaged)), damaged);
    assert.notDeepEqual(genesisId(damaged), genesisId(bytes));
  });
});

Deno.test("genesisId() depends on name, root key and mode", () => {
  const name = parseRepositoryName("a");
  const base = { name, rootKey, mode: "default" } as const;
  const all = [
    base,
    { ...base, name: parseRepositoryName("b") },
    { ...base, mode: "trusted" } as const,
    { ...base, rootKey: new Uint8Array(32) },
  ];
  const ids = all.map((genesis) => genesisId(encodeGenesis(genesis)).toHex());
  assert.equal(new Set(ids).size, 4);
});
