import { deepEqual, equal } from "node:assert/strict";
import { defineSchema, field, memoryStorage, openDatabase } from "../../mod.ts";
import { system } from "../base/system.ts";
import type { ChannelStatus } from "../db/channel.ts";
import { replicaOf } from "../db/internals.ts";
import { RepositoryLink } from "../db/repository_link.ts";
import type { SyncReport } from "./messages.ts";
import { TabChannel } from "./tab_channel.ts";

const Note = defineSchema("note", { text: field.string() });

function reportOf(unsent: ChannelStatus["unsent"]): SyncReport {
  const status: ChannelStatus = {
    state: "live",
    reason: undefined,
    unsent,
    progress: undefined,
    equalAt: undefined,
    enforced: undefined,
    incidents: [],
    clockOffsetMs: 0,
  };
  return {
    kind: "sync",
    repository: "a",
    status,
    acknowledged: [],
    to: 0,
    others: [],
  };
}

Deno.test("TabChannel: a receipt is the one that the owner of the files keeps", async () => {
  const storage = memoryStorage();
  await using db = await openDatabase({ storage, schemas: [Note] });
  const replica = replicaOf(await db.repository("a"));
  const asked: unknown[] = [];
  const link = {
    call: (...call: unknown[]) => Promise.resolve(asked.push(call)),
    post: () => {},
  };
  const unsent = { commits: 0, bytes: 0, oldest: undefined };
  const joint = new RepositoryLink({ replica, storage, world: system });
  joint.join(new TabChannel("a", link, reportOf(unsent)));
  equal(await joint.sync.receipt(), 1);
  deepEqual(asked, [["receipt", [], "a"]]);
  joint.close();
});

Deno.test("TabChannel: what is unsent stays as the owner said it when the repository closes", async () => {
  const storage = memoryStorage();
  await using db = await openDatabase({ storage, schemas: [Note] });
  const repository = await db.repository("a");
  const notes = repository.collection(Note);
  for (let i = 0; i < 5; i++) await notes.create({ text: `${i}` });
  for (const commits of [0, 2]) {
    const oldest = commits > 0 ? new Date(0) : undefined;
    const unsent = { commits, bytes: commits * 100, oldest };
    const link = {
      call: () => Promise.reject(new Error("not asked")),
      post: () => {},
    };
    const channel = new TabChannel("a", link, reportOf(unsent));
    const replica = replicaOf(repository);
    const joint = new RepositoryLink({ replica, storage, world: system });
    joint.join(channel);
    const told: unknown[] = [];
    const { sync } = joint;
    sync.subscribe(() => told.push([sync.status.state, sync.status.unsent]));
    deepEqual(sync.status.unsent, unsent);
    joint.close();
    equal(sync.status.state, "closed");
    deepEqual(sync.status.unsent, unsent);
    deepEqual(told, [["offline", unsent], ["closed", unsent]]);
  }
});
