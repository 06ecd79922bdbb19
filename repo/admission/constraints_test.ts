import { deepEqual, equal, ok, throws } from "node:assert/strict";
import type { DatabaseError } from "../../src/base/errors.ts";
import { field } from "../../src/schema/field.ts";
import type { FieldKind, Operation, Value } from "../../src/schema/patch.ts";
import { defineSchema, type Schema } from "../../src/schema/schema.ts";
import {
  RuledDevice,
  type RuledOptions,
} from "../../tests/kit/ruled_device.ts";
import { workOf } from "../../tests/kit/work.ts";

const User = defineSchema("user", {
  email: field.string().optional(),
  team: field.string().default("none"),
  name: field.string().optional(),
  boss: field.ref("user").exists().optional(),
}, { unique: [["email"], ["team", "name"]] });

const Post = defineSchema("post", {
  author: field.ref("user").exists(),
  readers: field.set(field.ref("user").exists()),
});

const Seat = defineSchema("seat", { free: field.counter().min(0).max(100) });

const schemas: readonly Schema[] = [User, Post, Seat];

/** A device without constraints writes what it likes; with them it is the gate, or honest. */
function open(seed: number, more: Omit<RuledOptions, "seed"> = {}) {
  return RuledDevice.open({ seed, reading: null, ...more });
}

type Fields = Readonly<Record<string, Value>>;

/** What a hostile program says: any kinds, any generation. */
function create(
  { name, shape }: Schema,
  id: string,
  fields: Fields,
  kinds: Readonly<Record<string, FieldKind>> = {},
  generation = 0,
): Operation {
  const named = Object.keys(fields).map((field) => ({
    name: field,
    kind: kinds[field] ??
      shape.fields.find((one) => one.name === field)?.kind ?? "string",
  }));
  const given = { collection: name, version: 1, fields: named };
  const item = Object.freeze({ id, ...fields });
  return { what: "create", shape: given, id, generation, item };
}

function update(
  { shape }: Schema,
  id: string,
  fields: Fields,
  kinds: Readonly<Record<string, FieldKind>> = {},
  generation = 0,
): Operation {
  const changes = Object.entries(fields).map(([name, value]) => {
    const known = shape.fields.find((one) => one.name === name)!;
    const kind = kinds[name] ?? known.kind;
    const field = kind === known.kind ? known : { name, kind };
    const values = [value];
    const change = kind === "counter"
      ? { what: "increment", amount: value as number } as const
      : kind === "set"
      ? { what: "add", values } as const
      : { what: "set", value } as const;
    return { field, change };
  });
  const written = { ...shape, fields: changes.map(({ field }) => field) };
  return { what: "update", shape: written, id, generation, changes };
}

function remove({ shape }: Schema, id: string, generation = 0): Operation {
  return { what: "delete", shape, id, generation };
}

/** Writes operations as one commit. */
function write(device: RuledDevice, ...operations: Operation[]): void {
  const { replica } = device;
  replica.transact((tx) => {
    for (const operation of operations) {
      const table = replica.state.table(operation.shape.collection);
      tx.put(table, operation, tx.cellOf(table, operation.id));
    }
  });
}

/** The refusals of what a device hands in: number, constraint and why. */
function refused(to: RuledDevice, from: RuledDevice): unknown[] {
  return to.accept(from.records()).flatMap(({ verdict }) => {
    if (verdict.verdict !== "refuse") return [];
    const { refused, number, rule, detail } = verdict.refusal;
    equal(refused, "constraint");
    return [[number, rule, detail]];
  });
}

/** Hands in what a device wrote; nothing of it is refused. */
function admit(to: RuledDevice, from: RuledDevice): void {
  deepEqual(refused(to, from), []);
}

async function close(...devices: RuledDevice[]): Promise<void> {
  for (const device of devices) await device.replica.close();
}

/** A gate that keeps constraints, and devices that do not. */
async function place(): Promise<[RuledDevice, RuledDevice, RuledDevice]> {
  return [await open(9, { schemas }), await open(1), await open(2)];
}

