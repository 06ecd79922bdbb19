/**
 * What the server answers its host: who is welcome, what they may do, how much
 * they may cost, what is kept.
 *
 * Architecture invariant: read right before reconciliation (law 8): a right is
 * a function of session and name; nothing here looks whether there is such a
 * repository. Clock, quota and rate are asked here and nowhere else (law 7).
 */

import { getOrMake } from "../src/base/collections.ts";
import { equalBytes, readable, toHex } from "../src/base/bytes.ts";
import { assert, type Refusal, refuse } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { World } from "../src/base/world.ts";
import { partsOf } from "../src/schema/parts.ts";
import {
  countOperations,
  type DecodedPatch,
} from "../src/schema/patch_codec.ts";
import type { RuleClaims } from "../src/schema/rule_types.ts";
import { patchesOf } from "../repo/admission/admit.ts";
import type { Arrival, Gate } from "../repo/admission/arrival.ts";
import { type Batch, batchIn, payloadOf } from "../repo/commit/batch.ts";
import type { Certificate } from "../repo/commit/certificate.ts";
import { chainBytes, chainName, nameOf } from "../repo/commit/commit.ts";
import {
  type Credential,
  decodeCredential,
  isCredential,
} from "../repo/commit/credentials.ts";
import type { Redaction } from "../repo/commit/redaction.ts";
import { batchLeft } from "../repo/redaction/erased.ts";
import { retiredBy, type Retirement } from "../repo/commit/retirement.ts";
import type { Void } from "../repo/commit/void.ts";
import {
  isBatch,
  type Mode,
  recordKind,
  type Replica,
  type RepositoryName,
} from "../repo/mod.ts";
import { boundedPatches } from "../repo/admission/merge_gate.ts";
import { encodeGenesis, genesisId } from "../repo/commit/genesis.ts";
import { rights } from "../sync/conversation.ts";
import type { PeerSession } from "../sync/proof.ts";
import type {
  Access,
  Declined,
  HostedRepository,
  HostEvent,
  HostHooks,
  HostPeer,
} from "../sync/host_hooks.ts";
import type { Connections } from "./connections.ts";
import type { Hub } from "./hub.ts";
import type { Judge } from "./judge.ts";
import type { Quotas } from "./options.ts";
import { ChainGate } from "./chain_gate.ts";
import type { Quarantine } from "./quarantine.ts";
import { ChainStaging, type RestoreReport } from "./restore_report.ts";
import { Buckets, perMinute } from "./quotas.ts";
import { forbidden, type Readers } from "./readers.ts";
import type { RevocationList } from "./revocations.ts";
import type { Sessions } from "./sessions.ts";
import type { Tracing } from "./tracing.ts";

export interface HookParts {
  readonly hub: Hub;
  readonly readers: Readers | undefined;
  readonly judge: Judge;
  readonly restores: RestoreReport;
  readonly sessions: Sessions;
  readonly revocations: RevocationList;
  readonly quarantine: Quarantine;
  readonly quotas: Quotas;
  readonly world: World;
  readonly tracing: Tracing;
  readonly rootKey: Uint8Array;
  readonly mode: Mode;
  readonly isFull: () => boolean;
  readonly shed: (name: RepositoryName) => void;
  /** Counts connections, and hears what becomes of them. */
  readonly connections: Pick<Connections, "prove" | "hear">;
}

/** A bucket holds this many seconds' worth. */
const BURST_SECONDS = 10;
/** An address may cost as much as so many sessions. */
const SESSIONS_PER_ADDRESS = 4;
/** Milliseconds of work a second that frames of a session may cost besides records; an address, twice that. */
const WORK_MS = 200;
/** Who owes more than this ignored that credit was held back. */
const DEBT_MS_MAX = 60_000;
const KEY_CHARACTERS = 32;
/** As how many more commits a batch counts that holds too much. */
const EXTRA_MAX = limits.nodesMax / limits.foldPartsPerCommit;

