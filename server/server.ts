/**
 * The server: a service with a listener before it.
 *
 * @module
 */

import { toHex } from "../src/base/bytes.ts";
import type { Database } from "../src/db/database.ts";
import { diskStorage } from "../src/storage/disk_storage.ts";
import type { Server, ServerStatus, Whom } from "./api.ts";
import type { CopyReport } from "./backup.ts";
import { listen, type Listener } from "./listener.ts";
import type { ServerOptions } from "./options.ts";
import type { QuarantineEntry } from "./quarantine.ts";
import type { Service } from "./service.ts";
import { StaticFiles } from "./static_files.ts";

/** A server that listens. */
export class RunningServer implements Server {
  readonly #service: Service;
  readonly #listener: Listener;
  readonly #backup: (folder: string) => Promise<CopyReport>;
  #closing: Promise<void> | undefined;

  private constructor(
    service: Service,
    listener: Listener,
    backup: (folder: string) => Promise<CopyReport>,
  ) {
    this.#backup = backup;
    this.#service = service;
    this.#listener = listener;
  }

  /** Begins to listen. */
  static async start(
    service: Service,
    options: ServerOptions,
  ): Promise<RunningServer> {
    const backup = backupOf(service, options);
    const actions = {
      revoke: (whom: Whom, reason: string) => service.revoke(whom, reason),
      quarantine: () => service.quarantine(),
      accept: (id: string) => service.accept(id),
      drop: (id: string) => service.drop(id),
      backup,
    };
    const listener = await listen({ options, service, actions });
    const { url } = listener;
    service.log.write("info", "listening", {
      url,
      rootKey: toHex(service.rootKey),
    });
    return new RunningServer(service, listener, backup);
  }

  get name(): string {
    return this.#service.name;
  }

  get url(): string {
    return this.#listener.url;
  }

  get rootKey(): Uint8Array {
    return this.#service.rootKey;
  }

  get isNew(): boolean {
    return this.#service.isNew;
  }

  get database(): Database {
    return this.#service.database;
  }

  status(): ServerStatus {
    return this.#service.status();
  }

  revoke(
    whom: Whom,
    reason = "",
  ): Promise<{ sessions: readonly string[]; repositories: number }> {
    return this.#service.revoke(whom, reason);
  }

  quarantine(): QuarantineEntry[] {
    return this.#service.quarantine();
  }

  accept(id: string): Promise<number> {
    return this.#service.accept(id);
  }

  drop(id: string): Promise<void> {
    return this.#service.drop(id);
  }

  backup(folder: string): Promise<CopyReport> {
    return this.#backup(folder);
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    try {
      await this.#service.drain();
      await this.#listener.close();
    } finally {
      await this.#service.close();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Copies the database to a folder, but not to where everybody may read the keys. */
function backupOf(service: Service, { static: folder }: ServerOptions) {
  return async (target: string): Promise<CopyReport> => {
    if (folder !== undefined) await new StaticFiles(folder).checkApart(target);
    const report = await service.backup(diskStorage(target));
    service.log.write("info", "backup", { folder: target, ...report });
    return report;
  };
}
