/**
 * Refusals and cuts where their commits were written: what goes is voided, what
 * may go on is written again, and who shows refusals is told.
 */

import type { RepositoryPort } from "../port.ts";
import type { Writer } from "../write/writer.ts";
import { cut, type VoidParts } from "./cut.ts";
import { refuse } from "./refuse.ts";
import { reissue } from "./reissue.ts";
import type { Cut } from "./void_commits.ts";

export interface AuthorParts extends VoidParts {
  readonly writer: Writer;
  /** Peers are shown what changed. */
  readonly forget: () => void;
  /** Other refusals stand than before. */
  readonly refused: () => void;
  /** Do records come in after a repair that may tell what was written again? */
  readonly isReadmitting: boolean;
}

/** As {@linkcode RepositoryPort.refuse} has it. */
export function refuseHere(
  parts: AuthorParts,
  ...[chain, refused]: Parameters<RepositoryPort["refuse"]>
): void {
  const { writer } = parts;
  const keys = writer.ownKeys();
  const done = refuse(parts, chain, refused, {
    signer: writer.session.signer,
    isOwn: (key) => keys.has(key),
    canSeal: (name) => writer.canSeal(name),
  });
  if (done === undefined) return;
  parts.forget();
  done.tell();
  if (done.stuck.length > 0) cutOnly(parts, done.stuck);
  reissueAll(parts);
  parts.refused();
}

/** As {@linkcode RepositoryPort.cut} has it. */
export function cutHere(
  parts: AuthorParts,
  ...[cuts, others]: Parameters<RepositoryPort["cut"]>
): void {
  cutOnly(parts, cuts, others);
  reissueAll(parts);
}

function cutOnly(
  parts: AuthorParts,
  ...[cuts, others]: Parameters<RepositoryPort["cut"]>
): void {
  const { writer, loaded: { voided } } = parts;
  const keys = writer.ownKeys();
  if (others !== "foreign") {
    for (const { chain } of cuts) keys.add(chain.slice(0, 32));
  }
  const { chain } = writer.written;
  const done = cut(parts, {
    cuts,
    isOwn: (key) => keys.has(key),
    // What others have comes again from them.
    isReissued: (chain, number) =>
      others !== "fork" ||
      !cuts.some((one) => one.chain === chain && number < one.from),
    isForAll: others !== undefined,
    leave: (cuts) => writer.beginBeyond(cuts),
  });
  if (done === undefined) return;
  const { written } = writer;
  if (others === "fork" && written.chain !== chain) {
    voided.replacements.add(written.chain);
  }
  parts.forget();
  done.tell();
}

/** Writes what waits for it again. */
function reissueAll(
  { loaded, writer, fence, isReadmitting }: AuthorParts,
): void {
  const { unissued } = loaded.voided;
  if (unissued.length === 0 || isReadmitting) return;
  reissue(loaded, writer, unissued);
  fence?.();
}

/** Ends what a crash left of a refusal or a cut; was anything left? */
export function goOn(parts: AuthorParts): boolean {
  const { voided, graph, mode, credentials: { voids } } = parts.loaded;
  const { unissued } = voided;
  if (unissued.length === 0) return false;
  const cuts = unissued.filter(({ chain, number, address }) =>
    mode === "default" && number < graph.lengthOf(chain) &&
    !voided.isCut(chain, number, address) && !voids.covers(chain, number)
  ).map(({ chain, number }): Cut => ({ chain, from: number }));
  cutHere(parts, cuts);
  return true;
}
