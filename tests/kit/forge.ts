/**
 * Batches as a peer makes them that has a key and keeps no rule.
 *
 * @module
 */

import { noneErased } from "./chain.ts";
import type { Signer } from "../../crypto/mod.ts";
import { decodeBatch, withVoid, writeBatch } from "../../repo/commit/batch.ts";
import { writeSealedBatch } from "./chain.ts";
import { stubbedBytes } from "../../repo/commit/stubs.ts";
import { voidLayout } from "../../repo/commit/void.ts";
import {
  chainBytes,
  ChainHash,
  chainStart,
  encodeHeader,
  type Header,
  joinChain,
} from "../../repo/commit/commit.ts";
import { ByteWriter } from "../../src/base/bytes.ts";
import { assert } from "../../src/base/errors.ts";
import type { WireRecord } from "../../sync/message.ts";
import type { Session } from "../../repo/commit/session.ts";
import type {
  Change,
  Operation,
  Shape,
  Value,
} from "../../src/schema/patch.ts";
import { inOrder, PatchWriter } from "../../src/schema/patch_codec.ts";
import { prepare } from "./door.ts";
import { recordKind } from "../../repo/log/format.ts";

/** What is forged. */
export interface Forgery {
  /** Signs nothing in modes that do not sign. */
  readonly session: Session;
  readonly genesisId: Uint8Array;
  readonly first?: number;
  readonly commits?: number;
  /** Wall clock of the first commit. */
  readonly wall: number;
  readonly incarnation?: number;
  readonly isSigned?: boolean;
  readonly parents?: Header["parents"];
  /** The id of what it deletes; "": its commits are empty. */
  readonly text?: string;
}

/** The chain that a forgery is of. */
export function forgedChain({ session, incarnation = 1 }: Forgery): string {
  const bytes = new Uint8Array(8).fill(incarnation);
  new DataView(bytes.buffer).setUint32(0, incarnation);
  return joinChain(session.signer.publicKey, bytes);
}

/** A sealed batch; its ids follow the chain's start, whatever its number. */
export function forge(forgery: Forgery): WireRecord {
  const { genesisId, session, wall, first = 0, commits = 1 } = forgery;
  const { parents = [], text = "x", isSigned = true } = forgery;
  const chain = forgedChain(forgery);
  const run = {
    chain,
    first,
    commits: Array.from(
      { length: commits },
      (_, i) =>
        prepare(
          { wall: wall + i, count: 0, parents: i === 0 ? parents : [] },
          text,
        ),
    ),
  };
  const writer = new ByteWriter();
  if (!isSigned) {
    writeBatch(writer, run);
    return { kind: recordKind.unsignedBatch, bytes: writer.copy() };
  }
  const previous = chainStart(genesisId, chain);
  // Proof: a test's session signs at once.
  const signer = session.signer as Signer;
  writeSealedBatch(writer, run, previous, genesisId, signer);
  return { kind: recordKind.signedBatch, bytes: writer.copy() };
}

/** What somebody does to an item, without asking what is there. */
export interface Deed {
  readonly shape: Shape;
  readonly id: string;
  /** The item's generation (0). */
  readonly generation?: number;
}

/** Creates an item, whatever is there. */
export function creating(
  { shape, id, generation = 0 }: Deed,
  fields: Readonly<Record<string, Value>>,
): Operation {
  const item = { id, ...fields };
  return { what: "create", shape, id, generation, item };
}

/** Changes fields of an item, whatever is there. */
export function changing(
  { shape, id, generation = 0 }: Deed,
  changes: Readonly<Record<string, Change>>,
): Operation {
  const all = Object.entries(changes).map(([name, change]) => {
    const field = shape.fields.find((field) => field.name === name);
    assert(field !== undefined, "a change is of a field of the shape");
    return { field, change };
  });
  const inPlace = inOrder(shape, all);
  return { what: "update", shape, id, generation, changes: inPlace };
}

/** Ends an item, whatever is there. */
export function ending({ shape, id, generation = 0 }: Deed): Operation {
  return { what: "delete", shape, id, generation };
}

/** A commit of somebody who chooses everything in it. */
export interface HostileCommit {
  /** Wall milliseconds. */
  readonly wall: number;
  readonly count?: number;
  readonly parents?: Header["parents"];
  /** None: an empty commit. */
  readonly operations?: readonly Operation[];
  readonly salt?: Uint8Array | undefined;
}

/** A chain whose ids and seals are true, whatever its commits say. */
export class HostileChain {
  readonly name: string;
  readonly #genesisId: Uint8Array;
  readonly #signer: Signer;
  /** By number. */
  readonly #ids: Uint8Array[] = [];
  readonly #patch = new PatchWriter();

  /** @param incarnation 32 bits, each another chain of the session */
  constructor(genesisId: Uint8Array, signer: Signer, incarnation = 1) {
    this.#genesisId = genesisId;
    this.#signer = signer;
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setUint32(0, incarnation);
    this.name = joinChain(signer.publicKey, bytes);
  }

  /** How many commits it has. */
  get length(): number {
    return this.#ids.length;
  }

  /** Forgets what the other side did not take. */
  cut(length: number): void {
    this.#ids.length = Math.min(this.#ids.length, length);
  }

  /** The next commits, sealed. */
  batch(...commits: readonly HostileCommit[]): WireRecord {
    const first = this.length;
    const previous = this.#ids.at(-1) ??
      chainStart(this.#genesisId, this.name);
    const hash = new ChainHash().start(previous);
    const prepared = commits.map((commit) => {
      const { wall, count = 0, parents = [], operations = [], salt } = commit;
      const header = encodeHeader({ wall, count, parents });
      this.#patch.begin();
      for (const operation of operations) this.#patch.add(operation);
      const { payload } = this.#patch.finish(salt);
      hash.next(header, payload);
      this.#ids.push(hash.id.slice());
      return { header, payload, payloadAt: -1 };
    });
    const run = { chain: this.name, first, commits: prepared };
    const writer = new ByteWriter();
    writeSealedBatch(
      writer,
      run,
      previous,
      this.#genesisId,
      this.#signer,
    );
    return { kind: recordKind.signedBatch, bytes: writer.copy() };
  }
}

/** A sealed batch with stubs in the place of some of its commits, by number: its seal stays true. */
export function stubbed(
  { bytes }: WireRecord,
  ...numbers: number[]
): WireRecord {
  const batch = decodeBatch(bytes, true);
  const stubs = withVoid(batch, (number) => numbers.includes(number));
  return {
    kind: recordKind.signedBatch,
    bytes: stubbedBytes(stubs, noneErased),
  };
}

/** An author's word that it gives commits of a chain up. */
export function givingUp(
  signer: Signer,
  genesisId: Uint8Array,
  chain: string,
  ...numbers: number[]
): WireRecord {
  const ranges = numbers.map((first) => ({ first, count: 1 }));
  const said = { genesisId, chain: chainBytes(chain), ranges };
  return { kind: recordKind.void, bytes: voidLayout.sign(said, signer).bytes };
}
