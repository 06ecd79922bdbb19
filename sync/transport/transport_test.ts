import assert from "node:assert/strict";
import net from "node:net";
import {
  type OpenedWire,
  transportConformance,
} from "../../tests/kit/transport_conformance.ts";
import {
  type CodecName,
  codecOf,
  pickProtocol,
  streamed,
} from "./frame_codec.ts";
import { FrameLine } from "./frame_line.ts";
import { memoryConnector, memoryWire } from "./memory_transport.ts";
import { messagePortConnector } from "./message_port.ts";
import { limits } from "../../src/base/limits.ts";
import { until } from "../../tests/kit/patience.ts";
import type { Transport } from "./transport.ts";
import { endOf } from "./transport_end.ts";
import {
  httpUrl,
  websocketConnector,
  websocketUrl,
} from "./websocket_client.ts";
import { type Upgraded, upgradeRequest } from "./websocket_server.ts";

function suite(name: string, open: () => Promise<OpenedWire>): void {
  Deno.test(name, async (t) => {
    for (const { name: sentence, run } of transportConformance(name, open)) {
      await t.step(sentence, run);
    }
  });
}

suite("memory", () => {
  const { ends: [near, far], cut, hold } = memoryWire();
  return Promise.resolve({
    near,
    far,
    cut,
    stall: (who) => hold(who === "near" ? 1 : 0),
    cleanup: () => Promise.resolve(),
  });
});

suite("memory with delays", () => {
  let delay = 7;
  let underWay = 0;
  const { ends: [near, far], cut } = memoryWire((deliver) => {
    delay = delay * 5 % 11;
    underWay++;
    setTimeout(() => {
      underWay--;
      deliver();
    }, delay % 3);
  });
  const cleanup = () => until(() => underWay === 0, "all is delivered");
  return Promise.resolve({ near, far, cut, cleanup });
});

suite("message port", async () => {
  const { port1, port2 } = new MessageChannel();
  const wireOf = (port: MessagePort) =>
    messagePortConnector("", () => port).connect(new AbortController().signal);
  const [near, far] = [await wireOf(port1), await wireOf(port2)];
  const cleanup = () => {
    port1.close();
    port2.close();
    return Promise.resolve();
  };
  // A side that does not listen does not read.
  return { near, far, cleanup, stall: () => {} };
});

