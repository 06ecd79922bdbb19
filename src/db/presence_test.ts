import { deepEqual, equal, throws } from "node:assert/strict";
import { decodeText, encodeText } from "../base/bytes.ts";
import { FakeChannel } from "../../tests/kit/fake_channel.ts";
import { RepositoryPresence } from "./presence.ts";

function peer(peer: number, user: string, text: string) {
  return { peer, user, bytes: encodeText(text) };
}

Deno.test("what is shown before there is a connection goes out with the first one", () => {
  const presence = new RepositoryPresence();
  presence.set({ at: "title" });
  const channel = new FakeChannel();
  presence.attach(channel);
  presence.set({ at: "end" });
  presence.clear();
  deepEqual(channel.presented.map((bytes) => decodeText(bytes)), [
    '{"at":"title"}',
    '{"at":"end"}',
    "",
  ]);
});

Deno.test("others are the same array until they change, and gone with the connection", () => {
  const presence = new RepositoryPresence();
  const channel = new FakeChannel();
  let heard = 0;
  presence.subscribe(() => heard++);
  presence.attach(channel);
  channel.others = [peer(1, "ann", '{"x":1}'), peer(2, "bob", "true")];
  presence.heard();
  const { others } = presence;
  deepEqual(others, [
    { peer: 1, user: "ann", data: { x: 1 } },
    { peer: 2, user: "bob", data: true },
  ]);
  presence.heard();
  equal(presence.getSnapshot(), others);
  equal(heard, 1);
  presence.attach(undefined);
  deepEqual(presence.others, []);
  equal(heard, 2);
});

Deno.test("what is no JSON of somebody else is not shown", () => {
  const presence = new RepositoryPresence();
  const channel = new FakeChannel();
  const deep = "[".repeat(1_000) + "]".repeat(1_000);
  channel.others = [peer(1, "a", "{"), peer(2, "b", deep), peer(3, "c", "1")];
  presence.attach(channel);
  deepEqual(presence.others.map(({ peer }) => peer), [3]);
});

Deno.test("presence is bounded, and plain JSON", () => {
  const presence = new RepositoryPresence();
  throws(() => presence.set("x".repeat(5_000)), { code: "value-too-large" });
  throws(() => presence.set(new Date() as unknown as string), {
    code: "invalid-value",
  });
});
