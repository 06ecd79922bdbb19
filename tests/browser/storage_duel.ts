/**
 * An owner that is stopped before any of its calls, and the thief who takes its
 * files meanwhile: what each of them does and sees.
 *
 * @module
 */

import { DatabaseError } from "../../src/base/errors.ts";
import { openOpfs } from "../../src/storage/opfs_open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { Baton, realDirectory, stepped } from "./storage_steps.ts";

/** What an owner did. */
export interface Life {
  /** Calls that it made. */
  readonly steps: number;
  /** What `d/log` held when it was last acknowledged. */
  readonly log: string;
  /** The same of `d/check`, and what it may hold besides. */
  readonly check: string;
  readonly checkNext: string;
  /** Code of its first failure, and those of everything it tried afterwards. */
  readonly failure: string | undefined;
  readonly later: readonly (string | undefined)[];
}

/** What somebody sees. */
export interface View {
  readonly log: string;
  readonly check: string;
  readonly names: string;
}

/** Long names, so that few renames outgrow the table. */
const LONG = ["x", "y"].map((letter) => `d/${letter.repeat(1000)}`);

class Owner {
  readonly storage: Storage;
  log = "";
  written = "";
  check = "";
  checkNext = "";
  /** Do its calls count? */
  isCounted = true;

  constructor(storage: Storage) {
    this.storage = storage;
  }

  append(text: string): void {
    const file = this.storage.open("d/log", { create: true })!;
    const at = this.written.length;
    this.written += text;
    file.writeAt(new TextEncoder().encode(text), at);
    file.sync();
    if (at === 0) this.storage.syncFolder("d");
    this.log = this.written;
    file.close();
  }

  replace(text: string): void {
    const file = this.storage.open("d/check.new", { create: true })!;
    file.truncate(0);
    file.writeAt(new TextEncoder().encode(text), 0);
    file.sync();
    file.close();
    this.checkNext = text;
    this.storage.rename("d/check.new", "d/check");
    this.storage.syncFolder("d");
    this.check = text;
  }

  /** Writes nothing to the medium that its close would have to sync. */
  cut(): void {
    const file = this.storage.open("d/log")!;
    file.truncate(this.written.length + 100);
    file.truncate(this.written.length);
    file.sync();
    file.close();
  }

  async outgrow(): Promise<void> {
    this.storage.open(LONG[0]!, { create: true })!.close();
    this.isCounted = false; // one rename is like the other
    for (let i = 0; i < 18; i++) {
      this.storage.rename(LONG[i % 2]!, LONG[(i + 1) % 2]!);
    }
    this.isCounted = true;
    await this.storage.prepare!("d");
    this.storage.remove(LONG[0]!);
  }

  async live(): Promise<void> {
    await this.storage.prepare!("d");
    this.append("one,");
    this.replace("X");
    this.append("two,");
    await this.storage.prepare!("d");
    this.replace("Y");
    this.cut();
    await this.outgrow();
    this.append("three,");
    this.replace("Z");
    this.append("four,");
  }
}

/** Lives, and stops before call number `stopAt`. */
export async function live(name: string, stopAt: number): Promise<Life> {
  const baton = await Baton.open();
  let steps = 0;
  let owner: Owner | undefined;
  const step = () => {
    if (owner?.isCounted === false) return;
    if (++steps === stopAt) baton.stop();
  };
  let failure: string | undefined;
  const later: (string | undefined)[] = [];
  try {
    const directory = stepped(await realDirectory(), step);
    const storage = await openOpfs(directory, name, 2_000);
    owner = new Owner(storage);
    failure = await codeOf(() => owner!.live());
    if (failure !== undefined) {
      const { log, check } = owner;
      later.push(await codeOf(() => owner!.append("late,")));
      later.push(await codeOf(() => owner!.replace("LATE")));
      later.push(await codeOf(() => storage.open("d/x", { create: true })));
      later.push(await codeOf(() => storage.syncFolder("d")));
      Object.assign(owner, { log, check });
    }
    await storage.close();
  } catch (error) {
    failure ??= await codeOf(() => {
      throw error;
    });
  }
  const { log = "", check = "", checkNext = "" } = owner ?? {};
  return { steps, log, check, checkNext, failure, later };
}

/** Waits until an owner has stopped. */
export async function stopped(): Promise<void> {
  const baton = await Baton.open();
  while (!baton.isStopped) await new Promise((resolve) => setTimeout(resolve));
}

/** Lets it go on. */
export async function goOn(): Promise<void> {
  (await Baton.open()).goOn();
}

/** Prepares the next duel. */
export async function reset(): Promise<void> {
  (await Baton.open()).reset();
}

let mine: { storage: Awaited<ReturnType<typeof openOpfs>>; view: View };

/** Takes the files; gives what was there, or the code of the failure. */
export async function takeOver(name: string): Promise<View | string> {
  try {
    const storage = await openOpfs(await realDirectory(), name, 30);
    await storage.prepare("d");
    const found = viewOf(storage);
    const owner = new Owner(storage);
    owner.written = found.log;
    owner.append("thief,");
    owner.replace("T");
    await storage.prepare("d");
    mine = { storage, view: viewOf(storage) };
    return found;
  } catch (error) {
    return await codeOf(() => {
      throw error;
    }) ?? "";
  }
}

/** Has the owner, stopped before it came to the door, fenced the thief in turn? */
export async function isFenced(): Promise<boolean> {
  const code = await codeOf(() => mine.storage.syncFolder("d"));
  if (code !== undefined) await mine.storage.close();
  return code === "database-locked";
}

/** Looks again: what the thief wrote, what it sees, and what the next one sees. */
export async function aftermath(name: string): Promise<readonly View[]> {
  const { storage, view } = mine;
  const seen = viewOf(storage);
  await storage.close();
  const directory = await realDirectory();
  const next = await openOpfs(directory, name, 2_000);
  await next.prepare("d");
  const last = viewOf(next);
  await next.close();
  return [view, seen, last];
}

/** Opens after everybody; gives what is there. */
export async function reopen(name: string): Promise<View> {
  const storage = await openOpfs(await realDirectory(), name, 2_000);
  await storage.prepare("d");
  const view = viewOf(storage);
  await storage.close();
  return view;
}

/** Removes a pool. */
export async function remove(name: string): Promise<void> {
  const root = await realDirectory();
  const folder = await root.getDirectoryHandle("sheaf") as unknown as {
    removeEntry(name: string, options: { recursive: true }): Promise<void>;
  };
  await folder.removeEntry(name, { recursive: true });
}

function viewOf(storage: Storage): View {
  const names = storage.list("d").filter((name) => name.length < 20);
  return {
    log: textOf(storage, "d/log"),
    check: textOf(storage, "d/check"),
    names: names.sort().join(),
  };
}

function textOf(storage: Storage, name: string): string {
  const file = storage.open(name);
  if (file === undefined) return "";
  const bytes = new Uint8Array(file.size());
  file.readAt(bytes, 0);
  file.close();
  return new TextDecoder().decode(bytes);
}

async function codeOf(task: () => unknown): Promise<string | undefined> {
  try {
    await task();
  } catch (error) {
    return error instanceof DatabaseError ? error.code : String(error);
  }
}
