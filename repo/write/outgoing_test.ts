import { deepEqual, equal } from "node:assert/strict";
import { createTexts } from "../../tests/kit/log.ts";
import { decodeAscii, encodeText } from "../../src/base/bytes.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import type { Log } from "../log/log.ts";
import { Outgoing, type Shipment } from "./outgoing.ts";
import { recordKind } from "../log/format.ts";

function start() {
  const log: Log = createTexts(memoryStorage(), "genesis");
  const outgoing = new Outgoing(log);
  const put = (text: string) => {
    log.append(recordKind.certificate, [encodeText(text)]);
  };
  return { log, outgoing, put };
}

const textsOf = ({ records }: Pick<Shipment, "records">) =>
  records.map(({ bytes }) => decodeAscii(bytes, 0, bytes.length));

Deno.test("Outgoing.take() gives out as many whole records as fit, or one, and goes on behind them", () => {
  const { log, outgoing, put } = start();
  for (const text of ["aaaa", "bbbb", "cccc", "dddd", "x".repeat(50), "e"]) {
    put(text);
  }
  const taken: string[][] = [];
  for (;;) {
    const shipment = outgoing.take(log.end, 10);
    if (shipment === undefined) break;
    taken.push(textsOf(shipment));
  }
  deepEqual(taken, [
    ["aaaa", "bbbb"],
    ["cccc", "dddd"],
    ["x".repeat(50)],
    ["e"],
  ]);
});

Deno.test("Outgoing.take() gives out nothing behind a record that does not fit, whoever wrote between", () => {
  const { log, outgoing, put } = start();
  put("aaaa");
  put("b".repeat(8));
  outgoing.foreign(() => put("the owner's"));
  put("c");
  const taken: string[][] = [];
  for (;;) {
    const shipment = outgoing.take(log.end, 10);
    if (shipment === undefined) break;
    taken.push(textsOf(shipment));
  }
  deepEqual(taken, [["aaaa"], ["b".repeat(8), "c"]]);
  equal(textsOf({ records: outgoing.left(log.end, 100) }).length, 3);
});
