/**
 * `repo/` is one repository as one replica knows it: commits, batches, the log,
 * the graph, the state folded from it, the checkpoint, and the door.
 *
 * A local write becomes a commit, is gathered into a batch, sealed and put into
 * the log; a foreign one enters through `admit.ts` and nowhere else. Reading is
 * a lookup in tables that commits were folded into. It knows neither queries
 * nor screens, and asks its caller for clock, dice, medium and views.
 *
 * Upper floors import from this file; files in here import each other by name.
 * Read `batch.ts`, `log.ts`, `admit.ts` and `replica.ts`, in this order.
 *
 * @module
 */

export { decodeBatch, payloadOf } from "./batch.ts";
export {
  type Certificate,
  decodeCertificate,
  issueCertificate,
  issueCertificateLater,
} from "./certificate.ts";
export { chainBytes, chainHex, displayChain, type Position } from "./commit.ts";
export type { Violation } from "./constraints.ts";
export type { Door } from "./door.ts";
export type { CommitPlace } from "./commit_place.ts";
export type { LoggedBatch } from "./commit_reader.ts";
export type { Epoch, EpochFacts } from "./epoch.ts";
export type { LentChain } from "./continuity.ts";
export type { Followed } from "./device.ts";
export type { LogPoint, Mirror, MirrorSlice, OwnRecord } from "./own_log.ts";
export type { Outgoing, Shipment } from "./outgoing.ts";
export type { ItemCommit } from "./item_touches.ts";
export { recordKind, SALVAGE } from "./log_format.ts";
export {
  type Mode,
  parseRepositoryName,
  type RepositoryName,
} from "./genesis.ts";
export { provideWithdrawing, unloaded } from "./late_withdrawing.ts";
export { copyLog, type LogCopy } from "./log_copy.ts";
export type { RefusedEntry } from "./refusals.ts";
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
export type { ScrubFinding, ScrubPace } from "./scrub.ts";
export type { Session } from "./session.ts";
export type { State } from "./state.ts";
export type { ReplicaStatus } from "./status.ts";
export type { Table } from "./table.ts";
export type { ItemName } from "./state.ts";
export {
  ancestry,
  cellOf,
  concerns,
  type Includes,
  itemOf,
  mentions,
  stateOf,
  upTo,
} from "./time_travel.ts";
export type { Noted, Noting, Transaction } from "./transaction.ts";
// Verifying itself is loaded when it is asked for: few pages ever do.
export type { VerifyOptions, VerifyReport } from "./verify.ts";
