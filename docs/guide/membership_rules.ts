import {
  defineRules,
  defineSchema,
  field,
  type RuleContext,
  rulesFor,
} from "@sheaf/sheaf";

/** The team itself: one item, "team". */
export const Team = defineSchema("team", { owner: field.string() });
/** Who belongs to it, by user: as "admin", "editor" or "reader". */
export const Member = defineSchema("member", { role: field.string() });
/** Who may join as a reader: by user, or by a code that was given away. */
export const Invitation = defineSchema("invitation", { by: field.string() });
/** What they work on. */
export const Task = defineSchema("task", {
  title: field.string(),
  locked: field.boolean().default(false),
});

type Asked = Pick<RuleContext, "session" | "get">;

const roleOf = ({ session, get }: Asked) => get(Member, session.user)?.role;
const isAdmin = (asked: Asked) => roleOf(asked) === "admin";
const isEditor = (asked: Asked) => isAdmin(asked) || roleOf(asked) === "editor";
const isOwner = ({ session, get }: Asked) =>
  get(Team, "team")?.owner === session.user;

/** The code that a session logged in with, or its user. */
const inviteOf = ({ session: { user, claims } }: Asked) =>
  typeof claims.invitation === "string" ? claims.invitation : user;

/** An invitation is good as long as who wrote it is an admin. */
function isInvited(asked: Asked): boolean {
  const invitation = asked.get(Invitation, inviteOf(asked));
  return invitation !== undefined &&
    asked.get(Member, invitation.by)?.role === "admin";
}

const roles = ["admin", "editor", "reader"];

export default defineRules({
  "team/{founder}/{name}": {
    read: (asked) =>
      roleOf(asked) !== undefined || isInvited(asked) ||
      asked.session.user === asked.params.founder &&
        asked.get(Team, "team") === undefined,
    collections: [
      rulesFor(Team, {
        create: ({ session, params, after, getAfter }) =>
          after.id === "team" && after.owner === session.user &&
            session.user === params.founder &&
            getAfter(Member, session.user)?.role === "admin" ||
          "Only its founder begins a team, as its first admin",
        update: ({ session, before, after, getAfter }) =>
          before.owner === session.user &&
            getAfter(Member, after.owner)?.role === "admin" ||
          "Only the owner hands a team over, to an admin",
      }),
      rulesFor(Member, {
        create(asked) {
          const { session, after, get, getAfter } = asked;
          if (after.id !== session.user) return "Everybody joins himself";
          if (get(Team, "team") === undefined) {
            return after.role === "admin" &&
              getAfter(Team, "team")?.owner === session.user;
          }
          if (!isInvited(asked)) return "Only who is invited joins";
          if (getAfter(Invitation, inviteOf(asked)) !== undefined) {
            return "An invitation is good for one: delete it";
          }
          return after.role === "reader" || "Who joins begins as a reader";
        },
        update: (asked) =>
          isOwner(asked) && asked.after.id !== asked.session.user &&
            roles.includes(asked.after.role) ||
          "Only the owner gives roles, and keeps the own one",
        delete(asked) {
          const { session, before, getAfter } = asked;
          if (getAfter(Team, "team")?.owner === before.id) {
            return "The owner hands the team over first";
          }
          return before.id === session.user || isOwner(asked) ||
            isAdmin(asked) && before.role !== "admin" ||
            "Only admins remove others, and the owner admins";
        },
      }),
      rulesFor(Invitation, {
        create: (asked) =>
          isAdmin(asked) && asked.after.by === asked.session.user ||
          "Only admins invite, in their own name",
        delete: (asked) =>
          isAdmin(asked) || asked.before.id === inviteOf(asked),
      }),
      rulesFor(Task, {
        create: (asked) => isEditor(asked) || "Only editors write tasks",
        update: (asked) =>
          isAdmin(asked) ||
          isEditor(asked) && !asked.before.locked && !asked.after.locked ||
          "Only admins write locked tasks",
        delete: (asked) => isAdmin(asked) && !asked.before.locked,
      }),
    ],
  },
});
