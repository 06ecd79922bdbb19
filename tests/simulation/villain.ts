/**
 * A certified user of one team who keeps no rule of ours: an honest login and
 * greeting, and then batches whose parents, ids, kinds, generations, chains and
 * clocks are his choice (`deeds.ts`), or others' that he overheard.
 *
 * What plain predicates forbid of it is nowhere: `checks/` ask that.
 *
 * @module
 */

import {
  createSigner,
  generateKeyPair,
  type Signer,
} from "../../crypto/mod.ts";
import { decodeBatch, payloadOf } from "../../repo/commit/batch.ts";
import { nameOf } from "../../repo/commit/commit.ts";
import type { VersionVector } from "../../repo/commit/version_vector.ts";
import type { Operation } from "../../src/schema/patch.ts";
import { decodePatch } from "../../src/schema/patch_codec.ts";
import { toHex } from "../../src/base/bytes.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { rights } from "../../sync/conversation.ts";
import type { WireRecord } from "../../sync/message.ts";
import { decodeMessage } from "../../sync/message_codec.ts";
import { creating, HostileChain, type HostileCommit } from "../kit/forge.ts";
import { genesisOf, RawPeer, type RawSession } from "../raw_peer.ts";
import { BEGIN_MS } from "./actor_world.ts";
import { deeds } from "./deeds.ts";
import { Mark } from "./collections.ts";
import type { Dice } from "./dice.ts";
import { check, CheckFailed } from "./failure.ts";
import { loginOver } from "./logins.ts";
import type { Link } from "./network.ts";
import type { Person } from "./people.ts";
import { type Persona, personasOf } from "./plan.ts";
import type { Server } from "./server.ts";
import type { Stage } from "./stage.ts";
import { recordKind } from "../../repo/log/format.ts";

/** Mean time between two visits. */
const EVERY_MS = 2_000;
/** How long a visit takes at most. */
const VISIT_MS = 5_000;
/** Records of others that it remembers. */
const REMEMBERED = 50;
/** Records that it relays in one visit. */
const RELAYED = 5;
/** Chains that it begins in one visit. */
const CHAINS = 15;
/** Kinds of frames that have records of others. */
const [PROVE, RECORDS] = [0x02, 0x20];
/** What only those hear who may read. */
const READ: ReadonlySet<string> = new Set([
  "records",
  "part",
  "live",
  "witness",
  "proof",
  "presence",
  "audited",
]);

/** A session of a villain. */
interface Session extends RawSession {
  readonly signer: Signer;
  /** Hexadecimal. */
  readonly key: string;
  /** By repository. */
  readonly chains: Map<string, HostileChain>;
}

/** See the file's header. */
export class Villain {
  readonly name: string;
  readonly person: Person;
  readonly link: Link;
  readonly #stage: Stage;
  readonly #server: Server;
  readonly #dice: Dice;
  #session: Session | undefined;
  /** Keys of its sessions, hexadecimal. */
  readonly keys: string[] = [];
  /** Was a session of its revoked? */
  isRevoked = false;
  /** Is it connected, or about to be? */
  isBusy = false;
  /** Was its session revoked when this visit began? */
  #isEnded = false;
  #incarnations = 0;
  readonly #overheard: WireRecord[] = [];

  constructor(stage: Stage, server: Server, index: number, dice: Dice) {
    this.name = `v${index}`;
    this.person = {
      user: `villain${index}`,
      team: dice.pick(["red", "blue"]),
    };
    this.#stage = stage;
    this.#server = server;
    this.#dice = dice;
    const lane = {
      delayMs: 5,
      jitterMs: 1,
      bytesPerMs: 1_000,
      isStalled: false,
    };
    this.link = stage.network.link(this.name, { ...lane }, { ...lane });
  }

  /** Comes again and again, as long as others work. */
  begin(): void {
    const { timeline, fail } = this.#stage;
    timeline.after(this.#dice.wait(EVERY_MS), () => {
      if (this.#stage.phase !== "work") return;
      this.isBusy = true;
      this.#visit(this.#dice.pick(personasOf(this.#stage.plan))).catch(fail)
        .finally(() => {
          this.isBusy = false;
          this.begin();
        });
    });
  }

