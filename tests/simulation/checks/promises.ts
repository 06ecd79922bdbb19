/**
 * Nothing that was acknowledged is lost: what was durable survives its
 * author's crashes, what was synced also the server's disk, and what was
 * refused is nowhere.
 *
 * @module
 */

import type { Client } from "../client.ts";
import { Mark, shows } from "../collections.ts";
import { check } from "../failure.ts";
import type { Entry } from "../ledger.ts";
import type { Turn } from "../ledger.ts";
import type { Cast } from "../simulation.ts";
import type { Stage } from "../stage.ts";

/** Compares the ledger with what is there. */
export function checkPromises(cast: Cast): void {
  const { stage, server, clients } = cast;
  const byName = new Map(clients.map((client) => [client.name, client]));
  for (const entry of stage.ledger.entries) {
    const author = byName.get(entry.author)!;
    const served = server.replica(entry.repository);
    if (served === undefined) continue;
    checkEntry(entry, shows(served, entry.mark), author, cast);
  }
  if (stage.plan.mode === "fast") checkSuffixes(cast, byName);
  for (const name of stage.repositories) checkKnown(name, cast);
}

function checkEntry(
  entry: Entry,
  isThere: boolean,
  author: Client,
  { stage }: Cast,
): void {
  const { mark, repository, refused, refusedAt, turn } = entry;
  const what = () =>
    `${mark} in ${repository}, made at ${
      entry.madeMs.toFixed(0)
    } ms in life ${entry.life}`;
  if (turn !== undefined) {
    // What was taken back before it was refused is nowhere either way; tried again may be either of the two.
    if (entry.isRetried) return;
    // That a turn was refused may be heard in a later life than it was made in.
    const isRefused = author.isRevoked ||
      author.refusedMarks(repository).has(mark);
    return checkTurn(turn, isThere, isRefused, { stage, what });
  }
  if (refused !== undefined) {
    // One disk of the server had it before the revocation, another one refused it after.
    const isOnOther = author.isRevoked && stage.blames.has("replaced");
    // What one server had accepted stands where a witness shows it, whatever the next one said.
    const isBack = stage.judge?.isShown(mark) ||
      // What its author wrote again, after a loss, may come as it was: he had sent it, or somebody else had it from the server …
      refusedAt && stage.judge?.standsElsewhere(mark, refusedAt) ||
      // … or has a copy of his files.
      author.isCopied && stage.blames.has("wipe");
    // What somebody else hands in again is judged anew.
    check(
      !isThere || isOnOther || isBack || stage.relayed.has(mark),
      "promises",
      () => `${what()} was refused and is there`,
    );
    return;
  }
  if (isThere || stage.plan.mode === "fast") return;
  // What only a revoked session still has, when the server's disk was lost, may wait in quarantine.
  const mayWait = author.isRevoked && stage.blames.has("wipe");
  const isTold = entry.isGone || author.refusedMarks(repository).has(mark);
  // What no witness has shown of a server that is lost is judged anew: then its author is told.
  const isAnew = isTold && stage.blames.has("wipe") &&
    !stage.judge?.isShownBy(mark, entry.toldMs);
  check(
    !entry.isSynced || mayWait || isAnew,
    "promises",
    () => `${what()} was synced and is gone`,
  );
  if (!entry.isDurable || isTold) return;
  check(
    author.isRevoked && author.shows(repository, mark),
    "promises",
    () => `${what()} was durable and is gone`,
  );
}

/** What was taken back is gone, and what was done again is there, once that was durable. */
function checkTurn(
  { isDurable, isSynced, isRedo, refused }: Turn,
  isThere: boolean,
  isRefused: boolean,
  { stage, what }: { readonly stage: Stage; readonly what: () => string },
): void {
  const isBound = isSynced || isDurable && stage.plan.mode !== "fast";
  if (refused !== undefined || isRefused || !isBound) return;
  check(
    isThere === isRedo,
    "promises",
    () => `${what()} was ${isRedo ? "done again" : "taken back"} in vain`,
  );
}

/** In Fast mode a crash may take the last writes of a life: those behind a gap must be gone as well. */
function checkSuffixes(
  { stage, server }: Cast,
  byName: ReadonlyMap<string, Client>,
): void {
  const gaps = new Map<string, string>();
  for (const entry of stage.ledger.entries) {
    const { mark, repository, author, life } = entry;
    const isRefused = entry.refused !== undefined || entry.isRetried ||
      entry.isGone || byName.get(author)!.refusedMarks(repository).has(mark);
    if (isRefused || entry.turn) continue;
    const served = server.replica(repository);
    if (served === undefined) continue;
    const key = `${repository} ${author} ${life}`;
    const gap = gaps.get(key);
    if (!shows(served, mark)) gaps.set(key, gap ?? mark);
    else {check(gap === undefined, "promises", () =>
        `${mark} of ${repository} is there, but ${gap} before it is not`);}
  }
}

/** Whatever is there, somebody wrote. */
function checkKnown(name: string, { stage, server }: Cast): void {
  const table = server.replica(name)?.state.find(Mark.name);
  for (const id of table?.ids() ?? []) {
    check(
      stage.ledger.find(id)?.repository === name,
      "promises",
      () => `nobody wrote ${id} in ${name}`,
    );
  }
}
