/**
 * What a server signed of a device's own commits, for an app that keeps it or
 * shows it to somebody.
 *
 * Loaded when an app asks. It checks nothing anew: what is kept was checked when
 * it came, and whoever is shown it checks it by himself (`sync/evidence.ts`).
 */

import { chainBytes, sessionKeyOf } from "../repo/commit/commit.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { equalBytes, toHex } from "../src/base/bytes.ts";
import { encodeFile } from "../src/base/layout.ts";
import { type Evidence, evidenceFile, isHere } from "./receipt.ts";
import { decodeResume, evidenceIn } from "./resume.ts";
import { readSummary } from "./summary.ts";
import { decodeWitness } from "./witness.ts";

/** What a server signed of this device's commits: whoever knows the root key can check it. */
export interface Receipt {
  /** A file as `sheaf verify --receipt FILE` takes it; at most 160 KiB, most often some 400 bytes. */
  readonly bytes: Uint8Array;
  /** Public key of the session of the server that signed, in 64 hexadecimal digits. */
  readonly server: string;
  /** The life of the server's log in which the position is one, in 32 hexadecimal digits. */
  readonly epoch: string;
  /** Up to where in its log, in bytes: what it accepted before stands. */
  readonly position: number;
  /** The order of acceptance up to there, a hash in 64 hexadecimal digits. */
  readonly order: string;
  /** When, by the server's clock. */
  readonly at: Date;
  /**
   * The last commit that it covers of each own chain, as `repository.history()` names
   * commits: whatever is before it in its chain is covered, too. The chain that it
   * goes furthest in comes first.
   */
  readonly commits: readonly [string, ...string[]];
}

/** Who is asked for one. */
export interface ReceiptHolder {
  readonly replica: {
    readonly session: { readonly signer: { readonly publicKey: Uint8Array } };
    check(): void;
    port(): Pick<RepositoryPort, "endOf">;
  };
  /** What is kept of the last connection, or of this one. */
  readonly kept: () => Uint8Array | undefined;
}

/**
 * The newest that a device keeps.
 *
 * @param channel asked in its place where somebody else keeps what is known of the server
 */
export async function newestReceipt(
  { replica, kept }: ReceiptHolder,
  channel?: { receipt?(): Promise<Receipt | undefined> },
): Promise<Receipt | undefined> {
  replica.check();
  if (channel?.receipt !== undefined) return await channel.receipt();
  const { publicKey } = replica.session.signer;
  const port = replica.port();
  for (const evidence of evidenceOf(kept())) {
    const { statement, summary } = evidence;
    const [first, ...others] = [...readSummary(summary)].filter((end) =>
      equalBytes(sessionKeyOf(end[0]), publicKey) && isHere(port, ...end)
    ).sort(([, one], [, other]) => other.count - one.count)
      .map(([chain, { count }]) => `${toHex(chainBytes(chain))}:${count - 1}`);
    if (first === undefined) continue;
    const { issuerKey, epoch, position, order, wall } = decodeWitness(
      statement,
    );
    return Object.freeze({
      bytes: encodeFile(evidenceFile, evidence),
      server: toHex(issuerKey),
      epoch: toHex(epoch),
      position,
      order: toHex(order),
      at: new Date(wall),
      commits: [first, ...others] as const,
    });
  }
}

/** What is kept, the newest first: nothing of a shortcut that is damaged, or of another version. */
function evidenceOf(kept: Uint8Array | undefined): Evidence[] {
  try {
    return kept === undefined ? [] : evidenceIn(decodeResume(kept)).reverse();
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
