/** The device's session, as the owner of its files reports it to a tab. */

import { isWebKey } from "../../crypto/web_keys.ts";
import { decodeCertificate, type Session } from "../../repo/mod.ts";
import { DatabaseError } from "../base/errors.ts";
import type { KeptSession } from "../db/keyring.ts";
import { signerOf } from "../db/session_key.ts";
import type { SessionReport } from "./messages.ts";

export function sessionOfReport(report: SessionReport): Session {
  const { key: { signer }, certificate, others } = keptSessionOf(report);
  const { user } = report;
  if (certificate === undefined) return { user, signer, others };
  const { user: certified } = decodeCertificate(certificate);
  return { user: certified, signer, certificate, others };
}

/** The session with its key, as files are to have it. */
export function keptSessionOf(report: SessionReport): KeptSession {
  const { key, publicKey, certificate, others } = report;
  const isSeed = key instanceof Uint8Array && key.length === 32;
  if (!isSeed && !isWebKey(key)) {
    throw new DatabaseError(
      "login-failed",
      "The key of this device cannot be used in this page: reload it",
    );
  }
  const signer = signerOf(key, publicKey);
  return { key: { signer, secret: key }, certificate, others };
}
