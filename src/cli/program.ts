/** The commands with their options, examples and defaults. */

import {
  Command,
  CommanderError,
  InvalidArgumentError,
  Option,
} from "commander";
import { isPlural, type Setting, settings } from "../../server/settings.ts";
// What they read stands beside the program.
import { runExplain } from "./commands/explain.ts";
import { frameworks, runInit, runtimes } from "./commands/init.ts";
import { exitCodes, type Failure, usageFailure } from "./failure.ts";
import { formats, textFormats } from "./input.ts";
import type { Context } from "./session.ts";

/** Runs the command that the arguments name; throws a {@linkcode Failure} also for wrong usage. */
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

/** How the command line is called here: from a clone, or from npm's package. */
// The scripts of the package end in ".js", the clone's own in ".mjs".
const sheaf = import.meta.url.endsWith(".js") ? "npx sheaf" : "deno task sheaf";

/** A command, whose work gets the context, its arguments and its options. */
interface Described {
  readonly usage: string;
  readonly description: string;
  readonly options?: readonly Option[];
  readonly notes?: string;
  readonly examples?: readonly string[];
  readonly run: (context: Context, ...given: never[]) => Promise<void> | void;
}

/** A command's work, loaded when it is the one that was given. */
function late(load: () => Promise<Described["run"]>): Described["run"] {
  return async (...given) => await (await load())(...given);
}

const debug = option("--debug", "show where an error came from");
const data = option("--data <dir>", "folder of the database", "./data");
const json = option("--json", "print JSON");
const collection = option(
  "--collection <name>",
  "collection; may be omitted when there is one",
);
const stored = [
  data,
  option("--repo <name>", "repository; may be omitted when there is one"),
  debug,
];
const modes = ["default", "trusted", "fast"];

