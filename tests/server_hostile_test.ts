/** A real server and peers that mean it ill: garbage, floods, too many, too slow. */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { clientOf, syncFits, textsOf } from "./server_clients.ts";
import { until, within } from "./kit/patience.ts";
import { ANN, BOB, type Place, withServer } from "./server_place.ts";

/** A raw WebSocket that has heard the server's hello. */
async function rawSocket(
  { server }: Place,
  protocol = "sheaf.1",
): Promise<{ socket: WebSocket; ended: Promise<number> }> {
  const address = server.url.replace("http", "ws");
  const socket = new WebSocket(address, protocol);
  socket.binaryType = "arraybuffer";
  const { promise: ended, resolve } = Promise.withResolvers<number>();
  const hello = Promise.withResolvers<void>();
  socket.onmessage = () => hello.resolve();
  socket.onclose = (event) => {
    hello.reject(new Error(`closed with ${event.code}`));
    resolve(event.code);
  };
  socket.onerror = () => {};
  await hello.promise;
  return { socket, ended };
}

Deno.test("server: closes who sends garbage, counts it, logs it once, and serves the others", () =>
  withServer({}, async (place) => {
    await using ann = await clientOf(place.server, { token: ANN });
    await ann.repo.sync.ready;
    const garbage = [
      new Uint8Array([0xff, 1, 2, 3]),
      new Uint8Array(100),
      crypto.getRandomValues(new Uint8Array(1_000)),
      new Uint8Array([0x10, 0]),
      new Uint8Array(),
    ];
    for (const bytes of garbage) {
      const { socket, ended } = await rawSocket(place);
      for (let i = 0; i < 5; i++) socket.send(bytes);
      await ended;
    }
    const { socket, ended } = await rawSocket(place);
    socket.send("text, not bytes");
    await ended;
    await until(
      () => place.server.status().connections === 1,
      "one connection is left",
    );
    const told = place.records.filter(({ event }) =>
      event === "connection-failed"
    );
    equal(told.length, garbage.length + 1);
    const connections = told.map((record) => record["connection"]);
    equal(new Set(connections).size, told.length);
    const text = await (await place.ask("/metrics")).text();
    match(text, /sheaf_protocol_errors_total\{code="bad-message"\} [1-9]/);
    await ann.notes.create({ text: "still here" }).synced;
  }));

Deno.test("server: closes a frame that is too large", () =>
  withServer({}, async (place) => {
    await using ann = await clientOf(place.server, { token: ANN });
    await ann.repo.sync.ready;
    const { socket, ended } = await rawSocket(place);
    socket.send(new Uint8Array(3 * 1024 * 1024));
    await ended;
    await until(
      () => place.server.status().connections === 1,
      "one connection is left",
    );
    const text = await (await place.ask("/metrics")).text();
    match(text, /sheaf_protocol_errors_total\{code="too-large"\} 1/);
    const told = place.records.filter(({ kind }) => kind === "too-large");
    deepEqual(told.map(({ event }) => event), ["connection-failed"]);
    await ann.notes.create({ text: "still here" }).synced;
  }));

Deno.test("server: lets nobody in for a while from where too much came that is no honest peer's", () =>
  withServer({}, async (place) => {
    await using ann = await clientOf(place.server, { token: ANN });
    await ann.repo.sync.ready;
    const tried = async () => {
      const raw = await rawSocket(place).catch(() => undefined);
      raw?.socket.send(new Uint8Array([0xff]));
      await raw?.ended;
      return raw !== undefined;
    };
    let failures = 0;
    while (failures < 100 && await tried()) failures++;
    ok(failures >= 60 && failures < 100, `${failures} were let in`);
    const told = place.records.filter(({ event }) =>
      event === "connection-declined"
    );
    equal(told.length, 1);
    equal(told[0]!["kind"], "too-many-connections");
    await ann.notes.create({ text: "who is in stays" }).synced;
  }));

Deno.test("server: refuses upgrades without its subprotocol", () =>
  withServer({}, async ({ server }) => {
    const address = server.url.replace("http", "ws");
    for (const protocol of [[], ["other"]]) {
      const socket = new WebSocket(address, protocol);
      const opened = await new Promise<boolean>((resolve) => {
        socket.onopen = () => resolve(true);
        socket.onerror = () => resolve(false);
      });
      equal(opened, false);
    }
  }));

