/**
 * What a connection is made with; loaded when somebody connects, or asks a
 * server for its name.
 */

// It is there already wherever this is loaded: said here, bundlers keep it in
// one piece instead of cutting it by who needs what.
import "../../repo/mod.ts";
import "./bare_repository.ts";
import "./repository_sync.ts";

import { Memory, processHeap } from "../base/memory.ts";
import type { World } from "../base/world.ts";
import { decodeMessage } from "../../sync/message_codec.ts";
import type { FrameTap, Tap } from "./internals.ts";

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
    tap({
      at: world.now(),
      way,
      kind: kindOf(frame),
      bytes: frame.length,
    });
}

function kindOf(frame: Uint8Array): string {
  try {
    return decodeMessage(frame).is;
  } catch {
    return "unreadable";
  }
}

export { newestReceipt } from "../../sync/shown_receipt.ts";
