import { deepEqual, rejects } from "node:assert/strict";
import { readJson } from "./body.ts";

/** A request whose body comes in pieces; an error is what its connection ends with. */
function requestOf(...pieces: (string | Error)[]): Request {
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift();
      if (piece === undefined) controller.close();
      else if (piece instanceof Error) controller.error(piece);
      else controller.enqueue(new TextEncoder().encode(piece));
    },
  });
  return new Request("http://127.0.0.1/login", { method: "POST", body });
}

Deno.test("readJson() puts the pieces of a body together", async () => {
  deepEqual(await readJson(requestOf('{"a":', "[1]}")), { a: [1] });
});

Deno.test("readJson() answers a body whose sender was killed with a coded error, not with a failure of the server", async () => {
  const gone = new Error("Cannot read request body");
  const fault = { name: "HttpFault", status: 400, code: "bad-request" };
  await rejects(readJson(requestOf('{"a":', gone)), fault);
  await rejects(readJson(requestOf('{"a":')), fault);
});
