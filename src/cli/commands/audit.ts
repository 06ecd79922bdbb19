/**
 * `sheaf verify --rules`: where these rules would have decided otherwise than
 * the server that took the commits did.
 *
 * @module
 */

import { exitCodes, Failure } from "../failure.ts";
import { escapeControls } from "../escape.ts";
import { formatAmount } from "../figures.ts";
import { loadModule, rulesModule } from "../load_module.ts";
import { startProgress } from "../progress.ts";
import {
  checkInterrupt,
  type CommonOptions,
  type Context,
  withRepository,
} from "../session.ts";
import type { AuditFinding, AuditReport, Repository } from "../store.ts";

/** Runs `sheaf verify --rules`. */
export async function runAudit(
  context: Context,
  options: CommonOptions,
  module: string,
): Promise<void> {
  const rules = await loadModule(module, rulesModule);
  await withRepository(context, options, async (repository) => {
    const { out } = context;
    const audit = (found: (finding: AuditFinding) => void) =>
      run(
        context,
        (progress) => repository.audit(rules, found, progress, context.signal),
      );
    const report = await audit((finding) => out.line(lineOf(finding)));
    tell(context, repository, report);
  });
}

async function run<T>(
  { err, signal }: Context,
  work: (progress: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  const progress = startProgress("judging", err);
  try {
    return await work(progress.update);
  } catch (error) {
    checkInterrupt(signal);
    throw error;
  } finally {
    progress.stop();
  }
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

function lineOf(finding: AuditFinding): string {
  const { commit, at, user, rule, reason, isRestored } = finding;
  const note = isRestored ? " [came back after a loss, unjudged]" : "";
  const line = `${commit}  ${at.toISOString()}  ${user}  ${rule}: ${reason}`;
  return escapeControls(line) + note;
}