/** Sockets between which a proxy may stop reading, or go away. */
async function openProxy(port: number) {
  const pairs: [net.Socket, net.Socket][] = [];
  const server = net.createServer((inner) => {
    const outer = net.connect(port, "127.0.0.1");
    inner.setNoDelay(true);
    outer.setNoDelay(true);
    inner.pipe(outer).pipe(inner);
    inner.on("error", () => outer.destroy());
    outer.on("error", () => inner.destroy());
    inner.on("close", () => outer.destroy());
    outer.on("close", () => inner.destroy());
    pairs.push([inner, outer]);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    port: (server.address() as net.AddressInfo).port,
    /** Lengths of what comes from clients from now on, as it is read. */
    pieces(): readonly number[] {
      const lengths: number[] = [];
      for (const [inner] of pairs) {
        inner.on("data", ({ length }) => lengths.push(length));
      }
      return lengths;
    },
    cut: () => pairs.flat().forEach((socket) => socket.destroy()),
    stall(who: "near" | "far") {
      for (const [inner, outer] of pairs) {
        const [from, to] = who === "far" ? [inner, outer] : [outer, inner];
        from.unpipe(to);
        from.pause();
      }
    },
    close() {
      pairs.flat().forEach((socket) => socket.destroy());
      return new Promise<void>((done) => server.close(() => done()));
    },
  };
}

function openServer(accepted: (transport: Transport) => void) {
  const onListen = () => {};
  return Deno.serve({ port: 0, hostname: "127.0.0.1", onListen }, (request) => {
    const protocol = pickProtocol(
      request.headers.get("sec-websocket-protocol"),
    );
    if (protocol === undefined) return new Response(null, { status: 400 });
    if (request.url.endsWith("/busy")) {
      return new Response(null, { status: 503 });
    }
    const { transport, response } = upgradeRequest(request, protocol);
    accepted(transport);
    return response;
  });
}

async function openWebsocket(codec: CodecName): Promise<OpenedWire> {
  const accepted = Promise.withResolvers<Transport>();
  const server = openServer(accepted.resolve);
  const proxy = await openProxy(server.addr.port);
  const connector = websocketConnector(`ws://127.0.0.1:${proxy.port}/sync`, {
    codecs: [codec],
  });
  const near = await connector.connect(new AbortController().signal);
  const far = await accepted.promise;
  return {
    near,
    far,
    cut: proxy.cut,
    stall: proxy.stall,
    async cleanup() {
      await proxy.close();
      await server.shutdown();
    },
  };
}

suite("websocket", () => openWebsocket("none"));
suite("websocket with deflate", () => openWebsocket("deflate"));
suite("websocket with zstd", () => openWebsocket("zstd"));

/** A header of a frame is no longer. */
const HEADER_BYTES_MAX = 14;

Deno.test("a websocket's frames leave in one piece: a header alone would make the rest wait for its acknowledgement", async () => {
  const server = openServer((transport) =>
    transport.listen({ frame: (bytes) => transport.send(bytes), ended() {} })
  );
  const proxy = await openProxy(server.addr.port);
  const connector = websocketConnector(`http://127.0.0.1:${proxy.port}`, {
    codecs: ["none"],
  });
  const transport = await connector.connect(new AbortController().signal);
  let arrived = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  transport.listen({
    frame: () => arrived.resolve(),
    ended: () => ended.resolve(),
  });
  const pieces = proxy.pieces();
  for (const size of [2_048, 4_096, 16_384]) {
    for (let i = 0; i < 10; i++) {
      arrived = Promise.withResolvers<void>();
      transport.send(new Uint8Array(size));
      await arrived.promise;
    }
  }
  assert.ok(pieces.length >= 30);
  assert.deepEqual(pieces.filter((bytes) => bytes <= HEADER_BYTES_MAX), []);
  transport.close("timeout", "");
  await ended.promise;
  await proxy.close();
  await server.shutdown();
});

Deno.test("a client offers all it can, and gets the best", async () => {
  const accepted = Promise.withResolvers<Transport>();
  const server = openServer(accepted.resolve);
  const address = `ws://127.0.0.1:${server.addr.port}`;
  const near = await websocketConnector(address)
    .connect(new AbortController().signal);
  const far = await accepted.promise;
  const ended = Promise.withResolvers<string>();
  far.listen({
    frame: (bytes) => far.close("timeout", `${bytes.length}`),
    ended() {},
  });
  near.listen({ frame() {}, ended: ({ detail }) => ended.resolve(detail) });
  near.send(new Uint8Array(50_000));
  assert.equal(await ended.promise, "50000");
  await server.shutdown();
});

Deno.test("a socket whose peer stopped reading outlives its transport, and says when it is gone", async () => {
  const upgraded = Promise.withResolvers<Upgraded>();
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) => {
      const wire = upgradeRequest(request, "sheaf.1");
      upgraded.resolve(wire);
      return wire.response;
    },
  );
  const proxy = await openProxy(server.addr.port);
  const near = await websocketConnector(`ws://127.0.0.1:${proxy.port}`, {
    codecs: ["none"],
  }).connect(new AbortController().signal);
  near.listen({ frame() {}, ended() {} });
  const { transport, closed } = await upgraded.promise;
  let isGone = false;
  void closed.then(() => isGone = true);
  const ended = Promise.withResolvers<string>();
  transport.listen({ frame() {}, ended: ({ code }) => ended.resolve(code) });
  proxy.stall("near");
  for (let i = 0; i < 32; i++) transport.send(new Uint8Array(512 * 1024));
  transport.close("too-slow", "");
  assert.equal(await ended.promise, "too-slow");
  assert.equal(isGone, false);
  await proxy.close();
  await closed;
  await server.shutdown();
});

