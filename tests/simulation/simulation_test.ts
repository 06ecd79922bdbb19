/**
 * A few seeds of the simulation; `deno task simulate` runs as many as you like.
 */

import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import type { Replica } from "../../repo/replica.ts";
import { createSigner } from "../../crypto/mod.ts";
import { wallMax } from "../../src/base/hlc.ts";
import { blankCell } from "../../src/schema/cell.ts";
import { openKv } from "../../src/kv/mod.ts";
import type { Operation, Value } from "../../src/schema/patch.ts";
import type { Schema } from "../../src/schema/schema.ts";
import { Child } from "../kit/child.ts";
import { ending, HostileChain } from "../kit/forge.ts";
import { isAll, isTried } from "../kit/tier.ts";
import { rawSession } from "../raw_peer.ts";
import { Card, Mark } from "./collections.ts";
import { Dice } from "./dice.ts";
import { accidents, personas, type Plan, planOf } from "./plan.ts";
import type { Cast, Report } from "./simulation.ts";
import { simulate } from "./simulation.ts";
import { recordKind } from "../../repo/log/format.ts";

/** Chosen so that all modes and all accidents are among them. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
/** Those that are played: in the quick tier two, others for every commit. */
const played = SEEDS.filter((seed) => isTried(seed, 4));

function sound(report: Report): void {
  if (report.failure === undefined) return;
  const tail = report.tail.slice(-40).join("\n");
  throw new Error(
    `deno task simulate --seed ${report.seed}\n${tail}\n${report.failure.stack}`,
  );
}

/** What the first runs of these seeds in this process reported. */
const reports = new Map<number, Report>();

async function reportOf(seed: number): Promise<Report> {
  return reports.get(seed) ?? await simulate(seed);
}

Deno.test("planOf() gives the seeds of these tests all modes, all accidents, small quotas and sessions that end", () => {
  const plans = SEEDS.map((seed) => planOf(seed, new Dice(seed).fork()));
  const chosen = plans.flatMap(({ accidents }) => accidents);
  deepEqual([...new Set(chosen)].sort(), Object.keys(accidents).sort());
  const modes = new Set(plans.map(({ mode }) => mode));
  deepEqual([...modes].sort(), ["default", "fast", "trusted"]);
  ok(plans.some(({ quotas }) => quotas.commitsPerSecond !== undefined));
  ok(plans.some(({ sessionMs }) => sessionMs < Infinity));
});

for (const seed of played) {
  Deno.test(`replicas converge and keep their promises over accidents: seed ${seed}`, async () => {
    const report = await simulate(seed);
    reports.set(seed, report);
    sound(report);
    ok(report.writes > 20);
  });
}

Deno.test("a seed replays a simulation byte for byte", async () => {
  const [seed, other] = played;
  const one = await reportOf(seed!);
  const again = await simulate(seed!);
  equal(one.digest, again.digest);
  equal(one.events, again.events);
  notEqual(one.digest, (await reportOf(other!)).digest);
});

const script = new URL("./main.ts", import.meta.url).pathname;

/** The lines that the command line prints. */
async function printed(args: string): Promise<string[]> {
  const ran = await Child.run(
    ["run", "--no-check", "-A", script, ...args.split(" ")],
  );
  equal(ran.code, 0, ran.report);
  return ran.out.trim().split("\n");
}

Deno.test({
  name:
    "the command line plays seeds in other processes, byte for byte as here",
  ignore: !isAll,
  async fn() {
    const args = "--seed 2 --runs 2 --jobs 2 --no-quiet";
    const lines = (await printed(args)).sort();
    for (const [i, seed] of [2, 3].entries()) {
      const { digest, events } = await reportOf(seed);
      match(lines[i + 1]!, new RegExp(`^seed ${seed}: .* ${events} events, `));
      match(lines[i + 1]!, new RegExp(` well ${digest.slice(0, 16)} in `));
    }
    match(lines[0]!, /^Seeds 2 to 3: 2 seeds, \d+ events, .* all is well$/);
  },
});

