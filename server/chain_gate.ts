/**
 * Chains at the gate: how many a session may begin in a repository, how fast,
 * and that each commit says something, or is void because it was refused.
 *
 * A chain costs every replica memory for ever, and every revocation of its
 * session a cut. An honest session begins one for each tab. Of one that may say
 * nothing, no more than a few stubs are kept.
 *
 * Architecture invariant: what is counted stands in the graph, so it holds over
 * restarts; who is over a rate or a bound waits, and nobody else does.
 *
 * @module
 */

import { type Refusal, refuse, refuseAt } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { DecodedPatch } from "../src/schema/patch_codec.ts";
import type { Batch } from "../repo/commit/batch.ts";
import type { Graph } from "../repo/graph/graph.ts";
import { type Buckets, perMinute } from "./quotas.ts";

const KEY_CHARACTERS = 32;

/** Asked of each batch that a peer brings. */
export class ChainGate {
  readonly #begun: Buckets;
  readonly #counts = new WeakMap<Graph, ChainCount>();

  /** @param chainsPerMinute of one session, over all repositories */
  constructor(chainsPerMinute: number) {
    this.#begun = perMinute(chainsPerMinute);
  }

  /**
   * The first commit from index `from` on that changes nothing, or that there is
   * no room for its chain.
   *
   * @param patches of the commits from there on
   * @param accepted how many commits of the chain were accepted before a log was lost: they are not asked about
   */
  check(
    graph: Graph,
    { chain, first, commits }: Batch,
    from: number,
    patches: readonly DecodedPatch[],
    accepted: number,
  ): Refusal | undefined {
    for (let i = 0; i < patches.length; i++) {
      const number = first + from + i;
      const isSaying = patches[i]!.operations.length > 0 ||
        commits[from + i]!.isVoid;
      if (number < accepted || isSaying) continue;
      return refuseAt(number, "denied", "A commit that changes nothing");
    }
    const end = first + commits.length;
    const known = graph.chain(chain);
    const isVoid = known?.voids === known?.length &&
      commits.every(({ isVoid }, i) => i < from || isVoid);
    if (isVoid && end > Math.max(accepted, limits.voidCommitsMax)) {
      return refuse("quota", "Nothing of this chain was accepted so far");
    }
    if (graph.lengthOf(chain) > 0 || accepted > 0) return undefined;
    const max = graph.size < limits.summaryChainsMax
      ? limits.sessionChainsMax
      : limits.sessionChainsMin;
    if (this.#countOf(graph).of(chain) < max) return undefined;
    const detail = `A session begins at most ${max} chains in this repository`;
    return refuse("quota", detail);
  }

  /** Counts a chain that begins with a batch to which nobody objected; refuses it where they come too fast. */
  begin(
    graph: Graph,
    { chain }: Batch,
    accepted: number,
    session: string,
    nowMs: number,
  ): Refusal | undefined {
    if (graph.lengthOf(chain) > 0 || accepted > 0) return undefined;
    if (!this.#begun.tryTake(session, 1, nowMs)) {
      return refuse("quota", "This session begins chains too fast");
    }
    this.#countOf(graph).expect(chain);
    return undefined;
  }

  #countOf(graph: Graph): ChainCount {
    let count = this.#counts.get(graph);
    if (count === undefined) {
      this.#counts.set(graph, count = new ChainCount(graph));
    }
    return count;
  }
}

/** How many chains each session has in a repository. */
class ChainCount {
  readonly #graph: Graph;
  readonly #byKey = new Map<string, number>();
  #counted = 0;
  /** The chain that is about to begin: counting one is cheaper than all. */
  #expected: string | undefined;

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  expect(chain: string): void {
    this.#look();
    this.#expected = chain;
  }

  /** Of the session that writes a chain. */
  of(chain: string): number {
    this.#look();
    return this.#byKey.get(chain.slice(0, KEY_CHARACTERS)) ?? 0;
  }

  #look(): void {
    const { size } = this.#graph;
    const expected = this.#expected;
    this.#expected = undefined;
    if (size === this.#counted) return;
    const isOne = expected !== undefined && size === this.#counted + 1 &&
      this.#graph.lengthOf(expected) > 0;
    this.#counted = size;
    if (isOne) return this.#add(expected);
    this.#byKey.clear();
    for (const { name } of this.#graph.chains()) this.#add(name);
  }

  #add(chain: string): void {
    const key = chain.slice(0, KEY_CHARACTERS);
    this.#byKey.set(key, (this.#byKey.get(key) ?? 0) + 1);
  }
}
