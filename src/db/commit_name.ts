/**
 * Names of commits for people and URLs: the chain in 80 hexadecimal digits, a
 * colon and the number. A chain admits one commit a number, so the name is
 * exact; a unique beginning of at least four digits is enough to ask with.
 */

import { DatabaseError } from "../base/errors.ts";
import { toHex } from "../base/bytes.ts";
import {
  chainBytes,
  chainHex,
  type Position,
  type Replica,
} from "../../repo/mod.ts";

const NAME = /^([0-9a-f]{4,80}):(\d{1,15})$/;

export function commitName({ chain, number }: Position): string {
  return `${chainHex(chain)}:${number}`;
}

export function findCommit({ graph }: Replica, name: string): Position {
  const match = NAME.exec(name);
  const start = match?.[1];
  const number = Number(match?.[2]);
  if (start === undefined) {
    throw missing(
      name,
      "it is no name of a commit, such as a write's or history's; a moment is a Date",
    );
  }
  const found: Position[] = [];
  for (const chain of graph.chains()) {
    if (toHex(chainBytes(chain.name)).startsWith(start)) {
      found.push({ chain: chain.name, number });
    }
  }
  if (found.length > 1) {
    throw missing(name, "more than one chain begins so: give more digits");
  }
  const [position] = found;
  if (position === undefined || !graph.has(position)) {
    throw missing(name, "it is not known here");
  }
  return position;
}

function missing(name: string, why: string): DatabaseError {
  return new DatabaseError(
    "commit-missing",
    `Cannot find commit ${JSON.stringify(name)}: ${why}`,
  );
}
