/**
 * A chat for members: a room's host lets people in and shows them out.
 *
 *     deno run -A chat.ts serve                  prints the server's root key
 *     deno run -A chat.ts ROOT_KEY anns-secret   Ann, in her own room
 *     deno run -A chat.ts ROOT_KEY bobs-secret   Bob, once Ann has typed: /invite bob
 *
 * @module
 */

import { stdin } from "node:process";
import { createInterface } from "node:readline/promises";
import { defineRules, defineSchema, field, rulesFor } from "@sheaf/sheaf";
import { memoryStorage, openDatabase, type Repository } from "@sheaf/sheaf";
import { createServer, type Server } from "@sheaf/sheaf/server";

/** Who was let in, by user. */
export const Member = defineSchema("member", { by: field.string() });
/** What was said. */
export const Message = defineSchema("message", {
  by: field.string(),
  at: field.date(),
  text: field.string().min(1).max(4000),
}, { indexes: [["at"]] });
const schemas = [Member, Message];

/** Members read and write, in their own name; the host says who is one. */
export const rules = defineRules({
  "room/{host}": {
    read: ({ session: { user }, params, get }) =>
      user === params.host || get(Member, user) !== undefined,
    collections: [
      rulesFor(Member, {
        create: ({ session, repository }) =>
          repository === `room/${session.user}` || "Only the host lets in",
        delete: ({ session, repository }) =>
          repository === `room/${session.user}` || "Only the host shows out",
      }),
      rulesFor(Message, {
        create: ({ session: { user }, repository, after, get }) =>
          after.by === user &&
            (repository === `room/${user}` ||
              get(Member, user) !== undefined) ||
          "Only members write, in their own name",
      }),
    ],
  },
});

/** The server: a real one takes `data`, a folder, and a login of its own. */
export async function serve(port: number): Promise<Server> {
  const tokens = {
    "anns-secret": { user: "ann" },
    "bobs-secret": { user: "bob" },
  };
  const place = { storage: memoryStorage(), port, log: () => {} };
  return await createServer({ ...place, schemas, rules, login: { tokens } });
}

/** A device of somebody, in Ann's room; closing its database leaves. */
export async function enter(url: string, rootKey: string, token: string) {
  const storage = memoryStorage();
  const db = await openDatabase({ storage, rootKey, schemas, rules });
  db.connect(url, { session: { token } });
  const room = await db.repository("room/ann");
  return { db, room };
}

/** Says something, or lets somebody in; throws why that is not allowed. */
export function say(room: Repository, by: string, text: string) {
  const [, guest] = /^\/invite (\S+)$/.exec(text) ?? [];
  return guest === undefined
    ? room.collection(Message).create({ by, at: new Date(), text })
    : room.collection(Member).create({ id: guest, by });
}

const [key, token = ""] = import.meta.main ? Deno.args : [];
if (key === "serve") console.log((await serve(8765)).rootKey.toHex());
else if (key !== undefined) {
  const { db, room } = await enter("http://127.0.0.1:8765", key, token);
  const told = room.collection(Message).query().orderBy("at");
  told.subscribe(({ added }) => {
    for (const { row } of added) console.log(`${row.by}: ${row.text}`);
  });
  for await (const line of createInterface({ input: stdin })) {
    try {
      await say(room, db.user, line);
    } catch (error) {
      console.log(String(error));
    }
  }
}
