/**
 * Own edits of one repository that lost, kept until an app has taken them.
 *
 * Each place of an item is kept once: what was written there last, and lost. Who
 * overwrote it and what stands now is looked up when it is told, so that it is
 * true then; what came back meanwhile is not told.
 *
 * They stand in the file `overwritten` with up to where the log was looked at:
 * `{ collections: [[name, address, crc, dropped]], losses: [{ chains, loss }] }` as
 * `local_json.ts` writes it, oldest first. Without it what is older is not told,
 * and nothing else is lost.
 *
 * Architecture invariant: what was found is forgotten when it was taken, when
 * it is no loss any more, or when there is too much of it, which is counted.
 */

// As in online.ts.
import { getOrMake } from "../base/collections.ts";
import "../../repo/mod.ts";
import "./bare_repository.ts";
import "./repository_sync.ts";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import { equalValues } from "../schema/json.ts";
import type { Value } from "../schema/patch.ts";
import {
  chainHex,
  type ItemName,
  type LogPoint,
  type Replica,
} from "../../repo/mod.ts";
import { isOneOf } from "./items.ts";
import { pointAt } from "../../repo/log/own_log.ts";
import type { LocalFile } from "./local_file.ts";
import { decodeLocal, encodeLocal, pack, unpack } from "./local_json.ts";
import type { Taking, Told, ToldEdit } from "./overwritten.ts";
import { type Loss, OverwrittenFinder } from "./overwritten_finder.ts";
import { standingIn } from "./overwritten_slots.ts";

export interface OverwrittenParts {
  readonly replica: Replica;
  readonly world: World;
  readonly file: LocalFile;
  /** There may be more to take for one of these, the first of which came first. */
  readonly news: (consumers: readonly string[]) => void;
  /** Hears what goes wrong while nobody waits. */
  readonly report?: ((error: unknown) => void) | undefined;
}

interface Kept {
  readonly loss: Loss;
  readonly text: LossText;
  /** The place, and what lost there. */
  readonly ticket: string;
}

interface Listened {
  /** Up to where the log was looked at, in a life before. */
  readonly to: LogPoint | undefined;
  isStarted: boolean;
  dropped: number;
  /** Who wants to be told; each gives back what it was told by taking again. */
  readonly consumers: Set<string>;
  holder: string | undefined;
}

const nothing: Told = { edits: [], dropped: 0 };

export class OverwrittenEdits {
  readonly #parts: OverwrittenParts;
  readonly #finder: OverwrittenFinder;
  readonly #collections = new Map<string, Listened>();
  /** By place, oldest first. */
  readonly #kept = new Map<string, Kept>();
  #chars = 0;
  readonly #ready: Promise<void>;
  readonly #unhear: () => void;
  #saving: Promise<void> = Promise.resolve();
  #cancelSave: (() => void) | undefined;
  #isStopped = false;

