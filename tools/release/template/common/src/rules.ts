import { defineRules, type RuleContext, rulesFor } from "@sheaf/sheaf";
import { Member, Todo } from "./schema.ts";

// Rules are asked twice: in the page before a write is shown, and by the server,
// which refuses what they forbid, whatever the page says.

type Asked = Pick<RuleContext, "session" | "params" | "get">;

const isOwner = ({ session, params }: Asked) => session.user === params.owner;
const roleOf = ({ session, get }: Asked) => get(Member, session.user)?.role;
const mayWrite = (asked: Asked) =>
  isOwner(asked) || roleOf(asked) === "writer" ||
  "Only the owner and writers change this list";
const ownerAlone = (asked: Asked) =>
  isOwner(asked) || "Only the owner says who belongs to this list";

export default defineRules({
  "list/{owner}": {
    read: (asked) => isOwner(asked) || roleOf(asked) !== undefined,
    collections: [
      rulesFor(Member, {
        create: ownerAlone,
        update: ownerAlone,
        delete: (asked) =>
          isOwner(asked) || asked.before.id === asked.session.user ||
          "Only the owner removes others",
      }),
      rulesFor(Todo, { create: mayWrite, update: mayWrite, delete: mayWrite }),
    ],
  },
});
