/**
 * Folders, other processes of the same runtime, and waiting for what they say.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PATIENCE_MS = 30_000;

/** Runs a task with a folder that goes afterwards. */
export async function withFolder(task) {
  const folder = mkdtempSync(join(tmpdir(), "sheaf-check-"));
  try {
    return await task(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A module beside this one. */
export const beside = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Is there a package of this name? */
export function isInstalled(name) {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** The program that the package brings. */
export function sheafProgram() {
  const { resolve } = createRequire(import.meta.url);
  return join(dirname(resolve("@sheaf/sheaf/package.json")), "bin/sheaf.js");
}

/** Another process of the runtime that runs this. */
export class Child {
  lines = [];
  #process;
  #waiting = [];
  /** Resolves with its exit code, or with the signal that ended it. */
  ended;

  constructor(...args) {
    this.#process = spawn(process.execPath, args, {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const reader = createInterface({ input: this.#process.stdout });
    reader.on("line", (line) => {
      this.lines.push(line);
      for (const look of this.#waiting) look();
    });
    const closed = new Promise((done) => reader.on("close", done));
    this.ended = new Promise((done) =>
      this.#process.on(
        "exit",
        (code, signal) => closed.then(() => done(code ?? signal)),
      )
    );
    this.ended.then(() => this.#waiting.forEach((look) => look(true)));
  }

  /** Waits until it has said so many lines that match. */
  said(pattern, count = 1) {
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () => reject(new Error(`Nobody said ${pattern}: ${this.lines}`)),
        PATIENCE_MS,
      );
      const look = (isOver = false) => {
        const found = this.lines.filter((line) => pattern.test(line));
        if (found.length < count && !isOver) return;
        clearTimeout(late);
        this.#waiting = this.#waiting.filter((one) => one !== look);
        if (found.length >= count) resolve(pattern.exec(found[count - 1]));
        else reject(new Error(`It ended and never said ${pattern}`));
      };
      this.#waiting.push(look);
      look();
    });
  }

  signal(name) {
    this.#process.kill(name);
  }
}

/** Waits until something holds; it is asked again whenever `subscribe` tells. */
export function until(what, subscribe, holds) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`It never came: ${what}`)),
      PATIENCE_MS,
    );
    const look = () => {
      if (!holds()) return;
      clearTimeout(late);
      resolve();
    };
    subscribe(look);
    look();
  });
}
