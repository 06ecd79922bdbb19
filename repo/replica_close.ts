/**
 * Closing a replica: what is visible becomes durable, a checkpoint is written
 * where it pays, and the files are given back.
 *
 * @module
 */

import type { Storage } from "../src/storage/storage.ts";
import { checkpointName } from "./checkpoint/checkpoint.ts";
import type { Checkpointer } from "./checkpointer.ts";
import type { Epoch, EpochFacts } from "./epoch.ts";
import { segmentName } from "./log_format.ts";
import type { LoadedReplica } from "./replica_open.ts";
import type { Sharing } from "./sharing.ts";
import type { Writer } from "./writer.ts";

/** What is closed. */
export interface ClosingParts {
  readonly storage: Storage;
  readonly loaded: LoadedReplica;
  readonly writer: Writer;
  readonly sharing: Sharing;
  readonly checkpointer: Checkpointer;
}

/** Closes all, and ends the epoch where one was begun. */
export async function closeReplica(
  parts: ClosingParts,
  epoch: Epoch | undefined,
  factsOf: () => EpochFacts | undefined,
): Promise<void> {
  const { writer, loaded: { log }, checkpointer } = parts;
  let isSound = false;
  let facts: EpochFacts | undefined;
  try {
    await writer.drain();
    isSound = log.failure === undefined;
    if (epoch !== undefined) {
      await log.sync();
      facts = factsOf();
    }
  } finally {
    await checkpointer.close(isSound);
    await giveFilesBack(parts);
  }
  if (epoch?.isPassing === true && isSound && isUnwritten(parts)) {
    const { storage, loaded: { folder } } = parts;
    removeFiles(storage, folder);
    return storage.remove(folder);
  }
  if (facts !== undefined) await epoch?.close(facts);
}

/** Does it hold nothing that anybody said? Certificates say nothing by themselves. */
function isUnwritten(
  { loaded: { graph, revocations } }: ClosingParts,
): boolean {
  return graph.commits === 0 && revocations.size === 0;
}

/** Removes all files of a folder. The first segment is last: without it there is no repository. */
export function removeFiles(storage: Storage, folder: string): void {
  const names = storage.list(folder);
  for (const name of [...names].sort(bySegment)) {
    storage.remove(`${folder}/${name}`);
  }
}

function bySegment(a: string, b: string): number {
  return Number(a === segmentName(0)) - Number(b === segmentName(0));
}

/** Gives the files back. A checkpoint that met damage is of no more use. */
export async function giveFilesBack(
  { storage, loaded, writer, sharing }: ClosingParts,
): Promise<void> {
  const { log, checkpoint, folder } = loaded;
  writer.stop();
  sharing.stop();
  try {
    await log.close();
  } finally {
    checkpoint?.close();
    if (checkpoint?.file.isDamaged) {
      storage.remove(`${folder}/${checkpointName(checkpoint.number)}`);
    }
  }
}
