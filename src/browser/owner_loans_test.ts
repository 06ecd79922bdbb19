import { deepEqual, equal } from "node:assert/strict";
import { Loans } from "./owner_members.ts";

Deno.test("Loans lend a chain to one tab at a time, in each repository apart", () => {
  const loans = new Loans();
  const lent = [
    loans.lend("board", "x", "one"),
    loans.lend("board", "x", "one"),
    loans.lend("board", "x", "two"),
    loans.lend("notes", "x", "two"),
  ];
  deepEqual(lent, [true, true, false, true]);
  equal(loans.holderOf("board", "x"), "one");
});

Deno.test("Loans end for one repository, or for all that a tab has", () => {
  const loans = new Loans();
  for (const name of ["board", "notes", "lists"]) loans.lend(name, "x", "one");
  loans.lend("board", "y", "two");
  loans.end("one", "board");
  equal(loans.holderOf("board", "x"), undefined);
  equal(loans.holderOf("notes", "x"), "one");
  loans.end("one");
  equal(loans.holderOf("lists", "x"), undefined);
  equal(loans.holderOf("board", "y"), "two");
  equal(loans.lend("board", "x", "two"), true);
});

Deno.test("Loans believe who says that it writes a chain, whoever gave that chain's records", () => {
  const loans = new Loans();
  loans.lend("board", "x", "one");
  loans.claim("board", "x", "two");
  equal(loans.holderOf("board", "x"), "two");
  loans.end("one");
  equal(loans.isFree("board", "x"), false);
  loans.end("two");
  equal(loans.isFree("board", "x"), true);
});

Deno.test("Loans keep a chain from everybody else that tabs had to fill in", () => {
  const loans = new Loans();
  loans.claim("board", "x", "one");
  loans.keep("board", "x");
  loans.keep("board", "y");
  loans.end("one");
  const free = ["x", "y", "z"].map((chain) => loans.isFree("board", chain));
  deepEqual(free, [false, false, true]);
  equal(loans.isFree("notes", "x"), true);
  equal(loans.lend("board", "x", "one"), true, "its own tab goes on with it");
});
