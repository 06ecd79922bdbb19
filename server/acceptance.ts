/**
 * Accepting what is in quarantine: somebody decides that a batch of a revoked
 * session shall count after all.
 *
 * The rules are his to waive, as those of who may issue are: he speaks for the
 * server. Everything else is asked as of anybody's commits: form, seal, parents,
 * clock, collections, and what no honest writer does.
 *
 * Architecture invariant: the cuts of the session rise only by what comes in in
 * the same step: a batch that may not come in leaves no room for another one of
 * its numbers (law 7).
 */

import { fromHex } from "../src/base/bytes.ts";
import { refuse } from "../src/base/errors.ts";
import { checkGate } from "../repo/admission/admit.ts";
import { Parking } from "../repo/admission/parking.ts";
import type { Arrival, Gate } from "../repo/admission/arrival.ts";
import { chainName } from "../repo/commit/commit.ts";
import { batchKind, type Replica, type RepositoryName } from "../repo/mod.ts";
import { Revocations } from "../repo/commit/revocation.ts";
import { HttpFault } from "./body.ts";
import type { QuarantineItem } from "./books.ts";
import type { Hub } from "./hub.ts";
import type { Judge } from "./judge.ts";
import { admittedOf, cutsToIssue, type RevocationList } from "./revocations.ts";

export interface AcceptanceParts {
  readonly hub: Pick<Hub, "use">;
  readonly judge: Pick<Judge, "judge">;
  readonly revocations: Pick<RevocationList, "issue">;
  readonly now: () => number;
}

const KEY_BYTES = 32;
/** Says that a batch could come in, without letting it. */
const SOUND = refuse("revoked");

export class Acceptance {
  readonly #parts: AcceptanceParts;

  constructor(parts: AcceptanceParts) {
    this.#parts = parts;
  }

  /**
   * Raises what stands of its session, and lets a batch through the door.
   *
   * @returns how many of its commits are new here
   * @throws {HttpFault} with the door's code, where it may not be: then nothing has changed
   */
  accept(item: QuarantineItem): Promise<number> {
    // Proof: a name that was hosted when the batch came.
    const name = item.repository as RepositoryName;
    return this.#parts.hub.use(name, async (replica) => {
      const arrival: Arrival = {
        kind: batchKind(item.signed),
        bytes: item.bytes.slice(),
      };
      const gate = this.#gateOf(replica);
      checkGap(replica, item);
      checkSound(replica, arrival, gate);
      this.#raise(replica, item);
      const port = replica.port();
      const parking = new Parking();
      const admitted = admittedOf(port.receive([arrival], { parking, gate }));
      port.settle();
      await replica.durable();
      return admitted;
    });
  }

  #gateOf(replica: Replica): Gate {
    const { judge, now } = this.#parts;
    return (batch, from, patches) =>
      checkGate(batch, now()) ??
        judge.judge(replica, "issuer", batch, from, patches);
  }

  #raise(replica: Replica, { chain, first, count }: QuarantineItem): void {
    if (replica.mode !== "default") return;
    const bytes = fromHex(chain);
    const key = bytes.slice(0, KEY_BYTES);
    const ends = new Map([[chainName(bytes), { count: first + count }]]);
    const cuts = cutsToIssue(replica, key, ends);
    if (cuts !== undefined) this.#parts.revocations.issue(replica, key, cuts);
  }
}

function checkGap({ graph }: Replica, { chain, first }: QuarantineItem): void {
  const known = graph.lengthOf(chainName(fromHex(chain)));
  if (known >= first) return;
  throw new HttpFault(
    409,
    "gap",
    `Commits ${known} to ${
      first - 1
    } of its chain come first: accept those before it`,
  );
}

/** Would it come in, if its session were not revoked? Asked before anything is written. */
function checkSound(replica: Replica, arrival: Arrival, gate: Gate): void {
  const judged = replica.port().receive([arrival], {
    parking: new Parking(),
    revocations: new Revocations(),
    gate: (...asked) => gate(...asked) ?? SOUND,
  });
  const isSound = judged.some(({ verdict }) =>
    verdict.verdict === "refuse" && verdict.refusal === SOUND
  );
  if (!isSound) admittedOf(judged);
}
