import { deepEqual, equal, ok } from "node:assert/strict";
import { FOLDER, putText, seededWorld } from "../../tests/kit/log.ts";
import { SlowStorage, turns } from "../../tests/kit/replica_place.ts";
import { encodeText } from "../../src/base/bytes.ts";
import type { Mode } from "../commit/genesis.ts";
import { Graph } from "./graph.ts";
import { createLog } from "../log/log.ts";
import { Sharing } from "./sharing.ts";

const CHAIN = "c".repeat(40);

/** A log of texts, each a batch of one commit of one chain. */
async function start(mode: Mode, segmentBytesMax = 1000) {
  const storage = new SlowStorage();
  storage.makeFolder(FOLDER);
  const sizes = { segmentBytesMax, extentBytesFirst: 64, extentBytesMax: 64 };
  const log = createLog(storage, FOLDER, { world: seededWorld(1), ...sizes }, [
    { kind: 1, parts: [encodeText("genesis")] },
  ]);
  await log.sync();
  const graph = new Graph(new Uint8Array(32));
  const asked = { later: 0, told: 0 };
  const sharing = new Sharing({
    log,
    graph,
    mode,
    own: () => ({ chain: "", written: 0 }),
    syncLater: () => asked.later++,
  });
  sharing.onShareable(() => asked.told++);
  sharing.open();
  await turns();
  storage.isSlow = true;
  let wall = 0;
  const put = () => {
    putText(log, "a batch that takes its room");
    graph.add(CHAIN, { wall: ++wall, count: 0, parents: [] });
    sharing.appended(CHAIN, wall - 1, 1);
  };
  return { storage, log, sharing, put, asked };
}

Deno.test("Fast mode marks every segment before it shares what is in it", async () => {
  const { storage, log, sharing, put } = await start("fast", 200);
  let marked = 0;
  for (let i = 1; i <= 20; i++) {
    const wasMarked = log.isMarked;
    put();
    if (log.isMarked) {
      equal(sharing.shareable, log.end, "handed to the medium in order");
      equal(sharing.lengthOf(CHAIN), i);
      continue;
    }
    ok(wasMarked);
    marked++;
    ok(sharing.shareable < log.end);
    deepEqual([sharing.lengthOf(CHAIN), sharing.commits], [i - 1, i - 1]);
    equal(sharing.isComplete, false);
    await turns();
    storage.finish();
    await turns();
    deepEqual([sharing.shareable, sharing.lengthOf(CHAIN)], [log.end, i]);
    equal(sharing.isComplete, true);
  }
  ok(marked > 2, `${marked} segments`);
});

Deno.test("nothing behind a fence leaves before a sync covered it, in Fast mode too", async () => {
  const { storage, log, sharing, put, asked } = await start("fast");
  put();
  const { end } = log;
  equal(sharing.shareable, end, "no sync was waited for");
  put();
  sharing.fence();
  const { shareable } = sharing;
  put();
  put();
  equal(sharing.shareable, shareable);
  await turns();
  storage.finish();
  await turns();
  deepEqual([sharing.shareable, sharing.commits], [log.end, 4]);
  put();
  equal(sharing.shareable, log.end, "the fence is behind");
  await turns();
  ok(asked.told > 0);
});

Deno.test("open() marks a log in Fast mode, and shares what is in it already", async () => {
  const { log, sharing, asked } = await start("fast");
  equal(log.isMarked, true);
  deepEqual([sharing.shareable, sharing.isComplete], [log.end, true]);
  equal(asked.told, 1, "nothing was appended");
  const { end } = log;
  sharing.open();
  await turns();
  deepEqual([log.end, asked.told], [end, 1], "once is enough");
});

Deno.test("settle() has Fast mode synced later, and the other modes at once", async () => {
  for (const mode of ["fast", "trusted"] as const) {
    const { storage, log, sharing, put, asked } = await start(mode);
    put();
    for (let i = 0; i < 3; i++) sharing.settle();
    await turns();
    deepEqual(
      [asked.later, storage.waiting],
      mode === "fast" ? [1, 0] : [0, 1],
    );
    storage.finish();
    await turns();
    equal(sharing.shareable, log.end);
    sharing.stop();
    put();
    sharing.settle();
    await turns();
    equal(storage.waiting, 0, "nobody is told any more");
  }
});
