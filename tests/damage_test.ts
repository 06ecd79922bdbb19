/**
 * Damage: every bit of the files of a small database flipped once, and every
 * file cut at every byte. No damage goes unnoticed, none gives wrong answers.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { DatabaseError, type Mode } from "../mod.ts";
import { type Files, filesOf, restored, withFile } from "./kit/mod.ts";
import {
  answersOf,
  Bed,
  GARDEN,
  openSmall,
  writeSmall,
} from "./kit/small_database.ts";
import { isTried, sized } from "./kit/tier.ts";

/** Files of a database, and the answers after each of its commits. */
interface Sample {
  readonly files: Files;
  readonly states: ReadonlySet<string>;
  readonly last: string;
  /** Bytes of the log before its first batch. */
  readonly start: number;
  /** Bytes of the log with its last one. */
  readonly end: number;
  /** Bytes of the log that the checkpoint covers; 0 without one. */
  readonly covered: number;
}

/** A small database, closed (with a checkpoint), or left as a crash leaves it. */
async function sample(
  mode: Mode,
  { isClosed, checkpointAfter }: { isClosed: boolean; checkpointAfter: number },
): Promise<Sample> {
  const storage = restored([]);
  const db = await openSmall(storage, mode);
  const repo = await db.repository(GARDEN);
  const states = [answersOf(repo)];
  const note = () => void states.push(answersOf(repo));
  const start = repo.status().logBytes;
  const ends = [start];
  await writeSmall(repo, () => {
    note();
    ends.push(repo.status().logBytes);
  }, checkpointAfter);
  if (isClosed) await db.close();
  return {
    files: filesOf(storage),
    states: new Set(states),
    last: states.at(-1)!,
    start,
    end: ends.at(-1)!,
    covered: isClosed
      ? ends.at(-1)!
      : checkpointAfter < 0
      ? 0
      : ends[checkpointAfter + 1]!,
  };
}

/** What a program sees of a database. */
interface Seen {
  readonly answers: string | undefined;
  /** What tells that something is wrong; empty when nothing does. */
  readonly signs: readonly string[];
}

/**
 * Opens, reads everything and verifies. Only coded errors may come out. An open
 * database is left as a crash would leave it: nobody needs the image any more.
 */
async function look(files: Files, mode: Mode): Promise<Seen> {
  const signs: string[] = [];
  let answers: string | undefined;
  try {
    const db = await openSmall(restored(files), mode);
    const repo = await db.repository(GARDEN);
    const { recovery } = repo.status();
    signs.push(...db.storage.status().incidents.map(({ code }) => code));
    if (recovery.droppedBytes > 0) signs.push("dropped bytes");
    if (recovery.skippedCheckpoints.length > 0) signs.push("no checkpoint");
    if (recovery.quarantine !== undefined) signs.push("quarantine");
    answers = answersOf(repo);
    if (signs.length > 0) return { answers, signs };
    const { damage } = await repo.verify();
    if (damage !== undefined) signs.push(`verify: ${damage.reason}`);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    ok(error.message.length > 40, `"${error.message}" says what to do`);
    signs.push(error.code);
  }
  return { answers, signs };
}

function check(seen: Seen, { states }: Sample, what: string): void {
  if (seen.answers === undefined) return;
  ok(states.has(seen.answers), `${what}: wrong answers: ${seen.answers}`);
}

/** How much of a file is spoilt; the zeros that fill pages and extents only here and there. */
interface Density {
  /** Every bit, or one bit of every byte; every bit of headers in any case. */
  readonly bits: "every bit" | "one bit of every byte";
}

const ZERO_STRIDE = 251;
const KEYS = "database";

/** All files but the copy of the keys: nobody reads that while they are sound. */
function namesOf({ files }: Sample): string[] {
  return files.map(([name]) => name).filter((name) => name !== `${KEYS}.copy`);
}

/** The places to spoil: bytes that are not zero, those around them, and few others. */
function places(bytes: Uint8Array): number[] {
  const found: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const isUsed = bytes[at] !== 0 || bytes[at - 1] || bytes[at + 1];
    if (isUsed || at < 64 || at % ZERO_STRIDE === 0) found.push(at);
  }
  found.push(bytes.length - 1);
  return found;
}

async function flipAll(
  sample: Sample,
  name: string,
  mode: Mode,
  { bits }: Density,
): Promise<number> {
  const bytes = sample.files.find((file) => file[0] === name)![1];
  const stride = name === KEYS ? 17 : 131;
  let flips = 0;
  for (const at of places(bytes)) {
    if (!isTried(at, stride)) continue;
    const isWhole = bits === "every bit" || at < 64;
    const [from, to] = isWhole ? [0, 7] : [at % 8, at % 8];
    for (let bit = from; bit <= to; bit++, flips++) {
      const flipped = bytes.slice();
      flipped[at]! ^= 1 << bit;
      const what = `bit ${bit} of byte ${at} of ${name}`;
      const seen = await look(withFile(sample.files, name, flipped), mode);
      ok(seen.signs.length > 0, `${what} goes unnoticed`);
      const isElsewhere = name === KEYS || name.includes("/checkpoint-");
      if (isElsewhere) equal(seen.answers, sample.last, what);
      check(seen, sample, what);
    }
  }
  return flips;
}

