import { deepEqual, equal } from "node:assert/strict";
import { ManualWorld, Place, turns } from "../../tests/kit/replica_place.ts";
import { batchHead } from "../../repo/commit/batch.ts";
import type { ImageFile, Opened, TabMessage } from "./messages.ts";
import { Left } from "./tab_left.ts";
import { TabRepository } from "./tab_repository.ts";

/** The files of an owner, as a tab gets them. */
async function imageOf(owner: Place): Promise<ImageFile[]> {
  await owner.replica.durable();
  return owner.storage.list(owner.folder).map((name) => {
    const file = owner.file(name);
    const bytes = new Uint8Array(file.size());
    file.readAt(bytes, 0);
    file.close();
    return { name, bytes };
  });
}

/** A tab over the image of an owner, and everything that it said to it. */
async function start() {
  const owner = await Place.open({ lent: "new" });
  await owner.write("a", "of the owner");
  const said: TabMessage[] = [];
  const world = new ManualWorld(5);
  let calls = 0;
  let tab: Place | undefined;
  const counts = { joined: 0 };
  const repository = new TabRepository({
    name: "place",
    folder: owner.folder,
    world,
    link: {
      post: (message) => said.push(message),
      nextCall: () => ++calls,
      watch: () => {},
      call: () => Promise.resolve(true),
    },
    isHidden: () => false,
    isRich: false,
    openReplica: async (storage, lent) => {
      tab = await Place.open({ storage, lent, world });
      return tab.replica;
    },
    joined: () => counts.joined++,
    left: new Left(undefined, "db", "tab"),
  });
  const image = await imageOf(owner);
  /** What an owner answers to the last `open`, as one that has nothing of the tab's. */
  const answer = (): Opened => ({
    kind: "opened",
    call: calls,
    repository: "place",
    at: { address: owner.replica.loaded.log.end, crc: 0 },
    known: [],
    sync: {
      kind: "sync",
      repository: "place",
      status: {
        state: "offline",
        reason: undefined,
        unsent: { commits: 0, bytes: 0, oldest: undefined },
        progress: undefined,
        equalAt: undefined,
        enforced: undefined,
        incidents: [],
        clockOffsetMs: undefined,
      },
      acknowledged: [],
      to: 0,
      others: [],
    },
  });
  repository.join();
  repository.hear({ ...answer(), image });
  await repository.opened;
  await turns();
  /** Kinds of what was said since it was last asked; a write with its number of commits. */
  const news = () =>
    said.splice(0).map((message) => {
      if (message.kind !== "write") return message.kind;
      const counts = message.records.map(({ bytes }) => batchHead(bytes).count);
      return `write ${counts.join()}`;
    });
  return { repository, tab: tab!, answer, news, counts };
}

Deno.test("TabRepository ships what was written when it is sealed, once", async () => {
  const { repository, tab, news, counts } = await start();
  deepEqual([news(), counts.joined, repository.isJoined], [["open"], 1, true]);
  equal(tab.text("a"), "of the owner");
  void tab.write("b", "of the tab");
  tab.replica.flush();
  await turns();
  deepEqual(news(), ["write 1"]);
  equal(repository.isWaiting, true);
});

Deno.test("TabRepository ships nothing to a next owner before that has opened it", async () => {
  const { repository, tab, answer, news } = await start();
  void tab.write("b", "to an owner that is gone");
  tab.replica.flush();
  await turns();
  deepEqual(news(), ["open", "write 1"]);
  repository.join();
  const written = tab.write("c", "to nobody yet");
  tab.replica.flush();
  await turns();
  deepEqual(news(), ["open"], "it waits for the answer");
  repository.hear(answer());
  deepEqual(news(), ["write 1,1"], "with what nobody acknowledged");
  repository.hear({ kind: "acknowledged", repository: "place", seq: 2 });
  await written;
  equal(repository.isWaiting, false);
  equal(repository.unsyncedBytes, 0);
});

Deno.test("TabRepository opens again behind a gap, and hears no records before that", async () => {
  const { repository, tab, answer, news } = await start();
  const { at: { address: from } } = answer();
  const next = { address: from + 200, crc: 0 };
  const records = {
    kind: "records",
    repository: "place",
    records: [],
  } as const;
  news();
  repository.hear({ ...records, from: from + 100, next });
  deepEqual([news(), repository.isJoined], [["open"], false]);
  repository.hear({ ...records, from, next });
  repository.hear({ ...records, from: from + 300, next });
  deepEqual(news(), [], "what an opening before sent is over");
  repository.hear(answer());
  repository.hear({ ...records, from, next });
  deepEqual([news(), repository.isJoined], [[], true]);
  equal(tab.text("a"), "of the owner");
});
