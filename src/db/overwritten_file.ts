/**
 * The `overwritten` file of a repository: own edits that lost and are not taken
 * yet, and up to where the log was looked at.
 *
 * `{ collections: [[name, address, crc, dropped]], losses: [{ chains, loss }] }` as
 * `local_json.ts` writes it, oldest first.
 *
 * Architecture invariant: it says no more than the log does up to those
 * addresses: without it what is older is not told, and nothing else is lost.
 *
 * @module
 */

import type { LogPoint } from "../../repo/mod.ts";
import { decodeLocal, encodeLocal, pack, unpack } from "./local_json.ts";
import type { Loss } from "./overwritten_finder.ts";

/** A loss as text. */
export type LossText = string;

/** One collection in which somebody listened. */
export interface KeptCollection {
  readonly name: string;
  /** Up to where the log was looked at. */
  readonly to: LogPoint;
  /** Losses that went before anybody took them. */
  readonly dropped: number;
}

/** What the file says. */
export interface KeptLosses {
  readonly collections: readonly KeptCollection[];
  readonly losses: readonly Loss[];
}

/** A loss as it stands in the file. */
export function textOf(loss: Loss): LossText {
  const chains: string[] = [];
  return JSON.stringify({ loss: pack(loss, chains), chains });
}

/** The bytes of the file. */
export function encodeLosses(
  collections: readonly KeptCollection[],
  losses: readonly LossText[],
  genesisId: Uint8Array,
): Uint8Array {
  const heads = collections.map(({ name, to, dropped }) => [
    name,
    to.address,
    to.crc,
    dropped,
  ]);
  const text = `{"collections":${JSON.stringify(heads)},"losses":[${losses}]}`;
  return encodeLocal(text, genesisId);
}

/** Reads it; `undefined` where it is of no use for this repository. */
export function decodeLosses(
  bytes: Uint8Array,
  genesisId: Uint8Array,
): KeptLosses | undefined {
  return decodeLocal(bytes, genesisId, ({ collections, losses }) => {
    if (!Array.isArray(collections) || !Array.isArray(losses)) {
      throw new SyntaxError("Cannot read losses");
    }
    return {
      collections: collections.map(([name, address, crc, dropped]) => ({
        name: String(name),
        to: { address: Number(address), crc: Number(crc) },
        dropped: Number(dropped),
      })),
      losses: losses.map(({ loss, chains }) => parseLoss(unpack(loss, chains))),
    };
  });
}

function parseLoss(value: unknown): Loss {
  const isLoss = typeof value === "object" && value !== null &&
    "own" in value && "by" in value && "id" in value;
  if (!isLoss) throw new SyntaxError("Cannot read a loss");
  return { slot: undefined, before: undefined, ...value } as Loss; // Proof: its checksum was right, so it was written here.
}
