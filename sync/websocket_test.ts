import assert from "node:assert/strict";
import { until, within } from "../tests/kit/patience.ts";
import { ManualWorld } from "../tests/kit/replica_place.ts";
import { ClientPlace, ServerPlace } from "../tests/kit/sync_place.ts";
import { websocketConnector } from "./transport/websocket_client.ts";
import { pickProtocol, upgradeRequest } from "./transport/websocket_server.ts";

async function listening() {
  const server = await ServerPlace.start(new ManualWorld());
  const http = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) => {
      const offered = request.headers.get("sec-websocket-protocol");
      const protocol = pickProtocol(offered);
      if (protocol === undefined) return new Response(null, { status: 400 });
      const { transport, response } = upgradeRequest(request, protocol);
      server.host.accept(transport, "127.0.0.1");
      return response;
    },
  );
  const connect = async (seed: number) =>
    await ClientPlace.connect(server, seed, {
      connector: websocketConnector(`ws://127.0.0.1:${http.addr.port}/sync`),
    });
  return { server, http, connect };
}

Deno.test("replicas converge over real WebSockets, and commits come through without waiting for a clock", async () => {
  const { server, http, connect } = await listening();
  const ann = await connect(1);
  const ben = await connect(2);
  await until(() => ann.isLive && ben.isLive, "both are live");
  const { time } = server.world;
  for (const size of [10, 2_000, 4_000, 16_000, 100_000, 1_500_000]) {
    for (let i = 0; i < 3; i++) {
      const id = `n${size}-${i}`;
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = ben.place.replica.port().onShareable(() => {
        if (ben.place.text(id) !== undefined) resolve();
      });
      const noise = crypto.getRandomValues(new Uint8Array(65_536));
      await ann.write(id, noise.toHex().repeat(12).slice(0, size));
      await within(promise, `${id} arrives while the clocks stand`);
      end();
    }
  }
  assert.equal(server.world.time, time);
  assert.deepEqual(
    ben.place.replica.graph.summary(),
    server.place.replica.graph.summary(),
  );
  ann.close();
  ben.close();
  await until(() => server.peers === 0, "all are gone");
  await server.stop();
  await http.shutdown();
  assert.deepEqual(server.faults, []);
});

Deno.test("a client hears over a real WebSocket why a server ends it, and until when to stay away", async () => {
  const { server, http, connect } = await listening();
  const ann = await connect(1);
  await until(() => ann.isLive, "it is live");
  server.host.goodbye(120_000);
  await until(
    () => ann.client.status.state === "offline",
    "it is told to go",
  );
  const { reason, retryAt } = ann.client.status;
  assert.equal(reason?.code, "shutting-down");
  assert.ok(retryAt!.getTime() > server.world.time + 100_000);
  ann.close();
  await server.stop();
  await http.shutdown();
});

Deno.test({
  name: "websocketConnector() waits for a connection no longer once it is open",
  // A timer that is left would end the open connection.
  sanitizeOps: true,
  async fn() {
    const http = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      (request) => {
        const offered = request.headers.get("sec-websocket-protocol");
        const protocol = pickProtocol(offered);
        assert.ok(protocol !== undefined);
        return upgradeRequest(request, protocol).response;
      },
    );
    const url = `ws://127.0.0.1:${http.addr.port}/sync`;
    const transport = await websocketConnector(url)
      .connect(new AbortController().signal);
    const ended = Promise.withResolvers<void>();
    transport.listen({ frame: () => {}, ended: () => ended.resolve() });
    transport.close("goodbye", "");
    await within(ended.promise, "the connection ends");
    await http.shutdown();
  },
});
