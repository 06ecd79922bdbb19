/**
 * After a repair: the first records of a log, written again where the damage
 * took them, so that what is behind them still connects.
 *
 * The genesis follows from what the opener knows, and the certificates of its
 * own session are at hand; those of others are gone with their records.
 *
 * @module
 */

import { encodeGenesis, type Mode } from "./genesis.ts";
import type { Log } from "./log.ts";
import { recordKind } from "./log_format.ts";
import type { Recovery } from "./log_recovery.ts";
import type { OpenReplicaOptions } from "./replica_open.ts";
import { certificatesOf } from "./session.ts";

/** What has been read of a log, and takes records. */
export interface Started {
  /** Is it known which repository this is? */
  readonly hasBegun: boolean;
  /** Is this certificate known? */
  isCertified(certificate: Uint8Array): boolean;
  /** Takes one record. */
  record(kind: number, body: Uint8Array, address: number): void;
}

/** Writes what a repair lost of the first records. */
export function restoreStart(
  started: Started,
  log: Log,
  { survivors }: Recovery,
  options: OpenReplicaOptions,
): void {
  const write = (kind: number, body: Uint8Array) =>
    started.record(kind, body, log.append(kind, [body]));
  if (!started.hasBegun) {
    const { name, rootKey } = options;
    const mode = modeOf(survivors, options.mode);
    write(recordKind.genesis, encodeGenesis({ name, rootKey, mode }));
  }
  for (const { bytes } of certificatesOf(options.session)) {
    if (!started.isCertified(bytes)) write(recordKind.certificate, bytes);
  }
}

/** Between the unsigned modes only the caller knows; in doubt it is the safer one. */
function modeOf(survivors: Recovery["survivors"], mode: Mode): Mode {
  const kinds = new Set(survivors.map(({ kind }) => kind));
  if (kinds.has(recordKind.signedBatch)) return "default";
  const isUnsigned = kinds.has(recordKind.unsignedBatch);
  return isUnsigned && mode === "default" ? "trusted" : mode;
}
