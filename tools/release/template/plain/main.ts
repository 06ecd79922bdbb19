import type { Database, Repository } from "@sheaf/sheaf/browser";
import { open } from "./database.ts";
import "./page.ts";
import { Member, Todo } from "./schema.ts";
import { session, signIn, signOut } from "./session.ts";
import "./style.css";

const page = document.getElementById("app")!;

/** An element with what is in it. */
function el<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** A form that hands on what stands in it, and is empty then. */
function form(
  send: (fields: Record<string, string>) => void,
  ...children: readonly Node[]
): HTMLFormElement {
  const made = el("form", {}, ...children);
  made.onsubmit = (event) => {
    event.preventDefault();
    send(Object.fromEntries(new FormData(made)) as Record<string, string>);
    made.reset();
  };
  return made;
}

const input = (name: string, placeholder: string, type = "text") =>
  el("input", {
    name,
    placeholder,
    type,
    ariaLabel: placeholder,
    autocomplete: type === "text" ? "off" : "current-password",
  });
const button = (label: string, onclick?: () => void) =>
  el("button", onclick ? { type: "button", onclick } : {}, label);

/** The list whose owner the address names, as in `#ann`; the user's own without. */
function listView(db: Database, owner: string, list: Repository): HTMLElement {
  const todos = list.collection(Todo);
  const rows = el("ul");
  todos.orderBy("createdAt").store().subscribe((all) => {
    rows.replaceChildren(...all.map(({ id, title, done }) => {
      const box = el("input", { type: "checkbox", checked: done });
      box.onchange = () => todos.update(id, { done: box.checked });
      return el(
        "li",
        {},
        el("label", {}, box, title),
        button("×", () => todos.delete(id)),
      );
    }));
  });
  const add = form(
    ({ title }) => {
      if (title) todos.create({ title, createdAt: new Date() });
    },
    input("title", "What is to be done?"),
    button("Add"),
  );
  const heading = el(
    "h1",
    {},
    owner === db.user ? "Your list" : `${owner}’s list`,
  );
  const header = el(
    "header",
    {},
    heading,
    statusView(list),
    button("Sign out", signOut),
  );
  const parts = [header, signInView(), rows, add];
  if (owner === db.user) parts.push(membersView(list));
  return el("main", {}, ...parts);
}

/** Is everything with the server, and what did it not take? */
function statusView({ sync }: Repository): HTMLElement {
  const words = el("span", { role: "status" });
  const refusals = el("div");
  const show = () => {
    const { state, unsent, reason, refusals: refused } = sync.status;
    words.textContent = reason?.code === "forbidden"
      ? "You are not a member of this list"
      : unsent.commits > 0
      ? `${unsent.commits} to send`
      : state === "live"
      ? "Saved"
      : "Offline";
    refusals.replaceChildren(
      ...refused.map((one) =>
        el(
          "p",
          { className: "notice" },
          one.detail || "Refused",
          button("OK", () => void one.discard()),
        )
      ),
    );
  };
  sync.subscribe(show);
  show();
  return el("div", {}, words, refusals);
}

/** Who else may use the list. */
function membersView(list: Repository): HTMLElement {
  const members = list.collection(Member);
  const summary = el("summary");
  const buttons = el("div");
  members.query().store().subscribe((rows) => {
    const names = rows.map(({ id, role }) => `${id} (${role})`).join(", ");
    summary.textContent = `Shared with ${names || "nobody"}`;
    buttons.replaceChildren(
      ...rows.map(({ id }) => button(`Remove ${id}`, () => members.delete(id))),
    );
  });
  const roles = el(
    "select",
    { name: "role", ariaLabel: "Role" },
    el("option", {}, "writer"),
    el("option", {}, "reader"),
  );
  const share = form(
    ({ user, role }) => {
      if (user && role) members.upsert({ id: user, role });
    },
    input("user", "User"),
    roles,
    button("Share"),
  );
  return el("details", {}, summary, buttons, share);
}

/** Shown while somebody must be asked: at first, and when the session has ended. */
function signInView(): HTMLElement {
  const place = el("div");
  const error = el("p", { className: "notice", role: "alert" });
  const name = input("user", "Name");
  const made = form(
    ({ user = "", password = "", isNew }) => {
      signIn({
        user: session.getSnapshot().user ?? user,
        password,
        isNew: isNew === "on",
      });
    },
    error,
    name,
    input("password", "Password", "password"),
    el(
      "label",
      {},
      el("input", { name: "isNew", type: "checkbox" }),
      " I am new here",
    ),
    button("Sign in"),
  );
  made.className = "sign-in";
  const show = () => {
    const { user, isAsked, error: why } = session.getSnapshot();
    error.hidden = why === undefined;
    error.textContent = why ?? "";
    name.hidden = user !== undefined;
    place.replaceChildren(...user === undefined || isAsked ? [made] : []);
  };
  session.subscribe(show);
  show();
  return place;
}

/** Opens the user's database, once it is known who it is. */
async function start(): Promise<void> {
  const { user } = session.getSnapshot();
  if (user === undefined) return page.replaceChildren(signInView());
  end();
  const show = () =>
    page.replaceChildren(session.getSnapshot().error ?? "Opening …");
  show();
  const endShow = session.subscribe(show);
  const db = await open(user);
  endShow();
  const owner = location.hash.slice(1) || user;
  page.replaceChildren(
    listView(db, owner, await db.repository(`list/${owner}`)),
  );
}
const end = session.subscribe(() => void start());
void start();
