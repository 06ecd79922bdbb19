/**
 * How the command line fails: one line with a code, a hint where there is one,
 * and an exit code (1 something failed, 2 wrong usage, 3 rules would have
 * decided otherwise, 130 interrupted).
 *
 * Never prints a stack trace unless `--debug` was given.
 */

import { escapeControls } from "./output.ts";

/** Exit codes of every command. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** `verify --rules` found commits that the rules would have refused. */
  differs: 3,
  interrupted: 130,
} as const;

export class Failure extends Error {
  readonly code: string;
  /** What the person may do about it. */
  readonly hint: string | undefined;
  readonly exitCode: number;

  constructor(
    code: string,
    message: string,
    hint?: string,
    exitCode: number = exitCodes.failed,
  ) {
    super(message);
    this.name = "Failure";
    this.code = code;
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

/** A failure of the person's call: exit code 2. */
export function usageFailure(message: string, hint?: string): Failure {
  return new Failure("usage", message, hint, exitCodes.usage);
}

/** A failure of one row of the input, with where it stands. */
export function rowFailure(
  input: string,
  line: number,
  message: string,
  hint?: string,
): Failure {
  return new Failure("bad-row", `${input}:${line}: ${message}`, hint);
}

/** What a thrown value means to the person who called. */
export function explain(error: unknown): Failure {
  if (error instanceof Failure) return error;
  // Deno has no code for a right that it was not given.
  if (error instanceof Error && error.name === "NotCapable") {
    return new Failure("permission-denied", error.message);
  }
  if (error instanceof Error && "code" in error) {
    const code = String(error.code);
    const exitCode = code === "invalid-query"
      ? exitCodes.usage
      : exitCodes.failed;
    const known = codes[code] ?? code;
    return new Failure(known, error.message, hints[code], exitCode);
  }
  const message = error instanceof Error ? error.message : String(error);
  return new Failure(
    "unexpected",
    message,
    "run it again with --debug to see where it came from",
  );
}

/** What the operating system calls it. */
const codes: Readonly<Record<string, string>> = {
  ENOENT: "not-found",
  EACCES: "permission-denied",
  EPERM: "permission-denied",
};

const hints: Readonly<Record<string, string>> = {
  "database-locked": "close the program that has the folder open, then retry",
  "item-exists": "use --on-conflict skip or --on-conflict replace",
  "mode-mismatch": "leave --mode away: a repository keeps the mode it began in",
  "log-damaged": "sheaf verify reports where; keep a copy before you repair",
  "format-too-new": "upgrade Sheaf",
  "format-too-old": "export it with Sheaf 0.1, import it with this version",
  "rules-missing": "serve it with --rules MODULE, or with --no-rules",
};

/** The lines that tell a failure: `error[code]: message`, then its hint. */
export function formatFailure(failure: Failure): string {
  const message = escapeControls(failure.message);
  const line = `error[${escapeControls(failure.code)}]: ${message}\n`;
  if (failure.hint === undefined) return line;
  return `${line}  hint: ${escapeControls(failure.hint)}\n`;
}
