/**
 * Metrics in Prometheus' text format, where the package that keeps them is
 * installed; without it nothing is counted.
 *
 * Architecture invariant: a label's values come from a list here; whatever else
 * comes is counted as "other", so that nobody can make series (law 10).
 */

import process from "node:process";
import type { Counter, Histogram, Registry } from "prom-client";
import type { World } from "../src/base/world.ts";
import type { Replica } from "../repo/mod.ts";
import type { ServerStatus } from "./api.ts";
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
  ...[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05],
  ...[0.1, 0.25, 0.5, 1, 2.5, 10],
];

/** What is counted: its name, what it is, and its labels. */
const COUNTERS = {
  admitted: [
    "sheaf_commits_admitted_total",
    "Commits of peers that were admitted.",
  ],
  refused: [
    "sheaf_batches_refused_total",
    "Batches of peers that were refused.",
    "reason",
  ],
  received: ["sheaf_received_bytes_total", "Bytes of frames received."],
  sent: ["sheaf_sent_bytes_total", "Bytes of frames sent."],
  errors: [
    "sheaf_protocol_errors_total",
    "Connections and channels that were ended with an error.",
    "code",
  ],
  logins: ["sheaf_logins_total", "Logins.", "kind", "result"],
  requests: ["sheaf_http_requests_total", "HTTP requests.", "route", "status"],
  synced: ["sheaf_fsyncs_total", "Syncs of files to the medium."],
  revoked: ["sheaf_revocations_total", "Sessions that were revoked."],
} as const;

const TIMES = {
  acknowledged: [
    "sheaf_ack_seconds",
    "From a commit's arrival until it is acknowledged as durable.",
  ],
  fannedOut: [
    "sheaf_fan_out_seconds",
    "From a commit's arrival until it is handed to the other peers.",
  ],
} as const;

const GAUGES: readonly [
  name: string,
  help: string,
  read: (status: ServerStatus) => number,
][] = [
  ["sheaf_connections", "Open connections.", ({ connections }) => connections],
  ["sheaf_sessions", "Sessions connected.", ({ sessions }) => sessions],
  [
    "sheaf_open_repositories",
    "Repositories that are open.",
    ({ open }) => open.length,
  ],
  [
    "sheaf_quarantine_entries",
    "Batches in quarantine.",
    ({ quarantine }) => quarantine.entries,
  ],
  [
    "sheaf_quarantine_bytes",
    "Bytes in quarantine.",
    ({ quarantine }) => quarantine.bytes,
  ],
  [
    "sheaf_restoring_repositories",
    "Repositories that are known to be incomplete after a loss.",
    ({ restoring }) => restoring.length,
  ],
  [
    "sheaf_failing_repositories",
    "Repositories that cannot be used because their storage fails.",
    ({ failing }) => failing,
  ],
  [
    "process_resident_memory_bytes",
    "Resident memory size.",
    () => process.memoryUsage().rss,
  ],
];

type Prometheus = typeof import("prom-client");

export async function openMetrics(): Promise<Metrics> {
  return new Metrics(await loadOptional(() => import("prom-client")));
}

export class Metrics {
  readonly #prometheus: Prometheus | undefined;
  readonly #registry: Registry | undefined;
  readonly #counters = new Map<keyof typeof COUNTERS, Counter>();
  readonly #times = new Map<keyof typeof TIMES, Histogram>();

  /** @param prometheus what keeps them; without it nothing is counted */
  constructor(prometheus?: Prometheus) {
    this.#prometheus = prometheus;
    if (prometheus === undefined) return;
    const registry = this.#registry = new prometheus.Registry();
    const registers = [registry];
    for (const [key, [name, help, ...labelNames]] of entriesOf(COUNTERS)) {
      const options = { name, help, labelNames, registers };
      this.#counters.set(key, new prometheus.Counter(options));
    }
    for (const [key, [name, help]] of entriesOf(TIMES)) {
      const options = { name, help, buckets: SECONDS, registers };
      this.#times.set(key, new prometheus.Histogram(options));
    }
  }

