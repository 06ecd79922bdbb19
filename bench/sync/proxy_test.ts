import { equal, ok } from "node:assert/strict";
import { Proxy } from "./proxy.ts";

async function echo(listener: Deno.TcpListener): Promise<void> {
  for await (const connection of listener) {
    void connection.readable.pipeTo(connection.writable).catch(() => {});
  }
}

Deno.test("Proxy carries and counts bytes both ways, and can be cut", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  void echo(listener);
  using proxy = new Proxy(listener.addr.port);
  const dial = () => Deno.connect({ hostname: "127.0.0.1", port: proxy.port });
  const connection = await dial();
  const buffer = new Uint8Array(16);
  for (let i = 0; i < 3; i++) {
    await connection.write(new Uint8Array(5));
    equal(await connection.read(buffer), 5);
  }
  equal(proxy.up, 15);
  equal(proxy.down, 15);
  equal(proxy.turns, 3);
  proxy.cut();
  equal(await connection.read(buffer).catch(() => null), null);
  connection.close();
  const refused = await dial();
  equal(await refused.read(buffer).catch(() => null), null);
  refused.close();
  proxy.heal();
  const again = await dial();
  await again.write(new Uint8Array(2));
  ok((await again.read(buffer))! > 0);
  again.close();
  listener.close();
});
