/**
 * Bytes of texts: changes, rows of checkpoints, digests. One form for all.
 *
 * See docs/format-text.md. A change from outside is read strictly: it names
 * units in a way that no reader can stumble over, and has one form.
 *
 * Architecture invariant: foreign bytes never throw anything but `SyntaxError`,
 * and every count is bounded by the bytes that are left and by a named limit.
 */

import { ByteReader, ByteWriter, equalBytes } from "../base/bytes.ts";
import { limits } from "../base/limits.ts";
import {
  normalText,
  SavedOrder,
  type TextClient,
  type TextId,
  type TextRun,
  type TextSpan,
  TextState,
} from "./text_state.ts";
import { malformed, readCount, readText } from "./value_codec.ts";

const LEFT_BEFORE = 1;
const LEFT_ID = 2;
const RIGHT = 4;
const DELETED = 8;
const RAW = 16;

const CLIENTS = 2 ** 35;
const CLOCKS = 2 ** 32;

export function writeTextState(w: ByteWriter, { clients }: TextState): void {
  const numbers = clientsIn(clients);
  const indexes = new Map(numbers.map((client, i) => [client, i]));
  w.varint(numbers.length);
  for (const client of numbers) w.varint(client);
  w.varint(clients.size);
  for (const client of numbers) {
    const known = clients.get(client);
    if (known === undefined) continue;
    w.varint(indexes.get(client)!);
    writeRuns(w, client, known.runs, indexes);
    w.varint(known.gone.length);
    let at = 0;
    for (const { clock, length } of known.gone) {
      w.varint(clock - at);
      w.varint(length);
      at = clock + length;
    }
  }
}

function clientsIn(clients: ReadonlyMap<number, TextClient>): number[] {
  const all = new Set(clients.keys());
  for (const { runs } of clients.values()) {
    for (const { left, right } of runs) {
      if (left !== undefined) all.add(left.client);
      if (right !== undefined) all.add(right.client);
    }
  }
  return [...all].sort((a, b) => a - b);
}

function writeRuns(
  w: ByteWriter,
  client: number,
  runs: readonly TextRun[],
  indexes: ReadonlyMap<number, number>,
): void {
  const writeId = (id: TextId) => {
    w.varint(indexes.get(id.client)!);
    w.varint(id.clock);
  };
  w.varint(runs.length);
  let at = 0;
  for (const { clock, length, left, right, text } of runs) {
    const isBefore = left?.client === client && left.clock === clock - 1;
    const isRaw = text?.isWellFormed() === false;
    w.varint(clock - at);
    w.u8(
      (left === undefined ? 0 : isBefore ? LEFT_BEFORE : LEFT_ID) |
        (right === undefined ? 0 : RIGHT) |
        (text === undefined ? DELETED : isRaw ? RAW : 0),
    );
    if (left !== undefined && !isBefore) writeId(left);
    if (right !== undefined) writeId(right);
    if (text === undefined || isRaw) w.varint(length);
    else w.text(text);
    if (isRaw) { for (let i = 0; i < length; i++) w.u16(text!.charCodeAt(i)); }
    at = clock + length;
  }
}

export function readTextState(r: ByteReader): TextState {
  return new TextState(readClients(r));
}

/** Bytes of a text of which it is known what it shows, and maybe in which order: they are read when more is asked. */
export function textStateOf(
  bytes: Uint8Array,
  shown: string,
  order?: Uint8Array,
): TextState {
  const unread = {
    bytes: bytes.length,
    names: () => new Set(readNumbers(new ByteReader(bytes))),
    read: () => readClients(new ByteReader(bytes)),
  };
  const state = new TextState(unread, shown);
  if (order !== undefined) state.keepOrder(new SavedOrder(order, shown));
  return state;
}

export function readTextChange(r: ByteReader): TextState {
  const start = r.at;
  const clients = readClients(r);
  let writers = 0;
  for (const [client, { runs }] of clients) {
    if (runs.length > limits.textRunsMax) malformed("a text has many runs");
    if (runs.length > 0 && ++writers > 1) malformed("a text has two writers");
    for (const run of runs) checkRun(client, run);
  }
  if (clients.size === 0) malformed("an edit changes nothing");
  const change = normalText(clients);
  const w = new ByteWriter(r.at - start);
  writeTextState(w, change);
  if (!equalBytes(w.view(), r.bytes.subarray(start, r.at))) {
    malformed("a text has another form than it should");
  }
  return change;
}

function checkRun(client: number, { clock, left, right }: TextRun): void {
  for (const id of [left, right]) {
    if (id === undefined) continue;
    const isLater = id.client === client && id.clock >= clock;
    if (isLater || id.clock < 0 || id.clock >= CLOCKS) {
      malformed("a text stands beside what cannot be there");
    }
  }
}

/** The clients that a text names. */
function readNumbers(r: ByteReader): number[] {
  const numbers: number[] = [];
  for (let left = readCount(r, Infinity, 1); left > 0; left--) {
    numbers.push(r.varint());
    if (numbers.at(-1)! >= CLIENTS) malformed("a client is too large");
  }
  return numbers;
}

function readClients(r: ByteReader): Map<number, TextClient> {
  const numbers = readNumbers(r);
  const clients = new Map<number, TextClient>();
  for (let left = readCount(r, numbers.length, 3); left > 0; left--) {
    const client = clientAt(r, numbers);
    clients.set(client, { runs: readRuns(r, client, numbers), gone: spans(r) });
  }
  return clients;
}

function clientAt(r: ByteReader, numbers: readonly number[]): number {
  return numbers[r.varint()] ?? malformed("a text names no client");
}

/** Where units end that begin `skip` after `at`. */
function endAfter(at: number, skip: number, length: number): number {
  const end = at + skip + length;
  if (length < 1 || end > CLOCKS) malformed("a text has impossible units");
  return end;
}

function readRuns(
  r: ByteReader,
  client: number,
  numbers: readonly number[],
): TextRun[] {
  const readId = () => ({ client: clientAt(r, numbers), clock: r.varint() });
  const runs: TextRun[] = [];
  let at = 0;
  for (let count = readCount(r, Infinity, 3); count > 0; count--) {
    const skip = r.varint();
    const form = r.u8();
    const clock = at + skip;
    const left = form & LEFT_ID
      ? readId()
      : form & LEFT_BEFORE
      ? { client, clock: clock - 1 }
      : undefined;
    const right = form & RIGHT ? readId() : undefined;
    const [length, text] = readContent(r, form);
    at = endAfter(at, skip, length);
    runs.push({ clock, length, left, right, text });
  }
  return runs;
}

function readContent(
  r: ByteReader,
  form: number,
): [length: number, text: string | undefined] {
  if (form & DELETED) return [r.varint(), undefined];
  if (!(form & RAW)) {
    const text = readText(r, limits.valueBytesMax, true);
    return [text.length, text];
  }
  let text = "";
  const length = readCount(r, Infinity, 2);
  for (let i = 0; i < length; i++) text += String.fromCharCode(r.u16());
  return [length, text];
}

function spans(r: ByteReader): TextSpan[] {
  const all: TextSpan[] = [];
  let at = 0;
  for (let count = readCount(r, Infinity, 2); count > 0; count--) {
    const clock = at + r.varint();
    const length = r.varint();
    at = endAfter(clock, 0, length);
    all.push({ clock, length });
  }
  return all;
}
