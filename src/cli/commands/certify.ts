/**
 * `sheaf certify`: makes a key that may erase, and nothing else, until a date: so
 * that whoever answers people's requests does not hold the root key.
 */

import { createSigner, generateKeyPair } from "../../../crypto/mod.ts";
import { issueCertificate } from "../../../repo/commit/certificate.ts";
import {
  readRootKeyFile,
  writeKeyFile,
} from "../../../server/root_key_file.ts";
import { toHex } from "../../base/bytes.ts";
import { wallMax } from "../../base/hlc.ts";
import { limits } from "../../base/limits.ts";
import { parseUser } from "../../db/options.ts";
import { escapeControls } from "../output.ts";
import { type Context, withStored } from "../session.ts";
import { missing, rootSecretOf } from "./redact.ts";

export interface CertifyOptions {
  readonly data: string;
  readonly rootKey?: string;
  readonly user: string;
  readonly days: number;
}

const MS_PER_DAY = 86_400_000;

export async function runCertify(
  { out, err }: Context,
  path: string,
  options: CertifyOptions,
): Promise<void> {
  const user = parseUser(options.user);
  const secret = options.rootKey === undefined
    ? await withStored(options, rootSecretOf)
    : await readRootKeyFile(options.rootKey) ?? missing(options.rootKey);
  const { secretKey, publicKey } = generateKeyPair((target) =>
    crypto.getRandomValues(target)
  );
  // A clock that is a little behind is no reason to wait.
  const notBefore = Date.now() - limits.clockAheadMsMax;
  const notAfter = Math.min(Date.now() + options.days * MS_PER_DAY, wallMax);
  const { bytes } = issueCertificate({
    ...{ sessionKey: publicKey, user, claims: "{}", notBefore, notAfter },
    ...{ mayIssue: false, mayRedact: true },
  }, createSigner(secret));
  await writeKeyFile(path, { secret: secretKey, certificate: bytes });
  const until = new Date(notAfter).toISOString();
  out.line(`${escapeControls(path)} may erase until ${until}`);
  out.line(`session key ${toHex(publicKey)}`);
  err.line("whoever has the file can erase: if it is stolen, revoke this key");
}
