/**
 * Revoking sessions: a signed record in every repository where the session
 * wrote, now or when it is opened next, and a note in the server's books.
 *
 * Architecture invariant: what the server had accepted before stands, what
 * comes later does not, whatever the author's clock says (law 7): the books are
 * written first, so that the gate takes nothing more while cuts are being read.
 *
 * @module
 */

import type { Signer } from "../crypto/mod.ts";
import { encodeText, fromHex, toHex } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { Replica, RepositoryName } from "../repo/mod.ts";
import type { Judged } from "../repo/admit.ts";
import { chainBytes } from "../repo/commit.ts";
import { cutsOf, issueRevocation } from "../repo/revocation.ts";
import type { Books, QuarantineItem } from "./books.ts";
import { HttpFault } from "./body.ts";
import type { Hub } from "./hub.ts";
import type { RestoreReport } from "./restore_report.ts";
import { type ChainEnd, chainEndsOf, cutsToIssue } from "./revocation_cuts.ts";

/** What revoking works with. */
export interface RevocationParts {
  readonly books: Books;
  readonly hub: Hub;
  readonly signer: Signer;
  readonly now: () => number;
  /** What is known to have been in repositories that are not whole again. */
  readonly restores: Pick<RestoreReport, "known">;
}

const KEY_CHARACTERS = 32;

/** Revokes sessions and says which are. */
export class RevocationList {
  readonly #parts: RevocationParts;

  /** @param parts what it works with */
  constructor(parts: RevocationParts) {
    this.#parts = parts;
  }

  /** Is a session revoked? Its key in hexadecimal. */
  has(sessionKey: string): boolean {
    return this.#parts.books.revocations.has(sessionKey);
  }

  /**
   * Revokes a session.
   *
   * @returns how many repositories that are open took a record
   */
  async revoke(sessionKey: string, reason: string): Promise<number> {
    const { books, hub, now } = this.#parts;
    checkReason(reason);
    if (!this.has(sessionKey)) {
      const at = new Date(now());
      await books.revocations.create({ id: sessionKey, reason, at });
    }
    let records = 0;
    for (const name of hub.names) {
      records += await hub.use(
        name,
        async (replica) => {
          const isNew = this.#record(replica, sessionKey);
          if (isNew) await replica.durable();
          return isNew ? 1 : 0;
        },
      );
    }
    return records;
  }

  /** Brings a repository that was just opened up to date. */
  async prepare(replica: Replica): Promise<void> {
    const { revocations } = this.#parts.books;
    if (revocations.count() === 0) return;
    const keys = new Set<string>();
    for (const { name } of replica.graph.chains()) keys.add(keyOf(name));
    for (const key of keys) {
      if (revocations.has(key)) this.#record(replica, key);
    }
    await replica.durable();
  }

  /**
   * A true witness of an earlier life of a log saw more of revoked sessions
   * than stands now: that was accepted, so it stands. At once, for the records
   * that follow the proof may be these very commits.
   *
   * @param summary what the witness is the hash of
   */
  raise(replica: Replica, summary: Uint8Array): void {
    const accepted = chainEndsOf(summary);
    const keys = new Set<string>();
    for (const chain of accepted.keys()) keys.add(keyOf(chain));
    for (const key of keys) {
      const { revocations } = replica.loaded;
      const isRevoked = this.has(key) ||
        revocations.of(nameOf(fromHex(key))).length > 0;
      if (isRevoked) this.#record(replica, key, accepted);
    }
  }

  /**
   * Puts a record into a repository where the session wrote and that has none.
   * The modes that do not sign have no records: there the gate alone decides.
   */
  #record(
    replica: Replica,
    sessionKey: string,
    accepted: ReadonlyMap<string, ChainEnd> = this.#accepted(replica.name),
  ): boolean {
    if (replica.mode !== "default") return false;
    const key = fromHex(sessionKey);
    const cuts = cutsToIssue(replica, key, accepted);
    if (cuts === undefined) return false;
    this.#issue(replica, key, cuts, this.#reasonOf(sessionKey));
    return true;
  }

  #accepted(name: RepositoryName): ReadonlyMap<string, ChainEnd> {
    return this.#parts.restores.known(name) ?? new Map();
  }

  #reasonOf(sessionKey: string): string {
    return this.#parts.books.revocations.get(sessionKey)?.reason ?? "";
  }

  #issue(
    replica: Replica,
    sessionKey: Uint8Array,
    cuts: ReadonlyMap<string, number>,
    reason: string,
  ): void {
    const { signer, now } = this.#parts;
    const port = replica.port();
    const { genesisId } = port;
    const wall = now();
    const fields = { genesisId, sessionKey, cuts, wall, reason };
    const { bytes } = issueRevocation(fields, signer);
    check(port.receive([{ kind: "revocation", bytes }]));
    port.settle();
  }

  /**
   * Admits a batch in quarantine: raises what stands of its session, then lets
   * it through the door.
   *
   * @returns how many of its commits are new here
   */
  accept(item: QuarantineItem): Promise<number> {
    const chain = fromHex(item.chain);
    const key = chain.slice(0, KEY_CHARACTERS);
    const incarnation = nameOf(chain.subarray(KEY_CHARACTERS));
    // Proof: a name that was hosted when the batch came.
    return this.#parts.hub.use(
      item.repository as RepositoryName,
      async (replica) => {
        const cuts = new Map(cutsOf(replica.graph, key));
        const known = cuts.get(incarnation) ?? 0;
        if (known < item.first) {
          throw new HttpFault(
            409,
            "gap",
            `Commits ${known} to ${
              item.first - 1
            } of its chain come first: accept those before it`,
          );
        }
        cuts.set(incarnation, Math.max(known, item.first + item.count));
        if (replica.mode === "default") {
          this.#issue(replica, key, cuts, this.#reasonOf(toHex(key)));
        }
        const kind = item.signed ? "signed" : "unsigned";
        const port = replica.port();
        const bytes = item.bytes.slice();
        const admitted = check(port.receive([{ kind, bytes }]));
        port.settle();
        await replica.durable();
        return admitted;
      },
    );
  }
}

/** The session of a chain, in hexadecimal. */
function keyOf(chain: string): string {
  return toHex(chainBytes(chain).subarray(0, KEY_CHARACTERS));
}

/** One character a byte, as chains are named. */
function nameOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** Our own records and what an operator accepted must pass the door; says how many commits are new. */
function check(judged: readonly Judged[]): number {
  let admitted = 0;
  for (const { verdict } of judged) {
    if (verdict.verdict === "refuse") {
      const { refused, detail = "" } = verdict.refusal;
      throw new HttpFault(409, refused, `The door refused it: ${detail}`);
    }
    if (verdict.verdict === "park") {
      throw new HttpFault(409, "missing-parent", "Its parents are missing");
    }
    if (verdict.verdict === "admit") {
      admitted += verdict.batch.commits.length - verdict.from;
    }
  }
  return admitted;
}

/** Before anything is written: a record that cannot be made must not be noted. */
function checkReason(reason: string): void {
  if (
    reason.isWellFormed() &&
    encodeText(reason).length <= limits.revocationReasonBytesMax
  ) {
    return;
  }
  throw new DatabaseError(
    "value-too-large",
    `A reason takes ${limits.revocationReasonBytesMax} bytes of text at most`,
  );
}
