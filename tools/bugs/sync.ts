/**
 * Bugs of sync: what one has does not reach the other, or twice, or is said to.
 *
 * @module
 */

import type { Bug } from "./bug.ts";

export const syncBugs: readonly Bug[] = [
  {
    name: "server-acknowledges-before-durable",
    breaks:
      "The server says that it has a write before a power cut could no longer take it",
    file: "sync/inbox.ts",
    before: `      if (port.lengthOf(chain) < end) {
        return { sequence: sequence - 1, lengths, done };
      }
`,
    after: "",
    foundBy: ["sync/conversation_test.ts"],
  },
  {
    name: "shared-before-durable",
    breaks: "A write reaches others that its own device loses in a crash",
    file: "repo/graph/sharing.ts",
    before:
      `    if (this.#isOpen) log.onSynced = () => this.#advance(log.synced);
  }`,
    after: `    if (this.#isOpen) log.onSynced = () => this.#advance(log.end);
  }`,
    foundBy: ["repo/replica_port_test.ts"],
  },
  {
    name: "lost-on-reconnect",
    breaks: "What was under way when a connection broke is never sent again",
    file: "sync/upload.ts",
    before: `      this.#sent[0]?.from ?? Infinity,
`,
    after: "",
    foundBy: ["sync/conversation_test.ts"],
  },
  {
    name: "cursor-too-far",
    breaks:
      "A client that crashes while it catches up never gets what it had not yet written",
    file: "sync/download.ts",
    before: `      if (sequence > this.#durable) return;
`,
    after: "",
    foundBy: ["sync/conversation_test.ts"],
  },
  {
    name: "delivered-twice",
    breaks: "A counter counts an increment again that comes a second time",
    file: "repo/state/state.ts",
    before: `  for (let i = from; i < commits.length; i++) {
    if (commits[i]!.isVoid) continue;
    const commit = decodeCommit(batch, i, address, patches?.[i - from]);`,
    after: `  for (let i = 0; i < commits.length; i++) {
    if (commits[i]!.isVoid) continue;
    const known = patches?.[Math.max(0, i - from)];
    const commit = decodeCommit(batch, i, address, known);`,
    foundBy: ["repo/replica_port_test.ts"],
  },
  {
    name: "parked-for-ever",
    breaks:
      "What came before its parents is never shown, though they have come",
    file: "repo/admission/admit.ts",
    before: `      queue.push(...parking.release(verdict));
`,
    after: "",
    foundBy: ["repo/admission/admit_test.ts"],
  },
  {
    name: "unsent-counted-as-sent",
    breaks:
      "The status says that nothing is unsent while the server lacks a write",
    file: "sync/upload.ts",
    before: `    return this.outbox.isDone && this.#sent.length === 0 &&
      this.#gathered`,
    after: `    return this.outbox.isDone &&
      this.#gathered`,
    foundBy: ["sync/conversation_test.ts"],
  },
  {
    name: "refused-counted-as-synced",
    breaks: "The server is believed to have what it has refused",
    file: "sync/upload.ts",
    before:
      `      if (chain !== "" && !isPassedOver && !isRefused) acked.set(chain, end);`,
    after: `      if (chain !== "") acked.set(chain, end);`,
    foundBy: ["sync/refusal_test.ts"],
  },
  {
    name: "void-commits-travel",
    breaks: "What was cut is sent to the server again",
    file: "repo/log/feed.ts",
    before: `    if (isCut(chain, first, address)) return true;
`,
    after: "",
    foundBy: ["tests/void_cut_test.ts"],
  },
  {
    name: "refused-commits-travel",
    breaks: "What was refused is sent with all that it says",
    file: "repo/log/feed.ts",
    before: `    const bytes = stubbed(chain, kind, body, address) ?? body;`,
    after: `    const bytes = stubbed === undefined ? body : body;`,
    foundBy: ["tests/void_test.ts"],
  },
  {
    name: "stubs-leave-at-once",
    breaks: "A stub goes out before the refusal is durable",
    file: "sync/outbox.ts",
    before: `    if (this.#port.shareable < rewind.due) return false;`,
    after: `    if (rewind.due < 0) return false;`,
    foundBy: ["sync/outbox_test.ts"],
  },
  {
    name: "foreign-resume-taken",
    breaks:
      "A restored folder goes on where it stood before, and misses what it lost",
    file: "sync/resume.ts",
    before: `  const isOfThisLog = commits <= port.commits &&
    uploadedTo <= port.shareable`,
    after: `  const isOfThisLog = commits >= 0 &&
    uploadedTo <= port.shareable`,
    foundBy: ["sync/resume_test.ts"],
  },
  {
    name: "epoch-not-asked",
    breaks:
      "A server that lost its log goes on from a position of its former life",
    file: "sync/server_channel.ts",
    before: `    return equalBytes(epoch, options.order.epoch) &&
      position <= port.shareable && options.order.stands(position, order);`,
    after: `    return epoch.length + order.length > 0 &&
      position <= port.shareable && port.isStart(position);`,
    foundBy: ["sync/witness_test.ts", "sync/order_test.ts"],
  },
  {
    name: "order-not-followed",
    breaks: "A server tells two clients two orders, and neither notices",
    file: "sync/download.ts",
    before: `      if (!equalBytes(order, place.order)) {`,
    after: `      if (order.length !== place.order.length) {`,
    foundBy: ["sync/order_test.ts"],
  },
  {
    name: "restore-called-complete",
    breaks: "A server that lost commits says that all of them are back",
    file: "server/restore_report.ts",
    before: `    if (missing > 0) return;`,
    after: "",
    foundBy: ["server/restore_report_test.ts"],
  },
  {
    name: "witness-not-checked",
    breaks: "Anybody in between can make a client believe what the server has",
    file: "sync/channel_watch.ts",
    before: `
      equalBytes(witness.issuerKey, server.key) &&
      isSigned(witnessLayout, witness);`,
    after: `
      equalBytes(witness.issuerKey, server.key);`,
    foundBy: ["sync/witness_test.ts"],
  },
  {
    name: "rolled-back-server-unnoticed",
    breaks:
      "A server that went back to an old backup is not noticed by its clients",
    file: "sync/witness.ts",
    before: `  if (newer.position < older.position) return "server-rolled-back";
`,
    after: "",
    foundBy: ["sync/witness_test.ts"],
  },
  {
    name: "credit-never-granted",
    breaks: "A large catch-up stops in its middle for ever",
    file: "sync/inbox.ts",
    before: `    if (pending.held > 0) this.#options.release(pending.held);
`,
    after: "",
    foundBy: ["sync/conversation_test.ts"],
  },
  {
    name: "later-record-taken-for-damage",
    breaks: "A database that a newer version has written to loses its end",
    file: "repo/log/format.ts",
    before: `  return plain > 0 && plain <= KIND_MAX;`,
    after:
      `  return plain > 0 && plain <= recordKind.revocation || plain === 48 ||
    plain === 49;`,
    foundBy: ["tests/later_version_test.ts"],
  },
  {
    name: "statement-of-anybody",
    breaks: "Whoever may log in fills every replica with what nobody reads",
    file: "repo/admission/credential_check.ts",
    before:
      `    return refuse("bad-certificate", "Its issuer may not make statements");`,
    after: `    void issuerKey;`,
    foundBy: ["tests/later_version_test.ts"],
  },
];
