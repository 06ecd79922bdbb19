/**
 * `sheaf verify`: hashes and verifies everything again.
 *
 * @module
 */

import type { VerifyReport } from "../../../repo/mod.ts";
import { Failure } from "../failure.ts";
import { formatAmount, formatBytes, formatDuration } from "../figures.ts";
import { withProgress } from "../progress.ts";
import {
  type CommonOptions,
  type Context,
  withRepository,
} from "../session.ts";

/** Runs `sheaf verify`. */
export function runVerify(
  context: Context,
  options: CommonOptions,
): Promise<void> {
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
