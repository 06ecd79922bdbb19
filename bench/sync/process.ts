/**
 * A server or a client in a process of its own, which obeys one command a line.
 *
 * @module
 */

import { Obedient } from "../harness/obedient.ts";
import type { Client } from "./client.ts";
import type { Stage } from "./place.ts";
import type {
  ServerAssignment,
  ServerFigures,
  ServerHello,
} from "./server_child.ts";

/** A running server process. */
export class ServerProcess extends Obedient {
  #hello!: ServerHello;

  /** Starts one and waits until it listens. */
  static async start(assignment: ServerAssignment): Promise<ServerProcess> {
    const server = new ServerProcess(
      new URL("server_child.ts", import.meta.url),
      assignment,
    );
    server.#hello = await server.answer();
    return server;
  }

  /** Its key, in hexadecimal. */
  get rootKey(): string {
    return this.#hello.rootKey;
  }

  /** The address that clients connect to. */
  get url(): string {
    return this.#hello.url.replace(/^http/, "ws");
  }

  /** Its port. */
  get port(): number {
    return Number(new URL(this.#hello.url).port);
  }

  /** What it says of itself now; its memory after everything that can go is gone. */
  async figures(isOfMemory = false): Promise<ServerFigures> {
    return await this.ask(isOfMemory ? "memory" : "");
  }
}

/** Starts a server in the case's folder. */
export function startServer(
  { mode, folder }: Pick<Stage, "mode" | "folder">,
  port = 0,
): Promise<ServerProcess> {
  return ServerProcess.start({
    data: `${folder}/server`,
    mode,
    port,
    rootKeyFile: `${folder}/root.key`,
  });
}

/** What a client can be told to do: every method of it takes and gives plain JSON. */
type Orders = {
  [
    Name in keyof Client as Client[Name] extends
      (...args: never) => Promise<unknown> ? Name : never
  ]: Client[Name];
};

/** A client's process, told who it is. */
export interface ClientAssignment {
  readonly stage: Stage;
  readonly name: string;
  readonly rootKey: string;
}

/** A line to a client's process. */
export interface ClientOrder {
  readonly name: keyof Orders;
  readonly args: readonly unknown[];
}

/** What comes back: what it did, or why it could not. */
export interface ClientReply<Value> {
  readonly value: Value;
  readonly failed?: string;
}

/** A running client process. */
export class ClientProcess extends Obedient {
  /** Starts one and waits until its database is open; it is not connected yet. */
  static async start(
    stage: Stage,
    name: string,
    rootKey: string,
  ): Promise<ClientProcess> {
    const assignment: ClientAssignment = { stage, name, rootKey };
    const client = new ClientProcess(
      new URL("client_child.ts", import.meta.url),
      assignment,
    );
    await client.answer();
    return client;
  }

  /** Has it do something. */
  async do<Name extends keyof Orders>(
    name: Name,
    ...args: Parameters<Orders[Name]>
  ): Promise<Awaited<ReturnType<Orders[Name]>>> {
    const order: ClientOrder = { name, args };
    const { value, failed } = await this.ask<
      ClientReply<Awaited<ReturnType<Orders[Name]>>>
    >(order);
    if (failed !== undefined) throw new Error(`${name}: ${failed}`);
    return value;
  }
}

/** What two clients hold that differs, in words. */
export async function differenceBetween(
  a: ClientProcess,
  b: ClientProcess,
): Promise<string | undefined> {
  const [left, right] = await Promise.all([a.do("content"), b.do("content")]);
  if (left.count !== right.count) {
    return `${left.count} items on one side, ${right.count} on the other`;
  }
  return left.hash === right.hash ? undefined : "items differ";
}
