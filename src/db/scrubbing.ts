/**
 * Scrubbing the repositories of a database that are open: what is found is an
 * incident of its storage, and told to who can close and open them again.
 */

import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type {
  Replica,
  RepositoryName,
  ScrubFinding,
  ScrubPace,
} from "../../repo/mod.ts";
import type { Storage } from "../storage/storage.ts";
import type { StorageIncident } from "./storage_status.ts";

/** Hears that a repository is repaired when it is opened again. */
export type HearDamage = (name: RepositoryName, why: DatabaseError) => void;

export interface ScrubbingParts {
  readonly storage: Storage;
  readonly world: World;
  /** Not at all, or how fast. */
  readonly scrub: boolean | ScrubPace;
  readonly incident: (incident: StorageIncident) => void;
  /** Writes the keys anew where they rotted; did they? */
  readonly mendKeys: () => Promise<boolean>;
}

/** What is told of keys that had rotted. */
export function keysMended(world: Pick<World, "now">): StorageIncident {
  const message = "The file of the keys was damaged: it was written anew";
  return { code: "keys-mended", at: world.now(), message };
}

export class Scrubbing {
  readonly #parts: ScrubbingParts;
  readonly #ends = new Map<RepositoryName, () => void>();
  readonly #listeners = new Set<HearDamage>();
  #cancelKeys: (() => void) | undefined;

  constructor(parts: ScrubbingParts) {
    this.#parts = parts;
  }

  /** Hears of damage; whoever opened the repository may close it then. */
  readonly onDamaged = (hear: HearDamage): void => {
    this.#listeners.add(hear);
  };

  get #pace(): ScrubPace {
    const { scrub } = this.#parts;
    return typeof scrub === "boolean" ? {} : scrub;
  }

  begin(replica: Replica): void {
    const { storage, world, scrub } = this.#parts;
    if (scrub === false) return;
    const pace = this.#pace;
    this.#cancelKeys ??= this.#keysLater(pace.stepMs ?? limits.scrubStepMs);
    const { loaded, name } = replica;
    const found = (finding: ScrubFinding) => this.#found(replica, finding);
    // What it takes is not loaded for those who leave at once.
    const cancel = world.after(pace.stepMs ?? limits.scrubStepMs, async () => {
      const { Scrubber } = await import("../../repo/seldom.ts");
      if (this.#ends.get(name) !== cancel) return;
      const sharers = () => Math.max(1, this.#ends.size);
      const parts = { storage, world, loaded, pace, sharers, found };
      const scrubber = new Scrubber(parts);
      this.#ends.set(name, () => scrubber.stop());
    });
    this.#ends.set(name, cancel);
  }

  /** The keys are in memory as long as the database is open, and nowhere else but in their file. */
  #keysLater(ms: number): () => void {
    const { world, mendKeys, incident } = this.#parts;
    return world.after(ms, () => {
      const { everyMs = limits.scrubEveryMs } = this.#pace;
      this.#cancelKeys = this.#keysLater(everyMs);
      mendKeys().then((isMended) => {
        if (isMended) incident(keysMended(world));
      }, () => {}); // A medium that fails is told of by the logs.
    });
  }

  #found({ name }: Replica, { code, message }: ScrubFinding): void {
    const { incident, world } = this.#parts;
    incident({ code, at: world.now(), message: `${name}: ${message}` });
    if (code !== "log-damaged" && code !== "checkpoint-damaged") return;
    const why = new DatabaseError(code, message);
    for (const hear of this.#listeners) hear(name, why);
  }

  end(name: RepositoryName): void {
    this.#ends.get(name)?.();
    this.#ends.delete(name);
    if (this.#ends.size > 0) return;
    this.#cancelKeys?.();
    this.#cancelKeys = undefined;
  }
}
