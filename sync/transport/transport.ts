/**
 * What a conversation needs of a wire: whole frames, in order.
 *
 * An adapter knows nothing of what the bytes mean. It may compress; it never
 * drops, repeats or reorders a frame of a transport that is open. Every adapter
 * runs `tests/kit/transport_conformance.ts`.
 */

/** Why a transport ended. */
export interface TransportEnd {
  /** A code of docs/protocol.md, or "lost" when the wire just went away. */
  readonly code: string;
  /** For a person. */
  readonly detail: string;
}

/** What hears a transport. */
export interface TransportEvents {
  /** A whole frame; the receiver's own. */
  frame(bytes: Uint8Array): void;
  /** The end, exactly once; nothing comes after it. */
  ended(end: TransportEnd): void;
}

/** One open, ordered, two-way wire of frames. */
export interface Transport {
  /** Begins to deliver; frames that came before are delivered first. Called once. */
  listen(events: TransportEvents): void;
  /** Sends one frame. What is sent after the end is dropped. */
  send(frame: Uint8Array): void;
  /** Bytes handed over and not yet taken by the platform. */
  readonly buffered: number;
  /** Sends what is buffered and closes; `ended` follows on both sides. */
  close(code: string, detail: string): void;
}

/** Makes transports to one place; a client calls it again after every end. */
export interface Connector {
  /** The place, for messages and for the resume file. */
  readonly address: string;
  /** Opens a transport; rejects with a `TransportEnd`-shaped reason when it cannot. */
  connect(signal: AbortSignal): Promise<Transport>;
  /** Tells when the network may be back, or is gone, where the platform tells; the result ends it. */
  onNetwork?(tell: (isThere: boolean) => void): () => void;
}
