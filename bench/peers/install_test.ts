import assert from "node:assert/strict";
import { NotHere } from "../harness/suite.ts";
import { complaintOf, installPeers, peerVersions } from "./install.ts";
import { loadPeer } from "./load.ts";

async function inFolder(work: (folder: URL) => Promise<void>): Promise<void> {
  const path = Deno.makeTempDirSync();
  try {
    await work(new URL(`file://${path}/`));
  } finally {
    Deno.removeSync(path, { recursive: true });
  }
}

Deno.test("a package that does not install is left out with its reason, and the others go on", async () => {
  await inFolder(async (folder) => {
    const said: string[] = [];
    let last: readonly string[] = [];
    const peers = await installPeers(
      (line) => said.push(line),
      folder,
      (_, { dependencies }) => {
        last = Object.keys(dependencies);
        return Promise.resolve(last.includes("lmdb") ? "no such" : undefined);
      },
    );
    assert.deepEqual(peers.missing, { lmdb: "no such" });
    assert.deepEqual(said, ["lmdb is not here: no such"]);
    assert.ok(last.includes("yjs") && last.includes("classic-level"));
    assert.ok(!last.includes("lmdb"));
    await assert.rejects(
      loadPeer(peers.folder, "lmdb"),
      (error) => error instanceof NotHere && /no such/.test(error.message),
    );
  });
});

Deno.test("what is installed already is not installed again, and what was missing is tried again", async () => {
  await inFolder(async (folder) => {
    let calls = 0;
    let isBad = true;
    const install = (_: URL, wanted: { dependencies: object }) => {
      calls++;
      return Promise.resolve(
        isBad && "pg" in wanted.dependencies ? "not now" : undefined,
      );
    };
    await installPeers(undefined, folder, install);
    const first = calls;
    isBad = false;
    assert.deepEqual(
      (await installPeers(undefined, folder, install)).missing,
      {},
    );
    assert.equal(calls, first + 1);
    await installPeers(undefined, folder, install);
    assert.equal(calls, first + 1);
  });
});

Deno.test("a torn record of an install means to install again", async () => {
  await inFolder(async (folder) => {
    let calls = 0;
    const install = () => Promise.resolve(void calls++);
    await installPeers(undefined, folder, install);
    Deno.writeTextFileSync(new URL("installed.json", folder), '{"manif');
    await installPeers(undefined, folder, install);
    assert.equal(calls, 2);
  });
});

Deno.test("a package that is not there is skipped by one short line", async () => {
  await inFolder(async (folder) => {
    await assert.rejects(
      loadPeer(folder.pathname, "no-such-package"),
      (error) =>
        error instanceof NotHere && !error.message.includes("\n") &&
        error.message.includes("no-such-package"),
    );
  });
});

Deno.test("the complaint of an install is its line with the error", () => {
  assert.equal(
    complaintOf("Download x\nerror: no package\n\nStack backtrace:\n 0: y"),
    "error: no package",
  );
  assert.equal(complaintOf(""), "it did not install");
});

Deno.test("versions of peers are those of the manifest, without its aliases", () => {
  const [lmdb] = peerVersions(["lmdb"]);
  assert.match(lmdb ?? "", /^lmdb \d+\.\d+\.\d+$/);
  assert.ok(!peerVersions().some((name) => name.startsWith("rxdb-old")));
});
