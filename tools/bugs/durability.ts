/**
 * Bugs of durability: what was promised to be there is not.
 *
 * @module
 */

import type { Bug } from "./bug.ts";

export const durabilityBugs: readonly Bug[] = [
  {
    name: "acknowledged-before-synced",
    breaks: "A write is called durable while its sync is still under way",
    file: "repo/write/commit_queue.ts",
    before: `      if (waiting === undefined) this.#finish(group);
      else this.#await(waiting, group);`,
    after: `      group.resolve();
      if (waiting === undefined) this.#finish(group);
      else this.#await(waiting, group);`,
    foundBy: ["repo/write/commit_queue_test.ts"],
  },
  {
    name: "written-after-failed-sync",
    breaks: "After a failed sync the log goes on, with a hole in it",
    file: "repo/log/log.ts",
    before: `    this.#checkOpen("write");
    if (this.#failure !== undefined) throw this.#failure;`,
    after: `    this.#checkOpen("write");`,
    foundBy: ["repo/log/log_test.ts"],
  },
  {
    name: "new-log-not-in-its-folder",
    breaks: "A power cut takes a new repository whose writes were acknowledged",
    file: "repo/log/log.ts",
    before: `      if (this.#nameUnsynced) this.#syncName();
`,
    after: ``,
    foundBy: ["tests/creation_test.ts"],
  },
  {
    name: "left-segment-not-synced",
    breaks: "What stands at the end of a full log file is lost in a power cut",
    file: "repo/log/log.ts",
    before: `    this.#leave(file.sync());
    file.truncate(`,
    after: `    file.truncate(`,
    foundBy: ["tests/log_crash_test.ts"],
  },
  {
    name: "torn-record-taken",
    breaks: "Half a record that a power cut left is read as if it were whole",
    file: "repo/log/segment.ts",
    before: `    if (crc32(body, seed) !== crc) break;
`,
    after: "",
    foundBy: ["repo/log/recovery_test.ts"],
  },
  {
    name: "damage-cut-silently",
    breaks:
      "A bad byte in the middle of the log costs all that follows, and nobody says so",
    file: "repo/log/unclean.ts",
    before: `  if (damaged && repair !== true) throw damage(folder, end, later);
`,
    after: "",
    foundBy: ["repo/log/recovery_test.ts"],
  },
  {
    name: "cut-tail-comes-back",
    breaks:
      "What a recovery cut away may stand in the log again after the next crash",
    file: "repo/log/unclean.ts",
    before: `  last.file.truncate(end - last.base);
  // A crash that comes before anybody acted on this one must not look like a clean close.
  last.size = end - last.base + ZEROS_BEHIND;
  last.file.truncate(last.size);`,
    after: `  last.size = end - last.base + ZEROS_BEHIND;`,
    foundBy: ["tests/log_crash_test.ts"],
  },
  {
    name: "recovered-looks-closed",
    breaks: "A second crash, before the first was acted on, is no crash",
    file: "repo/log/unclean.ts",
    before: `  last.size = end - last.base + ZEROS_BEHIND;`,
    after: `  last.size = end - last.base;`,
    foundBy: ["repo/log/recovery_test.ts"],
  },
  {
    name: "checkpoint-without-last-batch",
    breaks:
      "What is written while a checkpoint is made is gone after the next opening",
    file: "repo/checkpoint/write_next.ts",
    before: `    covers,
    meta: encodeMeta(loaded),
    tables: folded?.tables() ?? [],
    outline: folded ? [] : items.outline!.shapes(limits.fieldsMax),
    readLog: (target, address) => log.readAt(target, address),
    previous: items.base,
    checked: checkpoint,
    touches: touches?.picture(),
    pause: pausing,
    sealed: () => log.sealed >= covers ? undefined : log.sync(),`,
    after: `    get covers() {
      return log.end;
    },
    meta: encodeMeta(loaded),
    tables: folded?.tables() ?? [],
    outline: folded ? [] : items.outline!.shapes(limits.fieldsMax),
    readLog: (target, address) => log.readAt(target, address),
    previous: items.base,
    checked: checkpoint,
    touches: touches?.picture(),
    pause: pausing,
    sealed: () => log.sync(),`,
    foundBy: ["repo/checkpoint/checkpointer_test.ts"],
  },
  {
    name: "checkpoint-before-its-log",
    breaks:
      "After a power cut the database cannot be opened: its checkpoint knows more than its log",
    file: "repo/checkpoint/write_next.ts",
    before: `    settled: () => log.synced >= covers ? undefined : log.sync(),`,
    after: `    settled: () => undefined,`,
    foundBy: ["repo/checkpoint/checkpointer_test.ts"],
  },
  {
    name: "damaged-checkpoint-page-taken",
    breaks: "An item shows what a damaged checkpoint says of it",
    file: "repo/checkpoint/page_file.ts",
    before: `  return crc === said >>> 0;`,
    after: `  return crc === said >>> 0 || said !== undefined;`,
    foundBy: ["repo/checkpoint/damage_test.ts"],
  },
  {
    name: "void-commits-on-reopen",
    breaks: "What was cut is there again after a restart",
    file: "repo/replay.ts",
    before: `    if (isFolded) this.#isStale = true;`,
    after: `    void isFolded;`,
    foundBy: ["tests/reissue_test.ts"],
  },
  {
    name: "opfs-flush-skipped",
    breaks: "A page calls a write durable that the browser has not flushed",
    file: "src/storage/opfs_file.ts",
    before: `      this.#handle.flush();
`,
    after: "",
    foundBy: ["src/storage/opfs_storage_test.ts"],
  },
  {
    name: "opfs-guard-goes-on",
    breaks:
      "A page whose files were taken over by another one writes into them",
    file: "src/storage/opfs_guard.ts",
    before: `    if (!isMine) throw this.fail(fencedError());`,
    after: `    if (!isMine) this.fail(fencedError());`,
    foundBy: ["src/storage/opfs_storage_test.ts"],
  },
  {
    name: "indexeddb-commit-not-awaited",
    breaks:
      "In a browser without OPFS a write is called durable before its transaction is over",
    file: "src/storage/indexeddb_storage.ts",
    before: `      await this.#medium.commit(this.#takeChanges());`,
    after: `      this.#medium.commit(this.#takeChanges()).catch(() => {});`,
    foundBy: ["tests/browser/storage_test.ts"],
    tier: "all",
  },
  {
    name: "indexeddb-fence-not-asked",
    breaks:
      "A page whose IndexedDB was taken over by another one writes over its pages",
    file: "src/storage/indexeddb_medium.ts",
    before: `      if (meta.result === this.term) return;
      failure`,
    after: `      if (meta.result !== undefined) return;
      failure`,
    foundBy: ["tests/browser/storage_test.ts"],
    tier: "all",
  },
];
