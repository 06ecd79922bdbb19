import assert from "node:assert/strict";
import fc from "fast-check";
import { limits } from "../base/limits.ts";
import { TABS_VERSION } from "./messages.ts";
import { parseEnvelope } from "./route.ts";
import { recordKind } from "../../repo/mod.ts";

function envelope(message: unknown, more: object = {}): unknown {
  return {
    sheaf: TABS_VERSION,
    from: "t1",
    to: undefined,
    term: 1,
    message,
    ...more,
  };
}

const records = { kind: "write", repository: "board", seq: 1 };

Deno.test("parseEnvelope() tells sides and versions apart, and copies nothing", () => {
  const said = envelope({ kind: "ping", ping: 3 });
  const ping = parseEnvelope(said);
  assert.equal(ping?.side, "tab");
  assert.equal(ping?.side === "tab" && ping.envelope, said);
  assert.equal(
    parseEnvelope(envelope({ kind: "pong", ping: 3 }))?.side,
    "owner",
  );
  const foreign = { side: "other-version", from: "t1" };
  for (
    const [to, read] of [["me", "me"], [undefined, undefined], [7, undefined]]
  ) {
    const other = parseEnvelope(envelope({ kind: "?" }, { sheaf: 99, to }));
    assert.deepEqual(other, { ...foreign, to: read });
  }
});

Deno.test("parseEnvelope() refuses what is no message, or too much of one", () => {
  const wrong: unknown[] = [
    undefined,
    "hello",
    envelope(undefined),
    envelope({ kind: "pong" }),
    envelope({ kind: "ping", ping: -1 }),
    envelope({ kind: "ping", ping: 1.5 }),
    envelope({ kind: "toString" }),
    envelope({ kind: "ping", ping: 1 }, { from: "x".repeat(1_000) }),
    envelope({ kind: "ping", ping: 1 }, { term: "1" }),
    envelope({
      ...records,
      records: [{ kind: "genesis", bytes: new Uint8Array() }],
    }),
    envelope({
      ...records,
      records: [{ kind: recordKind.signedBatch, bytes: "bytes" }],
    }),
    envelope({ ...records, records: new Array(limits.tabListMax + 1) }),
    envelope({ ...records, records: new Array(2) }),
    envelope({ ...records, repository: "x".repeat(10_000), records: [] }),
    envelope({ kind: "open", call: 1, repository: "b", chain: "short" }),
    envelope({ kind: "call", call: 1, method: "constructor", args: [] }),
    envelope({
      kind: "present",
      repository: "b",
      bytes: new Uint8Array(limits.presenceBytesMax + 1),
    }),
  ];
  for (const data of wrong) assert.equal(parseEnvelope(data), undefined);
  const write = envelope({
    ...records,
    records: [{ kind: recordKind.signedBatch, bytes: new Uint8Array(3) }],
  });
  assert.equal(parseEnvelope(write)?.side, "tab");
});

Deno.test("parseEnvelope() takes no more chains of one tab than an owner remembers", () => {
  const hello = (count: number) =>
    envelope({
      kind: "hello",
      wishes: { user: "ann" },
      isHidden: false,
      chains: new Array(count).fill(["board", "c".repeat(40)]),
    });
  assert.equal(parseEnvelope(hello(limits.tabChainsMax))?.side, "tab");
  assert.equal(parseEnvelope(hello(limits.tabChainsMax + 1)), undefined);
});

Deno.test("parseEnvelope() throws for nothing that a clone can be", () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (message, to) => {
      parseEnvelope(message);
      parseEnvelope(envelope(message, { to }));
    }),
    { seed: 7 },
  );
});
