/**
 * What rules would have said of a stored repository, and which of those commits
 * nobody judged because they came back after a loss.
 */

import type { Database } from "../src/db/database.ts";
import { replicaOf } from "../src/db/internals.ts";
import type { Repository } from "../src/db/repository.ts";
import {
  type AuditFinding,
  type AuditOptions,
  type AuditReport,
  RuleAudit,
} from "../repo/admission/rule_audit.ts";
import { KnownLoss, SERVER_REPOSITORY } from "./books.ts";
import { idFrom } from "./restore_report.ts";
import { type ChainEnd, chainEndsOf } from "../sync/summary.ts";

/** As a rule's audit has it, with what the books know of the commit. */
export interface BookedFinding extends AuditFinding {
  /** Did it come back after a loss that is not made good yet? No rule was asked then. */
  readonly isRestored: boolean;
}

/** What a {@linkcode BookedAudit} reports to. */
export interface BookedOptions extends Omit<AuditOptions, "found"> {
  readonly found: (finding: BookedFinding) => void;
}

/** Asks rules about everything in a repository, and about what comes to it; reports, and changes nothing. */
export class BookedAudit {
  readonly #audit: RuleAudit;
  #lost: ReadonlyMap<string, ChainEnd> = new Map();

  constructor(options: BookedOptions) {
    const found = (finding: AuditFinding) => {
      const end = this.#lost.get(finding.chain)?.count ?? 0;
      options.found({ ...finding, isRestored: finding.number < end });
    };
    this.#audit = new RuleAudit({ ...options, found });
  }

  /** How much was judged. */
  get report(): AuditReport {
    return this.#audit.report;
  }

  /**
   * Judges what it has not judged yet. False where that is another log than before: nothing was judged.
   *
   * @param isGoing does somebody write to it?
   */
  async run(
    database: Database,
    repository: Repository,
    isGoing: boolean,
  ): Promise<boolean> {
    const { loaded } = replicaOf(repository);
    if (!this.#audit.goesOn(loaded)) return false;
    this.#lost = await lossOf(database, repository.name);
    await this.#audit.run(loaded, pause, isGoing);
    return true;
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/** How far chains went before a loss, where the books of a server say so. */
async function lossOf(
  database: Database,
  name: string,
): Promise<ReadonlyMap<string, ChainEnd>> {
  if (!database.repositories().includes(SERVER_REPOSITORY)) return new Map();
  const books = await database.repository(SERVER_REPOSITORY);
  const isThere = books.collections().some((one) =>
    one.name === KnownLoss.name
  );
  if (!isThere) return new Map();
  const loss = books.storedCollection(KnownLoss.name).get(idFrom(name));
  const summary = (loss as { readonly summary?: unknown } | undefined)?.summary;
  return summary instanceof Uint8Array ? chainEndsOf(summary) : new Map();
}
