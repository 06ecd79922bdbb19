import { equal, ok } from "node:assert/strict";
import { limits } from "../src/base/limits.ts";
import type { HostPeer } from "../sync/host_hooks.ts";
import type { Transport } from "../sync/transport/transport.ts";
import { ManualWorld } from "../tests/kit/replica_place.ts";
import { HttpFault } from "./body.ts";
import { type ConnectionParts, Connections } from "./connections.ts";
import { Latencies, Metrics } from "./metrics.ts";
import { Log } from "./log.ts";
import { defaultQuotas } from "./options.ts";
import { noTracing } from "./tracing.ts";

const transport: Transport = {
  listen: () => {},
  send: () => {},
  buffered: 0,
  close: () => {},
};

/** Connections of which each ends as a test says. */
function start() {
  const world = new ManualWorld();
  const metrics = new Metrics();
  const parts: ConnectionParts = {
    quotas: defaultQuotas,
    metrics,
    log: new Log(() => {}, "info", () => world.now()),
    world,
    tracing: noTracing,
    latencies: new Latencies(metrics, world),
    // Tests say themselves what a host tells of a wire.
    accept: (_, address) => ({ id: 0, address, session: undefined }),
    proven: () => {},
  };
  const connections = new Connections(parts);
  let id = 0;
  const end = async (address: string, code: string) => {
    const peer: HostPeer = { id: ++id, address, session: undefined };
    const end = { code, detail: "" };
    connections.hear(peer, { kind: "accepted" });
    connections.hear(peer, { kind: "ended", end, isOwn: true });
    await Promise.resolve(); // Its socket is gone, too.
  };
  /** Gives its places back when it is let in. */
  const comes = (address: string) => {
    const { size } = connections;
    try {
      const { connection, unproved } = connections.take(address);
      connection();
      unproved();
      return "in";
    } catch (fault) {
      ok(fault instanceof HttpFault);
      return fault.code;
    } finally {
      equal(connections.size, size, "nothing is kept of it");
    }
  };
  return { world, connections, end, comes };
}

Deno.test("Connections decline an address after 60 ends that no honest peer has, then take one a second", async () => {
  const { world, end, comes } = start();
  for (let i = 0; i < 60; i++) await end("a", "bad-message");
  equal(comes("a"), "in");
  await end("a", "bad-proof");
  equal(comes("a"), "too-many-connections");
  equal(comes("b"), "in");
  world.advance(500);
  equal(comes("a"), "too-many-connections");
  world.advance(500);
  equal(comes("a"), "in");
  await end("a", "too-large");
  equal(comes("a"), "too-many-connections");
});

Deno.test("Connections count a flood as twenty ends, and silence as none", async () => {
  const { world, end, comes } = start();
  for (let i = 0; i < 100; i++) await end("a", "timeout");
  for (let i = 0; i < 3; i++) await end("a", "rate-limited");
  equal(comes("a"), "in");
  await end("a", "rate-limited");
  world.advance(19_000);
  equal(comes("a"), "too-many-connections");
  world.advance(1_000);
  equal(comes("a"), "in");
});

Deno.test("Connections decline an address whose sockets outlive their conversations until these are gone", async () => {
  const { world, connections, comes, end } = start();
  const gone = Promise.withResolvers<void>();
  for (let i = 0; i < limits.lingeringSocketsMax; i++) {
    const places = connections.take("a");
    connections.begin({ transport, closed: gone.promise }, "a", places);
    await end("a", "lost");
  }
  equal(comes("a"), "in", "they may be closing");
  world.advance(limits.lingerMs);
  equal(comes("a"), "too-many-connections");
  equal(comes("b"), "in");
  gone.resolve();
  await gone.promise;
  equal(comes("a"), "in");
  equal(connections.size, 0, "nothing is kept of them");
});
