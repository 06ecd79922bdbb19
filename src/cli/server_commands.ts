/**
 * The commands around a server, with their options and examples: `serve`,
 * `backup`, `restore` and `admin`.
 *
 * @module
 */

import { type Command, Option } from "commander";
import { flagOf, type Setting, settings } from "../../server/settings.ts";
import {
  type AdminOptions,
  runAccept,
  runDrop,
  runQuarantine,
  runRevoke,
} from "./commands/admin.ts";
import { runBackup, runRestore } from "./commands/backup.ts";
import { runServe } from "./commands/serve.ts";
import type { Context } from "./session.ts";

/** Adds them to the program. */
export function addServerCommands(program: Command, context: Context): void {
  addServe(program, context);
  addBackup(program, context);
  addRestore(program, context);
  addAdmin(program, context);
}

function addServe(program: Command, context: Context): void {
  const serve = program.command("serve")
    .description("Serve a database: sync, login, metrics.")
    .option("--config <file>", "JSON file of settings")
    .option("--debug", "show where an error came from");
  for (const setting of settings) serve.addOption(optionOf(setting));
  serve.addHelpText(
    "after",
    "\nEvery setting is also a key of the file and an environment variable SHEAF_…;" +
      "\nflags win over the environment, that over the file.\n\nExample:\n" +
      "  deno task serve --data ./data --port 8080 --token ann=secret-of-ann\n",
  ).action((given: Record<string, unknown>) =>
    runServe(context, given["config"] as string | undefined, flagsOf(given))
  );
}

function optionOf(setting: Setting): Option {
  const { kind, value = "value", help } = setting;
  const name = `--${flagOf(setting)}`;
  if (kind === "boolean") return new Option(name, help);
  const option = new Option(`${name} <${value}>`, help);
  const isPlural = kind === "list" || kind === "users";
  return option.argParser((text: string, before?: string[]) =>
    isPlural ? [...before ?? [], text] : [text]
  );
}

/** The flags that were given, by key. */
function flagsOf(given: Record<string, unknown>): Map<string, string[]> {
  const flags = new Map<string, string[]>();
  for (const setting of settings) {
    const value = valueOf(given, flagOf(setting));
    if (value === true) flags.set(setting.key, ["true"]);
    else if (Array.isArray(value)) flags.set(setting.key, value);
  }
  return flags;
}

/** What was given for a flag; that of `--no-x` is kept as `x: false`. */
function valueOf(given: Record<string, unknown>, flag: string): unknown {
  return flag.startsWith("no-")
    ? given[camel(flag.slice(3))] === false
    : given[camel(flag)];
}

/** What commander calls a flag. */
function camel(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function addBackup(program: Command, context: Context): void {
  program.command("backup")
    .description("Copy a database, also while a server writes it.")
    .option("--data <dir>", "folder of the database", "./data")
    .requiredOption("--to <dir>", "new folder for the copy")
    .option("--debug", "show where an error came from")
    .addHelpText("after", example("backup --data ./data --to ./backup-monday"))
    .action((options: { data: string; to: string }) =>
      runBackup(context, options)
    );
}

function addRestore(program: Command, context: Context): void {
  program.command("restore")
    .description("Make a database out of a backup.")
    .requiredOption("--from <dir>", "folder of the backup")
    .requiredOption("--to <dir>", "new folder for the database")
    .option("--debug", "show where an error came from")
    .addHelpText("after", example("restore --from ./backup-monday --to ./data"))
    .action((options: { from: string; to: string }) =>
      runRestore(context, options)
    );
}

function addAdmin(program: Command, context: Context): void {
  const admin = program.command("admin")
    .description("Revoke sessions, look through the quarantine.");
  const add = (usage: string, description: string) =>
    admin.command(usage).description(description)
      .option("--url <url>", "the server", "http://127.0.0.1:8080")
      .option(
        "--admin-token <secret>",
        "its admin token (default: SHEAF_ADMIN_TOKEN)",
      )
      .option("--json", "print JSON")
      .option("--debug", "show where an error came from");
  add("revoke", "End a session, or all sessions of a user, for ever.")
    .option("--key <hex>", "public key of the session")
    .option("--user <user>", "every session of this user")
    .option("--reason <text>", "what people will read", "")
    .addHelpText(
      "after",
      example('admin revoke --user ann --reason "laptop was stolen"'),
    )
    .action((options: AdminOptions) => runRevoke(context, options));
  add("quarantine", "List what revoked sessions wrote before they knew.")
    .action((options: AdminOptions) => runQuarantine(context, options));
  add("accept <id>", "Admit a batch in quarantine.")
    .action((id: string, options: AdminOptions) =>
      runAccept(context, id, options)
    );
  add("drop <id>", "Forget a batch in quarantine.")
    .action((id: string, options: AdminOptions) =>
      runDrop(context, id, options)
    );
}

function example(line: string): string {
  return `\nExample:\n  deno task sheaf ${line}\n`;
}
