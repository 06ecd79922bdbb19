/**
 * Bugs of rights: somebody may what they must not.
 *
 * @module
 */

import type { Bug } from "./bug.ts";

export const rightsBugs: readonly Bug[] = [
  {
    name: "rule-not-asked-for-deletes",
    breaks: "Everybody may delete every item, whatever the rules say",
    file: "src/schema/rules.ts",
    before: `    if ("allowed" in entry) return entry;`,
    after: `    if ("allowed" in entry) return entry;
    if (what === "delete") return { allowed: true };`,
    foundBy: ["src/schema/rule_write_test.ts"],
  },
  {
    name: "create-of-what-is-there-not-asked",
    breaks: "Whoever creates an item that is there already takes it over",
    file: "src/schema/rules.ts",
    before: `    const action = isOver ? "update" : what;`,
    after: `    const action = what;`,
    foundBy: ["repo/admission/rule_gate_test.ts"],
  },
  {
    name: "rule-blind-within-a-batch",
    breaks:
      "Who creates an item and changes it at once gets past the rule for changes",
    file: "src/schema/judge.ts",
    before: `    drafts.set(id, { before: first, after, origin });`,
    after: `    void first;`,
    foundBy: ["repo/admission/rule_gate_test.ts"],
  },
  {
    name: "issuers-past-the-gate",
    breaks: "Another server, or a stolen key of one, sells the last seat again",
    file: "sync/server_channel.ts",
    before: `line.moment.nowMs) ?? gate?.(batch, ...asked),`,
    after: `line.moment.nowMs) ??
          (parts.peer.mayIssue ? undefined : gate?.(batch, ...asked)),`,
    foundBy: ["sync/refusal_test.ts", "tests/constraints_test.ts"],
  },
  {
    name: "quarantine-keeps-erased",
    breaks:
      "What was erased is back on the server's disk, because a revoked device hands it in late",
    file: "server/hooks.ts",
    before: `      bytes: batch.bytes,
    });`,
    after: `      bytes,
    });`,
    foundBy: ["tests/redaction_late_test.ts"],
  },
  {
    name: "names-from-the-future",
    breaks: "Somebody removes what others have not written yet",
    file: "server/judge.ts",
    before: `    if (naming.size > 0 && items.outline === undefined) {`,
    after: `    if (naming.size < 0) {`,
    foundBy: ["server/merge_gate_test.ts"],
  },
  {
    name: "field-declared-again",
    breaks:
      "Somebody calls a field a list, and others cannot write it any more",
    file: "repo/admission/merge_gate.ts",
    before: `      } else if (mergeClassOf(is) !== mergeClassOf(kind)) {`,
    after:
      `      } else if (is !== table?.kinds.get(name) && is !== begun.get(name)) {`,
    foundBy: ["server/merge_gate_test.ts"],
  },
  {
    name: "counter-past-all-numbers",
    breaks: "Somebody counts a counter so far up that nobody can use it again",
    file: "repo/admission/merge_gate.ts",
    before: `      if (mayCount(total, sum)) continue;`,
    after: `      if (mayCount(0n, BigInt(amount))) continue;`,
    foundBy: ["server/merge_gate_test.ts"],
  },
  {
    name: "history-says-what-fields-are",
    breaks: "What is written to a deleted item says what others' fields are",
    file: "repo/admission/field_kinds.ts",
    before: `    if (isHistory(operation, before)) return;`,
    after: `    void [isHistory, before];`,
    foundBy: ["server/merge_gate_test.ts"],
  },
  {
    name: "delete-says-what-fields-are",
    breaks: "After a restart a deleted item says what others' fields are",
    file: "src/schema/merge.ts",
    before: `return bury(cell, origin);`,
    after: `return bury({ ...cell, shape: op.shape }, origin);`,
    foundBy: ["server/merge_gate_test.ts"],
  },
  {
    name: "history-by-who-may-write-nothing",
    breaks: "Who may write nothing fills the log with edits of deleted items",
    file: "repo/admission/rule_gate.ts",
    before: `    return this.#beginning(commit);`,
    after: `    void this.#beginning;`,
    foundBy: ["repo/admission/rule_gate_test.ts"],
  },
  {
    name: "update-only-field-forgotten",
    breaks: "After a restart somebody calls a field a list that was a set",
    file: "repo/checkpoint/collection.ts",
    before: `  registry.fields(name, picture.fields);
`,
    after: "",
    foundBy: ["server/merge_gate_test.ts"],
  },
  {
    name: "accepted-commit-judged-again",
    breaks: "What a server had accepted is refused after it lost its disk",
    file: "server/judge.ts",
    before:
      `    if (end === undefined || end.count <= first + from) return end?.count ?? 0;`,
    after: `    if (end === undefined || end.count > 0) return 0;`,
    foundBy: ["server/judge_test.ts"],
  },
  {
    name: "another-commit-for-an-accepted-one",
    breaks:
      "After a server lost its disk a writer puts unjudged commits in the place of accepted ones",
    file: "server/judge.ts",
    before: `      return forkFrom(replica, batch, from, end) ?? end.count;`,
    after:
      `      return forkFrom(replica, batch, from, end) && end.count || end.count;`,
    foundBy: ["server/judge_test.ts"],
  },
  {
    name: "refused-commit-comes-back",
    breaks:
      "After a server lost its disk a writer says what he had given up, or blanks what was accepted",
    file: "server/judge.ts",
    before: `  if (odd >= 0) {`,
    after: `  if (odd >= commits.length) {`,
    foundBy: ["server/judge_test.ts", "tests/hostile_voids_test.ts"],
  },
  {
    name: "own-rule-not-asked",
    breaks: "A forbidden write succeeds on the device, and is taken back later",
    file: "repo/write/writer.ts",
    before: `    const judge = isAgain
      ? undefined
`,
    after: `    const judge = isAgain || true
      ? undefined
`,
    foundBy: ["src/db/rules_test.ts"],
  },
  {
    name: "revocation-forgotten-on-reopen",
    breaks: "A stolen device may write again to everybody who restarted",
    file: "repo/replay.ts",
    before: `    this.#credentials.add(credential);`,
    after: `    if (credential.what !== "revocation") {
      this.#credentials.add(credential);
    }`,
    foundBy: ["repo/commit/revocation_test.ts"],
  },
  {
    name: "revocation-forgotten-by-checkpoint",
    breaks: "A stolen device may write again to everybody who has a checkpoint",
    file: "repo/checkpoint/replica_meta.ts",
    before: `    credentials: [...meta.credentials],`,
    after:
      `    credentials: [...meta.credentials].filter(({ kind }) => kind !== 5),`,
    foundBy: ["repo/commit/revocation_test.ts"],
  },
  {
    name: "revocation-never-prepared",
    breaks:
      "Repositories that were closed when a device was revoked do not hear of it",
    file: "server/revocations.ts",
    before: `    if (this.#keys.size === 0) return false;`,
    after: `    if (this.#keys.size >= 0) return false;`,
    foundBy: ["tests/server_test.ts"],
  },
  {
    name: "revoked-session-certified",
    breaks: "A revoked device logs in anew and has its rights back",
    file: "server/sessions.ts",
    before: `    this.#checkRevoked(sessionKey, before);
`,
    after: "",
    foundBy: ["tests/server_http_test.ts"],
  },
  {
    name: "revoked-session-reads",
    breaks: "A revoked device goes on reading what others write",
    file: "server/hooks.ts",
    before: `    const given = revocations.has(key) ? HAND_IN : ALL;`,
    after: `    const given = key === "" ? HAND_IN : ALL;`,
    foundBy: ["server/hooks_test.ts"],
  },
  {
    name: "read-right-not-asked",
    breaks: "Everybody who can log in reads every repository",
    file: "server/readers.ts",
    before:
      `      return decision.allowed ? given : forbidden(decision.reason);`,
    after: `      return given;`,
    foundBy: ["server/hooks_test.ts"],
  },
  {
    name: "read-right-kept",
    breaks: "Who was removed from the list of members reads on",
    file: "server/readers.ts",
    before: `        !seen.isSameIn(now);`,
    after: `        !seen.isSameIn(now) && false;`,
    foundBy: ["server/readers_test.ts"],
  },
  {
    name: "look-up-sees-its-own-commit",
    breaks: "Who makes himself a member has the right in the same commit",
    file: "src/schema/judge.ts",
    before: `    return withCommit || draft.origin !== this.#origin`,
    after: `    return true || withCommit || draft.origin !== this.#origin`,
    foundBy: ["src/schema/judge_test.ts"],
  },
  {
    name: "existence-told",
    breaks: "Who may not read a repository learns whether there is one",
    file: "sync/host_channel.ts",
    before: `    const { code, detail } = declined.code === forbidden.code
      ? forbidden
      : declined;`,
    after: `    const { code, detail } = declined;`,
    foundBy: ["sync/sync_test.ts"],
  },
  {
    name: "seal-verified-once",
    breaks:
      "After an honest first batch anybody can write in somebody else's name",
    file: "repo/admission/signature_check.ts",
    before: `  const isSound = verify(batch.seal, message, publicKey);`,
    after: `  const isSound = batch.first > 0 ||
    verify(batch.seal, message, publicKey);`,
    foundBy: ["repo/admission/admit_test.ts"],
  },
  {
    name: "expired-certificate-taken",
    breaks: "A session that has run out goes on writing",
    file: "repo/commit/certificate.ts",
    before: `      known.notBefore <= from && to <= known.notAfter
    );`,
    after: `      known.notBefore <= from && to >= 0
    );`,
    foundBy: ["repo/commit/certificate_test.ts"],
  },
  {
    name: "anybody-issues",
    breaks: "Every user can make certificates for any other user",
    file: "repo/commit/certificate.ts",
    before: `  return mayIssue
    ? undefined`,
    after: `  return mayIssue || known !== undefined
    ? undefined`,
    foundBy: ["repo/commit/certificate_test.ts"],
  },
  {
    name: "fork-taken",
    breaks:
      "Two devices hold different commits under one number, and never agree again",
    file: "repo/admission/admit.ts",
    before: `  if (fork !== undefined) return declined(fork);
`,
    after: "",
    foundBy: ["repo/admission/admit_test.ts"],
  },
  {
    name: "future-clock-taken",
    breaks:
      "A device whose clock is a year ahead wins over everybody for a year",
    file: "repo/admission/admit.ts",
    before: `  if (ahead <= 0) return undefined;`,
    after: `  if (ahead <= Infinity) return undefined;`,
    foundBy: ["repo/admission/admit_test.ts"],
  },
  {
    name: "login-proof-not-verified",
    breaks: "Who knows a public key gets a certificate for it",
    file: "server/login_route.ts",
    before: `    if (verify(proof, loginMessage(statement), key)) return;`,
    after:
      `    if (verify(proof, loginMessage(statement), key) || key.length > 0) return;`,
    foundBy: ["tests/server_http_test.ts"],
  },
];
