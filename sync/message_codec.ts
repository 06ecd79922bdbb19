/**
 * Frames: the bytes of messages, by the grammar in `message.ts`.
 *
 * Every value has one form; a decoder throws `SyntaxError` and nothing else.
 * What a message may say at which time is not decided here.
 *
 * Architecture invariant: no count in a frame makes a decoder take more memory
 * than a small multiple of the frame (law 10).
 */

import { ByteReader, ByteWriter } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import { type Field, struct, unfit } from "../src/base/layout.ts";
import {
  type Foreign,
  frames,
  type Message,
  type MessageOf,
  skippedFrameMin,
  wireVersion,
} from "./message.ts";

const kinds = Object.entries(frames).map(([name, { kind, fields }]) => {
  const is = name as Message["is"];
  // It stands in the kind's byte.
  const own: Field<Message["is"]> = { write() {}, read: () => is };
  const hasVersion = is === "hello" || is === "prove";
  const body = struct({ is: own, ...fields }) as Field<unknown>;
  return { is, kind, hasVersion, body: body as Field<Message> };
});
const byName = new Map(kinds.map((one) => [one.is, one]));
const byKind = new Map(kinds.map((one) => [one.kind, one]));

/** The frame of a message. */
export function encodeMessage(message: Message): Uint8Array {
  const writer = new ByteWriter(128);
  const { kind, body, hasVersion } = byName.get(message.is)!;
  writer.u8(kind);
  if (hasVersion) writer.u8(wireVersion);
  body.write(writer, message);
  return writer.view();
}

/**
 * The message of a frame; `SyntaxError` when it is none. What stands behind the
 * last field is a later version's (law 13). A greeting of another version says so
 * and no more: its body is that version's business.
 */
export function decodeMessage(frame: Uint8Array): Message | Foreign {
  const reader = new ByteReader(frame);
  const kind = reader.u8();
  const found = byKind.get(kind);
  if (found === undefined) {
    if (kind < skippedFrameMin) throw unfit("its kind is unknown");
    checkGrowth(reader);
    return { is: "skipped" };
  }
  const { body, hasVersion } = found;
  const version = hasVersion ? reader.u8() : wireVersion;
  if (version !== wireVersion) return { is: "other-version", version };
  const message = body.read(reader);
  if (message.is === "part") checkPart(message);
  checkGrowth(reader);
  return message;
}

/** What is ignored is bounded. */
function checkGrowth({ at, end }: ByteReader): void {
  if (end - at > limits.frameGrowthBytesMax) {
    throw unfit("too much of it is unknown");
  }
}

function checkPart({ bytes, offset, total }: MessageOf<"part">): void {
  if (bytes.length === 0 || offset + bytes.length > total) {
    throw unfit("a part is not inside its record");
  }
}
