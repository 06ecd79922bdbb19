/**
 * Texts as Yjs knows them, and back.
 *
 * Both directions are exact: a unit of ours is a unit of Yjs's one root text.
 *
 * Architecture invariant: what is shown is a function of the state alone, never
 * of the order in which changes came (law 4).
 */

import * as Y from "yjs";
import { ByteWriter, encodeText } from "../base/bytes.ts";
import {
  normalText,
  type TextClient,
  type TextId,
  type TextRun,
  type TextSpan,
  TextState,
} from "../schema/text_state.ts";
import { orderOf, type PieceOrder } from "./effort.ts";
import type { Piece } from "./line.ts";

/** Name of the root text: it stands beside every unit without neighbours. */
const ROOT = "t";

const HAS_LEFT = 0x80;
const HAS_RIGHT = 0x40;
const DELETED = 1;
const STRING = 4;

export function rootOf(doc: Y.Doc): Y.Text {
  return doc.getText(ROOT);
}

/** A document of this state; one that takes too long to put in order stands in the order of its names. */
export function docOf(
  state: TextState,
  { isTooMuch }: PieceOrder = orderOf(state),
): Y.Doc {
  const doc = new Y.Doc();
  rootOf(doc); // One that comes later is made anew, unit by unit.
  Y.applyUpdate(doc, updateOf(isTooMuch ? inLine(state) : state));
  return doc;
}

/** The pieces of a document's text as they follow each other. */
export function piecesOf(doc: Y.Doc): Piece[] {
  const pieces: Piece[] = [];
  for (let item = rootOf(doc)._start; item !== null; item = item.right) {
    const { id: { client, clock }, length, deleted } = item;
    pieces.push({ client, clock, length, isDeleted: deleted });
  }
  return pieces;
}

/** The same units, each behind the one before it by name, whatever they say of their neighbours. */
function inLine({ clients }: TextState): TextState {
  const ascending = [...clients].sort(([a], [b]) => a - b);
  const line = new Map<number, TextClient>();
  let left: TextId | undefined;
  for (const [client, { runs, gone }] of ascending) {
    const stood: TextRun[] = [];
    for (const run of freshRuns(client, runs, 0)) {
      stood.push({ ...run, left, right: undefined });
      left = { client, clock: run.clock + run.length - 1 };
    }
    line.set(client, { runs: stood, gone });
  }
  return new TextState(line);
}

/**
 * A state as an update of Yjs, for a document that knows each client up to a clock.
 * What stands behind a missing unit is left out: it waits.
 */
export function updateOf(
  { clients }: TextState,
  known?: ReadonlyMap<number, number>,
): Uint8Array<ArrayBuffer> {
  const parts = new Map<number, TextClient>();
  for (const [client, { runs, gone }] of clients) {
    const deleted = runs.filter(({ text }) => text === undefined);
    parts.set(client, {
      runs: freshRuns(client, runs, known?.get(client) ?? 0),
      gone: [...deleted, ...gone],
    });
  }
  return encodeUpdate(parts);
}

/** Runs, and what is deleted, as an update of Yjs. */
function encodeUpdate(
  clients: ReadonlyMap<number, TextClient>,
): Uint8Array<ArrayBuffer> {
  const w = new ByteWriter(1024);
  const writers = [...clients].filter(([, { runs }]) => runs.length > 0);
  w.varint(writers.length);
  for (const [client, { runs }] of writers) {
    w.varint(runs.length);
    w.varint(client);
    w.varint(runs[0]!.clock);
    for (const run of runs) writeItem(w, run);
  }
  const deleters = [...clients].filter(([, { gone }]) => gone.length > 0);
  w.varint(deleters.length);
  for (const [client, { gone }] of deleters) {
    w.varint(client);
    w.varint(gone.length);
    for (const { clock, length } of gone) {
      w.varint(clock);
      w.varint(length);
    }
  }
  return w.copy();
}

/** Units from a clock on, up to the first one that is missing. */
function freshRuns(
  client: number,
  runs: readonly TextRun[],
  from: number,
): TextRun[] {
  const fresh: TextRun[] = [];
  let at = 0;
  for (const run of runs) {
    if (run.clock !== at) break;
    at += run.length;
    if (at <= from) continue;
    const skip = from - run.clock;
    fresh.push(
      skip <= 0 ? run : {
        ...run,
        clock: from,
        length: run.length - skip,
        left: { client, clock: from - 1 },
        text: run.text?.slice(skip),
      },
    );
  }
  return fresh;
}

