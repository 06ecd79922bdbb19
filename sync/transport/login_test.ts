import assert from "node:assert/strict";
import { createSigner, generateKeyPair, verify } from "../../crypto/mod.ts";
import { limits } from "../../src/base/limits.ts";
import { loginMessage } from "../login_proof.ts";
import { loginTo, serverInfo } from "./login.ts";

type Handler = (request: Request) => Response | Promise<Response>;

async function at(
  handler: Handler,
  run: (address: string) => Promise<void>,
): Promise<void> {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    handler,
  );
  try {
    await run(`ws://127.0.0.1:${server.addr.port}/sync`);
  } finally {
    await server.shutdown();
  }
}

const { publicKey, secretKey } = generateKeyPair((target) => target.fill(5));
const question = {
  sessionKey: publicKey,
  credentials: { token: "secret" },
  rootKey: new Uint8Array(32).fill(6),
  nowMs: 1_700_000_000_000.25,
  sign: (message: Uint8Array) => createSigner(secretKey).sign(message),
};
const credentials = '{"token":"secret"}';

function isSigned(atMs: number, proof: unknown): boolean {
  const { rootKey, sessionKey } = question;
  const message = loginMessage({ rootKey, sessionKey, atMs, credentials });
  return verify(Uint8Array.fromHex(String(proof)), message, sessionKey);
}

const info = {
  protocol: 1,
  name: "s",
  rootKey: "ab".repeat(32),
  mode: "default",
  login: ["anonymous"],
};

Deno.test("serverInfo() gives what a server says of itself", async () => {
  const paths: string[] = [];
  await at((request) => {
    paths.push(new URL(request.url).pathname);
    return Response.json(info);
  }, async (address) => {
    const rootKey = new Uint8Array(32).fill(0xab);
    assert.deepEqual(await serverInfo(address), { ...info, rootKey });
  });
  assert.deepEqual(paths, ["/sheaf"]);
});

Deno.test("serverInfo() rejects with `unreachable` where no server of ours answers", async () => {
  const answers: Handler[] = [
    () => new Response("hello"),
    () => Response.json({ protocol: 1, rootKey: "zz" }),
    () => Response.json([1]),
    () => Response.json({}, { status: 404 }),
    () => Response.json({ ...info, more: "x".repeat(limits.loginBytesMax) }),
    () => Response.redirect("http://127.0.0.1:1/", 302),
  ];
  for (const answer of answers) {
    await at(answer, async (address) => {
      await assert.rejects(serverInfo(address), { code: "unreachable" });
    });
  }
  const nobody = "http://127.0.0.1:1";
  await assert.rejects(serverInfo(nobody), { code: "unreachable" });
});

Deno.test("a page that reaches no server of elsewhere is told what may be wrong", async () => {
  const nobody = "http://127.0.0.1:1";
  const messageIn = async (origin: string | undefined) => {
    Object.defineProperty(globalThis, "location", {
      value: origin && { origin },
      configurable: true,
    });
    return await serverInfo(nobody).then(
      () => "",
      ({ message }) => message,
    );
  };
  const before = Object.getOwnPropertyDescriptor(globalThis, "location")!;
  try {
    const page = "https://app.example";
    assert.match(
      await messageIn(page),
      /do its `origins` name https:\/\/app\.example\?$/,
    );
    for (const origin of [undefined, nobody]) {
      assert.doesNotMatch(await messageIn(origin), /origins/);
    }
  } finally {
    Object.defineProperty(globalThis, "location", before);
  }
});

Deno.test("a login sends key and credentials and gives the certificates", async () => {
  const bodies: unknown[] = [];
  await at(async (request) => {
    bodies.push([request.method, new URL(request.url).pathname]);
    const { proof, ...body } = await request.json();
    assert.ok(isSigned(body.at, proof));
    bodies.push(body);
    return Response.json({ certificate: "0102", issuers: ["03"] });
  }, async (address) => {
    const login = loginTo(address);
    assert.deepEqual(
      await login({ ...question, certificate: Uint8Array.of(7) }),
      { certificate: Uint8Array.of(1, 2), issuers: [Uint8Array.of(3)] },
    );
  });
  assert.deepEqual(bodies, [["POST", "/login"], {
    rootKey: "06".repeat(32),
    sessionKey: publicKey.toHex(),
    credentials,
    certificate: "07",
    at: 1_700_000_000_000,
  }]);
});

Deno.test("a login is signed again, once, with the server's time where that finds the clock wrong", async () => {
  const times: number[] = [];
  const now = 1_800_000_000_000;
  const answers = (isPatient: boolean): Handler => async (request) => {
    const body = await request.json();
    assert.ok(isSigned(body.at, body.proof));
    times.push(body.at);
    if (isPatient && body.at === now) {
      return Response.json({ certificate: "0102", issuers: [] });
    }
    const fault = { code: "bad-clock", message: "m", now };
    return Response.json(fault, { status: 400 });
  };
  await at(answers(true), async (address) => {
    const given = await loginTo(address)(question);
    assert.ok(given !== "key-taken");
    assert.deepEqual(given.certificate, Uint8Array.of(1, 2));
  });
  await at(answers(false), async (address) => {
    const login = loginTo(address)(question);
    await assert.rejects(login, { code: "login-failed" });
  });
  const first = 1_700_000_000_000;
  assert.deepEqual(times, [first, now, first, now]);
});

Deno.test("a login that fails says whether asking again can help", async () => {
  const cases: [number, string][] = [
    [401, "login-failed"],
    [403, "login-failed"],
    [400, "login-failed"],
    [429, "unreachable"],
    [503, "unreachable"],
    [200, "unreachable"],
  ];
  for (const [status, code] of cases) {
    const answer = () => Response.json({ code: "c", message: "m" }, { status });
    await at(answer, async (address) => {
      await assert.rejects(loginTo(address)(question), { code });
    });
  }
  await at(() => Response.json({}, { status: 404 }), async (address) => {
    await assert.rejects(loginTo(address)(question), {
      code: "login-failed",
      message: /there is no login at http:.*\/login/,
    });
  });
  for (const code of ["root-key-mismatch", "login-failed"]) {
    const told = { code, message: "In the server's words" };
    await at(() => Response.json(told, { status: 400 }), async (address) => {
      await assert.rejects(loginTo(address)(question), told);
    });
  }
  await at(() => new Response(null, { status: 409 }), async (address) => {
    assert.equal(await loginTo(address)(question), "key-taken");
  });
});

Deno.test("a login can be given up", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Response>();
  const controller = new AbortController();
  await at(() => {
    asked.resolve();
    return answer.promise;
  }, async (address) => {
    const login = loginTo(address)(question, controller.signal);
    await asked.promise;
    controller.abort();
    await assert.rejects(login, { code: "unreachable" });
    answer.resolve(new Response());
  });
});