const SAME_EMAIL = '"user" item "u2": "u1" has the same email';

Deno.test("Constraints refuse the second item of a unique value, whatever kind its writer says it is", async () => {
  for (const kind of ["string", "enum", "json", "ref"] as const) {
    const [gate, ada, eve] = await place();
    write(ada, create(User, "u1", { email: "a@b" }));
    admit(gate, ada);
    write(eve, create(User, "u2", { email: "a@b" }, { email: kind }));
    deepEqual(refused(gate, eve), [[0, "user.unique(email)", SAME_EMAIL]]);
    await close(gate, ada, eve);
  }
});

Deno.test("Constraints refuse a field as another merge class: it would hide what it holds", async () => {
  for (const kind of ["set", "list", "map", "text", "counter"] as const) {
    const [gate, ada, eve] = await place();
    write(ada, create(User, "u1", { email: "a@b" }));
    admit(gate, ada);
    write(eve, create(User, "u2", { email: "x@y" }));
    admit(gate, eve);
    const value = { set: [], list: [], map: {}, text: "", counter: 1 }[kind];
    write(eve, create(User, "u3", { email: value }, { email: kind }));
    const [refusal] = refused(gate, eve) as [unknown[]];
    deepEqual(refusal, [
      1,
      undefined,
      `"user" item "u3": email is no ${kind}`,
    ]);
    await close(gate, ada, eve);
  }
});

Deno.test("Constraints compare tuples as wholes, and none with an absent value", async () => {
  const [gate, ada, eve] = await place();
  write(
    ada,
    create(User, "u1", { team: "a", name: "bc" }),
    create(User, "u2", { team: "ab", name: "c" }),
    create(User, "u3", { team: "a", name: undefined }),
    create(User, "u4", { team: "a", name: undefined }),
  );
  admit(gate, ada);
  write(eve, create(User, "u5", { team: "a", name: "bc" }));
  const detail = '"user" item "u5": "u1" has the same team, name';
  deepEqual(refused(gate, eve), [[0, "user.unique(team, name)", detail]]);
  await close(gate, ada, eve);
});

Deno.test("Constraints know the defaults of fields that a writer did not write", async () => {
  const [gate, ada, eve] = await place();
  write(ada, create(User, "u1", { name: "x" }));
  admit(gate, ada);
  write(eve, create(User, "u2", { name: "x", team: "none" }));
  equal(refused(gate, eve).length, 1);
  await close(gate, ada, eve);
});

Deno.test("Constraints are asked at the end of a commit: values are swapped, set and unset, freed and taken", async () => {
  const [gate, ada, eve] = await place();
  write(ada, create(User, "u1", { email: "a" }));
  write(ada, create(User, "u2", { email: "b", name: "two" }));
  write(
    ada,
    update(User, "u1", { email: "b" }),
    update(User, "u2", { email: "a" }),
  );
  write(
    ada,
    create(User, "u3", { email: "a", name: "three" }),
    update(User, "u3", { email: "c" }),
  );
  // The next batch: its second commit frees, its third takes.
  admit(gate, ada);
  write(ada, update(User, "u3", { name: "3" }));
  write(ada, update(User, "u1", { email: undefined }));
  write(ada, create(User, "u4", { email: "b", name: "four" }));
  admit(gate, ada);
  write(ada, update(User, "u1", { email: "b" }));
  const detail = '"user" item "u1": "u4" has the same email';
  deepEqual(refused(gate, ada), [[7, "user.unique(email)", detail]]);
  await close(gate, ada, eve);
});

Deno.test("Constraints see what earlier commits of a batch did, and nothing of one that was refused", async () => {
  const [gate, ada, eve] = await place();
  write(ada, create(User, "u1", { email: "a" }));
  write(ada, create(User, "u2", { email: "a", name: "two" }));
  deepEqual(refused(gate, ada), [[1, "user.unique(email)", SAME_EMAIL]]);
  write(eve, create(User, "u2", { email: "a" }));
  admit(gate, eve); // Nothing is left of the batch that was refused.
  await close(gate, ada, eve);
});

