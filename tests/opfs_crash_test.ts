/**
 * A pool of OPFS files that is killed, or loses its power, at every step: what
 * was acknowledged is there, and what is there was written.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { DatabaseError } from "../src/base/errors.ts";
import { openOpfs } from "../src/storage/opfs_open.ts";
import type { Storage } from "../src/storage/storage.ts";
import { trips } from "./kit/patience.ts";
import { Died, FakeOpfs, type FakeProcess } from "./kit/fake_opfs.ts";
import type { Kept } from "./kit/faulty_storage.ts";
import { isTried } from "./kit/tier.ts";

const open = (process: FakeProcess) => openOpfs(process.directory, "db", 0);

/** What was acknowledged, and what may be there besides. */
class Story {
  /** Bytes of `r/log` that were acknowledged, and all that were written. */
  acked = "";
  written = "";
  /** Contents of `r/check`: the acknowledged one and later ones. */
  checks: (string | undefined)[] = [undefined];
  /** The same of `r/kept`. */
  keeps: (string | undefined)[] = [undefined];

  check(storage: Storage): void {
    const log = textOf(storage, "r/log");
    ok((log ?? "").startsWith(this.acked), `log ${log} lacks ${this.acked}`);
    // Unacknowledged bytes may be any, as on a disk; what was written here has no zeros.
    const rest = (log ?? "").slice(this.acked.length);
    ok(rest.length <= this.written.length - this.acked.length, `log ${log}`);
    const check = textOf(storage, "r/check");
    ok(this.checks.includes(check), `check ${check} of ${this.checks}`);
    const kept = textOf(storage, "r/kept");
    ok(this.keeps.includes(kept), `kept ${kept} of ${this.keeps}`);
    equal(textOf(storage, "r/empty") ?? "", "", "a new file is empty");
  }
}

function textOf(storage: Storage, name: string): string | undefined {
  const file = storage.open(name);
  if (file === undefined) return undefined;
  const bytes = new Uint8Array(file.size());
  file.readAt(bytes, 0);
  file.close();
  return new TextDecoder().decode(bytes);
}

function append(storage: Storage, story: Story, text: string, acked: boolean) {
  const file = storage.open("r/log", { create: true })!;
  const bytes = new TextEncoder().encode(text);
  const at = story.written.length;
  story.written += text;
  file.writeAt(bytes, at);
  if (!acked) return file.close();
  file.sync();
  storage.syncFolder("r");
  story.acked = story.written;
  file.close();
}

/** Replaces a file as keyrings and checkpoints do. */
function replace(storage: Storage, story: Story, text: string): void {
  const file = storage.open("r/check.new", { create: true })!;
  file.truncate(0);
  file.writeAt(new TextEncoder().encode(text), 0);
  file.sync();
  file.close();
  story.checks.push(text);
  storage.rename("r/check.new", "r/check");
  storage.syncFolder("r");
  story.checks = [text];
}

/** So many names that the table is replaced. */
async function outgrowTable(storage: Storage): Promise<void> {
  const names = ["a", "b"].map((letter) => `r/${letter.repeat(1000)}`);
  storage.open(names[0]!, { create: true })!.close();
  for (let i = 0; i < 20; i++) {
    storage.rename(names[i % 2]!, names[(i + 1) % 2]!);
  }
  await storage.prepare!("r"); // waits for the table
  storage.release!("r");
  storage.remove(names[0]!);
}

function write(storage: Storage, name: string, text: string): void {
  const file = storage.open(name, { create: true })!;
  file.writeAt(new TextEncoder().encode(text), 0);
  file.sync();
  file.close();
}

/** Replaces a file without making it durable; what was replaced is not used again before that. */
async function replaceLazily(storage: Storage, story: Story): Promise<void> {
  story.keeps = [undefined, "", "K1"];
  write(storage, "r/kept", "K1");
  storage.syncFolder("r");
  story.keeps = ["K1", "K2"];
  write(storage, "r/kept.new", "K2");
  storage.rename("r/kept.new", "r/kept");
  await storage.prepare!("r");
  write(storage, "r/other", "other");
  storage.syncFolder("r");
  story.keeps = ["K2"];
  storage.remove("r/other");
  storage.syncFolder("r");
  await storage.prepare!("r");
  storage.open("r/empty", { create: true })!.close();
  storage.syncFolder("r");
}

async function live(process: FakeProcess, story: Story): Promise<void> {
  const storage = await open(process);
  try {
    await storage.prepare("r");
    append(storage, story, "one,", true);
    append(storage, story, "two,", true);
    replace(storage, story, "X");
    append(storage, story, "three,", false);
    replace(storage, story, "YY");
    await storage.prepare("r"); // reuses what was dropped
    replace(storage, story, "ZZZ");
    append(storage, story, "four,", true);
    await replaceLazily(storage, story);
    await outgrowTable(storage);
    append(storage, story, "five,", true);
    replace(storage, story, "V");
  } finally {
    await storage.close().catch(isDeath);
  }
}

