/** What a server may be told, with its defaults. */

import type { Schema } from "../src/schema/schema.ts";
import type { World } from "../src/base/world.ts";
import type { Rules } from "../src/schema/rules.ts";
import type { Storage } from "../src/storage/storage.ts";
import type { Mode, ScrubPace } from "../repo/mod.ts";
import type { LogLevel, LogSink } from "./log.ts";
import type { LoginOptions } from "./login_options.ts";

/** How much somebody may cost. Each has a default that suits a small machine. */
export interface QuotaOptions {
  /** Connections in total (10,000). */
  readonly connections?: number;
  /** Connections of one address (512). */
  readonly connectionsPerAddress?: number;
  /** Connections of one session (32). */
  readonly connectionsPerSession?: number;
  /** Connections that have not proved themselves yet (1,000). */
  readonly unproved?: number;
  /** The same of one address (32): each may have the platform hold one frame of 64 MiB. */
  readonly unprovedPerAddress?: number;
  /** Commits a second of one session (20,000, ten seconds' worth at once). */
  readonly commitsPerSecond?: number;
  /** Bytes a second of one session (32 MiB, ten seconds' worth at once). */
  readonly bytesPerSecond?: number;
  /** Logins a minute of one address (120). */
  readonly loginsPerMinute?: number;
  /** Bytes of one repository's log (16 GiB). */
  readonly repositoryBytes?: number;
  /** Repositories in all: whoever may write may begin one (100,000). */
  readonly repositories?: number;
  /** New chains a minute of one session: each tab has one, and each refused write begins one (600). */
  readonly chainsPerMinute?: number;
  /** New repositories a minute of one session, and four times that of one address (300). */
  readonly repositoriesPerMinute?: number;
}

export type Quotas = Required<QuotaOptions>;

export const defaultQuotas: Quotas = {
  connections: 10_000,
  connectionsPerAddress: 512,
  connectionsPerSession: 32,
  unproved: 1_000,
  unprovedPerAddress: 32,
  commitsPerSecond: 20_000,
  bytesPerSecond: 32 * 1024 * 1024,
  loginsPerMinute: 120,
  repositoryBytes: 16 * 1024 ** 3,
  repositories: 100_000,
  chainsPerMinute: 600,
  repositoriesPerMinute: 300,
};

export const defaultOptions = {
  port: 8080,
  hostname: "127.0.0.1",
  path: "/",
  name: "sheaf",
  sessionDays: 30,
  trustProxy: false,
  logLevel: "info",
  idleMs: 60_000,
  openMax: 1_000,
  drainMs: 5_000,
  scrub: true,
  contentSecurityPolicy: [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'self'",
  ].join("; "),
} as const;

/** How a server is made. */
export interface ServerOptions {
  /** Folder of the database. Either this or `storage`. */
  readonly data?: string;
  /** Any other medium. */
  readonly storage?: Storage;
  /** Clock, timers and random numbers; the platform's own, if not given. */
  readonly world?: World;
  /** TCP port; 0 picks a free one (default: 8080). */
  readonly port?: number;
  /** Interface to listen on (default: "127.0.0.1"; "0.0.0.0" is all of them). */
  readonly hostname?: string;
  /** What the path of all its addresses begins with, as "/api/sheaf" (default: "/"). */
  readonly path?: string;
  /** What clients call this server (default: "sheaf"). */
  readonly name?: string;
  /** How new repositories are signed and made durable (default: "default"). */
  readonly mode?: Mode;
  /** Who may read and write what; without rules every session may, except repositories that begin with "_". */
  readonly rules?: Rules;
  /** Starts without rules although rules have judged what is here: fails as `rules-missing` otherwise. */
  readonly noRules?: boolean;
  /** Do own writes carry a salt, and are others refused that have none (default: false)? Clients have the same option. */
  readonly salt?: boolean;
  /**
   * Its data are new or of a backup, because a disk was lost: for the first
   * minute nothing is taken but what is proved to have been accepted before, so
   * that clients have shown it when anybody writes (default: false).
   */
  readonly restored?: boolean;
  /**
   * Collections whose constraints hold in every repository, and that those who
   * embed the server write. The schemas of the rules need not be named again.
   */
  readonly schemas?: readonly Schema[];
  /** The root secret of a server that takes the place of a lost one, 32 bytes. */
  readonly rootSecret?: Uint8Array;
  /** File to keep a copy of the root secret in; read when the database is new and the file is there. */
  readonly rootKeyFile?: string;
  /** Which kinds of login are offered (default: none). */
  readonly login?: LoginOptions;
  /** How long a session certificate is good for (default: 30). */
  readonly sessionDays?: number;
  /** Origins of web pages that may connect: none for the same host, "*" for all. */
  readonly origins?: readonly string[];
  /** Certificate and key files, PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly quotas?: QuotaOptions;
  /** Folder of static files to serve. */
  readonly static?: string;
  /**
   * The Content-Security-Policy of static files, whole (default: everything of
   * the same origin alone, inline styles, and images and fonts in `data:` too).
   */
  readonly contentSecurityPolicy?: string;
  /** Allows `/admin` and, when set, is asked for. */
  readonly adminToken?: string;
  /** Believe the last `x-forwarded-for` entry: only behind a proxy of your own. */
  readonly trustProxy?: boolean;
  /** Takes the log's events (default: JSON lines on standard error). */
  readonly log?: LogSink;
  /** Lowest level that is logged (default: "info"). */
  readonly logLevel?: LogLevel;
  /** A repository without channels is closed after this long (default: 60,000). */
  readonly idleMs?: number;
  /** Repositories that are open at once (default: 1,000). */
  readonly openMax?: number;
  /** How long a shutdown waits for clients to hand in what they have (default: 5,000). */
  readonly drainMs?: number;
  /**
   * Reads the files of open repositories over and over, slowly, to find rot
   * before it is needed: `false`, or how fast (default: true). What it takes is
   * asked back from the clients.
   */
  readonly scrub?: boolean | ScrubPace;
}

export type KnownOptions =
  & ServerOptions
  & Required<Pick<ServerOptions, keyof typeof defaultOptions>>;

export function withDefaults(options: ServerOptions): KnownOptions {
  const given: Readonly<Record<string, unknown>> = { ...options };
  const missing = Object.entries(defaultOptions)
    .map(([name, value]) => [name, given[name] ?? value]);
  return { ...options, ...Object.fromEntries(missing) };
}

/** How a server is made that another one answers for. */
export type EmbedOptions = Omit<ServerOptions, "port" | "hostname" | "tls">;

export const serverOptions: Readonly<Record<keyof ServerOptions, unknown>> = {
  ...defaultOptions,
  data: 0,
  storage: 0,
  world: 0,
  mode: 0,
  rules: 0,
  noRules: 0,
  salt: 0,
  restored: 0,
  schemas: 0,
  rootSecret: 0,
  rootKeyFile: 0,
  login: 0,
  origins: 0,
  tls: 0,
  quotas: 0,
  static: 0,
  adminToken: 0,
  log: 0,
};

const { port: _port, hostname: _hostname, tls: _tls, ...embed } = serverOptions;

export const embedOptions: Readonly<Record<keyof EmbedOptions, unknown>> =
  embed;
