/**
 * Which folders of a storage are prepared, and how often each: `prepare` and
 * `release` are counted, because several may need one folder at a time.
 *
 * @module
 */

export class PreparedFolders {
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#counts.size;
  }

  has(folder: string): boolean {
    return this.#counts.has(folder);
  }

  /** It is prepared once more. */
  add(folder: string): void {
    this.#counts.set(folder, (this.#counts.get(folder) ?? 0) + 1);
  }

  /** Takes one `add` back; was it the last one? */
  remove(folder: string): boolean {
    const count = this.#counts.get(folder) ?? 0;
    if (count < 2) return this.#counts.delete(folder);
    this.#counts.set(folder, count - 1);
    return false;
  }
}
