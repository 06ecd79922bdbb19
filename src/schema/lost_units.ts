/**
 * Units of texts that refused commits brought, and what becomes of those behind them.
 *
 * Nobody takes units that are not the next ones of their client. So what was
 * typed behind lost units, under the same client, goes on under another; nobody
 * else has it yet. Lost ones keep their names, for who writes them again.
 */

import { getOrMake } from "../base/collections.ts";
import type { FieldChange } from "./patch.ts";
import { endOf, SpanSet, type TextSpan } from "./span_set.ts";
import {
  clientOf,
  normalText,
  type TextId,
  type TextRun,
  type TextState,
} from "./text_state.ts";

interface NamedSpan extends TextSpan {
  readonly client: number;
}

export class LostUnits {
  readonly #lost = new Map<number, SpanSet>();

  add(changes: Iterable<FieldChange>): void {
    for (const { change } of changes) {
      if (change.what !== "edit") continue;
      for (const [client, { runs }] of change.text.clients) {
        for (const run of runs) {
          const lost = this.#lost.get(client) ?? SpanSet.of();
          this.#lost.set(client, lost.with(run));
        }
      }
    }
  }

  /** Does a change name units behind lost ones, so that it goes on under other names? */
  arePassed(changes: Iterable<FieldChange>): boolean {
    for (const { change } of changes) {
      if (change.what !== "edit") continue;
      for (const [client, { runs, gone }] of change.text.clients) {
        const ends = gone.map((span) => endOf(span) - 1);
        if (ends.some((clock) => this.#isBehind(client, clock))) return true;
        for (const { clock, left, right } of runs) {
          for (const id of [{ client, clock }, left, right]) {
            if (id && this.#isBehind(id.client, id.clock)) return true;
          }
        }
      }
    }
    return false;
  }

  #isBehind(client: number, clock: number): boolean {
    return this.#idOf({ client, clock }).client !== client;
  }

  /** A later change under the names that its units have now; the same one where it names no such client. */
  rename(change: TextState): TextState {
    if (!this.#concerns(change)) return change;
    const clients = new Map<number, { runs: TextRun[]; gone: TextSpan[] }>();
    const partsOf = (client: number) =>
      getOrMake(clients, client, () => ({ runs: [], gone: [] }));
    for (const [name, { runs, gone }] of change.clients) {
      for (const run of runs) {
        const { client, clock } = this.#idOf({ ...run, client: name });
        const left = run.left && this.#idOf(run.left);
        const right = run.right && this.#idOf(run.right);
        partsOf(client).runs.push({ ...run, clock, left, right });
      }
      for (const span of gone) {
        for (const { client, clock, length } of this.#named(name, span)) {
          partsOf(client).gone.push({ clock, length });
        }
      }
    }
    return normalText(clients);
  }

  #concerns({ clients }: TextState): boolean {
    const isNamed = (id: TextId | undefined) =>
      id !== undefined && this.#lost.has(id.client);
    return Array.from(clients).some(([client, { runs }]) =>
      this.#lost.has(client) ||
      runs.some(({ left, right }) => isNamed(left) || isNamed(right))
    );
  }

  #idOf({ client, clock }: TextId): TextId {
    return this.#named(client, { clock, length: 1 }).next().value!;
  }

  /** A span under the names of now, cut where lost units begin and end. */
  *#named(client: number, span: TextSpan): Generator<NamedSpan, undefined> {
    const end = endOf(span);
    let at = span.clock;
    let behind = 0;
    for (const lost of this.#lost.get(client) ?? []) {
      if (at >= end) return;
      if (at < lost.clock) {
        const to = Math.min(end, lost.clock);
        yield spanBehind(client, behind, at, to);
        at = to;
      }
      const to = Math.min(end, endOf(lost));
      if (at < to) {
        yield { client, clock: at, length: to - at };
        at = to;
      }
      behind = endOf(lost);
    }
    if (at < end) yield spanBehind(client, behind, at, end);
  }
}

/** Units from one clock to another, under a client that begins where lost ones ended. */
function spanBehind(
  client: number,
  behind: number,
  from: number,
  to: number,
): NamedSpan {
  const length = to - from;
  if (behind === 0) return { client, clock: from, length };
  const next = clientOf(`${client}.${behind}`);
  return { client: next, clock: from - behind, length };
}
