/**
 * A withdrawal is whole or it never happened: logs cut at every byte of it, and
 * files as a power cut leaves them.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import type { Mode } from "../repo/genesis.ts";
import { segmentName } from "../repo/log_format.ts";
import { AuthorPlace, refusedAt } from "./kit/author_place.ts";
import { type Files, filesOf, withFile } from "./kit/mod.ts";

/** Increments of one counter, so that nothing that is lost or doubled stays unseen. */
async function voted(mode: Mode, count: number): Promise<AuthorPlace> {
  const place = await AuthorPlace.open({ mode });
  place.write((tx, leaves) => void leaves.create(tx, { id: "sum" }));
  for (let i = 0; i < count; i++) {
    place.write((tx, leaves) => {
      leaves.update(tx, "sum", { votes: { increment: 2 ** i } });
      leaves.create(tx, { id: `own-${i}`, title: "x".repeat(i * 7) });
    });
    if (i % 2 === 1) await place.replica.durable();
  }
  await place.replica.durable();
  return place;
}

function logOf(place: AuthorPlace): { files: Files; log: string; end: number } {
  const files = filesOf(place.storage);
  const [log] = files.find(([name]) => name.endsWith(segmentName(0)))!;
  return { files, log, end: place.replica.loaded.log.end };
}

for (const mode of ["default", "trusted", "fast"] as const) {
  Deno.test(`a ${mode} log that is cut at any byte of a withdrawal has all of it or nothing`, async () => {
    const place = await voted(mode, 6);
    const [{ name: chain }] = [...place.replica.graph.chains()];
    const before = place.get("sum")!.votes as number;
    const from = logOf(place).end;
    place.replica.withdraw(chain!, 2, [refusedAt(3), refusedAt(5)]);
    const after = place.get("sum")!.votes as number;
    equal(after, before - 4 - 16);
    const full = logOf(place).end;
    place.write((tx, leaves) =>
      void leaves.update(tx, "sum", { votes: { increment: 1000 } })
    );
    await place.replica.durable();
    const { files, log, end } = logOf(place);
    const bytes = files.find(([name]) => name === log)![1];
    for (let cut = from; cut <= end; cut++) {
      const image = withFile(files, log, bytes.slice(0, cut));
      const again = await AuthorPlace.open({ mode, files: image });
      const what = `cut at ${cut - from} of ${end - from}`;
      const isWhole = cut >= full;
      equal(
        again.get("sum")!.votes,
        cut === end ? after + 1000 : isWhole ? after : before,
        what,
      );
      equal(again.replica.refusals().length, isWhole ? 2 : 0, what);
      equal(again.get("own-2") === undefined, isWhole, what);
      // It goes on: the server refuses once more what was not taken back.
      if (!isWhole) {
        again.replica.withdraw(chain!, 2, [refusedAt(3), refusedAt(5)]);
      }
      const sum = again.get("sum")!.votes as number;
      equal(sum, cut === end ? after + 1000 : after, what);
      again.write((tx, leaves) =>
        void leaves.update(tx, "sum", { votes: { increment: 5000 } })
      );
      if (cut % 16 !== 0) continue;
      equal((await again.peer()).get("sum")!.votes, sum + 5000, what);
      const third = await again.reopened();
      equal(third.get("sum")!.votes, sum + 5000, what);
      equal(third.replica.refusals().length, 2, what);
    }
  });
}

Deno.test("a withdrawal of many batches is cut back over all of them", async () => {
  const place = await AuthorPlace.open();
  for (let i = 0; i < 9; i++) {
    place.put(`large-${i}`, "y".repeat(1_000_000));
    place.replica.flush();
  }
  await place.replica.durable();
  const before = await place.knowledge();
  const [{ name: chain }] = [...place.replica.graph.chains()];
  const from = logOf(place).end;
  place.replica.withdraw(chain!, 1, [refusedAt(4)]);
  await place.agrees("a long tail");
  const { files, log, end } = logOf(place);
  const bytes = files.find(([name]) => name === log)![1];
  let batches = 0;
  place.replica.loaded.log.records(
    from,
    end,
    (kind) => void (batches += kind === 3 ? 1 : 0),
  );
  ok(batches >= 2, `${batches} batches`);
  for (const share of [0.1, 0.5, 0.9, 0.999]) {
    const cut = Math.floor(from + (end - from) * share);
    const image = withFile(files, log, bytes.slice(0, cut));
    const again = await AuthorPlace.open({ files: image });
    deepEqual(await again.knowledge(), before, `cut at ${share}`);
    equal(again.replica.loaded.log.end, from, "nothing is left of it");
  }
});

Deno.test("a retry that is cut has not happened, and the refusal is still there", async () => {
  const place = await AuthorPlace.open();
  place.put("a", "a");
  const refused = place.put("b", "b").commit!;
  place.replica.withdraw(refused.chain, 1, [refusedAt(1)]);
  await place.replica.durable();
  const from = logOf(place).end;
  place.replica.retry(place.replica.refusals()[0]!);
  await place.replica.durable();
  const { files, log, end } = logOf(place);
  const bytes = files.find(([name]) => name === log)![1];
  for (let cut = from; cut <= end; cut++) {
    const image = withFile(files, log, bytes.slice(0, cut));
    const again = await AuthorPlace.open({ files: image });
    const isWhole = cut === end;
    equal(again.get("b")?.title, isWhole ? "b" : undefined);
    equal(again.replica.refusals().length, isWhole ? 0 : 1);
  }
});
