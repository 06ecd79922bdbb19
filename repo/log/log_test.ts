import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import fc from "fast-check";
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
import { faultyStorage } from "../../tests/kit/faulty_storage.ts";
import { decodeText, encodeText } from "../../src/base/bytes.ts";
import { diskStorage } from "../../src/storage/disk_storage.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import { createLog, type Log, openLog } from "./log.ts";
import { RECORD_HEADER_BYTES, SEGMENT_HEADER_BYTES } from "./format.ts";

function textAt(log: Log, address: number, length: number): string {
  const target = new Uint8Array(length);
  equal(log.readAt(target, address), length);
  return decodeText(target);
}

function textsOf(log: Log, from: number, to: number): string[] {
  const texts: string[] = [];
  log.records(from, to, (_, body) => texts.push(decodeText(body)));
  return texts;
}

Deno.test("openLog() answers undefined where there is no log", async () => {
  equal(await openTexts(memoryStorage()), undefined);
});

Deno.test("openLog() replays kinds, bodies and addresses in order", async () => {
  const storage = memoryStorage();
  const world = seededWorld(1);
  const log = createLog(storage, FOLDER, { world }, [
    { kind: 1, parts: [encodeText("gene"), encodeText("sis")] },
    { kind: 2, parts: [encodeText("certificate")] },
  ]);
  const three = log.append(3, [encodeText("signed")]);
  const four = log.append(4, []);
  await log.sync();
  await log.close();
  const seen: unknown[] = [];
  const opened = await openLog(storage, FOLDER, {
    world,
    onRecord: (kind, body, at) => seen.push([kind, decodeText(body), at]),
  });
  const first = SEGMENT_HEADER_BYTES + RECORD_HEADER_BYTES;
  deepEqual(seen, [
    [1, "genesis", first],
    [2, "certificate", first + 7 + RECORD_HEADER_BYTES],
    [3, "signed", three],
    [4, "", four],
  ]);
  equal(opened!.log.end, four);
  equal(opened!.log.end, four);
  deepEqual(opened!.recovery, {
    clean: true,
    droppedBytes: 0,
    survivors: [],
  });
});

Deno.test("openLog() from an address reads only what follows it", async () => {
  const storage = memoryStorage();
  const sizes = { segmentBytesMax: 200, extentBytesFirst: 32 };
  const log = createTexts(storage, "genesis", sizes);
  const addresses = Array.from(
    { length: 40 },
    (_, i) => putText(log, longText(i, 30)),
  );
  await log.close();
  for (let i = 0; i < 40; i++) {
    const from = addresses[i]! - RECORD_HEADER_BYTES;
    const opened = (await openTexts(storage, { ...sizes, from }))!;
    equal(opened.texts.length, 40 - i);
    equal(opened.texts[0], longText(i, 30));
    equal(textAt(opened.log, addresses[0]!, 30), longText(0, 30));
    await opened.log.close();
  }
  const at = (await openTexts(storage, { from: log.end }))!;
  deepEqual(at.texts, []);
  equal(at.log.end, log.end);
});

Deno.test("openLog() gives a reader that works during the replay", async () => {
  const storage = memoryStorage();
  const log = createTexts(storage, "genesis");
  const address = putText(log, "early");
  putText(log, "late");
  await log.close();
  const target = new Uint8Array(5);
  await openLog(storage, FOLDER, {
    world: seededWorld(2),
    from: address + 5,
    onReader: (reader) => reader.readAt(target, address),
    onRecord: (_, body) => equal(decodeText(body), "late"),
  });
  equal(decodeText(target), "early");
});

Deno.test("createLog() stops where a log is already", async () => {
  const storage = memoryStorage();
  await createTexts(storage, "genesis").close();
  throws(() => createTexts(storage, "other"), /where there is none/);
  deepEqual((await openTexts(storage))!.texts, ["genesis"]);
});

Deno.test("append() takes bodies of any size, in pieces", async () => {
  const storage = memoryStorage();
  const log = createTexts(storage, "genesis");
  const sizes = [0, 1, 500, 65_536, 65_537, 300_000, 262_144 - 9, 1_000_000];
  const bodies = sizes.map((size) =>
    new Uint8Array(size).map((_, i) => i * size)
  );
  const addresses = bodies.map((body) =>
    log.append(4, [body.subarray(0, 7), new Uint8Array(0), body.subarray(7)])
  );
  bodies.forEach((body, i) => {
    const target = new Uint8Array(body.length);
    log.readAt(target, addresses[i]!);
    deepEqual(target, body);
  });
  await log.close();
  const seen: Uint8Array[] = [];
  await openLog(storage, FOLDER, {
    world: seededWorld(2),
    onRecord: (_, body) => seen.push(body.slice()),
  });
  deepEqual(seen.slice(1), bodies);
});

Deno.test("append() marks exactly the first record after a sync", async () => {
  const storage = memoryStorage();
  const log = createTexts(storage, "genesis");
  const kindAt = (address: number) => {
    const target = new Uint8Array(1);
    log.readAt(target, address - 1);
    return target[0];
  };
  const addresses: number[] = [putText(log, "a")];
  await log.sync();
  addresses.push(putText(log, "b"), putText(log, "c"));
  await log.sync();
  addresses.push(putText(log, "d"));
  deepEqual(addresses.map(kindAt), [4, 0x84, 4, 0x84]);
});