function writeItem(w: ByteWriter, { left, right, text, length }: TextRun) {
  w.u8(
    (left === undefined ? 0 : HAS_LEFT) |
      (right === undefined ? 0 : HAS_RIGHT) |
      (text === undefined ? DELETED : STRING),
  );
  if (left !== undefined) writeId(w, left);
  if (right !== undefined) writeId(w, right);
  if (left === undefined && right === undefined) {
    w.varint(1);
    writeString(w, ROOT);
  }
  if (text === undefined) w.varint(length);
  else writeString(w, text.toWellFormed());
}

function writeId(w: ByteWriter, { client, clock }: TextId): void {
  w.varint(client);
  w.varint(clock);
}

function writeString(w: ByteWriter, text: string): void {
  const bytes = encodeText(text);
  w.varint(bytes.length);
  w.bytes(bytes);
}

/**
 * What was typed in a document under its client, from a clock on, and what was
 * deleted meanwhile, as a change. Only of documents of {@linkcode docOf}.
 */
export function changeIn(
  doc: Y.Doc,
  from: number,
  deleted: ReadonlyMap<number, readonly TextSpan[]>,
): TextState {
  const { store, clientID } = doc;
  const clients = new Map<number, TextClient>();
  for (const [client, gone] of deleted) clients.set(client, { runs: [], gone });
  const structs = store.clients.get(clientID) ?? [];
  const isTyped = from < Y.getState(store, clientID);
  const first = isTyped ? Y.findIndexSS(structs, from) : structs.length;
  const runs = structs.slice(first).map((item) => runOf(item as Y.Item, from));
  if (runs.length > 0) {
    clients.set(clientID, { runs, gone: clients.get(clientID)?.gone ?? [] });
  }
  return normalText(clients);
}

function runOf(
  { id: { client, clock }, length, content, origin, rightOrigin }: Y.Item,
  from: number,
): TextRun {
  const text = content instanceof Y.ContentString ? content.str : undefined;
  const skip = Math.max(0, from - clock);
  return {
    clock: clock + skip,
    length: length - skip,
    left: skip === 0 ? idOf(origin) : { client, clock: from - 1 },
    right: idOf(rightOrigin),
    text: text?.slice(skip),
  };
}

/**
 * Puts the next units of clients into a document, each run between two units that
 * stand side by side. `false` where that cannot be: some of them may be in it then.
 */
export function putBetween(
  doc: Y.Doc,
  fresh: ReadonlyMap<number, TextClient>,
): boolean {
  return doc.transact(() => {
    for (const [client, { runs }] of fresh) {
      for (const run of runs) {
        const fits = run.clock === Y.getState(doc.store, client) &&
          run.text?.isWellFormed() !== false && standsBetween(doc, run);
        if (!fits) return false;
        const alone = new Map([[client, { runs: [run], gone: [] }]]);
        Y.applyUpdate(doc, encodeUpdate(alone));
      }
    }
    const gone = new Map<number, TextClient>();
    for (const [client, known] of fresh) {
      gone.set(client, { ...known, runs: [] });
    }
    Y.applyUpdate(doc, encodeUpdate(gone));
    return true;
  });
}

/** Do the neighbours that a run claims stand side by side? */
function standsBetween(doc: Y.Doc, { left, right }: TextRun): boolean {
  let next: Y.ID | undefined;
  if (left === undefined) next = rootOf(doc)._start?.id;
  else {
    const { client, clock } = left;
    const structs = doc.store.clients.get(client);
    if (structs === undefined || clock >= Y.getState(doc.store, client)) {
      return false;
    }
    const item = structs[Y.findIndexSS(structs, clock)] as Y.Item;
    const isLast = clock === item.id.clock + item.length - 1;
    next = isLast ? item.right?.id : Y.createID(client, clock + 1);
  }
  return next?.client === right?.client && next?.clock === right?.clock;
}

function idOf(id: Y.ID | null): TextId | undefined {
  return id === null ? undefined : { client: id.client, clock: id.clock };
}
