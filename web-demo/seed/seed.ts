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

/** A clock that stands where the story is. */
class StoryClock implements World {
  at = 0;
  now = () => this.at;
  monotonic = () => performance.now();
  random = (target: Uint8Array) =>
    void crypto.getRandomValues(target as Uint8Array<ArrayBuffer>);
  after = (delayMs: number, task: () => void) => {
    const timer = setTimeout(task, delayMs);
    return () => clearTimeout(timer);
  };
}

/** Plays the story to the server; says how many steps it had. */
export async function seed(server: Server, now: number): Promise<number> {
  const clock = new StoryClock();
  const devices = new Map<string, Promise<Device>>();
  const steps = storyOf(now);
  clock.at = steps[0]!.at;
  let commits = 0;
  try {
    for (const step of steps) {
      clock.at = Math.max(clock.at + 1, step.at);
      const device = await deviceOf(devices, server, step.who, clock);
      await until(() => device.commits() >= commits);
      commits = await play(step, device, clock.at);
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
