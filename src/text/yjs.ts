/**
 * Texts as Yjs knows them, and back.
 *
 * Both directions are exact: a unit of ours is a unit of Yjs's one root text.
 *
 * Architecture invariant: what is shown is a function of the state alone, never
 * of the order in which changes came (law 4).
 *
 * @module
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
import { isTooMuch } from "./effort.ts";

/** Name of the root text: it stands beside every unit without neighbours. */
const ROOT = "t";

const HAS_LEFT = 0x80;
const HAS_RIGHT = 0x40;
const DELETED = 1;
const STRING = 4;

/** The text of a document. */
export function rootOf(doc: Y.Doc): Y.Text {
  return doc.getText(ROOT);
}

/** A document of this state; one that takes too long to put in order stands in the order of its names. */
export function docOf(state: TextState): Y.Doc {
  const doc = new Y.Doc();
  Y.applyUpdate(doc, updateOf(isTooMuch(state) ? inLine(state) : state));
  return doc;
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
  const w = new ByteWriter(1024);
  const parts: [client: number, runs: TextRun[]][] = [];
  for (const [client, { runs }] of clients) {
    const fresh = freshRuns(client, runs, known?.get(client) ?? 0);
    if (fresh.length > 0) parts.push([client, fresh]);
  }
  w.varint(parts.length);
  for (const [client, runs] of parts) {
    w.varint(runs.length);
    w.varint(client);
    w.varint(runs[0]!.clock);
    for (const run of runs) writeItem(w, run);
  }
  writeDeletions(w, clients);
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

function writeDeletions(
  w: ByteWriter,
  clients: ReadonlyMap<number, TextClient>,
): void {
  const parts: [client: number, spans: TextSpan[]][] = [];
  for (const [client, { runs, gone }] of clients) {
    const spans = [
      ...runs.filter(({ text }) => text === undefined),
      ...gone,
    ];
    if (spans.length > 0) parts.push([client, spans]);
  }
  w.varint(parts.length);
  for (const [client, spans] of parts) {
    w.varint(client);
    w.varint(spans.length);
    for (const { clock, length } of spans) {
      w.varint(clock);
      w.varint(length);
    }
  }
}

/** What an update of Yjs says, as a change of ours. Only for updates of documents of {@linkcode docOf}. */
export function changeOf(update: Uint8Array): TextState {
  const { structs, ds } = Y.decodeUpdate(update);
  const clients = new Map<number, { runs: TextRun[]; gone: TextSpan[] }>();
  const of = (client: number) => {
    let known = clients.get(client);
    if (known === undefined) {
      clients.set(client, known = { runs: [], gone: [] });
    }
    return known;
  };
  for (const struct of structs) {
    if (!(struct instanceof Y.Item)) continue;
    const { client, clock } = struct.id;
    const { content, length } = struct;
    const text = content instanceof Y.ContentString ? content.str : undefined;
    of(client).runs.push({
      clock,
      length,
      left: idOf(struct.origin),
      right: idOf(struct.rightOrigin),
      text,
    });
  }
  for (const [client, spans] of ds.clients) {
    for (const { clock, len } of spans) {
      of(client).gone.push({ clock, length: len });
    }
  }
  return normalText(clients);
}

function idOf(id: Y.ID | null): TextId | undefined {
  return id === null ? undefined : { client: id.client, clock: id.clock };
}
