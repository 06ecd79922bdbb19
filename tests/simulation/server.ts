/**
 * The server: repositories opened on demand behind a host that takes
 * connections.
 *
 * @module
 */

import { createSigner } from "../../crypto/mod.ts";
import type { Replica } from "../../repo/replica.ts";
import { SyncHost } from "../../sync/host.ts";
import { Actor } from "./actor.ts";
import type { ActorWorld } from "./actor_world.ts";
import { mayRead } from "./allowed.ts";
import type { Client } from "./client.ts";
import type { Dice } from "./dice.ts";
import { Shelf } from "./shelf.ts";
import type { Stage } from "./stage.ts";

/** See the file's header. */
export class Server extends Actor {
  #host: SyncHost | undefined;
  #shelf: Shelf | undefined;
  /** When its disk was lost last, in virtual milliseconds. */
  wipedMs = -Infinity;

  constructor(stage: Stage, dice: Dice) {
    super(stage, "s", dice);
    this.clock.offsetMs = 0;
  }

  /** What is open of a repository. */
  replica(name: string): Replica | undefined {
    return this.#shelf?.find(name)?.replica;
  }

  /** How many commits it has, over all open repositories. */
  get commits(): number {
    let commits = 0;
    for (const { replica } of this.#shelf?.all() ?? []) {
      commits += replica.graph.commits;
    }
    return commits;
  }

  protected open(world: ActorWorld): Promise<void> {
    const { network } = this.stage;
    this.#shelf = new Shelf(this, world);
    this.#host = new SyncHost({});
    network.listener = (transport, link) =>
      this.#host?.accept(transport, { address: link.client });
    return Promise.resolve();
  }

  /** A repository is being closed; it must succeed as long as the disk does. */
  closes(closing: Promise<void>): void {
    this.guard(this.world, closing);
  }

  protected async shut(): Promise<void> {
    this.stage.network.listener = undefined;
    await this.#host?.goodbye(this.dice.between(0, 2_000));
    await this.#shelf?.shut();
  }

  protected drop(isClean: boolean): void {
    this.#host = undefined;
    this.#shelf = undefined;
    this.stage.network.listener = undefined;
    if (isClean) return;
    const client = this.dice.chance(0.7) ? "told" : "untold";
    this.stage.network.breakAll({ client, server: "dead" });
  }

  /** Its disk is lost; another one comes, and the same root key. */
  wipe(): void {
    const { stage } = this;
    this.crash(true);
    this.disk.wipe();
    this.wipedMs = stage.timeline.nowMs;
    stage.blames.add("wipe");
    stage.trace.note(this.name, "wipe");
  }
}
