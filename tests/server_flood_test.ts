/**
 * Floods from valid sessions and from strangers: others feel little of them.
 * What is felt is counted in bytes of the flood that the server takes while a
 * write of somebody else is on its way; clocks would tell of the machine.
 */

import { equal, ok } from "node:assert/strict";
import type { Attack } from "./attacker.ts";
import { until } from "./kit/patience.ts";
import { ROOT_SECRET } from "./raw_peer.ts";
import { type Client, clientOf, hasNote } from "./server_clients.ts";
import { ANN, BOB, type Place, withServer } from "./server_place.ts";

const SAMPLES = 200;
/**
 * So much of a flood may be taken for each write of somebody else, on average;
 * some hundred bytes are. Without pacing it is all that there is.
 */
const FELT_BYTES_MAX = 64 * 1_024;

/** Writes of one reach the other, each after the one before it. */
async function writesArrive(from: Client, to: Client): Promise<void> {
  for (let i = 0; i < SAMPLES; i++) {
    const text = `through the flood, ${i}`;
    const seen = hasNote(to, text);
    from.notes.create({ text });
    await seen;
  }
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
      const inBefore = await counted(place, "sheaf_received_bytes_total");
      const worker = await begin(place, kind as Attack["kind"]);
      try {
        await until(
          () => place.server.status().sessions > 2 || code !== undefined,
          "the flood has its sessions",
        );
        const before = await counted(place, "sheaf_received_bytes_total");
        await writesArrive(ann, bob);
        const after = await counted(place, "sheaf_received_bytes_total");
        const felt = (after - before) / SAMPLES;
        ok(felt <= FELT_BYTES_MAX, `${felt} bytes of it for each write`);
        if (code !== undefined) {
          const metric = `sheaf_protocol_errors_total{code="${code}"}`;
          await until(
            () => place.records.some((one) => one["kind"] === code),
            `the log tells of "${code}"`,
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
