/**
 * `server/` is a replica with a listener: a `Database`, the wire of
 * docs/protocol.md over WebSocket, login that issues session certificates, read
 * rights, quotas, quarantine, metrics and logs.
 *
 * It decides who may come and how much they may cost; what a commit means and
 * whether a rule allows it is decided at the door (law 2), by the same code as
 * on every client. It needs no application schema.
 *
 * @module
 */

export { copyDatabase, type CopyReport } from "./backup.ts";
export type {
  AppAnswer,
  AppLogin,
  Claims,
  Json,
  JwtOptions,
  LoginOptions,
  LoginRefusal,
  TokenUser,
} from "./login_options.ts";
export type { LogLevel, LogRecord, LogSink } from "./log.ts";
export type { EmbedOptions, QuotaOptions, ServerOptions } from "./options.ts";
export type { QuarantineEntry } from "./quarantine.ts";
export type { Restoring } from "./restore_report.ts";
export type {
  EmbeddedServer,
  NodeHttpServer,
  Server,
  ServerStatus,
  Whom,
} from "./api.ts";
export { createServer, embedServer } from "./server.ts";
