import { deepEqual, equal, rejects } from "node:assert/strict";
import { type Credentials, credentialsOf } from "./login.ts";
import { renewalAt } from "./session_login.ts";

const day = 24 * 60 * 60 * 1000;

Deno.test("a certificate is renewed in the last fifth of its time, at most a week ahead", () => {
  equal(renewalAt(100, 0), 80);
  equal(renewalAt(100, 50), 90);
  equal(renewalAt(365 * day, 0), 358 * day);
  equal(renewalAt(30 * day, 0), 24 * day);
});

Deno.test("a certificate of unknown age is renewed on its last day", () => {
  equal(renewalAt(30 * day), 29 * day);
});

Deno.test("credentials are asked for each time they are needed", async () => {
  let asked = 0;
  const source = () => Promise.resolve({ token: `t${asked++}` });
  deepEqual(await credentialsOf(source), { token: "t0" });
  deepEqual(await credentialsOf(source), { token: "t1" });
  deepEqual(await credentialsOf({ jwt: "x" }), { jwt: "x" });
});

Deno.test("what are no credentials is an error before anything is sent", async () => {
  for (const none of [null, "token", {}, { token: "a", jwt: "b" }, { pw: 1 }]) {
    const source = () => none as unknown as Credentials;
    await rejects(credentialsOf(source), { code: "invalid-option" });
  }
});
