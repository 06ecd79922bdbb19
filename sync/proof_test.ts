import { deepEqual, notDeepEqual } from "node:assert/strict";
import { clientMessage, serverMessage } from "./proof.ts";

const bytes = (fill: number) => new Uint8Array(32).fill(fill);
const nonces = { server: bytes(1), client: bytes(2) };
const text = (text: string) => [...new TextEncoder().encode(text)];

Deno.test("clientMessage() is domain, both nonces, the root key and the server's name", () => {
  deepEqual([...clientMessage(nonces, bytes(3), "gärten")], [
    ...text("sheaf prove client 1\n"),
    ...bytes(1),
    ...bytes(2),
    ...bytes(3),
    ...text("gärten"),
  ]);
});

Deno.test("serverMessage() is another domain, both nonces, the root key and the client's key", () => {
  const message = serverMessage(nonces, bytes(3), bytes(4));
  deepEqual([...message], [
    ...text("sheaf prove server 1\n"),
    ...bytes(1),
    ...bytes(2),
    ...bytes(3),
    ...bytes(4),
  ]);
  // With a name of 32 bytes it is as long as a client's, and still none.
  const name = String.fromCharCode(...bytes(4));
  notDeepEqual(clientMessage(nonces, bytes(3), name), message);
});
