/**
 * What Yjs does, for tests: its updates as changes of ours, by its own decoder,
 * and how many pieces it puts in.
 */

import * as Y from "yjs";
import {
  normalText,
  type TextId,
  type TextRun,
  type TextSpan,
  TextState,
} from "../schema/text_state.ts";
import { engine } from "./engine.ts";
import { docOf, rootOf } from "./yjs.ts";

/** What an update of Yjs says, as a change of ours. */
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

/** Pieces that Yjs puts in while something runs. */
export function piecesPutIn(work: () => void): number {
  const { integrate } = Y.Item.prototype;
  let pieces = 0;
  Y.Item.prototype.integrate = function (...parts) {
    pieces++;
    return integrate.apply(this, parts);
  };
  try {
    work();
  } finally {
    Y.Item.prototype.integrate = integrate;
  }
  return pieces;
}

/** What Yjs shows of a state, made anew; as the engine shows it where Yjs cannot take it. */
export function shownByYjs({ clients }: TextState): string {
  const state = new TextState(new Map(clients));
  try {
    return rootOf(docOf(state)).toString();
  } catch {
    return engine.show(state);
  }
}