Deno.test("the command line traces a seed line by line, byte for byte as here", async () => {
  const [seed] = played;
  const lines = await printed(`--seed ${seed} --trace`);
  match(lines[0]!, new RegExp(` sim {2}begin \\{"seed":${seed},`));
  ok(lines.some((line) => / sim {2}sums-checked$/.test(line)));
  const { digest, events } = await reportOf(seed!);
  match(lines.at(-1)!, new RegExp(`^seed ${seed}: .* ${events} events, `));
  match(lines.at(-1)!, new RegExp(` all is well ${digest.slice(0, 16)}`));
});

/** A run without accidents, tampered with when all is quiet. */
function tampered(
  tamper: (cast: Cast) => void,
  more: Partial<Plan> = {},
): Promise<Report> {
  const bend = {
    accidents: [],
    mode: "default",
    hasRules: true,
    naughty: 0,
    villains: 0,
    workMs: 10_000,
    ...more,
  } as const;
  return simulate(1, { bend, tamper });
}

Deno.test("the checks pass what nobody tampered with", async () => {
  sound(await tampered(() => {}));
});

Deno.test("the checks find a synced write that is gone", async () => {
  const report = await tampered(({ stage }) => {
    const [first] = stage.ledger.entries;
    stage.ledger.add({ ...first!, mark: "never" }).isSynced = true;
  });
  equal(report.failure?.checker, "promises");
});

Deno.test("the checks find a refused write that is there", async () => {
  const report = await tampered(({ stage }) => {
    for (const entry of stage.ledger.entries) entry.refused = "denied";
  });
  equal(report.failure?.checker, "promises");
});

/** Takes a mark out of a replica's state, behind everybody's back. */
function forget(replica: Replica, mark: string): void {
  const table = replica.state.table(Mark.name);
  table.put(blankCell(mark, Mark.name));
}

Deno.test("the checks find a state that differs", async () => {
  const report = await tampered(({ clients }) => {
    const { replica } = clients[0]!.desks[0]!;
    forget(replica, replica.state.table(Mark.name).ids()[0]!);
  });
  equal(report.failure?.checker, "converge");
});

Deno.test("the checks find what the rules forbid", async () => {
  const report = await tampered(({ clients }) => {
    const { replica } = clients[0]!.desks[0]!;
    const table = replica.state.table(Card.name);
    const cell = table.cellOf(table.ids()[0]!)!;
    const item = { ...cell.item!, title: "forbidden" };
    table.put({ ...cell, item });
  });
  equal(report.failure?.checker, "forbidden");
});

Deno.test("the checks find an incident that nothing explains", async () => {
  const report = await tampered(({ clients }) => {
    clients[0]!.incidents.push({
      kind: "desync",
      at: new Date(0),
      message: "made up",
      details: {},
      isTainted: false,
    });
  });
  equal(report.failure?.checker, "incidents");
});

Deno.test("the checks find a client that says equal and has more than the server", async () => {
  const report = await tampered(({ clients, server, stage }) => {
    const desk = clients[0]!.desks[0]!;
    stage.equal!(clients[0]!, desk);
    const served = { graph: { lengthOf: () => 0 } };
    server.replica = () => served as unknown as Replica;
    stage.equal!(clients[0]!, desk);
  });
  equal(report.failure?.checker, "honest");
});

Deno.test("the checks find as many commits with other ids", async () => {
  const report = await tampered(({ clients, server, stage }) => {
    const desk = clients[0]!.desks[0]!;
    stage.equal!(clients[0]!, desk);
    const { graph, commits, loaded } = server.replica(desk.name)!;
    // Ids are hashed on from the genesis: under another one all are others.
    const genesisId = new Uint8Array(32);
    const served = { graph, commits, loaded: { ...loaded, genesisId } };
    server.replica = () => served as unknown as Replica;
    stage.equal!(clients[0]!, desk);
  });
  equal(report.failure?.checker, "honest");
});

Deno.test("the checks find an increment that no mark stands for", async () => {
  const report = await tampered(({ clients, server, stage }) => {
    const served = server.replica("public")!;
    const marks = served.state.table(Mark.name).items();
    const mark = marks.find(({ tally }) => tally !== "")!.id as string;
    Object.assign(stage.ledger.find(mark)!, {
      isSynced: false,
      isDurable: false,
    });
    forget(served, mark);
    for (const { desks } of clients) {
      for (const { name, replica } of desks) {
        if (name === "public") forget(replica, mark);
      }
    }
  });
  equal(report.failure?.checker, "sums");
});

