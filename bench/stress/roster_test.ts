import assert from "node:assert/strict";
import { type Ask, asksOf } from "./asks.ts";
import { playerAt, scoreOf, worlds } from "./players.ts";
import { Roster } from "./roster.ts";

const size = 1_000;

function full(): Roster {
  const roster = new Roster(size);
  roster.add(0, size);
  return roster;
}

Deno.test("no two players have an id, a score or a moment in common", () => {
  const players = Array.from({ length: size }, (_, at) => playerAt(at, at % 3));
  for (const key of ["id", "score", "createdAt", "lastSeenAt"] as const) {
    const values = new Set(players.map((player) => player[key]));
    assert.equal(values.size, size, key);
  }
});

Deno.test("there are 27 questions with names of their own, and each has an answer in every variant", () => {
  const roster = full();
  const names = new Set(asksOf(size).map(({ name }) => name));
  assert.equal(names.size, 27);
  for (let variant = 0; variant < 8; variant++) {
    for (const ask of asksOf(size, variant)) {
      const found = roster.answer(ask).length;
      assert.ok(found > 0, `${ask.name}, variant ${variant}, finds nobody`);
      assert.ok(found < size, `${ask.name} finds everybody`);
    }
  }
});

Deno.test("the roster's answers are those of plain filters over plain players", () => {
  const roster = full();
  roster.remove(7);
  roster.change(8, 1);
  const players = Array.from({ length: size }, (_, at) => at)
    .filter((at) => at !== 7).map((at) => playerAt(at, at === 8 ? 1 : 0));
  const ask: Ask = {
    name: "test",
    worlds: worlds.slice(0, 8),
    active: true,
    ranges: [{ field: "score", from: scoreOf(500), to: Infinity }],
    order: { field: "lastSeenAt", isDown: true },
    limit: 30,
  };
  const wanted = players.filter((player) =>
    player.active && worlds.indexOf(player.world) < 8 &&
    player.score >= scoreOf(500)
  ).sort((a, b) => b.lastSeenAt - a.lastSeenAt).slice(0, 30);
  const found = roster.answer(ask).map((index) => roster.player(index));
  assert.deepEqual(found, wanted);
  assert.equal(roster.check(ask, wanted), undefined);
});

Deno.test("an answer that is short, in another order, or of another value is wrong", () => {
  const roster = full();
  const sorted = asksOf(size).find(({ name }) => name === "world, top 20");
  const free = asksOf(size).find(({ name }) => name === "world");
  assert.ok(sorted !== undefined && free !== undefined);
  const answer = roster.answer(sorted).map((index) => roster.player(index));
  const rows = roster.answer(free).map((index) => roster.player(index));
  assert.equal(roster.check(sorted, answer), undefined);
  assert.equal(roster.check(free, rows.toReversed()), undefined);
  assert.match(roster.check(sorted, answer.slice(1)) ?? "", /19 players/);
  assert.match(roster.check(sorted, answer.toReversed()) ?? "", /row 0/);
  const forged = rows.map((row, at) => at === 3 ? { ...row, name: "x" } : row);
  assert.match(roster.check(free, forged) ?? "", /has name x/);
});

Deno.test("a roster of more players than there are numbers is refused", () => {
  assert.throws(() => new Roster(2 ** 21), RangeError);
});
