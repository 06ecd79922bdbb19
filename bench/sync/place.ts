/**
 * The stage of a sync case: a server process, and clients in this one.
 *
 * @module
 */

import {
  type Database,
  defineSchema,
  field,
  openDatabase,
  type Repository,
} from "../../mod.ts";
import type { Mode } from "../sqlite/engine.ts";
import { Lines } from "./lines.ts";
import type {
  ServerAssignment,
  ServerFigures,
  ServerHello,
} from "./server_child.ts";

/** What the cases write. */
export const ItemSchema = defineSchema("item", {
  title: field.string(),
  done: field.boolean(),
  rank: field.number(),
  tags: field.set(field.string()),
  createdAt: field.number(),
  author: field.string(),
  body: field.string(),
});

/** What a case gets. */
export interface Stage {
  readonly mode: Mode;
  /** The case's own folder. */
  readonly folder: string;
  readonly isQuick: boolean;
}

/** A running server process. */
export class ServerProcess {
  readonly assignment: ServerAssignment;
  readonly #process: Deno.ChildProcess;
  readonly #lines: Lines;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  hello!: ServerHello;

  private constructor(assignment: ServerAssignment) {
    this.assignment = assignment;
    this.#process = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--allow-all",
        "--v8-flags=--expose-gc",
        new URL("server_child.ts", import.meta.url).href,
        JSON.stringify(assignment),
      ],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#lines = new Lines(this.#process.stdout);
    this.#input = this.#process.stdin.getWriter();
  }

  /** Starts one and waits until it listens. */
  static async start(assignment: ServerAssignment): Promise<ServerProcess> {
    const server = new ServerProcess(assignment);
    server.hello = await server.#read();
    return server;
  }

  async #read<T>(): Promise<T> {
    const line = await this.#lines.next();
    if (line === undefined) throw new Error("The server ended");
    return JSON.parse(line);
  }

  /** The address that clients connect to. */
  get url(): string {
    return this.hello.url.replace(/^http/, "ws");
  }

  /** Its port. */
  get port(): number {
    return Number(new URL(this.hello.url).port);
  }

  /** What it says of itself now; its memory after everything that can go is gone. */
  async figures(isOfMemory = false): Promise<ServerFigures> {
    const command = isOfMemory ? "memory\n" : "?\n";
    await this.#input.write(new TextEncoder().encode(command));
    return await this.#read();
  }

  /** Pulls the plug. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
    await this.#lines.cancel();
  }

  /** Lets it close well. */
  async stop(): Promise<void> {
    await this.#input.close();
    await this.#process.status;
    await this.#lines.cancel();
  }
}

/** Starts a server in the case's folder. */
export function startServer(
  { mode, folder }: Stage,
  port = 0,
): Promise<ServerProcess> {
  return ServerProcess.start({
    data: `${folder}/server`,
    mode,
    port,
    rootKeyFile: `${folder}/root.key`,
  });
}

/** Whoever waits longer waits for something that does not come. */
const WAIT_MS_MAX = 60_000;

/** One client with the bench's repository. */
export class Client {
  private constructor(readonly db: Database, readonly repository: Repository) {}

  /** Opens it; it is not connected yet. */
  static async open(
    stage: Stage,
    name: string,
    rootKey: string,
  ): Promise<Client> {
    const db = await openDatabase({
      path: `${stage.folder}/${name}`,
      mode: stage.mode,
      rootKey,
      schemas: [ItemSchema],
    });
    return new Client(db, await db.repository("bench"));
  }

  /** Connects and waits until it has everything. */
  async connect(url: string): Promise<this> {
    this.db.connect(url, { session: { anonymous: true } });
    await this.live();
    return this;
  }

  /** Its items. */
  get items() {
    return this.repository.collection(ItemSchema);
  }

  /** Resolves when it is live and everything written is acknowledged. */
  live(): Promise<void> {
    return this.until(() => {
      const { state, unsent } = this.repository.sync.status;
      return state === "live" && unsent.commits === 0;
    });
  }

  /** Resolves when the condition holds; asked whenever sync or items changed. */
  until(holds: () => boolean): Promise<void> {
    const levers = Promise.withResolvers<void>();
    const check = (): void => {
      if (holds()) levers.resolve();
    };
    const timer = setInterval(check, 2);
    const late = setTimeout(
      () => levers.reject(new Error(`Waited too long: ${this.#state()}`)),
      WAIT_MS_MAX,
    );
    const unsubscribe = this.repository.sync.subscribe(check);
    const live = this.items.where({}).orderBy("rank").limit(1).subscribe(check);
    queueMicrotask(check);
    return levers.promise.finally(() => {
      clearInterval(timer);
      clearTimeout(late);
      unsubscribe();
      live[Symbol.dispose]();
    });
  }

  /** Where it stands, for whoever waited in vain. */
  #state(): string {
    const { sync } = this.repository;
    return JSON.stringify({
      items: this.items.count(),
      commits: this.repository.status().commits,
      sync: { ...sync.status, refusals: sync.status.refusals.length },
      connection: this.db.connection?.status,
    });
  }

  /** Leaves the server. */
  async leave(): Promise<void> {
    await this.db.connection?.close();
  }
}

/** Says in which item two clients differ, if they do. */
export function differenceBetween(a: Client, b: Client): string | undefined {
  const [left, right] = [a, b].map(({ items }) =>
    new Map(items.all().map((item) => [item.id, JSON.stringify(item)]))
  );
  if (left!.size !== right!.size) {
    return `${left!.size} items on one side, ${right!.size} on the other`;
  }
  for (const [id, text] of left!) {
    if (right!.get(id) !== text) return `item ${id} differs`;
  }
  return undefined;
}
