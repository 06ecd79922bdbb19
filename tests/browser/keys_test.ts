/**
 * Keys that cannot be read, in a real browser: they sign, they survive, a real
 * server takes what they signed, and one that is gone costs a new key only.
 *
 * @module
 */

import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { toHex } from "../../src/base/bytes.ts";
import { clientOf, hasNote } from "../server_clients.ts";
import { ANN, BOB, withServer } from "../server_place.ts";
import type * as KeysPage from "./keys_page.ts";
import { browserTest } from "./kit/mod.ts";

type Page = typeof KeysPage;

const entries = { page: new URL("keys_page.ts", import.meta.url) };
const PLAIN_BYTES = 2 * 32;

browserTest(
  "the keys of a page cannot be read, sign, and survive a reload and a killed browser",
  {
    entries,
  },
  async (place) => {
    const tab = await place.open<Page>("page");
    const first = await tab.call("open");
    equal(first.isHidden, true, "this browser has Ed25519");
    deepEqual([first.isLost, first.isCertified], [false, true]);
    equal(await tab.call("readable"), 0);
    const { ok: sound, signatures } = await tab.call("verified");
    deepEqual([sound, signatures], [true, 21], "each write waits for its seal");
    await tab.reload();
    deepEqual(await tab.call("open"), first);
    const file = await tab.call("file");
    await place.killAndRestart();
    const again = await place.open<Page>("page");
    await again.call("putBack", file);
    deepEqual(await again.call("open"), first);
    deepEqual(await again.call("verified"), { ok: true, signatures: 21 });
  },
);

browserTest("a database without a vault has its secrets in the file", {
  entries,
}, async (place) => {
  const tab = await place.open<Page>("page");
  const plain = await tab.call("openPlain");
  equal(plain.isHidden, false);
  await tab.reload();
  const { fileBytes, ...with_ } = await tab.call("open");
  const { fileBytes: before, ...without } = plain;
  deepEqual([with_, fileBytes], [without, before], "which goes on as it is");
  const device = await place.device();
  const other = await place.open<Page>("page", { device });
  const hidden = await other.call("open");
  ok(hidden.fileBytes < before);
  equal(before - hidden.fileBytes, PLAIN_BYTES);
});

browserTest("a vault that is gone costs a new key, and nothing else", {
  entries,
}, async (place) => {
  const tab = await place.open<Page>("page");
  const first = await tab.call("open");
  await tab.call("forget");
  await tab.reload();
  const second = await tab.call("open");
  equal(second.isLost, true);
  equal(second.rootKey, first.rootKey);
  notEqual(second.publicKey, first.publicKey);
  equal((await tab.call("verified")).ok, true);
  await tab.reload();
  const third = await tab.call("open");
  deepEqual([third.isLost, third.publicKey], [false, second.publicKey]);
});

browserTest(
  "a server certifies such a key and verifies what it signed, and the page all of the server's without a code of our own",
  {
    entries,
  },
  async (place) => {
    await withServer({ origins: ["*"] }, async ({ server }) => {
      const tab = await place.open<Page>("page");
      const { isHidden, isCertified } = await tab.call(
        "open",
        toHex(server.rootKey),
      );
      deepEqual([isHidden, isCertified], [true, false]);
      await tab.call("sync", server.url, ANN, "from the page");
      await using bob = await clientOf(server, { token: BOB });
      await hasNote(bob, "from the page");
      await hasNote(bob, "hello");
      await bob.notes.create({ text: "from Bob" });
      equal(await tab.call("heard", "from Bob"), false, "WebCrypto verified");
      const { ok: sound, signatures } = await bob.repo.verify();
      equal(sound, true);
      ok(signatures >= 1);
    });
  },
);
