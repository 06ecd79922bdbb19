/**
 * Revoking sessions: a signed record in every repository where the session
 * wrote, now or when it is opened next, and a note in the server's books.
 *
 * Books may be lost, or be set back to a backup. So a signed record in any
 * repository ends its session on all of this server; and whoever is revoked by
 * name is noted by name, until a certificate shows the key.
 *
 * Architecture invariant: what the server had accepted before stands, what
 * comes later does not, whatever the author's clock says (law 7): the books are
 * written first, so that the gate takes nothing more while cuts are being read.
 *
 * What stands of a revoked session: the commits that are here, and those that a
 * true witness saw, which is proof that they were accepted before a log was
 * lost.
 *
 * Architecture invariant: cuts only ever rise, so that nobody who took a commit
 * from this server, in any life of its log, holds one that it refuses (law 7).
 */

import { sha256, type Signer } from "../crypto/mod.ts";
import { encodeText, fromHex, toHex } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import { recordKind, type Replica, type RepositoryName } from "../repo/mod.ts";
import type { Judged } from "../repo/admission/admit.ts";
import { nameOf } from "../repo/commit/commit.ts";
import { issueRevocations } from "../repo/commit/revocation.ts";
import type { PeerSession } from "../sync/proof.ts";
import { type ChainEnd, chainEndsOf } from "../sync/summary.ts";
import type { Whom } from "./api.ts";
import { type Books, SERVER_REPOSITORY } from "./books.ts";
import { HttpFault, parseSessionKey } from "./body.ts";
import type { Hub } from "./hub.ts";
import { type Log, messageOf } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { RestoreReport } from "./restore_report.ts";

export interface RevocationParts {
  readonly books: Books;
  readonly hub: Hub;
  readonly signer: Signer;
  readonly now: () => number;
  /** The last moment that a certificate which is given now is good for. */
  readonly lastEnd: () => number;
  /** What is known to have been in repositories that are not whole again. */
  readonly restores: Pick<RestoreReport, "known">;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "revoked">;
  /** Ends the connections of sessions: whoever comes anew hears what he may now. */
  readonly disconnect: (isMeant: (session: PeerSession) => boolean) => void;
}

export interface CertifiedSession {
  /** Hexadecimal. */
  readonly sessionKey: string;
  readonly user: string;
  readonly notAfter: number;
}

interface EndedUser {
  readonly reason: string;
  readonly at: Date;
  readonly until: Date;
}

const KEY_CHARACTERS = 32;

export class RevocationList {
  readonly #parts: RevocationParts;
  /** Sessions that are revoked, whether the books could be written or not. */
  readonly #keys = new Set<string>();
  readonly #users = new Map<string, EndedUser>();
  /** Those of them whose connections are still to be ended. */
  #fresh = new Set<string>();
  #isSettling = false;

  constructor(parts: RevocationParts) {
    this.#parts = parts;
    const { revocations, revokedUsers } = parts.books;
    for (const { id } of revocations.all()) this.#keys.add(id);
    for (const one of revokedUsers.all()) this.#users.set(one.user, one);
  }

  has(sessionKey: string): boolean {
    return this.#keys.has(sessionKey);
  }

  /**
   * Is a session revoked, by its key, or by its user's name after it was
   * certified? Then it is revoked by its key from now on.
   */
  ends({ sessionKey, user, notAfter }: CertifiedSession): boolean {
    if (this.has(sessionKey)) return true;
    const ended = this.#users.get(user);
    if (ended === undefined) return false;
    const issued = this.#parts.books.sessions.get(sessionKey)?.issued;
    // What the books do not know is of another server, or of a time that they
    // have lost. Only what ends later than all that there was is surely younger.
    // Nor does a new login make an old certificate of the same key a new one.
    const until = ended.until.getTime();
    const isOlder = issued === undefined
      ? notAfter <= until
      : issued <= ended.at || notAfter < until;
    if (isOlder) this.end(sessionKey, ended.reason);
    return isOlder;
  }

  /** Is the author of what comes revoked? Its key as 32 characters, one a byte. */
  endsAuthor(
    { loaded: { credentials: { certificates } } }: Replica,
    key: string,
  ): boolean {
    const sessionKey = keyOf(key);
    if (this.has(sessionKey)) return true;
    return this.#users.size > 0 &&
      certificates.of(key).some(({ user, notAfter }) =>
        this.ends({ sessionKey, user, notAfter })
      );
  }

