import { equal, ok } from "node:assert/strict";
import { type Dice, rankBetween, ranks } from "./rank.ts";

function diceOf(seed: number): Dice {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

Deno.test("rankBetween() finds a place between any two, in any order of inserting", () => {
  const dice = diceOf(7);
  const list: string[] = [];
  for (let i = 0; i < 3_000; i++) {
    const at = Math.floor(dice() * (list.length + 1));
    list.splice(at, 0, rankBetween(list[at - 1], list[at], dice));
  }
  for (let i = 1; i < list.length; i++) ok(list[i - 1]! < list[i]!);
});

Deno.test("rankBetween() stays short where things are added at one end or in one place", () => {
  const dice = diceOf(11);
  let [first, last, low] = ["i00000m", "i00000m", "i00000m"];
  const high = "i00001m";
  for (let i = 0; i < 10_000; i++) {
    first = rankBetween(undefined, first, dice);
    last = rankBetween(last, undefined, dice);
    if (i < 150) low = rankBetween(low, high, dice);
  }
  equal(first.length, 8);
  equal(last.length, 8);
  ok(low.length < 100, `${low.length}`);
  ok(first < "i00000m" && low > "i00000m" && low < high && last > high);
});

Deno.test("rankBetween() gives two who ask the same two answers", () => {
  const [one, two] = [diceOf(3), diceOf(5)];
  const [a, b] = [one, two].map((dice) => rankBetween("h11", "j11", dice));
  ok(a !== b);
  const [low, high] = [a!, b!].sort();
  const between = rankBetween(low, high, one);
  ok(low! < between && between < high!);
});

Deno.test("ranks() gives as many as are asked for, in order", () => {
  const texts = ranks(500, diceOf(1));
  equal(texts.length, 500);
  equal(texts.toSorted().join(), texts.join());
});
