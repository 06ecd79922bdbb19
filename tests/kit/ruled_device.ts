/**
 * Devices for tests of rules: some obey them, some do not, one is the gate.
 *
 * @module
 */

import { servingDoor } from "../../repo/admission/serving_door.ts";
import {
  createSigner,
  generateKeyPair,
  type Signer,
} from "../../crypto/mod.ts";
import type { Judged } from "../../repo/admission/admit.ts";
import type { Arrival, Gate } from "../../repo/admission/arrival.ts";
import { issueCertificate } from "../../repo/commit/certificate.ts";
import { removeOldCheckpoints } from "../../repo/checkpoint/files.ts";
import { type Mode, parseRepositoryName } from "../../repo/commit/genesis.ts";
import { recordKind } from "../../repo/log/format.ts";
import { Replica } from "../../repo/replica.ts";
import {
  issueRevocation,
  type Revocation,
} from "../../repo/commit/revocation.ts";
import { ConstraintJudge, RuleGate } from "../../repo/admission/rule_gate.ts";
import { boundedPatches } from "../../repo/admission/merge_gate.ts";
import { type CommitJudge, judgeCommits } from "../../src/schema/judge.ts";
import { toHex } from "../../src/base/bytes.ts";
import { wallMax } from "../../src/base/hlc.ts";
import type { World } from "../../src/base/world.ts";
import { Editor } from "../../src/db/editor.ts";
import { field } from "../../src/schema/field.ts";
import { IdSource } from "../../src/schema/names.ts";
import type { Rules } from "../../src/schema/rules.ts";
import { defineSchema, type Schema } from "../../src/schema/schema.ts";
import { createView } from "../../src/schema/view.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import { seededRandom } from "./random.ts";
import { digestOf } from "./digest.ts";

/** What the devices write. */
export const Card = defineSchema("card", {
  title: field.string(),
  owner: field.string().default("nobody"),
  rank: field.number().default(0),
  votes: field.counter(),
  tags: field.set(field.string()),
});

const root = generateKeyPair(diceOf(1));
/** Signs for the root that all devices have. */
export const rootSigner: Signer = createSigner(root.secretKey);
const name = parseRepositoryName("team/acme");

/** Random bytes that follow from a seed. */
export function diceOf(seed: number): (target: Uint8Array) => void {
  const next = seededRandom(seed);
  return (target) => {
    for (let i = 0; i < target.length; i++) {
      target[i] = Math.floor(next() * 256);
    }
  };
}

/** Who a device belongs to, and what it obeys. */
export interface RuledOptions {
  /** Another number is another key. */
  readonly seed: number;
  /** One of four by its number when left out. */
  readonly user?: string;
  /** Its clock, wall milliseconds; one of its own when left out. */
  readonly now?: () => number;
  readonly rules?: Rules | undefined;
  /** Whose constraints it keeps. */
  readonly schemas?: readonly Schema[];
  /** How it reads other collections; without a schema where nothing is said. */
  readonly views?: readonly Schema[];
  /** How it reads cards; `null`: without a schema, as a server does. */
  readonly reading?: Schema | null;
  readonly claims?: string;
  readonly mayIssue?: boolean;
  /** How long its certificate is good for, wall milliseconds; for ever when left out. */
  readonly notAfter?: number;
  /** Does it begin without its certificate? */
  readonly isNew?: boolean;
  readonly mode?: Mode;
}

/** One device of a user. */
export class RuledDevice {
  readonly options: RuledOptions;
  readonly user: string;
  readonly key: Uint8Array;
  /** What its session is certified with, or will be. */
  readonly certificate: Uint8Array;
  readonly #storage = memoryStorage();
  readonly #world: World;
  readonly #session;
  #time = 1_800_000_000_000;
  replica!: Replica;
  editor!: Editor<typeof Card>;

  private constructor(options: RuledOptions) {
    const { seed, claims = "{}", mayIssue = false, notAfter = wallMax } =
      options;
    this.options = options;
    this.user = options.user ?? `user-${seed % 4}`;
    this.#world = {
      now: options.now ?? (() => this.#time += 1),
      monotonic: () => this.#time,
      random: diceOf(seed + 100),
      after: () => () => {},
    };
    const pair = generateKeyPair(this.#world.random);
    const fields = { mayIssue, claims, notBefore: 0, notAfter };
    const { bytes } = issueCertificate({
      ...fields,
      sessionKey: pair.publicKey,
      user: this.user,
    }, rootSigner);
    this.key = pair.publicKey;
    this.certificate = bytes;
    this.#session = {
      user: this.user,
      signer: createSigner(pair.secretKey),
      certificate: options.isNew ? undefined : bytes,
    };
  }