  constructor(parts: OverwrittenParts) {
    this.#parts = parts;
    this.#finder = new OverwrittenFinder({
      replica: parts.replica,
      found: (loss) => this.#found(loss),
      looked: () => this.#saveSoon(),
      report: parts.report ?? (() => {}),
    });
    this.#ready = this.#load();
    this.#unhear = parts.replica.onRedacted((items) =>
      this.#forgetErased(isOneOf(items))
    );
  }

  async #load(): Promise<void> {
    const { file, replica: { loaded: { genesisId } } } = this.#parts;
    const bytes = await file.read().catch(() => undefined);
    const known = bytes && decodeLosses(bytes, genesisId);
    for (const { name, to, dropped } of known?.collections ?? []) {
      this.#collections.set(name, { ...this.#newCollection(to), dropped });
    }
    for (const loss of known?.losses ?? []) this.#keep(loss);
  }

  #newCollection(to: LogPoint | undefined): Listened {
    const consumers = new Set<string>();
    return {
      ...{ to, dropped: 0, consumers },
      isStarted: false,
      holder: undefined,
    };
  }

  /** As {@linkcode take}, of what another page said: checked. */
  async takeSaid(
    consumer: string,
    name: unknown,
    taking: unknown,
  ): Promise<Told> {
    if (typeof name === "string" && isTaking(taking)) {
      return await this.take(consumer, name, taking);
    }
    throw new DatabaseError(
      "invalid-option",
      `Say of which collection, and which of at most ${limits.overwrittenMax} edits were taken`,
    );
  }

  /** Notes what a consumer has taken, and gives it what there is to tell, unless another is being told. */
  async take(
    consumer: string,
    name: string,
    { taken = [], dropped = 0, failed = [], isEnd = false }: Taking,
  ): Promise<Told> {
    await this.#ready;
    this.#parts.replica.check();
    const isFirst = !this.#collections.has(name);
    const collection = this.#start(name);
    // From now on nothing is lost, however this ends.
    if (isFirst) await this.save();
    if (taken.length > 0 || dropped > 0) {
      const tickets = new Set(taken);
      for (const [place, { ticket }] of this.#kept) {
        if (tickets.has(ticket)) this.#forget(place);
      }
      collection.dropped = Math.max(0, collection.dropped - dropped);
      await this.save();
    }
    if (collection.holder === consumer) collection.holder = undefined;
    if (isEnd) {
      this.#leave(consumer, name, collection);
      return nothing;
    }
    collection.consumers.add(consumer);
    if (collection.holder !== undefined) return nothing;
    const edits = this.#told(name);
    const isNew = collection.dropped > 0 ||
      edits.some(({ ticket }) => !failed.includes(ticket));
    if (!isNew) return nothing;
    collection.holder = consumer;
    return { edits, dropped: collection.dropped };
  }

  /** A consumer is gone: others are told what it has not taken. */
  leave(consumer: string): void {
    for (const [name, one] of this.#collections) {
      this.#leave(consumer, name, one);
    }
  }

  #leave(consumer: string, name: string, collection: Listened): void {
    collection.consumers.delete(consumer);
    if (collection.holder === consumer) collection.holder = undefined;
    this.#tell(name, collection);
  }

  #tell(name: string, { consumers, holder, dropped }: Listened): void {
    if (holder !== undefined || consumers.size === 0) return;
    const isThere = dropped > 0 ||
      [...this.#kept.values()].some(({ loss }) => loss.collection === name);
    if (isThere) this.#parts.news([...consumers]);
  }

  #start(name: string): Listened {
    const collection = getOrMake(
      this.#collections,
      name,
      () => this.#newCollection(undefined),
    );
    if (collection.isStarted) return collection;
    collection.isStarted = true;
    const { device } = this.#parts.replica;
    const { to } = collection;
    const isKnown = to !== undefined && device.mirror().isPoint(to);
    this.#finder.start(name, isKnown ? to.address : device.openedAt);
    return collection;
  }

  #found(loss: Loss): void {
    this.#keep(loss);
    const collection = this.#collections.get(loss.collection);
    if (collection !== undefined) this.#tell(loss.collection, collection);
    this.#saveSoon();
  }

  #keep(loss: Loss): void {
    const { collection, id, slot, own } = loss;
    const { part, field, key } = slot ?? {};
    const place = JSON.stringify([collection, id, part, field, key]);
    const { wall, count, chain } = own;
    const ticket = JSON.stringify([place, wall, count, chain]);
    this.#forget(place);
    const text = textOf(loss);
    this.#kept.set(place, { loss, text, ticket });
    this.#chars += text.length;
    for (const [place, { loss }] of this.#kept) {
      const fits = this.#chars <= limits.overwrittenCharsMax &&
        this.#kept.size <= limits.overwrittenMax;
      if (fits) break;
      this.#forget(place);
      const one = this.#collections.get(loss.collection);
      if (one !== undefined) one.dropped++;
    }
  }

  #forget(place: string): void {
    this.#chars -= this.#kept.get(place)?.text.length ?? 0;
    this.#kept.delete(place);
  }

  /** Of what is erased there is nothing to tell. */
  async #forgetErased(isErased: (item: ItemName) => boolean): Promise<void> {
    await this.#ready;
    for (const [place, { loss }] of this.#kept) {
      if (isErased(loss)) this.#forget(place);
    }
    await this.save();
  }

  /** What there is to tell of a collection now; what is no loss any more is forgotten. */
  #told(name: string): ToldEdit[] {
    this.#finder.settle();
    const edits: ToldEdit[] = [];
    for (const [place, kept] of this.#kept) {
      const { collection, own } = kept.loss;
      // Another user's, who may come back.
      if (collection !== name || !this.#finder.isOwn(own)) continue;
      const edit = this.#toldOf(kept);
      if (edit === undefined) this.#forget(place);
      else edits.push(edit);
    }
    return edits;
  }

  #toldOf({ loss, ticket }: Kept): ToldEdit | undefined {
    const { state, loaded: { voided } } = this.#parts.replica;
    const { collection, id, generation, slot, own, before } = loss;
    if (voided.isRefused(own)) return undefined; // Its author was told so.
    const cell = state.find(collection)?.cellOf(id);
    const { isOwn } = this.#finder;
    const isGone = cell !== undefined && cell.item === undefined;
    if (isGone && isOwn(cell.origin)) return undefined; // Here, too.
    if (slot === undefined) {
      const isBack = cell !== undefined && (isOwn(cell.origin) ||
        (cell.item !== undefined && cell.generation === generation));
      if (isBack) return undefined;
      return this.#edit({ kind: "deleted", id, ticket, before }, loss.by);
    }
    const { stamp = loss.by, value: after } =
      (cell && standingIn(cell, slot)) ?? {};
    if (isOwn(stamp) || equalValues(before as Value, after)) return undefined;
    const { part, field, key } = slot;
    return this.#edit({
      kind: part === "place" ? "moved" : "overwritten",
      ...{ id, field, ticket, before, after },
      ...part === "entry" && { key },
    }, stamp);
  }

  #edit(
    edit: Omit<ToldEdit, "by" | "at" | "after"> & { readonly after?: unknown },
    { chain, wall }: Loss["by"],
  ): ToldEdit {
    const user = this.#parts.replica.userOf(chain, wall);
    const session = chainHex(chain).slice(0, 64);
    return {
      after: undefined,
      ...edit,
      by: { user, session },
      at: new Date(wall),
    };
  }

  #saveSoon(): void {
    if (this.#isStopped) return;
    this.#cancelSave ??= this.#parts.world.after(
      limits.overwrittenSaveMs,
      () => void this.save(),
    );
  }

  /** Writes down what is kept, and up to where was looked; resolves when that is done. It never fails. */
  save(): Promise<void> {
    this.#cancelSave?.();
    this.#cancelSave = undefined;
    this.#saving = this.#saving.then(() => this.#write()).catch(() => {}); // Then it is found again.
    return this.#saving;
  }

  async #write(): Promise<void> {
    const { file, replica } = this.#parts;
    const { log, genesisId } = replica.loaded;
    await this.#ready;
    if (this.#isStopped || this.#collections.size === 0) return;
    replica.flush();
    this.#finder.settle();
    const { end } = log;
    const texts = [...this.#kept.values()].map(({ text }) => text);
    const collections = [...this.#collections].map(([name, one]) => ({
      name,
      dropped: one.dropped,
      to: one.isStarted ? undefined : one.to,
    }));
    // What the log may still lose must be looked at again.
    await replica.durable();
    const here = pointAt(log, end);
    await file.write(encodeLosses(
      collections.map(({ to = here, ...one }) => ({ ...one, to })),
      texts,
      genesisId,
    ));
  }

  stop(): void {
    this.#isStopped = true;
    this.#unhear();
    this.#cancelSave?.();
    this.#finder.stop();
  }
}

