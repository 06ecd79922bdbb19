/**
 * What tabs are told of the database as a whole: storage, connection, session,
 * repositories and tabs; whenever it changed, at most once a frame.
 */

import type { World } from "../base/world.ts";
import { limits } from "../base/limits.ts";
import { internalsOf } from "../db/internals.ts";
import type { OwnedDatabase } from "./owner_repositories.ts";
import type { DatabaseReport, SessionReport } from "./messages.ts";
import { type Broadcast, type Member, tellAll } from "./owner_members.ts";

export interface DatabaseReportsParts {
  readonly database: OwnedDatabase;
  readonly world: World;
  readonly tabs: () => readonly Member[];
  readonly broadcast: Broadcast;
  readonly connection: () => DatabaseReport["connection"];
}

export class DatabaseReports {
  readonly #parts: DatabaseReportsParts;
  #session: SessionReport;
  #cancel: (() => void) | undefined;
  readonly #endListening: () => void;

  constructor(parts: DatabaseReportsParts) {
    this.#parts = parts;
    this.#session = sessionOf(parts.database);
    this.#endListening = parts.database.storage.subscribe(() => this.changed());
  }

  /**
   * Something changed: tabs are told soon; of another session at once, before they
   * hear that the server has what was written under it: the files may be gone then.
   */
  changed(): void {
    const session = sessionOf(this.#parts.database);
    if (!isSame(session, this.#session)) return this.#tell();
    this.#cancel ??= this.#parts.world.after(limits.tabReportMs, () => {
      this.#cancel = undefined;
      this.#tell();
    });
  }

  #tell(): void {
    const session = sessionOf(this.#parts.database);
    const isNew = !isSame(session, this.#session);
    this.#session = session;
    const report = { ...this.report(), ...isNew && { session } };
    const { tabs, broadcast } = this.#parts;
    tellAll(tabs(), report, broadcast);
  }

  report(): DatabaseReport {
    const { database, tabs, connection } = this.#parts;
    return {
      kind: "database",
      storage: database.storage.status(),
      connection: connection(),
      repositories: database.repositories(),
      tabs: tabs().map(({ id }) => id),
    };
  }

  close(): void {
    this.#cancel?.();
    this.#endListening();
  }
}

export function sessionOf(database: OwnedDatabase): SessionReport {
  const { keyring } = internalsOf(database);
  const { user, signer, certificate, others = [] } = keyring.session;
  return {
    user,
    publicKey: signer.publicKey,
    key: keyring.key.secret,
    certificate,
    others,
  };
}

function isSame(a: SessionReport, b: SessionReport): boolean {
  return a.user === b.user && String(a.publicKey) === String(b.publicKey) &&
    String(a.certificate) === String(b.certificate) &&
    a.others.length === b.others.length;
}
