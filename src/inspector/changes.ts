/** Tells whether a repository changed since somebody looked. */

import type { Repository } from "../db/repository.ts";

export class Changes {
  #repository: Repository | undefined;
  #end: (() => void) | undefined;
  #isNews = true;

  /** Is there news since it was asked last, of this repository? Another one is news. */
  of(repository: Repository | undefined): boolean {
    if (repository !== this.#repository) {
      this.close();
      this.#repository = repository;
      this.#end = repository?.subscribe(() => this.#isNews = true);
    }
    const isNews = this.#isNews;
    this.#isNews = false;
    return isNews;
  }

  /** What was changed by who asks is news, too. */
  touch(): void {
    this.#isNews = true;
  }

  close(): void {
    this.#end?.();
    this.#end = this.#repository = undefined;
    this.#isNews = true;
  }
}
