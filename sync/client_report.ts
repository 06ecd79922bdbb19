/** Reports of a conversation, in words and JSON for an app. */

import { chainBytes } from "../repo/commit/commit.ts";
import { equalBytes, toHex } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import type { World } from "../src/base/world.ts";
import type { JsonValue } from "../src/schema/mod.ts";
import type { AuditReport } from "./audit.ts";
import type { EventOf } from "./conversation.ts";
import type { ServerKnowledge } from "./server_knowledge.ts";
import type { Incident } from "./status.ts";

/** What an audit found, for an app. */
export interface ChannelAudit {
  /** Do both sides have the same commits, and the same state where the server folds one? */
  readonly equal: boolean;
  /** For a person. */
  readonly message: string;
  /** What differs: ranges of commits, or items. */
  readonly details: JsonValue;
}

/** The incidents of one repository, over connections that come and go: the newest, as many as are kept. */
export class IncidentList {
  readonly #world: Pick<World, "now">;
  readonly #server: Pick<ServerKnowledge, "lives">;
  /** What was told of two logs. */
  #told: Readonly<Record<string, JsonValue>> | undefined;
  /** The same array until it changes. */
  list: readonly Incident[] = Object.freeze([]);

  /** Where two logs were found that are not the same yet, that is told again. */
  constructor(
    world: Pick<World, "now">,
    server: Pick<ServerKnowledge, "lives">,
  ) {
    this.#world = world;
    this.#server = server;
    this.#tellFork();
  }

  /** Adds what a conversation tells of. */
  add({ kind, message, details, report }: EventOf<"incident">): void {
    const more: Readonly<Record<string, JsonValue>> = report === undefined
      ? {}
      : { report: detailsOf(report) };
    this.#set([
      ...this.list,
      { kind, at: this.#now(), message, details: { ...details, ...more } },
    ]);
  }

  /**
   * The server's log is in this epoch. A life of a log ends for good: where one
   * goes on that had ended, there are two logs.
   */
  noteEpoch(epoch: Uint8Array): void {
    const { epochs, fork: before } = this.#server.lives;
    const other = epochs.at(-1);
    if (other !== undefined && equalBytes(other, epoch)) return;
    const others = epochs.filter((one) => !equalBytes(one, epoch));
    const isBack = others.length < epochs.length;
    const fork = isBack && other !== undefined
      ? { other, atMs: this.#world.now() }
      : before;
    const newest = [...others, epoch].slice(-limits.epochsMax);
    this.#server.lives = { epochs: newest, fork };
    if (isBack) this.#tellFork();
  }

  /** Told once: between two servers a client may come and go very often. */
  #tellFork(): void {
    const { epochs, fork } = this.#server.lives;
    const [epoch] = epochs.slice(-1);
    const isTold = this.list.some(({ details }) => details === this.#told);
    if (fork === undefined || epoch === undefined || isTold) return;
    this.#told = { epoch: toHex(epoch), other: toHex(fork.other) };
    this.#set([...this.list, {
      kind: "server-forked",
      at: new Date(fork.atMs),
      message: "Two servers answer as one, each with a log of its own",
      details: this.#told,
    }]);
  }

  /** This server has all that is here, and the other way round: what one of two lacked is back. */
  settle(): void {
    this.#server.lives = { ...this.#server.lives, fork: undefined };
  }

  /** A server of another epoch lacks so many commits that a witness proves: there is one such incident, until it lacks none. */
  noteRestoring(missing: number, epoch: Uint8Array, receipt: string): void {
    const before = this.list.find(({ kind }) => kind === "restore-incomplete");
    const others = this.list.filter((one) => one !== before);
    if (missing === 0) return this.#set(others);
    this.#set([...others, {
      kind: "restore-incomplete",
      at: before?.at ?? this.#now(),
      message:
        `The server lacks ${missing} commits that a server of this database had signed for: ` +
        "what is here of them is handed in",
      details: { missing, epoch: toHex(epoch), receipt },
    }]);
  }

  #now(): Date {
    return new Date(this.#world.now());
  }

  #set(incidents: readonly Incident[]): void {
    const newest = incidents.slice(-limits.incidentsMax);
    this.list = Object.freeze(newest.map((one) => Object.freeze(one)));
  }
}

/** The report of an audit. */
export function auditOf(report: AuditReport): ChannelAudit {
  return Object.freeze({
    equal: report.equal,
    message: messageOf(report),
    details: detailsOf(report),
  });
}

function messageOf(
  { equal, commits, items, isPartial, isOfCommits }: AuditReport,
): string {
  if (isOfCommits === true) {
    return "Both sides have the same commits; the server holds no items of them";
  }
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
      chain: toHex(chainBytes(chain)),
      from,
      to,
      how,
    })),
    items: items.map(({ collection, id }) => ({ collection, id })),
    isPartial,
  };
}
