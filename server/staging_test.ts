import { deepEqual, equal } from "node:assert/strict";
import type { Arrival } from "../repo/admission/arrival.ts";
import { RuledDevice } from "../tests/kit/ruled_device.ts";
import { type ChainEnd, chainEndsOf } from "../sync/summary.ts";
import { type ChainEnds, ChainStaging } from "./restore_report.ts";
import { recordKind } from "../repo/mod.ts";

/** A server that lost what a device had written, as records of a commit each. */
async function lost(texts: readonly string[]) {
  const [ada, server] = [
    await RuledDevice.open({ seed: 1 }),
    await RuledDevice.open({ seed: 2 }),
  ];
  const records = recordsOf(ada, texts);
  const ends = chainEndsOf(ada.replica.port().summary()!);
  const proved: ChainEnds[] = [];
  const stagingOf = (accepted: ReadonlyMap<string, ChainEnd> = ends) =>
    new ChainStaging(server.replica, {
      accepted: (_, chain) => accepted.get(chain),
      isAwaited: () => true,
      prove: (_name, _chain, ends) => proved.push(ends),
      cameBack: () => {},
    });
  const close = async () => {
    for (const device of [ada, server]) await device.replica.close();
  };
  const certificate = {
    kind: recordKind.certificate,
    bytes: ada.certificate,
  } as const;
  return { server, certificate, records, ends, proved, stagingOf, close };
}

function recordsOf(device: RuledDevice, texts: readonly string[]): Arrival[] {
  for (const title of texts) {
    device.put("x", { title });
    device.replica.flush();
  }
  return device.records().filter(({ kind }) => kind === recordKind.signedBatch);
}

Deno.test("ChainStaging.take() keeps pieces until the proved end has come, and shows where they end", async () => {
  const { records, ends, proved, stagingOf, close } = await lost([
    "1",
    "2",
    "3",
  ]);
  const staging = stagingOf();
  deepEqual(staging.take(records[0]!), []);
  deepEqual(staging.take(records[1]!), []);
  deepEqual(staging.take(records[2]!), records);
  deepEqual(proved.map((ends) => [...ends.keys()]), [[1, 2]]);
  const [end] = ends.values();
  equal(end!.count, 3);
  await close();
});

Deno.test("ChainStaging.take() proves nothing of pieces that lead to another end", async () => {
  const { records, proved, stagingOf, close } = await lost(["1", "2", "3"]);
  const twin = await RuledDevice.open({ seed: 1 });
  const others = recordsOf(twin, ["1", "other", "3"]);
  const staging = stagingOf();
  for (const other of others.slice(0, 2)) deepEqual(staging.take(other), []);
  // Neither with an end of its own nor with the one that is proved.
  deepEqual(staging.take(others[2]!), others);
  for (const other of others.slice(0, 2)) deepEqual(staging.take(other), []);
  deepEqual(staging.take(records[2]!), [...others.slice(0, 2), records[2]]);
  deepEqual(proved, []);
  await twin.replica.close();
  await close();
});

Deno.test("ChainStaging.take() keeps what comes twice, and leaves gaps and what is known to the door", async () => {
  const { server, certificate, records, ends, proved, stagingOf, close } =
    await lost([
      "1",
      "2",
      "3",
    ]);
  const staging = stagingOf();
  deepEqual(staging.take(records[1]!), [records[1]]);
  for (const record of [records[0]!, records[0]!, records[1]!, records[0]!]) {
    deepEqual(staging.take(record), []);
  }
  deepEqual(staging.take(records[2]!).length, 5);
  deepEqual(proved.map((ends) => [...ends.keys()]), [[1, 2]]);
  server.take([certificate, records[0]!]);
  deepEqual(staging.take(records[0]!), [records[0]]);
  deepEqual(staging.take(records[1]!), []);
  deepEqual(staging.drop([...ends.keys()][0]!), [records[1]]);
  await close();
});

Deno.test("ChainStaging.take() keeps nothing of chains of which nothing is proved", async () => {
  const { records, stagingOf, close } = await lost(["1", "2"]);
  const staging = stagingOf(new Map());
  for (const record of records) deepEqual(staging.take(record), [record]);
  await close();
});
