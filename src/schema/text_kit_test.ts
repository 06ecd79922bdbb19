/**
 * Changes of texts for tests: honest and lying ones, of few clients and clocks,
 * so that two of them often name the same units.
 */

import fc from "fast-check";
import {
  normalText,
  type TextClient,
  type TextId,
  type TextRun,
  TextState,
} from "./text_state.ts";

const CLIENTS = [1, 2, 3, 2 ** 35 - 1];

const id: fc.Arbitrary<TextId> = fc.record({
  client: fc.constantFrom(...CLIENTS),
  clock: fc.nat(8),
}, { noNullPrototype: true });

function runsOf(client: number): fc.Arbitrary<TextRun[]> {
  const piece = fc.record({
    skip: fc.nat(2),
    left: fc.option(id, { nil: undefined }),
    right: fc.option(id, { nil: undefined }),
    goesOn: fc.boolean(),
    text: fc.constantFrom("a", "b", "abc", "é", "😀", "x😀y"),
    isDeleted: fc.boolean(),
  });
  return fc.array(piece, { maxLength: 4 }).map((pieces) => {
    let at = 0;
    return pieces.map(({ skip, left, right, goesOn, text, isDeleted }) => {
      const clock = at + skip;
      at = clock + text.length;
      const before = (id: TextId | undefined) =>
        id?.client === client && id.clock >= clock ? undefined : id;
      return {
        clock,
        length: text.length,
        left: goesOn && clock > 0 ? { client, clock: clock - 1 } : before(left),
        right: before(right),
        text: isDeleted ? undefined : text,
      };
    });
  });
}

/** Any change that the door lets in. */
export const textChange: fc.Arbitrary<TextState> = fc.constantFrom(...CLIENTS)
  .chain((writer) =>
    fc.tuple(
      runsOf(writer),
      fc.array(
        fc.record({
          client: fc.constantFrom(...CLIENTS),
          clock: fc.nat(8),
          length: fc.integer({ min: 1, max: 3 }),
        }),
        { maxLength: 3 },
      ),
    ).map(([runs, gone]) => {
      const clients = new Map<number, TextClient>();
      if (runs.length > 0) clients.set(writer, { runs, gone: [] });
      for (const { client, clock, length } of gone) {
        const known = clients.get(client) ?? { runs: [], gone: [] };
        const last = known.gone.at(-1);
        if (last !== undefined && last.clock + last.length > clock) continue;
        clients.set(client, {
          runs: known.runs,
          gone: [...known.gone, { clock, length }],
        });
      }
      return normalText(clients);
    })
  );

/** A text of one client, as it stands. */
export function textOf(client: number, runs: readonly TextRun[]): TextState {
  return new TextState(new Map([[client, { runs, gone: [] }]]));
}
