/**
 * `sheaf backup` and `sheaf restore`: checked copies of a database folder.
 *
 * Never takes the lock of what it copies from, never overwrites.
 */

import { copyDatabase } from "../../../server/backup.ts";
import { diskStorage } from "../../storage/disk_storage.ts";
import { escapeControls } from "../output.ts";
import { formatAmount, formatBytes, formatDuration } from "../figures.ts";
import type { Context } from "../session.ts";

export async function runBackup(
  context: Context,
  { data, to }: { readonly data: string; readonly to: string },
): Promise<void> {
  await copy(context, data, to, "backed up");
  context.out.line(
    "The copy holds the root secret: keep it as safe as the original.",
  );
}

export async function runRestore(
  context: Context,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  await copy(context, from, to, "restored");
  context.out.line(
    "Start the server on it: clients bring what they have and it lacks.",
  );
}

async function copy(
  { out, err }: Context,
  from: string,
  to: string,
  done: string,
): Promise<void> {
  const begun = performance.now();
  const report = await copyDatabase(diskStorage(from), diskStorage(to));
  const took = formatDuration(performance.now() - begun);
  const counts = [
    report.repositories === 1
      ? "1 repository"
      : `${report.repositories} repositories`,
    formatAmount(report.commits, "commit"),
    formatBytes(report.bytes),
  ];
  out.line(`${done} to ${escapeControls(to)}: ${counts.join(", ")}, ${took}`);
  for (const folder of report.suspicious) {
    err.line(
      `warning: repositories/${folder} goes on with bytes that are no records: ` +
        "run sheaf verify on the original",
    );
  }
}
