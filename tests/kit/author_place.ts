/**
 * A device whose writes may be refused: its replica, its files, and fresh
 * replicas that are told what is left of its log.
 *
 * @module
 */

import { indexedDoor } from "../../repo/admission/serving_door.ts";
import { deepEqual, equal } from "node:assert/strict";
import { createSigner, generateKeyPair } from "../../crypto/mod.ts";
import { issueCertificate } from "../../repo/commit/certificate.ts";
import { type Mode, parseRepositoryName } from "../../repo/commit/genesis.ts";
import { nameOf, type Position } from "../../repo/commit/commit.ts";
import { issueRevocation } from "../../repo/commit/revocation.ts";
import { recordKind } from "../../repo/log/format.ts";
import type {
  CommitPlace,
  Cut,
  RefusedCommit,
} from "../../repo/refusal/void_commits.ts";
import { Replica } from "../../repo/replica.ts";
import type { Transaction } from "../../repo/write/transaction.ts";
import { verifyReplica } from "../../repo/repair/verify.ts";
import { toHex } from "../../src/base/bytes.ts";
import { crc32 } from "../../src/base/crc32.ts";
import { wallMax } from "../../src/base/hlc.ts";
import { Editor } from "../../src/db/editor.ts";
import { field } from "../../src/text/mod.ts";
import { IdSource } from "../../src/schema/names.ts";
import { defineSchema } from "../../src/schema/schema.ts";
import { createView } from "../../src/schema/view.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { type Files, filesOf, restored } from "./images.ts";
import { steadyWorld } from "./small_database.ts";
import { digestOf, headsOf } from "./digest.ts";

/** Items with every kind of field that merges in its own way. */
export const Leaf = defineSchema("leaf", {
  title: field.string().default(""),
  rank: field.number().default(0),
  tags: field.set(field.string()),
  votes: field.counter(),
  steps: field.list(field.string()),
  notes: field.map(field.string()),
  body: field.text(),
}, { indexes: [["rank"]] });

const root = generateKeyPair(steadyWorld(1).random);
const name = parseRepositoryName("tree");
const view = createView(Leaf);

/** How a place is made. */
export interface AuthorPlaceOptions {
  readonly seed?: number;
  readonly mode?: Mode;
  readonly files?: Files;
  /** Where it lies, instead of on files. */
  readonly storage?: Storage | undefined;
  /** Another number is another session key of the same device. */
  readonly key?: number;
  readonly repair?: boolean;
}

/** One device. */
export class AuthorPlace {
  readonly storage: Storage;
  readonly replica: Replica;
  readonly editor: Editor<typeof Leaf>;
  readonly options: AuthorPlaceOptions;

  private constructor(
    options: AuthorPlaceOptions,
    storage: Storage,
    replica: Replica,
    editor: Editor<typeof Leaf>,
  ) {
    this.options = options;
    this.storage = storage;
    this.replica = replica;
    this.editor = editor;
  }

  /** Opens a device on files, or on nothing. */
  static async open(options: AuthorPlaceOptions = {}): Promise<AuthorPlace> {
    const { seed = 1, mode = "default", files = [], key = 0 } = options;
    const storage = options.storage ?? restored(files);
    // Every opening has dice of its own, as it would have.
    const dice = files.reduce(
      (crc, [, bytes]) => crc32(bytes, crc),
      seed + key,
    );
    const world = steadyWorld(dice);
    const replica = await Replica.open({
      door: indexedDoor,
      storage,
      world,
      name,
      mode,
      isModeRequired: true,
      rootKey: root.publicKey,
      session: sessionOf(seed, key),
      isOriginal: true,
      viewOf: () => view,
      repair: options.repair === true,
      settle: () => Promise.resolve(),
    });
    const table = replica.state.table(Leaf.name);
    const editor = new Editor(Leaf, table, new IdSource(world));
    return new AuthorPlace(options, storage, replica, editor);
  }

  /** What a process finds that starts when this one has died. */
  reopened(more: AuthorPlaceOptions = {}): Promise<AuthorPlace> {
    const files = filesOf(this.storage);
    const options = { ...this.options, storage: undefined, files };
    return AuthorPlace.open({ ...options, ...more });
  }

  /** Its key, as the chains that it signs begin. */
  get keyName(): string {
    const { seed = 1, key = 0 } = this.options;
    return nameOf(sessionOf(seed, key).signer.publicKey, 0, 32);
  }

  /** Writes one commit. */
  write(run: (tx: Transaction, leaves: Editor<typeof Leaf>) => void) {
    return this.replica.transact((tx) => run(tx, this.editor));
  }

  /** Writes one commit that makes or changes one item. */
  put(id: string, title: string) {
    return this.write((tx, leaves) => void leaves.upsert(tx, { id, title }));
  }

  /** The item as readers see it. */
  get(id: string) {
    return this.editor.table.cellOf(id)?.item;
  }

  /** The name of the chain that the last commit is in, and how many it has. */
  get last(): { chain: string; length: number } {
    const { commit } = this.write((tx, leaves) => {
      leaves.upsert(tx, { id: "probe", title: "probe" });
    });
    return { chain: commit!.chain, length: commit!.number + 1 };
  }

  /** The digest of all items. */
  digest(): string {
    return toHex(digestOf(this.replica.state));
  }

