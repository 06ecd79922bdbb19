import assert from "node:assert/strict";
import { sessionKeyOf } from "../repo/commit/commit.ts";
import { Place } from "../tests/kit/replica_place.ts";
import { withAnswers } from "../tests/kit/with_answers.ts";
import { ServerKnowledge } from "./server_knowledge.ts";

Deno.test("when all is quiet all of others is acknowledged, but what is being written again", async () => {
  const place = await Place.open();
  await place.write("a", "1");
  const real = place.replica.port();
  const answers = { isComplete: false };
  const server = new ServerKnowledge(withAnswers(real, answers));
  const [[chain, count]] = [...real.vector()] as [[string, number]];
  server.connected(new Uint8Array(32));
  server.reached(undefined, true);
  assert.equal(server.acknowledged(chain), 0);
  answers.isComplete = true;
  assert.equal(server.acknowledged(chain), count);
  server.connected(sessionKeyOf(chain)); // Of those only a receipt says that.
  assert.equal(server.acknowledged(chain), 0);
  assert.equal(server.acknowledge(chain, count), true);
  assert.equal(server.acknowledged(chain), count);
  assert.equal(server.acknowledge(chain, count), false);
});
