/**
 * `sheaf verify --receipt`: is it true that a server signed this, and has this
 * folder what it signed for? Two of them that tell two orders are named.
 */

import type { RepositoryPort } from "../../../repo/port.ts";
import { checkEvidence, type Shown } from "../../../sync/evidence.ts";
import { evidenceFile, isHere, shown } from "../../../sync/receipt.ts";
import { decodeResume, evidenceIn } from "../../../sync/resume.ts";
import type { Replica } from "../../../repo/mod.ts";
import { readResume } from "../../db/repository_link.ts";
import { diskStorage } from "../../storage/disk_storage.ts";
import { chainBytes } from "../../../repo/commit/commit.ts";
import { concatBytes, equalBytes, fromHex, toHex } from "../../base/bytes.ts";
import { openInput } from "../input.ts";
import { exitCodes, Failure } from "../failure.ts";
import { formatAmount } from "../figures.ts";

/** What a receipt is compared with. */
export interface ReceiptContext {
  readonly rootKey: Uint8Array;
  /** The repository here, if there is one. */
  readonly port: RepositoryPort | undefined;
  readonly nowMs: number;
  readonly line: (text: string) => void;
}

/** What incidents show. */
const FILE_BYTES_MAX = 1024 * 1024;
const DIGITS = /^([0-9a-fA-F]{2})+$/;

/** Prints what servers signed of the commits of this replica, as it keeps it: one a line. */
export function printReceipts(
  replica: Replica,
  { data, line }: { readonly data: string } & Pick<ReceiptContext, "line">,
): void {
  const kept = readResume(diskStorage(data, true), replica);
  const state = kept && decodeResume(kept.bytes);
  if (state === undefined) {
    throw new Failure(
      "not-found",
      `"${replica.name}" has no receipts: it was not connected to a server yet`,
    );
  }
  for (const one of evidenceIn(state)) line(shown(one));
}

/** Checks the files and says what they show; fails where something of it is not so. */
export async function checkReceipts(
  files: readonly string[],
  context: ReceiptContext,
): Promise<void> {
  const all: Shown[] = [];
  for (const file of files) all.push(...await readShown(file, context));
  for (const one of all) describe(one, context);
  for (const one of all) {
    for (const other of all) {
      if (isOtherOrder(one, other)) throw twoOrders(one);
    }
  }
  const { port } = context;
  if (port === undefined) return;
  for (const { ends, statement } of all) {
    if (!equalBytes(statement.genesisId, port.genesisId)) {
      throw new Failure(
        "receipt-differs",
        `It is of another repository than "${port.name}"`,
        "name the repository with --repo, or leave --data out",
        exitCodes.differs,
      );
    }
    const odd = [...ends].filter((end) => !isHere(port, ...end));
    if (odd.length === 0) continue;
    throw new Failure(
      "receipt-differs",
      `"${port.name}" has not what was signed for, of ${
        formatAmount(odd.length, "chain")
      }`,
      "a server that signed for it took it back, or this folder is older",
      exitCodes.differs,
    );
  }
}

/** What a file shows: one as an app got it, or digits, one a line. */
async function readShown(
  file: string,
  { rootKey, port, nowMs }: ReceiptContext,
): Promise<Shown[]> {
  const input = await openInput(file);
  if (input.bytes > FILE_BYTES_MAX) throw unsound(file);
  const pieces: Uint8Array[] = [];
  for await (const piece of input.pieces(() => {})) pieces.push(piece);
  const isRevoked = (key: Uint8Array) => port?.isRevoked(key) ?? false;
  return filesIn(concatBytes(...pieces)).map((bytes) => {
    const context = { rootKey, nowMs, isRevoked };
    const found = checkEvidence(bytes, context);
    if (found === undefined) throw unsound(file);
    return found;
  });
}

function filesIn(input: Uint8Array): Uint8Array[] {
  const text = new TextDecoder().decode(input);
  if (text.startsWith(evidenceFile.magic)) return [input];
  return text.trim().split(/\s+/).map((line) =>
    DIGITS.test(line) ? fromHex(line) : new Uint8Array()
  );
}

function unsound(file: string): Failure {
  return new Failure(
    "bad-receipt",
    `"${file}" shows nothing: no server of this root key signed it, or its key was revoked`,
    "give the bytes of `repo.sync.receipt()`, or the digits that an incident of `repo.sync.status` has as receipt or witness",
  );
}

function describe(
  { type, statement, ends }: Shown,
  { line, port }: ReceiptContext,
): void {
  const { wall, position, order, epoch, genesisId, issuerKey } = statement;
  line(
    `${type} of server ${toHex(issuerKey)}, ${new Date(wall).toISOString()}`,
  );
  line(`  repository ${toHex(genesisId)}`);
  line(`  epoch ${toHex(epoch)}, place ${position}, order ${toHex(order)}`);
  for (const [chain, end] of ends) {
    const here = port === undefined || isHere(port, chain, end)
      ? ""
      : "  not here";
    const name = toHex(chainBytes(chain));
    line(`  ${formatAmount(end.count, "commit")} of ${name}${here}`);
  }
}

function isOtherOrder(
  { statement: one }: Shown,
  { statement: other }: Shown,
): boolean {
  return equalBytes(one.genesisId, other.genesisId) &&
    equalBytes(one.epoch, other.epoch) && one.position === other.position &&
    !equalBytes(one.order, other.order);
}

function twoOrders({ statement: { position } }: Shown): Failure {
  return new Failure(
    "server-forked",
    `A server signed two orders of one place, ${position}`,
    "keep both files: they prove it to whoever knows the root key",
    exitCodes.differs,
  );
}