function isTaking(value: unknown): value is Taking {
  if (typeof value !== "object" || value === null) return false;
  const { taken = [], failed = [], dropped = 0 }: Record<string, unknown> = {
    ...value,
  };
  return [taken, failed].every((list) =>
    Array.isArray(list) && list.length <= limits.overwrittenMax &&
    list.every((ticket) => typeof ticket === "string")
  ) && Number.isSafeInteger(dropped);
}

type LossText = string;

/** One collection in which somebody listened. */
interface KeptCollection {
  readonly name: string;
  /** Up to where the log was looked at. */
  readonly to: LogPoint;
  /** Losses that went before anybody took them. */
  readonly dropped: number;
}

interface KeptLosses {
  readonly collections: readonly KeptCollection[];
  readonly losses: readonly Loss[];
}

function textOf(loss: Loss): LossText {
  const chains: string[] = [];
  return JSON.stringify({ loss: pack(loss, chains), chains });
}

/** The file without what it says of some items; `undefined` where it is none. */
export function lossesWithout(
  bytes: Uint8Array,
  genesisId: Uint8Array,
  isErased: (item: ItemName) => boolean,
): Uint8Array | undefined {
  const known = decodeLosses(bytes, genesisId);
  if (known === undefined) return undefined;
  const left = known.losses.filter((loss) => !isErased(loss)).map(textOf);
  return encodeLosses(known.collections, left, genesisId);
}

function encodeLosses(
  collections: readonly KeptCollection[],
  losses: readonly LossText[],
  genesisId: Uint8Array,
): Uint8Array {
  const heads = collections.map(({ name, to, dropped }) => [
    name,
    to.address,
    to.crc,
    dropped,
  ]);
  const text = `{"collections":${JSON.stringify(heads)},"losses":[${losses}]}`;
  return encodeLocal(text, genesisId);
}

function decodeLosses(
  bytes: Uint8Array,
  genesisId: Uint8Array,
): KeptLosses | undefined {
  return decodeLocal(bytes, genesisId, ({ collections, losses }) => {
    if (!Array.isArray(collections) || !Array.isArray(losses)) {
      throw new SyntaxError("Cannot read losses");
    }
    return {
      collections: collections.map(([name, address, crc, dropped]) => ({
        name: String(name),
        to: { address: Number(address), crc: Number(crc) },
        dropped: Number(dropped),
      })),
      losses: losses.map(({ loss, chains }) => parseLoss(unpack(loss, chains))),
    };
  });
}

function parseLoss(value: unknown): Loss {
  const isLoss = typeof value === "object" && value !== null &&
    "own" in value && "by" in value && "id" in value;
  if (!isLoss) throw new SyntaxError("Cannot read a loss");
  return { slot: undefined, before: undefined, ...value } as Loss; // Proof: its checksum was right, so it was written here.
}
