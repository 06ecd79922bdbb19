/**
 * What a connection is made with; loaded when somebody connects, or asks a
 * server for its name.
 */

// It is there already wherever this is loaded: said here, bundlers keep it in
// one piece instead of cutting it by who needs what.
import "../../repo/mod.ts";
import "./bare_repository.ts";
import "./repository_sync.ts";

import { limits } from "../base/limits.ts";
import { Memory, processHeap } from "../base/memory.ts";
import type { World } from "../base/world.ts";
import { unnamed } from "../../sync/progress.ts";
import { decodeMessage } from "../../sync/message_codec.ts";
import type { AcceptedChain, Frame, FrameTap, Tap } from "./internals.ts";

export { Intake } from "../../repo/admission/intake.ts";
export { ReplicaPort } from "../../repo/replica_port.ts";
export { Renewal } from "./session_login.ts";
export { SyncClient } from "../../sync/client.ts";
export { serverInfo } from "../../sync/transport/login.ts";
export { websocketConnector } from "../../sync/transport/websocket_client.ts";

export function fullMemory(world: World): () => boolean {
  const memory = new Memory(processHeap, () => world.monotonic());
  return () => memory.isFull();
}

/** Names the frames that a connection's tap sees. */
export function framesTo(tap: FrameTap, world: World): Tap {
  return (way, frame) =>
    tap({ at: world.now(), way, bytes: frame.length, ...toldBy(frame) });
}

function toldBy(frame: Uint8Array): Pick<Frame, "kind" | "accepted"> {
  try {
    const message = decodeMessage(frame);
    return { kind: message.is, accepted: acceptedBy(message) };
  } catch {
    return { kind: "unreadable", accepted: [] };
  }
}

function acceptedBy(
  message: ReturnType<typeof decodeMessage>,
): AcceptedChain[] {
  if (message.is !== "records" && message.is !== "live") return [];
  const records = message.is === "records" ? message.records : [];
  const flushes = unnamed(message.progress?.flushes ?? [], records);
  return flushes.flatMap(({ accepted, batches }) =>
    batches.map(({ chain, commits }): AcceptedChain => [
      chain,
      [commits, accepted],
    ])
  ).slice(-limits.tabFramesMax);
}

export { newestReceipt } from "../../sync/shown_receipt.ts";
