/**
 * Bugs of tabs and of the server: what they hold for others.
 *
 * @module
 */

import type { Bug } from "./bug.ts";

export const deviceBugs: readonly Bug[] = [
  {
    name: "hand-over-drops-a-write",
    breaks: "A write is lost when the tab is closed that owned the files",
    file: "src/browser/tab_repository.ts",
    before: `    outgoing.again();
`,
    after: "",
    foundBy: ["src/browser/tab_repository_test.ts"],
  },
  {
    name: "hand-over-forgets-fast-mode",
    breaks:
      "In Fast mode a write that the former owner lost is not given to the next one",
    file: "src/browser/tab_repository.ts",
    before: `    if (at.address === 0 || hasLost || this.#lacksTo > 0) {`,
    after: `    if (at.address === 0 && hasLost || this.#lacksTo > 0) {`,
    foundBy: ["tests/tabs_faults_test.ts"],
  },
  {
    name: "owner-acknowledges-before-durable",
    breaks:
      "A tab calls a write durable that the owner of the files has not synced",
    file: "src/browser/owner_repository.ts",
    before: `    this.#replica.durable().then(
      () => this.#isCurrent(follower) && tab.post(done),`,
    after: `    Promise.resolve().then(
      () => this.#isCurrent(follower) && tab.post(done),`,
    foundBy: ["src/browser/owner_repository_test.ts"],
  },
  {
    name: "tab-acknowledged-too-far",
    breaks: "One answer of the owner is taken for all that was sent",
    file: "src/browser/tab_repository.ts",
    before: `    while (this.#sent.length > 0 && this.#sent[0]!.seq <= seq) {`,
    after: `    while (this.#sent.length > 0 && seq > 0) {`,
    foundBy: ["tests/tabs_faults_test.ts"],
  },
  {
    name: "chain-lent-twice",
    breaks:
      "Two tabs write under one name, and one's writes are refused as a forgery",
    file: "src/browser/owner_members.ts",
    before: `    if (holder !== undefined) return holder === tab;
`,
    after: "",
    foundBy: ["src/browser/owner_loans_test.ts"],
  },
  {
    name: "chain-lent-before-all-are-known",
    breaks:
      "A new owner gives a tab the chain that another one is still writing",
    file: "src/browser/owner_repository.ts",
    before: `    if (!isSettled()) return {};
`,
    after: "",
    foundBy: ["src/browser/owner_test.ts"],
  },
  {
    name: "left-writes-dropped",
    breaks:
      "What a closed page has left for the next one is thrown away before it was taken",
    file: "src/browser/tab_left.ts",
    before: `          (isTaken) => isTaken && this.#drop(one.key),`,
    after: `          () => this.#drop(one.key),`,
    foundBy: ["src/browser/tab_left_test.ts"],
  },
  {
    name: "tab-misses-a-message",
    breaks: "A tab that missed a message never shows what was in it",
    file: "src/browser/tab_inbox.ts",
    before: `    if (records.from > this.#heard) return this.#parts.missed();`,
    after: `    if (records.from > this.#heard) this.#heard = records.from;`,
    foundBy: ["src/browser/tab_inbox_test.ts"],
  },
  {
    name: "quota-not-asked",
    breaks: "One user fills the server's disk",
    file: "server/hooks.ts",
    before: `    if (hub.logBytes(name) > quotas.repositoryBytes) {`,
    after: `    if (hub.logBytes(name) > Infinity) {`,
    foundBy: ["server/hooks_test.ts"],
  },
  {
    name: "rate-never-refused",
    breaks: "One user who does not wait keeps the server busy for all",
    file: "server/hooks.ts",
    before: `    if (owedMs > DEBT_MS_MAX) {`,
    after: `    if (owedMs > Infinity) {`,
    foundBy: ["server/hooks_test.ts"],
  },
  {
    name: "quarantine-dropped",
    breaks:
      "What a revoked device wrote offline is said to be kept, and is not",
    file: "server/quarantine.ts",
    before:
      `    quarantine.create({ ...batch, id, at, bytes: batch.bytes.slice() });
`,
    after: "    void at;\n",
    foundBy: ["server/quarantine_test.ts"],
  },
  {
    name: "quarantine-unbounded",
    breaks: "A stolen device fills the server with what nobody will accept",
    file: "server/quarantine.ts",
    before: `    if (!fits) return false;
`,
    after: "",
    foundBy: ["server/quarantine_test.ts"],
  },
  {
    name: "backup-not-synced",
    breaks:
      "A backup that was reported as made is not on the disk after a power cut",
    file: "src/storage/small_file.ts",
    before: `    await file.sync();
`,
    after: "",
    foundBy: ["server/backup_test.ts"],
  },
  {
    name: "backup-lacks-the-end",
    breaks:
      "A backup of a server that is running lacks writes that were acknowledged, and says nothing",
    file: "server/backup.ts",
    before: `    if (copy.leftOutBytes > 0) suspicious.push(name);
`,
    after: "",
    foundBy: ["server/backup_test.ts"],
  },
  {
    name: "admin-token-any",
    breaks: "Everybody may revoke everybody",
    file: "server/http.ts",
    before: `    if (shown !== undefined && isSecret(shown, token)) return;`,
    after:
      `    if (shown !== undefined && shown.length > 0 && token !== "") return;`,
    foundBy: ["tests/server_http_test.ts"],
  },
  {
    name: "used-repository-closed",
    breaks: "The server closes a repository while somebody is connected to it",
    file: "server/hub.ts",
    before: `      if (held.users > 0) continue;
`,
    after: "",
    foundBy: ["tests/server_test.ts"],
  },
];
