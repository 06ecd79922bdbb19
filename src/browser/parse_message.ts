/**
 * Reads what arrives between tabs and owners, as `messages.ts` declares it.
 *
 * A message is a structured clone, so it is plain data of our own already;
 * it is looked at and handed on, never copied.
 *
 * @module
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

/** What was said, and by which side. */
export type Parsed =
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

/** Reads what arrived; `undefined` where it is no message of ours. */
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
