/** Bodies of requests and answers: JSON, bounded in size and time. */

import { isWeakKey } from "../crypto/mod.ts";
import { concatBytes, decodeText, fromHex } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";

export interface Asked {
  readonly request: Request;
  /** Without the base. */
  readonly path: string;
  /** For quotas and logs. */
  readonly address: string;
}

/** A request that cannot be answered as it was meant. */
export class HttpFault extends Error {
  readonly status: number;
  readonly code: string;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    code: string,
    message: string,
    fields: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.fields = fields;
    this.name = "HttpFault";
    this.status = status;
    this.code = code;
  }
}

const tooLarge = () =>
  new HttpFault(
    413,
    "too-large",
    `A body takes ${limits.httpBodyBytesMax} bytes at most`,
  );

export async function readJson(request: Request): Promise<unknown> {
  const declared = Number(request.headers.get("content-length") ?? "0");
  if (declared > limits.httpBodyBytesMax) throw tooLarge();
  if (request.bodyUsed) {
    throw new TypeError("The app read the body before the server got it");
  }
  const bytes = await readBounded(request);
  try {
    return JSON.parse(decodeText(bytes));
  } catch {
    throw new HttpFault(400, "bad-request", "The body is no JSON");
  }
}

async function readBounded(request: Request): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const slow = new HttpFault(408, "timeout", "The body came too slowly");
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(slow), limits.httpBodyMsMax);
  });
  try {
    return await Promise.race([gather(reader), late]);
  } catch (error) {
    reader.cancel().catch(() => {}); // The request is over either way.
    if (error instanceof HttpFault) throw error;
    // Whoever sent it is gone: no failure of this server.
    throw new HttpFault(400, "bad-request", "The body ended early");
  } finally {
    clearTimeout(timer);
  }
}

async function gather(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > limits.httpBodyBytesMax) throw tooLarge();
    pieces.push(value);
  }
  return concatBytes(...pieces);
}

/** Answers with JSON that nobody caches. */
export function jsonResponse(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      ...headers,
    },
  });
}

export function faultResponse(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return jsonResponse({ code, message }, status, headers);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const KEY = /^[0-9a-f]{64}$/;

export function parseSessionKey(value: unknown): string {
  const key = typeof value === "string" ? value.toLowerCase() : "";
  if (!KEY.test(key) || isWeakKey(fromHex(key))) {
    throw new HttpFault(
      400,
      "bad-request",
      "`sessionKey` must be an Ed25519 public key of 64 hexadecimal digits",
    );
  }
  return key;
}