  /**
   * Revokes a session, or a user: every session that was certified by now, also
   * those that nobody here knows of yet. Who logs in later has a session like
   * any other.
   *
   * @returns the sessions that are known, and how many repositories that are open took a record
   */
  async revoke(
    whom: Whom,
    reason: string,
  ): Promise<{ sessions: readonly string[]; repositories: number }> {
    checkReason(reason);
    const sessions = "user" in whom
      ? await this.#revokeUser(whom.user, reason)
      : [keyIn(whom)];
    const noted = sessions.map((key) => this.#note(key, reason));
    this.#disconnect();
    await Promise.all(noted);
    return { sessions, repositories: await this.#recordInAll() };
  }

  async #revokeUser(user: string, reason: string): Promise<string[]> {
    checkUser(user);
    const { books: { sessions, revokedUsers }, log } = this.#parts;
    const all = sessions.all();
    const until = all.reduce(
      (last, { expires }) => Math.max(last, expires.getTime()),
      this.#parts.lastEnd(),
    );
    const at = new Date(this.#parts.now());
    const ended = { reason, at, until: new Date(until) };
    this.#users.set(user, ended);
    log.write("warn", "user-revoked", { user, reason });
    this.#parts.disconnect((session) => session.user === user);
    const id = toHex(sha256(encodeText(user)));
    await (revokedUsers.has(id)
      ? revokedUsers.update(id, ended)
      : revokedUsers.create({ id, user, ...ended }));
    const own = all.filter((one) => one.user === user).map(({ id }) => id);
    return [...new Set([...own, ...this.#certifiedIn(user)])];
  }

  /** The sessions of a user that repositories which are open have certificates of. */
  *#certifiedIn(user: string): Iterable<string> {
    const { hub } = this.#parts;
    for (const name of hub.names) {
      for (
        const one of hub.replicaOf(name)?.loaded.credentials.certificates ?? []
      ) {
        if (one.user === user) yield toHex(one.sessionKey);
      }
    }
  }

  /** A session is over, and nobody waits for that to be written down: once for all that end in this turn. */
  end(sessionKey: string, reason: string): void {
    if (this.has(sessionKey)) return;
    const failed = (error: unknown) => {
      const fields = {
        repository: SERVER_REPOSITORY,
        message: messageOf(error),
      };
      this.#parts.log.write("error", "repository-failed", fields);
    };
    this.#note(sessionKey, reason).catch(failed);
    if (this.#isSettling) return;
    this.#isSettling = true;
    queueMicrotask(() => {
      this.#isSettling = false;
      this.#disconnect();
      this.#recordInAll().catch(failed);
    });
  }

  async #note(sessionKey: string, reason: string): Promise<void> {
    const { books: { revocations }, now, log, metrics } = this.#parts;
    if (!this.has(sessionKey)) {
      this.#keys.add(sessionKey);
      this.#fresh.add(sessionKey);
      metrics.revoked();
      log.write("warn", "session-revoked", { session: sessionKey, reason });
    }
    if (revocations.has(sessionKey)) return;
    const at = new Date(now());
    await revocations.create({ id: sessionKey, reason, at });
  }

  #disconnect(): void {
    const ended = this.#fresh;
    if (ended.size === 0) return;
    this.#fresh = new Set();
    this.#parts.disconnect(({ key }) => ended.has(toHex(key)));
  }

  async #recordInAll(): Promise<number> {
    const { hub } = this.#parts;
    let count = 0;
    for (const name of hub.names) {
      const isNew = await hub.use(name, (replica) => this.prepare(replica));
      if (isNew) count++;
    }
    return count;
  }

  /**
   * Looks through a repository that was just opened, and again when it has got
   * something: what its records and certificates say holds in all of them.
   *
   * @returns looks again
   */
  follow({ loaded: { credentials } }: Replica): () => void {
    const { certificates, revocations } = credentials;
    let [seen, users] = [-1, -1];
    let certified = -1;
    const look = () => {
      if (revocations.size !== seen) {
        seen = revocations.size;
        for (const { sessionKey, reason } of revocations) {
          const key = toHex(sessionKey);
          this.end(key, reason);
        }
      }
      if (this.#users.size === 0) return;
      if (certificates.size === certified && this.#users.size === users) return;
      [certified, users] = [certificates.size, this.#users.size];
      for (const { sessionKey, user, notAfter } of certificates) {
        this.ends({ sessionKey: toHex(sessionKey), user, notAfter });
      }
    };
    look();
    return look;
  }

  /**
   * Puts a record into a repository of each revoked session that wrote there, or is
   * known there as a server's: clients leave that one. Says whether one was missing.
   */
  async prepare(replica: Replica): Promise<boolean> {
    if (this.#keys.size === 0) return false;
    const keys = new Set<string>();
    for (const { name } of replica.graph.chains()) keys.add(keyOf(name));
    for (const name of this.#accepted(replica.name).keys()) {
      keys.add(keyOf(name));
    }
    for (
      const { sessionKey, mayIssue } of replica.loaded.credentials.certificates
    ) {
      if (mayIssue) keys.add(toHex(sessionKey));
    }
    let isNew = false;
    for (const key of keys) {
      if (this.has(key) && this.#record(replica, key)) isNew = true;
    }
    if (isNew) await replica.durable();
    return isNew;
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
      const { revocations } = replica.loaded.credentials;
      const isRevoked = this.has(key) ||
        revocations.of(nameOf(fromHex(key), 0, KEY_CHARACTERS)).length > 0;
      if (isRevoked) this.#record(replica, key, accepted);
    }
  }

  /**
   * Puts a record into a repository where the session is known and that has none.
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
    this.issue(replica, key, cuts);
    return true;
  }

  #accepted(name: RepositoryName): ReadonlyMap<string, ChainEnd> {
    return this.#parts.restores.known(name) ?? new Map();
  }

  #reasonOf(sessionKey: string): string {
    return this.#parts.books.revocations.get(sessionKey)?.reason ?? "";
  }

  /** Puts a record into a repository: so many commits of a session stand there. */
  issue(
    replica: Replica,
    sessionKey: Uint8Array,
    cuts: ReadonlyMap<string, number>,
  ): void {
    const { signer, now } = this.#parts;
    const port = replica.port();
    const reason = this.#reasonOf(toHex(sessionKey));
    const { genesisId } = port;
    const wall = now();
    const fields = { genesisId, sessionKey, cuts, wall, reason };
    const records = issueRevocations(fields, signer);
    const kind = recordKind.revocation;
    admittedOf(port.receive(records.map(({ bytes }) => ({ kind, bytes }))));
    port.settle();
  }
}

/** The session of a chain, or of a key, as they are named; in hexadecimal. */
function keyOf(chain: string): string {
  let hex = "";
  for (let i = 0; i < KEY_CHARACTERS; i++) {
    hex += chain.charCodeAt(i).toString(16).padStart(2, "0");
  }
  return hex;
}

/** Our own records and what an operator accepted must pass the door; says how many commits are new. */
export function admittedOf(judged: readonly Judged[]): number {
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

function keyIn({ sessionKey }: Exclude<Whom, { user: string }>): string {
  const isText = typeof sessionKey === "string";
  return parseSessionKey(isText ? sessionKey : toHex(sessionKey));
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

function checkUser(user: string): void {
  const isUser = user !== "" && user.isWellFormed() &&
    encodeText(user).length <= limits.userBytesMax;
  if (isUser) return;
  throw new DatabaseError(
    "invalid-option",
    `A user is a text of 1 to ${limits.userBytesMax} bytes`,
  );
}

/**
 * Cuts that let everything stand that was accepted of a session, as far as none
 * in force does: what stands here came before they did, or a crash came between
 * the records of one revocation. `undefined` when what is in force says it all.
 *
 * @param replica the server's
 * @param sessionKey whose commits
 * @param accepted what else is known to have been accepted, by chain
 */
export function cutsToIssue(
  { graph, loaded: { credentials: { revocations } } }: Replica,
  sessionKey: Uint8Array,
  accepted: ReadonlyMap<string, Pick<ChainEnd, "count">>,
): Map<string, number> | undefined {
  const key = nameOf(sessionKey, 0, KEY_CHARACTERS);
  const isRevoked = revocations.of(key).length > 0;
  const cuts = new Map<string, number>();
  const raise = (chain: string, count: number) => {
    const incarnation = chain.slice(KEY_CHARACTERS);
    const inForce = isRevoked ? revocations.cutOf(chain) : 0;
    if (count > Math.max(inForce, cuts.get(incarnation) ?? 0)) {
      cuts.set(incarnation, count);
    }
  };
  for (const { name, length } of graph.chains()) {
    if (name.startsWith(key)) raise(name, length);
  }
  for (const [chain, { count }] of accepted) {
    if (chain.startsWith(key)) raise(chain, count);
  }
  return isRevoked && cuts.size === 0 ? undefined : cuts;
}
