/**
 * Sheaf: an offline-first, synchronizing database for Deno and browsers.
 *
 * ```ts
 * import { defineSchema, field, memoryStorage, openDatabase } from "@sheaf/sheaf";
 *
 * const Task = defineSchema("task", {
 *   title: field.string(),
 *   done: field.boolean().default(false),
 * });
 *
 * await using db = await openDatabase({ storage: memoryStorage(), schemas: [Task] });
 * const repo = await db.repository("team/acme");
 * const tasks = repo.collection(Task);
 * await tasks.create({ title: "Ship it" });
 * console.log(tasks.where({ done: false }).run());
 * ```
 *
 * @module
 */

export { DatabaseError, type ErrorCode } from "./src/base/errors.ts";
export type { World } from "./src/base/world.ts";
export {
  type Database,
  type DatabaseOptions,
  type DatabaseStorage,
  openDatabase,
  type StorageStatus,
} from "./src/db/database.ts";
export type { Repository } from "./src/db/repository.ts";
export type {
  Connection,
  ConnectionStatus,
  ConnectOptions,
} from "./src/db/connect.ts";
export {
  type Acceptor,
  memoryConnector,
  messagePortConnector,
} from "./src/db/connectors.ts";
export type {
  Credentials,
  CredentialsSource,
  Login,
  LoginAnswer,
  LoginRequest,
} from "./src/db/login.ts";
export type {
  AuditReport,
  ChannelStatus,
  Incident,
  SyncPhase,
  SyncProgress,
  SyncReason,
  Unsent,
} from "./src/db/channel.ts";
export type { RepositorySync, SyncStatus } from "./src/db/repository_sync.ts";
export type { RefusedWrite } from "./src/db/refused_write.ts";
export type { Presence, PresentUser } from "./src/db/presence.ts";
export { type ServerInfo, serverInfo } from "./src/db/server_info.ts";
export type { Port } from "./sync/transport/message_port.ts";
export type {
  Connector,
  Transport,
  TransportEnd,
  TransportEvents,
} from "./sync/transport/transport.ts";
export type { Collection } from "./src/db/collection.ts";
export type { ReadableCollection } from "./src/db/readable_collection.ts";
export type { Snapshot } from "./src/db/snapshot.ts";
export type {
  CommitSummary,
  HistoryOptions,
  OperationSummary,
} from "./src/db/history.ts";
export type { StoredCollection, StoredField } from "./src/db/stored.ts";
export type {
  TransactionCollection,
  TransactionScope,
} from "./src/db/transaction_scope.ts";
export type { ItemWrite, Write } from "./src/db/write.ts";
export { defineRules, type Rules, rulesFor } from "./src/schema/rules.ts";
export type {
  CollectionRules,
  CreateContext,
  Decision,
  DeleteContext,
  PatternRules,
  RuleContext,
  RuleResult,
  RuleSession,
  UpdateContext,
  WriteRules,
} from "./src/schema/rule_types.ts";
export { avg, count, max, min, sum } from "./src/query/mod.ts";
export type {
  Explanation,
  Live,
  LiveChange,
  LiveGroups,
  Query,
  Where,
} from "./src/query/mod.ts";
export type {
  FieldDescription,
  FieldDifference,
  JsonValue,
} from "./src/schema/mod.ts";
export { defineSchema, field } from "./src/schema/mod.ts";
export type {
  CreateInput,
  Infer,
  Schema,
  UpdateInput,
} from "./src/schema/mod.ts";
export { denoStorage } from "./src/storage/deno_storage.ts";
export { memoryStorage } from "./src/storage/memory_storage.ts";
export type {
  OpenFileOptions,
  Storage,
  StorageFile,
  StorageUsage,
} from "./src/storage/storage.ts";
export type {
  Mode,
  ReplicaStatus,
  VerifyOptions,
  VerifyReport,
} from "./repo/mod.ts";
