import { defineSchema, field, memoryStorage, openDatabase } from "../mod.ts";
import { createSigner } from "../crypto/mod.ts";
import { RawPeer, rawSession, ROOT_SECRET, genesisOf } from "../tests/raw_peer.ts";
import { changing, creating, ending, HostileChain } from "../tests/kit/forge.ts";
import { ANN, withServer } from "../tests/server_place.ts";
import { positionAt } from "../src/schema/position.ts";
const User = defineSchema("user", { email: field.string() }, { unique: [["email"]] });
const Show = defineSchema("show", { free: field.counter().min(0) });
const schemas = [User, Show];
const sh = (collection: string, fields: Record<string, any>) => ({ collection, version: 1, fields: Object.entries(fields).map(([name, kind]) => ({ name, kind })) }) as any;
for (const mayIssue of [false, true]) {
Deno.test(`issuer=${mayIssue} over the wire`, () => withServer({ rootSecret: ROOT_SECRET, schemas }, async ({ server }) => {
  const db = await openDatabase({ storage: memoryStorage(), rootKey: server.rootKey, schemas });
  const repo = await db.repository("team/a");
  db.connect(server.url, { session: { token: ANN } });
  await repo.collection(User).create({ id: "ann", email: "a@b" }).synced;
  await repo.collection(Show).create({ id: "s", free: 1 }).synced;
  const session = rawSession({ user: "srv", mayIssue });
  await using peer = await RawPeer.opened(server, "team/a", session);
  let n = 0;
  const hand = async (...ops: any[]) => {
    const chain = new HostileChain(genesisOf(server, "team/a"), createSigner(session.secretKey), ++n);
    const r = await peer.hand(chain.batch({ wall: Date.now(), operations: ops }));
    return r && `${r.reason} ${r.detail}`;
  };
  const user = sh("user", { email: "string" });
  const show = sh("show", { free: "counter" });
  console.log("unique", await hand(creating({ shape: user, id: "x" }, { email: "a@b" })));
  console.log("below", await hand(changing({ shape: show, id: "s" }, { free: { what: "increment", amount: -5 } as any })));
  console.log("kind", await hand(changing({ shape: sh("user", { email: "list" }), id: "ann" }, { email: { what: "insert", elements: [{ element: "e", position: positionAt(0), value: "x" }] } as any })));
  console.log("skip", await hand(creating({ shape: user, id: "ann", generation: 7 }, { email: "z" })));
  console.log("empty", await hand());
  console.log("collections", await hand(...Array.from({ length: 2000 }, (_, i) => creating({ shape: sh("c" + i, { a: "string" }), id: "x" }, { a: "z" }))));
  console.log(repo.collection(User).all(), repo.collection(Show).all());
  await db.close();
}));
}