Deno.test("append() during a sync is not marked by it", async () => {
  const storage = faultyStorage({ slow: true });
  const log = createTexts(storage, "genesis");
  const flight = log.sync();
  ok(flight instanceof Promise);
  const during = putText(log, "during");
  await flight;
  const after = putText(log, "after");
  const target = new Uint8Array(1);
  log.readAt(target, during - 1);
  equal(target[0], 4);
  log.readAt(target, after - 1);
  equal(target[0], 4, "the one before it is not durable");
  await log.sync();
  log.readAt(target, putText(log, "marked") - 1);
  equal(target[0], 0x84);
});

Deno.test("append() of more than a batch may hold is refused and harmless", async () => {
  const log = createTexts(memoryStorage(), "genesis");
  const huge = new Uint8Array(64 * 1024 * 1024);
  throws(() => log.append(4, [huge, huge, huge, huge, huge]), {
    code: "value-too-large",
  });
  putText(log, "more");
  await log.close();
});

Deno.test("append() goes on into new segments, whose addresses continue", async () => {
  const storage = memoryStorage();
  const sizes = { segmentBytesMax: 300, extentBytesFirst: 64 };
  const log = createTexts(storage, "genesis", sizes);
  const addresses = Array.from(
    { length: 50 },
    (_, i) => putText(log, longText(i, 40)),
  );
  const large = putText(log, longText(50, 1_000)); // larger than a segment
  await log.sync();
  ok(storage.list(FOLDER).length > 10);
  for (const [i, address] of addresses.entries()) {
    equal(textAt(log, address, 40), longText(i, 40));
  }
  equal(textAt(log, large, 1_000), longText(50, 1_000));
  equal(textsOf(log, 0, log.end).length, 52);
  await log.close();
  const again = (await openTexts(storage, sizes))!;
  equal(again.texts.length, 52);
  equal(again.log.end, log.end);
});

Deno.test("append() on a nearly full medium gives up the extent first", async () => {
  const inner = memoryStorage();
  const full = {
    ...bound(inner),
    open(name: string, options = {}) {
      const file = inner.open(name, options);
      return file && {
        ...bound(file),
        writeAt(bytes: Uint8Array, offset: number) {
          if (offset + bytes.length > 400) {
            throw faultyStorage({ code: "storage-full" }).failure("write");
          }
          file.writeAt(bytes, offset);
        },
      };
    },
  };
  const log = createTexts(full, "genesis");
  let count = 0;
  throws(() => {
    for (;; count++) putText(log, longText(count, 20));
  }, { code: "storage-full" });
  await log.close();
  equal((await openTexts(inner))!.texts.length, count + 1);
  equal(count, Math.floor((400 - 1 - 64 - 9 - 7) / 29));
});

/** An object whose methods can be spread. */
function bound<T extends object>(target: T): T {
  const copy = Object.create(null);
  const prototype = Object.getPrototypeOf(target);
  for (const key of Object.getOwnPropertyNames(prototype)) {
    if (key === "constructor") continue;
    copy[key] = prototype[key].bind(target);
  }
  return copy;
}

Deno.test("sync() costs nothing when there is nothing to sync", async () => {
  const storage = faultyStorage();
  const log = createTexts(storage, "genesis");
  equal(log.synced, 0);
  log.sync();
  equal(log.synced, log.end);
  const before = storage.operations;
  equal(log.sync(), undefined);
  equal(storage.operations, before);
  await log.close();
});

Deno.test("close() leaves a file that ends with its last record", async () => {
  const storage = memoryStorage();
  const log = createTexts(storage, "genesis");
  putText(log, "more");
  ok(bytesOfFile(storage, FIRST_SEGMENT).length > 1_000);
  await log.close();
  await log.close();
  equal(bytesOfFile(storage, FIRST_SEGMENT).length, log.end);
  throws(() => putText(log, "x"), { code: "closed" });
  throws(() => log.sync(), { code: "closed" });
  throws(() => log.readAt(new Uint8Array(1), 64), { code: "closed" });
});

Deno.test("markInUse() lets no power cut look like a clean close", async () => {
  for (const slow of [false, true]) {
    const storage = faultyStorage({ slow });
    const first = createTexts(storage, "genesis");
    await first.close();
    const { log, recovery } = (await openTexts(storage))!;
    equal(recovery.clean, true);
    await log.markInUse();
    const before = storage.operations;
    await log.markInUse();
    equal(storage.operations, before, "once is enough");
    putText(log, "lost");
    const after = (await openTexts(storage.powerCut("synced")))!;
    deepEqual(after.texts, ["genesis"]);
    equal(after.recovery.clean, false);
  }
});

