/** The public names that are the same in Deno and in a browser's page. */

export { DatabaseError, type ErrorCode } from "../base/errors.ts";
export type { World } from "../base/world.ts";
export type { Database, DatabaseTabs, TabsStatus } from "./face.ts";
export type {
  DatabaseStorage,
  StorageIncident,
  StorageStatus,
} from "./storage_status.ts";
export type { Repository, Synchronous } from "./repository.ts";
export type {
  Connection,
  ConnectionStatus,
  ConnectOptions,
} from "./connect.ts";
export type { DeleteOptions } from "./face.ts";
export {
  type Acceptor,
  memoryConnector,
  messagePortConnector,
  type ServerInfo,
  serverInfo,
} from "./connectors.ts";
export type {
  Credentials,
  CredentialsSource,
  Login,
  LoginAnswer,
  LoginRequest,
} from "./login.ts";
export type {
  AuditReport,
  ChannelStatus,
  Incident,
  Receipt,
  SyncPhase,
  SyncProgress,
  SyncReason,
  Unsent,
} from "./channel.ts";
export type { RepositorySync, SyncStatus } from "./repository_sync.ts";
export type { RefusedWrite } from "./refused_write.ts";
export type { Presence, PresentUser } from "./presence.ts";
export type {
  DeletedItem,
  OverwrittenEdit,
  OverwrittenListener,
  OverwrittenValue,
} from "./overwritten.ts";
export type { LeftAlone, Undo, UndoResult, UndoState } from "./undo.ts";
export type { Port } from "../../sync/transport/message_port.ts";
export type {
  Connector,
  Transport,
  TransportEnd,
  TransportEvents,
} from "../../sync/transport/transport.ts";
export type { Collection } from "./collection.ts";
export type { Violation } from "../../repo/mod.ts";
export type { ReadableCollection } from "./readable_collection.ts";
export type { Snapshot } from "./snapshot.ts";
export type {
  CommitSummary,
  HistoryOptions,
  HistoryPage,
  OperationSummary,
} from "./history.ts";
export type { StoredCollection, StoredField } from "./stored.ts";
export type {
  TransactionCollection,
  TransactionScope,
} from "./transaction_scope.ts";
export type { ItemWrite, Write } from "./write.ts";
export { defineRules, type Rules, rulesFor } from "../schema/rules.ts";
export type {
  CollectionRules,
  CreateContext,
  Decision,
  DeleteContext,
  LookUp,
  PatternRules,
  RuleContext,
  RuleResult,
  RuleSession,
  UpdateContext,
  WriteContext,
  WriteRules,
} from "../schema/rule_types.ts";
export { avg, count, max, min, sum } from "../query/mod.ts";
export type {
  Explanation,
  Live,
  LiveChange,
  Query,
  QueryStore,
  Where,
} from "../query/mod.ts";
export type {
  FieldDescription,
  FieldDifference,
  JsonValue,
} from "../schema/mod.ts";
export { defineSchema, field } from "../schema/mod.ts";
export type {
  CreateInput,
  Infer,
  RefsOf,
  Schema,
  UpdateInput,
} from "../schema/mod.ts";
export { memoryStorage } from "../storage/memory_storage.ts";
export type {
  OpenFileOptions,
  Storage,
  StorageFile,
  StorageUsage,
} from "../storage/storage.ts";
export type {
  Mode,
  ReplicaStatus,
  VerifyOptions,
  VerifyReport,
} from "../../repo/mod.ts";
