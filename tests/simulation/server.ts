/**
 * The server: repositories opened on demand behind a host that takes
 * connections.
 *
 * @module
 */

import { checkGate } from "../../repo/admit.ts";
import { decodeBatch } from "../../repo/batch.ts";
import { chainBytes, nameOf } from "../../repo/commit.ts";
import type { Replica } from "../../repo/replica.ts";
import { cutsOf, issueRevocation } from "../../repo/revocation.ts";
import { countsOf, cutsToIssue } from "../../server/revocation_cuts.ts";
import { equalBytes, fromHex, toHex } from "../../src/base/bytes.ts";
import {
  type PeerSession,
  rights,
  type ServerProver,
} from "../../sync/conversation.ts";
import { SyncHost } from "../../sync/host.ts";
import type {
  Access,
  HostEvent,
  HostHooks,
  HostPeer,
} from "../../sync/host_hooks.ts";
import { Actor } from "./actor.ts";
import type { ActorWorld } from "./actor_world.ts";
import { mayRead } from "./allowed.ts";
import type { Client } from "./client.ts";
import type { Dice } from "./dice.ts";
import { Shelf } from "./shelf.ts";
import type { Stage } from "./stage.ts";

const KEY_CHARACTERS = 32;

/** See the file's header. */
export class Server extends Actor {
  #host: SyncHost | undefined;
  #shelf: Shelf | undefined;
  readonly #revoked = new Set<string>();
  /** Since when those are connected who have not shown who they are. */
  readonly unproved = new Map<number, number>();
  /** What it revoked, kept apart from its disk. */
  readonly revocations: {
    readonly name: string;
    readonly bytes: Uint8Array;
  }[] = [];
  /** Batches of revoked sessions that somebody else brought. */
  readonly #kept: { readonly name: string; readonly bytes: Uint8Array }[] = [];
  /** When its disk was lost last, in virtual milliseconds. */
  wipedMs = -Infinity;

  constructor(stage: Stage, dice: Dice) {
    super(stage, "s", dice);
    this.clock.offsetMs = 0;
  }

  /** What is open of a repository. */
  replica(name: string): Replica | undefined {
    return this.#shelf?.find(name)?.replica;
  }

  /** How many commits it has, over all open repositories. */
  get commits(): number {
    let commits = 0;
    for (const { replica } of this.#shelf?.all() ?? []) {
      commits += replica.graph.commits;
    }
    return commits;
  }

