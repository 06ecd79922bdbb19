/**
 * What is said on a connection, as an inspector is shown it. Loaded when one
 * looks.
 *
 * @module
 */

import type { World } from "../base/world.ts";
import { decodeMessage } from "../../sync/message_codec.ts";
import type { FrameTap, Tap } from "./internals.ts";

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
