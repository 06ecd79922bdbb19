/**
 * Revocations: from which commit on nobody takes a session's commits any more.
 *
 * A cut says how many commits of an incarnation the server had accepted; an
 * incarnation that is not listed, none.
 * Of several revocations of one key the largest cut of each incarnation counts,
 * so a later one can accept more and none can take back.
 *
 * Architecture invariant: what is refused follows from signed records and the
 * commit's number, never from a clock (law 7).
 */

import type { Signer } from "../../crypto/keys.ts";
import { encodeText } from "../../src/base/bytes.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { wallMax } from "../../src/base/hlc.ts";
import { limits } from "../../src/base/limits.ts";
import {
  type Field,
  fixed,
  struct,
  textUpTo,
  u48,
  unfit,
} from "../../src/base/layout.ts";
import { type Signed, SignedLayout } from "./signed_record.ts";
import { nameOf } from "./commit.ts";
import type { Graph } from "../graph/graph.ts";
import { getOrMake } from "../../src/base/collections.ts";

const INCARNATION = 8;

/** Incarnations, 8 characters, one a byte, ascending, and how many of their commits stand. */
const cuts: Field<ReadonlyMap<string, number>> = {
  says: "varint | (incarnation {8} | commits varint)*",
  write(writer, cuts) {
    writer.varint(cuts.size);
    for (const incarnation of [...cuts.keys()].sort()) {
      for (const character of incarnation) writer.u8(character.charCodeAt(0));
      writer.varint(cuts.get(incarnation)!);
    }
  },
  read(reader) {
    const count = reader.varint();
    if (count > limits.revocationCutsMax) throw unfit("it has too many cuts");
    const cuts = new Map<string, number>();
    let last = "";
    for (let i = 0; i < count; i++) {
      const at = reader.at;
      reader.skip(INCARNATION);
      const incarnation = nameOf(reader.bytes, at, at + INCARNATION);
      if (incarnation <= last) throw unfit("its cuts are not in order");
      cuts.set(incarnation, reader.varint());
      last = incarnation;
    }
    return cuts;
  },
};

/** What an issuer says of a session that is over. */
export interface RevocationFields {
  readonly genesisId: Uint8Array;
  /** The session: 32 bytes. */
  readonly sessionKey: Uint8Array;
  /** Incarnation (8 characters, one a byte) → how many of its commits stand. */
  readonly cuts: ReadonlyMap<string, number>;
  /** Wall milliseconds of its issue; nothing depends on it but the issuer's own dates. */
  readonly wall: number;
  /** Why, for people. */
  readonly reason: string;
}

/** A decoded revocation: well formed, not yet checked. */
export interface Revocation extends RevocationFields, Signed {}

export const revocationLayout: SignedLayout<RevocationFields> =
  new SignedLayout(
    "sheaf revocation 1",
    struct({
      genesisId: fixed(32),
      sessionKey: fixed(32),
      cuts,
      wall: u48,
      reason: textUpTo(limits.revocationReasonBytesMax),
    }),
    limits.revocationCutsMax * (INCARNATION + 8) +
      limits.revocationReasonBytesMax + 256,
  );

export function issueRevocation(
  fields: RevocationFields,
  issuer: Signer,
): Revocation {
  checkFields(fields);
  return revocationLayout.sign(fields, issuer);
}

/**
 * Makes and signs as many revocations as it takes to name all cuts. They belong
 * together: an incarnation that none of those names that are here has no cut.
 */
export function issueRevocations(
  fields: RevocationFields,
  issuer: Signer,
): Revocation[] {
  const all = [...fields.cuts];
  const issued: Revocation[] = [];
  do {
    const cuts = new Map(all.splice(0, limits.revocationCutsMax));
    issued.push(issueRevocation({ ...fields, cuts }, issuer));
  } while (all.length > 0);
  return issued;
}

function checkFields(fields: RevocationFields): void {
  const { genesisId, sessionKey, cuts, wall, reason } = fields;
  const areCuts = [...cuts].every(([incarnation, count]) =>
    incarnation.length === INCARNATION && Number.isSafeInteger(count) &&
    count >= 0
  );
  const isDated = Number.isInteger(wall) && wall >= 0 && wall <= wallMax;
  if (
    !areCuts || !isDated || genesisId.length !== 32 || sessionKey.length !== 32
  ) {
    throw new DatabaseError(
      "invalid-option",
      "Cannot issue a revocation: it takes a genesis id and a key of 32 bytes, " +
        "whole counts by incarnation, and a date in whole milliseconds",
    );
  }
  if (
    cuts.size > limits.revocationCutsMax ||
    encodeText(reason).length > limits.revocationReasonBytesMax
  ) {
    throw new DatabaseError(
      "value-too-large",
      `Cannot issue a revocation: it names ${limits.revocationCutsMax} incarnations ` +
        `and a reason of ${limits.revocationReasonBytesMax} bytes at most`,
    );
  }
}

export function decodeRevocation(foreign: Uint8Array): Revocation {
  return revocationLayout.decode(foreign);
}

interface Revoked {
  readonly records: Revocation[];
  /** The largest cut of each incarnation. */
  readonly cuts: Map<string, number>;
}

/** The checked revocations of a repository, by session key. */
export class Revocations {
  readonly #byKey = new Map<string, Revoked>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(revocation: Revocation): void {
    if (this.has(revocation)) return;
    const key = nameOf(revocation.sessionKey, 0, 32);
    const none = () => ({ records: [], cuts: new Map() });
    const revoked = getOrMake<string, Revoked>(this.#byKey, key, none);
    revoked.records.push(revocation);
    this.#size++;
    for (const [incarnation, count] of revocation.cuts) {
      const known = revoked.cuts.get(incarnation) ?? 0;
      revoked.cuts.set(incarnation, Math.max(known, count));
    }
  }

  /** Does everything that it says follow from others? */
  has({ sessionKey, cuts }: Revocation): boolean {
    const revoked = this.#byKey.get(nameOf(sessionKey, 0, 32));
    if (revoked === undefined) return false;
    for (const [incarnation, count] of cuts) {
      if (count > (revoked.cuts.get(incarnation) ?? 0)) return false;
    }
    return true;
  }

  countOf(sessionKey: Uint8Array): number {
    return this.of(nameOf(sessionKey, 0, 32)).length;
  }

  /** Revocations of a key, given as 32 characters, one a byte. */
  of(key: string): readonly Revocation[] {
    return this.#byKey.get(key)?.records ?? [];
  }

  /** How many commits of a chain stand; all of them, where its session is not revoked. */
  cutOf(chain: string): number {
    if (this.#size === 0) return Infinity;
    const revoked = this.#byKey.get(chain.slice(0, 32));
    if (revoked === undefined) return Infinity;
    return revoked.cuts.get(chain.slice(32)) ?? 0;
  }

  /** Commits that this replica holds although they are revoked: they came before the revocation did. */
  heldBeyond(graph: Graph): number {
    if (this.#size === 0) return 0;
    let held = 0;
    for (const { name, length } of graph.chains()) {
      held += Math.max(0, length - this.cutOf(name));
    }
    return held;
  }

  *[Symbol.iterator](): Iterator<Revocation> {
    for (const { records } of this.#byKey.values()) yield* records;
  }
}
