/**
 * Two ends of a wire in one memory, with a scheduler that may delay.
 *
 * A simulation gives its own {@linkcode Schedule}: it delays frames, holds one
 * way, and cuts the wire. Without one a frame arrives in the next microtask.
 *
 * Architecture invariant: each way keeps the order of what was sent, however
 * the scheduler orders its tasks.
 */

import type {
  Connector,
  Transport,
  TransportEnd,
  TransportEvents,
} from "./transport.ts";

/** From which end a task comes: 0 is the one that connected. */
export type Way = 0 | 1;

/** Runs a delivery some time later; `bytes` is the frame's size, 0 for an end. */
export type Schedule = (deliver: () => void, way: Way, bytes: number) => void;

const soon: Schedule = (deliver) => queueMicrotask(deliver);

/** A wire of two ends. */
export interface MemoryWire {
  /** The end that connected and the end that accepted. */
  readonly ends: readonly [Transport, Transport];
  /** The wire goes away: what is on it is lost, both ends hear "lost". */
  cut(): void;
  /** Frames of one end stay on the wire until `release`. */
  hold(way: Way): void;
  /** Lets what was held arrive. */
  release(way: Way): void;
}

/** Makes a wire. */
export function memoryWire(schedule: Schedule = soon): MemoryWire {
  const ends = [
    new MemoryEnd(0, schedule),
    new MemoryEnd(1, schedule),
  ] as const;
  ends[0].peer = ends[1];
  ends[1].peer = ends[0];
  return {
    ends,
    cut() {
      for (const end of ends) end.finish(lost);
    },
    hold: (way) => ends[way].hold(),
    release: (way) => ends[way].release(),
  };
}

const lost: TransportEnd = { code: "lost", detail: "The wire went away" };

/** A connector whose wires end at `accept`; it may throw a `TransportEnd` to refuse. */
export function memoryConnector(
  address: string,
  accept: (transport: Transport, wire: MemoryWire) => void,
  schedule?: Schedule,
): Connector {
  return {
    address,
    async connect(signal) {
      await Promise.resolve();
      if (signal.aborted) {
        throw { code: "lost", detail: "No longer wanted" };
      }
      const wire = memoryWire(schedule);
      accept(wire.ends[1], wire);
      return wire.ends[0];
    },
  };
}

/** What is on its way: a frame or the end. */
type Parcel = Uint8Array | TransportEnd;

class MemoryEnd implements Transport {
  peer!: MemoryEnd;
  buffered = 0;
  readonly #way: Way;
  readonly #schedule: Schedule;
  #sent: Parcel[] = [];
  #arrived: Uint8Array[] = [];
  #events: TransportEvents | undefined;
  #end: TransportEnd | undefined;
  #isClosing = false;
  #isHeld = false;
  #isTold = false;
  #due = 0;

  constructor(way: Way, schedule: Schedule) {
    this.#way = way;
    this.#schedule = schedule;
  }

  listen(events: TransportEvents): void {
    this.#events = events;
    queueMicrotask(() => this.#tell());
  }

  send(frame: Uint8Array): void {
    if (this.#isClosing || this.#end !== undefined) return;
    this.buffered += frame.length;
    this.#post(frame.slice());
  }

  close(code: string, detail: string): void {
    if (this.#isClosing || this.#end !== undefined) return;
    this.#isClosing = true;
    const end = { code, detail };
    this.#post(end);
    const back = this.#way === 0 ? 1 : 0;
    this.#schedule(() => this.finish(end), back, 0);
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#deliver();
  }

  /** Ends this side; what has not arrived is lost. */
  finish(end: TransportEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    if (!this.#isClosing) {
      this.#sent = [];
      this.buffered = 0;
    }
    this.#tell();
  }

  #post(parcel: Parcel): void {
    this.#sent.push(parcel);
    const bytes = parcel instanceof Uint8Array ? parcel.length : 0;
    this.#schedule(
      () => {
        this.#due++;
        this.#deliver();
      },
      this.#way,
      bytes,
    );
  }

  /** Hands over as many parcels as are due: the oldest, whatever task came. */
  #deliver(): void {
    while (this.#due > 0 && !this.#isHeld) {
      const parcel = this.#sent.shift();
      if (parcel === undefined) return;
      this.#due--;
      if (parcel instanceof Uint8Array) this.peer.#take(parcel);
      else this.peer.finish(parcel);
    }
  }

  #take(frame: Uint8Array): void {
    if (this.#end !== undefined) return;
    this.#arrived.push(frame);
    this.#tell();
  }

  #tell(): void {
    const events = this.#events;
    if (events === undefined) return;
    for (
      let frame = this.#arrived.shift();
      frame !== undefined;
      frame = this.#arrived.shift()
    ) {
      this.peer.buffered -= frame.length;
      events.frame(frame);
    }
    if (this.#end === undefined || this.#isTold) return;
    this.#isTold = true;
    events.ended(this.#end);
  }
}
