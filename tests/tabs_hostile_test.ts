import assert from "node:assert/strict";
import fc from "fast-check";
import type { Repository } from "../mod.ts";
import { holdLock, tabLock, webLocks } from "../src/browser/locks.ts";
import type { Envelope, TabMessage } from "../src/browser/messages.ts";
import { limits } from "../src/base/limits.ts";
import { parseEnvelope } from "../src/browser/route.ts";
import { Origin } from "./kit/origin.ts";
import { Card, schemas } from "./kit/tab_cards.ts";
import { Tab } from "./kit/tab_place.ts";
import { trips, until } from "./kit/patience.ts";
import { recordKind } from "../repo/log/format.ts";

/** What no field of a message should be. */
const WRONG: readonly unknown[] = [
  undefined,
  null,
  -1,
  1.5,
  NaN,
  Infinity,
  2 ** 53,
  10n,
  true,
  "",
  "\ud800",
  "../../x",
  "__proto__",
  "x".repeat(100_000),
  [],
  {},
  [[]],
  [{}],
  [null],
  new Array(3),
  new Uint8Array(0),
  new Uint8Array(3),
  [new Uint8Array(1)],
  new Map([["kind", "hello"]]),
  new Date(NaN),
  new Blob(["x"]),
  JSON.parse('{"__proto__":{"isPolluted":true}}'),
];

/** A page of the origin that has no database, and says what it likes. */
class Visitor implements Disposable {
  readonly heard: Envelope[] = [];
  readonly #channel: BroadcastChannel;

  constructor({ name }: Origin) {
    this.#channel = new BroadcastChannel(`sheaf:${name}`);
    this.#channel.onmessage = ({ data }) => void this.heard.push(data);
  }

  say(data: unknown): void {
    try {
      this.#channel.postMessage(data);
    } catch {
      // Nothing that a page could send.
    }
  }

  [Symbol.dispose](): void {
    this.#channel.close();
  }
}

function isNode(value: unknown): value is Record<string, unknown> {
  return Array.isArray(value) ||
    Object.prototype.toString.call(value) === "[object Object]";
}

/** A message with each of its fields, and those of its fields, replaced by each of `values`. */
function* mutants(
  whole: unknown,
  values: readonly unknown[],
): Iterable<unknown> {
  if (!isNode(whole)) return;
  for (const [key, value] of Object.entries(whole)) {
    const others = [...values, ...mutants(value, values)];
    for (const other of others) {
      yield Array.isArray(whole)
        ? whole.with(Number(key), other)
        : { ...whole, [key]: other };
    }
  }
}

/** Two tabs of one origin, the owner's and another one, and their repositories. */
async function place(stack: AsyncDisposableStack) {
  const origin = stack.use(new Origin());
  const visitor = stack.use(new Visitor(origin));
  const one = stack.use(new Tab(origin, { schemas }));
  const mine = await one.repository();
  const two = stack.use(new Tab(origin, { schemas }));
  const yours = await two.repository();
  await mine.collection(Card).create({ title: "mine" });
  await yours.collection(Card).create({ title: "yours" });
  return { origin, visitor, mine, yours };
}

/** Do both still write, and see what the other one wrote? */
async function checkTalk(mine: Repository, yours: Repository): Promise<void> {
  for (const [from, to] of [[mine, yours], [yours, mine]] as const) {
    const { id } = await from.collection(Card).create({ title: "still here" });
    await until(() => to.collection(Card).get(id) !== undefined, "it is seen");
  }
}

Deno.test("tabs and their owner do not mind what is no message", async () => {
  await using stack = new AsyncDisposableStack();
  const { visitor, mine, yours } = await place(stack);
  const kinds = new Map(
    visitor.heard.map((said) => [`${said.message.kind} ${said.to}`, said]),
  );
  assert.ok(kinds.size > 6, [...kinds.keys()].join());
  let count = 0;
  for (const said of kinds.values()) {
    for (const mutant of mutants(said, WRONG)) {
      // Who speaks as the owner, and makes sense, is another matter.
      if (parseEnvelope(mutant) !== undefined) continue;
      visitor.say(mutant);
      count++;
    }
  }
  assert.ok(count > 1_000, `${count} mutants`);
  fc.assert(
    fc.property(
      fc.anything({ withMap: true, withSet: true, withTypedArray: true }),
      (data) => visitor.say(data),
    ),
    { seed: 7, numRuns: 300 },
  );
  await checkTalk(mine, yours);
  assert.equal(Reflect.get({}, "isPolluted"), undefined);
});

