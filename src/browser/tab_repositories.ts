/**
 * The repositories of a tab: opened once each, and closed with the owner's
 * knowledge.
 */

import { FollowingWorld } from "../base/server_clock.ts";
import type { World } from "../base/world.ts";
import { DatabaseError } from "../base/errors.ts";
import { openedOf, type OpenRepository } from "../db/internals.ts";
import { type DatabaseOptions, hooksOf } from "../db/options.ts";
import type { RemoteRepository } from "../db/bare_repository.ts";
import { Repository } from "../db/repository.ts";
import { RepositoryLink } from "../db/repository_link.ts";
import type { Schemas } from "../db/schemas.ts";
import { UnfitFields } from "../db/unfit_fields.ts";
import type { OverwrittenSource, Told } from "../db/overwritten.ts";
import type { LocalFile } from "../db/local_file.ts";
import {
  type LentChain,
  parseRepositoryName,
  Replica,
  replicaFolder,
  type RepositoryName,
  type Session,
  type VerifyReport,
} from "../../repo/mod.ts";
import type { DeleteOptions } from "../db/face.ts";
import type { Standing, Welcome } from "./messages.ts";
import type { Left } from "./tab_left.ts";
import type { TabLink } from "./tab_link.ts";
import { type RepositoryMessage, TabRepository } from "./tab_repository.ts";
import type { TabStorage } from "./tab_storage.ts";

export interface TabRepositoriesParts {
  readonly options: Omit<DatabaseOptions, "path" | "storage">;
  readonly schemas: Schemas;
  readonly world: World;
  readonly isHidden: () => boolean;
  readonly link: TabLink;
  readonly welcome: () => Welcome;
  readonly session: () => Session;
  /** One was opened or closed. */
  readonly changed: () => void;
  readonly left: Left;
}

export class TabRepositories {
  readonly #parts: TabRepositoriesParts;
  /** What dates commits: it follows the server's clock, as the owner knows it. */
  readonly #clock: FollowingWorld;
  #offsetMs: number | undefined;
  readonly #opening = new Map<RepositoryName, Promise<Repository>>();
  readonly #open = new Map<RepositoryName, Repository>();
  readonly #tabs = new Map<string, TabRepository>();
  readonly #overwritten = new Map<string, OverwrittenSource>();
  readonly #closings = new Map<RepositoryName, Promise<void>>();

  constructor(parts: TabRepositoriesParts) {
    this.#parts = parts;
    this.#clock = new FollowingWorld(parts.world);
  }