const commands: readonly Described[] = [
  {
    usage: "import <file>",
    description: "Import JSON, JSONL, CSV or MessagePack; - is stdin.",
    options: [
      ...stored,
      collection,
      formatOption(formats),
      option(
        "--schema <module>",
        "module that default-exports the schema (default: infer it and print it)",
      ),
      option("--id <field>", "field that holds the item's id", "id"),
      option("--batch <rows>", "rows per transaction", 10_000)
        .argParser(parseCount),
      option("--on-conflict <what>", "if an id already exists", "error")
        .choices(["error", "skip", "replace"]),
      option("--mode <mode>", "mode of a new repository")
        .choices(modes),
      option("--dry-run", "read and check everything, write nothing"),
    ],
    examples: [
      "import cities.csv --data ./data --repo world --collection city",
      "import cities.csv --repo world --collection city --dry-run > city.ts",
    ],
    run: late(async () => (await import("./commands/import.ts")).runImport),
  },
  {
    usage: "export",
    description: "Write all items of a collection.",
    options: [
      ...stored,
      collection,
      formatOption(formats),
      option("--out <file>", "write to a file instead of standard output"),
    ],
    examples: [
      "export --collection city --out cities.csv",
      "export --collection city --out cities.msgpack",
    ],
    run: late(async () => (await import("./commands/export.ts")).runExport),
  },
  {
    usage: "query",
    description: "Query a collection.",
    options: [
      ...stored,
      collection,
      option("--where <json>", "conditions; null means missing"),
      option("--order-by <keys>", "field, or field:desc; several with commas"),
      option("--limit <items>", "at most this many").argParser(parseCount),
      option("--count", "print only the number of items"),
      option("--explain", "print the query plan"),
      formatOption(["table", ...textFormats]).default("table"),
    ],
    examples: [
      `query --collection city --where '{"country": "IS"}' --order-by lat:desc --limit 5`,
    ],
    run: late(async () => (await import("./commands/query.ts")).runQuery),
  },
  {
    usage: "stats",
    description: "Show what a repository holds, in figures.",
    options: [...stored, json],
    examples: ["stats --data ./data --repo world"],
    run: late(async () => (await import("./commands/stats.ts")).runStats),
  },
  {
    usage: "history [id]",
    description: "Show who changed what and when, newest last.",
    options: [
      ...stored,
      collection,
      option("--limit <commits>", "only the newest").argParser(parseCount),
      option("--json", "print one JSON object per line"),
    ],
    examples: ["history --limit 10", "history reykjavik --collection city"],
    run: late(async () => (await import("./commands/history.ts")).runHistory),
  },
  {
    usage: "verify",
    description: "Check every hash and signature again.",
    options: [
      ...stored,
      option(
        "--rules <module>",
        "instead: check what these rules would have said of every commit",
      ),
      option(
        "--follow",
        "with --rules: go on as another process writes new commits",
      ),
      option(
        "--receipts",
        "instead: print the receipts that servers signed for this replica's commits",
      ),
      option(
        "--receipt <file...>",
        "instead: check receipts, and whether this replica has what they cover",
      ),
      option(
        "--root-key <digits>",
        "with --receipt: check against this key, without a database",
      ),
    ],
    examples: [
      "verify --data ./data --repo world",
      "verify --data ./data --repo team/acme --rules ./rules.ts --follow",
      "verify --receipt ./receipt.txt --root-key 3b6a27bc…",
    ],
    run: late(async () => (await import("./commands/verify.ts")).runVerify),
  },
  {
    usage: "keys",
    description: "List the ids of a collection, or public keys.",
    options: [
      ...stored,
      collection,
      option("--identity", "show the public keys of this replica instead"),
    ],
    examples: ["keys --collection city", "keys --identity"],
    run: late(async () => (await import("./commands/keys.ts")).runKeys),
  },
  {
    usage: "delete <repository>",
    description: "Delete a repository and its history; asks first.",
    options: [data, option("--yes", "do not ask"), debug],
    examples: ["delete team/acme --data ./data"],
    run: late(async () => (await import("./commands/delete.ts")).runDelete),
  },
  {
    usage: "redact <ids...>",
    description:
      "Erase all values that items ever had, everywhere; asks first.",
    options: [
      ...stored,
      collection,
      option(
        "--key <file>",
        "file of the root key or of a redactor's key, if the database has neither",
      ),
      option("--reason <text>", "why, for people", ""),
      option("--yes", "do not ask"),
    ],
    examples: [
      'redact ann --collection person --reason "she asked" --data ./data',
    ],
    run: late(async () => (await import("./commands/redact.ts")).runRedact),
  },
  {
    usage: "certify <file>",
    description: "Make a key that may only redact, until a date.",
    options: [
      data,
      option(
        "--root-key <file>",
        "file of the root key, if not in the database",
      ),
      needed("--user <user>", "who redacts with it"),
      option("--days <days>", "how long it is valid", 30).argParser(parseCount),
      debug,
    ],
    examples: ["certify redactor.key --user privacy --days 30 --data ./data"],
    run: late(async () => (await import("./commands/certify.ts")).runCertify),
  },
  {
    usage: "init [folder]",
    description: "Make an offline-first app, with a server, rules and tests.",
    options: [
      option("--framework <name>", "what the page is made with (default: ask)")
        .choices(frameworks),
      option("--runtime <name>", "what runs its server (default: this one)")
        .choices(runtimes),
      option("--sheaf <source>", "version, tarball or folder of Sheaf"),
      debug,
    ],
    notes: "\nFiles that already exist are left as they are.\n",
    examples: ["init my-app --framework react"],
    run: runInit,
  },
  {
    usage: "explain <message>",
    description:
      "Print the text of a numbered message from a production build.",
    options: [debug],
    examples: [`explain '#0.1.0-41["task","title"]'`],
    run: runExplain,
  },
  {
    usage: "serve",
    description: "Serve a database: sync, login, metrics.",
    options: [
      option("--config <file>", "JSON file of settings"),
      debug,
      ...settings.map(optionOf),
    ],
    notes:
      "\nEvery setting is also a key of the file and an environment variable SHEAF_…;" +
      "\nflags override the environment, which overrides the file.\n",
    examples: [
      "serve --data ./data --port 8080 --token ann=secret-of-ann",
    ],
    run: async (context, given: Record<string, unknown>) => {
      const { runServe } = await import("./commands/serve.ts");
      const config = given["config"] as string | undefined;
      await runServe(context, config, flagsOf(given));
    },
  },
  {
    usage: "backup",
    description: "Copy a database, even while a server writes to it.",
    options: [data, needed("--to <dir>", "new folder for the copy"), debug],
    examples: ["backup --data ./data --to ./backup-monday"],
    run: late(async () => (await import("./commands/backup.ts")).runBackup),
  },
  {
    usage: "restore",
    description: "Make a database from a backup.",
    options: [
      needed("--from <dir>", "folder of the backup"),
      needed("--to <dir>", "new folder for the database"),
      debug,
    ],
    examples: ["restore --from ./backup-monday --to ./data"],
    run: late(async () => (await import("./commands/backup.ts")).runRestore),
  },
];