Deno.test("an owner stands what a tab says that lies in every way", async () => {
  await using stack = new AsyncDisposableStack();
  const { origin, visitor, mine, yours } = await place(stack);
  const real = visitor.heard.map((said) => parseEnvelope(said))
    .filter((said) => said?.side === "tab").map((said) => said!.envelope);
  const owner = real.find(({ to }) => to !== undefined)!;
  const release = await holdLock(webLocks()!, tabLock(origin.name, "liar"));
  stack.defer(release);
  const say = (message: TabMessage) =>
    visitor.say({ ...owner, from: "liar", message });
  const hello = real.find(({ message }) => message.kind === "hello")!
    .message as TabMessage;
  say(hello);
  const far = { address: 2 ** 52, crc: 2 ** 31 };
  const bytes = new Uint8Array(40);
  const repository = "board";
  const lies: TabMessage[] = [
    { kind: "open", call: 1, repository, at: far },
    { kind: "open", call: 1, repository, at: { address: 1, crc: 0 } },
    { kind: "open", call: 2, repository: "../../etc/passwd" },
    { kind: "open", call: 3, repository: "\ud800" },
    { kind: "open", call: 4, repository, chain: "/".repeat(40) },
    { kind: "open", call: 5, repository },
    ...[...Object.values(recordKind), 8, 40, 60].flatMap((
      kind,
      seq,
    ): TabMessage[] => [
      { kind: "open", call: 6 + seq, repository },
      { kind: "write", repository, seq, records: [{ kind, bytes }] },
    ]),
    ...([
      "connect",
      "verify",
      "readFile",
      "writeFile",
      "audit",
    ] as const)
      .flatMap((method, call) =>
        WRONG.map((one): TabMessage => ({
          kind: "call",
          call,
          repository,
          method,
          args: [one, one],
        }))
      ),
    { kind: "reply", ask: 1, value: {} },
    { kind: "present", repository, bytes },
    { kind: "yield" },
    { kind: "freeze" },
    { kind: "steal" },
    { kind: "start", name: "other" },
  ];
  for (const lie of lies) say(lie);
  await until(
    () => visitor.heard.some((said) => said.to === "liar"),
    "the liar is a tab as others are",
  );
  // What the two real tabs said, once more and in another's name.
  for (const { message } of real) {
    for (const mutant of mutants(message, WRONG)) say(mutant as TabMessage);
  }
  await checkTalk(mine, yours);
  assert.equal(mine.collection(Card).all().length, 4);
  const { damage } = await mine.verify();
  assert.equal(damage, undefined);
});

Deno.test("an owner lets in so many tabs, and whoever comes then when one has gone", async () => {
  await using stack = new AsyncDisposableStack();
  const { origin, visitor, mine, yours } = await place(stack);
  const hello = visitor.heard.find(({ message }) => message.kind === "hello")!;
  const releases = new Map<string, () => void>();
  const come = async (from: string) => {
    const release = await holdLock(webLocks()!, tabLock(origin.name, from));
    releases.set(from, release);
    stack.defer(release);
    visitor.say({ ...hello, from });
  };
  /** Who was told so. */
  const told = (kind: string) =>
    new Set(
      visitor.heard.filter(({ message }) => message.kind === kind)
        .map(({ to }) => String(to)).filter((to) => to.startsWith("visitor")),
    );
  const room = limits.tabsMax - 2; // Two are real.
  for (let i = 0; i < room + 3; i++) await come(`visitor ${i}`);
  await until(() => told("rejected").size === 3, "three are too many");
  assert.deepEqual(
    [...told("rejected")],
    [0, 1, 2].map((i) => `visitor ${room + i}`),
  );
  await until(() => told("welcome").size === room, "the others are in");
  await checkTalk(mine, yours);
  releases.get("visitor 0")!();
  await until(async () => {
    visitor.say({ ...hello, from: `visitor ${room}` });
    await trips(5);
    return told("welcome").has(`visitor ${room}`);
  }, "there is room for one");
  assert.equal(told("welcome").size, room + 1);
});
