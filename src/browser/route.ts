/**
 * A route: envelopes in and out over one wire between tabs and an owner, be it a
 * worker's port or a `BroadcastChannel`.
 *
 * It hears one side of the talk only, drops what makes no sense or is for
 * somebody else, and never judges terms.
 *
 * Reads what arrives between tabs and owners, as `messages.ts` declares it.
 *
 * A message is a structured clone, so it is plain data of our own already;
 * it is looked at and handed on, never copied.
 */

import { limits } from "../base/limits.ts";
import {
  by,
  type Check,
  count,
  type Fields,
  list,
  maybe,
  shape,
} from "./checks.ts";
import {
  type Envelope,
  id,
  type OwnerMessage,
  ownerMessages,
  type TabMessage,
  tabMessages,
  TABS_VERSION,
} from "./messages.ts";

/** What is needed of a `Worker`, its inside, a `MessagePort` or a `BroadcastChannel`. */
export interface Wire {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  addEventListener(type: "message", listener: (event: Event) => void): void;
  removeEventListener(type: "message", listener: (event: Event) => void): void;
  /** Begins to deliver; only a `MessagePort` has it. */
  start?(): void;
}

export interface Sides {
  readonly tab: TabMessage;
  readonly owner: OwnerMessage;
}

export interface RouteOptions<S extends keyof Sides> {
  readonly id: string;
  /** Which side it listens to; it speaks as the other one. */
  readonly hears: S;
  readonly hear: (envelope: Envelope & { readonly message: Sides[S] }) => void;
  /** Somebody of another build is here, and may speak to just this one. */
  readonly otherVersion?: (from: string, isForMe: boolean) => void;
}

export class Route<S extends keyof Sides> {
  readonly #wire: Wire;
  readonly #options: RouteOptions<S>;
  readonly #listener = (event: Event): void =>
    this.#receive((event as MessageEvent).data);

  constructor(wire: Wire, options: RouteOptions<S>) {
    this.#wire = wire;
    this.#options = options;
    wire.addEventListener("message", this.#listener);
    wire.start?.();
  }

  /** Says something to one, to several, or to everybody (`undefined`). */
  post(
    to: Envelope["to"],
    term: number,
    message: Exclude<TabMessage | OwnerMessage, Sides[S]>,
    transfer: ArrayBuffer[] = [],
  ): void {
    const { id: from } = this.#options;
    const envelope: Envelope = {
      sheaf: TABS_VERSION,
      from,
      to,
      term,
      message,
    };
    this.#wire.postMessage(envelope, transfer);
  }

  #receive(data: unknown): void {
    const { id, hears, hear, otherVersion } = this.#options;
    const parsed = parseEnvelope(data);
    if (parsed === undefined) return;
    if (parsed.side === "other-version") {
      return otherVersion?.(parsed.from, parsed.to === id);
    }
    const { envelope } = parsed;
    const { to, from } = envelope;
    const isForMe = typeof to === "string" ? to === id : to?.includes(id);
    if (parsed.side !== hears || from === id || isForMe === false) return;
    // The side was just compared: the message is one of its kind.
    hear(envelope as Envelope & { readonly message: Sides[S] });
  }

  /** Hears nothing any more; the wire is its owner's. */
  close(): void {
    this.#wire.removeEventListener("message", this.#listener);
  }
}

type Parsed =
  | {
    readonly side: "tab";
    readonly envelope: Envelope & { message: TabMessage };
  }
  | {
    readonly side: "owner";
    readonly envelope: Envelope & { message: OwnerMessage };
  }
  | {
    readonly side: "other-version";
    readonly from: string;
    /** Whom it is for, where it says so in the way of all builds. */
    readonly to: string | undefined;
  };

const receivers = list(id, limits.tabsMax);
const envelopeOf = shape({
  from: id,
  to: maybe(by((value) => id(value) || receivers(value))),
  term: count,
});
const stranger = shape({ from: id, sheaf: count });
const anyKind = shape({ kind: id });
const tabChecks = checksOf<TabMessage>(tabMessages);
const ownerChecks = checksOf<OwnerMessage>(ownerMessages);

function checksOf<M extends TabMessage | OwnerMessage>(
  messages: Readonly<Record<string, Fields>>,
): ReadonlyMap<string, Check<M>> {
  return new Map(
    Object.entries(messages).map(([kind, fields]) =>
      [kind, shape(fields) as Check<unknown> as Check<M>] as const
    ),
  );
}

/** A repository that is open stands somewhere. */
function isWhole(message: OwnerMessage): boolean {
  return message.kind !== "opened" || message.failure !== undefined ||
    message.sync.status !== undefined;
}

export function parseEnvelope(data: unknown): Parsed | undefined {
  if (!stranger(data)) return undefined;
  const envelope = data as Envelope; // Its fields are looked at one by one below.
  const { from, sheaf, to, message } = envelope;
  if (sheaf !== TABS_VERSION) {
    return { side: "other-version", from, to: id(to) ? to : undefined };
  }
  if (!envelopeOf(data) || !anyKind(message)) return undefined;
  const { kind } = message;
  if (tabChecks.get(kind)?.(message)) {
    return {
      side: "tab",
      envelope: envelope as Envelope & { message: TabMessage },
    };
  }
  if (!ownerChecks.get(kind)?.(message) || !isWhole(message)) return undefined;
  return {
    side: "owner",
    envelope: envelope as Envelope & { message: OwnerMessage },
  };
}
