/**
 * Chains of which the server may have other commits than this replica: own ones of
 * which it has more than this folder that wrote them, which may have been set back
 * to an earlier state of its files; and those that do not go on from what the other
 * side has. From its beginning on, a chain shows where the two part.
 *
 * Architecture invariant: nothing that others built on a chain comes in before
 * the server's commits of it have shown whether it is the chain that stands here.
 */

import type { RepositoryPort } from "../repo/port.ts";
import {
  boundVector,
  type VersionVector,
} from "../repo/commit/version_vector.ts";
import { limits } from "../src/base/limits.ts";

/** Chains that are asked for from their beginning on. */
export class Doubts {
  readonly #port: RepositoryPort;
  readonly #again: () => void;
  readonly #chains = new Set<string>();
  /** Does this device write the chain? Then the server's shows it here, and ours is not sent. */
  readonly owns: (chain: string) => boolean;

  /** @param again opens the channel again, by a vector */
  constructor(
    port: RepositoryPort,
    owns: (chain: string) => boolean,
    again: () => void,
  ) {
    this.#port = port;
    this.owns = owns;
    this.#again = again;
  }

  /** What is known here, for sure; where a frame cannot name all of it, own chains come first. */
  vector(): VersionVector {
    const all = this.#port.vector();
    const known = this.#chains.size === 0 ? all : new Map(
      [...all].filter(([chain]) => !this.#chains.has(chain)),
    );
    const own = [...known.keys()].filter(this.owns);
    return boundVector(known, limits.vectorChainsMax, own);
  }

  /** What the server has, as far as it has the commits that are here. */
  servedOf(vector: VersionVector): VersionVector {
    return this.#chains.size === 0 ? vector : new Map(
      [...vector].filter(([chain]) =>
        this.owns(chain) || !this.#chains.has(chain)
      ),
    );
  }

  /** One side's commits of a chain do not go on from the other's. True when it is shown anew. */
  of(chain: string): boolean {
    const isNew = this.add(chain);
    if (isNew) this.#again();
    return isNew;
  }

  /** From the next opening on the chain is shown from its beginning. True when that is new. */
  add(chain: string): boolean {
    const { size } = this.#chains;
    return this.#chains.add(chain).size > size;
  }

  /** Has the server more of a chain that was begun here? True when it is asked for anew. */
  ofVector(served: VersionVector): boolean {
    let isNew = false;
    for (const [chain, count] of served) {
      const length = this.#port.lengthOf(chain);
      if (length === 0 || length >= count || !this.owns(chain)) continue;
      if (this.add(chain)) isNew = true;
    }
    if (isNew) this.#again();
    return isNew;
  }
}