const server = [
  option("--url <url>", "the server", "http://127.0.0.1:8080"),
  option(
    "--admin-token <secret>",
    "its admin token (default: SHEAF_ADMIN_TOKEN)",
  ),
  json,
  debug,
];

const adminCommands: readonly Described[] = [
  {
    usage: "revoke",
    description: "End a session, or all sessions of a user, for good.",
    options: [
      ...server,
      option("--key <hex>", "public key of the session"),
      option("--user <user>", "every session of this user"),
      option("--reason <text>", "why, for people", ""),
    ],
    examples: ['admin revoke --user ann --reason "laptop was stolen"'],
    run: late(async () => (await import("./commands/admin.ts")).runRevoke),
  },
  {
    usage: "quarantine",
    description: "List what revoked sessions wrote before they learned of it.",
    options: server,
    run: late(async () => (await import("./commands/admin.ts")).runQuarantine),
  },
  {
    usage: "accept <id>",
    description: "Admit a batch from quarantine.",
    options: server,
    run: late(async () => (await import("./commands/admin.ts")).runAccept),
  },
  {
    usage: "drop <id>",
    description: "Discard a batch from quarantine.",
    options: server,
    run: late(async () => (await import("./commands/admin.ts")).runDrop),
  },
];

function createProgram(context: Context): Command {
  const program = new Command("sheaf")
    .description("Inspect, fill, check and serve a Sheaf database.")
    .addOption(debug)
    .configureOutput({
      writeOut: (text) => context.out.print(text),
      writeErr: () => {},
    })
    .exitOverride();
  for (const one of commands) add(program, one, context);
  const admin = program.command("admin")
    .description("Revoke sessions, and review the quarantine.");
  for (const one of adminCommands) add(admin, one, context);
  return program;
}

function add(
  program: Command,
  { usage, description, options = [], notes = "", examples = [], run }:
    Described,
  context: Context,
): void {
  const command = program.command(usage).description(description);
  for (const one of options) command.addOption(one);
  if (examples.length > 0) {
    const lines = examples.map((line) => `  ${sheaf} ${line}\n`);
    command.addHelpText("after", `${notes}\nExample:\n${lines.join("")}`);
  }
  // Behind arguments and options commander gives the command itself. Proof: its usage and options are those of `run`.
  command.action((...given) => run(context, ...given.slice(0, -1) as never[]));
}

function optionOf(setting: Setting): Option {
  const { kind, value = "value", help } = setting;
  const name = `--${setting.flag}`;
  if (kind === "boolean") return new Option(name, help);
  const option = new Option(`${name} <${value}>`, help);
  return option.argParser((text: string, before?: string[]) =>
    isPlural(setting) ? [...before ?? [], text] : [text]
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

function camel(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function option(flags: string, help: string, initial?: unknown): Option {
  const one = new Option(flags, help);
  return initial === undefined ? one : one.default(initial);
}

function needed(flags: string, help: string): Option {
  return option(flags, help).makeOptionMandatory();
}

function formatOption(choices: readonly string[]): Option {
  return new Option("--format <format>", "format").choices(choices);
}

function parseCount(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && Number.isSafeInteger(value)) {
    return value;
  }
  throw new InvalidArgumentError("Give a whole number of at least 1.");
}
