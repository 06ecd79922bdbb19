/**
 * Logs and peers of a later version: records of kinds that this one does not
 * know are kept, passed on or named, and never taken for damage (law 13).
 */

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import type { Signer } from "../crypto/mod.ts";
import { verifyReplica } from "../repo/repair/verify.ts";
import { statementLayout } from "../repo/commit/statement.ts";
import { isStatement, recordKind } from "../repo/log/format.ts";
import { encodeText } from "../src/base/bytes.ts";
import { crc32 } from "../src/base/crc32.ts";
import { limits } from "../src/base/limits.ts";
import { memoryStorage } from "../src/storage/memory_storage.ts";
import { type Files, filesOf, withFile } from "./kit/images.ts";
import { Place, rootSigner } from "./kit/replica_place.ts";

const TEXTS = ["one", "two", "three"];
/** Before, between and behind the batches. */
const POSITIONS = [0, 1, 2, 3];
const MUST_KNOW = [9, 10, 31];
const STATEMENTS = [32, 40, 47];
const LOCAL = [53, 63];

interface Saying {
  readonly kind?: number;
  readonly text?: string;
  readonly by?: Signer;
}

/** What the root says in a place's repository, in words of a later version. */
function statementIn(
  place: Place,
  { kind = 40, text = "?", by = rootSigner }: Saying = {},
): Uint8Array {
  const { genesisId } = place.replica.loaded;
  const content = encodeText(text);
  const said = { genesisId, wall: place.world.now(), content };
  return statementLayout(kind).sign(said, by).bytes;
}

/** A place whose log has a record of a kind at a position among its batches. */
async function placeWith(kind: number, position: number): Promise<Place> {
  const place = await Place.open();
  const append = () => {
    const body = isStatement(kind)
      ? statementIn(place, { kind })
      : Uint8Array.of(1, 2, 3);
    place.replica.loaded.log.append(kind, [body]);
  };
  for (const [i, text] of TEXTS.entries()) {
    if (i === position) append();
    await place.write(`n${i}`, text);
  }
  if (position === TEXTS.length) append();
  await place.replica.loaded.log.sync();
  return place;
}

function textsOf(place: Place): unknown[] {
  return TEXTS.map((_, i) => place.text(`n${i}`));
}

/** The kinds of a log's records, from a kind on. */
function kindsFrom(place: Place, min: number): number[] {
  const kinds: number[] = [];
  const { log } = place.replica.loaded;
  log.records(0, log.end, (kind) => {
    if (kind >= min) kinds.push(kind);
  });
  return kinds;
}

function openFrom(files: Files, repair = false): Promise<Place> {
  return Place.open({ storage: memoryStorage(files), repair });
}

/** Sends all that one place would send to another; what became of it. */
async function tell(from: Place, to: Place): Promise<string[]> {
  const judged = to.replica.receive(await from.arrivals());
  await to.replica.durable();
  return judged.map(({ verdict }) =>
    verdict.verdict === "refuse" ? verdict.refusal.refused : verdict.verdict
  );
}

Deno.test("a log with records of kinds that are not known opens as if they were not there, and keeps them", async () => {
  for (const kind of [...STATEMENTS, ...LOCAL]) {
    for (const position of POSITIONS) {
      const place = await placeWith(kind, position);
      const files = filesOf(place.storage);
      const again = await openFrom(files);
      deepEqual(textsOf(again), TEXTS, `kind ${kind} at ${position}`);
      deepEqual(kindsFrom(again, 6), [kind]);
      const pause = () => Promise.resolve();
      ok((await verifyReplica(again.replica.loaded, {}, pause)).ok);
      await again.write("n0", "more");
      await again.replica.checkpoint();
      await again.replica.close();
      const last = await again.reopen();
      equal(last.text("n0"), "more");
      deepEqual(kindsFrom(last, 6), [kind]);
      equal(
        last.replica.loaded.credentials.statements.size,
        +isStatement(kind),
      );
      await last.replica.close();
      await place.replica.close();
    }
  }
});

Deno.test("a log with a record that everybody must know is not opened, and not changed", async () => {
  for (const kind of MUST_KNOW) {
    for (const position of POSITIONS) {
      const place = await placeWith(kind, position);
      const files = filesOf(place.storage);
      await place.replica.close();
      for (const repair of [false, true]) {
        const storage = memoryStorage(files);
        await rejects(Place.open({ storage, repair }), {
          code: "format-too-new",
          message: new RegExp(`kind ${kind}\\b`),
        });
        deepEqual(filesOf(storage), files);
      }
    }
  }
});

Deno.test("a log of format 1 is named, and not changed, by a repair neither", async () => {
  const place = await Place.open();
  await place.write("n0", "one");
  const files = filesOf(place.storage);
  const name = `${place.folder}/log-00000000`;
  await place.replica.close();
  const old = files.find(([found]) => found === name)![1].slice();
  old[8] = 1;
  new DataView(old.buffer).setUint32(60, crc32(old.subarray(0, 60)), true);
  // Its second segment is one of these days: a repair would set the first one aside.
  const later = old.slice();
  later[12] = 1;
  new DataView(later.buffer).setUint32(60, crc32(later.subarray(0, 60)), true);
  const all = [
    withFile(files, name, old),
    [...withFile(files, name, old), [`${place.folder}/log-00000001`, later]],
  ] as Files[];
  for (const one of all) {
    for (const repair of [false, true]) {
      const storage = memoryStorage(one);
      await rejects(Place.open({ storage, repair }), {
        code: "format-too-old",
      });
      deepEqual(filesOf(storage), filesOf(memoryStorage(one)));
    }
  }
});