  /** A new device that is told everything that this one may share. */
  async peer(): Promise<AuthorPlace> {
    const { mode = "default" } = this.options;
    const peer = await AuthorPlace.open({ mode, seed: 99 });
    await this.tell(peer);
    return peer;
  }

  /** Tells another device everything that this one may share. */
  async tell(peer: AuthorPlace): Promise<void> {
    await this.replica.durable();
    const port = this.replica.port();
    await new Promise((resolve) => setTimeout(resolve, 0)); // Fast mode marks its log.
    const arrivals = port.credentials().map(({ kind, bytes }) => ({
      kind,
      bytes,
    }));
    for (let at = 0;;) {
      const { records, next } = port.read(at, 1 << 20);
      arrivals.push(...records.map(({ kind, bytes }) => ({ kind, bytes })));
      if (next === at) break;
      at = next;
    }
    const verdicts = peer.replica.port().receive(arrivals)
      .map(({ verdict }) => verdict);
    for (const verdict of verdicts) {
      equal(
        verdict.verdict === "refuse"
          ? `${verdict.refusal.refused} ${verdict.refusal.detail}`
          : "",
        "",
      );
    }
    await peer.replica.redacted;
    await peer.replica.durable();
  }

  /** Erases what was ever said of some items, for everybody. */
  redact(ids: readonly string[]): Promise<number> {
    const items = ids.map((id) => ({ collection: Leaf.name, id }));
    return this.replica.redact(items, createSigner(root.secretKey), "asked");
  }

  /** Ends another device's session: what is here of it stays, and the rest is refused. */
  async revoke({ replica: { graph }, options }: AuthorPlace): Promise<Cut[]> {
    const { signer } = sessionOf(options.seed ?? 1, options.key ?? 0);
    const key = nameOf(signer.publicKey, 0, 32);
    const cuts = new Map<string, number>();
    for (const { name } of graph.chains()) {
      if (!name.startsWith(key)) continue;
      cuts.set(name.slice(32), this.replica.graph.lengthOf(name));
    }
    const { bytes } = issueRevocation({
      genesisId: this.replica.loaded.genesisId,
      sessionKey: signer.publicKey,
      ...{ cuts, wall: 1, reason: "lost" },
    }, createSigner(root.secretKey));
    const [judged] = this.replica.port().receive([
      { kind: recordKind.revocation, bytes },
    ]);
    equal(judged!.verdict.verdict, "admit-credential");
    await this.replica.durable();
    return Array.from(cuts, ([incarnation, from]) => ({
      chain: `${key}${incarnation}`,
      from,
    }));
  }

  /** Where a commit stands now that was written here. */
  placeOf(commit: Position): CommitPlace {
    return this.replica.loaded.voided.placeOf(commit);
  }

  /** Everything that replicas with the same commits agree on. */
  async knowledge() {
    await this.replica.durable();
    const { graph } = this.replica;
    this.replica.commits.hashFrom(0);
    return {
      state: this.digest(),
      ids: this.editor.table.ids().sort(),
      count: this.editor.table.count,
      heads: headsOf(graph),
      clock: { wall: graph.clock.wall, count: graph.clock.count },
      commits: graph.commits,
      vector: [...graph.vector()].sort(),
      digest: toHex(graph.summary()!),
    };
  }

  /** This device, a fresh one that was told what is left, and one that starts over agree. */
  async agrees(what: string): Promise<void> {
    const known = await this.knowledge();
    const peer = await (await this.peer()).knowledge();
    const { lost } = this.replica.status().recovery;
    // What a repair salvaged shows here and is told to nobody.
    const { state, ids, count } = lost === undefined ? peer : known;
    deepEqual({ ...peer, state, ids, count }, known, `${what}: a peer`);
    const again = await this.reopened();
    // Fast mode begins a new chain after an unclean end: only the state is the same.
    const isFast = this.options.mode === "fast";
    const knownAgain = await again.knowledge();
    if (isFast) deepEqual(knownAgain.state, known.state, what);
    else deepEqual(knownAgain, known, `${what}: opened again`);
    deepEqual(
      again.replica.refusals().map(shown),
      this.replica.refusals().map(shown),
      `${what}: refusals`,
    );
    const report = await verifyReplica(
      again.replica.loaded,
      {},
      () => Promise.resolve(),
    );
    equal(report.damage?.reason, undefined, what);
  }
}

/** A refusal, for comparing. */
function shown(entry: ReturnType<Replica["refusals"]>[number]) {
  const { chain, number, wall, reason, rule, detail, kept, patch } = entry;
  const operations = patch.operations.map(({ what, id }) => `${what} ${id}`);
  return { chain, number, wall, reason, rule, detail, kept, operations };
}

/** What a server says of a commit. */
export function refusedAt(number: number): RefusedCommit {
  return {
    number,
    reason: "denied",
    rule: "tree leaf.update",
    detail: `not ${number}`,
    kept: false,
  };
}

function sessionOf(seed: number, key: number) {
  const pair = generateKeyPair(steadyWorld(seed * 100 + key + 7).random);
  const { bytes } = issueCertificate({
    sessionKey: pair.publicKey,
    user: `user-${seed}`,
    claims: "{}",
    mayIssue: false,
    notBefore: 0,
    notAfter: wallMax,
  }, createSigner(root.secretKey));
  return {
    user: `user-${seed}`,
    signer: createSigner(pair.secretKey),
    certificate: bytes,
  };
}
