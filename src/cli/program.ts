/**
 * The commands with their options, examples and defaults.
 *
 * @module
 */

import {
  Command,
  CommanderError,
  InvalidArgumentError,
  Option,
} from "commander";
import { type Setting, settings } from "../../server/settings.ts";
import {
  type AdminOptions,
  runAccept,
  runDrop,
  runQuarantine,
  runRevoke,
} from "./commands/admin.ts";
import { runAudit } from "./commands/audit.ts";
import { runBackup, runRestore } from "./commands/backup.ts";
import { type DeleteOptions, runDelete } from "./commands/delete.ts";
import { runExplain } from "./commands/explain.ts";
import { type ExportOptions, runExport } from "./commands/export.ts";
import { type HistoryOptions, runHistory } from "./commands/history.ts";
import { type ImportOptions, runImport } from "./commands/import.ts";
import { type KeysOptions, runKeys } from "./commands/keys.ts";
import { type QueryOptions, runQuery } from "./commands/query.ts";
import { runServe } from "./commands/serve.ts";
import { runStats, type StatsOptions } from "./commands/stats.ts";
import { runVerify } from "./commands/verify.ts";
import { sheaf } from "./command_name.ts";
import { exitCodes, type Failure, usageFailure } from "./failure.ts";
import { formats, textFormats } from "./input.ts";
import type { CommonOptions, Context } from "./session.ts";

/**
 * Runs the command that the arguments name.
 *
 * @throws {Failure} also for wrong usage
 */
