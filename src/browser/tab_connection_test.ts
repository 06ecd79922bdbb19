import { deepEqual, equal } from "node:assert/strict";
import { TabConnection } from "./tab_connection.ts";

const address = "wss://example.com/";
const status = {
  state: "ready",
  attempts: 0,
  reason: undefined,
  retryAt: undefined,
} as const;

/** A connection of a tab, what it asked of owners, and whether it has ended. */
function connect(options: object | undefined) {
  const asked: string[] = [];
  let isEnded = false;
  const connection = new TabConnection({
    address,
    options,
    call: (method) => {
      asked.push(method);
      return Promise.resolve();
    },
    ended: () => void (isEnded = true),
  });
  return { connection, asked, isEnded: () => isEnded };
}

Deno.test("TabConnection is asked for anew of an owner that had heard nothing of it", () => {
  const { connection, asked, isEnded } = connect({});
  connection.begin();
  connection.report({ address, status });
  connection.welcomed(undefined);
  deepEqual(asked, ["connect", "connect"]);
  connection.report(undefined); // It was said before the question came.
  equal(isEnded(), false);
  equal(connection.status.state, "ready");
});

Deno.test("TabConnection of another tab ends with an owner that has none", () => {
  const { connection, asked, isEnded } = connect(undefined);
  connection.report({ address, status });
  connection.welcomed(undefined);
  deepEqual(asked, []);
  equal(isEnded(), true);
});

Deno.test("TabConnection ends when its owner has none any more", () => {
  const { connection, isEnded } = connect({});
  connection.welcomed({ address, status });
  equal(isEnded(), false);
  connection.report(undefined);
  equal(isEnded(), true);
  equal(connection.status.state, "closed");
});
