import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import {
  bytesOfFile,
  createTexts,
  FIRST_SEGMENT,
  FOLDER,
  longText,
  openTexts,
  putText,
  seededWorld,
} from "../../tests/kit/log.ts";
import { countReads } from "../../tests/kit/counted_reads.ts";
import { seededRandom } from "../../tests/kit/random.ts";
import { decodeText, encodeText } from "../../src/base/bytes.ts";
import { crc32 } from "../../src/base/crc32.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { openLog } from "./log.ts";
import { RECORD_HEADER_BYTES } from "./format.ts";

const sizes = { segmentBytesMax: 400, extentBytesFirst: 64 };

/** A closed log of `count` synced texts in small segments, and where their bodies are. */
async function fill(
  storage: Storage,
  count: number,
  options = sizes,
): Promise<number[]> {
  const log = createTexts(storage, "genesis", options);
  const addresses: number[] = [];
  for (let i = 0; i < count; i++) {
    await log.sync();
    addresses.push(putText(log, longText(i, 50)));
  }
  await log.close();
  return addresses;
}

function write(
  storage: Storage,
  name: string,
  offset: number,
  bytes: Uint8Array,
): void {
  const file = storage.open(name, { create: true })!;
  file.writeAt(bytes, offset);
  file.close();
}

Deno.test("openLog() cuts a torn tail and tells how many bytes", async () => {
  const storage = memoryStorage();
  await fill(storage, 3);
  const { length } = bytesOfFile(storage, FIRST_SEGMENT);
  write(storage, FIRST_SEGMENT, length, encodeText("torn"));
  const { log, recovery, texts } = (await openTexts(storage, sizes))!;
  equal(texts.length, 4);
  deepEqual(recovery, { clean: false, droppedBytes: 4, survivors: [] });
  putText(log, "next");
  await log.close();
  const again = (await openTexts(storage, sizes))!;
  deepEqual(again.texts, [...texts, "next"]);
  equal(again.recovery.droppedBytes, 0);
});

Deno.test("openLog() cuts a torn tail so that a crash right after it is no clean close", async () => {
  const storage = memoryStorage();
  await fill(storage, 3);
  const { length } = bytesOfFile(storage, FIRST_SEGMENT);
  write(storage, FIRST_SEGMENT, length, encodeText("torn"));
  await openTexts(storage, sizes);
  const crashed = memoryStorage();
  for (const name of storage.list(FOLDER)) {
    const path = `${FOLDER}/${name}`;
    write(crashed, path, 0, bytesOfFile(storage, path));
  }
  const { log, recovery } = (await openTexts(crashed, sizes))!;
  deepEqual(recovery, { clean: false, droppedBytes: 0, survivors: [] });
  await log.close();
  const closed = (await openTexts(crashed, sizes))!;
  equal(closed.recovery.clean, true);
});

Deno.test("openLog() takes a zero tail for the end of a log in use", async () => {
  const storage = memoryStorage();
  await fill(storage, 3);
  const { length } = bytesOfFile(storage, FIRST_SEGMENT);
  write(storage, FIRST_SEGMENT, length, new Uint8Array(5_000));
  const { recovery, texts } = (await openTexts(storage, sizes))!;
  equal(texts.length, 4);
  deepEqual(recovery, { clean: false, droppedBytes: 0, survivors: [] });
});

Deno.test("openLog() refuses a log whose durable bytes are damaged", async () => {
  const storage = memoryStorage();
  const addresses = await fill(storage, 4);
  write(storage, FIRST_SEGMENT, addresses[1]! + 7, encodeText("X"));
  const start = addresses[1]! - RECORD_HEADER_BYTES;
  await rejects(openTexts(storage, sizes), {
    code: "log-damaged",
    message: new RegExp(`address ${start} .*repair: true`),
  });
  await rejects(openTexts(storage, sizes), { code: "log-damaged" });
});

Deno.test("openLog() with repair sets damage aside and gives what survived", async () => {
  const storage = memoryStorage();
  const addresses = await fill(storage, 40);
  ok(storage.list(FOLDER).length >= 5);
  write(storage, FIRST_SEGMENT, addresses[2]! + 7, encodeText("X"));
  const image = bytesOfFile(storage, FIRST_SEGMENT);
  const repaired = (await openTexts(storage, { ...sizes, repair: true }))!;
  const { log, recovery, texts } = repaired;
  deepEqual(texts, ["genesis", longText(0, 50), longText(1, 50)]);
  const start = addresses[2]! - RECORD_HEADER_BYTES;
  equal(log.end, start);
  equal(recovery.quarantine, `quarantine-${`${start}`.padStart(12, "0")}`);
  const name = `${FOLDER}/${recovery.quarantine}`;
  const aside = bytesOfFile(storage, name);
  deepEqual(aside.subarray(0, image.length - start), image.subarray(start));
  equal(recovery.droppedBytes, aside.length);
  deepEqual(
    recovery.survivors.map((one) => [one.kind, one.address]),
    addresses.slice(3).map((address) => [4, address]),
  );
  const bodies = recovery.survivors.map((one) => decodeText(one.body()));
  deepEqual(bodies, addresses.map((_, i) => longText(i, 50)).slice(3));
  for (const body of bodies) putText(log, body);
  await log.close();
  const again = (await openTexts(storage, sizes))!;
  deepEqual(again.texts, [...texts, ...bodies]);
  equal(again.recovery.clean, true);
});