  /** Shows how a server is to who reads the metrics. */
  show(status: () => ServerStatus): void {
    if (this.#prometheus === undefined) return;
    for (const [name, help, read] of GAUGES) {
      new this.#prometheus.Gauge({
        name,
        help,
        registers: [this.#registry!],
        collect() {
          this.set(read(status()));
        },
      });
    }
  }

  admitted(commits: number): void {
    this.#counters.get("admitted")?.inc(commits);
  }

  refused(reason: string): void {
    this.#counters.get("refused")?.inc({ reason: among(REASONS, reason) });
  }

  /** Frames came in. */
  received(bytes: number): void {
    this.#counters.get("received")?.inc(bytes);
  }

  /** Frames went out. */
  sent(bytes: number): void {
    this.#counters.get("sent")?.inc(bytes);
  }

  protocolError(code: string): void {
    this.#counters.get("errors")?.inc({ code: among(CODES, code) });
  }

  login(kind: string, result: string): void {
    this.#counters.get("logins")?.inc({
      kind: among(LOGIN_KINDS, kind),
      result: among(LOGIN_RESULTS, result),
    });
  }

  /** A request was answered; `route` is a route's name, not its path. */
  request(route: string, status: number): void {
    this.#counters.get("requests")?.inc({ route, status: String(status) });
  }

  synced(): void {
    this.#counters.get("synced")?.inc();
  }

  revoked(): void {
    this.#counters.get("revoked")?.inc();
  }

  acknowledged(seconds: number): void {
    this.#times.get("acknowledged")?.observe(seconds);
  }

  /** A commit was handed to the other peers. */
  fannedOut(seconds: number): void {
    this.#times.get("fannedOut")?.observe(seconds);
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

function entriesOf<K extends string>(
  table: Readonly<Record<K, readonly [string, string, ...string[]]>>,
): [K, readonly [string, string, ...string[]]][] {
  // Proof: the table is one of the literals above.
  return Object.entries(table) as [K, readonly [string, string]][];
}

interface Waiting {
  /** End of the log when the commits had come in. */
  readonly end: number;
  readonly atMs: number;
}

interface Followed {
  readonly replica: Replica;
  readonly waiting: Waiting[];
}

/** More than this many are not timed one by one. */
const WAITING_MAX = 1_024;

/**
 * How long commits take: from their arrival until they are durable here and
 * acknowledged, and until they were handed to the other peers.
 *
 * Acknowledging and pushing happen in the turn in which a repository tells that
 * it became shareable up to where the commits stand; so that is what is timed.
 */
export class Latencies {
  readonly #metrics: Pick<Metrics, "acknowledged" | "fannedOut">;
  readonly #world: Pick<World, "monotonic">;
  readonly #byName = new Map<string, Followed>();

  constructor(
    metrics: Pick<Metrics, "acknowledged" | "fannedOut">,
    world: World,
  ) {
    this.#metrics = metrics;
    this.#world = world;
  }

  /** Follows a repository that was opened; the result ends it. */
  follow(replica: Replica): () => void {
    const followed: Followed = { replica, waiting: [] };
    const end = replica.port().onShareable(() => this.#shareable(followed));
    this.#byName.set(replica.name, followed);
    return () => {
      end();
      this.#byName.delete(replica.name);
    };
  }

  received(name: string): void {
    const followed = this.#byName.get(name);
    if (followed === undefined || followed.waiting.length >= WAITING_MAX) {
      return;
    }
    const { end } = followed.replica.loaded.log;
    followed.waiting.push({ end, atMs: this.#world.monotonic() });
  }

  #shareable({ replica, waiting }: Followed): void {
    const { shareable } = replica.port();
    const nowMs = this.#world.monotonic();
    let done = 0;
    while (done < waiting.length && waiting[done]!.end <= shareable) done++;
    if (done === 0) return;
    const timed = waiting.splice(0, done);
    // When all listeners have heard: no ack and no push waits for what measures it.
    queueMicrotask(() => {
      const ms = this.#world.monotonic();
      for (const { atMs } of timed) {
        this.#metrics.acknowledged((nowMs - atMs) / 1_000);
        this.#metrics.fannedOut((ms - atMs) / 1_000);
      }
    });
  }
}
