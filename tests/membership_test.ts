/**
 * Membership kept as data, as docs/guide/membership.md has it: attacks asked of
 * the rules, and of a real server whose clients obey no rules.
 */

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import rules, {
  Invitation,
  Member,
  Task,
  Team,
} from "../docs/guide/membership_rules.ts";
import {
  type Database,
  type Decision,
  memoryStorage,
  openDatabase,
  type Repository,
  type Rules,
} from "../mod.ts";
import type { Server } from "../server/mod.ts";
import { ruleTester, type TestedCommit } from "./kit/mod.ts";
import { within } from "./kit/patience.ts";
import { withServer } from "./server_place.ts";

const NAME = "team/ann/acme";

/** Ann owns the team, Bob edits, Carl is an admin, Rita reads, Ivan is invited. */
function teamOf(user: string, claims = {}) {
  return ruleTester(rules).as({ user, claims }).in(NAME)
    .with(Team, { id: "team", owner: "ann" })
    .with(
      Member,
      { id: "ann", role: "admin" },
      { id: "bob", role: "editor" },
      { id: "carl", role: "admin" },
      { id: "rita", role: "reader" },
    )
    .with(Invitation, { id: "ivan", by: "carl" }, { id: "k7f3", by: "ann" })
    .with(Task, { id: "open", title: "x" })
    .with(Task, { id: "locked", title: "x", locked: true });
}

function begin(user: string, name = NAME) {
  return ruleTester(rules).as({ user }).in(name);
}

function allow(decision: Decision, what = "it may be"): void {
  ok(decision.allowed, `${what}: ${JSON.stringify(decision)}`);
}

function deny(decision: Decision, pattern: RegExp): void {
  ok(
    !decision.allowed && pattern.test(decision.reason),
    `${pattern}: ${JSON.stringify(decision)}`,
  );
}

const found = (user: string) => (tx: TestedCommit) => {
  tx.create(Team, { id: "team", owner: user });
  tx.create(Member, { id: user, role: "admin" });
};

Deno.test("membership: the founder begins a team in one commit, and nobody else does", () => {
  allow(begin("ann").commit(found("ann")));
  deny(begin("eve").commit(found("eve")), /Only its founder/);
  const alone = begin("ann")
    .commit((tx) => tx.create(Team, { id: "team", owner: "ann" }));
  deny(alone, /as its first admin/);
  const headless = begin("ann")
    .commit((tx) => tx.create(Member, { id: "ann", role: "admin" }));
  deny(headless, /does not allow/);
  const second = begin("ann").commit((tx) => {
    tx.create(Team, { id: "team2", owner: "ann" });
    tx.create(Member, { id: "ann", role: "admin" });
  });
  deny(second, /Only its founder/);
});

Deno.test("membership: nobody makes himself owner, admin or member", () => {
  const eve = teamOf("eve");
  deny(eve.commit(found("eve")), /Only the owner/); // Over what is there.
  deny(
    eve.commit((tx) => tx.update(Team, "team", { owner: "eve" })),
    /Only the owner/,
  );
  deny(
    eve.commit((tx) => tx.create(Member, { id: "eve", role: "reader" })),
    /Only who is invited/,
  );
  const bob = teamOf("bob");
  const role = (tx: TestedCommit) =>
    tx.update(Member, "bob", { role: "admin" });
  deny(bob.commit(role), /Only the owner gives roles/);
  deny(
    bob.commit((tx) => tx.create(Member, { id: "bob", role: "admin" })),
    /Only the owner gives roles/,
  );
  deny(teamOf("ann").delete(Team, { id: "team", owner: "ann" }), /No rule/);
  const odd = (tx: TestedCommit) => tx.update(Member, "bob", { role: "king" });
  deny(teamOf("ann").commit(odd), /Only the owner gives roles/);
});

