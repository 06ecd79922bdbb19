/**
 * Prints layouts as the format pages show them, and writes them there: into each
 * block of text that stands behind `<!-- layouts: NAME -->`.
 *
 *     deno task layouts          writes docs/format.md and docs/protocol.md
 *     deno task layouts --check  fails where they say something else
 *
 * @module
 */

import { certificateLayout } from "../repo/commit/certificate.ts";
import { genesisLayout } from "../repo/commit/genesis.ts";
import { erasureLayout, redactionLayout } from "../repo/commit/redaction.ts";
import { revocationLayout } from "../repo/commit/revocation.ts";
import type { SignedLayout } from "../repo/commit/signed_record.ts";
import { retirementLayout } from "../repo/commit/retirement.ts";
import { voidLayout } from "../repo/commit/void.ts";
import { statementLayout } from "../repo/commit/statement.ts";
import { orderLayout } from "../repo/log/order.ts";
import { epochFile } from "../repo/log/log_stores.ts";
import { type Field, type FileLayout, struct } from "../src/base/layout.ts";
import { keysFile } from "../src/db/keyring_file.ts";
import {
  cutLayout,
  refusalLayout,
  resolutionLayout,
} from "../repo/refusal/void_commits.ts";
import { resumeFile } from "../src/db/repository_link.ts";
import { cursor, receiptFields } from "../sync/frame_fields.ts";
import { frames } from "../sync/message.ts";
import { resumeLayout } from "../sync/resume.ts";
import { witnessLayout } from "../sync/witness.ts";

const WIDTH = 128;
const PAGES = ["docs/format.md", "docs/protocol.md"];

/** What a combinator shows of itself. */
interface Shown {
  readonly fields?: Readonly<Record<string, Field<unknown>>>;
  readonly of?: Field<unknown>;
  readonly flagged?: Field<unknown>;
}

/** The fields of a layout in their order. */
export function fieldsOf(layout: Field<unknown>): string[] {
  const { fields } = layout as Shown;
  if (fields === undefined) return [layout.says ?? "?"];
  return Object.entries(fields).map(([name, field]) => shown(name, field));
}

function shown(name: string, field: Field<unknown>): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const { of, flagged, fields } = field as Shown;
  if (field === cursor as unknown) return "cursor";
  if (flagged !== undefined) return `0, or 1 | ${shown(name, flagged)}`;
  if (fields !== undefined) return fieldsOf(field).join(" | ");
  if (of === undefined) return `${words} ${field.says ?? "?"}`;
  return `${words} varint | (${fieldsOf(of).join(" | ")})*`;
}

/** A line, and lines that go on with it. */
function lines(head: string, fields: readonly string[]): string {
  const pad = " ".repeat(Math.max(0, head.length - 2));
  let text = head;
  let length = head.length;
  for (const [i, field] of fields.entries()) {
    const joint = i === 0 ? "" : " | ";
    if (i > 0 && length + joint.length + field.length > WIDTH) {
      text += `\n${pad}| ${field}`;
      length = head.length + field.length;
    } else {
      text += joint + field;
      length += joint.length + field.length;
    }
  }
  return text;
}

function record(name: string, layout: Field<unknown>): string {
  return lines(name.padEnd(13), ["1", ...fieldsOf(layout)]);
}

function signed<Said extends object>(
  name: string,
  { layout }: SignedLayout<Said>,
): string {
  const fields = fieldsOf(layout as Field<unknown>);
  const ends = ["issuer key {32}", "signature {64}"];
  return lines(name.padEnd(13), ["1", ...fields, ...ends]);
}

function file<T>(
  name: string,
  { magic, format, layout }: FileLayout<T>,
): string {
  const begins = [`magic "${magic}" {8}`, `format u16 = ${format}`];
  const fields = fieldsOf(layout as Field<unknown>);
  return lines(name.padEnd(10), [...begins, ...fields, "crc32 u32"]);
}

/** Who says a frame, where not both do. */
const FROM: Readonly<Record<string, string>> = {
  hello: "S→C",
  prove: "C→S",
  welcome: "S→C",
  open: "C→S",
  opened: "S→C",
  vector: "C→S",
  declined: "S→C",
  close: "C→S",
  ack: "S→C",
  refuse: "S→C",
  live: "S→C",
  witness: "S→C",
  proof: "C→S",
  present: "C→S",
  presence: "S→C",
  audit: "C→S",
  audited: "S→C",
  goodbye: "S→C",
};

function frameLines(): string {
  let group = 0;
  return Object.entries(frames).map(([name, { kind, fields }]) => {
    const gap = kind >> 4 === group ? "" : "\n";
    group = kind >> 4;
    const hex = `0x${kind.toString(16).padStart(2, "0")}`;
    const head = `${hex} ${name.padEnd(10)} ${FROM[name] ?? "both"} `.padEnd(
      21,
    );
    const version = kind <= 2 ? ["version u8"] : [];
    return gap + lines(head, [...version, ...fieldsOf(struct(fields))]);
  }).join("\n").trim();
}

/** What stands in the pages, by name. */
export const blocks: Readonly<Record<string, () => string>> = {
  database: () => file("database", keysFile),
  sync: () => file("sync", epochFile),
  records: () =>
    [
      record("genesis", genesisLayout as Field<unknown>),
      signed("certificate", certificateLayout),
      signed("revocation", revocationLayout),
      signed("void", voidLayout),
      signed("redaction", redactionLayout),
      signed("retirement", retirementLayout),
      signed("statement", statementLayout(32)),
    ].join("\n"),
  local: () =>
    [
      record("refusal", refusalLayout as Field<unknown>),
      record("cut", cutLayout as Field<unknown>),
      record("resolution", resolutionLayout as Field<unknown>),
      record("order", orderLayout as Field<unknown>),
      record("erasure", erasureLayout as Field<unknown>),
    ].join("\n"),
  frames: frameLines,
  parts: () =>
    [
      lines("cursor       ", fieldsOf(cursor as Field<unknown>)),
      lines("receipt      ", fieldsOf(receiptFields as Field<unknown>)),
      signed("witness", witnessLayout),
    ].join("\n"),
  resume: () =>
    [
      file("resume", resumeFile),
      record("conversation", resumeLayout as Field<unknown>),
    ].join("\n"),
};

/** A page with its blocks as the layouts are. */
export function filled(page: string): string {
  const pattern = /(<!-- layouts: (\w+) -->\n+```text\n)[^`]*(```)/g;
  return page.replace(
    pattern,
    (_all, before, name, after) => `${before}${blocks[name]!()}\n${after}`,
  );
}

if (import.meta.main) {
  for (const name of PAGES) {
    const url = new URL(`../${name}`, import.meta.url);
    const page = Deno.readTextFileSync(url);
    if (Deno.args.includes("--check")) {
      if (filled(page) !== page) {
        throw new Error(`Run deno task layouts: ${name}`);
      }
    } else Deno.writeTextFileSync(url, filled(page));
  }
}
