/**
 * Own edits that lost, at the owner of the files: found for all tabs of the
 * device, and told to one of them at a time.
 *
 * What finds them is loaded when a page first listens.
 *
 * @module
 */

import type { World } from "../base/world.ts";
import { localFileOf, overwrittenFile } from "../db/local_file.ts";
import type { Told } from "../db/overwritten.ts";
import type { OverwrittenEdits } from "../db/overwritten_edits.ts";
import type { Storage } from "../storage/storage.ts";
import type { Replica } from "../../repo/mod.ts";
import type { Member } from "./owner_members.ts";

/** What they work with. */
export interface OwnedOverwrittenParts {
  readonly replica: Replica;
  readonly storage: Storage;
  readonly world: World;
  /** Who has the repository open. */
  readonly tabs: () => readonly Member[];
}

/** Those of one repository. */
export class OwnedOverwritten {
  readonly #parts: OwnedOverwrittenParts;
  #edits: Promise<OverwrittenEdits> | undefined;
  #isStopped = false;

  constructor(parts: OwnedOverwrittenParts) {
    this.#parts = parts;
  }

  /** Notes what a tab has taken, and gives it what there is to tell. */
  async take(
    { id }: Member,
    [collection, taking]: readonly unknown[],
  ): Promise<Told> {
    this.#edits ??= this.#load();
    return await (await this.#edits).takeSaid(id, collection, taking);
  }

  async #load(): Promise<OverwrittenEdits> {
    const { OverwrittenEdits } = await import("../db/overwritten_edits.ts");
    const { replica, storage, world } = this.#parts;
    const edits = new OverwrittenEdits({
      ...{ replica, world },
      file: localFileOf(storage, replica.loaded.folder, overwrittenFile),
      news: (consumers) => this.#tell(consumers),
    });
    if (this.#isStopped) edits.stop();
    return edits;
  }

  /** A page that nobody sees may be frozen: it is told where no other one listens. */
  #tell(consumers: readonly string[]): void {
    const tabs = this.#parts.tabs().filter(({ id }) => consumers.includes(id));
    const tab = tabs.find(({ isHidden }) => !isHidden) ?? tabs[0];
    tab?.post({ kind: "overwritten", repository: this.#parts.replica.name });
  }

  /** A tab listens no more. */
  async leave({ id }: Member): Promise<void> {
    (await this.#edits)?.leave(id);
  }

  /** Writes down what is kept. */
  async save(): Promise<void> {
    await (await this.#edits)?.save();
  }

  /** Looks no more. */
  stop(): void {
    this.#isStopped = true;
    void this.#edits?.then((edits) => edits.stop());
  }
}
