/**
 * The line: what both halves of a conversation share. It turns frames into
 * messages and back, keeps windows and heartbeat, collects outputs, and ends.
 *
 * Architecture invariant: a frame that is none ends the conversation with a
 * code and never throws (law 10).
 */

import { DatabaseError } from "../src/base/errors.ts";
import { limits } from "../src/base/limits.ts";
import { ServerTime } from "../src/base/server_clock.ts";
import type { ConversationEvent, Moment, Output } from "./conversation.ts";
import { type Foreign, type Message, missingFeatures } from "./message.ts";
import { decodeMessage, encodeMessage } from "./message_codec.ts";
import { ReceiveWindow, SendWindow } from "./window.ts";

const SILENCES_MAX = 3;
const MS_PER_BYTE = 1_000 / limits.wireBytesPerSecond;

/** One side's end of a wire. */
export class Line {
  readonly receiving: ReceiveWindow;
  /** As the other side said it; until then nothing may be sent. */
  sending: SendWindow = new SendWindow(0);
  /** Silence after which this side pings. */
  heartbeatMs: number = limits.heartbeatMs;
  /** Is the conversation over? */
  isOver = false;
  /** The moment of the last input. */
  moment: Moment = { nowMs: 0, monotonicMs: 0 };
  /** How often commits were dated anew because of what it said. */
  reissues = 0;
  #serverTime: ServerTime | undefined;
  #out: Output[] = [];
  #heardMs = 0;
  #greetedBeforeMs = Infinity;
  #pings = 0;
  /** Since when the other side owes an answer. */
  #owedMs = Infinity;
  /** From when on the ping counts that it was sent for that; `undefined` where none was, or was answered. */
  #askedMs: number | undefined;
  /** Was it told that there was no answer to that either? */
  #isSilent = false;
  /** When a `time` input was asked for. */
  #wakeMs = Infinity;
  /** When one is needed. */
  #dueMs = Infinity;

  /** @param windowBytes what the other side may send before credit comes */
  constructor(windowBytes: number) {
    this.receiving = new ReceiveWindow(windowBytes);
  }

  /** Begins an input. */
  at({ nowMs, monotonicMs }: Moment): void {
    this.moment = { nowMs, monotonicMs };
  }

  /** The server says what time it is, in milliseconds since 1970; the result is how far it is ahead of this device. */
  readTime(serverMs: number): number {
    this.#serverTime = new ServerTime(serverMs, this.moment);
    return serverMs - this.moment.nowMs;
  }

  /** Milliseconds since 1970 by the server's clock, as far as it is known. */
  get serverMs(): number {
    return this.#serverTime?.at(this.moment) ?? Infinity;
  }

