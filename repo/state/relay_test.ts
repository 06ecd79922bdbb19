import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { relayDoor } from "../admission/serving_door.ts";
import { listCheckpoints } from "../checkpoint/files.ts";
import type { RefusedCommit } from "../refusal/void_commits.ts";
import { digestOf } from "../../tests/kit/digest.ts";
import { Place } from "../../tests/kit/replica_place.ts";

/** A replica that nobody has asked for an item. */
async function relayed(from?: Place): Promise<Place> {
  const options = { seed: 9, door: relayDoor, isUnasked: true };
  return from === undefined
    ? await Place.open(options)
    : await from.reopen(options);
}

function kindsOf(place: Place): string[] {
  return listCheckpoints(place.storage.list(place.folder))
    .map((name) => name.replace(/-\d+$/, ""));
}

const refused = (number: number): RefusedCommit => ({
  ...{ number, reason: "denied", rule: "", detail: "", kept: false },
});

Deno.test("a relay folds nothing of what it receives, and all of it when somebody asks", async () => {
  const author = await Place.open();
  for (const id of ["a", "b", "c"]) await author.write(id, `text of ${id}`);
  const relay = await relayed();
  const { items } = relay.replica.loaded;
  const port = relay.replica.port();
  const judged = relay.replica.receive(await author.arrivals());
  equal(judged.filter(({ verdict }) => verdict.verdict === "refuse").length, 0);
  equal(items.folded, undefined);
  deepEqual(items.outline?.find("note")?.kinds.get("text"), "string");
  port.settle();
  await relay.replica.durable();
  ok(port.summary());
  deepEqual(port.summary(), author.replica.port().summary());
  equal(items.folded, undefined, "a summary takes no item");
  deepEqual(digestOf(items.state), digestOf(author.replica.state));
  await author.write("d", "later");
  relay.replica.receive(await author.arrivals());
  deepEqual(digestOf(items.state), digestOf(author.replica.state));
});

Deno.test("a relay leaves an outline where it was asked for no item, and a whole checkpoint where it was", async () => {
  const author = await Place.open();
  for (let i = 0; i < 20; i++) await author.write(`n${i % 7}`, `text ${i}`);
  const first = await relayed();
  first.replica.receive(await author.arrivals());
  await first.replica.close();
  deepEqual(kindsOf(first), ["outline"]);
  const second = await relayed(first);
  equal(
    second.replica.loaded.checkpoint?.covers,
    second.replica.loaded.log.end,
  );
  ok(second.replica.loaded.items.outline?.find("note")?.kinds.get("votes"));
  equal(second.replica.loaded.items.folded, undefined);
  deepEqual(digestOf(second.replica.state), digestOf(author.replica.state));
  await author.write("n1", "more");
  second.replica.receive(await author.arrivals());
  await second.replica.close();
  deepEqual(kindsOf(second), ["checkpoint"]);
  const third = await relayed(second);
  await author.write("n2", "and more");
  third.replica.receive(await author.arrivals());
  await third.replica.close();
  deepEqual(kindsOf(third), ["outline", "checkpoint"], "items stay at hand");
  const fourth = await relayed(third);
  ok(fourth.replica.loaded.checkpoint?.name.startsWith("outline"));
  deepEqual(digestOf(fourth.replica.state), digestOf(author.replica.state));
  equal(
    fourth.replica.loaded.items.base?.collections.join(),
    "note",
    "the whole checkpoint is read, and the log behind it",
  );
  await fourth.replica.close();
});

Deno.test("a replica that holds items opens what a relay has left, and the other way round", async () => {
  const author = await Place.open();
  for (let i = 0; i < 9; i++) await author.write(`n${i}`, `text ${i}`);
  const relay = await relayed();
  relay.replica.receive(await author.arrivals());
  await relay.replica.close();
  const whole = await relay.reopen({ seed: 9 });
  deepEqual(digestOf(whole.replica.state), digestOf(author.replica.state));
  await whole.write("own", "text");
  await whole.replica.close();
  deepEqual(kindsOf(whole), ["checkpoint"], "outlines before it are of no use");
  const back = await relayed(whole);
  equal(back.replica.loaded.items.folded, undefined);
  equal(back.replica.state.cellOf("note", "own")?.item?.text, "text");
});

Deno.test("an outline that is damaged costs nothing but time", async () => {
  const author = await Place.open();
  for (let i = 0; i < 9; i++) await author.write(`n${i}`, `text ${i}`);
  const first = await relayed();
  first.replica.receive(await author.arrivals());
  await first.replica.close();
  const [name] = listCheckpoints(first.storage.list(first.folder));
  first.spoil(name!, 40);
  const again = await relayed(first);
  deepEqual(
    again.replica.loaded.skipped.map(({ name }) => name),
    [name],
  );
  equal(again.replica.graph.commits, author.replica.graph.commits);
  deepEqual(digestOf(again.replica.state), digestOf(author.replica.state));
});

Deno.test("whatever comes, is given up, cut and reopened, a relay's items are those that were folded at once", async () => {
  const step = fc.record({
    what: fc.constantFrom(
      ...["write", "write", "write", "vote", "refuse", "cut", "hand", "close"],
      "ask",
    ),
    who: fc.nat(1),
    id: fc.nat(4),
    at: fc.nat(30),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const authors = [
        await Place.open({ seed: 1 }),
        await Place.open({ seed: 2 }),
      ];
      let relay = await relayed();
      for (const { what, who, id, at } of steps) {
        const author = authors[who]!;
        const [chain] = author.replica.graph.vector().keys();
        const length = relay.replica.graph.lengthOf(chain ?? "");
        if (what === "write") await author.write(`n${id}`, `text ${at}`);
        else if (what === "vote") {
          await author.write(`n${id}`, "there");
          await author.vote(`n${id}`);
        } else if (what === "hand") {
          relay.replica.receive(await author.arrivals());
        } else if (what === "refuse" && length > 0) {
          relay.replica.refuse(chain!, [refused(at % length)]);
        } else if (what === "cut" && length > 0) {
          relay.replica.cut([{ chain: chain!, from: at % length }], "foreign");
        } else if (what === "close") {
          await relay.replica.close();
          relay = await relayed(relay);
        } else if (what === "ask") void relay.replica.state;
      }
      const { state } = relay.replica;
      await relay.replica.durable();
      const twin = await Place.open({
        seed: 9,
        storage: relay.storage,
        world: relay.world,
      });
      deepEqual(digestOf(state), digestOf(twin.replica.state));
    }),
    { seed: 7, numRuns: 150 },
  );
});
