/**
 * `sheaf verify`: hashes and verifies everything again.
 *
 * `sheaf verify --rules`: where these rules would have decided otherwise than
 * the server that took the commits did; with `--follow`, as they come.
 *
 * `sheaf verify --receipt`: what a server signed.
 */

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { VerifyReport } from "../../../repo/mod.ts";
import { fromHex } from "../../base/bytes.ts";
import { replicaOf } from "../../db/internals.ts";
import { exitCodes, Failure, usageFailure } from "../failure.ts";
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
import { escapeControls } from "../output.ts";
import { loadModule, rulesModule } from "../load_module.ts";

/** Between two looks at files that another process writes. */
const FOLLOW_MS = 1_000;
/** It may be in the middle of writing them so often in a row; then they are damaged. */
const FAILURES_MAX = 5;

export interface VerifyOptions extends CommonOptions {
  readonly rules?: string;
  readonly follow?: boolean;
  readonly receipt?: readonly string[];
  readonly receipts?: boolean;
  readonly rootKey?: string;
}

export function runVerify(
  context: Context,
  options: VerifyOptions,
): Promise<void> {
  const { rules, receipt, follow, rootKey } = options;
  if (options.receipts) {
    return withRepository(options, async (repository) => {
      const { printReceipts } = await import("./verify_receipt.ts");
      const line = (text: string) => context.out.line(text);
      printReceipts(replicaOf(repository), { data: options.data, line });
    });
  }
  if (receipt !== undefined) return runReceipts(context, options, receipt);
  if (rootKey !== undefined) {
    throw usageFailure("--root-key goes with --receipt");
  }
  if (rules !== undefined) return runAudit(context, options, rules);
  if (follow) throw usageFailure("--follow goes with --rules");
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

/** Runs `sheaf verify --receipt`. */
async function runReceipts(
  { out }: Context,
  { rootKey: digits, ...options }: VerifyOptions,
  files: readonly string[],
): Promise<void> {
  const { checkReceipts } = await import("./verify_receipt.ts");
  const common = {
    nowMs: Date.now(),
    line: (text: string) => out.line(text),
  };
  if (digits !== undefined) {
    const rootKey = /^[0-9a-f]{64}$/i.test(digits)
      ? fromHex(digits)
      : undefined;
    if (rootKey === undefined) {
      throw usageFailure("A root key is 64 hexadecimal digits");
    }
    return await checkReceipts(files, { rootKey, port: undefined, ...common });
  }
  await withRepository(options, (repository, { rootKey }) => {
    const port = replicaOf(repository).port();
    return checkReceipts(files, { rootKey, port, ...common });
  });
}

/** Runs `sheaf verify --rules`: over the files as they are, also while somebody writes them. */
async function runAudit(
  context: Context,
  options: VerifyOptions,
  module: string,
): Promise<void> {
  const rules = await loadModule(module, rulesModule);
  const { BookedAudit } = await import("../../../server/audit.ts");
  const { out, err, signal } = context;
  const isGoing = options.follow === true;
  let audit: InstanceType<typeof BookedAudit> | undefined;
  let name = "";
  let failures = 0;
  for (let before = ""; !signal.aborted;) {
    const now = isGoing ? lookAt(options.data) : "";
    if (now !== before || !isGoing) {
      try {
        await withRepository(options, async (repository, database) => {
          ({ name } = repository);
          await withProgress("judging", context, async (onProgress) => {
            const begin = () =>
              new BookedAudit({
                rules: rules.of(name),
                found: (finding) => {
                  out.line(lineOf(finding));
                  if (isGoing) out.flush();
                },
                onProgress,
                ...(isGoing ? {} : { signal }),
              });
            audit ??= begin();
            if (await audit.run(database, repository, isGoing)) return;
            err.line(`${name}: the log was written anew, and is judged again`);
            audit = begin();
            await audit.run(database, repository, isGoing);
          });
        }, isGoing);
        before = now;
        failures = 0;
      } catch (error) {
        // Whoever writes the files may have been in the middle of it.
        if (!isGoing || ++failures > FAILURES_MAX) throw error;
      }
    }
    if (!isGoing) break;
    await rest(signal);
  }
  if (audit !== undefined) tell(context, name, audit.report);
}

/** Size and time of the files of all repositories: another text when one of them was written to. */
function lookAt(data: string): string {
  const folder = join(data, "repositories");
  const files = readdirSync(folder, { recursive: true }).map((entry) => {
    const found = statSync(join(folder, String(entry)), {
      throwIfNoEntry: false,
    });
    return `${entry}:${found?.size}:${found?.mtimeMs}`;
  });
  return files.join("\n");
}

/** A while, or until Ctrl-C. */
function rest(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, FOLLOW_MS);
    signal.addEventListener("abort", end, { once: true });
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    }
  });
}

function tell(
  { out }: Context,
  name: string,
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
