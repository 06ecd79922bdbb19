/** Frames through a codec whose results may be promises, in order. */

/** One way of a wire: what goes in comes out in the same order. */
export class FrameLine {
  readonly #work: (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>;
  readonly #out: (bytes: Uint8Array) => void;
  readonly #fail: (error: unknown) => void;
  #tail: Promise<void> | undefined;
  /** Bytes that wait for the codec. */
  waiting = 0;

  /**
   * @param work what each frame goes through
   * @param out takes each result
   * @param fail hears when a frame could not be worked; later frames are dropped
   */
  constructor(
    work: (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>,
    out: (bytes: Uint8Array) => void,
    fail: (error: unknown) => void,
  ) {
    this.#work = work;
    this.#out = out;
    this.#fail = fail;
  }

  /** Takes a frame. */
  push(bytes: Uint8Array): void {
    let result: Uint8Array | Promise<Uint8Array>;
    try {
      result = this.#work(bytes);
    } catch (error) {
      return this.afterwards(() => this.#fail(error));
    }
    if (this.#tail === undefined && !(result instanceof Promise)) {
      return this.#out(result);
    }
    this.waiting += bytes.length;
    this.#chain(async () => {
      try {
        this.#out(await result);
      } finally {
        this.waiting -= bytes.length;
      }
    });
    // The chain hears of a failure in its turn; until then it is nobody's.
    if (result instanceof Promise) result.catch(() => {});
  }

  /** Runs a task when everything before it has come out. */
  afterwards(task: () => void): void {
    if (this.#tail === undefined) task();
    else this.#chain(task);
  }

  #chain(task: () => void | Promise<void>): void {
    const tail = this.#after(this.#tail, task).then(() => {
      if (this.#tail === tail) this.#tail = undefined;
    });
    this.#tail = tail;
  }

  async #after(
    before: Promise<void> | undefined,
    task: () => void | Promise<void>,
  ): Promise<void> {
    await before;
    try {
      await task();
    } catch (error) {
      this.#fail(error);
    }
  }
}