  /** Opens a device with an empty repository. */
  static open(options: RuledOptions): Promise<RuledDevice> {
    return new RuledDevice(options).#open();
  }

  async #open(): Promise<this> {
    const { rules, reading = Card, mode = "default", schemas = [] } =
      this.options;
    const { views = [] } = this.options;
    const schemaOf = (collection: string) =>
      views.find(({ name }) => name === collection) ?? reading ?? undefined;
    this.replica = await Replica.open({
      door: servingDoor,
      storage: this.#storage,
      world: this.#world,
      name,
      mode,
      isModeRequired: true,
      rootKey: root.publicKey,
      session: this.#session,
      isOriginal: true,
      rules,
      schemas,
      viewOf: (collection) => createView(schemaOf(collection)),
      repair: false,
      settle: () => Promise.resolve(),
    });
    this.editor = this.edit((reading ?? Card) as typeof Card);
    return this;
  }

  /** Writes items of a schema. */
  edit<S extends Schema>(schema: S): Editor<S> {
    const table = this.replica.state.table(schema.name);
    return new Editor(schema, table, new IdSource(this.#world));
  }

  /** Closes it and opens it again, by its checkpoint or by its log alone. */
  async reopen(by: "checkpoint" | "log" = "checkpoint"): Promise<void> {
    const { folder } = this.replica.loaded;
    await this.replica.close();
    if (by === "log") removeOldCheckpoints(this.#storage, folder);
    await this.#open();
  }

  /** Everything in its log, as it would travel. */
  records(): Arrival[] {
    this.replica.flush();
    const arrivals: Arrival[] = [];
    const { log } = this.replica.loaded;
    log.records(0, log.end, (kind, body) => {
      const bytes = body.slice();
      if (kind === recordKind.certificate) {
        arrivals.push({ kind: recordKind.certificate, bytes });
      } else if (kind === recordKind.signedBatch) {
        arrivals.push({ kind: recordKind.signedBatch, bytes });
      } else if (kind === recordKind.revocation) {
        arrivals.push({ kind: recordKind.revocation, bytes });
      }
    });
    return arrivals;
  }

  /** Takes what authors send, as a server does: asks rules and constraints, in the order in which it comes. */
  accept(arrivals: readonly Arrival[], more: Gate = () => undefined): Judged[] {
    const { loaded, state } = this.replica;
    const rules = this.options.rules?.of(name);
    const rulesAt = rules && new RuleGate(rules, loaded);
    return this.replica.receive(arrivals, {
      gate: (batch, from, decode) => {
        const rules = rulesAt?.judgeOf(batch.chain, this.#time);
        const judges: CommitJudge[] = rules === undefined ? [] : [rules];
        const { constraints } = loaded;
        if (constraints) judges.push(new ConstraintJudge(constraints));
        const patches = decode(boundedPatches);
        if ("refused" in patches) return patches;
        return more(batch, from, decode) ??
          judgeCommits(batch, from, patches, state, judges);
      },
    });
  }

  /** Takes what somebody sends that was accepted. */
  take(arrivals: readonly Arrival[]): Judged[] {
    return this.replica.receive(arrivals);
  }

  /** A revocation of this device's session that lets these commits stand. */
  revoked(cuts: ReadonlyMap<string, number>, reason = "lost"): Revocation {
    return issueRevocation({
      genesisId: this.replica.loaded.genesisId,
      sessionKey: this.key,
      cuts,
      wall: this.#time,
      reason,
    }, rootSigner);
  }

  /** What it holds: items and commits, each as one hash. */
  digests(): [string, string] {
    this.replica.flush();
    this.replica.commits.hashFrom(0);
    const { state, graph } = this.replica;
    return [toHex(digestOf(state)), toHex(graph.summary()!)];
  }

  /** The field of a card. */
  get(id: string, name: string): unknown {
    return this.editor.table.cellOf(id)?.item?.[name];
  }

  /** Creates a card, or changes some of its fields. */
  put(id: string, fields: Record<string, unknown>): void {
    const { editor, replica } = this;
    replica.transact((tx) => {
      if (editor.get(tx, id) === undefined) {
        editor.create(tx, { id, title: "new", ...fields } as never);
      } else editor.update(tx, id, fields as never);
    });
  }

  /** Deletes a card. */
  remove(id: string): void {
    this.replica.transact((tx) => this.editor.delete(tx, id));
  }
}
