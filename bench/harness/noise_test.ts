import { equal, match, ok } from "node:assert/strict";
import { someFigure } from "../report/fixtures.ts";
import { noiseOf, paceOf, warningOf } from "./noise.ts";

const still = { loadBefore: 0.1, cpuDrift: 1, syncDrift: 1, spread: 0.05 };

Deno.test("warningOf() is silent about a still machine, and names each unrest", () => {
  equal(warningOf(still, 2), undefined);
  match(warningOf({ ...still, loadBefore: 3 }, 2) ?? "", /busy .*load 3\.0/);
  match(warningOf({ ...still, cpuDrift: 1.3 }, 2) ?? "", /CPU .*30 % slower/);
  match(warningOf({ ...still, cpuDrift: 0.5 }, 2) ?? "", /100 % quicker/);
  match(warningOf({ ...still, syncDrift: 2 }, 2) ?? "", /disk .*100 % slower/);
  match(warningOf({ ...still, spread: 0.4 }, 2) ?? "", /more than 40 %/);
});

Deno.test("noiseOf() divides after by before and takes the middle spread", () => {
  const noise = noiseOf(
    { cpuMs: 10, syncMicros: 100, load: 0 },
    { cpuMs: 11, syncMicros: 50 },
    [0.1, 0.2, 0.9, null].map((spread) => someFigure({ spread })),
    2,
  );
  equal(noise.cpuDrift, 1.1);
  equal(noise.syncDrift, 0.5);
  equal(noise.spread, 0.2);
  match(noise.warning ?? "", /^A noisy run: its disk became 100 % quicker/);
});

Deno.test("paceOf() finds a pace, and leaves nothing behind", () => {
  const folder = Deno.makeTempDirSync();
  try {
    const { cpuMs, syncMicros } = paceOf(folder);
    ok(cpuMs > 0.1 && syncMicros > 0);
    equal([...Deno.readDirSync(folder)].length, 0);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
