import { equal } from "node:assert/strict";
import { limits } from "../src/base/limits.ts";
import { Lingering } from "./connections.ts";

Deno.test("Lingering counts the sockets of an address that stay, and no others", () => {
  const { lingeringSocketsMax: most, lingerMs } = limits;
  const lingering = new Lingering();
  const gone = Array.from({ length: most }, () => lingering.add("a", 0));
  equal(lingering.isFull("a", lingerMs - 1), false, "they may be closing");
  equal(lingering.isFull("a", lingerMs), true);
  equal(lingering.isFull("b", lingerMs), false);
  gone[0]!();
  gone[0]!();
  equal(lingering.isFull("a", lingerMs), false);
  lingering.add("a", lingerMs);
  equal(lingering.isFull("a", lingerMs), false);
});
