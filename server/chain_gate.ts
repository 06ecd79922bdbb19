/**
 * Chains at the gate: how many a session may begin in a repository, how fast,
 * and that each commit says something, or is void because it was refused.
 *
 * A chain costs every replica memory for ever, and every revocation of its
 * session a cut. An honest session begins one for each tab, and retires those that
 * nobody writes any more: of these it may have more. Of a session that may
 * say nothing, no more than a few stubs are kept, in a few chains.
 *
 * Architecture invariant: what is counted stands in the graph, so it holds over
 * restarts; who is over a rate or a bound waits, and nobody else does.
 */

import { getOrMake } from "../src/base/collections.ts";
import { type Refusal, refuse, refuseAt } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import type { DecodedPatch } from "../src/schema/patch_codec.ts";
import type { Batch } from "../repo/commit/batch.ts";
import type { Graph } from "../repo/graph/graph.ts";
import type { LoadedReplica } from "../repo/loaded_replica.ts";
import { type Buckets, perMinute } from "./quotas.ts";

const KEY_CHARACTERS = 32;

/** The chains of a repository, and which of them are over. */
interface ChainsOf {
  readonly graph: Graph;
  readonly loaded: Pick<LoadedReplica, "mode" | "credentials">;
}

export class ChainGate {
  readonly #begun: Buckets;
  readonly #counts = new WeakMap<Graph, ChainCount>();

  /** @param chainsPerMinute of one session, over all repositories */
  constructor(chainsPerMinute: number) {
    this.#begun = perMinute(chainsPerMinute);
  }

  /**
   * The first commit from index `from` on that changes nothing, or stands behind
   * the end that its author gave the chain; or that there is no room for its chain.
   *
   * @param patches of the commits from there on
   * @param accepted how many commits of the chain were accepted before a log was lost: they are not asked about
   */
  check(
    { graph, loaded: { mode, credentials } }: ChainsOf,
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
    const length = credentials.retirements.lengthOf(chain);
    const behind = Math.max(first + from, length, accepted);
    if (behind < end) {
      // Its author forgot that it is over, or is a copy.
      const detail = `Its author ended the chain with commit ${length - 1}`;
      return refuseAt(behind, "fork", detail);
    }
    const isVoid = isSilent(graph, chain) &&
      commits.every(({ isVoid }, i) => i < from || isVoid);
    if (isVoid && end > Math.max(accepted, limits.voidCommitsMax)) {
      return refuse("quota", "Nothing of this chain was accepted so far");
    }
    if (graph.lengthOf(chain) > 0 || accepted > 0) return undefined;
    if (
      isVoid && this.#countOf(graph).silentOf(chain) >= limits.voidChainsMax
    ) {
      return refuse("quota", "Nothing of this session was accepted so far");
    }
    const begun = this.#countOf(graph).of(chain);
    if (graph.size >= limits.summaryChainsMax) {
      const max = limits.sessionChainsMin;
      if (begun < max) return undefined;
      const detail = `A session begins at most ${max} chains here by now`;
      return refuse("quota", detail);
    }
    const { sessionChainsMax, unsignedChainsMax } = limits;
    const max = mode === "default" ? sessionChainsMax : unsignedChainsMax;
    if (begun < max) return undefined;
    const { lengths } = credentials.retirements.of(chain) ?? { lengths: [] };
    let over = 0;
    for (const [name, length] of lengths) {
      if (graph.lengthOf(name) >= length) over++;
    }
    if (begun - over < max) return undefined;
    const detail = `A session has at most ${max} chains in this repository ` +
      "that it has not retired";
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
    return getOrMake(this.#counts, graph, () => new ChainCount(graph));
  }
}

/** Is no commit of a chain known that says something? */
function isSilent(graph: Graph, name: string): boolean {
  const { voids, length } = graph.chain(name) ?? {};
  return voids?.size === length;
}

interface Begun {
  count: number;
  /** Its chains, as long as all of them hold stubs alone. */
  silent: Set<string> | undefined;
}

class ChainCount {
  readonly #graph: Graph;
  readonly #byKey = new Map<string, Begun>();
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
    return this.#byKey.get(keyOf(chain))?.count ?? 0;
  }

  /** How many that session has, where all of them hold stubs alone; else 0: it may write, so its room is that of who writes. */
  silentOf(chain: string): number {
    this.#look();
    const begun = this.#byKey.get(keyOf(chain));
    for (const one of begun?.silent ?? []) {
      if (!isSilent(this.#graph, one)) begun!.silent = undefined;
    }
    return begun?.silent?.size ?? 0;
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
    const begun = getOrMake(this.#byKey, keyOf(chain), () => ({
      count: 0,
      silent: new Set<string>(),
    }));
    begun.count++;
    if (isSilent(this.#graph, chain)) begun.silent?.add(chain);
    else begun.silent = undefined;
  }
}

function keyOf(chain: string): string {
  return chain.slice(0, KEY_CHARACTERS);
}
