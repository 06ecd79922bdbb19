/**
 * How a database is opened: the options, checked before anything is touched.
 */

import { fromHex } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { Rules } from "../schema/rules.ts";
import type { Schema } from "../schema/schema.ts";
import type { TextEngine } from "../schema/text_state.ts";
import type { KeyVault } from "../storage/key_vault.ts";
import type { Storage } from "../storage/storage.ts";
import type { Mode, ScrubPace } from "../../repo/mod.ts";
import type { QueryHooks } from "./engines.ts";
import type { KeptSession } from "./keyring.ts";

/** How a database is opened. */
export interface DatabaseOptions {
  /** The folder on disk (Deno). Either this or `storage`. */
  readonly path?: string;
  /** Any other medium: `memoryStorage()`, or one of your own. */
  readonly storage?: Storage;
  /**
   * How new repositories are signed and made durable (default: "default"). When
   * given, repositories that are there must have this mode.
   */
  readonly mode?: Mode;
  /** The collections of this app. */
  readonly schemas?: readonly Schema[];
  /**
   * Shows edited texts of collections that are in none of `schemas`: the
   * `textEngine` of `@sheaf/sheaf/text`. Without it they read as `undefined`.
   */
  readonly textEngine?: TextEngine;
  /**
   * Who may write what (`defineRules`): asked before each write of a certified
   * session, which throws `denied`, and of everything that comes in. Servers and
   * clients of one app have the same ones.
   */
  readonly rules?: Rules;
  /**
   * Does each transaction carry 16 random bytes, so that the hash that a
   * redaction leaves of it cannot be guessed back (default: false)? Servers and
   * clients of one app say the same: one that says so takes no write without.
   */
  readonly salt?: boolean;
  /**
   * Who writes here, until a server's certificate says it (default: "local").
   * One folder may hold the keys of several users, one opened at a time.
   */
  readonly user?: string;
  /**
   * The root public key that the folder must belong to: 32 bytes, or 64
   * hexadecimal digits, as a server prints it. An empty folder becomes a client
   * of that root: it works offline at once and gets its certificate when it
   * connects. Without it, a new folder gets a root key of its own.
   */
  readonly rootKey?: Uint8Array | string;
  /**
   * The secret of the root key, 32 bytes: a folder that has it certifies
   * sessions itself. For a server that takes the place of a lost one.
   */
  readonly rootSecret?: Uint8Array;
  /** May this session certify others? For servers (default: false). */
  readonly mayIssue?: boolean;
  /** Set damaged log bytes aside and open what is left, instead of failing. */
  readonly repair?: boolean;
  /**
   * Reads what is there, and writes nothing: for a medium that cannot be written.
   * It takes no lock, connects to nobody, and every write fails with `storage-readonly`.
   */
  readonly readOnly?: boolean;
  /**
   * Reads everything over and over, slowly, to find rot before it is needed:
   * `true`, or how fast (default: false; servers and the owners of a browser's
   * files do it). What it finds is an incident of `storage`.
   */
  readonly scrub?: boolean | ScrubPace;
  /** Hears hints on slow queries; silent when absent. */
  readonly onSlowQuery?: (hint: string) => void;
  /**
   * Hears what a listener or predicate of a live query throws. When absent it is
   * reported like any uncaught error, which in Deno ends the program.
   */
  readonly onListenerError?: (error: unknown) => void;
  /** Clock, dice and timers; the real ones when absent. */
  readonly world?: World;
}

/** The names of options that hold wherever a database is opened. */
export const sharedOptions = {
  mode: 0,
  schemas: 0,
  textEngine: 0,
  rules: 0,
  salt: 0,
  user: 0,
  rootKey: 0,
  onSlowQuery: 0,
  onListenerError: 0,
};

export const connectOptions = { session: 0, login: 0, renew: 0 };

/** What `src/browser` asks for beside it. */
export interface OwnerOptions extends DatabaseOptions {
  /** Is it the owner of a device's files, whose tabs write the chains? */
  readonly isOwner?: boolean;
  /** Keeps new keys so that nobody can read them. */
  readonly vault?: KeyVault;
  /** Who wrote here until all files were lost: fresh ones go on with it. */
  readonly lostSession?: KeptSession;
}

/** A mode, or `invalid-option`. */
export function parseMode(mode: unknown): Mode {
  if (mode === "default" || mode === "trusted" || mode === "fast") return mode;
  throw new DatabaseError(
    "invalid-option",
    `\`mode\` must be "default", "trusted" or "fast", not ${
      JSON.stringify(mode)
    }`,
  );
}

/** Fails with `invalid-option` where it is neither said nor denied that writes are salted. */
export function checkSalt(salt: unknown): void {
  if (salt === undefined || typeof salt === "boolean") return;
  throw new DatabaseError("invalid-option", "`salt` must be true or false");
}

/** A user, or `invalid-option`. */
export function parseUser(user: unknown): string {
  const fits = typeof user === "string" && user !== "" && user.isWellFormed() &&
    user.length * 3 <= limits.userBytesMax;
  if (fits) return user;
  throw new DatabaseError(
    "invalid-option",
    `\`user\` must be a string of 1 to ${
      Math.floor(limits.userBytesMax / 3)
    } characters`,
  );
}

export function hooksOf(options: DatabaseOptions): QueryHooks {
  const { onSlowQuery, onListenerError } = options;
  return {
    ...(onSlowQuery !== undefined && { onSlow: onSlowQuery }),
    ...(onListenerError !== undefined && { onError: onListenerError }),
  };
}

/** A root public key as 32 bytes, or `invalid-option`. */
export function parseRootKey(key: unknown): Uint8Array {
  if (key instanceof Uint8Array && key.length === 32) return key.slice();
  if (typeof key === "string" && /^[0-9a-fA-F]{64}$/.test(key)) {
    return fromHex(key.toLowerCase());
  }
  throw new DatabaseError(
    "invalid-option",
    "`rootKey` must be 32 bytes or 64 hexadecimal digits. A server prints it at its start",
  );
}

/** Fails with `invalid-option` where rules are none. */
export function checkRules(rules: unknown): void {
  const of = (rules as { of?: unknown } | null | undefined)?.of;
  if (rules === undefined || typeof of === "function") return;
  throw new DatabaseError(
    "invalid-option",
    "`rules` must be what defineRules() gives",
  );
}
