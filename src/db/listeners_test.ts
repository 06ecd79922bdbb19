import { deepEqual, equal } from "node:assert/strict";
import { Listeners } from "./listeners.ts";

Deno.test("listeners are told in order until they end", () => {
  const heard: string[] = [];
  const listeners = new Listeners();
  const end = listeners.add(() => heard.push("a"));
  listeners.add(() => heard.push("b"));
  listeners.tell();
  end();
  end();
  listeners.tell();
  deepEqual(heard, ["a", "b", "b"]);
  equal(listeners.size, 1);
});

Deno.test("one function that listens twice is told twice", () => {
  let heard = 0;
  const listener = () => void heard++;
  const listeners = new Listeners();
  const end = listeners.add(listener);
  listeners.add(listener);
  listeners.tell();
  end();
  listeners.tell();
  equal(heard, 3);
});

Deno.test("a listener that throws is reported and keeps nobody from hearing", () => {
  const [heard, errors]: [string[], unknown[]] = [[], []];
  const listeners = new Listeners((error) => errors.push(error));
  const failure = new Error("no");
  listeners.add(() => {
    throw failure;
  });
  listeners.add(() => heard.push("b"));
  listeners.tell();
  deepEqual([heard, errors], [["b"], [failure]]);
});

Deno.test("a listener that another one ended is not told", () => {
  const heard: string[] = [];
  const listeners = new Listeners();
  let end = () => {};
  listeners.add(() => end());
  end = listeners.add(() => heard.push("b"));
  listeners.tell();
  deepEqual(heard, []);
});
