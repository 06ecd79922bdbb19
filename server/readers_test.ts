import { deepEqual, equal } from "node:assert/strict";
import { defineRules } from "../src/schema/rules.ts";
import { parseRepositoryName } from "../repo/mod.ts";
import type { Access } from "../sync/host_hooks.ts";
import { Card, RuledDevice } from "../tests/kit/ruled_device.ts";
import { type ReaderParts, Readers } from "./readers.ts";

const given = { rights: 3 };
const ada = { user: "ada", claims: {}, key: "00" };
const name = parseRepositoryName("team/acme");

/** Who may read is who owns the card "list". */
const rules = defineRules({
  "team/{team}": {
    read: ({ get, session }) =>
      get(Card, "list")?.owner === session.user || "not on the list",
  },
  "open/{name}": { read: () => true },
  "empty/{name}": { read: ({ get }) => get(Card, "list") === undefined },
});

/** Readers of a server that has one repository, and how often it was opened. */
function readersOf(device: RuledDevice, around: { isAwaited: boolean }) {
  const opened: string[] = [];
  const { replica } = device;
  const hub = {
    has: (asked: string) => asked === name,
    replicaOf: (asked: string) => asked === name ? replica : undefined,
    use(asked: string, work: (of: typeof replica) => Promise<unknown>) {
      opened.push(asked);
      return work(replica);
    },
  };
  const restores = { isAwaited: () => around.isAwaited };
  const world = { now: () => 1 };
  const parts = { rules, hub, restores, world } as unknown as ReaderParts;
  return { readers: new Readers(parts), opened };
}

function codeOf(access: Access): string | undefined {
  return "declined" in access ? access.declined.code : undefined;
}

Deno.test("Readers.authorize() opens a repository only where its rule looks there", async () => {
  const device = await RuledDevice.open({ seed: 1 });
  const { readers, opened } = readersOf(device, { isAwaited: false });
  const ask = (text: string) =>
    readers.authorize(ada, parseRepositoryName(text), given);
  deepEqual(ask("open/x"), given);
  equal(codeOf(await ask("other/x")), "forbidden");
  deepEqual(opened, []);
  const none = await ask("team/none"), there = await ask("team/acme");
  deepEqual(
    none,
    there,
    "what is not there gives the answer of what one may not read",
  );
  equal(codeOf(none), "forbidden");
  deepEqual(opened, ["team/acme"]);
  equal(
    codeOf(await ask("empty/x")),
    undefined,
    "nothing is there, and it says so",
  );
  await device.replica.close();
});

Deno.test("Readers.authorize() gives a right that ends with what it was given for", async () => {
  const device = await RuledDevice.open({ seed: 1 });
  const { readers } = readersOf(device, { isAwaited: false });
  device.put("list", { owner: "ada" });
  const access = await readers.authorize(ada, name, given);
  const ended = () => "ended" in access ? access.ended!() : "no right";
  equal(ended(), undefined);
  device.put("list", { rank: 5 });
  device.put("other", { owner: "eve" });
  equal(ended(), undefined, "it is still hers");
  device.put("list", { owner: "eve" });
  for (let i = 0; i < 2; i++) equal(ended() !== undefined, true);
  device.put("list", { owner: "ada" });
  equal(ended(), undefined);
  device.remove("list");
  equal(ended() !== undefined, true);
  await device.replica.close();
});

Deno.test("Readers.authorize() decides nothing by what has not come back yet", async () => {
  const device = await RuledDevice.open({ seed: 1 });
  const around = { isAwaited: false };
  const { readers } = readersOf(device, around);
  device.put("list", { owner: "ada" });
  const access = await readers.authorize(ada, name, given);
  around.isAwaited = true;
  const restoring = await readers.authorize(ada, name, given);
  equal(
    "rights" in restoring && restoring.rights,
    6,
    "it proves, and brings back",
  );
  const over = () => "ended" in restoring ? restoring.ended!() : undefined;
  equal(over(), undefined);
  device.put("list", { owner: "eve" });
  const ended = () => "ended" in access ? access.ended!() : "no right";
  equal(ended(), undefined, "who brings it back goes on");
  around.isAwaited = false;
  equal(ended() !== undefined, true);
  equal(over()?.code, "unavailable", "it may ask again");
  await device.replica.close();
});
