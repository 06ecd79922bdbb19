import { equal } from "node:assert/strict";
import { addressOf, networkOf, originCheck } from "./origin.ts";

function asks(origin: string | undefined, host = "data.example.org"): Request {
  const headers = new Headers({ host });
  if (origin !== undefined) headers.set("origin", origin);
  return new Request(`http://${host}/`, { headers });
}

Deno.test("originCheck() lets programs and pages of the same host pass", () => {
  const check = originCheck([]);
  equal(check(asks(undefined)), true);
  equal(check(asks("http://data.example.org")), true);
  equal(check(asks("https://data.example.org")), true);
  equal(check(asks("https://data.example.org", "data.example.org:443")), true);
});

Deno.test("originCheck() refuses pages of other hosts, ports and none", () => {
  const check = originCheck([]);
  const foreign = [
    "https://evil.example",
    "https://data.example.org.evil.example",
    "http://data.example.org:8081",
    "null",
    "",
    "nonsense",
    "file://data.example.org",
  ];
  for (const origin of foreign) equal(check(asks(origin)), false, origin);
});

Deno.test("originCheck() goes by a list where there is one", () => {
  const check = originCheck(["https://app.example.org"]);
  equal(check(asks("https://app.example.org")), true);
  equal(check(asks("https://app.example.org:443")), true);
  equal(check(asks("https://data.example.org")), false);
  equal(originCheck(["*"])(asks("https://evil.example")), true);
});

Deno.test("networkOf() counts an IPv6 household as one and unpacks IPv4", () => {
  equal(networkOf("203.0.113.7"), "203.0.113.7");
  equal(networkOf("::ffff:203.0.113.7"), "203.0.113.7");
  equal(networkOf("203.0.113.7:4711"), "203.0.113.7");
  equal(networkOf("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  equal(networkOf("[2001:db8:1:2::9]:4711"), "2001:db8:1:2::/64");
  equal(networkOf("2001:DB8:1:2::9"), "2001:db8:1:2::/64");
  equal(networkOf("::1"), "0:0:0:0::/64");
});

Deno.test("addressOf() believes the nearest proxy's word only where it is told to", () => {
  const remote = "10.0.0.1";
  const request = new Request("http://127.0.0.1/", {
    headers: { "x-forwarded-for": "6.6.6.6, 203.0.113.7" },
  });
  equal(addressOf(request, remote, false), "10.0.0.1");
  equal(addressOf(request, remote, true), "203.0.113.7");
  equal(addressOf(asks(undefined), remote, true), "10.0.0.1");
});
