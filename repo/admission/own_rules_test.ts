import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { Card, RuledDevice } from "../../tests/kit/ruled_device.ts";
import type { Transaction } from "../write/transaction.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { defineRules, rulesFor } from "../../src/schema/rules.ts";

const rules = defineRules({
  "team/{team}": {
    collections: [rulesFor(Card, {
      create: ({ after, session }) =>
        after.owner === session.user || "not yours",
      update: ({ before, session }) => before.owner === session.user,
    })],
  },
});

function denied(run: () => unknown, pattern: RegExp): void {
  throws(run, (error) => {
    ok(error instanceof DatabaseError && error.code === "denied", `${error}`);
    ok(pattern.test(error.message), error.message);
    return true;
  });
}

Deno.test("a write that a rule denies fails with rule and reason and leaves nothing behind", async () => {
  const ada = await RuledDevice.open({ seed: 1, rules });
  ada.put("mine", { owner: ada.user });
  const before = ada.digests();
  denied(
    () => ada.put("x", { owner: "eve" }),
    /^Cannot create "card" item "x": not yours \(rule team\/\{team\} card\.create\)$/,
  );
  denied(() => ada.remove("mine"), /No rule lets anybody delete "card" items/);
  denied(() =>
    ada.replica.transact((tx) => {
      ada.editor.update(tx, "mine", { rank: 7 });
      ada.editor.create(tx, { id: "y", title: "y", owner: "eve" });
    }), /not yours/);
  deepEqual(ada.digests(), before);
  equal(ada.get("mine", "rank"), 0);
  await ada.replica.close();
});

Deno.test("an operation that was denied and caught is no part of its transaction", async () => {
  const [ada, door] = [
    await RuledDevice.open({ seed: 1, rules }),
    await RuledDevice.open({ seed: 2, rules }),
  ];
  ada.replica.transact((tx) => {
    ada.editor.create(tx, { id: "a", title: "a", owner: ada.user });
    throws(() => ada.editor.create(tx, { id: "b", title: "b", owner: "eve" }));
    ada.editor.create(tx, { id: "c", title: "c", owner: ada.user });
  });
  door.take(ada.records());
  deepEqual(["a", "b", "c"].map((id) => door.get(id, "title")), [
    "a",
    undefined,
    "c",
  ]);
  for (const device of [ada, door]) await device.replica.close();
});

Deno.test("preview() says what the write would be told, and writes nothing", async () => {
  const ada = await RuledDevice.open({ seed: 1, rules });
  ada.put("mine", { owner: ada.user });
  const { editor, replica } = ada;
  const before = ada.digests();
  const card = { id: "x", title: "x" };
  const may = (owner: string) =>
    replica.preview((tx) => void editor.create(tx, { ...card, owner }));
  deepEqual(may(ada.user), { allowed: true });
  deepEqual(may("eve"), {
    allowed: false,
    reason: "not yours",
    rule: "team/{team} card.create",
  });
  const gone = replica.preview((tx) => editor.delete(tx, "mine"));
  equal(gone.allowed, false);
  throws(
    () => replica.preview((tx) => editor.delete(tx, "nothing")),
    /it is not there/,
  );
  throws(() =>
    replica.transact((tx) => {
      editor.update(tx, "mine", { rank: 1 });
      may(ada.user);
    }), /A transaction is running/);
  deepEqual(ada.digests(), before);
  await ada.replica.close();
});

Deno.test("who is not certified yet is not judged, and is as soon as it is", async () => {
  const ada = await RuledDevice.open({ seed: 1, rules, isNew: true });
  ada.put("x", { owner: "eve" });
  ada.replica.useSession({
    ...ada.replica.session,
    certificate: ada.certificate,
  });
  denied(() => ada.put("y", { owner: "eve" }), /not yours/);
  equal(ada.get("x", "owner"), "eve");
  await ada.replica.close();
});

Deno.test("modes that do not prove who wrote judge nobody", async () => {
  for (const mode of ["trusted", "fast"] as const) {
    const ada = await RuledDevice.open({ seed: 1, rules, mode });
    ada.put("x", { owner: "eve" });
    const { editor, replica } = ada;
    const may = replica.preview((tx) => editor.delete(tx, "x"));
    deepEqual(may, { allowed: true });
    await replica.close();
  }
});

Deno.test("a session that may issue certificates is not judged at home either", async () => {
  const office = await RuledDevice.open({ seed: 1, rules, mayIssue: true });
  office.put("x", { owner: "eve" });
  equal(office.get("x", "owner"), "eve");
  await office.replica.close();
});

/** A card "a" needs a card "b" after it, of the same owner, and none before. */
const paired = defineRules({
  "team/{team}": {
    collections: [rulesFor(Card, {
      create: ({ after, get, getAfter }) =>
        after.id !== "a" ||
        get(Card, "b") === undefined &&
          getAfter(Card, "b")?.owner === after.owner ||
        "no pair",
      update: () => true,
      delete: ({ getAfter }) => getAfter(Card, "a") === undefined || "a stays",
    })],
  },
});

Deno.test("a rule that looks at the whole commit is asked at the end of the transaction", async () => {
  const ada = await RuledDevice.open({ seed: 1, rules: paired });
  const door = await RuledDevice.open({ seed: 2, rules: paired });
  const { editor, replica } = ada;
  const create = (id: string, owner = "ada") => (tx: Transaction) =>
    void editor.create(tx, { id, title: id, owner });
  const both = (...steps: ((tx: Transaction) => void)[]) => (tx: Transaction) =>
    steps.forEach((step) => step(tx));
  const pair = both(create("a"), create("b"));
  const before = ada.digests();
  const reason =
    /^Cannot create "card" item "a": no pair \(rule .* card.create\)$/;
  denied(() => replica.transact(create("a")), reason);
  denied(() => replica.transact(both(create("a"), create("b", "bob"))), reason);
  equal(replica.preview(create("a")).allowed, false);
  deepEqual(replica.preview(pair), { allowed: true });
  deepEqual(ada.digests(), before);
  replica.transact(pair);
  denied(() => ada.remove("b"), /a stays/);
  replica.transact((tx) => {
    editor.delete(tx, "b");
    editor.delete(tx, "a");
  });
  const judged = door.accept(ada.records());
  const refused = judged.filter(({ verdict }) => verdict.verdict === "refuse");
  deepEqual(refused, []);
  for (const device of [ada, door]) await device.replica.close();
});

Deno.test("a rule that writes while it is asked at the end denies the transaction", async () => {
  let write = () => {};
  const writing = defineRules({
    "team/{team}": {
      collections: [rulesFor(Card, {
        create: ({ getAfter }) => {
          getAfter(Card, "x");
          write();
          return true;
        },
      })],
    },
  });
  const ada = await RuledDevice.open({ seed: 1, rules: writing });
  const before = ada.digests();
  throws(() =>
    ada.replica.transact((tx) => {
      let times = 0;
      write = () => {
        if (times++ > 0) return;
        ada.editor.create(tx, { id: "sly", title: "sly" });
      };
      ada.editor.create(tx, { id: "x", title: "x" });
    }), { code: "invalid-option" });
  write = () => {};
  deepEqual(ada.digests(), before);
  await ada.replica.close();
});
