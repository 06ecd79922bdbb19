import { equal, fail, throws } from "node:assert/strict";
import { system } from "../src/base/system.ts";
import { HttpFault } from "./body.ts";
import { Connections } from "./connections.ts";
import { Latencies, Metrics } from "./metrics.ts";
import { Log } from "./log.ts";
import { quotasOf } from "./foundation.ts";
import { noTracing } from "./tracing.ts";
import { upgrade } from "./http.ts";

/** Connections of a server with one place. */
function quiet(): Connections {
  const metrics = new Metrics();
  return new Connections({
    quotas: quotasOf({ quotas: { connectionsPerAddress: 1 } }),
    metrics,
    log: new Log(() => {}, "error", () => 0),
    world: system,
    tracing: noTracing,
    latencies: new Latencies(metrics, system),
    accept: () => fail("nobody comes so far"),
    proven: () => {},
  });
}

/** A request that is no upgrade, though it names a protocol. */
function asking(): Request {
  const headers = { "sec-websocket-protocol": "sheaf.1" };
  return new Request("http://127.0.0.1/", { headers });
}

Deno.test("upgrade() answers what is no upgrade with a code, and keeps no place for it", () => {
  const connections = quiet();
  for (let i = 0; i < 3; i++) {
    throws(
      () => upgrade(asking(), "here", connections),
      (error) => error instanceof HttpFault && error.code === "bad-request",
    );
    equal(connections.size, 0);
  }
});

Deno.test("upgrade() blames no request for a failure of ours, and keeps no place for it", () => {
  const failure = new Error("out of memory");
  const connections = quiet();
  const headers = new Headers({ "sec-websocket-protocol": "sheaf.1" });
  let reads = 0;
  const request = Object.defineProperty(asking(), "headers", {
    get() {
      // The platform reads them after the connection took its place.
      if (++reads % 2 === 1) return headers;
      equal(connections.size, 1);
      throw failure;
    },
  });
  for (let i = 1; i <= 3; i++) {
    throws(() => upgrade(request, "here", connections), failure);
    equal(reads, 2 * i);
    equal(connections.size, 0);
  }
});