export class ServerHooks implements Required<HostHooks> {
  readonly #parts: HookParts;
  readonly #commits: Buckets;
  readonly #bytes: Buckets;
  readonly #addressBytes: Buckets;
  readonly #begun: Buckets;
  readonly #addressBegun: Buckets;
  readonly #chains: ChainGate;
  readonly #work: Buckets;
  readonly #addressWork: Buckets;
  /** Parsed claims; one object per proof. */
  readonly #claims = new WeakMap<PeerSession, RuleClaims>();

  constructor(parts: HookParts) {
    this.#parts = parts;
    const { commitsPerSecond, bytesPerSecond } = parts.quotas;
    this.#commits = bucketsOf(commitsPerSecond);
    this.#bytes = bucketsOf(bytesPerSecond);
    this.#addressBytes = bucketsOf(bytesPerSecond * SESSIONS_PER_ADDRESS);
    const { repositoriesPerMinute, chainsPerMinute } = parts.quotas;
    this.#chains = new ChainGate(chainsPerMinute);
    this.#work = new Buckets({ perSecond: WORK_MS, burst: 2 * WORK_MS });
    this.#addressWork = new Buckets({
      perSecond: 2 * WORK_MS,
      burst: 4 * WORK_MS,
    });
    this.#begun = perMinute(repositoriesPerMinute);
    this.#addressBegun = perMinute(
      repositoriesPerMinute * SESSIONS_PER_ADDRESS,
    );
  }

  /** Remembers who comes; a session has so many connections at most. */
  admits(peer: HostPeer, session: PeerSession): Declined | undefined {
    const { sessions, revocations, quotas, connections } = this.#parts;
    const key = toHex(session.key);
    if (connections.prove(peer, session) > quotas.connectionsPerSession) {
      return {
        code: "too-many-connections",
        detail: "This session has too many connections",
      };
    }
    const { user, notAfter } = session;
    const isRevoked = revocations.ends({ sessionKey: key, user, notAfter });
    // No rule is asked of what a server brings: one that is revoked brings nothing.
    if (isRevoked && session.mayIssue) {
      return { code: "forbidden", detail: "This server's session was revoked" };
    }
    if (!session.mayIssue) {
      sessions.learn(key, session);
    }
    return undefined;
  }

  /** A function of session and name; of what is stored only where the rules look there. */
  authorize(
    peer: HostPeer,
    session: PeerSession,
    name: RepositoryName,
  ): Access | Promise<Access> {
    const { readers, revocations } = this.#parts;
    if (name.startsWith("_")) return forbidden("It is the server's own");
    const key = toHex(session.key);
    const given = revocations.has(key) ? HAND_IN : ALL;
    if (readers === undefined || session.mayIssue) return given;
    const asked = { user: session.user, claims: this.#claimsOf(session), key };
    const access = readers.authorize(asked, name, given);
    const limit = (access: Access) => this.#limited(access, peer, name);
    return access instanceof Promise ? access.then(limit) : limit(access);
  }

  /**
   * What an author gives up, or ends, takes room as his commits do; what is known of it, he
   * shows again for nothing. Of a revoked one it is taken where a commit needs it
   * that was accepted and is to come back.
   */
  wants(
    peer: HostPeer,
    name: RepositoryName,
    arrival: Arrival,
  ): Refusal | undefined {
    const replica = this.#parts.hub.replicaOf(name);
    const said = credentialIn(arrival);
    if (replica !== undefined && said !== undefined) {
      if (replica.loaded.credentials.has(said)) return undefined;
      const refusal = this.#objectsTo(replica, said);
      if (refusal !== undefined) return refusal;
    }
    const takesRoom = arrival.kind === recordKind.void ||
      arrival.kind === recordKind.retirement;
    return takesRoom && peer.session?.mayIssue === false
      ? this.#checkQuota(peer, name, 1)
      : undefined;
  }

  #objectsTo(replica: Replica, said: Credential): Refusal | undefined {
    if (said.what === "redaction") {
      return this.#checkRedactor(replica, said.one);
    }
    if (said.what === "retirement") return this.#checkEnds(replica, said.one);
    return said.what === "void" && this.#isInVain(replica, said.one)
      ? refuse("revoked", "The session that gave it up was revoked")
      : undefined;
  }

  /** A stolen key erases nothing more: its dates do not keep it from that, as it writes them itself. */
  #checkRedactor(
    replica: Replica,
    { issuerKey }: Redaction,
  ): Refusal | undefined {
    const issuer = nameOf(issuerKey, 0, KEY_CHARACTERS);
    return this.#parts.revocations.endsAuthor(replica, issuer)
      ? refuse("revoked", "The session that signed it was revoked")
      : undefined;
  }

  /** Where a session was ended by others it ends nothing; nor is a chain shorter than what is to come back of it. */
  #checkEnds(replica: Replica, one: Retirement): Refusal | undefined {
    const { revocations, restores } = this.#parts;
    const author = nameOf(one.issuerKey, 0, KEY_CHARACTERS);
    if (revocations.endsAuthor(replica, author)) {
      return refuse("revoked", "The session that ends its chains was revoked");
    }
    const isShort = retiredBy(one).some(({ chain, length }) =>
      length < (restores.accepted(replica.name, chain)?.count ?? 0)
    );
    return isShort
      ? refuse("fork", "A chain that it ends was longer")
      : undefined;
  }

  /** Was its author revoked, and may none of its commits that it gives up come any more? */
  #isInVain(replica: Replica, one: Void): boolean {
    const { revocations, hub, restores } = this.#parts;
    const { name, graph, loaded: { credentials } } = replica;
    const chain = chainName(one.chain);
    const author = chain.slice(0, KEY_CHARACTERS);
    if (!revocations.endsAuthor(replica, author)) return false;
    const cut = hub.hasRecord(name, author)
      ? credentials.revocations.cutOf(chain)
      : 0;
    const end = Math.max(cut, restores.accepted(name, chain)?.count ?? 0);
    const known = credentials.voids.numbersOf(chain);
    const here = graph.lengthOf(chain);
    return one.ranges.every(({ first, count }) =>
      known.covers(Math.max(first, here), Math.min(first + count, end))
    );
  }

  /** Who only restores brings what is proved, and certificates of those who wrote it. */
  #limited(access: Access, peer: HostPeer, name: RepositoryName): Access {
    if ("declined" in access) return access;
    if ((access.rights & rights.restore) === 0) return access;
    const { restores } = this.#parts;
    const isProved = ({ kind, bytes }: Arrival, chain: string) =>
      chain === ""
        ? kind !== recordKind.certificate || restores.proves(name, bytes)
        : restores.accepted(name, chain) !== undefined;
    return {
      ...access,
      gate: (...asked) => this.#gate(peer, name, true, ...asked),
      wants: (arrival, chain) =>
        isProved(arrival, chain) ? this.wants(peer, name, arrival) : UNWANTED,
    };
  }

  /** Nothing is begun for a client of another mode, nor for who begins too many. */
  begins(
    { address }: HostPeer,
    { key }: PeerSession,
    name: RepositoryName,
    asked: Uint8Array,
  ): Declined | undefined {
    const { hub, rootKey, mode, world } = this.#parts;
    if (hub.has(name)) return undefined;
    const id = genesisId(encodeGenesis({ name, rootKey, mode }));
    if (!equalBytes(asked, id)) {
      const detail = `New repositories are in "${mode}" mode here`;
      return { code: "mode-mismatch", detail };
    }
    const nowMs = world.monotonic();
    const may = this.#begun.tryTake(toHex(key), 1, nowMs) &&
      this.#addressBegun.tryTake(address, 1, nowMs);
    if (may) return undefined;
    const detail = "Too many new repositories: wait a while";
    return { code: "rate-limited", detail };
  }

  openRepository(name: RepositoryName): Promise<HostedRepository> {
    const { hub, judge, tracing } = this.#parts;
    const attributes = { "sheaf.repository": name };
    return tracing.span("sheaf.open", attributes, async () => {
      const hosted = await hub.open(name);
      // A server that stops meanwhile has it no more.
      const replica = hub.replicaOf(name);
      return { ...hosted, enforced: replica ? judge.enforced(replica) : [] };
    });
  }

  staging(name: RepositoryName): ChainStaging | undefined {
    const { hub, restores } = this.#parts;
    const replica = hub.replicaOf(name);
    return replica && new ChainStaging(replica, restores);
  }

  isRevoked({ sessionKey, user, notAfter }: Certificate): boolean {
    const { revocations } = this.#parts;
    return revocations.ends({ sessionKey: toHex(sessionKey), user, notAfter });
  }

  event(peer: HostPeer, event: HostEvent): void {
    this.#parts.connections.hear(peer, event);
  }

  /** Asked once of every sound new batch. */
  gate(
    peer: HostPeer,
    name: RepositoryName,
    ...asked: Parameters<Gate>
  ): Refusal | undefined {
    return this.#gate(peer, name, false, ...asked);
  }

  #gate(
    peer: HostPeer,
    name: RepositoryName,
    isRestoring: boolean,
    ...[batch, from, decode]: Parameters<Gate>
  ): Refusal | undefined {
    const { revocations, hub, judge, world } = this.#parts;
    const replica = hub.replicaOf(name);
    const { session } = peer;
    assert(replica !== undefined, "what a peer writes to is open");
    assert(session !== undefined, "who writes has proved who it is");
    const author = batch.chain.slice(0, KEY_CHARACTERS);
    if (
      revocations.endsAuthor(replica, author) && !hub.hasRecord(name, author)
    ) {
      return refuse("revoked", "The session that wrote it was revoked");
    }
    const quota = this.#checkQuota(peer, name, batch.commits.length);
    if (quota !== undefined) return quota;
    const { graph } = replica;
    const proved = judge.proved(replica, batch, from);
    if (typeof proved === "object") return proved;
    // What nobody proves may be larger than anything that was ever accepted.
    const isBack = batch.first + batch.commits.length <= proved;
    const patches = decode(isBack ? patchesOf : boundedPatches);
    const extra = "refused" in patches ? EXTRA_MAX : extraOf(patches);
    this.#commits.take(sessionOf(peer), extra, world.monotonic());
    if ("refused" in patches) return patches;
    const odd = this.#chains.check(replica, batch, from, patches, proved);
    if (odd !== undefined) return odd;
    const by = session.mayIssue ? "issuer" : session;
    const refusal = judge.judge(
      replica,
      isRestoring ? "restorer" : by,
      batch,
      from,
      () => patches,
    );
    // What rules read of large fields for it counts as commits.
    const read = judge.partsRead / limits.ruleReadPartsPerCommit;
    this.#commits.take(sessionOf(peer), read, world.monotonic());
    return refusal ?? this.#chains.begin(
      graph,
      batch,
      proved,
      sessionOf(peer),
      world.monotonic(),
    );
  }

  #checkQuota(
    peer: HostPeer,
    name: RepositoryName,
    commits: number,
  ): Refusal | undefined {
    const { world, quotas, hub } = this.#parts;
    if (!this.hasRoom(name)) {
      return refuse("quota", "The server's memory is full");
    }
    if (hub.logBytes(name) > quotas.repositoryBytes) {
      return refuse("quota", "The repository is full");
    }
    const who = sessionOf(peer);
    const nowMs = world.monotonic();
    const owedMs = this.#commits.take(who, 0, nowMs);
    if (owedMs > DEBT_MS_MAX) {
      const seconds = Math.ceil(owedMs / 1_000);
      return refuse("quota", `Come back in ${seconds} seconds`);
    }
    // A batch counts whole, however large: who owes for it waits afterwards.
    this.#commits.take(who, commits, nowMs);
    return undefined;
  }

  /** Where there is no memory for more, what is for this repository is given back. */
  hasRoom(name: RepositoryName): boolean {
    const { isFull, shed } = this.#parts;
    const isShort = isFull();
    if (isShort) shed(name);
    return !isShort;
  }

  /**
   * What a revoked session wrote is kept, also where somebody else brings it:
   * who has it got it from a server, maybe from one that has lost it since.
   */
  keeps(
    { session }: HostPeer,
    name: RepositoryName,
    { kind, bytes }: Arrival,
    { refused, detail }: Refusal,
  ): boolean {
    if (kind === recordKind.certificate && refused === "bad-certificate") {
      const replica = this.#parts.hub.replicaOf(name);
      if (replica !== undefined) this.#parts.sessions.refused(replica, bytes);
    }
    if (refused !== "revoked" || session === undefined || !isBatch(kind)) {
      return false;
    }
    const { hub } = this.#parts;
    const replica = hub.replicaOf(name);
    const batch = replica &&
      batchLeft(
        replica.loaded.credentials.redactions,
        batchIn(kind, bytes)!,
      );
    if (batch === undefined || isEmpty(batch)) return false;
    const { chain, first, commits } = batch;
    const bytesOfChain = chainBytes(chain);
    const author = toHex(bytesOfChain.subarray(0, KEY_CHARACTERS));
    const user = author === toHex(session.key)
      ? session.user
      : replica?.userOf(chain, commits[0]!.wall) ?? "";
    return this.#parts.quarantine.keep({
      repository: name,
      chain: toHex(bytesOfChain),
      first,
      count: commits.length,
      user,
      reason: detail ?? refused,
      signed: kind === recordKind.signedBatch,
      bytes: batch.bytes,
    });
  }

  /** Held-back credit comes before any refusal. */
  creditDelay(peer: HostPeer, bytes: number): number {
    const nowMs = this.#parts.world.monotonic();
    const session = sessionOf(peer);
    return Math.max(
      this.#bytes.take(session, bytes, nowMs),
      this.#addressBytes.take(peer.address, bytes, nowMs),
      this.#commits.take(session, 0, nowMs),
    );
  }

  /** A session may cost a part of each second. */
  workDelay(peer: HostPeer, workMs: number): number {
    const nowMs = this.#parts.world.monotonic();
    return Math.max(
      this.#work.take(sessionOf(peer), workMs, nowMs),
      this.#addressWork.take(peer.address, workMs, nowMs),
    );
  }

  #claimsOf(session: PeerSession): RuleClaims {
    // Proof: a certificate's claims are a JSON object, or it is none.
    return getOrMake(
      this.#claims,
      session,
      () => Object.freeze(JSON.parse(session.claims)) as RuleClaims,
    );
  }
}

