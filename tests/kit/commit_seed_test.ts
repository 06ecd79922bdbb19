/**
 * Seeds that differ by commit, read from every way in which git keeps its refs.
 */

import { deepEqual, equal, notEqual, rejects } from "node:assert/strict";
import { join } from "node:path";
import { commitSeed, eachSeed, seedsOf } from "./commit_seed.ts";
import { sized } from "./tier.ts";

const HASH = "c0ffee1234567890abcdef1234567890abcdef12";
const SEED = 0xc0ffee1;

/** A folder with these files; it is gone afterwards. */
async function within(
  files: Readonly<Record<string, string>>,
  look: (root: string) => void,
): Promise<void> {
  const root = await Deno.makeTempDir();
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.mkdir(join(root, name, ".."), { recursive: true });
      await Deno.writeTextFile(join(root, name), text);
    }
    look(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

const branch = "ref: refs/heads/main\n";
const packed = `# pack-refs with: peeled\n${
  "1".repeat(40)
} refs/heads/other-main\n${HASH} refs/heads/main\n`;

const repositories: Readonly<Record<string, Record<string, string>>> = {
  "a commit without a branch": { ".git/HEAD": `${HASH}\n` },
  "a branch": { ".git/HEAD": branch, ".git/refs/heads/main": `${HASH}\n` },
  "packed refs": { ".git/HEAD": branch, ".git/packed-refs": packed },
  "a worktree": {
    ".git": "gitdir: far/worktrees/here\n",
    "far/worktrees/here/HEAD": branch,
    "far/worktrees/here/commondir": "../..\n",
    "far/refs/heads/main": `${HASH}\n`,
  },
  "a worktree with packed refs": {
    ".git": "gitdir: far/worktrees/here\n",
    "far/worktrees/here/HEAD": branch,
    "far/worktrees/here/commondir": "../..\n",
    "far/packed-refs": packed,
  },
};

for (const [name, files] of Object.entries(repositories)) {
  Deno.test(`commitSeed() reads the hash of ${name}`, async () => {
    await within(files, (root) => equal(commitSeed(root), SEED));
  });
}

Deno.test("commitSeed() follows from the source where there is no repository", async () => {
  const seeds: number[] = [];
  for (const text of ["one", "two", "one"]) {
    await within(
      { "deno.json": "{}", "src/base/a.ts": text },
      (root) => seeds.push(commitSeed(root)),
    );
  }
  equal(seeds[0], seeds[2]);
  notEqual(seeds[0], seeds[1]);
});

Deno.test("commitSeed() does not trip over a branch without a commit", async () => {
  await within(
    { ".git/HEAD": branch, "deno.json": "{}" },
    (root) => equal(Number.isSafeInteger(commitSeed(root)), true),
  );
});

Deno.test("seedsOf() are pinned ones, and in the big tier those of the commit too", () => {
  const first = commitSeed();
  const fresh = sized([], [first, first + 1]);
  deepEqual(seedsOf(3, 2), [1, 2, 3, ...fresh]);
});

Deno.test("eachSeed() names the seed that failed, and runs none after it", async () => {
  const run: number[] = [];
  const failing = eachSeed([4, 5, 6], (seed) => {
    run.push(seed);
    return seed === 5 ? Promise.reject(new Error("no")) : Promise.resolve();
  });
  await rejects(failing, {
    message: "Seed 5 failed",
    cause: new Error("no"),
  });
  deepEqual(run, [4, 5]);
});
