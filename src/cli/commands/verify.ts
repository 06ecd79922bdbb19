/**
 * `sheaf verify`: hashes and verifies everything again.
 *
 * @module
 */

import { Failure } from "../failure.ts";
import { formatAmount, formatBytes, formatDuration } from "../figures.ts";
import { startProgress } from "../progress.ts";
import {
  checkInterrupt,
  type CommonOptions,
  type Context,
  withRepository,
} from "../session.ts";
import type { Repository, Verification } from "../store.ts";

/** Runs `sheaf verify`. */
export function runVerify(
  context: Context,
  options: CommonOptions,
): Promise<void> {
  return withRepository(context, options, async (repository) => {
    const begun = performance.now();
    const found = await verify(context, repository);
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

async function verify(
  { err, signal }: Context,
  repository: Repository,
): Promise<Verification> {
  const progress = startProgress("verifying", err);
  try {
    return await repository.verify(progress.update, signal);
  } catch (error) {
    checkInterrupt(signal);
    throw error;
  } finally {
    progress.stop();
  }
}

function describe({ commits, signatures, bytes }: Verification): string {
  return [
    formatAmount(commits, "commit"),
    formatAmount(signatures, "signature"),
    formatBytes(bytes),
  ].join(", ");
}

function whereIs({ address }: { readonly address: number }): string {
  return address < 0 ? "in its checkpoint" : `at log address ${address}`;
}
