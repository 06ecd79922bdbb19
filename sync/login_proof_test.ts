import { deepEqual, notDeepEqual } from "node:assert/strict";
import { createHash } from "node:crypto";
import { loginMessage } from "./login_proof.ts";

const statement = {
  rootKey: new Uint8Array(32).fill(1),
  sessionKey: new Uint8Array(32).fill(2),
  atMs: 0x0102_0304_0506,
  credentials: '{"token":"ß"}',
};

Deno.test("loginMessage() is domain, root key, session key, time and the hash of the credentials' text", () => {
  const hash = createHash("sha256").update('{"token":"ß"}', "utf8").digest();
  const bytes = [
    ...new TextEncoder().encode("sheaf login 1\n"),
    ...new Array(32).fill(1),
    ...new Array(32).fill(2),
    ...[6, 5, 4, 3, 2, 1],
    ...hash,
  ];
  deepEqual([...loginMessage(statement)], bytes);
});

Deno.test("loginMessage() differs with every part of it", () => {
  const other = new Uint8Array(32).fill(3);
  const changes = [
    { rootKey: other },
    { sessionKey: other },
    { atMs: 1 },
    { credentials: '{ "token":"ß"}' },
  ];
  for (const change of changes) {
    const message = loginMessage({ ...statement, ...change });
    notDeepEqual(message, loginMessage(statement));
  }
});