  protected open(world: ActorWorld): Promise<void> {
    const { network } = this.stage;
    this.#shelf = new Shelf(this, world);
    this.#host = new SyncHost({
      world,
      prover: this.#prover(),
      rootKey: this.stage.authority.root.publicKey,
      name: "sim",
      hooks: this.#hooks(world, this.#shelf),
    });
    network.listener = (transport, link) =>
      this.#host?.accept(transport, link.client);
    return Promise.resolve();
  }

  #prover(): ServerProver {
    const { issuer, serverCertificate } = this.stage.authority;
    return {
      publicKey: issuer.publicKey,
      certificates: [serverCertificate],
      sign: (message) => issuer.sign(message),
    };
  }

  #hooks(world: ActorWorld, shelf: Shelf): HostHooks {
    const { repositories } = this.stage;
    return {
      authorize: (_peer, session, repository) =>
        this.#authorize(session, repository),
      openRepository: async (name) => {
        if (!repositories.includes(name)) return undefined;
        const { replica, epoch } = await shelf.take(name);
        return {
          port: replica.port(),
          life: epoch,
          release: () => shelf.release(name),
        };
      },
      gate: (_peer, _name, batch) => checkGate(batch, world.now()),
      keeps: ({ session }, name, { bytes }, { refused }) => {
        if (refused !== "revoked") return false;
        this.#keep(session, name, bytes);
        return true;
      },
      event: (peer, event) => {
        if (!world.isDead) this.#heard(peer, event);
      },
    };
  }

  #authorize({ user, claims, key }: PeerSession, repository: string): Access {
    const { team } = JSON.parse(claims) as { team: string };
    if (!mayRead({ user, team, repository })) {
      return {
        declined: { code: "forbidden", detail: "You may not read this" },
      };
    }
    return {
      rights: this.#revoked.has(toHex(key))
        ? rights.write
        : rights.read | rights.write,
    };
  }

  /** A fault of the host is a failure, unless its disk was made to fail. */
  #heard(peer: HostPeer, event: HostEvent): void {
    const { kind } = event;
    if (kind === "proof") return this.#proven(event.name, event.summary);
    if (kind === "frame" || kind === "received") return;
    if (kind === "accepted") {
      this.unproved.set(peer.id, this.stage.timeline.nowMs);
    }
    if (kind === "ready" || kind === "ended") this.unproved.delete(peer.id);
    const who = `${peer.address}#${peer.id}`;
    if (kind === "fault") this.broke(event.error);
    else if (kind === "ended") {
      this.stage.trace.note(
        "s",
        kind,
        `${who} ${event.end.code}: ${event.end.detail}`,
      );
    } else if (kind === "refused") {
      const { refused, detail } = event.refusal;
      this.stage.trace.note(
        "s",
        "refuses",
        `${who} ${event.name} ${refused} ${detail ?? ""}`,
      );
    } else this.stage.trace.note("s", kind, who);
  }

  /** A repository is being closed; it must succeed as long as the disk does. */
  closes(closing: Promise<void>): void {
    this.guard(this.world, closing);
  }

  protected replicas(): Replica[] {
    return [...this.#shelf?.all() ?? []].map(({ replica }) => replica);
  }

  protected async shut(): Promise<void> {
    this.stage.network.listener = undefined;
    await this.#host?.close(this.dice.between(0, 2_000));
    await this.#shelf?.shut();
  }

  protected drop(isClean: boolean): void {
    this.#host = undefined;
    this.unproved.clear();
    this.#shelf = undefined;
    this.stage.network.listener = undefined;
    if (isClean) return;
    const client = this.dice.chance(0.7) ? "told" : "untold";
    this.stage.network.breakAll({ client, server: "dead" });
  }

  /** A session ends before its time: what it wrote until now stands, and nothing more. */
  revoke(client: Client): void {
    if (
      this.stage.plan.mode !== "default" || this.state !== "up" ||
      client.isRevoked
    ) return;
    client.isRevoked = true;
    const { trace, repositories, blames } = this.stage;
    blames.add("revoke");
    trace.note(this.name, "revoke", client.name);
    const { sessionKey: publicKey } = client.person;
    this.#revoked.add(toHex(publicKey));
    const { world } = this;
    const host = this.#host!;
    for (const name of repositories) {
      this.closes(this.#revokeIn(name, publicKey, world));
    }
    this.closes(
      host.reauthorize(({ session }) =>
        session !== undefined && equalBytes(session.key, publicKey)
      ),
    );
  }

  async #revokeIn(
    name: string,
    sessionKey: Uint8Array,
    world: ActorWorld,
  ): Promise<void> {
    const { replica } = await this.#shelf!.take(name);
    if (world.isDead) return;
    this.#issue(replica, sessionKey, cutsOf(replica.graph, sessionKey));
    this.#shelf!.release(name);
  }

  #issue(
    replica: Replica,
    sessionKey: Uint8Array,
    cuts: ReadonlyMap<string, number>,
  ): void {
    const { bytes } = issueRevocation({
      genesisId: replica.loaded.genesisId,
      sessionKey,
      cuts,
      wall: this.world.now(),
      reason: "simulated",
    }, this.stage.authority.issuer);
    this.revocations.push({ name: replica.name, bytes });
    replica.receive([{ kind: "revocation", bytes }]);
    replica.port().settle();
  }

  /** Keeps what others bring of a revoked session: they got it from a server that lost it. */
  #keep(
    session: PeerSession | undefined,
    name: string,
    bytes: Uint8Array,
  ): void {
    const { chain } = decodeBatch(bytes, true);
    const isOwn = session !== undefined &&
      nameOf(session.key, 0, KEY_CHARACTERS) === chain.slice(0, KEY_CHARACTERS);
    if (!isOwn) this.#kept.push({ name, bytes: bytes.slice() });
  }

  /** Somebody looks through what was kept, and accepts what others had; then everybody comes back. */
  acceptKept(): void {
    if (this.state !== "up" || this.#kept.length === 0) return;
    const { stage } = this;
    for (const { name, bytes } of this.#kept.splice(0)) {
      const replica = this.replica(name);
      if (replica === undefined) continue;
      const { chain, first, commits } = decodeBatch(bytes, true);
      const sessionKey = chainBytes(chain).subarray(0, KEY_CHARACTERS);
      const accepted = new Map([[chain, first + commits.length]]);
      const cuts = cutsToIssue(replica, sessionKey, accepted);
      stage.trace.note(this.name, "accept", `${name} ${first}`);
      if (cuts !== undefined) this.#issue(replica, sessionKey, cuts);
      replica.receive([{ kind: "signed", bytes }]);
      replica.port().settle();
    }
    stage.network.breakAll({ client: "told", server: "told" });
  }

  /** What a true witness saw had been accepted, so it stands, also of a session that was revoked since. */
  #proven(name: string, summary: Uint8Array): void {
    const replica = this.replica(name);
    if (replica === undefined) return;
    const accepted = countsOf(summary);
    for (const key of this.#revoked) {
      const sessionKey = fromHex(key);
      const cuts = cutsToIssue(replica, sessionKey, accepted);
      if (cuts === undefined) continue;
      this.stage.trace.note(this.name, "raise", `${name} ${key.slice(0, 8)}`);
      this.#issue(replica, sessionKey, cuts);
    }
  }

  /** Its disk is lost; another one comes, and the same root key. */
  wipe(): void {
    const { stage } = this;
    this.crash(true);
    this.disk.wipe();
    this.wipedMs = stage.timeline.nowMs;
    stage.blames.add("wipe");
    stage.trace.note(this.name, "wipe");
  }
}
