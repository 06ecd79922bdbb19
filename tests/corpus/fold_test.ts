/**
 * What operations fold into, as docs/format.md says it and as the product does:
 * any operations on any items, of writers who do not know of each other.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { createSigner } from "../../crypto/mod.ts";
import { recordKind } from "../../repo/log/format.ts";
import { Replica } from "../../repo/replica.ts";
import { indexedDoor } from "../../repo/admission/serving_door.ts";
import { parseRepositoryName } from "../../repo/commit/genesis.ts";
import { createView } from "../../src/schema/view.ts";
import { lateRich } from "../../src/schema/late_rich.ts";
import { memoryStorage } from "../../mod.ts";
import { HostileChain } from "../kit/forge.ts";
import { filesOf } from "../kit/images.ts";
import { seededRandom } from "../kit/random.ts";
import { certificateFor, rootSigner } from "../kit/replica_place.ts";
import { steadyWorld } from "../kit/small_database.ts";
import { sized } from "../kit/tier.ts";
import { rawOperation } from "../random_writes.ts";
import { plain } from "./corpus.ts";
import { segmentsIn, testDecoder, told } from "./second_decoder.ts";

const WRITERS = 3;
const ROUNDS = sized(150, 300);
const START = 1_800_000_000_000;

function signerOf(seed: number) {
  return createSigner(new Uint8Array(32).fill(seed));
}

/** A replica without schemas, which is told of commits that nobody checked. */
async function played(seed: number) {
  const storage = memoryStorage();
  const view = createView(undefined);
  const session = { user: "nobody", signer: signerOf(100) };
  const replica = await Replica.open({
    door: indexedDoor,
    storage,
    world: steadyWorld(seed),
    name: parseRepositoryName("fold"),
    mode: "default",
    isModeRequired: true,
    rootKey: rootSigner.publicKey,
    session,
    isOriginal: true,
    viewOf: () => view,
    repair: false,
    settle: () => Promise.resolve(),
  });
  const port = replica.port();
  const random = seededRandom(seed);
  const chains = Array.from({ length: WRITERS }, (_, i) => {
    const signer = signerOf(101 + i);
    const bytes = certificateFor({ user: `user-${i}`, signer });
    port.receive([{ kind: recordKind.certificate, bytes }]);
    return new HostileChain(replica.loaded.genesisId, signer);
  });
  const walls = chains.map(() => START);
  let taken = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const i = Math.floor(random() * WRITERS);
    const { state } = replica;
    const operations = Array.from(
      { length: 1 + Math.floor(random() * 3) },
      () => rawOperation(random, state, START),
    );
    const wall = walls[i]! += 1 + Math.floor(random() * 20);
    const [judged] = port.receive([chains[i]!.batch({ wall, operations })]);
    if (judged!.verdict.verdict === "admit") taken++;
    else chains[i]!.cut(chains[i]!.length - 1);
  }
  await replica.durable();
  const items: Record<string, Record<string, unknown>> = {};
  for (const table of replica.state.tables()) {
    for (const id of table.ids()) {
      const item = table.cellOf(id)?.item;
      if (item === undefined) continue;
      const { id: _, ...fields } = item;
      (items[table.name] ??= {})[id] = plain(fields);
    }
  }
  await replica.close();
  return {
    files: segmentsIn(filesOf(storage, replica.loaded.folder)),
    items,
    taken,
  };
}

testDecoder(
  "decode.py folds what anybody wrote as the product does",
  async () => {
    await lateRich.load();
    const seeds = Array.from({ length: sized(2, 30) }, (_, i) => i + 1);
    const all = await Promise.all(seeds.map(played));
    const found = await told(all.map(({ files }) => files));
    for (const [i, { items, taken }] of all.entries()) {
      equal(found[i]!.refused, undefined);
      ok(taken > ROUNDS / 2 && Object.keys(items).length > 3);
      deepEqual(
        withoutTexts(found[i]!.items),
        withoutTexts(items),
        `seed ${i + 1}`,
      );
    }
  },
);

/** Edited texts are Yjs's affair; all are called "body". */
function withoutTexts(
  items: Readonly<Record<string, Record<string, unknown>>>,
) {
  return JSON.parse(
    JSON.stringify(items, (key, value) => key === "body" ? undefined : value),
  );
}
