/**
 * Metrics in Prometheus' text format, where the package that keeps them is
 * installed; without it nothing is counted.
 *
 * Architecture invariant: a label's values come from a list here; whatever else
 * comes is counted as "other", so that nobody can make series (law 10).
 *
 * @module
 */

import process from "node:process";
import type { Counter, Histogram, Registry } from "prom-client";
import { loadOptional } from "./optional_package.ts";

/** Reasons at the door and codes of conversations that get a series of their own. */
const REASONS = [
  "malformed",
  "unsigned",
  "bad-signature",
  "unknown-session",
  "bad-certificate",
  "expired-session",
  "wrong-mode",
  "gap",
  "fork",
  "missing-parent",
  "bad-clock",
  "too-large",
  "denied",
  "constraint",
  "revoked",
  "quota",
  "restoring",
  "kv-conflict",
  "unknown-name",
  "wrong-kind",
] as const;
const CODES = [
  "bad-message",
  "wrong-version",
  "bad-proof",
  "bad-certificate",
  "expired-session",
  "root-key-mismatch",
  "mode-mismatch",
  "forbidden",
  "invalid-name",
  "too-large",
  "window-exceeded",
  "too-slow",
  "timeout",
  "rate-limited",
  "too-many-connections",
  "too-many-channels",
  "unavailable",
  "shutting-down",
  "internal",
  "foreign-origin",
] as const;
const LOGIN_KINDS = ["anonymous", "token", "jwt", "app"] as const;
const LOGIN_RESULTS = [
  "ok",
  "refused",
  "bad-clock",
  "rate-limited",
  "failed",
] as const;

/** From half a millisecond to ten seconds. */
const SECONDS = [
  0.0005,
  0.001,
  0.0025,
  0.005,
  0.01,
  0.025,
  0.05,
  0.1,
  0.25,
  0.5,
  1,
  2.5,
  10,
];

/** Values that are asked for when somebody reads the metrics. */
export interface Gauges {
  connections(): number;
  sessions(): number;
  openRepositories(): number;
  quarantineEntries(): number;
  quarantineBytes(): number;
  restoring(): number;
  failing(): number;
}

type Prometheus = typeof import("prom-client");

/** Metrics of a server with these gauges. */
export async function openMetrics(gauges: Gauges): Promise<Metrics> {
  return new Metrics(gauges, await loadOptional(() => import("prom-client")));
}

/** What a server counts. */
export class Metrics {
  readonly #prometheus: Prometheus | undefined;
  readonly #registry: Registry | undefined;
  readonly #committed: Counter | undefined;
  readonly #refused: Counter | undefined;
  readonly #bytesIn: Counter | undefined;
  readonly #bytesOut: Counter | undefined;
  readonly #errors: Counter | undefined;
  readonly #logins: Counter | undefined;
  readonly #requests: Counter | undefined;
  readonly #syncs: Counter | undefined;
  readonly #revocations: Counter | undefined;
  readonly #ack: Histogram | undefined;
  readonly #fanOut: Histogram | undefined;