async function cutAll(
  sample: Sample,
  name: string,
  mode: Mode,
): Promise<void> {
  const bytes = sample.files.find((file) => file[0] === name)![1];
  const stride = name === KEYS || mode === "default" ? 1 : 5;
  for (const [i, at] of places(bytes).entries()) {
    if (i % stride !== 0 || !isTried(i, 31)) continue;
    const cut = withFile(sample.files, name, bytes.subarray(0, at));
    const what = `${name} cut to ${at} of ${bytes.length} bytes`;
    const seen = await look(cut, mode);
    check(seen, sample, what);
    const isWhole = seen.answers === sample.last;
    const isLog = name.includes("/log-");
    // A log that ends with a record is a whole log, whoever cut it there; a
    // checkpoint behind it, or a file that is not a log, proves the cut.
    const hasProof = !isLog || sample.covered > at;
    if (hasProof) ok(seen.signs.length > 0, `${what} goes unnoticed`);
    else ok(isWhole || at < sample.end, `${what}: lost without a reason`);
  }
}

const closed = { isClosed: true, checkpointAfter: -1 };
const inUse = { isClosed: false, checkpointAfter: -1 };
const behindCheckpoint = { isClosed: false, checkpointAfter: 2 };

const cases = [
  ["default", "closed well", closed, "every bit"],
  ["default", "in use", inUse, "every bit"],
  ["trusted", "closed well", closed, "one bit of every byte"],
  ["trusted", "in use", inUse, "one bit of every byte"],
  ["fast", "in use", inUse, "one bit of every byte"],
  [
    "default",
    "in use behind a checkpoint",
    behindCheckpoint,
    "one bit of every byte",
  ],
] as const;

for (const [mode, shape, how, bits] of cases) {
  Deno.test(`no flipped bit of a ${mode} database ${shape} goes unnoticed or changes answers (${bits} that is used, one zero of ${ZERO_STRIDE})`, async () => {
    const made = await sample(mode, how);
    const sound = await look(made.files, mode);
    deepEqual(sound, { answers: made.last, signs: [] });
    equal(namesOf(made).length, how === inUse ? 2 : 3);
    for (const name of namesOf(made)) {
      const flips = await flipAll(made, name, mode, { bits });
      ok(flips > sized(10, 500), `${flips} bits of ${name}`);
    }
  });

  Deno.test(`no cut file of a ${mode} database ${shape} gives wrong answers or an error without a code`, async () => {
    const made = await sample(mode, how);
    for (const name of namesOf(made)) await cutAll(made, name, mode);
  });
}

Deno.test("no flipped bit of a database without commits goes unnoticed", async () => {
  const storage = restored([]);
  const db = await openSmall(storage, "default");
  const empty = answersOf(await db.repository(GARDEN));
  await db.close();
  const files = filesOf(storage);
  const made = {
    files,
    states: new Set([empty]),
    last: empty,
    start: 0,
    end: 0,
    covered: 0,
  };
  equal(namesOf(made).length, 2);
  for (const name of namesOf(made)) {
    await flipAll(made, name, "default", { bits: "every bit" });
  }
});

Deno.test("a checkpoint that is damaged or gone costs no answer and is written anew", async () => {
  const made = await sample("default", closed);
  const [name, bytes] = made.files.find(([name]) =>
    name.includes("checkpoint")
  )!;
  const spoilt = bytes.slice();
  spoilt[bytes.length - 4_000]! ^= 1;
  const others = made.files.filter((file) => file[0] !== name);
  for (const files of [others, withFile(made.files, name, spoilt)]) {
    const storage = restored(files);
    const db = await openSmall(storage, "default");
    const repo = await db.repository(GARDEN);
    equal(answersOf(repo), made.last);
    await repo.collection(Bed).create({ id: "east", name: "East" });
    await db.close();
    const again = await openSmall(storage, "default");
    const { recovery } = (await again.repository(GARDEN)).status();
    deepEqual([recovery.clean, recovery.skippedCheckpoints], [true, []]);
    await again.close();
  }
});

Deno.test("repair sets one bit of a log right, and keeps what is left around more", async () => {
  const made = await sample("default", inUse);
  const [name, bytes] = made.files.find(([name]) => name.includes("/log-"))!;
  const folder = name.slice(0, name.lastIndexOf("/"));
  let repaired = 0;
  for (let at = 64; at < made.end; at += sized(61, 7)) {
    for (const flip of [1 << at % 8, 0x5a]) {
      const spoilt = bytes.slice();
      spoilt[at]! ^= flip;
      const files = withFile(made.files, name, spoilt);
      const seen = await look(files, "default");
      if (!seen.signs.includes("log-damaged")) continue;
      repaired++;
      const storage = restored(files);
      const db = await openSmall(storage, "default", { repair: true });
      const repo = await db.repository(GARDEN);
      const answers = answersOf(repo);
      const { quarantine, lost } = repo.status().recovery;
      const isWhole = flip !== 0x5a || at < made.start;
      if (isWhole) equal(answers, made.last, `byte ${at}`);
      if (flip === 0x5a) ok(storage.open(`${folder}/${quarantine}`));
      else equal(quarantine, undefined);
      ok((await repo.verify()).ok);
      await repo.collection(Bed).create({ id: "east", name: "East" });
      const before = answersOf(repo);
      await db.close();
      const again = await openSmall(storage, "default");
      const reopened = await again.repository(GARDEN);
      equal(answersOf(reopened), before, `byte ${at} after another opening`);
      deepEqual(reopened.status().recovery.lost, lost);
      ok((await reopened.verify()).ok);
      await again.close();
    }
  }
  ok(repaired > sized(20, 200), `${repaired} repairs`);
});