Deno.test("a record of an unknown kind that is torn is cut, one that rotted is damage, and one bit of it is set right", async () => {
  for (const kind of [...STATEMENTS, ...LOCAL]) {
    const place = await placeWith(kind, TEXTS.length);
    const { log, folder } = place.replica.loaded;
    let start = 0;
    log.records(0, log.end, (found, _body, address) => {
      if (found === kind) start = address - 9;
    });
    const end = log.end;
    const name = `${folder}/log-00000000`;
    const files = filesOf(place.storage);
    const bytes = files.find(([found]) => found === name)![1];
    for (let at = start; at < end - 4; at += 5) {
      const torn = bytes.slice();
      torn.fill(0, at);
      const again = await openFrom(withFile(files, name, torn));
      deepEqual(textsOf(again), TEXTS);
      deepEqual(kindsFrom(again, 6), []);
      await again.replica.close();
    }
    await place.write("n0", "behind it");
    const later = filesOf(place.storage);
    for (let at = start + 4; at < end; at += 7) {
      const rotten = later.find(([found]) => found === name)![1].slice();
      rotten[at]! ^= 4;
      const damaged = withFile(later, name, rotten);
      await rejects(openFrom(damaged), { code: "log-damaged" });
      const mended = await openFrom(damaged, true);
      deepEqual([mended.text("n0"), mended.text("n1")], ["behind it", "two"]);
      deepEqual(kindsFrom(mended, 6), [kind]);
      await mended.replica.close();
    }
    await place.replica.close();
  }
});

Deno.test("a repair that cuts brings back what it does not know", async () => {
  for (const kind of [40, 60]) {
    const place = await placeWith(kind, 2);
    const { log, folder } = place.replica.loaded;
    const addresses: number[] = [];
    log.records(0, log.end, (_kind, _body, address) => {
      addresses.push(address);
    });
    const name = `${folder}/log-00000000`;
    const files = filesOf(place.storage);
    const bytes = files.find(([found]) => found === name)![1].slice();
    const first = addresses[2]!; // Behind genesis and certificate.
    for (let i = 0; i < 8; i++) bytes[first + i]! ^= 0xff;
    const mended = await openFrom(withFile(files, name, bytes), true);
    deepEqual(kindsFrom(mended, 32), [kind]);
    await mended.replica.close();
    await place.replica.close();
  }
});

Deno.test("a statement of an unknown kind goes from one to the next, byte for byte, and once", async () => {
  const place = await placeWith(40, 1);
  const ada = await openFrom(filesOf(place.storage));
  const bob = await Place.open({ seed: 2 });
  const carol = await Place.open({ seed: 3 });
  ok((await tell(ada, bob)).includes("admit-credential"));
  await tell(bob, carol);
  deepEqual(kindsFrom(carol, 6), [40]);
  const said = ({ replica }: Place) =>
    [...replica.loaded.credentials.statements].map(({ bytes }) => bytes);
  deepEqual(said(carol), said(ada));
  ok((await tell(ada, carol)).every((verdict) => verdict === "known"));
  deepEqual(kindsFrom(carol, 6), [40]);
  const { kind } = carol.replica.port().credentials().at(-1)!;
  equal(kind, 40, "who compares vectors gets it, too");
});

Deno.test("statements are signed, by who may issue, for this repository, as this kind", async () => {
  const place = await Place.open();
  await place.write("n0", "one");
  const other = await Place.open({ mode: "trusted" });
  const outcome = (kind: number, bytes: Uint8Array) => {
    const [judged] = place.replica.receive([{ kind, bytes }]);
    const { verdict } = judged!;
    return verdict.verdict === "refuse"
      ? verdict.refusal.refused
      : verdict.verdict;
  };
  const sound = statementIn(place);
  const spoilt = sound.slice();
  spoilt[spoilt.length - 1]! ^= 1;
  equal(outcome(40, spoilt), "bad-signature");
  equal(outcome(41, sound), "bad-signature", "it was said as another kind");
  equal(outcome(40, statementIn(other)), "malformed");
  const { signer } = place.replica.session;
  const own = statementIn(place, { by: signer as Signer });
  equal(outcome(40, own), "bad-certificate", "its session may not issue");
  equal(outcome(40, sound.slice(0, 90)), "malformed");
  equal(outcome(40, sound), "admit-credential");
  equal(outcome(40, sound), "known");
  for (const kind of MUST_KNOW) equal(outcome(kind, sound), "unknown-kind");
  equal(outcome(recordKind.resolution, sound), "unknown-kind");
});

Deno.test("nobody says more than there is room for", async () => {
  const place = await Place.open();
  await place.write("n0", "one");
  const text = "x".repeat(limits.statementBytesMax - 200);
  const most = limits.statementsOfKeyBytesMax / limits.statementBytesMax;
  const verdicts = Array.from({ length: most + 5 }, (_, i) => {
    const bytes = statementIn(place, { text: text + i });
    const [judged] = place.replica.receive([{ kind: 40, bytes }]);
    return judged!.verdict.verdict;
  });
  equal(verdicts[0], "admit-credential");
  equal(verdicts.at(-1), "refuse");
  const bytes = new Uint8Array(limits.statementBytesMax + 1).fill(1);
  const [judged] = place.replica.receive([{ kind: 40, bytes }]);
  equal(judged!.verdict.verdict, "refuse");
});
