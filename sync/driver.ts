/**
 * Drives one conversation over one transport: frames, timers and the end.
 *
 * Architecture invariant: whatever a peer sends, nothing but its own connection
 * ends (law 10); clock and timers come in (law 9).
 */

import { Unloaded } from "../src/base/late.ts";
import { limits } from "../src/base/limits.ts";
import type { World } from "../src/base/world.ts";
import type {
  ConversationEvent,
  Input,
  Moment,
  Output,
} from "./conversation.ts";
import type { Transport, TransportEnd } from "./transport/transport.ts";

/** What is common to both halves of a conversation. */
interface Core {
  step(input: Input): Output[];
  end(): void;
}

/** What hears a driver. */
export interface DriverEvents {
  tell(event: ConversationEvent): void;
  /** Exactly once; `isOwn`: this side closed. */
  ended(end: TransportEnd, isOwn: boolean): void;
  /** Signs what the conversation has to prove; only a client's asks. */
  sign?(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** A fault of ours that ended the connection. */
  broke?(error: unknown): void;
  /** What a frame waits for before the conversation has it; `undefined`: nothing. */
  ready?(frame: Uint8Array): Promise<void> | undefined;
  /** A frame that came (`in`) or went; it must not be changed or kept. */
  moved?(way: "in" | "out", frame: Uint8Array): void;
}

/** A conversation on its wire. */
export class Driver<C extends Core> {
  readonly core: C;
  readonly #transport: Transport;
  readonly #world: World;
  readonly #events: DriverEvents;
  readonly #bufferedMax: number;
  #cancelWake: (() => void) | undefined;
  #own: TransportEnd | undefined;
  #isOver = false;
  #asks: ((core: C) => Output[])[] = [];
  #isRunning = false;
  /** The last thing from the wire that waits. */
  #waiting: Promise<void> | undefined;

  /**
   * @param core the conversation
   * @param transport an open wire that nobody listens to yet
   * @param world clock and timers
   * @param events what hears of it
   * @param bufferedMax bytes that may wait in the transport
   */
  constructor(
    core: C,
    transport: Transport,
    world: World,
    events: DriverEvents,
    bufferedMax: number = limits.bufferedBytesMax,
  ) {
    this.core = core;
    this.#transport = transport;
    this.#world = world;
    this.#events = events;
    this.#bufferedMax = bufferedMax;
  }

  /** Now, as the conversation wants to know it. */
  get moment(): Moment {
    return {
      nowMs: this.#world.now(),
      monotonicMs: this.#world.monotonic(),
    };
  }

  /** Bytes that wait in the transport. */
  get buffered(): number {
    return this.#transport.buffered;
  }

  /** Has the connection ended, or is it about to? */
  get isOver(): boolean {
    return this.#isOver || this.#own !== undefined;
  }

  /** Begins to listen. */
  start(): void {
    this.run((core) => core.step({ is: "begin", ...this.moment }));
    this.#transport.listen({
      frame: (bytes) => {
        this.#events.moved?.("in", bytes);
        this.#inOrder(
          () => this.#events.ready?.(bytes),
          () =>
            this.run((core) =>
              core.step({ is: "frame", bytes, ...this.moment })
            ),
        );
      },
      ended: (end) => this.#inOrder(() => undefined, () => this.#end(end)),
    });
  }

  /** Does what the wire brings in its order: each, and what it waits for, after what came before. */
  #inOrder(ready: () => Promise<void> | undefined, act: () => void): void {
    const before = this.#waiting;
    const ahead = before === undefined ? ready() : before.then(ready);
    if (ahead === undefined) return act();
    const waiting = ahead.then(act).catch((error) => this.#broke(error))
      .finally(() => {
        if (this.#waiting === waiting) this.#waiting = undefined;
      });
    this.#waiting = waiting;
  }

  /**
   * Asks the conversation something and does what it says. What is asked while
   * it speaks waits for its turn: outputs keep their order.
   */
  run(ask: (core: C) => Output[]): void {
    if (this.isOver) return;
    this.#asks.push(ask);
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      for (
        let next = this.#asks.shift();
        next !== undefined && !this.isOver;
        next = this.#asks.shift()
      ) {
        for (const output of next(this.core)) this.#do(output);
      }
    } catch (error) {
      this.#broke(error);
    } finally {
      this.#isRunning = false;
    }
  }

  /** Ends the connection. */
  close(code: string, detail: string): void {
    if (this.isOver) return;
    this.#own = { code, detail };
    this.#transport.close(code, detail);
    this.#end(this.#own);
  }

  /** The other side need not know more; this one must. */
  #broke(error: unknown): void {
    // The next connection brings it again, when the code is here.
    if (!(error instanceof Unloaded)) this.#events.broke?.(error);
    if (this.isOver) return;
    const detail = error instanceof Error ? error.message : String(error);
    this.#own = { code: "internal", detail };
    this.#transport.close("internal", "A fault of the other side");
    this.#end(this.#own);
  }

  #do(output: Output): void {
    if (output.do === "tell") return this.#events.tell(output.event);
    if (this.isOver) return;
    if (output.do === "send") this.#send(output.frame);
    else if (output.do === "close") this.close(output.code, output.detail);
    else if (output.do === "sign") this.#sign(output.message);
    else this.#wake(output.afterMs);
  }

  #sign(message: Uint8Array): void {
    const give = (signature: Uint8Array) =>
      this.run((core) =>
        core.step({ is: "signed", signature, ...this.moment })
      );
    const signature = this.#events.sign!(message);
    if (signature instanceof Uint8Array) return give(signature);
    signature.then(give, (error) => this.#broke(error));
  }

  #send(frame: Uint8Array): void {
    this.#events.moved?.("out", frame);
    this.#transport.send(frame);
    if (this.#transport.buffered <= this.#bufferedMax) return;
    this.close("too-slow", "Too much waits to be read");
  }

  /** Whole milliseconds: the rounding of fractions may not keep a deadline from passing. */
  #wake(afterMs: number): void {
    this.#cancelWake?.();
    this.#cancelWake = this.#world.after(
      Math.max(1, Math.ceil(afterMs)),
      () => this.run((core) => core.step({ is: "time", ...this.moment })),
    );
  }

  #end(end: TransportEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#asks = [];
    this.#cancelWake?.();
    this.core.end();
    this.#events.ended(this.#own ?? end, this.#own !== undefined);
  }
}
