/**
 * Code that few programs run: loaded by those that need it, and by nobody else.
 *
 * Who needs it at once where it is not here meets {@linkcode Late.unloaded}
 * before anything has changed, loads it, and asks again.
 */

import { DatabaseError } from "./errors.ts";

/** What is thrown where code is needed and not loaded: before anything has changed. */
export class Unloaded extends DatabaseError {
  readonly load: () => Promise<void>;

  constructor(load: () => Promise<void>) {
    super(
      "unreachable",
      "Code that this takes could not be loaded yet: try again",
    );
    this.load = load;
  }
}

/** Code that may not be here yet. */
export class Late<Code> {
  #unloaded: Unloaded | undefined;
  #code: Code | undefined;
  #import: (() => Promise<Code>) | undefined;

  /** Says how it is loaded: who knows that stands on a higher floor. */
  by(load: () => Promise<Code>): void {
    this.#import = load;
  }

  /**
   * What is thrown where it is needed and not loaded. Not made before: where an
   * error is made as modules are loaded, V8 parses the whole file again for the
   * place, and a built file is all of the core (12 ms).
   */
  get unloaded(): Unloaded {
    return this.#unloaded ??= new Unloaded(() => this.load());
  }

  /** The code; where it is not here it is sent for, so that who asks again later has it. */
  get code(): Code {
    if (this.#code !== undefined) return this.#code;
    this.load().catch(() => {});
    throw this.unloaded;
  }

  get isLoaded(): boolean {
    return this.#code !== undefined;
  }

  /** It is here; `undefined`: it is not, as in a page that has not loaded it. */
  provide(code: Code | undefined): void {
    this.#code = code;
  }

  async load(): Promise<void> {
    if (this.#code !== undefined) return;
    if (this.#import === undefined) throw this.unloaded;
    this.#code = await this.#import();
  }

  /** What `run` gives, once more where it lacked this code. */
  async within<R>(run: () => R | Promise<R>): Promise<R> {
    try {
      return await run();
    } catch (cause) {
      if (cause !== this.unloaded) throw cause;
    }
    await this.load();
    return await run();
  }
}