Deno.test("Constraints are asked of what folds: a write that loses changes nothing", async () => {
  const [gate, ada, eve] = await place();
  write(ada, create(User, "u1", { email: "a" }));
  admit(gate, ada);
  eve.take(ada.records());
  write(eve, update(User, "u1", { email: "b" })); // Before the next one, …
  write(ada, update(User, "u1", { email: "c" }));
  write(ada, update(User, "u1", { email: "d" }));
  write(ada, create(User, "u2", { email: "b", name: "two" }));
  admit(gate, ada);
  admit(gate, eve); // … so it does not take what "u2" has by now.
  await close(gate, ada, eve);
});

Deno.test("Constraints judge a create over what is there as the change that it is", async () => {
  const [gate, ada, eve] = await place();
  write(ada, create(User, "u1", { email: "a" }));
  write(ada, create(User, "u2", { email: "b", name: "two" }));
  admit(gate, ada);
  eve.take(ada.records());
  write(eve, create(User, "u2", { email: "a", name: "two" }));
  deepEqual(refused(gate, eve), [[0, "user.unique(email)", SAME_EMAIL]]);
  await close(gate, ada, eve);
});

Deno.test("Constraints refuse jumps of generations, and parts of an item that is not there", async () => {
  const [gate, ada, eve] = await place();
  write(ada, create(User, "u1", { email: "a" }));
  admit(gate, ada);
  eve.take(ada.records());
  write(eve, create(User, "u1", { email: "b" }, {}, 1));
  deepEqual(refused(gate, eve), [
    [0, undefined, '"user" item "u1": It is of another generation'],
  ]);
  const mallory = await open(3);
  write(mallory, update(User, "u7", { email: "b" }));
  deepEqual(refused(gate, mallory), [
    [0, undefined, '"user" item "u7": It is not there'],
  ]);
  await close(gate, ada, eve, mallory);
});

Deno.test("Constraints free the values of what is deleted, and ask again when it comes back", async () => {
  const [gate, ada, eve] = await place();
  write(ada, create(User, "u1", { email: "a" }));
  write(ada, remove(User, "u1"));
  admit(gate, ada);
  write(eve, create(User, "u2", { email: "a" }));
  admit(gate, eve);
  write(ada, create(User, "u1", { email: "a", name: "one" }, {}, 1));
  const detail = '"user" item "u1": "u2" has the same email';
  deepEqual(refused(gate, ada), [[2, "user.unique(email)", detail]]);
  await close(gate, ada, eve);
});

Deno.test("Constraints are asked of those who may issue, too, who obey no rule", async () => {
  const [gate, ada] = await place();
  const issuer = await open(4, { mayIssue: true });
  write(ada, create(User, "u1", { email: "a@b" }));
  admit(gate, ada);
  write(issuer, create(User, "u2", { email: "a@b" }));
  deepEqual(refused(gate, issuer), [[0, "user.unique(email)", SAME_EMAIL]]);
  await close(gate, ada, issuer);
});

Deno.test("exists() refuses what names nothing, also in a set", async () => {
  const cases: [Operation, string][] = [
    [create(Post, "p", { author: "u9" }), '"u9"'],
    [create(Post, "p", { author: "u1", readers: ["u1", "u9"] }), '"u9"'],
  ];
  for (const [operation, named] of cases) {
    const [gate, ada, eve] = await place();
    write(ada, create(User, "u1", {}));
    admit(gate, ada);
    write(eve, operation);
    const [[, , detail]] = refused(gate, eve) as [string[]];
    equal(detail, `"post" item "p": there is no "user" item ${named}`);
    await close(gate, ada, eve);
  }
});

