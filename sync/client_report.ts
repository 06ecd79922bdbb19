/**
 * Reports of a conversation, in words and JSON for an app.
 *
 * @module
 */

import { DatabaseError } from "../src/base/errors.ts";
import type { JsonValue } from "../src/schema/mod.ts";
import type { AuditReport } from "./audit.ts";
import type { IncidentEvent } from "./conversation.ts";
import type { Incident } from "./status.ts";

/** What an audit found, for an app. */
export interface ChannelAudit {
  /** Do both sides have the same commits, and the same state? */
  readonly equal: boolean;
  /** For a person. */
  readonly message: string;
  /** What differs: ranges of commits, or items. */
  readonly details: JsonValue;
}

/** The incident that a conversation tells of. */
export function incidentOf(event: IncidentEvent, nowMs: number): Incident {
  const { kind, message, details, report } = event;
  return Object.freeze({
    kind,
    at: new Date(nowMs),
    message,
    details: {
      ...details,
      ...(report !== undefined && { report: detailsOf(report) }),
    },
  });
}

/** The report of an audit. */
export function auditOf(report: AuditReport): ChannelAudit {
  return Object.freeze({
    equal: report.equal,
    message: messageOf(report),
    details: detailsOf(report),
  });
}

function messageOf({ equal, commits, items, isPartial }: AuditReport): string {
  if (equal) return "Both sides have the same commits and the same state";
  const what = [
    ...(commits.length > 0 ? [`${commits.length} ranges of commits`] : []),
    ...(items.length > 0 ? [`${items.length} items`] : []),
  ].join(" and ") || "Something";
  return `${what} differ${isPartial ? ", and more" : ""}`;
}

function detailsOf({ commits, items, isPartial }: AuditReport): JsonValue {
  return {
    commits: commits.map(({ chain, from, to, how }) => ({
      chain: hexOf(chain),
      from,
      to,
      how,
    })),
    items: items.map(({ collection, id }) => ({ collection, id })),
    isPartial,
  };
}

/** A chain's name has one character a byte. */
function hexOf(chain: string): string {
  return Uint8Array.from(chain, (char) => char.charCodeAt(0)).toHex();
}

/** An audit that was asked for; who asks meanwhile hears the same. */
export class PendingAudit {
  #waiting: PromiseWithResolvers<ChannelAudit>[] = [];

  /** Resolves with the next answer. */
  wait(): Promise<ChannelAudit> {
    const levers = Promise.withResolvers<ChannelAudit>();
    this.#waiting.push(levers);
    return levers.promise;
  }

  /** The answer has come. */
  answer(report: AuditReport): void {
    const audit = auditOf(report);
    for (const { resolve } of this.#waiting.splice(0)) resolve(audit);
  }

  /** There will be no answer. */
  fail(why: string): void {
    for (const { reject } of this.#waiting.splice(0)) {
      reject(new DatabaseError("unreachable", why));
    }
  }
}