const HAND_IN = { rights: rights.write };
const ALL = { rights: rights.read | rights.write };
const UNWANTED = refuse("restoring", "Nothing proves that it was here");

function bucketsOf(perSecond: number): Buckets {
  return new Buckets({ perSecond, burst: perSecond * BURST_SECONDS });
}

/** As how many more commits those count that take much folding. */
function extraOf(patches: readonly DecodedPatch[]): number {
  let extra = 0;
  for (const { operations } of patches) {
    const parts = operations.reduce((sum, one) => sum + partsOf(one), 0);
    extra += Math.floor(parts / limits.foldPartsPerCommit);
  }
  return extra;
}

/** The credential that a record is; `undefined` where it is none, or the door refuses it. */
function credentialIn({ kind, bytes }: Arrival): Credential | undefined {
  if (!isCredential(kind)) return undefined;
  return readable(() => decodeCredential(kind, bytes));
}

/** Is there nothing to decide on: nothing that it changes, or a patch that cannot be read? */
function isEmpty(batch: Batch): boolean {
  const counts = readable(() =>
    batch.commits.map((commit) => countOperations(payloadOf(batch, commit)))
  );
  return counts === undefined || counts.every((count) => count === 0);
}

/** Whose bucket it is. */
function sessionOf({ session, address }: HostPeer): string {
  return session === undefined ? address : toHex(session.key);
}
