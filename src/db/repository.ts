/**
 * The repository that users hold: it only wires and delegates.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
import { QueryEngine } from "../query/engine.ts";
import type { PrepareContext } from "../schema/prepare.ts";
import type { AnySchema, FieldKindsOf } from "../schema/schema.ts";
import type { Mode } from "../../repo/genesis.ts";
import type { Replica, ReplicaStatus } from "../../repo/replica.ts";
import type { VerifyOptions, VerifyReport } from "../../repo/verify.ts";
import { Collection } from "./collection.ts";
import { Editor } from "./editor.ts";
import { engineOptions } from "./engines.ts";
import {
  type CommitSummary,
  type HistoryOptions,
  repositoryHistory,
} from "./history.ts";
import type { Schemas } from "./schemas.ts";
import { openSnapshot, type Snapshot } from "./snapshot.ts";
import { TransactionScope } from "./transaction_scope.ts";
import { Write } from "./write.ts";
