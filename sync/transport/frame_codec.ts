/**
 * Compression of frames, as a WebSocket's subprotocol names it.
 *
 * With a codec every frame is preceded by one byte: 0 as it is, 1 compressed.
 * Where the platform compresses only in streams the results are promises;
 * `frame_line.ts` keeps their order.
 *
 * Architecture invariant: nothing grows beyond `frameBytesMax` (law 10).
 */

import { concatBytes } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import { native } from "../../src/base/system.ts";

/** How the frames of one wire are written. */
export type CodecName = "zstd" | "deflate" | "none";

/** Compresses and expands. `SyntaxError` from what cannot be expanded. */
export interface FrameCodec {
  pack(frame: Uint8Array): Uint8Array | Promise<Uint8Array>;
  unpack(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

interface Squeeze {
  compress(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
  expand(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

const PREFIX = "sheaf.1";

/** What this platform can, best first. */
export function codecsHere(): CodecName[] {
  return (["zstd", "deflate", "none"] as const).filter((name) =>
    codecs.has(protocolOf(name))
  );
}

/** The subprotocols to offer. */
export function protocolsOf(names: readonly CodecName[]): string[] {
  return names.map(protocolOf);
}

function protocolOf(name: CodecName): string {
  return name === "none" ? PREFIX : `${PREFIX}.${name}`;
}

/** The first of our subprotocols that the peer offers too; a header's text or a list. */
export function pickProtocol(
  offered: string | readonly string[] | null,
  codecs: readonly CodecName[] = codecsHere(),
): string | undefined {
  const list = typeof offered === "string"
    ? offered.slice(0, 1024).split(",").map((text) => text.trim())
    : offered ?? [];
  return protocolsOf(codecs).find((protocol) => list.includes(protocol));
}

/** The codec that a subprotocol names; `undefined` when it is not ours. */
export function codecOf(protocol: string): FrameCodec | undefined {
  return codecs.get(protocol);
}

const plain: FrameCodec = { pack: (frame) => frame, unpack: (bytes) => bytes };

function squeezed({ compress, expand }: Squeeze): FrameCodec {
  const pack = (frame: Uint8Array): Uint8Array | Promise<Uint8Array> => {
    if (frame.length < limits.compressBytesMin) return marked(0, frame);
    const smaller = compress(frame);
    return smaller instanceof Promise
      ? smaller.then((smaller) => shorter(frame, smaller))
      : shorter(frame, smaller);
  };
  // Many followers get one frame, each on a wire of its own.
  let last: Uint8Array | undefined;
  let packed: ReturnType<typeof pack>;
  return {
    pack(frame) {
      if (frame !== last) packed = pack(last = frame);
      return packed;
    },
    unpack(bytes) {
      if (bytes[0] === 0) return bytes.subarray(1);
      if (bytes[0] !== 1) {
        throw new SyntaxError("Cannot read a frame: no such compression");
      }
      return expand(bytes.subarray(1));
    },
  };
}

function shorter(frame: Uint8Array, smaller: Uint8Array): Uint8Array {
  return smaller.length < frame.length ? marked(1, smaller) : marked(0, frame);
}

function marked(mark: number, bytes: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(mark), bytes);
}

function platformCodec(
  name: Exclude<CodecName, "none">,
): FrameCodec | undefined {
  const { zlib } = native;
  if (name === "zstd") return zlib?.zstdCompressSync && zstd(zlib);
  if (zlib !== undefined) return deflate(zlib);
  return typeof CompressionStream === "undefined" ? undefined : streamed;
}

const bound = { maxOutputLength: limits.frameBytesMax };

function zstd(zlib: NonNullable<typeof native.zlib>): FrameCodec {
  const params = { [zlib.constants.ZSTD_c_compressionLevel]: 1 };
  return squeezed({
    compress: (bytes) => zlib.zstdCompressSync(bytes, { params }),
    expand: (bytes) => expandedBy(() => zlib.zstdDecompressSync(bytes, bound)),
  });
}

function deflate(zlib: NonNullable<typeof native.zlib>): FrameCodec {
  return squeezed({
    compress: (bytes) => zlib.deflateSync(bytes, { level: 1 }),
    expand: (bytes) => expandedBy(() => zlib.inflateSync(bytes, bound)),
  });
}

/** Plain bytes, not the platform's subclass of them; any failure is foreign bytes. */
function expandedBy(expand: () => Uint8Array): Uint8Array {
  try {
    const bytes = expand();
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(cause: unknown): SyntaxError {
  return new SyntaxError("Cannot expand a frame: damaged or too large", {
    cause,
  });
}

/** Only streams: browsers. */
export const streamed: FrameCodec = squeezed({
  compress: (bytes) =>
    collected(through(bytes, new CompressionStream("deflate")), Infinity),
  expand: (bytes) =>
    collected(
      through(bytes, new DecompressionStream("deflate")),
      limits.frameBytesMax,
    ).catch((error) => {
      throw unreadable(error);
    }),
});

function through(
  bytes: Uint8Array,
  stream: CompressionStream | DecompressionStream,
): ReadableStream<Uint8Array> {
  return new Blob([bytes as Uint8Array<ArrayBuffer>]).stream()
    .pipeThrough(stream);
}

/** The bytes of a stream; rejects when there are more than `bytesMax`. */
async function collected(
  stream: ReadableStream<Uint8Array>,
  bytesMax: number,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of stream) {
    length += part.length;
    if (length > bytesMax) throw new SyntaxError("It grows over the limit");
    parts.push(part);
  }
  return concatBytes(...parts);
}

/** What this platform can, by subprotocol; one serves all wires, because no frame depends on another. */
const codecs: ReadonlyMap<string, FrameCodec> = codecsOfPlatform();

function codecsOfPlatform(): Map<string, FrameCodec> {
  const here = new Map([[protocolOf("none"), plain]]);
  for (const name of ["zstd", "deflate"] as const) {
    const codec = platformCodec(name);
    if (codec) here.set(protocolOf(name), codec);
  }
  return here;
}