Deno.test("a websocket that cannot be opened says why", async () => {
  const { signal } = new AbortController();
  const server = openServer(() => {});
  const { port } = server.addr;
  const busy = websocketConnector(`ws://127.0.0.1:${port}/busy`);
  await assert.rejects(busy.connect(signal), { code: "unavailable" });
  const stopped = AbortSignal.abort();
  const unwanted = websocketConnector(`ws://127.0.0.1:${port}/`);
  await assert.rejects(unwanted.connect(stopped), { code: "lost" });
  await server.shutdown();
  const gone = websocketConnector(`ws://127.0.0.1:${port}/`);
  await assert.rejects(gone.connect(signal), { code: "lost" });
});

Deno.test("a server that never answers is given up", async () => {
  const sockets: net.Socket[] = [];
  const server = net.createServer((socket) => {
    socket.on("error", () => {});
    sockets.push(socket);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as net.AddressInfo;
  const connector = websocketConnector(`ws://127.0.0.1:${port}`, {
    connectMsMax: 30,
  });
  await assert.rejects(connector.connect(new AbortController().signal), {
    code: "timeout",
  });
  for (const socket of sockets) socket.destroy();
  await new Promise<void>((done) => server.close(() => done()));
});

Deno.test("a text frame and an oversize frame close a websocket with their codes", async () => {
  for (
    const [data, code] of [
      ["text", "bad-message"],
      [new Uint8Array(limits.frameBytesMax + 2), "too-large"],
    ] as const
  ) {
    const far = Promise.withResolvers<string>();
    const server = openServer((transport) =>
      transport.listen({ frame() {}, ended: ({ code }) => far.resolve(code) })
    );
    const socket = new WebSocket(
      `ws://127.0.0.1:${server.addr.port}`,
      "sheaf.1",
    );
    const closed = Promise.withResolvers<CloseEvent>();
    socket.onclose = closed.resolve;
    socket.onopen = () => socket.send(data);
    assert.equal(await far.promise, code);
    const { code: number, reason } = await closed.promise;
    assert.equal(number, 4000);
    assert.ok(reason.startsWith(code), reason);
    await server.shutdown();
  }
});

Deno.test("a websocket closes when more came than may wait for somebody to listen", async () => {
  const wire = Promise.withResolvers<Transport>();
  const server = openServer(wire.resolve);
  const address = `ws://127.0.0.1:${server.addr.port}`;
  const socket = new WebSocket(address, "sheaf.1");
  const closed = new Promise<CloseEvent>((resolve) => socket.onclose = resolve);
  const frame = new Uint8Array(limits.frameBytesMax);
  const most = Math.floor(limits.unheardBytesMax / frame.length);
  socket.onopen = () => {
    for (let i = 0; i < most + 1; i++) socket.send(frame);
  };
  assert.match((await closed).reason, /^too-large/);
  const ended = Promise.withResolvers<string>();
  let heard = 0;
  (await wire.promise).listen({
    frame: ({ length }) => void (heard += length),
    ended: ({ code }) => ended.resolve(code),
  });
  assert.equal(await ended.promise, "too-large");
  assert.ok(heard <= limits.unheardBytesMax + frame.length);
  await server.shutdown();
});

Deno.test("a server picks the best subprotocol that both sides have", () => {
  assert.equal(pickProtocol("sheaf.1, sheaf.1.deflate"), "sheaf.1.deflate");
  assert.equal(pickProtocol(["sheaf.1.zstd", "sheaf.1"]), "sheaf.1.zstd");
  assert.equal(pickProtocol("sheaf.1.zstd,sheaf.1", ["none"]), "sheaf.1");
  assert.equal(pickProtocol("chat"), undefined);
  assert.equal(pickProtocol(null), undefined);
});

Deno.test("all wires of a subprotocol share a codec, and what is not ours names none", () => {
  for (const protocol of ["sheaf.1", "sheaf.1.zstd", "sheaf.1.deflate"]) {
    assert.ok(codecOf(protocol));
    assert.equal(codecOf(protocol), codecOf(protocol));
  }
  for (const other of ["", "chat", "sheaf.1.", "sheaf.1.none", "constructor"]) {
    assert.equal(codecOf(other), undefined);
  }
});

Deno.test("every codec gives back what went in, and compresses only what is long", async () => {
  const codecs = {
    zstd: codecOf("sheaf.1.zstd")!,
    deflate: codecOf("sheaf.1.deflate")!,
    streamed,
  };
  for (const codec of Object.values(codecs)) {
    for (const size of [0, 1, 1_023, 1_024, 100_000]) {
      const packed = await codec.pack(new Uint8Array(size).fill(7));
      assert.equal(packed[0], size < 1_024 ? 0 : 1);
      const unpacked = await codec.unpack(packed);
      assert.deepEqual([...unpacked], Array(size).fill(7));
    }
    const noise = crypto.getRandomValues(new Uint8Array(2_000));
    assert.equal((await codec.pack(noise))[0], 0);
  }
  const packed = await codecs.deflate.pack(new Uint8Array(5_000));
  assert.equal((await codecs.streamed.unpack(packed)).length, 5_000);
});

Deno.test("what grows too far, or is no compression, is a SyntaxError", async () => {
  const bomb = new Uint8Array(limits.frameBytesMax + 1);
  const codecs = [
    codecOf("sheaf.1.zstd")!,
    codecOf("sheaf.1.deflate")!,
    streamed,
  ];
  for (const codec of codecs) {
    const packed = await codec.pack(bomb);
    assert.ok(packed.length < 50_000);
    const unpack = (bytes: Uint8Array) => async () => await codec.unpack(bytes);
    await assert.rejects(unpack(packed), SyntaxError);
    await assert.rejects(unpack(Uint8Array.of(1, 9, 9, 9, 9)), SyntaxError);
    await assert.rejects(unpack(Uint8Array.of(2, 9)), SyntaxError);
    await assert.rejects(unpack(new Uint8Array()), SyntaxError);
  }
});

Deno.test("a line keeps the order of slow and quick frames", async () => {
  const out: number[] = [];
  const slow = Promise.withResolvers<void>();
  const line = new FrameLine(
    (bytes) => bytes[0] === 1 ? slow.promise.then(() => bytes) : bytes,
    (bytes) => out.push(bytes[0]!),
    (error) => {
      throw error;
    },
  );
  for (const n of [0, 1, 2]) line.push(Uint8Array.of(n));
  const done = new Promise<void>((resolve) => line.afterwards(resolve));
  assert.deepEqual(out, [0]);
  assert.equal(line.waiting, 2);
  slow.resolve();
  await done;
  assert.deepEqual(out, [0, 1, 2]);
  await new Promise((resolve) => setTimeout(resolve));
  line.push(Uint8Array.of(3));
  assert.deepEqual(out, [0, 1, 2, 3]);
});

Deno.test("an address must be one of a server", () => {
  assert.equal(websocketUrl("https://a.example/x#y").href, "wss://a.example/x");
  assert.equal(httpUrl("ws://a.example:8080").href, "http://a.example:8080/");
  for (const bad of ["a.example", "ftp://a.example", "", "javascript:1"]) {
    assert.throws(() => websocketUrl(bad), { code: "invalid-option" });
  }
});

Deno.test("a memory connector refuses as its acceptor says", async () => {
  const connector = memoryConnector("memory", () => {
    throw { code: "unavailable", detail: "not now" };
  });
  const error = await connector.connect(new AbortController().signal)
    .catch((error) => error);
  assert.deepEqual(endOf(error), { code: "unavailable", detail: "not now" });
});