Deno.test("membership: a role that a commit gives itself is not there for the rest of it", () => {
  deny(
    teamOf("ivan").commit((tx) => {
      tx.create(Member, { id: "ivan", role: "reader" });
      tx.delete(Invitation, "ivan");
      tx.create(Task, { title: "mine" });
    }),
    /Only editors/,
  );
  deny(
    begin("ann").commit((tx) => {
      found("ann")(tx);
      tx.create(Task, { title: "too early" });
    }),
    /Only editors/,
  );
  // Who leaves still had the role before the commit.
  allow(
    teamOf("bob").commit((tx) => {
      tx.delete(Member, "bob");
      tx.create(Task, { title: "Goodbye" });
    }),
  );
});

Deno.test("membership: an invitation is for whom it names, once, while its writer is an admin", () => {
  const join = (id: string, invitation = id) => (tx: TestedCommit) => {
    tx.create(Member, { id, role: "reader" });
    tx.delete(Invitation, invitation);
  };
  allow(teamOf("ivan").commit(join("ivan")));
  allow(teamOf("ivan").read());
  allow(teamOf("guest", { invitation: "k7f3" }).commit(join("guest", "k7f3")));
  for (const invitation of ["k7f4", "", "__proto__", 7, null, ["k7f3"]]) {
    const guesser = teamOf("guest", { invitation });
    deny(guesser.read(), /does not allow/);
    deny(
      guesser.commit((tx) =>
        tx.create(Member, { id: "guest", role: "reader" })
      ),
      /Only who is invited/,
    );
  }
  deny(teamOf("eve").commit(join("eve", "ivan")), /Only who is invited/);
  deny(teamOf("ivan").commit(join("eve", "ivan")), /joins himself/);
  deny(
    teamOf("ivan").commit((tx) =>
      tx.create(Member, { id: "ivan", role: "reader" })
    ),
    /good for one/,
  );
  deny(
    teamOf("ivan").commit((tx) => {
      tx.create(Member, { id: "ivan", role: "admin" });
      tx.delete(Invitation, "ivan");
    }),
    /begins as a reader/,
  );
  const stale = teamOf("ivan").with(Member, { id: "carl", role: "editor" });
  deny(stale.commit(join("ivan")), /Only who is invited/);
  deny(stale.read(), /does not allow/);
});

Deno.test("membership: only admins invite, in their own name, and nobody removes others' invitations", () => {
  const invite = (by: string) => (tx: TestedCommit) =>
    tx.create(Invitation, { id: "new", by });
  allow(teamOf("carl").commit(invite("carl")));
  deny(teamOf("carl").commit(invite("ann")), /in their own name/);
  deny(teamOf("bob").commit(invite("ann")), /Only admins/);
  deny(
    teamOf("rita").commit((tx) => tx.delete(Invitation, "ivan")),
    /not allow/,
  );
  deny(
    teamOf("carl").commit((tx) =>
      tx.create(Invitation, { id: "ivan", by: "carl" })
    ),
    /No rule/,
  );
});

Deno.test("membership: a team always has an owner who is an admin", () => {
  const handOver = (to: string) => (tx: TestedCommit) =>
    tx.update(Team, "team", { owner: to });
  allow(teamOf("ann").commit(handOver("carl")));
  deny(teamOf("ann").commit(handOver("bob")), /to an admin/);
  deny(teamOf("ann").commit(handOver("nobody")), /to an admin/);
  deny(teamOf("carl").commit(handOver("carl")), /Only the owner/);
  const leave = (tx: TestedCommit) => tx.delete(Member, "ann");
  deny(teamOf("ann").commit(leave), /hands the team over first/);
  deny(teamOf("carl").commit(leave), /hands the team over first/);
  allow(
    teamOf("ann").commit((tx) => {
      leave(tx);
      handOver("carl")(tx);
    }),
  );
  deny(
    teamOf("ann").commit((tx) => {
      handOver("carl")(tx);
      tx.delete(Member, "carl");
    }),
    /to an admin/,
  );
  const demote = (tx: TestedCommit) =>
    tx.update(Member, "ann", { role: "reader" });
  deny(teamOf("ann").commit(demote), /keeps the own one/);
});

