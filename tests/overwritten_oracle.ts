/**
 * What lost of a device's edits, as somebody finds it who replays its whole log
 * and keeps of each commit the set of all its ancestors. Lists only count as a
 * part of an item that was deleted.
 */

import { ok } from "node:assert/strict";
import { decodePatch } from "../src/schema/patch_codec.ts";
import { mergeClassOf } from "../src/schema/kinds.ts";
import type { Operation } from "../src/schema/patch.ts";
import { replicaOf } from "../src/db/internals.ts";
import { cellOf, payloadOf } from "../repo/mod.ts";
import { Card, type Device } from "./undo_device.ts";

interface Commit {
  readonly name: string;
  readonly chain: string;
  readonly number: number;
  readonly order: string;
  readonly isOwn: boolean;
  readonly ancestors: ReadonlySet<string>;
  readonly operations: readonly Operation[];
}

/** Who wrote what stands in a place, and what. */
interface Stands {
  readonly by: Commit;
  readonly value: unknown;
}

/** A card, as one plain map of places. */
interface NaiveCard {
  generation: number;
  isThere: boolean;
  places: Map<string, Stands>;
  madeBy: Commit;
  /** Commits that are part of its counter, set, list or text. */
  shares: Commit[];
  endedBy: Commit | undefined;
}

/** Finds what lost by replaying everything, commit by commit. */
export class Oracle {
  readonly #device: Device;
  #at = 0;
  readonly #commits = new Map<string, Commit>();
  readonly #cards = new Map<string, NaiveCard>();
  /** What lost by place, as `told` shows it, without what stands now. */
  readonly #lost = new Map<string, { before: unknown; isItem: boolean }>();

  constructor(device: Device) {
    this.#device = device;
  }

  /** Reads on, to the end of the log. */
  read(): void {
    const { commits, graph, device } = this.#replica();
    const keys = device.keys;
    const all: Commit[] = [];
    commits.each(({ batch, from }) => {
      for (let i = from; i < batch.commits.length; i++) {
        const { wall, count, parents } = batch.commits[i]!;
        const number = batch.first + i;
        const { chain } = batch;
        const name = `${chain}/${number}`;
        let commit = this.#commits.get(name);
        if (commit === undefined) {
          const before = parents.map((one) => `${one.chain}/${one.number}`);
          if (number > 0) before.push(`${chain}/${number - 1}`);
          const ancestors = new Set(before);
          for (const one of before) {
            for (const other of this.#commits.get(one)!.ancestors) {
              ancestors.add(other);
            }
          }
          commit = {
            ...{ name, chain, number, ancestors },
            order: `${String(wall).padStart(15)} ${count} ${chain}`,
            isOwn: keys.has(chain.slice(0, 32)),
            operations:
              decodePatch(payloadOf(batch, batch.commits[i]!)).operations,
          };
          this.#commits.set(name, commit);
        }
        all.push(commit);
      }
    });
    ok(all.length === graph.commits);
    for (; this.#at < all.length; this.#at++) {
      const commit = all[this.#at]!;
      for (const one of commit.operations) this.#fold(commit, one);
    }
  }

  #replica() {
    return replicaOf(this.#device.repository);
  }

  #fold(commit: Commit, operation: Operation): void {
    const { id, generation, what } = operation;
    let card = this.#cards.get(id);
    if (card === undefined || generation > card.generation) {
      if (card?.isThere) this.#ended(commit, id, card);
      card = {
        ...{ generation, isThere: what !== "delete", shares: [] },
        ...{ places: new Map(), endedBy: undefined, madeBy: commit },
      };
      this.#cards.set(id, card);
    } else if (generation < card.generation) return;
    else if (!card.isThere) {
      const isLater = what === "delete" && card.endedBy!.order < commit.order;
      if (isLater) card.endedBy = commit;
      return;
    }
    if (operation.what === "delete") {
      if (!commit.isOwn) this.#ended(commit, id, card);
      card.isThere = false;
      card.endedBy = commit;
    } else this.#write(commit, operation, card);
  }

  #write(commit: Commit, operation: Operation, card: NaiveCard): void {
    if (operation.what === "create") {
      if (card.madeBy.order < commit.order) card.madeBy = commit;
      for (const { name, kind } of operation.shape.fields) {
        const value = operation.item[name];
        if (mergeClassOf(kind) === "register") {
          this.#put(commit, operation.id, card, name, value);
        } else if (kind === "map") {
          for (const [key, one] of Object.entries(value ?? {})) {
            this.#put(commit, operation.id, card, `${name}/${key}`, one);
          }
        } else if (Array.isArray(value) && value.length > 0) {
          card.shares.push(commit);
        }
      }
      return;
    }
    if (operation.what === "delete") return;
    for (const { field: { name }, change } of operation.changes) {
      const put = (key: string, value: unknown) =>
        this.#put(commit, operation.id, card, `${name}/${key}`, value);
      if (change.what === "set") {
        this.#put(commit, operation.id, card, name, change.value);
      } else if (change.what === "put") {
        for (const [key, value] of change.entries) put(key, value);
      } else if (change.what === "drop") {
        for (const key of change.keys) put(key, undefined);
      } else card.shares.push(commit);
    }
  }

  #put(
    commit: Commit,
    id: string,
    card: NaiveCard,
    place: string,
    value: unknown,
  ): void {
    const stands = card.places.get(place);
    if (stands !== undefined && stands.by.order > commit.order) return;
    card.places.set(place, { by: commit, value });
    if (stands === undefined || commit.isOwn || !stands.by.isOwn) return;
    if (commit.ancestors.has(stands.by.name)) return;
    this.#lose(`${id} ${place}`, stands.value, false);
  }

  #ended(commit: Commit, id: string, card: NaiveCard): void {
    if (commit.isOwn) return;
    const mine = [...card.places.values()].map(({ by }) => by);
    const isUnseen = [...mine, ...card.shares].some((one) =>
      one.isOwn && !commit.ancestors.has(one.name)
    );
    if (!isUnseen) return;
    const seen = new Set<string>();
    for (const one of this.#commits.values()) {
      if (one === commit) break;
      seen.add(one.name);
    }
    const { commits, state } = this.#replica();
    const cell = cellOf(
      commits,
      () => state.table(Card.name).view,
      (chain, number) => seen.has(`${chain}/${number}`),
      { collection: Card.name, id },
    );
    this.#lose(id, { ...cell?.item }, true);
  }

  #lose(place: string, before: unknown, isItem: boolean): void {
    this.#lost.delete(place);
    this.#lost.set(place, { before, isItem });
  }

  /** Takes all that there is to tell. */
  take(): unknown[] {
    this.read();
    const told = [...this.#lost].flatMap(([place, { before, isItem }]) => {
      const [id, slot = ""] = place.split(" ");
      const card = this.#cards.get(id!)!;
      if (isItem) {
        const isMine = (card.isThere ? card.madeBy : card.endedBy!).isOwn;
        return isMine ? [] : [{ place, before, after: undefined }];
      }
      const stands = card.isThere ? card.places.get(slot) : undefined;
      const isMine = card.isThere ? stands?.by.isOwn : card.endedBy!.isOwn;
      const after = stands?.value;
      return isMine || after === before ? [] : [{ place, before, after }];
    });
    this.#lost.clear();
    return told;
  }
}