  /** Begins to listen: for silence, and for who the other side is. */
  begin(): void {
    this.#heardMs = this.moment.monotonicMs;
    this.#greetedBeforeMs = this.#heardMs + limits.proveMsMax;
    this.due(this.#greetedBeforeMs);
  }

  /** Looks at the clock while the other side has not shown who it is; `why` it ends then. */
  awaitGreeting(why: string): void {
    if (this.moment.monotonicMs < this.#greetedBeforeMs) {
      this.due(this.#greetedBeforeMs);
    } else this.fail("timeout", why);
  }

  /** Is it a window that nobody asks for? It ends the conversation. */
  hasOddWindow(window: number): boolean {
    const isOdd = window < limits.windowBytesMin ||
      window > limits.windowBytesMax;
    if (isOdd) this.fail("bad-message", `A window of ${window} bytes`);
    return isOdd;
  }

  /** Ends the conversation where the other side needs what this one does not know. */
  lacksFeatures(greeting: { readonly needs: number }): boolean {
    const missing = missingFeatures(greeting);
    if (missing === 0) return false;
    const bits = `0x${missing.toString(16)}`;
    this.fail(
      "wrong-version",
      `This side lacks the features ${bits}: update it`,
    );
    return true;
  }

  /** A message that nobody may send now. */
  unexpected({ is }: Message | Foreign): void {
    this.fail("bad-message", `"${is}" is not for now`);
  }

  /** Sends a message; the result is its frame. */
  send(message: Message): Uint8Array {
    const frame = encodeMessage(message);
    if (!this.isOver) this.#out.push({ do: "send", frame });
    return frame;
  }

  /** Tells the driver. */
  tell(event: ConversationEvent): void {
    if (!this.isOver) this.#out.push({ do: "tell", event });
  }

  /** Says why, and ends the conversation. */
  fail(code: string, detail: string): void {
    this.send({ is: "failed", code, detail });
    this.close(code, detail);
  }

  /** Ends the conversation. */
  close(code: string, detail: string): void {
    if (this.isOver) return;
    this.#out.push({ do: "close", code, detail });
    this.isOver = true;
  }

  /** Reads a frame; `undefined` when there is nothing more to do for it. */
  read(bytes: Uint8Array): Message | Foreign | undefined {
    this.#heardMs = this.moment.monotonicMs;
    this.#pings = 0;
    this.#askedMs = undefined;
    if (this.#isSilent) this.#tellSilence(false);
    if (bytes.length > limits.frameBytesMax) {
      this.fail("too-large", `A frame of ${bytes.length} bytes`);
      return undefined;
    }
    const message = this.#decode(bytes);
    if (message?.is === "records" || message?.is === "part") {
      if (!this.receiving.take(bytes.length)) {
        this.fail("window-exceeded", "Records came without credit");
        return undefined;
      }
    }
    return message;
  }

  #decode(bytes: Uint8Array): Message | Foreign | undefined {
    try {
      return decodeMessage(bytes);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      this.fail("bad-message", error.message);
    }
  }

  /** Has a message signed. */
  sign(message: Uint8Array): void {
    this.#out.push({ do: "sign", message });
  }

  /** Deals with messages that mean the same on both sides; true when it was one. */
  common(message: Message): boolean {
    switch (message.is) {
      case "ping":
        this.send({ is: "pong", token: message.token });
        return true;
      case "pong":
        return true;
      case "credit":
        if (!this.sending.grant(message.bytes)) {
          this.fail("bad-message", "Credit for more than was sent");
        }
        return true;
      case "failed":
        this.close(message.code, message.detail);
        return true;
      default:
        return false;
    }
  }

  /**
   * Runs one step and grants what it dealt with; what is to be done then. Our own
   * faults end the conversation, too: `end` runs when it is over.
   */
  run(
    moment: Moment | undefined,
    act: () => void,
    end: () => void,
  ): Output[] {
    if (this.isOver) return [];
    if (moment !== undefined) this.at(moment);
    try {
      act();
      this.#giveCredit();
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      this.fail("unavailable", error.code);
    }
    if (this.isOver) end();
    return this.#flush();
  }

  /** Once it is worth a frame. */
  #giveCredit(): void {
    const bytes = this.receiving.credit();
    if (bytes > 0) this.send({ is: "credit", bytes });
  }

  /** Asks for a `time` input at a moment of the monotonic clock, or earlier. */
  due(monotonicMs: number): void {
    this.#dueMs = Math.min(this.#dueMs, monotonicMs);
  }

  /** Time went on: the wake that was asked for has come. */
  woken(): void {
    this.#wakeMs = Infinity;
  }

  /** Pings after silence, and ends after too much of it. */
  checkSilence(): void {
    const silentMs = this.moment.monotonicMs - this.#heardMs;
    const silences = Math.floor(silentMs / this.heartbeatMs);
    if (silences >= SILENCES_MAX) {
      this.fail("timeout", `Nothing was heard for ${Math.round(silentMs)} ms`);
    } else if (silences > this.#pings) {
      this.#pings = silences;
      this.send({ is: "ping", token: silences });
    }
  }

  /** When {@linkcode checkSilence} has to look again. */
  get silenceMs(): number {
    return this.#heardMs + (this.#pings + 1) * this.heartbeatMs;
  }

  /**
   * Looks whether the other side answers, and ends where it does not, long before
   * a heartbeat would show it: asks, then tells, then ends. The more bytes are on
   * their way to it, the longer an answer may take.
   *
   * @param bytes what it has not answered to; `undefined`: nothing
   */
  awaitAnswer(bytes: number | undefined): void {
    const { monotonicMs } = this.moment;
    const sent = this.sending.used;
    const owed = this.sending.isCreditDue
      ? sent
      : bytes && Math.min(bytes, sent);
    if (owed === undefined) this.#owedMs = Infinity;
    else {
      this.#owedMs = Math.min(this.#owedMs, monotonicMs);
      const dueMs = Math.max(this.#owedMs, this.#heardMs) +
        owed * MS_PER_BYTE + limits.answerMs;
      if (this.#askedMs === undefined && monotonicMs < dueMs) this.due(dueMs);
      else this.doubt();
    }
    if (this.#askedMs !== undefined) this.#checkAnswer(this.#askedMs);
  }

  /** Asks whether the other side is there. */
  doubt(): void {
    if (this.#askedMs !== undefined) return;
    this.#askedMs = this.moment.monotonicMs;
    this.send({ is: "ping", token: 0 });
  }

  #checkAnswer(askedMs: number): void {
    const { answerMs, answerMsMax } = limits;
    const silentMs = this.moment.monotonicMs - askedMs;
    if (silentMs >= answerMsMax) {
      return this.fail("timeout", "The server does not answer");
    }
    if (silentMs >= answerMs && !this.#isSilent) this.#tellSilence(true);
    this.due(askedMs + (this.#isSilent ? answerMsMax : answerMs));
  }

  #tellSilence(isSilent: boolean): void {
    this.#isSilent = isSilent;
    this.tell({ tell: "silence", isSilent });
  }

  /** Takes the outputs; asks for time where the driver does not bring it early enough. */
  #flush(): Output[] {
    const { monotonicMs } = this.moment;
    if (this.#dueMs < this.#wakeMs && !this.isOver) {
      this.#wakeMs = this.#dueMs;
      const afterMs = Math.max(0, this.#dueMs - monotonicMs);
      this.#out.push({ do: "wake", afterMs });
    }
    this.#dueMs = Infinity;
    const out = this.#out;
    this.#out = [];
    return out;
  }
}
