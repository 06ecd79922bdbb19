/**
 * Fills an empty server: the team's people live their last weeks again, each on
 * a device of their own, signed with their own session, with the clocks of then.
 *
 * @module
 */

import {
  type Database,
  memoryStorage,
  openDatabase,
  type World,
} from "@sheaf/sheaf";
import type { Server } from "@sheaf/sheaf/server";
import { rules, teamRepository } from "../data/rules.ts";
import {
  Board,
  Card,
  Column,
  Comment,
  Label,
  Person,
  schemas,
} from "../data/schema.ts";
import { type Desk, type Step, storyOf } from "./story.ts";

interface Device {
  readonly db: Database;
  readonly desk: Desk;
  commits(): number;
}

/** A clock that shows when the story is: that of its people, and of the server that they wrote to. */
export class StoryClock implements World {
  #at: number;
  #sinceMs = performance.now();

  /** @param at where it stands, in milliseconds since 1970 */
  constructor(at: number) {
    this.#at = at;
  }

  /** Sets it; it goes on from there. */
  set(at: number): void {
    this.#at = at;
    this.#sinceMs = performance.now();
  }

  now = () => Math.floor(this.#at + performance.now() - this.#sinceMs);
  monotonic = () => performance.now();
  random = (target: Uint8Array) =>
    void crypto.getRandomValues(target as Uint8Array<ArrayBuffer>);
  after = (delayMs: number, task: () => void) => {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  };
}

/**
 * Plays the story to a server that has its clock; says how many steps it had.
 *
 * @param now when it ends, in milliseconds since 1970
 */
export async function seed(
  server: Server,
  clock: StoryClock,
  now: number,
): Promise<number> {
  const devices = new Map<string, Promise<Device>>();
  const steps = storyOf(now);
  clock.set(steps[0]!.at);
  let commits = 0;
  try {
    for (const step of steps) {
      clock.set(Math.max(clock.now() + 1, step.at));
      const device = await deviceOf(devices, server, step.who, clock);
      await until(() => device.commits() >= commits);
      commits = await play(step, device, clock.now());
    }
  } finally {
    for (const device of devices.values()) await (await device).db.close();
  }
  return steps.length;
}

async function play(step: Step, device: Device, at: number): Promise<number> {
  step.run(device.desk, at);
  await device.desk.repo.durable();
  await until(() => device.desk.repo.sync.status.unsent.commits === 0);
  const { refusals } = device.desk.repo.sync.status;
  if (refusals.length > 0) {
    throw new Error(
      `The server refused a step of ${step.who}: ${refusals[0]!.detail}`,
    );
  }
  return device.commits();
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1));
}

function deviceOf(
  devices: Map<string, Promise<Device>>,
  server: Server,
  who: string,
  world: World,
): Promise<Device> {
  let device = devices.get(who);
  if (device === undefined) {
    device = openDevice(server, who, world);
    devices.set(who, device);
  }
  return device;
}

async function openDevice(
  server: Server,
  who: string,
  world: World,
): Promise<Device> {
  const db = await openDatabase({
    storage: memoryStorage(),
    rootKey: server.rootKey,
    user: who,
    schemas,
    rules,
    world,
  });
  db.connect(server.url, { session: { app: { person: who } } });
  const repo = await db.repository(teamRepository);
  await repo.sync.ready;
  const desk: Desk = {
    repo,
    people: repo.collection(Person),
    boards: repo.collection(Board),
    columns: repo.collection(Column),
    labels: repo.collection(Label),
    cards: repo.collection(Card),
    comments: repo.collection(Comment),
  };
  return { db, desk, commits: () => repo.status().commits };
}
