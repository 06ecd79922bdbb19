/**
 * One repository of an owner, whose disk and tab are the test's.
 *
 * @module
 */

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { Replica, Writer } from "../../tests/kit/door.ts";
import { SlowStorage, turns } from "../../tests/kit/replica_place.ts";
import { system } from "../base/system.ts";
import { openDatabase } from "../db/database.ts";
import type { OwnerMessage } from "./messages.ts";
import { Loans } from "./owner_members.ts";
import { OwnedRepository } from "./owner_repository.ts";
import { recordKind } from "../../repo/mod.ts";

/** A tab that has the repository open, and what it was told. */
async function start() {
  const storage = new SlowStorage();
  const db = await openDatabase({ storage, mode: "trusted", user: "ann" });
  const repository = await db.repository("board");
  const said: OwnerMessage[] = [];
  const owned = new OwnedRepository({
    repository,
    storage,
    world: system,
    loans: new Loans(),
    broadcast: () => {},
    isSettled: () => true,
  });
  const tab = {
    id: "tab",
    isNear: false,
    isHidden: false,
    connect: undefined,
    post: (message: OwnerMessage) => void said.push(message),
  };
  const asked = { at: undefined, chain: undefined, left: [] };
  const which = { repository: "board", call: 1 };
  const open = () => owned.open(tab, { kind: "open", ...which, ...asked });
  await open();
  const writer = new Writer(1, new Replica("trusted"));
  const write = async (seq: number) => {
    const { bytes } = writer.write([`${seq}`]);
    const records = [{ kind: recordKind.unsignedBatch, bytes }] as const;
    owned.write(tab, { kind: "write", repository: "board", seq, records });
    await turns();
  };
  const answers = () =>
    said.filter(({ kind }) => kind === "acknowledged" || kind === "declined")
      .map((message) => [message.kind, "seq" in message && message.seq]);
  return { storage, db, owned, repository, open, write, answers };
}

Deno.test("OwnedRepository acknowledges what a tab wrote when it is durable, and not before", async () => {
  const { storage, db, owned, repository, write, answers } = await start();
  storage.isSlow = true;
  await write(1);
  equal(repository.history().length, 1, "it is there, and not durable");
  ok(storage.waiting > 0);
  deepEqual(answers(), []);
  storage.isSlow = false;
  storage.finish();
  await turns();
  deepEqual(answers(), [["acknowledged", 1]]);
  owned.stop();
  await db.close();
});

Deno.test("OwnedRepository declines what a tab wrote when its sync fails", async () => {
  const { storage, db, owned, write, answers } = await start();
  storage.isSlow = true;
  await write(1);
  storage.isSlow = false;
  storage.finish(new Error("the disk is gone"));
  await turns();
  deepEqual(answers(), [["declined", 1]]);
  owned.stop();
  await db.close().catch(() => {}); // Its log has failed.
});

Deno.test("OwnedRepository that was stopped opens for nobody", async () => {
  const { db, owned, open } = await start();
  owned.stop();
  await rejects(open(), { code: "closed" });
  await db.close();
});
