/**
 * Own chains of which the server has more than this folder, although it wrote
 * them: it may have been set back to an earlier state of its files.
 *
 * Architecture invariant: nothing that others built on a chain comes in before
 * the server's commits of it have shown whether it is the chain that stands here.
 *
 * @module
 */

import type { RepositoryPort } from "../repo/port.ts";
import { boundVector, type VersionVector } from "../repo/version_vector.ts";
import { limits } from "../src/base/limits.ts";

/** What doubts work with. */
export interface DoubtsParts {
  readonly port: RepositoryPort;
  /** Does this device write the chain? */
  readonly owns: (chain: string) => boolean;
  /** Opens the channel again, by a vector. */
  readonly again: () => void;
}

/** Chains that are asked for from their beginning on. */
export class Doubts {
  readonly #parts: DoubtsParts;
  readonly #chains = new Set<string>();

  constructor(parts: DoubtsParts) {
    this.#parts = parts;
  }

  /** What is known here, for sure; where a frame cannot name all of it, own chains come first. */
  vector(): VersionVector {
    const { port, owns } = this.#parts;
    const all = port.vector();
    const known = this.#chains.size === 0 ? all : new Map(
      all.entries().filter(([chain]) => !this.#chains.has(chain)),
    );
    const own = known.keys().filter(owns);
    return boundVector(known, limits.vectorChainsMax, own);
  }

  /**
   * The server's commits of a chain do not go on from those here: of an own
   * chain that is no lie yet. True when it is asked for anew.
   */
  of(chain: string): boolean {
    const isNew = this.#add(chain);
    if (isNew) this.#parts.again();
    return isNew;
  }

  /** Has the server more of a chain that was begun here? True when it is asked for anew. */
  ofVector(served: VersionVector): boolean {
    let isNew = false;
    for (const [chain, count] of served) {
      const length = this.#parts.port.lengthOf(chain);
      if (length > 0 && length < count && this.#add(chain)) isNew = true;
    }
    if (isNew) this.#parts.again();
    return isNew;
  }

  #add(chain: string): boolean {
    if (this.#chains.has(chain) || !this.#parts.owns(chain)) return false;
    this.#chains.add(chain);
    return true;
  }
}
