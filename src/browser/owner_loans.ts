/**
 * Which tab writes which of the device's chains.
 *
 * Architecture invariant: a chain is lent to one tab at a time, and to another
 * only when that tab is gone for certain or gave it back, and all of the chain
 * is here: no number of a chain ever stands for two commits.
 *
 * @module
 */

/** The chains of one owner's repositories that tabs hold. */
export class Loans {
  /** Repository → chain → tab. */
  readonly #holders = new Map<string, Map<string, string>>();
  /** Repository → chains that nobody gets any more. */
  readonly #kept = new Map<string, Set<string>>();

  /** Who holds a chain. */
  holderOf(repository: string, chain: string): string | undefined {
    return this.#holders.get(repository)?.get(chain);
  }

  /** May a chain that somebody held be lent to anybody? */
  isFree(repository: string, chain: string): boolean {
    return this.holderOf(repository, chain) === undefined &&
      this.#kept.get(repository)?.has(chain) !== true;
  }

  /** Lends a chain to a tab; false where another one has it. */
  lend(repository: string, chain: string, tab: string): boolean {
    const holder = this.holderOf(repository, chain);
    if (holder !== undefined) return holder === tab;
    this.claim(repository, chain, tab);
    return true;
  }

  /** A tab says which chain it writes: whoever else named that chain does not write it. */
  claim(repository: string, chain: string, tab: string): void {
    let chains = this.#holders.get(repository);
    if (chains === undefined) this.#holders.set(repository, chains = new Map());
    chains.set(chain, tab);
  }

  /** Tabs fill in a chain that was lost here: how far it went, nobody knows for certain. */
  keep(repository: string, chain: string): void {
    const kept = this.#kept.get(repository);
    if (kept === undefined) this.#kept.set(repository, new Set([chain]));
    else kept.add(chain);
  }

  /** A tab gives back what it holds, of one repository or of all. */
  end(tab: string, repository?: string): void {
    for (const [name, chains] of this.#holders) {
      if (repository !== undefined && name !== repository) continue;
      for (const [chain, holder] of chains) {
        if (holder === tab) chains.delete(chain);
      }
      if (chains.size === 0) this.#holders.delete(name);
    }
  }
}
