import assert from "node:assert/strict";
import { limits } from "../src/base/limits.ts";
import { ManualWorld, Place } from "../tests/kit/replica_place.ts";
import { seededRandom } from "../tests/kit/random.ts";
import { refuseAt } from "../src/base/errors.ts";
import { ClientSide, ServerSide, Serving, Talk } from "../tests/kit/talk.ts";
import type { ServerChannelOptions } from "./conversation.ts";
import { decodeResume, encodeResume } from "./resume.ts";
import { seedsOf } from "../tests/kit/commit_seed.ts";
import { finished } from "../tests/kit/sliced.ts";
import { sized } from "../tests/kit/tier.ts";

/** A client whose wire is cut again and again. */
class Traveller {
  readonly place: Place;
  readonly #dice: () => number;
  #talk: Talk | undefined;
  /** What it kept: not always the newest. */
  #kept: Uint8Array | undefined;

  constructor(place: Place, dice: () => number) {
    this.place = place;
    this.#dice = dice;
  }

  connect(serving: Serving, channel: Partial<ServerChannelOptions>): void {
    const world = this.place.world as ManualWorld;
    const resume = this.#kept && decodeResume(this.#kept);
    this.#talk = new Talk(
      world,
      new ServerSide(world, serving, {}, channel),
      new ClientSide(world, this.place, resume),
    );
  }

  get talk(): Talk | undefined {
    return this.#talk;
  }

  keep(): void {
    const state = this.#talk?.client.resume;
    if (state !== undefined) this.#kept = encodeResume(state);
  }

  cut(): void {
    if (this.#dice() < 0.7) this.keep();
    this.#talk?.end();
    this.#talk = undefined;
  }
}

async function run(seed: number): Promise<void> {
  const dice = seededRandom(seed);
  const world = new ManualWorld(seed);
  let serving = await Serving.open(world);
  const travellers: Traveller[] = [];
  for (let i = 1; i <= 3; i++) {
    travellers.push(new Traveller(await Place.open({ world, seed: i }), dice));
  }
  const gate: ServerChannelOptions["gate"] = ({ first, commits }) =>
    dice() < 0.05
      ? refuseAt(first + Math.floor(dice() * commits.length), "denied")
      : undefined;
  for (let step = 0; step < 120; step++) {
    const one = travellers[Math.floor(dice() * travellers.length)]!;
    const what = dice();
    if (what < 0.3) {
      const size = dice() < 0.05 ? 600_000 : 10;
      void one.place.write(`n${Math.floor(dice() * 30)}`, "x".repeat(size));
    } else if (what < 0.4) void serving.place.write(`s${step}`, "server");
    else if (what < 0.5) one.cut();
    else if (what < 0.52 && dice() < 0.5) {
      for (const other of travellers) other.cut();
      await serving.place.replica.durable();
      await serving.place.replica.close();
      serving = await Serving.open(
        world,
        dice() < 0.7 ? serving.place : undefined,
      );
    } else if (one.talk === undefined) one.connect(serving, { gate });
    else if (what < 0.6) await one.talk.pass(dice() * 2_000);
    else await one.talk.flight();
    assert.equal(
      one.talk?.client.ended,
      undefined,
      `seed ${seed}, step ${step}`,
    );
    assert.equal(
      one.talk?.server.ended,
      undefined,
      `seed ${seed}, step ${step}`,
    );
  }
  await heal(seed, serving, travellers);
}

async function heal(
  seed: number,
  serving: Serving,
  travellers: Traveller[],
): Promise<void> {
  for (const one of travellers) {
    one.cut();
    one.connect(serving, {});
  }
  for (let round = 0; round < 3; round++) {
    for (const { talk } of travellers) await talk!.settle();
    for (const { talk } of travellers) await talk!.pass(limits.witnessMs);
  }
  for (const { place, talk } of travellers) {
    const why = `seed ${seed}`;
    assert.deepEqual(
      place.replica.graph.summary(),
      serving.place.replica.graph.summary(),
      why,
    );
    const port = place.replica.port();
    assert.deepEqual(
      finished(port.stateDigests([])),
      finished(serving.place.replica.port().stateDigests([])),
      why,
    );
    assert.deepEqual(
      talk!.client.told("incident").map(({ kind }) => kind),
      [],
      why,
    );
    assert.ok(talk!.client.server.isQuiet, why);
    assert.ok(talk!.client.told("equal").length > 0, why);
    talk!.end();
  }
}

const seed = Number(Deno.env.get("SHEAF_SEED") ?? 0);
const seeds = seed > 0 ? [seed] : seedsOf(sized(2, 4), 24);

for (const seed of seeds) {
  Deno.test(`three clients whose wires and server come and go end up the same (SHEAF_SEED=${seed})`, () =>
    run(seed));
}
