/**
 * The repositories of an owner: opened when a tab asks, closed when none has
 * them open any more, opened again after their log failed.
 */

import { parseRepositoryName, replicaFolder } from "../../repo/mod.ts";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { DatabaseOf } from "../db/local_database.ts";
import type { DatabaseInternals } from "../db/internals.ts";
import type { BareRepository } from "../db/bare_repository.ts";
import type { DeleteOptions } from "../db/face.ts";
import type { Open, WriteRecords } from "./messages.ts";
import { lifeOf } from "./owner_image.ts";
import type { Member } from "./owner_members.ts";
import {
  OwnedRepository,
  type OwnedRepositoryParts,
} from "./owner_repository.ts";

/** The database of an owner: nobody reads items there, the pages do. */
export type OwnedDatabase = DatabaseOf<BareRepository>;

export interface OwnedRepositoriesParts
  extends Omit<OwnedRepositoryParts, "repository"> {
  readonly database: Pick<OwnedDatabase, "deleteRepository" | "repository">;
  readonly changed: () => void;
  /** Hears of damage in what is open. */
  readonly onDamaged: DatabaseInternals["onDamaged"];
}

export class OwnedRepositories {
  readonly #parts: OwnedRepositoriesParts;
  readonly #opening = new Map<string, Promise<OwnedRepository>>();
  readonly #open = new Map<string, OwnedRepository>();
  /** Those that are being deleted: they are opened afterwards. */
  readonly #deleting = new Map<string, Promise<void>>();
  #isStopped = false;

  constructor(parts: OwnedRepositoriesParts) {
    this.#parts = parts;
    parts.onDamaged((name) => {
      const owned = this.#open.get(name);
      if (owned !== undefined) void this.#restart(owned);
    });
  }

  get(name: string): OwnedRepository | undefined {
    return this.#open.get(name);
  }

  need(name: string | undefined): OwnedRepository {
    const owned = this.#open.get(name ?? "");
    if (owned !== undefined) return owned;
    throw new DatabaseError(
      "closed",
      `The repository ${JSON.stringify(name)} is not open: open it first`,
    );
  }

  async open(tab: Member, open: Open): Promise<void> {
    const { repository } = open;
    while (this.#deleting.has(repository)) await this.#deleting.get(repository);
    if (await this.#isDeleted(open)) {
      return tab.post({ kind: "deleted", repository });
    }
    let owned = await this.#owned(open.repository);
    if (owned.isFailed) {
      await this.#restart(owned);
      owned = await this.#owned(open.repository);
    }
    await owned.open(tab, open);
  }

  /** Was what a tab has deleted, while it did not hear of it? Files that were lost say nothing of it. */
  async #isDeleted({ repository, at, life }: Open): Promise<boolean> {
    if (at === undefined) return false;
    const { storage } = this.#parts;
    const folder = replicaFolder(parseRepositoryName(repository));
    await storage.prepare?.(folder);
    try {
      const now = lifeOf(storage, folder);
      return now !== undefined && now !== life;
    } finally {
      storage.release?.(folder);
    }
  }

  delete(name: string, options: DeleteOptions): Promise<void> {
    const deleting = this.#delete(name, options);
    const done = deleting.catch(() => {}).then(() => {
      if (this.#deleting.get(name) === done) this.#deleting.delete(name);
    });
    this.#deleting.set(name, done);
    return deleting;
  }

  async #delete(name: string, options: DeleteOptions): Promise<void> {
    try {
      await this.#parts.database.deleteRepository(name, options);
      this.#open.get(name)?.deleted();
    } finally {
      const owned = this.#open.get(name);
      if (owned?.isFailed) await this.#restart(owned);
    }
  }

  #owned(name: string): Promise<OwnedRepository> {
    let opening = this.#opening.get(name);
    if (opening === undefined) {
      opening = this.#make(name);
      this.#opening.set(name, opening);
      opening.catch(() => this.#opening.delete(name));
    }
    return opening;
  }

  async #make(name: string): Promise<OwnedRepository> {
    const repository = await this.#parts.database.repository(name);
    const owned = new OwnedRepository({ ...this.#parts, repository });
    if (this.#isStopped) owned.stop();
    else this.#open.set(name, owned);
    this.#parts.changed();
    return owned;
  }

  /** A log that failed or is damaged is mended by opening it again; its tabs go on after that, and bring what it lacks. */
  async #restart(owned: OwnedRepository): Promise<void> {
    if (this.#open.get(owned.name) !== owned) return;
    owned.reload();
    await this.#close(owned).catch(() => {}); // It had failed before.
  }

  #close(owned: OwnedRepository): Promise<void> {
    this.#open.delete(owned.name);
    this.#opening.delete(owned.name);
    owned.stop();
    this.#parts.changed();
    return owned.repository.close();
  }

  write(tab: Member, message: WriteRecords): void {
    const { repository } = message;
    const owned = this.#open.get(repository);
    if (owned !== undefined) owned.write(tab, message);
    else tab.post({ kind: "reload", repository });
  }

  leave(tab: Member, name: string): void {
    const owned = this.#open.get(name);
    if (owned === undefined) return;
    owned.leave(tab);
    if (owned.isUsed) return;
    this.#parts.world.after(limits.tabIdleMs, () => void this.#idle(owned));
  }

  /** Nobody had it open a while ago. */
  async #idle(owned: OwnedRepository): Promise<void> {
    await owned.overwritten.save();
    if (this.#isStopped || this.#open.get(owned.name) !== owned) return;
    if (owned.isUsed || owned.isOpening) return;
    this.#close(owned).catch(() => {}); // What failed is told to who opens it next.
  }

  gone(tab: Member): void {
    for (const name of [...this.#open.keys()]) this.leave(tab, name);
  }

  /** Tells nobody anything any more; the database closes them. */
  stop(): void {
    this.#isStopped = true;
    for (const owned of this.#open.values()) owned.stop();
  }
}
