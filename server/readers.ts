/**
 * Who may read what, as the rules say.
 *
 * A rule that looks nothing up is asked before anything looks whether there is
 * such a repository (law 8). Where it looks items up, the repository is opened
 * for that; what is not there holds none, and gets the answer that they give.
 * The right then lasts as long as what was looked up says so.
 *
 * While commits are missing that are known to exist, such rules are not asked:
 * who was removed would be a member again until his removal has come back. Nor
 * would those be let in who can show what there was: whoever comes may prove that
 * and bring it back, reads nothing, and brings nothing else.
 */

import type { World } from "../src/base/world.ts";
import type { Cell } from "../src/schema/cell.ts";
import type { Cells } from "../src/schema/judge.ts";
import type { RuleSession } from "../src/schema/rule_types.ts";
import type { RepositoryRules, Rules } from "../src/schema/rules.ts";
import type { RepositoryName } from "../repo/mod.ts";
import { rights } from "../sync/conversation.ts";
import type { Access, Declined } from "../sync/host_hooks.ts";
import type { Hub } from "./hub.ts";
import type { RestoreReport } from "./restore_report.ts";

export interface ReaderParts {
  readonly rules: Rules;
  readonly hub: Pick<Hub, "has" | "replicaOf" | "use">;
  readonly restores: Pick<RestoreReport, "isAwaited">;
  readonly world: Pick<World, "now">;
}

type Given = { readonly rights: number };

export class Readers {
  readonly #parts: ReaderParts;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
  }

  /** `given`, if the session may read. */
  authorize(
    session: RuleSession,
    name: RepositoryName,
    given: Given,
  ): Access | Promise<Access> {
    const { rules, hub, world } = this.#parts;
    const asked = rules.of(name);
    const decision = asked.mayRead(session, world.now());
    if (decision !== undefined) {
      return decision.allowed ? given : forbidden(decision.reason);
    }
    if (!hub.has(name)) return this.#lookUp(asked, session, name, given, empty);
    return hub.use(
      name,
      ({ state }) =>
        Promise.resolve(this.#lookUp(asked, session, name, given, state)),
    );
  }

  #lookUp(
    rules: RepositoryRules,
    session: RuleSession,
    name: RepositoryName,
    given: Given,
    cells: Cells,
  ): Access {
    const { restores, hub, world } = this.#parts;
    if (restores.isAwaited(name)) {
      const ended = () => restores.isAwaited(name) ? undefined : judgeable;
      return { rights: rights.restore | rights.write, ended };
    }
    const ask = (seen: SeenCells) => {
      const decision = rules.mayRead(session, world.now(), seen);
      if (decision?.allowed) return undefined;
      return forbidden(decision?.reason ?? "Its rule asks for more");
    };
    let seen = new SeenCells(cells);
    const refused = ask(seen);
    if (refused !== undefined) return refused;
    const ended = () => {
      const now = hub.replicaOf(name)?.state;
      const isOver = now !== undefined && !restores.isAwaited(name) &&
        !seen.isSameIn(now);
      if (!isOver) return undefined;
      const fresh = new SeenCells(now);
      const refused = ask(fresh);
      if (refused === undefined) seen = fresh;
      return refused?.declined;
    };
    return { ...given, ended };
  }
}

/** Cells, and which of them somebody has looked at. */
class SeenCells implements Cells {
  readonly #cells: Cells;
  readonly #seen: [collection: string, id: string, cell: Cell | undefined][] =
    [];

  constructor(cells: Cells) {
    this.#cells = cells;
  }

  cellOf(collection: string, id: string): Cell | undefined {
    const cell = this.#cells.cellOf(collection, id);
    this.#seen.push([collection, id, cell]);
    return cell;
  }

  /** Is what was looked at the same there? A cell that has changed is another object. */
  isSameIn(cells: Cells): boolean {
    return this.#seen.every(([collection, id, cell]) =>
      cells.cellOf(collection, id) === cell
    );
  }
}

const empty: Cells = { cellOf: () => undefined };

const judgeable: Declined = {
  code: "unavailable",
  detail: "Who may read can be judged now",
};

export function forbidden(detail: string): {
  readonly declined: { readonly code: string; readonly detail: string };
} {
  return { declined: { code: "forbidden", detail } };
}