/** Changes an item in everybody's state, behind everybody's back. */
function bendAll(
  { clients, server }: Cast,
  schema: Schema,
  id: string,
  change: Record<string, Value>,
): void {
  const replicas = clients.flatMap(({ desks }) =>
    desks.filter(({ name }) => name === "public").map(({ replica }) => replica)
  );
  for (const { state } of [...replicas, server.replica("public")!]) {
    const table = state.table(schema.name);
    const cell = table.cellOf(id)!;
    table.put({ ...cell, item: { ...cell.item!, ...change } });
  }
}

Deno.test("the checks find a subscriber that is not told", async () => {
  const report = await tampered((cast) => {
    const { replica } = cast.clients[0]!.desks[0]!;
    const [id] = replica.state.table(Card.name).ids();
    bendAll(cast, Card, id!, { rank: 100 });
  });
  equal(report.failure?.checker, "told");
});

Deno.test("the checks find an entry that is not what was written last", async () => {
  const report = await tampered((cast) => {
    const { repository } = cast.clients[0]!.desks[0]!;
    const kv = openKv(repository);
    const [key] = kv.keys();
    const schema = { name: kv.collection } as Schema;
    bendAll(cast, schema, key!, { value: "made up", data: undefined });
  });
  equal(report.failure?.checker, "entries");
});

Deno.test("the checks find an undo that came to nothing", async () => {
  const report = await tampered(({ stage }) => {
    const [entry] = stage.ledger.entries;
    entry!.turn = {
      isRedo: false,
      isDurable: true,
      isSynced: true,
      refused: undefined,
    };
  });
  equal(report.failure?.checker, "promises");
});

/** Somebody whose commits get past the gate. */
class Slipper {
  readonly #session: ReturnType<typeof rawSession>;
  readonly #replicas: readonly Replica[];
  readonly #chain: HostileChain;

  /** @param replicas where they get in */
  constructor({ stage }: Cast, replicas: readonly Replica[]) {
    const issuer = stage.authority.root.secretKey;
    this.#session = rawSession({ issuer, notAfter: wallMax });
    this.#replicas = replicas;
    const { genesisId } = replicas[0]!.loaded;
    const signer = createSigner(this.#session.secretKey);
    this.#chain = new HostileChain(genesisId, signer);
  }

  slip(wall: number, ...operations: Operation[]): void {
    const { certificate } = this.#session;
    const batch = this.#chain.batch({ wall, operations });
    for (const replica of this.#replicas) {
      replica.receive([
        { kind: recordKind.certificate, bytes: certificate },
        batch,
      ]);
    }
  }
}

/** The replicas of a repository that is everybody's: the server's is the first. */
function replicasOf({ clients, server }: Cast): Replica[] {
  const desks = clients.flatMap(({ desks }) => desks)
    .filter(({ name }) => name === "public");
  return [server.replica("public")!, ...desks.map(({ replica }) => replica)];
}

Deno.test("villains do all that they can, and all is well", async () => {
  const deeds = new Set<string>();
  const hear = (line: string) => {
    const [, deed] = / v\d +deed (\w+)/.exec(line) ?? [];
    if (deed !== undefined) deeds.add(deed);
  };
  const bend = {
    accidents: [],
    mode: "default",
    hasRules: true,
    hasSwaps: true,
    quotas: {},
    villains: 2,
    workMs: 60_000,
  } as const;
  const report = await simulate(4, { bend, hear });
  sound(report);
  deepEqual([...deeds].sort(), [...personas].sort());
  ok(report.counts["not-denied"]! > 5);
});

Deno.test("the checks find a generation that is skipped in the order", async () => {
  const report = await tampered((cast) => {
    const replicas = replicasOf(cast);
    const [id] = replicas[0]!.state.table(Card.name).ids();
    const it = { shape: Card.shape, id: id!, generation: 2 };
    new Slipper(cast, replicas).slip(cast.server.world.now(), ending(it));
  }, { browsers: 0 });
  equal(report.failure?.checker, "judge");
  match(report.failure.message, /in generation 2/);
});
