/**
 * `sheaf verify`: hashes and verifies everything again.
 *
 * `sheaf verify --rules`: where these rules would have decided otherwise than
 * the server that took the commits did.
 */

import type { VerifyReport } from "../../../repo/mod.ts";
import { exitCodes, Failure } from "../failure.ts";
import { formatAmount, formatBytes, formatDuration } from "../figures.ts";
import { withProgress } from "../progress.ts";
import {
  type CommonOptions,
  type Context,
  withRepository,
} from "../session.ts";
import type { BookedFinding } from "../../../server/audit.ts";
import type { AuditReport } from "../../../repo/admission/rule_audit.ts";
import { commitName } from "../../db/commit_name.ts";
import type { Repository } from "../../db/repository.ts";
import { escapeControls } from "../output.ts";
import { loadModule, rulesModule } from "../load_module.ts";

export interface VerifyOptions extends CommonOptions {
  readonly rules?: string;
}

export function runVerify(
  context: Context,
  options: VerifyOptions,
): Promise<void> {
  if (options.rules !== undefined) {
    return runAudit(context, options, options.rules);
  }
  return withRepository(options, async (repository) => {
    const begun = performance.now();
    const found = await withProgress(
      "verifying",
      context,
      (onProgress) => repository.verify({ onProgress, signal: context.signal }),
    );
    const took = formatDuration(performance.now() - begun);
    const { damage } = found;
    if (damage !== undefined) {
      throw new Failure(
        "log-damaged",
        `"${repository.name}" is damaged ${whereIs(damage)}: ${damage.reason}`,
        "keep a copy of the folder; opening it with repair: true sets the damage aside",
      );
    }
    context.out.line(
      `${repository.name} is whole, ${describe(found)}, ${took}`,
    );
  });
}

function describe({ commits, signatures, bytes }: VerifyReport): string {
  return [
    formatAmount(commits, "commit"),
    formatAmount(signatures, "signature"),
    formatBytes(bytes),
  ].join(", ");
}

function whereIs({ address }: { readonly address: number }): string {
  return address < 0 ? "in its checkpoint" : `at log address ${address}`;
}

async function runAudit(
  context: Context,
  options: CommonOptions,
  module: string,
): Promise<void> {
  const rules = await loadModule(module, rulesModule);
  const { out, signal } = context;
  await withRepository(options, async (repository, database) => {
    const { audit } = await import("../../../server/audit.ts");
    const report = await withProgress(
      "judging",
      context,
      (onProgress) =>
        audit(database, repository, {
          rules: rules.of(repository.name),
          found: (finding) => out.line(lineOf(finding)),
          onProgress,
          signal,
        }),
    );
    tell(context, repository, report);
  });
}

function tell(
  { out }: Context,
  { name }: Repository,
  { commits, unjudged, findings }: AuditReport,
): void {
  const judged = formatAmount(commits - unjudged, "commit");
  if (findings > 0) {
    const many = formatAmount(findings, "commit");
    throw new Failure(
      "rules-differ",
      `these rules would have refused ${many} of "${name}", of ${judged} that they judge`,
      "nothing was changed: what was accepted stands",
      exitCodes.differs,
    );
  }
  out.line(
    `${name}: these rules allow all of ${judged}, ${unjudged} not judged`,
  );
}

function lineOf(finding: BookedFinding): string {
  const { chain, number, wall, user, rule, reason, isRestored } = finding;
  const commit = commitName({ chain, number });
  const at = new Date(wall).toISOString();
  const note = isRestored ? " [came back after a loss, unjudged]" : "";
  const line = `${commit}  ${at}  ${user}  ${rule}: ${reason}`;
  return escapeControls(line) + note;
}