  /** Overhears a frame that somebody sends to the server. */
  overhear(frame: Uint8Array): void {
    for (const record of recordsIn(frame)) {
      if (this.#overheard.length < REMEMBERED) this.#overheard.push(record);
      else this.#overheard[this.#dice.between(0, REMEMBERED - 1)] = record;
    }
  }

  /** Is sent a frame: who has no session any more reads nothing. */
  see(frame: Uint8Array): void {
    if (!this.#isEnded) return;
    const { is } = decodeMessage(frame);
    if (!READ.has(is)) return;
    const detail = `${this.name} is sent "${is}" after its end`;
    this.#stage.fail(new CheckFailed("revoked", detail));
  }

  #note(what: string, more = ""): void {
    this.#stage.trace.note(this.name, what, more);
  }

  /** Does one deed on a connection of its own. */
  async #visit(persona: Persona): Promise<void> {
    this.#note("deed", persona);
    try {
      const isOver = this.#session !== undefined &&
        this.#server.hasRevoked(this.#session.key);
      if (isOver && this.#dice.chance(0.5)) this.#session = undefined;
      if (persona === "comesBack") return await this.#comeBack();
      const session = this.#session ??= await this.#login();
      await this.#connected(
        session,
        (peer) => this.#act(persona, peer, session),
      );
    } catch (cause) {
      // The server may be down, or decline who floods.
      if (isUnreachable(cause)) this.#note("in-vain", persona);
      else throw cause;
    }
  }