Deno.test("membership: who may leave, who may remove whom, who writes what is locked", () => {
  const remove = (id: string) => (tx: TestedCommit) => tx.delete(Member, id);
  allow(teamOf("rita").commit(remove("rita")));
  allow(teamOf("carl").commit(remove("bob")));
  allow(teamOf("ann").commit(remove("carl")));
  deny(teamOf("bob").commit(remove("rita")), /Only admins/);
  const other = teamOf("carl").with(Member, { id: "dora", role: "admin" });
  deny(other.commit(remove("dora")), /the owner admins/);
  const write = (id: string) => (tx: TestedCommit) =>
    tx.update(Task, id, { title: "y" });
  const unlock = (tx: TestedCommit) =>
    tx.update(Task, "locked", { locked: false });
  allow(teamOf("bob").commit(write("open")));
  deny(teamOf("bob").commit(write("locked")), /locked/);
  deny(teamOf("bob").commit(unlock), /locked/);
  deny(teamOf("rita").commit(write("open")), /locked/);
  allow(teamOf("carl").commit(unlock));
  deny(teamOf("carl").commit((tx) => tx.delete(Task, "locked")), /not allow/);
});

Deno.test("membership: the guide shows the rules that are tested here", async () => {
  const guide = new URL("../docs/guide/", import.meta.url);
  const page = await Deno.readTextFile(new URL("membership.md", guide));
  const rules = await Deno.readTextFile(new URL("membership_rules.ts", guide));
  ok(page.includes("```ts\n" + rules + "```\n"));
});

/** Whom the server knows, by their tokens. */
const users = ["ann", "bob", "carl", "eve"] as const;
type User = typeof users[number];

const tokens = Object.fromEntries(
  users.map((user) => [`the token of ${user}`, { user }]),
);

/** A device of a user. It obeys no rules unless it is told to. */
class Device {
  readonly db: Database;
  readonly repo: Repository;
  readonly #server: Server;
  readonly #user: User;

  private constructor(
    server: Server,
    user: User,
    db: Database,
    repo: Repository,
  ) {
    this.#server = server;
    this.#user = user;
    this.db = db;
    this.repo = repo;
  }

  static async open(
    server: Server,
    user: User,
    rules?: Rules,
  ): Promise<Device> {
    const db = await openDatabase({
      storage: memoryStorage(),
      rootKey: server.rootKey,
      schemas: [Team, Member, Invitation, Task],
      ...(rules && { rules }),
    });
    const device = new Device(server, user, db, await db.repository(NAME));
    device.connect();
    return device;
  }