Deno.test("openLog() with repair never overwrites an earlier quarantine", async () => {
  const storage = memoryStorage();
  for (const round of [0, 1, 2]) {
    if (round === 0) await fill(storage, 3);
    const [address] = [64 + 9 + 7 + 9];
    write(storage, FIRST_SEGMENT, address, encodeText("X"));
    const { log, recovery } =
      (await openTexts(storage, { ...sizes, repair: true }))!;
    equal(
      recovery.quarantine,
      "quarantine-000000000080" + ["", ".1", ".2"][round],
    );
    await log.sync();
    for (let i = 0; i < 3; i++) {
      putText(log, longText(i, 50));
      await log.sync();
    }
    await log.close();
  }
});

Deno.test("openLog() with repair gives the survivors of a lost genesis", async () => {
  const storage = memoryStorage();
  await fill(storage, 3);
  write(storage, FIRST_SEGMENT, 64 + RECORD_HEADER_BYTES, encodeText("X"));
  await rejects(openTexts(storage, sizes), { code: "log-damaged" });
  const { log, recovery, texts } =
    (await openTexts(storage, { ...sizes, repair: true }))!;
  deepEqual(texts, []);
  equal(log.end, 64);
  equal(recovery.survivors.length, 3);
});

Deno.test("openLog() with repair mends a header with one flipped bit", async () => {
  const storage = memoryStorage();
  await fill(storage, 12);
  const [name] = storage.list(FOLDER).toSorted().slice(-2);
  const bytes = bytesOfFile(storage, `${FOLDER}/${name}`);
  write(storage, `${FOLDER}/${name}`, 25, Uint8Array.of(bytes[25]! ^ 4));
  await rejects(openTexts(storage, sizes), { code: "log-damaged" });
  const { texts, recovery } =
    (await openTexts(storage, { ...sizes, repair: true }))!;
  equal(texts.length, 13);
  equal(recovery.clean, true);
  equal((await openTexts(storage, sizes))!.texts.length, 13);
});

Deno.test("openLog() tells foreign files, newer formats and damaged headers apart", async () => {
  const storage = memoryStorage();
  await fill(storage, 1);
  const good = bytesOfFile(storage, FIRST_SEGMENT);
  const headerOf = (at: number, value: number, isValid: boolean) => {
    const bytes = good.slice();
    bytes[at] = value;
    if (isValid) {
      new DataView(bytes.buffer).setUint32(
        60,
        crc32(bytes.subarray(0, 60)),
        true,
      );
    }
    return memoryStorage([[FIRST_SEGMENT, bytes]]);
  };
  await rejects(openTexts(headerOf(0, 0x20, true)), { code: "format-unknown" });
  await rejects(openTexts(headerOf(0, 0xff, true)), { code: "format-unknown" });
  await rejects(openTexts(headerOf(8, 3, true)), { code: "format-too-new" });
  await rejects(openTexts(headerOf(8, 1, true)), {
    code: "format-too-old",
    message: /export it with that version/,
  });
  await rejects(openTexts(headerOf(8, 3, false)), { code: "log-damaged" });
  await rejects(openTexts(headerOf(30, 1, false)), { code: "log-damaged" });
  await rejects(openTexts(headerOf(12, 1, true)), { code: "log-damaged" });
});

Deno.test("openLog() misses a segment", async () => {
  for (const gone of [0, 2]) {
    const storage = memoryStorage();
    await fill(storage, 30);
    storage.remove(`${FOLDER}/log-0000000${gone}`);
    await rejects(openTexts(storage), { code: "log-damaged" });
  }
});

Deno.test("openLog() misses a tail that a checkpoint covers", async () => {
  const storage = memoryStorage();
  await fill(storage, 3);
  const { length } = bytesOfFile(storage, FIRST_SEGMENT);
  equal((await openTexts(storage, { from: length }))!.texts.length, 0);
  await rejects(openTexts(storage, { from: length + 1 }), {
    code: "log-damaged",
  });
  await rejects(openTexts(memoryStorage(), { from: 64 }), {
    code: "log-damaged",
  });
});