  /** Talks for a while; whoever closes first ends it. */
  async #connected(
    session: Session,
    act: (peer: RawPeer) => Promise<void>,
  ): Promise<void> {
    const { network, timeline, authority: { root } } = this.#stage;
    const { signal } = new AbortController();
    const transport = await network.connect(this.link, signal);
    const leave = () => transport.close("", "");
    const stay = timeline.after(VISIT_MS, leave);
    this.#isEnded = this.#server.hasRevoked(session.key);
    const peer = new RawPeer({ rootKey: root.publicKey }, transport);
    try {
      await peer.prove(session);
      await act(peer);
    } catch (cause) {
      if (!peer.isOver) throw cause;
      this.#note("cut-off");
    } finally {
      stay();
      leave();
      this.#isEnded = false;
    }
  }

  async #login(): Promise<Session> {
    const { network, authority: { root } } = this.#stage;
    const { publicKey, secretKey } = generateKeyPair(this.#dice.fill);
    const signer = createSigner(secretKey);
    const { user, team } = this.person;
    const place = { network, link: this.link, isDead: () => false };
    const answer = await loginOver(place, {
      sessionKey: publicKey,
      credentials: { app: { user, claims: { team } } },
      rootKey: root.publicKey,
      nowMs: this.#nowMs,
      sign: (message) => signer.sign(message),
    });
    check(answer !== "key-taken", "login", () => "a new key is taken");
    const { certificate } = answer;
    const key = toHex(publicKey);
    this.keys.push(key);
    return { secretKey, signer, certificate, key, chains: new Map() };
  }

  get #nowMs(): number {
    return Math.floor(BEGIN_MS + this.#stage.timeline.nowMs);
  }

  /** Has its sessions revoked, with which it goes on for a while; then it logs in anew. */
  async #comeBack(): Promise<void> {
    this.#session ??= await this.#login();
    this.isRevoked = false;
    this.#server.revoke(this);
  }

  async #act(
    persona: Exclude<Persona, "comesBack">,
    peer: RawPeer,
    session: Session,
  ): Promise<void> {
    const { team, user } = this.person;
    const repository = this.#dice.pick(["public", `team/${team}`]);
    peer.open(1, repository);
    const opened = await peer.hear("opened", "declined");
    if (opened.is === "declined") return this.#note("declined", opened.code);
    if (persona === "relays") return await this.#relay(peer);
    if (persona === "floodsChains") {
      return await this.#flood(peer, session, repository);
    }
    const served = this.#server.replica(repository);
    if (served === undefined) return;
    const { hasSwaps } = this.#stage.plan;
    const [dice, nowMs] = [this.#dice, this.#nowMs];
    const key = nameOf(session.signer.publicKey, 0, 32);
    const scene = { dice, user, served, nowMs, hasSwaps, key };
    const commits = deeds[persona](scene);
    if (commits.length === 0) return;
    const mayRead = (opened.rights & rights.read) > 0;
    const known = mayRead ? opened.vector : undefined;
    const isFresh = persona.startsWith("dates");
    const chain = isFresh
      ? this.#chain(session, repository)
      : this.#chainIn(session, repository, known);
    await this.#hand(peer, chain, commits);
  }

  /**
   * The chain that it goes on with; a server that crashed may have less of it.
   * One that lost its disk takes another beginning, and who has the first one is
   * refused all that follows from it: nobody forks then.
   */
  #chainIn(
    session: Session,
    repository: string,
    known: VersionVector | undefined,
  ): HostileChain {
    let chain = session.chains.get(repository);
    if (chain === undefined) {
      chain = this.#chain(session, repository);
      session.chains.set(repository, chain);
    }
    const length = known?.get(chain.name) ?? 0;
    if (known === undefined || length >= chain.length) return chain;
    chain.cut(length);
    if (!this.#stage.blames.has("wipe")) return chain;
    session.chains.delete(repository);
    return this.#chainIn(session, repository, undefined);
  }

  #chain({ signer }: Session, repository: string): HostileChain {
    const { authority: { root } } = this.#stage;
    const genesisId = genesisOf({ rootKey: root.publicKey }, repository);
    return new HostileChain(genesisId, signer, ++this.#incarnations);
  }

  async #hand(
    peer: RawPeer,
    chain: HostileChain,
    commits: readonly HostileCommit[],
  ): Promise<void> {
    const refusal = await peer.hand(chain.batch(...commits));
    if (refusal === undefined) this.#stage.blames.add("villain");
    this.#note(refusal === undefined ? "taken" : `not-${refusal.reason}`);
    if (refusal !== undefined) chain.cut(refusal.from);
  }

  /** Hands in what is others': what was refused is judged anew then. */
  async #relay(peer: RawPeer): Promise<void> {
    for (let i = 0; i < RELAYED && this.#overheard.length > 0; i++) {
      const record = this.#dice.pick(this.#overheard);
      for (const mark of marksIn(record)) this.#stage.relayed.add(mark);
      const refusal = await peer.hand(record);
      this.#note(refusal === undefined ? "taken" : `not-${refusal.reason}`);
    }
  }

  /** Chains without end, each of one commit: empty, or one that he may write. */
  async #flood(
    peer: RawPeer,
    session: Session,
    repository: string,
  ): Promise<void> {
    for (let i = 0; i < CHAINS; i++) {
      const chain = this.#chain(session, repository);
      const operations = i === CHAINS - 1 ? [] : [flood(this.#incarnations)];
      await this.#hand(peer, chain, [{ wall: this.#nowMs, operations }]);
      if (chain.length === 0) break;
    }
  }
}

const floods = { collection: "flood", version: 1, fields: [] };

function flood(i: number): Operation {
  return creating({ shape: floods, id: `flood-${i}` }, {});
}

/** Batches and certificates of others in a frame; frames may be spoilt. */
function recordsIn(frame: Uint8Array): readonly WireRecord[] {
  if (frame[0] !== PROVE && frame[0] !== RECORDS) return [];
  try {
    const message = decodeMessage(frame);
    if (message.is === "records") {
      message.records.forEach(marksIn); // Spoilt ones are none.
      return message.records;
    }
    if (message.is !== "prove") return [];
    return message.certificates.map((bytes) => ({
      kind: recordKind.certificate,
      bytes,
    }));
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** Marks of the writes in a record. */
function marksIn({ kind, bytes }: WireRecord): string[] {
  if (kind !== recordKind.signedBatch) return [];
  const batch = decodeBatch(bytes, true);
  return batch.commits.flatMap((commit) =>
    decodePatch(payloadOf(batch, commit)).operations
      .filter(({ shape }) => shape.collection === Mark.name)
      .map(({ id }) => id)
  );
}

function isUnreachable(cause: unknown): boolean {
  return cause instanceof DatabaseError && cause.code === "unreachable" ||
    (cause as { readonly code?: unknown }).code === "unavailable";
}
