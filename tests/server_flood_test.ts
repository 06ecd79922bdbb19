/**
 * Floods from valid sessions and from strangers: others feel little of them.
 * Each test compares within one run, because machines are noisy.
 */

import { equal, ok } from "node:assert/strict";
import type { Attack } from "./attacker.ts";
import { ROOT_SECRET } from "./raw_peer.ts";
import {
  type Client,
  clientOf,
  eventually,
  hasNote,
} from "./server_clients.ts";
import { ANN, BOB, type Place, withServer } from "./server_place.ts";

const SAMPLES = 200;
/**
 * For the noise of a machine that does other things, too, and for what a flood
 * has in the platform's buffers when it is cut off. Without pacing it is felt
 * by every write, for as long as it lasts.
 */
const SLACK_MS = 2_000;

/** How long writes of one take to reach the other, the slowest but few. */
async function latency(from: Client, to: Client, tag: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < SAMPLES; i++) {
    const text = `${tag} ${i}`;
    const begun = performance.now();
    const seen = hasNote(to, text);
    from.notes.create({ text });
    await seen;
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  return times[Math.floor(SAMPLES * 0.99)]!;
}

async function begin(place: Place, kind: Attack["kind"]): Promise<Worker> {
  const address = new URL("./attacker.ts", import.meta.url);
  const worker = new Worker(address, { type: "module" });
  const begun = new Promise((resolve) => worker.onmessage = resolve);
  const { url, rootKey } = place.server;
  const repository = kind === "commits" ? "flood" : "team/a";
  const attack: Attack = { url, rootKey, repository, kind };
  worker.postMessage(attack);
  await begun;
  return worker;
}

/** What the metrics count under a name and label. */
async function counted(place: Place, metric: string): Promise<number> {
  const text = await (await place.ask("/metrics")).text();
  const line = text.split("\n").find((one) => one.startsWith(metric));
  return Number(line?.slice(metric.length) ?? 0);
}

const ended: Readonly<Record<Attack["kind"], string | undefined>> = {
  pings: "rate-limited",
  audits: "rate-limited",
  opens: undefined,
  commits: undefined,
  garbage: "bad-message",
};

for (const [kind, code] of Object.entries(ended)) {
  Deno.test(`flood: of ${kind} is felt little by others, and told in few lines`, () =>
    withServer({ rootSecret: ROOT_SECRET }, async (place) => {
      await using ann = await clientOf(place.server, { token: ANN });
      await using bob = await clientOf(place.server, { token: BOB });
      await Promise.all([ann.repo.sync.ready, bob.repo.sync.ready]);
      await latency(ann, bob, "warm");
      const before = await latency(ann, bob, "before");
      const inBefore = await counted(place, "sheaf_received_bytes_total");
      const worker = await begin(place, kind as Attack["kind"]);
      try {
        await eventually(() =>
          place.server.status().sessions > 2 || code !== undefined
        );
        const during = await latency(ann, bob, "during");
        ok(
          during <= 2 * before + SLACK_MS,
          `p99 was ${before} ms before and ${during} ms during the flood`,
        );
        if (code !== undefined) {
          const metric = `sheaf_protocol_errors_total{code="${code}"}`;
          await eventually(() =>
            place.records.some((one) => one["kind"] === code)
          );
          ok(await counted(place, metric) > 0);
        }
        ok(await counted(place, "sheaf_received_bytes_total") > inBefore);
        const warnings = place.records.filter(({ level }) => level === "warn");
        ok(warnings.length < 300, `${warnings.length} lines`);
      } finally {
        worker.terminate();
      }
      equal(ann.repo.sync.status.state, "live");
      equal(bob.repo.sync.status.refusals.length, 0);
    }));
}
