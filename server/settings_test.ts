import { deepEqual, equal, match, throws } from "node:assert/strict";
import {
  type ConfigInput,
  optionsOf,
  readConfig,
  valueOf,
} from "./settings.ts";
import { type Setting, settings, variableOf } from "./settings.ts";
import { summaryOf, warningsOf } from "../src/cli/commands/serve.ts";

const file = (value: unknown) => ({
  name: "sheaf.json",
  text: JSON.stringify(value),
});
const started = {
  url: "http://127.0.0.1:8080",
  rootKey: new Uint8Array(32).fill(0xab),
  isNew: true,
};

Deno.test("readConfig() lets flags win over the environment, that over the file, that over defaults", () => {
  const input = {
    file: file({ port: 1, hostname: "file", name: "file", openMax: 7 }),
    environment: { SHEAF_PORT: "2", SHEAF_HOSTNAME: "environment", HOME: "/" },
    flags: new Map([["port", ["3"]]]),
  };
  const config = readConfig(input);
  deepEqual(config.get("port"), { value: 3, source: "flag" });
  deepEqual(config.get("hostname"), {
    value: "environment",
    source: "environment",
  });
  deepEqual(config.get("name"), { value: "file", source: "file" });
  deepEqual(config.get("sessionDays"), { value: 30, source: "default" });
  equal(optionsOf(config).openMax, 7);
});

Deno.test("readConfig() reads logins, TLS and quotas into a server's options", () => {
  const tokens = { "ann's token": { user: "ann", claims: { admin: true } } };
  const secret = "x".repeat(32);
  const config = readConfig({
    file: file({
      login: { tokens, jwt: { secret, claims: ["team"] } },
      tls: { cert: "c.pem", key: "k.pem" },
      quotas: { connections: 5 },
      origins: ["https://app.example.org"],
    }),
    environment: { SHEAF_QUOTAS_UNPROVED: "9" },
    flags: new Map([["login.anonymous", ["true"]]]),
  });
  const options = optionsOf(config);
  deepEqual(options.login, {
    anonymous: true,
    tokens,
    jwt: { secret, claims: ["team"] },
  });
  deepEqual(options.tls, { cert: "c.pem", key: "k.pem" });
  deepEqual(options.quotas, { connections: 5, unproved: 9 });
  deepEqual(options.origins, ["https://app.example.org"]);
});

Deno.test("readConfig() splits lists of the environment at commas", () => {
  const config = readConfig({
    environment: {
      SHEAF_ORIGINS: "https://a.example,https://b.example",
      SHEAF_LOGIN_TOKENS: "ann=one=1,bob=two",
    },
  });
  deepEqual(valueOf(config, "origins"), [
    "https://a.example",
    "https://b.example",
  ]);
  deepEqual(valueOf(config, "login.tokens"), [
    { user: "ann", token: "one=1" },
    { user: "bob", token: "two" },
  ]);
});

Deno.test("readConfig() names the key of what is unknown or not allowed, and where it stood", () => {
  const cases: [ConfigInput, RegExp][] = [
    [{ file: file({ prot: 1 }) }, /"prot" in sheaf.json: is not known/],
    [{ file: file({ tls: { ca: "x" } }) }, /"tls.ca" in sheaf.json: is not/],
    [{ file: file({ tls: "x" }) }, /"tls" in sheaf.json: is not known/],
    [{ file: file({ port: "80" }) }, /"port" in sheaf.json: takes a number/],
    [{ file: file({ port: 65_536 }) }, /"port".*0 to 65535, not 65536/],
    [{ file: file({ port: 1.5 }) }, /"port".*whole number/],
    [{ file: file({ data: "" }) }, /"data".*is empty/],
    [{ file: file({ mode: "slow" }) }, /"mode".*default, trusted, fast/],
    [{ file: file({ origins: "*" }) }, /"origins".*list/],
    [{ file: file({ login: { tokens: { a: "ann" } } }) }, /"login.tokens"/],
    [{ file: file([]) }, /sheaf.json: must hold a JSON object/],
    [{ file: { name: "x.json", text: "{" } }, /x.json: is no JSON/],
    [{ environment: { SHEAF_PROT: "1" } }, /SHEAF_PROT: is not known/],
    [{ environment: { SHEAF_PORT: "-1" } }, /SHEAF_PORT: takes a whole/],
    [{ environment: { SHEAF_TRUST_PROXY: "yes" } }, /SHEAF_TRUST_PROXY/],
    [{ flags: new Map([["login.tokens", ["ann"]]]) }, /user=secret/],
    [{ flags: new Map([["idleMs", ["0"]]]) }, /"idleMs".*from 1/],
  ];
  for (const [input, message] of cases) {
    throws(() => readConfig(input), { code: "invalid-option", message });
  }
  const half = readConfig({ file: file({ tls: { cert: "c.pem" } }) });
  throws(() => optionsOf(half), /both a `cert` and a `key`/);
});

Deno.test("readConfig() takes what tests are told for no setting", () => {
  const environment = { SHEAF_TEST_BROWSER: "none", SHEAF_TEST_TIER: "all" };
  deepEqual(readConfig({ environment }), readConfig({}));
  const message = /SHEAF_TESTS: is not known/;
  throws(() => readConfig({ environment: { SHEAF_TESTS: "1" } }), { message });
});

Deno.test("settings have one key, flag and variable each", () => {
  for (const nameOf of [({ flag }: Setting) => flag, variableOf]) {
    equal(new Set(settings.map(nameOf)).size, settings.length);
  }
});

Deno.test("summaryOf() masks secrets, says where the root secret lies and how a client connects", () => {
  const config = readConfig({
    flags: new Map([
      ["login.tokens", ["ann=hunter22"]],
      ["login.jwt.secret", ["hunter33".repeat(4)]],
      ["adminToken", ["hunter44"]],
      ["data", ["/srv/sheaf"]],
    ]),
  });
  const text = summaryOf(config, started).join("\n");
  equal(text.includes("hunter"), false);
  match(text, /ann=\*\*\*/);
  match(text, /root key +abab/);
  match(text, /root secret +in \/srv\/sheaf\/database/);
  match(text, /Back up \/srv\/sheaf\/database/);
  match(text, /client: .*ws:\/\/127\.0\.0\.1:8080/);
  const again = summaryOf(config, { ...started, isNew: false }).join("\n");
  equal(again.includes("Back up"), false);
});

Deno.test("warningsOf() tells of missing rules, rules that are asked of no write, anonymous login, no login, tokens of other apps, open origins and no TLS", () => {
  const of = (flags: [string, string[]][]) =>
    warningsOf(readConfig({ flags: new Map(flags) })).join("\n");
  match(of([]), /no rules/);
  match(of([]), /no kind of login/);
  match(of([["login.anonymous", ["true"]]]), /anonymous login is on/);
  const jwt: [string, string[]] = ["login.jwt.secret", ["secret".repeat(8)]];
  match(of([jwt]), /tokens for any audience/);
  equal(/audience/.test(of([jwt, ["login.jwt.audience", ["us"]]])), false);
  match(of([["origins", ["*"]]]), /every origin/);
  match(of([["hostname", ["0.0.0.0"]]]), /no TLS/);
  const rules: [string, string[]] = ["rules", ["r.ts"]];
  match(of([rules, ["mode", ["trusted"]]]), /asked of no write: trusted mode/);
  const safe = of([rules, ["login.tokens", ["ann=secret12"]]]);
  equal(safe, "");
});