Deno.test("Constraints do not ask about values that are of no such kind: nobody sees them", async () => {
  const [gate, ada] = await place();
  write(
    ada,
    create(Post, "p", { author: 7 }, { author: "number" }),
    create(Post, "q", { author: ["u9"] }, { author: "json" }),
    create(User, "u1", { email: 7 }, { email: "number" }),
    create(User, "u2", { email: 7 }, { email: "number" }),
  );
  admit(gate, ada);
  deepEqual(gate.replica.loaded.constraints!.violations("post"), []);
  await close(gate, ada);
});

Deno.test("exists() lets both ends come in one commit, and an item name itself", async () => {
  const [gate, ada] = await place();
  write(
    ada,
    create(Post, "p", { author: "u1" }),
    create(User, "u1", { boss: "u1" }),
  );
  write(ada, remove(User, "u1"), remove(Post, "p"));
  admit(gate, ada);
  await close(gate, ada);
});

Deno.test("exists() refuses to delete what is named, until nothing names it", async () => {
  const [gate, ada, eve] = await place();
  write(ada, create(User, "u1", {}), create(User, "u2", { name: "two" }));
  write(ada, create(Post, "p", { author: "u1", readers: ["u2"] }));
  admit(gate, ada);
  eve.take(ada.records());
  const mallory = await open(3);
  mallory.take(ada.records());
  write(eve, remove(User, "u1"));
  write(mallory, remove(User, "u2"));
  const detail = (id: string) => `"user" item "${id}": "p" names it`;
  deepEqual(refused(gate, eve), [
    [0, "post.author.exists()", detail("u1")],
  ]);
  deepEqual(refused(gate, mallory), [
    [0, "post.readers.exists()", detail("u2")],
  ]);
  write(ada, update(Post, "p", { author: "u2" }));
  write(ada, remove(User, "u1"));
  write(ada, remove(Post, "p"));
  write(ada, remove(User, "u2"));
  admit(gate, ada);
  await close(gate, ada, eve, mallory);
});

Deno.test("exists(): of a delete and a reference that knew nothing of each other the second is refused", async () => {
  for (const isDeleteFirst of [true, false]) {
    const [gate, ada, eve] = await place();
    write(ada, create(User, "u1", {}));
    admit(gate, ada);
    eve.take(ada.records());
    write(ada, remove(User, "u1"));
    write(eve, create(Post, "p", { author: "u1" }));
    const [first, second] = isDeleteFirst ? [ada, eve] : [eve, ada];
    admit(gate, first);
    equal(refused(gate, second).length, 1);
    await close(gate, ada, eve);
  }
});

Deno.test("exists() does not ask about items that are made again in the same commit, nor of ended generations", async () => {
  const [gate, ada, eve] = await place();
  write(ada, create(User, "u1", {}));
  write(ada, create(Post, "p", { author: "u1" }));
  write(ada, remove(User, "u1"), create(User, "u1", {}, {}, 1));
  admit(gate, ada);
  write(eve, remove(User, "u1")); // Of generation 0: history.
  admit(gate, eve);
  await close(gate, ada, eve);
});

Deno.test("a counter's sum stays within its bounds: of two increments that cross them together the second is refused", async () => {
  const [gate, ada, eve] = await place();
  write(ada, create(Seat, "s", { free: 1 }));
  admit(gate, ada);
  eve.take(ada.records());
  write(ada, update(Seat, "s", { free: -1 }));
  write(eve, update(Seat, "s", { free: -1 }));
  admit(gate, ada);
  const detail = '"seat" item "s": free would be -1';
  deepEqual(refused(gate, eve), [[0, "seat.free.min(0)", detail]]);
  write(ada, update(Seat, "s", { free: 101 }));
  const [[, name]] = refused(gate, ada) as [string[]];
  equal(name, "seat.free.max(100)");
  await close(gate, ada, eve);
});

