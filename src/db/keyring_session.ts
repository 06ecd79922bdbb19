/**
 * Sessions of a keyring: how one is made, certified by the root where its key
 * is here, and what it keeps of what it was.
 *
 * @module
 */

import { wallMax } from "../base/hlc.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { KeyVault } from "../storage/key_vault.ts";
import { decodeCertificate, issueCertificateLater } from "../../repo/mod.ts";
import type { Keys, StoredSession } from "./keyring_file.ts";
import { newKey, type SessionKey, storedKeyOf } from "./session_key.ts";

/** What is asked of a session. */
export interface SessionOptions {
  readonly user: string;
  /** May the session certify others? For servers. */
  readonly mayIssue?: boolean | undefined;
  /** Keeps new keys, where there is one. */
  readonly vault?: KeyVault | undefined;
}

/** A session whose key is at hand. */
export type OpenSession = Omit<StoredSession, "key"> & {
  readonly key: SessionKey;
};

/** As the file has it. */
export function storedOf(session: OpenSession): StoredSession {
  return { ...session, key: storedKeyOf(session.key) };
}

/** Is nothing to be done for this session that its folder could do? */
export function isFit(
  { certificate }: StoredSession,
  root: SessionKey | undefined,
  { mayIssue }: SessionOptions,
): boolean {
  if (root === undefined) return true;
  if (certificate === undefined) return false;
  return mayIssue !== true || decodeCertificate(certificate).mayIssue;
}

/** A session with a certificate, where the root's key is here; else one without. */
export async function newSession(
  root: SessionKey | undefined,
  world: World,
  { user, mayIssue = false, vault }: SessionOptions,
  known?: StoredSession,
  knownKey?: SessionKey,
): Promise<OpenSession> {
  // A key that nobody certified yet is kept: it has written.
  const isBare = known !== undefined && known.certificate === undefined;
  const key = (isBare ? knownKey : undefined) ?? await newKey(world, vault);
  const isLost = isBare && knownKey === undefined;
  const past = isLost ? [known.key.publicKey] : [];
  return {
    user,
    key,
    certificate: root && await certify(key, root, user, mayIssue),
    others: pastOf(known),
    lost: [...known?.lost ?? [], ...past].slice(-limits.pastCertificatesMax),
  };
}

async function certify(
  { signer }: SessionKey,
  root: SessionKey,
  user: string,
  mayIssue: boolean,
): Promise<Uint8Array> {
  const { bytes } = await issueCertificateLater({
    sessionKey: signer.publicKey,
    user,
    claims: "{}",
    mayIssue,
    notBefore: 0,
    notAfter: wallMax,
  }, root.signer);
  return bytes;
}

/** What a session keeps of what it was. */
function pastOf(known: StoredSession | undefined): Uint8Array[] {
  const past = [...known?.others ?? []];
  if (known?.certificate !== undefined) past.push(known.certificate);
  return past.slice(-limits.pastCertificatesMax);
}

/** The keys with another session of its user. */
export function withSession(keys: Keys, session: StoredSession): Keys {
  const others = keys.sessions.filter(({ user }) => user !== session.user);
  return { ...keys, sessions: [...others, session] };
}