Deno.test("server: declines who comes when all places of an address are taken", () =>
  withServer({ quotas: { connectionsPerAddress: 2 } }, async (place) => {
    const sockets = [await rawSocket(place), await rawSocket(place)];
    const third = await rawSocket(place).then(() => "open", () => "declined");
    equal(third, "declined");
    sockets[0]!.socket.close();
    await until(
      () => place.server.status().connections === 1,
      "one connection is left",
    );
    sockets.push(await rawSocket(place));
    equal(place.server.status().connections, 2);
    for (const { socket } of sockets) socket.close();
    await Promise.all(sockets.map(({ ended }) => ended));
  }));

Deno.test("server: bounds those who have not proved themselves, and not the others", () =>
  withServer({ quotas: { unproved: 1 } }, async (place) => {
    await using ann = await clientOf(place.server, { token: ANN });
    await ann.repo.sync.ready;
    const { socket, ended } = await rawSocket(place);
    const second = await rawSocket(place).then(() => "open", () => "declined");
    equal(second, "declined");
    socket.close();
    await ended;
    await ann.notes.create({ text: "proved" }).synced;
  }));

Deno.test("server: slows a session that writes faster than its quota, loses nothing of it, and slows no other", () =>
  withServer({ quotas: { bytesPerSecond: 300_000 } }, async ({ server }) => {
    await using ann = await clientOf(server, { token: ANN });
    await using bob = await clientOf(server, { token: BOB });
    await Promise.all([ann.repo.sync.ready, bob.repo.sync.ready]);
    const begun = performance.now();
    const text = "x".repeat(160_000);
    let isOver = false;
    let synced = 0;
    const write = async () => {
      for (; !isOver; synced++) await ann.notes.create({ text }).synced;
    };
    const writers = Array.from({ length: 4 }, write);
    // 3 MB may come at once and the last MiB needs no credit: the rest waits.
    const free = 3_000_000 + 1024 * 1024;
    await until(() => synced * text.length > free, "the free part is used up");
    await within(
      bob.notes.create({ text: "in between" }).synced,
      "another's write, while this one goes on",
    );
    isOver = true;
    await Promise.all(writers);
    const seconds = (performance.now() - begun) / 1_000;
    const bytes = synced * text.length;
    ok(bytes <= free + 300_000 * seconds, `${bytes} bytes in ${seconds} s`);
    await until(
      () => bob.notes.count() === synced + 1,
      "nothing of it is lost",
    );
    deepEqual(ann.repo.sync.status.refusals, []);
  }));

Deno.test("server: refuses commits to a repository that is full, as a quota", () =>
  withServer({ quotas: { repositoryBytes: 2_000 } }, async (place) => {
    await using ann = await clientOf(place.server, { token: ANN });
    await ann.notes.create({ text: "x".repeat(3_000) }).synced;
    let isSynced = false;
    const more = ann.notes.create({ text: "more" });
    more.synced.then(() => isSynced = true, () => {});
    await until(
      () =>
        place.records.some(({ event, kind }) =>
          event === "batch-refused" && kind === "quota"
        ),
      "the log tells of the refusal",
    );
    equal(isSynced, false);
    deepEqual(textsOf(ann).includes("more"), true); // it may be tried again later
    const text = await (await place.ask("/metrics")).text();
    match(text, /sheaf_batches_refused_total\{reason="quota"\} 1/);
  }));

Deno.test("server: begins no more repositories than there may be, and goes on with those that are", () =>
  withServer({ quotas: { repositories: 2 } }, async (place) => {
    const { server } = place; // its own repository is the first
    await using one = await clientOf(server, { repository: "one" });
    await one.notes.create({ text: "1" }).synced;
    await using two = await clientOf(server, { repository: "two" });
    await syncFits(two, ({ state }) => state === "refused", "it is refused");
    equal(two.repo.sync.status.reason?.code, "unavailable");
    deepEqual(server.database.repositories(), ["_server", "one"]);
    await one.notes.create({ text: "2" }).synced;
  }));

Deno.test("server: gives the places back of those who vanish in the middle of a handshake", () =>
  withServer({ quotas: { connectionsPerAddress: 5 } }, async (place) => {
    const { hostname, port } = new URL(place.server.url);
    const request = [
      "GET /sync HTTP/1.1",
      `Host: ${hostname}:${port}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Protocol: sheaf.1",
    ];
    const bytes = new TextEncoder().encode(`${request.join("\r\n")}\r\n\r\n`);
    for (let i = 0; i < 20; i++) {
      const wire = await Deno.connect({ hostname, port: Number(port) });
      await wire.write(bytes);
      wire.close();
    }
    await until(
      () => place.server.status().connections === 0,
      "no connection is left",
    );
    await using ann = await clientOf(place.server, { token: ANN });
    await ann.notes.create({ text: "room for all" }).synced;
  }));
