/**
 * All workloads by name, as the rows of the table ask for them.
 *
 * @module
 */

import { liveTask } from "./workloads_live.ts";
import { diskSize, memoryGrowth, type Value } from "./values.ts";
import type { Context, Task } from "./workload.ts";
import {
  createInstanceTask,
  exclusiveReadTask,
  firstTouchTask,
  openTask,
  readTask,
} from "./workloads_read.ts";
import {
  bulkLoadTask,
  createBatchTask,
  createConcurrentlyTask,
  createOneTask,
  updateTask,
} from "./workloads_write.ts";

type StartTask = (context: Context) => Task | Promise<Task>;
type TakeValue = (context: Context) => Promise<Value>;

/** Workloads that are timed. */
export const tasks = {
  "create-instance": createInstanceTask,
  "open": (context) => openTask(context, undefined),
  "open-first": (context) => openTask(context, "first"),
  "open-thousand": (context) => openTask(context, "thousand"),
  "open-count": (context) => openTask(context, "count"),
  "open-keys": (context) => openTask(context, "keys"),
  "open-all": (context) => openTask(context, "all"),
  "open-some": (context) => openTask(context, "some"),
  "get-first": firstTouchTask,
  "get": (context) => readTask(context, "get"),
  "get-exclusive": exclusiveReadTask,
  "get-many": (context) => readTask(context, "get-many"),
  "few": (context) => readTask(context, "few"),
  "some": (context) => readTask(context, "some"),
  "top": (context) => readTask(context, "top"),
  "count": (context) => readTask(context, "count"),
  "keys": (context) => readTask(context, "keys"),
  "all": (context) => readTask(context, "all"),
  "live-50": (context) => liveTask(context, { limit: 50, isWhole: false }),
  "live-all": (context) => liveTask(context, { limit: 1_000, isWhole: false }),
  "live-whole": (context) => liveTask(context, { limit: 1_000, isWhole: true }),
  "create": createOneTask,
  "update": updateTask,
  "create-10": (context) => createConcurrentlyTask(context, 10),
  "create-100": (context) => createConcurrentlyTask(context, 100),
  "batch-100": (context) => createBatchTask(context, 100),
  "bulk-load": bulkLoadTask,
} satisfies Record<string, StartTask>;

/** Workloads that are one value. */
export const values = {
  "memory": (context) => memoryGrowth(context, false),
  "memory-frugal": (context) => memoryGrowth(context, true),
  "disk": (context) => diskSize(context, false),
  "disk-rewritten": (context) => diskSize(context, true),
} satisfies Record<string, TakeValue>;

/** The name of a timed workload. */
export type TaskName = keyof typeof tasks;

/** The name of a value. */
export type ValueName = keyof typeof values;

/** The timed workload of this name. */
export function startTask(
  name: string,
  context: Context,
): Task | Promise<Task> {
  if (!isTaskName(name)) throw new SyntaxError(`no workload is called ${name}`);
  return tasks[name](context);
}

/** The value of this name. */
export function takeValue(name: string, context: Context): Promise<Value> {
  if (!isValueName(name)) throw new SyntaxError(`no value is called ${name}`);
  return values[name](context);
}

function isTaskName(name: string): name is TaskName {
  return Object.hasOwn(tasks, name);
}

function isValueName(name: string): name is ValueName {
  return Object.hasOwn(values, name);
}