Deno.test("a counter's bounds hold against other kinds, no number, and sums past all bounds", async () => {
  const most = Number.MAX_SAFE_INTEGER;
  const cases: Operation[] = [
    create(Seat, "s", { free: "1" }, { free: "string" }),
    create(Seat, "s", { free: [] }, { free: "set" }),
    create(Seat, "s", { free: -1 }),
    create(Seat, "s", { free: most }),
  ];
  for (const operation of cases) {
    const [gate, , eve] = await place();
    write(eve, operation);
    equal(refused(gate, eve).length, 1);
    await close(gate, eve);
  }
  const [gate, ada] = await place();
  write(ada, create(Seat, "s", { free: 0 }));
  write(
    ada,
    update(Seat, "s", { free: most }),
    update(Seat, "s", { free: most }),
    update(Seat, "s", { free: -most }),
    update(Seat, "s", { free: -most }),
  );
  admit(gate, ada);
  await close(gate, ada);
});

Deno.test("a write may not add to what is wrong: what was there stays, is listed, and may be mended", async () => {
  const [ada, eve] = [await open(1), await open(2)];
  write(ada, create(User, "u1", { email: "a" }));
  write(ada, create(User, "u2", { email: "a", name: "two" }));
  write(ada, create(Post, "p", { author: "gone" }));
  write(ada, create(Seat, "s", { free: -5 }));
  const gate = await open(9, { schemas });
  gate.take(ada.records());
  const { constraints } = gate.replica.loaded;
  const listed = (collection: string) => constraints!.violations(collection);
  deepEqual(listed("user"), [
    {
      constraint: "user.unique(email)",
      id: "u1",
      detail: '"u2" has the same email',
    },
    {
      constraint: "user.unique(email)",
      id: "u2",
      detail: '"u1" has the same email',
    },
  ]);
  deepEqual(listed("post"), [{
    constraint: "post.author.exists()",
    id: "p",
    detail: 'there is no "user" item "gone"',
  }]);
  deepEqual(listed("seat"), [{
    constraint: "seat.free.min(0)",
    id: "s",
    detail: "free would be -5",
  }]);
  eve.take(ada.records());
  write(eve, update(User, "u2", { name: "zwei" }));
  write(eve, update(Post, "p", { author: "gone" }));
  write(eve, update(Seat, "s", { free: 2 }));
  admit(gate, eve);
  write(eve, update(Seat, "s", { free: -1 }));
  equal(refused(gate, eve).length, 1);
  write(ada, update(User, "u2", { email: "b" }));
  write(ada, create(User, "gone", { name: "back" }));
  write(ada, update(Seat, "s", { free: 9 }));
  admit(gate, ada);
  for (const { name } of schemas) deepEqual(listed(name), []);
  await close(gate, ada, eve);
});

Deno.test("Constraints list no more than so many violations", async () => {
  const [ada, gate] = [await open(1), await open(9, { schemas })];
  const many = Array.from(
    { length: 300 },
    (_, i) => create(Post, `p${i}`, { author: "gone" }),
  );
  write(ada, ...many);
  gate.take(ada.records());
  equal(gate.replica.loaded.constraints!.violations("post").length, 100);
  await close(gate, ada);
});

Deno.test("Constraints bound what each write of an item would have to look at", async () => {
  const many = Array.from({ length: 1_001 }, (_, i) => `u${i + 1_000}`);
  const cases: [Operation, string][] = [
    [create(User, "x", { email: "x".repeat(2_000) }), "email is too long"],
    [create(User, "x", { email: "x" }), ""],
    [create(Post, "x", { author: "u1001", readers: many }), "over 1000 items"],
    [create(Post, "x", { author: "u1001", readers: many.slice(1) }), ""],
  ];
  for (const [operation, why] of cases) {
    const [gate, ada, eve] = await place();
    write(ada, ...many.map((id) => create(User, id, {})));
    admit(gate, ada);
    write(eve, operation);
    const [[, , detail = ""] = []] = refused(gate, eve) as string[][];
    equal(detail.includes(why) && detail !== "", why !== "", detail);
    await close(gate, ada, eve);
  }
});