  connect(): void {
    const session = { token: `the token of ${this.#user}` };
    this.db.connect(this.#server.url, { session });
  }

  /** Resolves when the status of its sync fits. */
  async is(state: string): Promise<void> {
    const { sync } = this.repo;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => void (sync.status.state === state && resolve());
    const end = sync.subscribe(look);
    look();
    await within(promise, () => `${state}: ${Deno.inspect(sync.status)}`)
      .finally(end);
  }

  /** Resolves when the items of a schema fit. */
  async has(fits: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => void (fits() && resolve());
    const end = this.repo.subscribe(look);
    look();
    await within(promise, () => `items of ${this.#user}`).finally(end);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.db.close();
  }
}

/** A server with Ann's team; Bob has joined and edits. */
async function withTeam(
  work: (server: Server, ann: Device, bob: Device) => Promise<void>,
): Promise<void> {
  await withServer({ rules, login: { tokens } }, async ({ server }) => {
    await using ann = await Device.open(server, "ann", rules);
    await ann.repo.transact((tx) => {
      tx.collection(Team).create({ id: "team", owner: "ann" });
      tx.collection(Member).create({ id: "ann", role: "admin" });
    }).synced;
    await ann.repo.collection(Invitation)
      .create({ id: "bob", by: "ann" }).synced;
    await using bob = await Device.open(server, "bob");
    await bob.is("live");
    await bob.repo.transact((tx) => {
      tx.collection(Member).create({ id: "bob", role: "reader" });
      tx.collection(Invitation).delete("bob");
    }).synced;
    const members = ann.repo.collection(Member);
    await ann.has(() => members.get("bob") !== undefined);
    await members.update("bob", { role: "editor" }).synced;
    await bob.has(() =>
      bob.repo.collection(Member).get("bob")?.role === "editor"
    );
    await work(server, ann, bob);
  });
}

Deno.test("membership: a server shows a team to its members, and to nobody else", () =>
  withTeam(async (server, ann, bob) => {
    await bob.repo.collection(Task).create({ id: "t", title: "by Bob" }).synced;
    await ann.has(() => ann.repo.collection(Task).get("t") !== undefined);
    await using eve = await Device.open(server, "eve");
    const claim = eve.repo.transact((tx) => {
      tx.collection(Team).create({ id: "team", owner: "eve" });
      tx.collection(Member).create({ id: "eve", role: "admin" });
    });
    await claim;
    await eve.is("refused");
    equal(eve.repo.sync.status.reason?.code, "forbidden");
    equal(ann.repo.collection(Team).get("team")?.owner, "ann");
  }));

Deno.test("membership: who is removed reads no more on a channel that is open", () =>
  withTeam(async (_, ann, bob) => {
    const tasks = ann.repo.collection(Task);
    await tasks.create({ id: "before", title: "x" }).synced;
    await bob.has(() => bob.repo.collection(Task).get("before") !== undefined);
    await ann.repo.collection(Member).delete("bob").synced;
    await tasks.create({ id: "after", title: "x" }).synced;
    await bob.is("refused");
    equal(bob.repo.sync.status.reason?.code, "forbidden");
    equal(bob.repo.collection(Task).get("after"), undefined);
    bob.repo.collection(Task).create({ id: "late", title: "x" });
    await tasks.create({ id: "last", title: "x" }).synced;
    equal(tasks.get("late"), undefined);
    // Who is let in again goes on.
    await ann.repo.collection(Invitation).create({ id: "bob", by: "ann" })
      .synced;
    bob.db.connection!.retry();
    await bob.has(() => bob.repo.collection(Task).get("last") !== undefined);
  }));

Deno.test("membership: who leaves hears that it was accepted, and then that he reads no more", () =>
  withTeam(async (_, ann, bob) => {
    await within(
      bob.repo.collection(Member).delete("bob").synced,
      () => `Bob has left: ${Deno.inspect(bob.repo.sync.status)}`,
    );
    await bob.is("refused");
    equal(bob.repo.sync.status.reason?.code, "forbidden");
    await ann.has(() => ann.repo.collection(Member).get("bob") === undefined);
  }));

Deno.test("membership: a role that was taken away offline is gone when its writes arrive", () =>
  withTeam(async (_, ann, bob) => {
    await bob.db.connection!.close();
    const late = bob.repo.collection(Task).create({ id: "late", title: "x" });
    await ann.repo.collection(Member).update("bob", { role: "reader" }).synced;
    bob.connect();
    await rejects(late.synced, { code: "refused", message: /Only editors/ });
    equal(bob.repo.collection(Task).get("late"), undefined);
  }));

Deno.test("membership: of two ways in which an owner hands the team over the first one counts", () =>
  withTeam(async (server, ann, bob) => {
    await ann.repo.collection(Member).update("bob", { role: "admin" }).synced;
    await using other = await Device.open(server, "ann");
    const team = other.repo.collection(Team);
    await other.has(() => team.get("team") !== undefined);
    await other.db.connection!.close();
    // Elsewhere she gives it to Bob, who removes her; here she goes on as the owner.
    const grab = team.update("team", { owner: "eve" });
    const crown = other.repo.collection(Member).update("bob", {
      role: "reader",
    });
    await ann.repo.collection(Team).update("team", { owner: "bob" }).synced;
    await bob.has(() => bob.repo.collection(Team).get("team")?.owner === "bob");
    other.connect();
    await rejects(grab.synced, { code: "refused", message: /Only the owner/ });
    await rejects(crown.synced, { code: "refused" });
    // And the new owner cannot leave without another one.
    const leave = bob.repo.collection(Member).delete("bob");
    await rejects(leave.synced, { code: "refused", message: /hands the team/ });
    await bob.repo.collection(Member).delete("ann").synced;
    const members = bob.repo.collection(Member).all();
    deepEqual(members.map(({ id }) => id), ["bob"]);
  }));
