import { deepEqual, equal } from "node:assert/strict";
import { createSigner } from "../crypto/mod.ts";
import { toHex } from "../src/base/bytes.ts";
import { chainBytes } from "../repo/commit/commit.ts";
import { issueRevocation } from "../repo/commit/revocation.ts";
import { Place } from "../tests/kit/replica_place.ts";
import { chainEndsOf } from "../sync/summary.ts";
import { cutsToIssue } from "./revocations.ts";

Deno.test("chainEndsOf() reads a summary", async () => {
  const place = await Place.open();
  for (const id of ["a", "b", "c"]) await place.write(id, "1");
  const port = place.replica.port();
  const [[chain, end] = [""]] = chainEndsOf(port.summary()!);
  equal(chain, [...port.vector().keys()][0]);
  deepEqual(end, { count: 3, id: place.replica.graph.idBefore(chain, 3) });
});

Deno.test("cutsToIssue() lets stand what is here and what a witness saw, of this session alone", async () => {
  const place = await Place.open();
  await place.write("a", "1");
  await place.write("b", "1");
  const [chain = ""] = place.replica.port().vector().keys();
  const key = chainBytes(chain).subarray(0, 32);
  const incarnation = chain.slice(32);
  const other = "x".repeat(40);
  const cuts = (accepted: Record<string, number>) =>
    cutsToIssue(
      place.replica,
      key,
      new Map(
        Object.entries(accepted).map(([chain, count]) => [
          chain,
          { count, id: new Uint8Array(32) },
        ]),
      ),
    );
  deepEqual(cuts({}), new Map([[incarnation, 2]]));
  deepEqual(cuts({ [chain]: 1, [other]: 9 }), new Map([[incarnation, 2]]));
  deepEqual(cuts({ [chain]: 5 }), new Map([[incarnation, 5]]));
  const stranger = new Uint8Array(32).fill(7);
  deepEqual(cutsToIssue(place.replica, stranger, new Map()), new Map());
  equal(toHex(key).length, 64);
});

Deno.test("cutsToIssue() goes on where a crash came between the records of one revocation", async () => {
  const place = await Place.open();
  await place.write("a", "1");
  const { replica } = await place.reopen({ isOriginal: false });
  const two = await place.reopen({ isOriginal: false });
  await replica.close();
  await two.write("b", "1");
  const chains = [...two.replica.graph.chains()].map(({ name }) => name);
  equal(chains.length, 2);
  const key = chainBytes(chains[0]!).subarray(0, 32);
  const { revocations } = two.replica.loaded.credentials;
  const cuts = new Map([[chains[0]!.slice(32), 1]]);
  const { genesisId } = two.replica.port();
  const issuer = createSigner(new Uint8Array(32).fill(3));
  const fields = { genesisId, sessionKey: key, cuts, wall: 1, reason: "" };
  revocations.add(issueRevocation(fields, issuer));
  equal(revocations.cutOf(chains[1]!), 0, "as if it had never been accepted");
  const missing = cutsToIssue(two.replica, key, new Map());
  deepEqual(missing, new Map([[chains[1]!.slice(32), 1]]));
  revocations.add(issueRevocation({ ...fields, cuts: missing! }, issuer));
  equal(cutsToIssue(two.replica, key, new Map()), undefined);
});
