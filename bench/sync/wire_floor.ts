/**
 * The floor of a trip: two bare WebSocket hops through a relay process, and the
 * appends with fdatasync that a durable trip cannot do without (client and server).
 *
 * @module
 */

import WebSocket from "ws";
import { percentile } from "../harness/stats.ts";
import { linesOf } from "../harness/lines.ts";

const ROUNDS = 200;

/** Milliseconds (median) from one bare client to another through a relay. */
export async function wireFloor(
  folder: string,
  bytes: number,
  isDurable: boolean,
): Promise<number> {
  const relay = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-net=127.0.0.1",
      new URL("wire_relay.ts", import.meta.url).href,
    ],
    stdout: "piped",
  }).spawn();
  try {
    const port = await portOf(relay.stdout);
    const [a, b] = await Promise.all([open(port), open(port)]);
    using file = await Deno.open(`${folder}/floor`, {
      create: true,
      write: true,
    });
    const samples: number[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      samples.push(await trip(a, b, bytes, isDurable ? file : undefined));
    }
    a.close();
    b.close();
    return percentile(samples.sort((x, y) => x - y), 0.5);
  } finally {
    relay.kill("SIGKILL");
    await relay.status;
  }
}

async function portOf(
  stdout: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<number> {
  const { value: line } = await linesOf(stdout).next();
  if (typeof line !== "string") throw new Error("The relay ended");
  return Number(line);
}

function open(port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, {
    perMessageDeflate: false,
  });
  return new Promise((resolve, reject) => {
    socket.once("open", () => resolve(socket));
    socket.once("error", reject);
  });
}

async function trip(
  a: WebSocket,
  b: WebSocket,
  bytes: number,
  file: Deno.FsFile | undefined,
): Promise<number> {
  const payload = new Uint8Array(bytes);
  const start = performance.now();
  const arrived = new Promise<void>((resolve) =>
    b.once("message", () => resolve())
  );
  // Once before the client may send, once before the server may push.
  for (let i = 0; file !== undefined && i < 2; i++) {
    file.writeSync(payload);
    file.syncDataSync();
  }
  a.send(payload);
  await arrived;
  return performance.now() - start;
}
