/**
 * Repositories whose storage fails: told in the log and to those who use them,
 * and counted for who asks how the server is.
 *
 * Architecture invariant: a client is never left to believe that a server keeps
 * what it cannot keep.
 *
 * @module
 */

import type { DatabaseError } from "../src/base/errors.ts";
import type { Database } from "../src/db/database.ts";
import { internalsOf } from "../src/db/internals.ts";
import type { Storage } from "../src/storage/storage.ts";
import { isDamage } from "../repo/log/mend.ts";
import { markDamaged, type Replica, type RepositoryName } from "../repo/mod.ts";
import type { SyncHost } from "../sync/host.ts";
import type { Hub } from "./hub.ts";
import { type Log, messageOf } from "./log.ts";

/**
 * What is done about a repository that cannot be opened: it is logged, and where
 * its log is damaged, repaired when it is tried again.
 *
 * @param storage where repairs are wanted
 */
export function failedOpening(
  log: Log,
  storage: Storage | undefined,
): (name: RepositoryName, error: unknown) => void {
  return (repository, error) => {
    const message = messageOf(error);
    log.write("error", "repository-failed", { repository, message });
    if (storage === undefined || !isDamage(error)) return;
    markDamaged(storage, repository);
  };
}

/** What it works with. */
export interface FailuresParts {
  readonly log: Log;
  readonly hub: Hub;
  readonly decline: SyncHost["decline"];
  /** The server's own repository: only a restart opens it again. */
  readonly own: Replica;
  readonly database: Database;
}

/** What fails now. */
export class Failures {
  readonly #parts: FailuresParts;
  #isOwnFailing = false;

  constructor(parts: FailuresParts) {
    this.#parts = parts;
    const { own, database } = parts;
    internalsOf(database).onDamaged?.((name, why) => this.#damaged(name, why));
    own.loaded.log.onFailed((failure) => {
      this.#isOwnFailing = true;
      this.#tell(own.name, failure);
    });
  }

  /** How many repositories cannot be used now. */
  get count(): number {
    return this.#parts.hub.failing + (this.#isOwnFailing ? 1 : 0);
  }

  /** Watches one that is open for peers; the result ends it. */
  follow({ name, loaded }: Replica): () => void {
    const { hub, decline } = this.#parts;
    return loaded.log.onFailed((failure) => {
      this.#tell(name, failure);
      hub.fail(name);
      decline(
        name,
        "unavailable",
        "The server's storage fails: it cannot keep anything now",
      );
    });
  }

  /** What is found damaged is closed, repaired when it is opened, and filled by its clients. */
  #damaged(name: RepositoryName, why: DatabaseError): void {
    const { hub, log } = this.#parts;
    log.write("error", "repository-damaged", {
      repository: name,
      message: why.message,
    });
    const replica = hub.mayReopen(name) ? hub.replicaOf(name) : undefined;
    const fail = () => replica?.loaded.log.fail(why);
    // What is not durable yet would have to be sent again.
    replica?.durable().then(fail, fail);
  }

  #tell(repository: RepositoryName, { message }: DatabaseError): void {
    this.#parts.log.write("error", "repository-failing", {
      repository,
      message,
    });
  }
}
