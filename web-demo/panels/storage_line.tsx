/**
 * Where this device keeps the boards.
 *
 * @module
 */

import type { JSX } from "preact";
import { useSource } from "../state/store.ts";
import { askToKeep } from "../data/keep.ts";
import { announce, tell } from "../state/say.ts";
import { useTeam } from "../data/team_context.ts";

/** Where this device keeps the boards, as rows of a list of facts. */
export function StorageLine(): JSX.Element {
  const { db } = useTeam();
  const ask = async () => {
    if (await askToKeep(db)) announce("Kept for good");
    else tell("The browser keeps it while there is room, and no longer.");
  };
  const { backend, persisted, usedBytes, incidents } = useSource(db.storage);
  const { count } = useSource(db.tabs);
  return (
    <>
      <dt>On this device</dt>
      <dd>
        {backend === "memory"
          ? "until this page closes"
          : persisted
          ? "kept for good"
          : "kept while there is room"}
        {`, ${Math.ceil(usedBytes / 1024)}\u00a0KB `}
        {backend !== "memory" && !persisted && (
          <button
            type="button"
            class="link"
            onClick={() => void ask()}
          >
            Keep it for good
          </button>
        )}
      </dd>
      {count > 1 && (
        <>
          <dt>Pages that share it</dt>
          <dd>{count}</dd>
        </>
      )}
      {incidents.map(({ code, message }) => (
        <dd key={code} class="incident">{message}</dd>
      ))}
    </>
  );
}
