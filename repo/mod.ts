/**
 * `repo/` is one repository as one replica knows it: commits, batches, the log,
 * the graph, the state folded from it, the checkpoint, and the door.
 *
 * A local write becomes a commit, is gathered into a batch, sealed and put into
 * the log; a foreign one enters through `admission/admit.ts` and nowhere else. Reading is
 * a lookup in tables that commits were folded into. It knows neither queries
 * nor screens, and asks its caller for clock, dice, medium and views.
 *
 * Upper floors import from this file; files in here import each other by name.
 * Its rooms are listed in docs/architecture.md. Read `commit/batch.ts`,
 * `log/log.ts`, `admission/admit.ts` and `replica.ts`, in this order.
 *
 * @module
 */

export {
  type Batch,
  batchIn,
  decodeBatch,
  patchOf,
  payloadOf,
} from "./commit/batch.ts";
export {
  type Certificate,
  decodeCertificate,
  issueCertificate,
  issueCertificateLater,
} from "./commit/certificate.ts";
export {
  chainBytes,
  chainHex,
  displayChain,
  type Position,
} from "./commit/commit.ts";
export type { Violation } from "./admission/constraints.ts";
export type { Door } from "./admission/door.ts";
export type { Includes } from "./history/logged_commits.ts";
export type { ServedOrder } from "./log/served_order.ts";
export type { LentChain } from "./graph/continuity.ts";
export type { CommitPlace } from "./refusal/void_commits.ts";
export type {
  LogPoint,
  Mirror,
  MirrorSlice,
  OwnRecord,
} from "./log/own_log.ts";
export type { Outgoing, Shipment } from "./write/outgoing.ts";
export type { ItemCommit } from "./history/item_touches.ts";
export { batchKind, isBatch, recordKind, SALVAGE } from "./log/format.ts";
export {
  type Mode,
  parseRepositoryName,
  type RepositoryName,
} from "./commit/genesis.ts";
export { lateRefusing } from "./refusal/late_refusing.ts";
export { copyLog, type LogCopy } from "./log/copy.ts";
export type { RefusedEntry } from "./refusal/refusals.ts";
export { type Done, Replica } from "./replica.ts";
export {
  deletionsIn,
  hasReplica,
  listReplicas,
  lookForReplicas,
  markDamaged,
  replicaFolder,
  setUnbornAside,
} from "./replica_list.ts";
export { REPOSITORIES } from "./replica_open.ts";
export type { ScrubFinding, ScrubPace } from "./repair/scrub.ts";
export type { Session } from "./commit/session.ts";
export type { State } from "./state/state.ts";
export type { ReplicaStatus } from "./status.ts";
export type { Table } from "./state/table.ts";
export type { ItemName } from "./state/state.ts";
export {
  ancestry,
  cellOf,
  eachChosen,
  mentions,
  stateOf,
  upTo,
} from "./history/time_travel.ts";
export type { Noted, Noting, Transaction } from "./write/transaction.ts";
// Verifying itself is loaded when it is asked for: few pages ever do.
export type { VerifyOptions, VerifyReport } from "./repair/verify.ts";
