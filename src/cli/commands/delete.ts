/**
 * `sheaf delete`: a repository with all of its history, when the person has seen
 * what goes and agrees.
 */

import { SERVER_REPOSITORY } from "../../../server/books.ts";
import type { Database } from "../../db/database.ts";
import { escapeControls } from "../output.ts";
import { explain, Failure } from "../failure.ts";
import { formatAmount, formatBytes } from "../figures.ts";
import {
  chooseRepository,
  confirm,
  type Context,
  withDatabase,
  withStored,
} from "../session.ts";

export interface DeleteOptions {
  readonly data: string;
  readonly yes?: boolean;
}

export async function runDelete(
  context: Context,
  name: string,
  options: DeleteOptions,
): Promise<void> {
  const { out, err } = context;
  const shown = `"${escapeControls(name)}"`;
  if (name === SERVER_REPOSITORY) {
    throw new Failure(
      "denied",
      `${shown} holds a server's sessions, revocations and quarantine: it is not deleted`,
    );
  }
  // Closed before it asks: whoever takes time to answer locks nobody out.
  const goes = await withStored(options, async (database) => {
    chooseRepository(database, { ...options, repo: name });
    return await describe(database, name);
  });
  for (const line of goes) err.line(escapeControls(line));
  err.flush();
  if (!options.yes) {
    await confirm(context, {
      question: `Delete ${shown} for ever?`,
      hint: "--yes deletes it without asking",
      otherwise: "Nothing was deleted",
    });
  }
  await withDatabase(
    { path: options.data },
    (database) => database.deleteRepository(name, { unsent: "discard" }),
  );
  out.line(`deleted ${shown}`);
}

async function describe(database: Database, name: string): Promise<string[]> {
  const names = database.repositories();
  try {
    const repository = await database.repository(name);
    const { unsent } = repository.sync.status;
    const { commits, logBytes } = repository.status();
    const collections = repository.collections().map(({ name, count }) =>
      `${name} (${formatAmount(count, "item")})`
    );
    const holds = [
      formatAmount(commits, "commit"),
      formatBytes(logBytes),
      ...collections,
    ];
    const lines = [`"${name}" holds ${holds.join(", ")}`];
    if (names.includes(SERVER_REPOSITORY)) {
      lines.push(
        "this is a server's folder: devices that have the repository bring it back",
      );
    } else if (unsent.commits > 0) {
      lines.push(
        `not on any server: ${formatAmount(unsent.commits, "commit")}`,
      );
    }
    return lines;
  } catch (error) {
    return [`"${name}" cannot be read: ${explain(error).message}`];
  }
}
