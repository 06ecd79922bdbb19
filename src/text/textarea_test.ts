import assert from "node:assert/strict";
import { memoryStorage, openDatabase } from "../../mod.ts";
import { defineSchema } from "../schema/mod.ts";
import { FakePage, FakeTextarea } from "../../tests/kit/fake_textarea.ts";
import type { Presence, PresentUser } from "../db/presence.ts";
import { bindTextarea, field, textCursors } from "./mod.ts";

const Card = defineSchema("card", {
  title: field.string().default(""),
  note: field.text(),
});

/** A page of its own. */
const bindIn = () => new FakeTextarea(new FakePage());

async function open(text = "") {
  const db = await openDatabase({ storage: memoryStorage(), schemas: [Card] });
  const repo = await db.repository("r");
  const cards = repo.collection(Card);
  cards.create({ id: "c", note: text });
  const page = new FakePage();
  const errors: unknown[] = [];
  const bind = () => {
    const element = new FakeTextarea(page);
    const onError = (error: unknown) => void errors.push(error);
    const place = { collection: cards, id: "c", field: "note" as const };
    return { element, bound: bindTextarea(element, { ...place, onError }) };
  };
  return { db, repo, cards, page, errors, bind };
}

Deno.test("bindTextarea() gathers typing into one commit, and shows it elsewhere", async () => {
  const { db, repo, cards, page, bind } = await open("Hello");
  const [a, b] = [bind(), bind()];
  const before = repo.history().length;
  for (const letter of " world") a.element.type(a.element.value.length, letter);
  assert.equal(cards.get("c")!.note, "Hello");
  assert.equal(a.bound.text, "Hello world");
  page.pass(500);
  assert.equal(cards.get("c")!.note, "Hello world");
  assert.equal(b.element.value, "Hello world");
  assert.equal(repo.history().length, before + 1);
  await db.close();
});

/** Keys without a pause, 200 ms between them; how many commits they became by each second. */
function commitsOf(
  { repo, page, element }: {
    readonly repo: { history(): readonly unknown[] };
    readonly page: FakePage;
    readonly element: FakeTextarea;
  },
  seconds: number,
): number[] {
  const before = repo.history().length;
  return Array.from({ length: seconds }, () => {
    for (let i = 0; i < 5; i++) {
      element.type(element.value.length, "x");
      page.pass(200);
    }
    return repo.history().length - before;
  });
}

Deno.test("bindTextarea() writes who types on without a pause after four delays", async () => {
  const { db, repo, cards, page, bind } = await open();
  const { element } = bind();
  assert.deepEqual(commitsOf({ repo, page, element }, 5), [0, 1, 1, 2, 2]);
  page.pass(300);
  assert.equal(cards.get("c")!.note, "x".repeat(25));
  assert.deepEqual(commitsOf({ repo, page, element }, 1), [0], "after a pause");
  await db.close();
});

Deno.test("bindTextarea() writes a delay after the first key while somebody else is here", async () => {
  const { db, repo, cards, page } = await open();
  let others: readonly PresentUser[] = [];
  const presence: Presence = {
    set: () => {},
    clear: () => {},
    subscribe: () => () => {},
    getSnapshot: () => others,
    get others() {
      return others;
    },
  };
  const cursors = textCursors(presence, { name: "Ada", color: "#123" });
  const element = new FakeTextarea(page);
  bindTextarea(element, { collection: cards, id: "c", field: "note", cursors });
  assert.deepEqual(commitsOf({ repo, page, element }, 2), [0, 1]);
  others = [{ peer: 1, user: "grace", data: null }];
  page.pass(500);
  assert.deepEqual(commitsOf({ repo, page, element }, 3), [1, 3, 5]);
  await db.close();
});

Deno.test("bindTextarea() merges what two people type at the same time", async () => {
  const { db, cards, page, bind } = await open("one two");
  const [a, b] = [bind(), bind()];
  a.element.type(0, "zero ");
  b.element.type(7, " three");
  page.pass(500);
  for (const { element, bound } of [a, b]) {
    assert.equal(element.value, "zero one two three");
    assert.equal(bound.text, element.value);
  }
  assert.equal(cards.get("c")!.note, "zero one two three");
  await db.close();
});

Deno.test("bindTextarea() writes nothing of what was typed and erased again", async () => {
  const { db, repo, cards, page, bind } = await open("aaaa");
  const { element } = bind();
  const before = repo.history().length;
  element.type(4, "b");
  element.type(4, "", 1);
  page.pass(500);
  assert.equal(repo.history().length, before);
  element.type(4, "b");
  element.type(5, "c");
  element.type(5, "", 1);
  page.pass(500);
  const changes = cards.history("c").at(-1)!.operations[0]!.fields;
  assert.deepEqual(changes.map(({ change }) => change), [
    { what: "edit", inserted: "b", deleted: 0 },
  ]);
  await db.close();
});