  names(): string[] {
    return [...this.#open.keys()].sort();
  }

  all(): OpenRepository[] {
    return [...this.#open.values()].flatMap(openedOf);
  }

  chains(): [repository: string, chain: string][] {
    return [...this.#tabs].map(([name, { chain }]): [string, string] => [
      name,
      chain,
    ]).filter(([, chain]) => chain !== "");
  }

  get unsyncedBytes(): number {
    return [...this.#tabs.values()]
      .reduce((sum, { unsyncedBytes }) => sum + unsyncedBytes, 0);
  }

  /** The page may go away, be it without another word. */
  keep(): void {
    for (const { saveUndo } of this.all()) saveUndo();
    for (const one of this.#tabs.values()) one.keep();
  }

  /** It is back. */
  back(): void {
    for (const name of this.#tabs.keys()) this.#parts.left.back(name);
  }

  isJoined(name: string): boolean {
    return this.#tabs.get(name)?.isJoined === true;
  }

  get isWaiting(): boolean {
    return [...this.#tabs.values()].some((one) => one.isWaiting);
  }

  join(): void {
    for (const one of this.#tabs.values()) one.join();
  }

  /** None can go on. */
  fail(why: DatabaseError): void {
    for (const one of this.#tabs.values()) one.fail(why);
  }

  /** Hears the owner: what the server's clock shows as well, which all that is written here is dated by. */
  hear(message: RepositoryMessage): void {
    const { kind, repository } = message;
    if (kind === "opened") this.#follow(message.sync);
    else if (kind === "sync") this.#follow(message);
    if (kind === "deleted") return this.#deleted(repository);
    if (kind === "overwritten") this.#overwritten.get(repository)?.onNews?.();
    else this.#tabs.get(repository)?.hear(message);
  }

  /** What is open here was deleted, here or in another page. */
  #deleted(name: string): void {
    const tab = this.#tabs.get(name);
    if (tab === undefined) return;
    const why = new DatabaseError(
      "closed",
      `The repository "${name}" was deleted`,
    );
    tab.fail(why);
    const key = name as RepositoryName; // It was opened under this name.
    this.#end(key);
    this.#parts.link.forget(name, why);
    this.#open.get(key)?.close().catch(() => {}); // What was not written is told to who wrote it.
  }

  async delete(name: string, options?: DeleteOptions): Promise<void> {
    const key = parseRepositoryName(name);
    const { link, left } = this.#parts;
    // What the owner has not it cannot count.
    if (options?.unsent === undefined) await this.#open.get(key)?.durable();
    await link.call("deleteRepository", [name, options]);
    await this.#closings.get(key);
    left.forget(name);
  }

  #follow({ status }: Standing): void {
    const clockOffsetMs = status?.clockOffsetMs;
    if (clockOffsetMs === undefined || clockOffsetMs === this.#offsetMs) return;
    this.#offsetMs = clockOffsetMs;
    this.#clock.follow(clockOffsetMs);
  }

  /** Opens one; the same object until it is closed. */
  open(name: string): Promise<Repository> {
    let key: RepositoryName;
    try {
      key = parseRepositoryName(name);
    } catch (cause) {
      return Promise.reject(cause);
    }
    let opening = this.#opening.get(key);
    if (opening === undefined) {
      opening = this.#make(key);
      this.#opening.set(key, opening);
      opening.catch(() => {
        this.#opening.delete(key);
        this.#end(key);
      });
    }
    return opening;
  }

  async #make(name: RepositoryName): Promise<Repository> {
    await this.#closings.get(name);
    const { schemas, options, session } = this.#parts;
    const world = this.#clock;
    const unfit = new UnfitFields(world);
    const tab = this.#join(name, unfit);
    const { replica, storage, channel } = await tab.opened;
    // Reading begins cold, and so do the app's first questions: the page may draw in between.
    await new Promise<void>((resolve) => void world.after(0, resolve));
    replica.useSession(session()); // A login may have come in between.
    const { onListenerError } = options;
    const link = new RepositoryLink({
      replica,
      storage,
      world,
      unfit,
      ...onListenerError && { report: onListenerError },
    });
    const repository = new Repository({
      replica,
      schemas,
      world,
      hooks: hooksOf(options),
      link,
      undoFile: this.#smallFile(tab, name, "undo"),
      overwritten: this.#overwrittenOf(name),
      remote: this.#remote(name, replica),
      closing: (done) => this.#closes(name, done),
    });
    link.join(channel);
    this.#open.set(name, repository);
    this.#parts.changed();
    return repository;
  }

  #join(name: RepositoryName, unfit: UnfitFields): TabRepository {
    const { world, isHidden, link, left, schemas } = this.#parts;
    const tab = new TabRepository({
      name,
      left,
      isRich: schemas.isRich,
      link,
      folder: replicaFolder(name),
      world,
      isHidden,
      joined: () => {
        link.ask(name);
        this.#overwritten.get(name)?.onNews?.(); // A next owner does not know who listens.
      },
      openReplica: (storage, lent) =>
        this.#openReplica(name, storage, lent, unfit),
    });
    this.#tabs.set(name, tab);
    if (link.isWelcome) tab.join();
    return tab;
  }

  async #openReplica(
    name: RepositoryName,
    storage: TabStorage,
    lent: LentChain,
    unfit: UnfitFields,
  ): Promise<Replica> {
    const { schemas, options, welcome, session } = this.#parts;
    const { mode, rootKey } = welcome();
    await schemas.prepare();
    return await Replica.open({
      door: undefined,
      storage,
      world: this.#clock,
      name,
      mode,
      isModeRequired: options.mode !== undefined,
      rootKey,
      session: session(),
      isOriginal: true,
      lent,
      viewOf: schemas.viewsFor(unfit.note),
      schemas: schemas.all(),
      repair: false,
      settle: () => Promise.resolve(),
      ...options.rules && { rules: options.rules },
      salt: options.salt,
    });
  }

  /** What is done where the files are. */
  #remote(name: string, replica: Replica): RemoteRepository {
    const { link } = this.#parts;
    return {
      async durable() {
        await replica.durable();
        // In Fast mode acknowledged is not durable.
        if (replica.mode === "fast") await link.call("durable", [], name);
      },
      async checkpoint() {
        await replica.durable();
        await link.call("checkpoint", [], name);
      },
      async verify({ signal: _, onProgress: __, ...options }) {
        await replica.durable();
        // Both sides are one build: it is the report of the owner's `verify`.
        return await link.call("verify", [options], name) as VerifyReport;
      },
    };
  }

  #overwrittenOf(name: string): OverwrittenSource {
    const { link } = this.#parts;
    const source: OverwrittenSource = {
      onNews: undefined,
      // Both sides are one build.
      take: async (...asked) =>
        await link.call("overwritten", asked, name) as Told,
    };
    this.#overwritten.set(name, source);
    return source;
  }

  #smallFile(tab: TabRepository, repository: string, file: string): LocalFile {
    const { link } = this.#parts;
    return {
      async read() {
        const bytes = await link.call("readFile", [file], repository);
        return bytes instanceof Uint8Array ? bytes : undefined;
      },
      write: async (bytes) => {
        if (this.#tabs.get(repository) !== tab) return; // It was deleted.
        await link.call("writeFile", [file, bytes], repository);
      },
    };
  }

  #closes(name: RepositoryName, done: Promise<void>): void {
    this.#opening.delete(name);
    this.#open.delete(name);
    this.#parts.changed();
    const { link, welcome } = this.#parts;
    const gone = done.then(
      async () => {
        // In Fast mode the owner has it all in memory.
        if (welcome().mode === "fast" && this.#tabs.has(name)) {
          await link.call("durable", [], name);
        }
      },
    ).catch(() => {}).then(() => {
      this.#closings.delete(name);
      this.#end(name);
    });
    this.#closings.set(name, gone);
  }

  #end(name: RepositoryName): void {
    this.#tabs.get(name)?.close();
    this.#tabs.delete(name);
    this.#overwritten.delete(name);
  }

  async close(): Promise<PromiseSettledResult<void>[]> {
    const opening = await Promise.allSettled(this.#opening.values());
    const results = await Promise.allSettled(
      opening.map((one) =>
        one.status === "fulfilled" ? one.value.close() : Promise.resolve()
      ),
    );
    await Promise.all(this.#closings.values());
    return results;
  }
}
