/**
 * Genesis: a repository's first record, its name, root public key and mode.
 *
 * Its id stands under every later hash, so that no batch can be moved to
 * another repository or mode. The mode is never negotiated. The same name, root
 * key and mode give the same genesis everywhere.
 */

import { sha256 } from "../../crypto/sha256.ts";
import { encodeText, toHex } from "../../src/base/bytes.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import {
  choice,
  copied,
  decodeRecord,
  encodeRecord,
  type Field,
  readText,
  struct,
  unfit,
} from "../../src/base/layout.ts";

declare const checked: unique symbol;

/** 1 to 8 segments of `[A-Za-z0-9_-]{1,64}` joined by `/`; only its parser makes one. */
export type RepositoryName = string & { readonly [checked]: "RepositoryName" };

/** What a repository promises; see the modes in docs/architecture.md. */
export type Mode = "default" | "trusted" | "fast";

export interface Genesis {
  readonly name: RepositoryName;
  /** The key that every certificate goes back to: 32 bytes. */
  readonly rootKey: Uint8Array;
  readonly mode: Mode;
}

const GENESIS_DOMAIN = encodeText("sheaf genesis 1\n");
const SEGMENT = /^[A-Za-z0-9_-]{1,64}$/;

function isRepositoryName(value: unknown): value is RepositoryName {
  if (typeof value !== "string") return false;
  const segments = value.split("/", limits.nameSegmentsMax + 1);
  return segments.length <= limits.nameSegmentsMax &&
    segments.every((segment) => SEGMENT.test(segment));
}

/** Checks a repository's name; `DatabaseError` "invalid-name" when it is none. */
export function parseRepositoryName(value: unknown): RepositoryName {
  if (isRepositoryName(value)) return value;
  throw new DatabaseError(
    "invalid-name",
    `Cannot use ${display(value)} as a repository name: it takes 1 to ` +
      `${limits.nameSegmentsMax} segments of 1 to 64 letters, digits, "_" or ` +
      `"-", joined by "/"`,
  );
}

function display(value: unknown): string {
  if (typeof value !== "string") return `a value of type ${typeof value}`;
  return JSON.stringify(value.length > 80 ? value.slice(0, 80) + "…" : value);
}

/** The folder of a repository: 32 hexadecimal digits that tell nothing of its name. */
export function folderOf(name: RepositoryName): string {
  return toHex(sha256(encodeText(name)).subarray(0, 16));
}

const FORMAT = 1;

const repositoryName: Field<RepositoryName> = {
  says: "text",
  write: (writer, name) => writer.text(name),
  read(reader) {
    const name = readText(reader, limits.nameSegmentsMax * 65);
    if (!isRepositoryName(name)) throw unfit("a name is none");
    return name;
  },
};

export const genesisLayout: Field<Genesis> = struct({
  mode: choice([undefined, "default", "trusted", "fast"]),
  rootKey: copied(32),
  name: repositoryName,
});

export function encodeGenesis(genesis: Genesis): Uint8Array<ArrayBuffer> {
  return encodeRecord(FORMAT, genesisLayout, genesis);
}

export function decodeGenesis(bytes: Uint8Array): Genesis {
  return decodeRecord(FORMAT, genesisLayout, bytes);
}

/** The hash that stands under all others of the repository. */
export function genesisId(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return sha256(GENESIS_DOMAIN, bytes);
}
