/**
 * A door before which somebody puts large batches that hold as much as their
 * bytes can say. The test gives it little memory; it prints a line for each.
 *
 * @module
 */

import { admit } from "../repo/admission/admit.ts";
import type { Gate } from "../repo/admission/arrival.ts";
import { encodeHeader } from "../repo/commit/commit.ts";
import { boundedPatches } from "../repo/admission/merge_gate.ts";
import { ByteWriter } from "../src/base/bytes.ts";
import { refuse } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import { writeChange } from "../src/schema/change_codec.ts";
import { lateRich } from "../src/schema/late_rich.ts";
import { rich } from "../src/schema/rich.ts";
import { TextState } from "../src/schema/text_state.ts";
import { type FieldKind, fieldKinds } from "../src/schema/patch.ts";
import { dayOne, Replica, Writer } from "./kit/door.ts";

lateRich.provide(rich);

const MiB = 1024 * 1024;
const CREATE = 0;
const UPDATE = 1;
const DELETE = 2;
const FIELDS = limits.fieldsMax;
const tags = { bytes: 7, json: 9, record: 11 } as const;

type Write = (w: ByteWriter) => void;

/** A payload of so many operations as there is room for; their ids are as short as they can be. */
function payloadOf(
  kind: FieldKind,
  fields: number,
  what: number,
  write: Write,
  bytesMax: number,
): Uint8Array {
  const body = new ByteWriter(bytesMax + limits.itemBytesMax);
  let count = 0;
  for (; body.length < bytesMax && count < limits.operationsMax; count++) {
    body.varint(what);
    body.varint(0);
    body.text(count.toString(36));
    write(body);
  }
  const w = new ByteWriter(body.length + 4 * 1024);
  w.u8(1);
  w.varint(1);
  w.text("c");
  w.varint(1);
  w.varint(fields);
  for (let i = 0; i < fields; i++) {
    w.text(`f${i}`);
    w.u8(fieldKinds[kind]);
  }
  w.varint(count);
  w.bytes(body.view());
  return w.copy();
}

/** One JSON value as large as it may be. */
function json(unit: string): Write {
  const count = Math.floor(limits.valueBytesMax / unit.length) - 1;
  const text = `[${unit.repeat(count)}0]`;
  return (w) => {
    w.u8(tags.json);
    w.text(text);
  };
}

/** Each field with one byte, or one key. */
function fields(tag: number): Write {
  return (w) => {
    for (let i = 0; i < FIELDS; i++) {
      w.u8(tag);
      w.varint(1);
      if (tag === tags.record) w.text(String.fromCharCode(0x20 + i % 0x40));
      w.u8(1);
    }
  };
}

/** Each field, to nothing. */
function changes(w: ByteWriter): void {
  w.varint(FIELDS);
  for (let i = 0; i < FIELDS; i++) {
    w.varint(i);
    w.u8(0);
    w.u8(0);
  }
}

/** One change of a text that deletes a unit of each of many clients. */
function edits(w: ByteWriter): void {
  const spans = { runs: [], gone: [{ clock: 1, length: 1 }] };
  const clients = new Map(Array.from({ length: 500 }, (_, i) => [i, spans]));
  w.varint(1);
  w.varint(0);
  writeChange(w, { what: "edit", text: new TextState(clients) });
}

const nothing = () => {};

/** What commits hold, and how many bytes of it. */
const cases = {
  arrays: [32 * MiB, "json", 1, CREATE, json("[[]],")],
  maps: [32 * MiB, "map", FIELDS, CREATE, fields(tags.record)],
  bytes: [32 * MiB, "bytes", FIELDS, CREATE, fields(tags.bytes)],
  changes: [32 * MiB, "string", FIELDS, UPDATE, changes],
  edits: [16 * MiB, "text", 1, UPDATE, edits],
  deletes: [48 * MiB, "json", 0, DELETE, nothing],
  "fewer creates": [12 * MiB, "json", 0, CREATE, nothing],
} as const;

const gate: Gate = (_batch, _from, decode) => {
  const patches = decode(boundedPatches);
  return "refused" in patches ? patches : refuse("denied");
};

for (const [name, [bytes, kind, count, what, write]] of Object.entries(cases)) {
  const writer = new Writer(1, new Replica("trusted"));
  const commits = [];
  for (let left: number = bytes; left > 0;) {
    const payload = payloadOf(kind, count, what, write, left);
    const wall = dayOne + commits.length;
    const header = encodeHeader({ wall, count: 0, parents: [] });
    commits.push({ header, payload, payloadAt: -1 });
    left -= payload.length;
  }
  const arrival = writer.pack({ chain: writer.chain, first: 0, commits });
  const door = new Replica("trusted");
  const [judged] = admit(arrival, door, door.parking, nothing, gate);
  const { verdict } = judged!;
  console.log(name, verdict.verdict === "refuse" && verdict.refusal.refused);
}