Deno.test("Constraints put no item of 1,000 fields together for a write of one", async () => {
  const [gate, ada] = await place();
  write(ada, create(User, "u", { email: "a@b" }));
  const names = Array.from({ length: 1_000 }, (_, i) => `other${i}`);
  for (let i = 0; i < 1_000; i += 250) {
    const fields = names.slice(i, i + 250).map((name) => ({
      name,
      kind: "number" as const,
    }));
    const change = { what: "set", value: 1 } as const;
    const shape = { collection: "user", version: 1, fields };
    const changes = fields.map((field) => ({ field, change }));
    write(ada, { what: "update", shape, id: "u", generation: 0, changes });
  }
  admit(gate, ada);
  const before = ada.records().length;
  for (let i = 0; i < 100; i++) {
    write(ada, update(User, "u", { name: `n${i % 7}` }));
  }
  const records = ada.records().slice(before);
  const work = workOf(() => {
    equal(gate.accept(records)[0]?.verdict.verdict, "admit");
  });
  ok(work < 100 * 1_000, `${work} elements in 100 writes`);
  write(ada, create(User, "u2", { email: "a@b" }));
  deepEqual(refused(gate, ada), [[
    105,
    "user.unique(email)",
    '"user" item "u2": "u" has the same email',
  ]]);
  await close(gate, ada);
});

Deno.test("Constraints look at none of 1,000 references that a write does not change", async () => {
  const [gate, ada] = await place();
  const many = Array.from({ length: 1_000 }, (_, i) => `u${i + 1_000}`);
  write(ada, ...many.map((id) => create(User, id, {})));
  write(ada, create(Post, "p", { author: many[0], readers: many }));
  write(ada, update(Post, "p", { author: many[1] }));
  admit(gate, ada);
  const before = ada.records().length;
  for (let i = 2; i < 102; i++) {
    write(ada, update(Post, "p", { author: many[i] }));
  }
  const records = ada.records().slice(before);
  const work = workOf(() => {
    equal(gate.accept(records)[0]?.verdict.verdict, "admit");
  });
  ok(work < 100 * 200, `${work} elements in 100 writes`);
  write(ada, remove(User, many[101]!));
  const why = '"user" item "u1101": "p" names it';
  deepEqual(refused(gate, ada), [[103, "post.author.exists()", why]]);
  await close(gate, ada);
});

Deno.test("Constraints are asked of own transactions at their end, which leave nothing behind when they fail", async () => {
  const ada = await open(1, { schemas });
  write(
    ada,
    create(User, "u1", { email: "a" }),
    create(User, "u2", { name: "two" }),
  );
  const before = ada.digests();
  const fails = (...operations: Operation[]) =>
    throws(
      () => write(ada, ...operations),
      (error: DatabaseError) => error.code === "constraint",
    );
  fails(update(User, "u2", { email: "a" }));
  fails(create(Post, "p", { author: "u9" }));
  fails(create(Seat, "s", { free: -1 }));
  deepEqual(ada.digests(), before);
  write(
    ada,
    update(User, "u1", { email: "b" }),
    update(User, "u2", { email: "a" }),
  );
  throws(() => write(ada, update(User, "u1", { email: "a" })), {
    message:
      'Cannot update "user" item "u1": "u2" has the same email (user.unique(email))',
  });
  await close(ada);
});

Deno.test("Constraints hold after a restart, by the checkpoint and by the log", async () => {
  for (const by of ["checkpoint", "log"] as const) {
    const [gate, ada, eve] = await place();
    const long = "long ".repeat(50);
    write(ada, create(User, "u1", { email: long }));
    write(ada, create(User, "u3", { name: "three" }), remove(User, "u3"));
    write(ada, create(Post, "p", { author: "u1" }));
    admit(gate, ada);
    await gate.replica.checkpoint();
    await gate.reopen(by);
    write(eve, create(User, "u2", { email: long }));
    deepEqual(refused(gate, eve), [[0, "user.unique(email)", SAME_EMAIL]]);
    write(ada, remove(User, "u1"));
    equal(refused(gate, ada).length, 1);
    await close(gate, ada, eve);
  }
});
