/**
 * Cursors and selections of others, through a repository's presence.
 *
 * A cursor names the character that it stands before, so it stays where it is
 * while others type.
 *
 * Architecture invariant: what peers show is not trusted: names are short, colours
 * are colours, and a place that means nothing here is not shown.
 */

import * as Y from "yjs";
import { checkOptions, refuseOptions } from "../base/known_options.ts";
import type { Presence } from "../db/presence.ts";
import type { JsonValue } from "../schema/field.ts";
import type { TextPlace } from "./live_text.ts";
import { rootOf } from "./yjs.ts";

/** How a user's cursor looks to others. */
export interface CursorUser {
  readonly name: string;
  /** `#rgb` or `#rrggbb`. */
  readonly color: string;
}

/** Somebody else's cursor in a text. */
export interface TextCursor extends CursorUser {
  /** Tells two devices of one user apart. */
  readonly peer: number;
  /** Where the selection began, in UTF-16 units. */
  readonly anchor: number;
  /** Where it ends: the cursor. */
  readonly head: number;
}

/** Which text, as peers say it. */
type Place = Pick<TextPlace, "id" | "field"> & {
  readonly collection: { readonly name: string };
};

const COLOR = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;
const COLOR_DEFAULT = "#777777";
const NAME_MAX = 64;

/** The character before which a cursor stands; `null` at the end. */
type Spot = readonly [client: number, clock: number] | null;

/** What one device shows of its cursor, and what the others show. */
export class TextCursors {
  readonly #presence: Presence;
  readonly #user: CursorUser;
  #data: { readonly [key: string]: JsonValue } = {};
  #text: JsonValue = null;
  #shown = "";

  /** Use {@linkcode textCursors}. */
  constructor(presence: Presence, user: CursorUser) {
    refuseOptions(this);
    this.#presence = presence;
    this.#user = user;
  }

  /** What the app itself shows beside the cursor: presence has one value for all. */
  show(data: { readonly [key: string]: JsonValue }): void {
    this.#data = data;
    this.#tell();
  }

  /** Shows the own selection in a text. */
  set(place: Place, doc: Y.Doc, anchor: number, head: number): void {
    const { name, color } = this.#user;
    this.#text = {
      in: [place.collection.name, place.id, place.field],
      by: [name, color],
      at: [spotOf(doc, anchor), spotOf(doc, head)],
    };
    this.#tell();
  }

  /** The own cursor is in no text any more. */
  clear(): void {
    this.#text = null;
    this.#tell();
  }

  /** Does anybody else show anything in the repository now? */
  get hasOthers(): boolean {
    return this.#presence.others.length > 0;
  }

  #tell(): void {
    const data = { ...this.#data, text: this.#text };
    const shown = JSON.stringify(data);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#presence.set(data);
  }

  /** The cursors of others in a text. */
  of(place: Place, doc: Y.Doc): TextCursor[] {
    const here = JSON.stringify([
      place.collection.name,
      place.id,
      place.field,
    ]);
    const cursors: TextCursor[] = [];
    for (const { peer, data } of this.#presence.others) {
      const text = partOf(data, "text");
      if (JSON.stringify(partOf(text, "in")) !== here) continue;
      const [name, color] = listOf(partOf(text, "by"));
      const [anchor, head] = listOf(partOf(text, "at")).map((spot) =>
        indexOf(doc, spot)
      );
      if (anchor === undefined || head === undefined) continue;
      cursors.push({
        peer,
        name: typeof name === "string" ? name.slice(0, NAME_MAX) : "",
        color: typeof color === "string" && COLOR.test(color)
          ? color
          : COLOR_DEFAULT,
        anchor,
        head,
      });
    }
    return cursors;
  }

  /** Calls when somebody's cursor moved; the result ends it. */
  subscribe(listener: () => void): () => void {
    return this.#presence.subscribe(listener);
  }
}

/** Shows the own cursor to others and theirs here: hand it to the editors that are bound. */
export function textCursors(presence: Presence, user: CursorUser): TextCursors {
  return new TextCursors(
    presence,
    checkOptions(user, { name: 0, color: 0 }, "user."),
  );
}

function partOf(data: JsonValue | undefined, key: string) {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return;
  // Neither a list nor a scalar: all that is left of JSON.
  return (data as { readonly [key: string]: JsonValue })[key];
}

function listOf(data: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(data) ? data : [];
}

function spotOf(doc: Y.Doc, index: number): Spot {
  const { item } = Y.createRelativePositionFromTypeIndex(rootOf(doc), index);
  return item === null ? null : [item.client, item.clock];
}

/** Where a spot is here; `undefined` when its character is not known. */
function indexOf(doc: Y.Doc, spot: JsonValue): number | undefined {
  const root = rootOf(doc);
  if (spot === null) return root.length;
  const [client, clock] = listOf(spot);
  if (!isNatural(client) || !isNatural(clock)) return undefined;
  const item = Y.createID(client, clock);
  const place = Y.createAbsolutePositionFromRelativePosition(
    new Y.RelativePosition(null, null, item),
    doc,
  );
  return place?.type === root ? place.index : undefined;
}

function isNatural(value: JsonValue | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