export async function runProgram(
  args: readonly string[],
  context: Context,
): Promise<void> {
  const program = createProgram(context);
  try {
    await program.parseAsync([...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === exitCodes.ok) return;
    throw usageOf(error);
  }
}

/** Commander's own message without its prefix. */
function usageOf(error: CommanderError): Failure {
  if (error.code === "commander.help") {
    return usageFailure("No command was given", `${sheaf} --help lists them`);
  }
  const [message = "", ...more] = error.message.replace(/^error: /, "")
    .split("\n");
  const hint = more.join(" ").trim();
  return usageFailure(
    message,
    hint || "--help shows the options and an example",
  );
}

/** All commands over a context. */
function createProgram(context: Context): Command {
  const program = new Command("sheaf")
    .description("Look into a Sheaf database, fill it, check it, serve it.")
    .option("--debug", "show where an error came from")
    .configureOutput({
      writeOut: (text) => context.out.print(text),
      writeErr: () => {},
    })
    .exitOverride();
  addImport(program, context);
  addExport(program, context);
  addQuery(program, context);
  addStats(program, context);
  addHistory(program, context);
  addVerify(program, context);
  addKeys(program, context);
  addDelete(program, context);
  addExplain(program, context);
  addServe(program, context);
  addBackup(program, context);
  addRestore(program, context);
  addAdmin(program, context);
  return program;
}

/** A command with the options that all share. */
function command(
  program: Command,
  usage: string,
  description: string,
): Command {
  return program.command(usage).description(description)
    .option("--data <dir>", "folder of the database", "./data")
    .option("--repo <name>", "repository; may be omitted when there is one")
    .option("--debug", "show where an error came from");
}

const collectionHelp = "collection; may be omitted when there is one";

function example(...lines: readonly string[]): string {
  const text = lines.map((line) => `  ${sheaf} ${line}\n`).join("");
  return `\nExample:\n${text}`;
}

function addImport(program: Command, context: Context): void {
  command(
    program,
    "import <file>",
    "Import JSON, JSONL, CSV or MessagePack; - is stdin.",
  )
    .option("--collection <name>", collectionHelp)
    .addOption(formatOption(formats))
    .option(
      "--schema <module>",
      "module that default-exports the schema (default: infer it and print it)",
    )
    .option("--id <field>", "field that holds the item's id", "id")
    .option("--batch <rows>", "rows per transaction", parseCount, 10_000)
    .addOption(
      new Option("--on-conflict <what>", "when an id is there already")
        .choices(["error", "skip", "replace"]).default("error"),
    )
    .addOption(
      new Option("--mode <mode>", "mode of a repository that is new")
        .choices(["default", "trusted", "fast"]),
    )
    .option("--dry-run", "read and check everything, write nothing")
    .addHelpText(
      "after",
      example(
        "import cities.csv --data ./data --repo world --collection city",
        "import cities.csv --repo world --collection city --dry-run > city.ts",
      ),
    )
    .action((file: string, options: ImportOptions) =>
      runImport(context, file, options)
    );
}

function addExport(program: Command, context: Context): void {
  command(program, "export", "Write all items of a collection.")
    .option("--collection <name>", collectionHelp)
    .addOption(formatOption(formats))
    .option("--out <file>", "write to a file instead of standard output")
    .addHelpText(
      "after",
      example(
        "export --collection city --out cities.csv",
        "export --collection city --out cities.msgpack",
      ),
    )
    .action((options: ExportOptions) => runExport(context, options));
}

function addQuery(program: Command, context: Context): void {
  command(program, "query", "Ask a collection.")
    .option("--collection <name>", collectionHelp)
    .option("--where <json>", "conditions; null means missing")
    .option("--order-by <keys>", "field, or field:desc; several with commas")
    .option("--limit <items>", "at most so many", parseCount)
    .option("--count", "print only how many there are")
    .option("--explain", "print how the query is answered")
    .addOption(formatOption(["table", ...textFormats]).default("table"))
    .addHelpText(
      "after",
      example(
        `query --collection city --where '{"country": "IS"}' --order-by lat:desc --limit 5`,
      ),
    )
    .action((options: QueryOptions) => runQuery(context, options));
}

function addStats(program: Command, context: Context): void {
  command(program, "stats", "What a repository holds, in figures.")
    .option("--json", "print JSON")
    .addHelpText("after", example("stats --data ./data --repo world"))
    .action((options: StatsOptions) => runStats(context, options));
}

function addHistory(program: Command, context: Context): void {
  command(program, "history [id]", "Who changed what and when, newest last.")
    .option("--collection <name>", collectionHelp)
    .option("--limit <commits>", "only the newest", parseCount)
    .option("--json", "print a JSON object a line")
    .addHelpText(
      "after",
      example("history --limit 10", "history reykjavik --collection city"),
    )
    .action((id: string | undefined, options: HistoryOptions) =>
      runHistory(context, id, options)
    );
}

interface VerifyOptions extends CommonOptions {
  readonly rules?: string;
}

function addVerify(program: Command, context: Context): void {
  command(program, "verify", "Hash and verify everything again.")
    .option(
      "--rules <module>",
      "instead: what these rules would have said of every commit",
    )
    .addHelpText(
      "after",
      example(
        "verify --data ./data --repo world",
        "verify --data ./data --repo team/acme --rules ./rules.ts",
      ),
    )
    .action((options: VerifyOptions) =>
      options.rules === undefined
        ? runVerify(context, options)
        : runAudit(context, options, options.rules)
    );
}

function addKeys(program: Command, context: Context): void {
  command(program, "keys", "List the ids of a collection, or public keys.")
    .option("--collection <name>", collectionHelp)
    .option("--identity", "show the public keys of this replica instead")
    .addHelpText(
      "after",
      example("keys --collection city", "keys --identity"),
    )
    .action((options: KeysOptions) => runKeys(context, options));
}

function addDelete(program: Command, context: Context): void {
  program.command("delete <repository>")
    .description("Delete a repository with its history, after asking.")
    .option("--data <dir>", "folder of the database", "./data")
    .option("--yes", "do not ask")
    .option("--debug", "show where an error came from")
    .addHelpText("after", example("delete team/acme --data ./data"))
    .action((name: string, options: DeleteOptions) =>
      runDelete(context, name, options)
    );
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
      `  ${sheaf} serve --data ./data --port 8080 --token ann=secret-of-ann\n`,
  ).action((given: Record<string, unknown>) =>
    runServe(context, given["config"] as string | undefined, flagsOf(given))
  );
}

function optionOf(setting: Setting): Option {
  const { kind, value = "value", help } = setting;
  const name = `--${setting.flag}`;
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
    const value = valueOf(given, setting.flag);
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

function addExplain(program: Command, context: Context): void {
  program.command("explain <message>")
    .description("The text of a message that a page told by its number.")
    .option("--debug", "show where an error came from")
    .addHelpText("after", example(`explain '#0.1.0-41["task","title"]'`))
    .action((message: string) => runExplain(context, message));
}

function formatOption(choices: readonly string[]): Option {
  return new Option("--format <format>", "format").choices(choices);
}

function parseCount(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && Number.isSafeInteger(value)) {
    return value;
  }
  throw new InvalidArgumentError("Give a whole number from 1.");
}
