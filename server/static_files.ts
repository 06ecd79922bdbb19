/**
 * Static files of an app, from one folder.
 *
 * Architecture invariant: nothing outside the folder is ever read: a path is
 * taken apart into plain segments first, names that begin with a dot are none,
 * and what a link leads to must lie inside too.
 */

import type { Stats } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import { Readable } from "node:stream";
import { sha256 } from "../crypto/mod.ts";
import { encodeText, toHex } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { defaultOptions } from "./options.ts";

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  gif: "image/gif",
  html: "text/html; charset=utf-8",
  ico: "image/x-icon",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  map: "application/json",
  md: "text/markdown; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  wasm: "application/wasm",
  webmanifest: "application/manifest+json",
  webp: "image/webp",
  woff2: "font/woff2",
  xml: "application/xml",
};
/** What the system says of a name that leads nowhere. */
const MISSING = ["ENOENT", "ENOTDIR", "EACCES", "ELOOP"];
const INDEX = "index.html";
// deno-lint-ignore no-control-regex -- control characters are what it looks for
const ODD = /[\u0000-\u001f\u007f\\/:]/;

interface Found {
  readonly path: string;
  readonly info: Stats;
}

export class StaticFiles {
  readonly #root: Promise<string>;
  readonly #policy: string;

  constructor(
    folder: string,
    policy: string = defaultOptions.contentSecurityPolicy,
  ) {
    this.#policy = policy;
    this.#root = realpath(folder);
    this.#root.catch(() => {}); // Told by check().
  }

  /** Rejects when the folder is not there. */
  async check(): Promise<void> {
    await this.#root;
  }

  /**
   * Throws `invalid-option` when a secret lies, or would lie, where everybody may
   * read, or the folder lies in it.
   */
  async checkApart(secret: string): Promise<void> {
    const [root, path] = [await this.#root, await realPathOf(secret)];
    if (!isWithin(path, root) && !isWithin(root, path)) return;
    throw new DatabaseError(
      "invalid-option",
      `\`static\` names ${root}, which everybody may read, and ${path} must not be read: give them folders apart`,
    );
  }

  /** Answers a GET or HEAD of a path; `undefined` when there is no such file. */
  async answer(
    request: Request,
    path: string,
  ): Promise<Response | undefined> {
    const segments = segmentsOf(path);
    if (segments === undefined) return undefined;
    const found = await this.#find(segments);
    if (found === undefined) return undefined;
    const headers = headersOf(found, this.#policy);
    if (request.headers.get("if-none-match") === headers.etag) {
      return new Response(null, { status: 304, headers });
    }
    if (request.method === "HEAD") return new Response(null, { headers });
    const file = await open(found.path);
    const body = Readable.toWeb(file.createReadStream());
    return new Response(body as ReadableStream<Uint8Array>, { headers });
  }

  async #find(segments: readonly string[]): Promise<Found | undefined> {
    const root = await this.#root;
    try {
      const path = await realpath([root, ...segments].join("/"));
      if (!isWithin(path, root)) return undefined;
      const info = await stat(path);
      if (info.isFile()) return { path, info };
      const isIndexed = info.isDirectory() && segments.at(-1) !== INDEX;
      return isIndexed ? await this.#find([...segments, INDEX]) : undefined;
    } catch (cause) {
      if (MISSING.includes(String(codeOf(cause)))) return undefined;
      throw cause;
    }
  }
}

/** Where a path leads, or will when its last folders are made. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (cause) {
    if (codeOf(cause) !== "ENOENT") throw cause;
    const whole = resolve(path);
    return join(await realPathOf(dirname(whole)), basename(whole));
  }
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}

function segmentsOf(pathname: string): string[] | undefined {
  const segments: string[] = [];
  for (const raw of pathname.split("/")) {
    const segment = decoded(raw);
    if (segment === undefined) return undefined;
    if (segment === "") continue;
    if (segment.startsWith(".") || ODD.test(segment)) return undefined;
    segments.push(segment);
  }
  return segments;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function headersOf(
  { path, info }: Found,
  policy: string,
): Record<string, string> {
  const ending = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  const stamp = `${info.size}:${info.mtime.getTime()}:${info.ino}`;
  return {
    "content-type": TYPES[ending] ?? "application/octet-stream",
    "content-length": String(info.size),
    "x-content-type-options": "nosniff",
    "content-security-policy": policy,
    // Nobody puts the app's pages into a frame of his own.
    "x-frame-options": "SAMEORIGIN",
    "cache-control": "no-cache",
    etag: `"${toHex(sha256(encodeText(stamp)).subarray(0, 12))}"`,
  };
}
