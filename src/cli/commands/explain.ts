/**
 * `sheaf explain`: the text of a message of the browser's production build,
 * `#VERSION-NUMBER` and its values, from the table that the package brings.
 */

import { readFileSync } from "node:fs";
import { escapeControls } from "../output.ts";
import { Failure, usageFailure } from "../failure.ts";
import type { Context } from "../session.ts";

/** Texts by number; where a value stood is `{}`. */
export interface MessageTable {
  readonly version: string;
  readonly messages: readonly string[];
}

const NUMBERED = /#(\d+\.\d+\.\d+\S*?)-(\d+)(?=\[|\W|$)/;

export function runExplain({ out }: Context, message: string): void {
  // The address behind a message has the number alone.
  const numbered = /^\d/.test(message) ? `#${message}` : message;
  out.line(escapeControls(explainMessage(numbered, readTable())));
}

function readTable(): MessageTable {
  try {
    return JSON.parse(
      readFileSync(new URL("messages.json", import.meta.url), "utf8"),
    );
  } catch (cause) {
    throw new Failure(
      "not-found",
      `There is no table of messages here: ${(cause as Error).message}`,
      "the npm package has it: npx @sheaf/sheaf explain MESSAGE",
    );
  }
}

/** Puts the text in the place of the number, and so in its values. */
export function explainMessage(message: string, table: MessageTable): string {
  const found = NUMBERED.exec(message);
  if (found === null) {
    throw usageFailure("There is no #VERSION-NUMBER in the message");
  }
  const [name, version, number] = found;
  if (version !== table.version) {
    throw new Failure(
      "other-version",
      `The message is of version ${version}, and this is ${table.version}`,
      `npx @sheaf/sheaf@${version} explain MESSAGE`,
    );
  }
  const start = found.index;
  const { values, length } = valuesAt(message, start + name.length);
  const told = values.map((value) =>
    NUMBERED.test(value) ? explainMessage(value, table) : value
  );
  const text = (table.messages[Number(number)] ?? name)
    .replaceAll("{}", () => told.shift() ?? "{}");
  const rest = message.slice(start + name.length + length);
  // What leads here is not told again.
  return message.slice(0, start) + text + rest.replace(/^ \(.*\)$/, "");
}

/** The values behind a number, and how many characters they take. */
function valuesAt(
  message: string,
  at: number,
): { values: string[]; length: number } {
  for (let end = at; message[at] === "[" && end >= 0;) {
    end = message.indexOf("]", end + 1);
    try {
      const values = JSON.parse(message.slice(at, end + 1));
      return { values, length: end + 1 - at };
    } catch {
      // A bracket inside of a value.
    }
  }
  return { values: [], length: 0 };
}
