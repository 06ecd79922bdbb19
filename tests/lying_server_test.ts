/** Servers that lie to a device: it says why, keeps what it has, and does not run hot. */

import { deepEqual, equal, ok } from "node:assert/strict";
import { encodeMessage } from "../sync/message_codec.ts";
import { features, type Message } from "../sync/message.ts";
import { until } from "./kit/patience.ts";
import { type Client, clientOf, connect } from "./server_clients.ts";
import { ANN, type Place, withServer } from "./server_place.ts";

/** What a liar says on each connection. */
type Lie = (socket: WebSocket, place: Place) => void;

/** The answer to a login; a true one comes from a real server. */
type LoginLie = (truth: Response) => Response | Promise<Response>;

interface Liar {
  readonly url: string;
  /** When there were connections. */
  readonly connections: number[];
  logins: number;
}

async function withLiar(
  lie: Lie,
  work: (client: Client, liar: Liar, place: Place) => Promise<void>,
  loginLie: LoginLie = (truth) => truth,
): Promise<void> {
  await withServer({}, async (place) => {
    const sockets = new Set<WebSocket>();
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      async (request) => {
        if (new URL(request.url).pathname === "/login") {
          liar.logins++;
          const { body, headers, method } = request;
          return await loginLie(
            await fetch(`${place.server.url}/login`, { method, headers, body }),
          );
        }
        liar.connections.push(performance.now());
        const { socket, response } = Deno.upgradeWebSocket(request);
        response.headers.set("sec-websocket-protocol", "sheaf.1");
        sockets.add(socket);
        socket.onopen = () => lie(socket, place);
        socket.onerror = () => {};
        socket.onclose = () => sockets.delete(socket);
        return response;
      },
    );
    const liar: Liar = {
      url: `http://127.0.0.1:${server.addr.port}`,
      connections: [],
      logins: 0,
    };
    try {
      await using client = await clientOf(place.server, { offline: true });
      client.notes.create({ text: "mine" });
      connect(client.db, liar, ANN);
      await work(client, liar, place);
      // It goes on as if nothing had been: offline, with everything it has.
      await client.notes.create({ text: "more" });
      equal(client.notes.count(), 2);
      equal(client.repo.sync.status.unsent.commits, 2);
      await client.db.connection!.close();
      connect(client.db, place.server, ANN);
      await until(
        () => client.repo.sync.status.unsent.commits === 0,
        "the true server takes what is unsent",
      );
      deepEqual(client.repo.sync.status.incidents, []);
    } finally {
      for (const socket of sockets) socket.close();
      await server.shutdown();
    }
  });
}

function hello(place: Place, fields: Partial<Message> = {}): Uint8Array {
  const { rootKey, name } = { rootKey: place.server.rootKey, name: "sheaf" };
  const nonce = new Uint8Array(32).fill(1);
  // Proof: tests change fields of this very message.
  const greeting = { is: "hello", ...features, nonce, rootKey, name };
  const message = { ...greeting, ...fields } as Message;
  return encodeMessage(message).slice();
}

const lies: Readonly<Record<string, { code: string; lie: Lie }>> = {
  "garbage": {
    code: "bad-message",
    lie: (socket) => socket.send(new Uint8Array([0xff, 1, 2])),
  },
  "text": { code: "bad-message", lie: (socket) => socket.send("hello") },
  "a frame that is too large": {
    code: "too-large",
    lie: (socket) => socket.send(new Uint8Array(3 * 1024 * 1024)),
  },
  "another wire version": {
    code: "wrong-version",
    lie: (socket, place) => {
      const frame = hello(place);
      frame[1] = 1;
      socket.send(frame as Uint8Array<ArrayBuffer>);
    },
  },
  "another database": {
    code: "root-key-mismatch",
    lie: (socket, place) => {
      const rootKey = new Uint8Array(32).fill(3);
      socket.send(hello(place, { rootKey }) as Uint8Array<ArrayBuffer>);
    },
  },
  "a proof of nothing": {
    code: "bad-certificate",
    lie: (socket, place) => {
      socket.send(hello(place) as Uint8Array<ArrayBuffer>);
      const welcome = encodeMessage({
        is: "welcome",
        features: 0,
        window: 1 << 20,
        heartbeatMs: 15_000,
        clock: Date.now(),
        certificates: [],
        signature: new Uint8Array(64),
      });
      socket.send(welcome.slice() as Uint8Array<ArrayBuffer>);
    },
  },
  "records before it has shown who it is": {
    code: "bad-message",
    lie: (socket, place) => {
      socket.send(hello(place) as Uint8Array<ArrayBuffer>);
      const records = encodeMessage({
        is: "records",
        channel: 1,
        records: [],
        progress: undefined,
      });
      socket.send(records.slice() as Uint8Array<ArrayBuffer>);
    },
  },
};

for (const [what, { code, lie }] of Object.entries(lies)) {
  Deno.test(`lying server: ${what} ends the connection as "${code}", and the client comes back later and later`, () =>
    withLiar(lie, async ({ db }, liar) => {
      const status = () => db.connection!.status;
      const isRefused = () => status().state === "refused";
      await until(
        () => db.connection?.status.reason?.code === code,
        `the connection ends as "${code}"`,
      );
      // What fails is counted, and each time makes the next pause longer.
      await until(
        () => isRefused() || status().attempts >= 2,
        "it is refused or fails again",
      );
      // A new login may help at once; whatever else is wrong may be no more.
      if (isRefused()) ok(liar.connections.length <= 2);
    }));
}

Deno.test("lying server: answers to a login that are none are shown, and not asked for in a loop", async () => {
  const answers: LoginLie[] = [
    async (truth) => {
      await truth.body?.cancel();
      return Response.json({ certificate: "00", issuers: [] });
    },
    async (truth) => {
      await truth.body?.cancel();
      return new Response("<html>".repeat(100_000));
    },
    async (truth) => {
      const answer = await truth.json();
      answer.certificate = answer.certificate.replace(/^(.{20})./, "$10");
      return Response.json({ ...answer, issuers: ["zz"] });
    },
    async (truth) => {
      await truth.body?.cancel();
      return Response.json({ code: "bad-clock", now: 1e15 }, { status: 400 });
    },
    async (truth) => {
      await truth.body?.cancel();
      return new Response(null, { status: 409 });
    },
  ];
  await Promise.all(
    answers.map((answer) =>
      withLiar(() => {}, async ({ db }, liar) => {
        const status = () => db.connection!.status;
        await until(
          () => status().state === "refused" || status().attempts >= 2,
          "it is refused or tries again",
        );
        deepEqual(liar.connections, []);
        const { attempts } = status();
        ok(
          liar.logins <= 3 * attempts,
          `${liar.logins} in ${attempts} attempts`,
        );
      }, answer)
    ),
  );
});