/** A process that dies says so, and a storage wraps it. */
function isDeath(error: unknown): void {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof Died) return;
  }
  throw error;
}

async function livesOn(opfs: FakeOpfs, story: Story): Promise<void> {
  for (const text of ["next,", "last,"]) {
    const storage = await open(opfs.process());
    await storage.prepare("r");
    story.check(storage);
    story.written = textOf(storage, "r/log") ?? "";
    story.checks = [textOf(storage, "r/check")];
    story.keeps = [textOf(storage, "r/kept")];
    append(storage, story, text, true);
    replace(storage, story, text);
    await storage.close();
  }
  const storage = await open(opfs.process());
  await storage.prepare("r");
  story.check(storage);
  await storage.close();
}

async function stepsOfLife(): Promise<number> {
  const process = new FakeOpfs().process();
  await live(process, new Story());
  return process.steps;
}

const copyOf = (story: Story) => Object.assign(new Story(), story);

const afterStep = (step: number): Kept[] => ["synced", "all", step];

Deno.test("openOpfs() finds everything acknowledged after an end at any step", async () => {
  const steps = await stepsOfLife();
  ok(steps > 100, `${steps} steps`);
  for (let dieAt = 1; dieAt <= steps; dieAt++) {
    if (!isTried(dieAt, 19)) continue;
    const opfs = new FakeOpfs();
    const story = new Story();
    await live(opfs.process(dieAt), story).catch(isDeath);
    for (const kept of afterStep(dieAt)) {
      const after = opfs.powerCut(kept);
      await livesOn(after, copyOf(story)).catch((cause) => {
        throw new Error(`died at ${dieAt}, kept ${kept}`, { cause });
      });
    }
    await livesOn(opfs, story); // killed, the power stayed
  }
});

Deno.test("openOpfs() that dies at any step leaves what it found", async () => {
  const made = new FakeOpfs();
  const story = new Story();
  await live(made.process(), story);
  const image = made.powerCut("all");
  const process = image.process();
  await (await open(process)).close();
  for (let dieAt = 1; dieAt <= process.steps; dieAt++) {
    if (!isTried(dieAt, 19)) continue;
    const opfs = made.powerCut("all");
    const opened = await open(opfs.process(dieAt)).catch(isDeath);
    await opened?.close().catch(isDeath);
    for (const kept of afterStep(dieAt)) {
      await livesOn(opfs.powerCut(kept), copyOf(story));
    }
  }
});

Deno.test("a step that fails once spoils nothing, whichever it is", async () => {
  const steps = await stepsOfLife();
  for (let failAt = 1; failAt <= steps; failAt++) {
    if (!isTried(failAt, 19)) continue;
    const opfs = new FakeOpfs();
    const process = opfs.process();
    process.failAt = failAt;
    const story = new Story();
    await live(process, story).catch((error) => {
      ok(error instanceof DatabaseError, `${failAt}: ${error}`);
    });
    equal([...process.handles].length, 0, `${failAt}: handles are given back`);
    await livesOn(opfs.powerCut("synced"), copyOf(story));
    await livesOn(opfs, story);
  }
});

Deno.test("openOpfs() needs one whole root of two", async () => {
  const opfs = new FakeOpfs();
  const story = new Story();
  await live(opfs.process(), story);
  const before = opfs.powerCut("all");
  const process = before.process();
  await (await open(process)).close();
  for (let dieAt = 1; dieAt <= process.steps; dieAt++) {
    if (!isTried(dieAt, 19)) continue;
    const after = opfs.powerCut("all");
    const opened = await open(after.process(dieAt)).catch(isDeath);
    await opened?.close().catch(isDeath);
    const fence = after.bytes("sheaf/db/fence");
    const newer = newerRoot(fence);
    // A torn write of the root: nothing was removed yet.
    if (after.entries.size < opfs.entries.size) break;
    if (newer === newerRoot(opfs.bytes("sheaf/db/fence"))) continue;
    fence[newer + 20]! ^= 1;
    after.put("sheaf/db/fence", fence);
    await livesOn(after, copyOf(story));
  }
});

/** Where the root with the larger sequence stands. */
function newerRoot(fence: Uint8Array): number {
  const view = new DataView(fence.buffer);
  const [a, b] = [512, 1024].map((at) => view.getUint32(at + 26, true));
  return a! > b! ? 512 : 1024;
}

Deno.test("openOpfs() removes what nobody has a name for", async () => {
  const opfs = new FakeOpfs();
  const story = new Story();
  for (let turn = 0; turn < 5; turn++) await livesOn(opfs, story);
  const storage = await open(opfs.process());
  await trips(); // It looks for them when nothing else is to be done.
  await storage.close();
  const files = [...opfs.entries.keys()];
  ok(files.length < 20, files.join());
  deepEqual(files.filter((name) => !/^sheaf\/db\//.test(name)), []);
});
