/** Own edits that lost, among pages: told to one of them, whichever listens. */

import { deepEqual, equal } from "node:assert/strict";
import type { Database, Repository } from "../mod.ts";
import { memoryStorage, openDatabase } from "../mod.ts";
import { system } from "../src/base/system.ts";
import { Card, schemas, ServedOrigin } from "./kit/tab_cards.ts";
import { trips, until } from "./kit/patience.ts";

/** Somebody else, on a device of her own. */
class Other {
  constructor(readonly database: Database, readonly repository: Repository) {}

  static async open(
    { server }: ServedOrigin,
    user: string,
  ): Promise<Other> {
    const { rootKey } = server;
    const database = await openDatabase({
      storage: memoryStorage(),
      rootKey,
      schemas,
      user,
    });
    const repository = await database.repository("board");
    return new Other(database, repository);
  }

  get cards() {
    return this.repository.collection(Card);
  }

  /** Writes the title, and is later than all that was written before. */
  async writeLater(title: string): Promise<void> {
    const nowMs = system.now();
    await until(() => system.now() > nowMs, "a millisecond has passed");
    this.cards.update("x", { title });
  }
}

/** Keeps what a page is told. */
function listen(repository: Repository) {
  const told: string[] = [];
  const end = repository.collection(Card).onOverwritten((edits) => {
    for (const { kind, id, before, after, by } of edits) {
      const was = kind === "deleted" ? before.title : before;
      told.push(`${kind} ${id} ${was} ${after} ${by.user}`);
    }
  });
  return { told, end };
}

/**
 * A page that shares a card with somebody else, who is offline.
 *
 * @param prepare before the page is connected
 */
async function start(
  user = "bob",
  prepare: (place: ServedOrigin) => Promise<void> = () => Promise.resolve(),
) {
  const place = new ServedOrigin({ b: user });
  const other = await Other.open(place, user);
  const [database, page] = await place.tab();
  await page.collection(Card).create({ id: "x", title: "old" });
  await prepare(place);
  place.connect(database);
  const go = () => {
    const { connector, login } = place.server;
    const session = () => ({ token: "b" });
    return other.database.connect(connector, { session, login });
  };
  const connection = go();
  await until(() => other.cards.has("x"), "the other one has it");
  connection.close();
  return {
    place,
    other,
    page,
    /** The other one connects again, and all is there. */
    async meet(): Promise<void> {
      go();
      await until(
        () => other.repository.sync.status.state === "live",
        "the other one is live",
      );
      await other.repository.durable();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await other.database.close();
      await place.close();
    },
  };
}

Deno.test("a page is told of what lost, once over all pages", async () => {
  await using at = await start();
  const { other, page, place } = at;
  const [, second] = await place.tab();
  const [one, two] = [listen(page), listen(second)];
  other.cards.update("x", { title: "earlier" });
  await page.collection(Card).update("x", { title: "mine" }).synced;
  await other.writeLater("theirs");
  await at.meet();
  await until(() => one.told.length + two.told.length > 0, "one is told");
  await trips();
  deepEqual([...one.told, ...two.told], ["overwritten x mine theirs bob"]);
});

Deno.test("what lost while its page was closed is told to the page that listens first, also after another owner came", async () => {
  await using at = await start();
  const { other, page, place } = at;
  const [database, second] = await place.tab();
  place.connect(database);
  const first = listen(page);
  await trips();
  first.end();
  await page.collection(Card).update("x", { title: "mine" }).synced;
  await other.writeLater("theirs");
  place.tabs[0]!.kill(); // It was the owner, too.
  await at.meet();
  await until(
    () => second.collection(Card).get("x")?.title === "theirs",
    "the other page sees it",
  );
  const { told } = listen(second);
  await until(() => told.length > 0, "it is told");
  deepEqual(told, ["overwritten x mine theirs bob"]);
  const [, third] = await place.tab();
  const later = listen(third);
  await trips();
  deepEqual([told.length, later.told], [1, []]);
});

Deno.test("a page that dies before it has taken what it was told leaves it to another one", async () => {
  await using at = await start();
  const { other, page, place } = at;
  const [, second] = await place.tab();
  let isTold = false;
  second.collection(Card).onOverwritten(() => {
    isTold = true;
    return new Promise(() => {}); // It asks its user, who never answers.
  });
  await trips();
  const one = listen(page);
  await page.collection(Card).update("x", { title: "mine" }).synced;
  await other.writeLater("theirs");
  await at.meet();
  await until(() => isTold || one.told.length > 0, "one is told");
  if (isTold) {
    equal(one.told.length, 0);
    place.tabs[1]!.kill();
  }
  await until(() => one.told.length > 0, "the other one is told");
  deepEqual(one.told, ["overwritten x mine theirs bob"]);
});

Deno.test("a page hears of its own edit that came too late: the item was deleted at the owner of the files", async () => {
  await using at = await start();
  const { other, page } = at;
  const { told } = listen(page);
  await trips();
  other.cards.delete("x");
  page.collection(Card).update("x", { title: "mine" });
  await at.meet();
  await until(() => told.length > 0, "it is told");
  deepEqual(told, ["deleted x mine undefined bob"]);
});

Deno.test("another device of the same user is somebody else", async () => {
  await using at = await start("ann");
  const { other, page } = at;
  const { told } = listen(page);
  await page.collection(Card).update("x", { title: "mine" }).synced;
  await other.writeLater("theirs");
  await at.meet();
  await until(() => told.length > 0, "it is told");
  deepEqual(told, ["overwritten x mine theirs ann"]);
});

for (const what of ["title", "item"]) {
  Deno.test(`a page hears of its own edit that came too late to the owner of the files (${what})`, async () => {
    let slow: Repository;
    await using at = await start("bob", async (place) => {
      [, slow] = await place.tab();
      await until(() => slow.collection(Card).has("x"), "it knows the card");
      place.tabs[1]!.page.life.freeze(); // It speaks, and hears nothing: nor of the server's clock.
      place.origin.aheadMs = -10_000;
    });
    const { other, page, place } = at;
    const { life } = place.tabs[1]!.page;
    const one = listen(page);
    await trips();
    try {
      if (what === "item") other.cards.delete("x");
      else await other.writeLater("theirs");
      await at.meet();
      const cards = page.collection(Card);
      await until(
        () =>
          what === "item"
            ? !cards.has("x")
            : cards.get("x")!.title === "theirs",
        "the owner has theirs",
      );
      slow!.collection(Card).update("x", { title: "mine" });
      await until(() => one.told.length > 0, "it is told");
      deepEqual(one.told, [
        what === "item"
          ? "deleted x mine undefined bob"
          : "overwritten x mine theirs bob",
      ]);
    } finally {
      life.thaw();
    }
  });
}

Deno.test("two pages of one device never lose to each other", async () => {
  await using at = await start();
  const { page, place } = at;
  const [, second] = await place.tab();
  const told = [listen(page).told, listen(second).told];
  await trips();
  for (let round = 0; round < 5; round++) {
    page.collection(Card).update("x", { title: `one ${round}` });
    second.collection(Card).update("x", { title: `two ${round}` });
  }
  page.collection(Card).delete("x");
  await until(() => !second.collection(Card).has("x"), "both know all");
  await trips();
  deepEqual(told, [[], []]);
});