  /**
   * @param gauges values that are asked for
   * @param prometheus what keeps them; without it nothing is counted
   */
  constructor(gauges: Gauges, prometheus?: Prometheus) {
    this.#prometheus = prometheus;
    this.#registry = prometheus && new prometheus.Registry();
    this.#gauges(gauges);
    this.#committed = this.#counter(
      "sheaf_commits_admitted_total",
      "Commits of peers that were admitted.",
    );
    this.#refused = this.#counter(
      "sheaf_batches_refused_total",
      "Batches of peers that were refused.",
      ["reason"],
    );
    this.#bytesIn = this.#counter(
      "sheaf_received_bytes_total",
      "Bytes of frames received.",
    );
    this.#bytesOut = this.#counter(
      "sheaf_sent_bytes_total",
      "Bytes of frames sent.",
    );
    this.#errors = this.#counter(
      "sheaf_protocol_errors_total",
      "Connections and channels that were ended with an error.",
      ["code"],
    );
    this.#logins = this.#counter(
      "sheaf_logins_total",
      "Logins.",
      ["kind", "result"],
    );
    this.#requests = this.#counter(
      "sheaf_http_requests_total",
      "HTTP requests.",
      ["route", "status"],
    );
    this.#syncs = this.#counter(
      "sheaf_fsyncs_total",
      "Syncs of files to the medium.",
    );
    this.#revocations = this.#counter(
      "sheaf_revocations_total",
      "Sessions that were revoked.",
    );
    this.#ack = this.#histogram(
      "sheaf_ack_seconds",
      "From a commit's arrival until it is acknowledged as durable.",
    );
    this.#fanOut = this.#histogram(
      "sheaf_fan_out_seconds",
      "From a commit's arrival until it is handed to the other peers.",
    );
  }

  #gauges(gauges: Gauges): void {
    this.#gauge("sheaf_connections", "Open connections.", gauges.connections);
    this.#gauge("sheaf_sessions", "Sessions connected.", gauges.sessions);
    this.#gauge(
      "sheaf_open_repositories",
      "Repositories that are open.",
      gauges.openRepositories,
    );
    this.#gauge(
      "sheaf_quarantine_entries",
      "Batches in quarantine.",
      gauges.quarantineEntries,
    );
    this.#gauge(
      "sheaf_quarantine_bytes",
      "Bytes in quarantine.",
      gauges.quarantineBytes,
    );
    this.#gauge(
      "sheaf_restoring_repositories",
      "Repositories that are known to be incomplete after a loss.",
      gauges.restoring,
    );
    this.#gauge(
      "sheaf_failing_repositories",
      "Repositories that cannot be used because their storage fails.",
      gauges.failing,
    );
    this.#gauge(
      "process_resident_memory_bytes",
      "Resident memory size.",
      () => process.memoryUsage().rss,
    );
  }

  #counter(
    name: string,
    help: string,
    labelNames: readonly string[] = [],
  ): Counter | undefined {
    return this.#prometheus && new this.#prometheus.Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: this.#registers,
    });
  }

  #gauge(name: string, help: string, read: () => number): void {
    if (this.#prometheus === undefined) return;
    new this.#prometheus.Gauge({
      name,
      help,
      registers: this.#registers,
      collect() {
        this.set(read());
      },
    });
  }

  #histogram(name: string, help: string): Histogram | undefined {
    return this.#prometheus && new this.#prometheus.Histogram({
      name,
      help,
      buckets: SECONDS,
      registers: this.#registers,
    });
  }

  get #registers(): Registry[] {
    return this.#registry === undefined ? [] : [this.#registry];
  }

  /** Commits came in. */
  admitted(commits: number): void {
    this.#committed?.inc(commits);
  }

  /** A batch was refused. */
  refused(reason: string): void {
    this.#refused?.inc({ reason: among(REASONS, reason) });
  }

  /** Frames came in. */
  received(bytes: number): void {
    this.#bytesIn?.inc(bytes);
  }

  /** Frames went out. */
  sent(bytes: number): void {
    this.#bytesOut?.inc(bytes);
  }

  /** A connection or channel ended with an error. */
  protocolError(code: string): void {
    this.#errors?.inc({ code: among(CODES, code) });
  }

  /** Somebody logged in, or tried to. */
  login(kind: string, result: string): void {
    this.#logins?.inc({
      kind: among(LOGIN_KINDS, kind),
      result: among(LOGIN_RESULTS, result),
    });
  }

  /** A request was answered; `route` is a route's name, not its path. */
  request(route: string, status: number): void {
    this.#requests?.inc({ route, status: String(status) });
  }

  /** A file was made durable. */
  synced(): void {
    this.#syncs?.inc();
  }

  /** A session was revoked. */
  revoked(): void {
    this.#revocations?.inc();
  }

  /** A commit was acknowledged. */
  acknowledged(seconds: number): void {
    this.#ack?.observe(seconds);
  }

  /** A commit was handed to the other peers. */
  fannedOut(seconds: number): void {
    this.#fanOut?.observe(seconds);
  }

  /** All of it as text, of a media type; `undefined` where nothing is counted. */
  async text(): Promise<{ text: string; type: string } | undefined> {
    if (this.#registry === undefined) return undefined;
    const text = await this.#registry.metrics();
    return { text, type: this.#registry.contentType };
  }
}

function among(known: readonly string[], value: string): string {
  return known.includes(value) ? value : "other";
}
