import assert from "node:assert/strict";
import fc from "fast-check";
import { ByteReader } from "../../src/base/bytes.ts";
import { crc32 } from "../../src/base/crc32.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import type { StorageFile } from "../../src/storage/storage.ts";
import { Table } from "../state/table.ts";
import { openCheckpoint, verifyCheckpoint } from "./checkpoint.ts";
import { checkpointName } from "./files.ts";
import { finish } from "../../src/base/steps.ts";
import { folder, rich, type Subject, Task } from "./kit_test.ts";
import { encodeDirectory } from "./write.ts";
import { decodeDirectory } from "./layout.ts";
import { PageFile } from "./page_file.ts";
import { isTried, sized } from "../../tests/kit/tier.ts";
import { digestOfTable } from "../../tests/kit/digest.ts";

/** A subject in memory whose checkpoint file can be spoilt. */
async function image(): Promise<
  { subject: Subject; bytes: Uint8Array; name: string }
> {
  const subject = rich(30);
  await subject.write();
  const name = `${folder}/${checkpointName(1)}`;
  const file = subject.storage.open(name)!;
  const bytes = new Uint8Array(file.size());
  file.readAt(bytes, 0);
  return { subject, bytes, name };
}

function openImage(subject: Subject, bytes: Uint8Array, name: string) {
  const storage = memoryStorage([[name, bytes]]);
  return openCheckpoint(storage, folder, subject.readLog, () => subject.view);
}

/** Reads everything; says whether damage was noticed, and fails on a wrong answer. */
function notices(subject: Subject, bytes: Uint8Array, name: string): boolean {
  const { checkpoint, skipped } = openImage(subject, bytes, name);
  if (checkpoint === undefined) return skipped.length === 1;
  try {
    const base = checkpoint.base("task")!;
    const table = new Table({ name: "task", view: subject.view, base });
    for (const field of Task.plan) table.column(field.name);
    assert.deepEqual(table.ids(), subject.twin.ids());
    assert.deepEqual(table.items(), subject.twin.items());
    assert.deepEqual(digestOfTable(table), digestOfTable(subject.twin));
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    assert.match(error.code, /^(checkpoint|log)-damaged$/);
    assert.match(error.message, /at (byte|address) \d+/);
  }
  return finish(verifyCheckpoint(checkpoint)) !== undefined;
}

/** A file over bytes that are not copied. */
function fileOf(bytes: Uint8Array): StorageFile {
  const refuse = () => assert.fail("a checkpoint is only read");
  return {
    size: () => bytes.length,
    readAt(target, offset) {
      target.set(bytes.subarray(offset, offset + target.length));
      return Math.min(target.length, bytes.length - offset);
    },
    writeAt: refuse,
    truncate: refuse,
    sync: refuse,
    close: () => {},
  };
}

Deno.test("every flipped bit of a checkpoint is noticed when its page is read", async () => {
  const { bytes } = await image();
  const last = bytes.length / 4096 - 1;
  const salt = new DataView(bytes.buffer).getUint32(last * 4096 + 12, true);
  // Pages behind the end, because the last ones are kept when a file is opened.
  const longer = new Uint8Array(bytes.length + 8 * 4096);
  longer.set(bytes);
  const file = new PageFile(fileOf(longer), "x");
  file.salt = salt;
  const isNoticed = (page: number): boolean => {
    try {
      if (page < last) file.read(page, 1);
      else new PageFile(fileOf(longer.subarray(0, bytes.length)), "x").last();
      return false;
    } catch {
      return true;
    }
  };
  for (let page = 0; page <= last; page++) assert.equal(isNoticed(page), false);
  let undetected = 0;
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    if (!isTried(bit, 29)) continue;
    const at = bit >>> 3;
    longer[at]! ^= 1 << bit % 8;
    if (!isNoticed(Math.floor(at / 4096))) undetected++;
    longer[at]! ^= 1 << bit % 8;
  }
  assert.equal(undetected, 0);
});

Deno.test("a flipped bit of a checkpoint never gives a wrong answer", async () => {
  const { subject, bytes, name } = await image();
  assert.equal(notices(subject, bytes, name), false);
  for (let at = 0; at < bytes.length; at += sized(131, 31)) {
    bytes[at]! ^= 1 << at % 8;
    assert.ok(notices(subject, bytes, name), `byte ${at}`);
    bytes[at]! ^= 1 << at % 8;
  }
});

Deno.test("every flipped bit of the covered log is noticed", async () => {
  const { subject, bytes, name } = await image();
  const log = subject.log.view();
  for (let at = 0; at < log.length; at++) {
    if (!isTried(at, 7)) continue;
    log[at]! ^= 1 << at % 8;
    assert.ok(notices(subject, bytes, name));
    log[at]! ^= 1 << at % 8;
  }
});

Deno.test("a checkpoint cut at any byte is skipped with a reason", async () => {
  const { subject, bytes, name } = await image();
  for (
    let length = 0;
    length < bytes.length;
    length += length % 4096 < 8 ? 1 : sized(389, 97)
  ) {
    const { checkpoint, skipped } = openImage(
      subject,
      bytes.subarray(0, length),
      name,
    );
    assert.equal(checkpoint, undefined);
    assert.equal(skipped.length, 1);
  }
});

Deno.test("garbage in a directory with a right checksum is refused within bounds", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      try {
        decodeDirectory(new ByteReader(bytes), 5);
      } catch (error) {
        assert.ok(error instanceof SyntaxError);
      }
    }),
    { seed: 9, numRuns: sized(400, 2000) },
  );
});

Deno.test("a spoilt directory with a right checksum never points outside the file", async () => {
  const { subject, bytes, name } = await image();
  const { checkpoint } = openImage(subject, bytes, name);
  const sound = encodeDirectory(checkpoint!.directory);
  const pages = bytes.length / 4096;
  const spoil = fc.record({ at: fc.nat(sound.length - 1), byte: fc.nat(255) });
  let refused = 0;
  fc.assert(
    fc.property(fc.array(spoil, { minLength: 1, maxLength: 3 }), (spoils) => {
      const spoilt = sound.slice();
      for (const { at, byte } of spoils) spoilt[at] = byte;
      try {
        const { collections, origins, checks } = decodeDirectory(
          new ByteReader(spoilt),
          pages,
        );
        const parts = [origins, checks];
        for (const { slots, rows, ids, idStarts, dead } of collections) {
          parts.push(slots, rows, ids, idStarts, dead);
        }
        for (const { first, count } of parts) {
          assert.ok(first <= pages && count <= pages * 4092);
        }
      } catch (error) {
        assert.ok(error instanceof SyntaxError);
        refused++;
      }
    }),
    { seed: 11, numRuns: 3000 },
  );
  assert.ok(refused > 1000);
});

Deno.test("a checkpoint of a newer format is skipped with the reason", async () => {
  const { subject, bytes, name } = await image();
  const last = new DataView(bytes.buffer, bytes.length - 4096);
  last.setUint16(8, 3, true);
  const data = bytes.subarray(bytes.length - 4096, bytes.length - 4);
  last.setUint32(4092, crc32(data), true);
  const { checkpoint, skipped } = openImage(subject, bytes, name);
  assert.equal(checkpoint, undefined);
  assert.match(skipped[0]!.reason, /format 3/);
});