Deno.test("bindTextarea() takes what was typed for typed where it was, wherever the cursor went", async () => {
  const { db, cards, page, bind } = await open("aaaa");
  const { element } = bind();
  element.type(0, "a");
  element.setSelectionRange(5, 5);
  element.fire("pointerup");
  element.type(5, "!");
  page.pass(500);
  const { clients } = cards.textOf("c", "note")!;
  const typed = [...clients.values()].flatMap(({ runs }) => runs)
    .filter(({ text }) => text !== "aaaa");
  assert.deepEqual(
    typed.map(({ text, left }) => [text, left === undefined]),
    [["a", true], ["!", false]],
  );
  await db.close();
});

Deno.test("bindTextarea() keeps the selection on its characters, and leaves alone who is elsewhere", async () => {
  const { db, cards, bind } = await open("one two three");
  const { element } = bind();
  element.setSelectionRange(4, 7);
  cards.update("c", { note: "ONE plus two three" });
  assert.equal(
    element.value.slice(element.selectionStart, element.selectionEnd),
    "two",
  );
  cards.update("c", { note: "ONE plus two three four" });
  assert.equal(
    element.value.slice(element.selectionStart, element.selectionEnd),
    "two",
  );
  element.isFocused = false;
  element.setSelectionRange(1, 1);
  cards.update("c", { note: "" });
  assert.deepEqual([element.value, element.selectionStart], ["", 1]);
  await db.close();
});

Deno.test("bindTextarea() does not touch a text in which a character is being composed", async () => {
  const { db, cards, page, bind } = await open("ab");
  const { element } = bind();
  element.fire("compositionstart");
  element.type(2, "に");
  cards.update("c", { note: "xab" });
  page.pass(1_000);
  assert.equal(element.value, "abに");
  element.type(2, "日", 1);
  element.fire("compositionend");
  assert.equal(element.value, "xab日");
  page.pass(500);
  assert.equal(cards.get("c")!.note, "xab日");
  await db.close();
});

Deno.test("bindTextarea() writes at once when the page goes, the focus leaves or it is closed", async () => {
  const { db, cards, page, bind } = await open();
  const { element, bound } = bind();
  element.type(0, "a");
  page.fire("pagehide");
  assert.equal(cards.get("c")!.note, "a");
  element.type(0, "-");
  page.fire("visibilitychange");
  assert.equal(cards.get("c")!.note, "-a");
  element.type(0, "", 1);
  element.type(1, "b");
  element.fire("blur");
  assert.equal(cards.get("c")!.note, "ab");
  element.type(2, "c");
  bound.close();
  assert.equal(cards.get("c")!.note, "abc");
  cards.update("c", { note: "later" });
  assert.equal(element.value, "abc");
  const left = [page, element].flatMap(({ listeners }) =>
    [...listeners.values()].filter((all) => all.size > 0)
  );
  assert.deepEqual(left, []);
  await db.close();
});

Deno.test("bindTextarea() tells a write that fails, and shows the text as it is", async () => {
  const { db, cards, page, errors, bind } = await open("kept");
  const { element } = bind();
  element.type(4, "!");
  cards.delete("c");
  page.pass(500);
  assert.equal(errors.length, 1);
  assert.equal(element.value, "");
  cards.create({ id: "c", note: "again" });
  assert.equal(element.value, "again");
  element.type(5, "?");
  page.pass(500);
  assert.equal(cards.get("c")!.note, "again?");
  await db.close();
});

Deno.test("bindTextarea() takes a replacement of more places than one change may name", async () => {
  const { db, cards, page, bind } = await open("a ".repeat(9_000));
  const { element } = bind();
  element.value = "b ".repeat(9_000);
  element.fire("input");
  page.pass(500);
  assert.equal(cards.get("c")!.note, element.value);
  await db.close();
});

Deno.test("bindTextarea() may be ended by its function alone, as an effect does", async () => {
  const { db, cards, bind } = await open();
  const { element, bound: { flush, close } } = bind();
  element.type(0, "a");
  flush();
  assert.equal(cards.get("c")!.note, "a");
  element.type(1, "b");
  close();
  assert.equal(cards.get("c")!.note, "ab");
  await db.close();
});

Deno.test("bindTextarea() says what is wrong with a field that is no text()", async () => {
  const { db, cards } = await open();
  for (const field of ["title", "nothing"]) {
    assert.throws(
      // A field that the type refuses, too, or not yet.
      () =>
        bindTextarea(bindIn(), {
          collection: cards,
          id: "c",
          field: field as "note",
        }),
      {
        code: "invalid-option",
        message:
          `Cannot bind card.${field}: it is not a field made with text()`,
      },
    );
  }
  await db.close();
});

Deno.test("bindTextarea() tells that its repository is closed, and leaves what was typed in sight", async () => {
  const { db, page, errors, bind } = await open();
  const { element, bound } = bind();
  await db.close();
  element.type(0, "late");
  page.pass(500);
  assert.equal(errors.length, 1);
  element.type(4, "r");
  bound.close();
  assert.equal(errors.length, 2);
  assert.equal(element.value, "later");
});