Deno.test("markInUse() counts what was appended before it, and every new segment", async () => {
  for (const slow of [false, true]) {
    const storage = faultyStorage({ slow });
    await createTexts(storage, "genesis").close();
    const { log } = (await openTexts(storage))!;
    putText(log, "grows the file, which no sync has told the medium");
    equal(log.isMarked, false);
    await log.markInUse();
    equal(log.isMarked, true);
    const after = (await openTexts(storage.powerCut("synced")))!;
    equal(after.recovery.clean, false);
  }
});

Deno.test("sync() that failed makes the log read-only", async () => {
  const setup = faultyStorage();
  createTexts(setup, "genesis").sync();
  for (const slow of [false, true]) {
    const failAt = setup.operations + 2; // an append, then its sync
    const storage = faultyStorage({ failAt, slow });
    const log = createTexts(storage, "genesis");
    await log.sync();
    const address = putText(log, "more");
    await rejects(async () => await log.sync(), { code: "storage-failed" });
    throws(() => putText(log, "x"), { code: "storage-readonly" });
    throws(() => log.sync(), { code: "storage-readonly" });
    equal(log.failure?.code, "storage-readonly");
    equal(textAt(log, address, 4), "more", "reading goes on");
    await log.close();
  }
});

Deno.test("append() that failed makes the log read-only", async () => {
  const setup = faultyStorage();
  createTexts(setup, "genesis").sync();
  const storage = faultyStorage({
    shortenAt: setup.operations + 1,
    code: "storage-full",
  });
  const log = createTexts(storage, "genesis");
  log.sync();
  const { end } = log;
  throws(() => putText(log, longText(1, 100)), { code: "storage-full" });
  equal(log.end, end);
  throws(() => putText(log, "x"), { code: "storage-readonly" });
  await log.close();
  const again = (await openTexts(storage.powerCut("all")))!;
  deepEqual(again.texts, ["genesis"]);
  ok(again.recovery.droppedBytes > 0);
});

Deno.test("records() throws the address of the first bad byte", async () => {
  const storage = memoryStorage();
  const log = createTexts(storage, "genesis");
  putText(log, "one");
  const two = putText(log, "two");
  const file = storage.open(FIRST_SEGMENT)!;
  file.writeAt(encodeText("T"), two);
  const seen: string[] = [];
  throws(
    () => log.records(0, log.end, (_, body) => seen.push(decodeText(body))),
    { code: "log-damaged", message: new RegExp(`address ${two - 9} `) },
  );
  deepEqual(seen, ["genesis", "one"]);
  await log.close();
});

Deno.test("the log works on a disk, over closes and segments", async () => {
  const path = Deno.makeTempDirSync();
  try {
    const storage = diskStorage(path);
    const sizes = { segmentBytesMax: 100_000 };
    const log = createTexts(storage, "genesis", sizes);
    const texts = ["genesis"];
    for (let round = 0, open = log; round < 5; round++) {
      for (let i = 0; i < 50; i++) {
        const text = longText(i, 100 * i);
        putText(open, text);
        texts.push(text);
        if (i % 10 === 0) await open.sync();
      }
      await open.close();
      const again = (await openTexts(storage, sizes))!;
      deepEqual(again.texts, texts);
      equal(again.recovery.clean, true);
      open = again.log;
      if (round === 4) await open.close();
    }
    ok(storage.list(FOLDER).length >= 5);
  } finally {
    Deno.removeSync(path, { recursive: true });
  }
});

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ append: fc.nat(400) }) },
  { weight: 3, arbitrary: fc.constant("sync" as const) },
  { weight: 1, arbitrary: fc.constant("reopen" as const) },
  { weight: 1, arbitrary: fc.constant("crash" as const) },
  { weight: 2, arbitrary: fc.record({ look: fc.nat(1_000) }) },
);

Deno.test("the log behaves like a list of its records", async () => {
  const slow = fc.boolean();
  const steps = fc.array(step, { maxLength: 80 });
  const sizes = { segmentBytesMax: 1_500, extentBytesFirst: 100 };
  await fc.assert(
    fc.asyncProperty(slow, steps, async (slow, steps) => {
      const storage = faultyStorage({ slow });
      let log = createTexts(storage, "genesis", sizes);
      await log.sync();
      const texts = ["genesis"];
      const starts = [SEGMENT_HEADER_BYTES];
      for (const one of steps) {
        if (one === "sync") await log.sync();
        else if (one === "reopen" || one === "crash") {
          if (one === "reopen") await log.close();
          const again = (await openTexts(storage, sizes))!;
          deepEqual(again.texts, texts);
          if (one === "reopen") equal(again.recovery.clean, true);
          log = again.log;
        } else if ("append" in one) {
          const text = longText(texts.length, one.append);
          starts.push(putText(log, text) - RECORD_HEADER_BYTES);
          texts.push(text);
        } else {
          const at = one.look % texts.length;
          const to = one.look % 7 + at;
          const end = starts[to] ?? log.end;
          deepEqual(textsOf(log, starts[at]!, end), texts.slice(at, to));
        }
      }
      await log.close();
      deepEqual((await openTexts(storage, sizes))!.texts, texts);
    }),
    { seed: 7, numRuns: 400 },
  );
});
