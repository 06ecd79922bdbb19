/**
 * Quarantine: what a revoked session wrote before it knew, kept for somebody to
 * accept or to drop.
 *
 * Architecture invariant: bounded in entries and bytes (law 10); the same batch
 * is kept once, however often it comes.
 */

import { sha256 } from "../crypto/mod.ts";
import { concatBytes, encodeText, toHex } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import {
  decodeBatch,
  type ItemName,
  patchOf,
  type Replica,
} from "../repo/mod.ts";
import { isOf } from "../repo/redaction/erased.ts";
import type { IsMeant } from "../src/schema/erasure.ts";
import { type Books, QuarantinedBatch, type QuarantineItem } from "./books.ts";

export type RefusedBatch = Omit<QuarantineItem, "id" | "at">;

/** A kept batch as it is shown: without its bytes. */
export interface QuarantineEntry {
  readonly id: string;
  readonly repository: string;
  readonly chain: string;
  readonly first: number;
  readonly count: number;
  readonly user: string;
  readonly reason: string;
  readonly at: Date;
  readonly bytes: number;
}

export class Quarantine {
  readonly #books: Books;
  readonly #own: Replica | undefined;
  readonly #now: () => number;
  #bytes = 0;
  /** How many there are of each session, and their bytes. */
  readonly #bySession = new Map<string, { count: number; bytes: number }>();

  constructor(books: Books, now: () => number, own?: Replica) {
    this.#books = books;
    this.#own = own;
    this.#now = now;
    for (const item of books.quarantine.all()) this.#count(item, 1);
  }

  #count(
    { chain, bytes }: Pick<QuarantineItem, "chain" | "bytes">,
    by: 1 | -1,
  ) {
    this.#bytes += by * bytes.length;
    const session = sessionOf(chain);
    const own = this.#bySession.get(session) ?? { count: 0, bytes: 0 };
    own.count += by;
    own.bytes += by * bytes.length;
    if (own.count > 0) this.#bySession.set(session, own);
    else this.#bySession.delete(session);
  }

  get size(): number {
    return this.#books.quarantine.count();
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps a batch; `false` when there is no room for it. */
  keep(batch: RefusedBatch): boolean {
    const { quarantine } = this.#books;
    const id = idOf(batch);
    if (quarantine.has(id)) return true;
    const { length } = batch.bytes;
    const own = this.#bySession.get(sessionOf(batch.chain));
    const fits = (own?.count ?? 0) < limits.quarantineSessionMax &&
      (own?.bytes ?? 0) + length <= limits.quarantineSessionBytesMax &&
      length <= limits.quarantineEntryBytesMax &&
      this.#bytes + length <= limits.quarantineBytesMax &&
      quarantine.count() < limits.quarantineEntriesMax;
    if (!fits) return false;
    const at = new Date(this.#now());
    quarantine.create({ ...batch, id, at, bytes: batch.bytes.slice() });
    this.#count(batch, 1);
    return true;
  }

  /** All of them, oldest first. */
  list(): QuarantineEntry[] {
    const items = this.#books.quarantine.all();
    return items.map(entryOf).sort((a, b) =>
      a.at.getTime() - b.at.getTime() || a.first - b.first
    );
  }

  get(id: string): QuarantineItem | undefined {
    return this.#books.quarantine.get(id);
  }

  /** Erases batches of a repository that say something of these items, those that were decided on, too. */
  async erase(
    repository: string,
    items: readonly ItemName[],
  ): Promise<void> {
    const own = this.#own;
    if (own === undefined || items.length === 0) return;
    const collection = QuarantinedBatch.name;
    if ((own.state.find(collection)?.size ?? 0) === 0) return;
    const isMeant = isOf(items);
    const ids = new Set<string>();
    own.commits.each(({ batch, from }) => {
      for (const commit of batch.commits.slice(from)) {
        for (const said of patchOf(batch, commit).operations) {
          if (said.what !== "create") continue;
          if (said.shape.collection !== collection) continue;
          const { repository: name, signed, bytes } = said.item;
          if (name !== repository || !(bytes instanceof Uint8Array)) continue;
          if (says(bytes, signed === true, isMeant)) ids.add(said.id);
        }
      }
    });
    if (ids.size === 0) return;
    for (const id of ids) await this.drop(id);
    await own.eraseHere([...ids].map((id) => ({ collection, id })));
  }

  async drop(id: string): Promise<boolean> {
    const item = this.get(id);
    if (item === undefined) return false;
    this.#count(item, -1);
    await this.#books.quarantine.delete(id);
    return true;
  }
}

function says(bytes: Uint8Array, isSigned: boolean, isMeant: IsMeant): boolean {
  const batch = decodeBatch(bytes, isSigned);
  return batch.commits.some((commit) =>
    patchOf(batch, commit).operations.some(isMeant)
  );
}

/** Hexadecimal digits of a session's key at the beginning of its chains' names. */
const KEY_DIGITS = 64;

function sessionOf(chain: string): string {
  return chain.slice(0, KEY_DIGITS);
}

function idOf({ repository, bytes }: RefusedBatch): string {
  const name = encodeText(`${repository}\n`);
  return toHex(sha256(concatBytes(name, bytes)).subarray(0, 16));
}

function entryOf(item: QuarantineItem): QuarantineEntry {
  const { signed: _, bytes, ...shown } = item;
  return { ...shown, bytes: bytes.length };
}