Deno.test("openLog() takes a log whose creation was torn for none", async () => {
  const whole = memoryStorage();
  createTexts(whole, "genesis");
  const bytes = bytesOfFile(whole, FIRST_SEGMENT).subarray(0, 4_096);
  const images = [
    bytes.subarray(0, 0),
    bytes.subarray(0, 30),
    bytes.subarray(0, 70),
    new Uint8Array(4_096),
    Uint8Array.from(bytes, (byte, i) => i < 64 ? byte : 0),
    Uint8Array.from(bytes, (byte, i) => i < 64 ? 0 : byte),
    Uint8Array.from(bytes, (byte, i) => i === 75 ? 0 : byte),
  ];
  for (const image of images) {
    const storage = memoryStorage([[FIRST_SEGMENT, image]]);
    equal(await openTexts(storage), undefined);
    const kept = image.some((byte, i) => i >= 64 && byte !== 0);
    deepEqual(storage.list(FOLDER), kept ? ["quarantine-000000000000"] : []);
    await createTexts(storage, "again").close();
    deepEqual((await openTexts(storage))!.texts, ["again"]);
  }
});

Deno.test("a copy of a record inside a body is no record", async () => {
  const storage = memoryStorage();
  const log = createTexts(storage, "genesis");
  await log.sync();
  const inner = putText(log, "inner");
  const copy = new Uint8Array(RECORD_HEADER_BYTES + 5);
  log.readAt(copy, inner - RECORD_HEADER_BYTES);
  equal(copy[8], 0x84, "the copy has a sync mark");
  const outer = log.append(4, [copy, copy, copy]);
  const { end } = log;
  // The file is cut inside the outer record, as a crash may do: it was not synced.
  const image = bytesOfFile(storage, FIRST_SEGMENT).slice(0, end - 3);
  const { texts, recovery } =
    (await openTexts(memoryStorage([[FIRST_SEGMENT, image]])))!;
  deepEqual(texts, ["genesis", "inner"]);
  equal(recovery.droppedBytes, end - 3 - (outer - RECORD_HEADER_BYTES));
});

Deno.test("openLog() cuts a large torn batch and reads little of it twice, whatever its bytes", async () => {
  const random = seededRandom(5);
  // Every ninth byte begins what could be a marked record of almost a megabyte.
  const bait = Uint8Array.of(0, 0, 15, 0, 1, 2, 3, 4, 0x84);
  const bodies = [
    new Uint8Array(8_000_000).map(() => random() * 256),
    new Uint8Array(1_000_000).map((_, i) => bait[i % 9]!),
  ];
  for (const body of bodies) {
    const storage = memoryStorage();
    const log = createTexts(storage, "genesis");
    await log.sync();
    const start = log.append(4, [body]) - RECORD_HEADER_BYTES;
    const image = bytesOfFile(storage, FIRST_SEGMENT).slice(0, log.end - 1);
    const torn = memoryStorage([[FIRST_SEGMENT, image]]);
    // A candidate's checksum takes two kilobytes; its body would be 500 times that.
    const candidates = image.length / bait.length;
    countReads(torn, 4 * image.length + 2 * 1_024 * candidates);
    const { texts, recovery } = (await openTexts(torn))!;
    deepEqual(texts, ["genesis"]);
    equal(recovery.droppedBytes, endOfZeros(image) - start);
  }
});

/** Bytes of `image` without the zeros at its end. */
function endOfZeros(image: Uint8Array): number {
  return image.findLastIndex((byte) => byte !== 0) + 1;
}

Deno.test("openLog() reads on, whatever its callback answers", async () => {
  const storage = memoryStorage();
  await fill(storage, 5);
  let count = 0;
  const world = seededWorld(3);
  const onRecord = () => {
    count++;
    return true;
  };
  const opened = await openLog(storage, FOLDER, { world, onRecord });
  equal(count, 6);
  equal(opened!.recovery.clean, true);
});

Deno.test("openLog() tells damage before a record that ends with zeros", async () => {
  for (const isClosed of [true, false]) {
    const storage = memoryStorage();
    const log = createTexts(storage, "genesis");
    await log.sync();
    const damaged = putText(log, "damaged");
    await log.sync();
    putText(log, "behind\0\0\0\0");
    await log.sync();
    if (isClosed) await log.close();
    write(storage, FIRST_SEGMENT, damaged + 2, new Uint8Array([1]));
    await rejects(openTexts(storage), { code: "log-damaged" });
    const { recovery } = (await openTexts(storage, { repair: true }))!;
    deepEqual(
      recovery.survivors.map(({ body }) => decodeText(body())),
      ["behind\0\0\0\0"],
    );
  }
});
