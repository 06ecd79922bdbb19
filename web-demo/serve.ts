/**
 * The server of the demo: the page, the team's repository, and its rules. New
 * data is filled with the last weeks of a team.
 *
 * @module
 */

import {
  createServer,
  type Server,
  type ServerOptions,
} from "@sheaf/sheaf/server";
import { buildDemo } from "./build.ts";
import { teamRepository } from "./data/rules.ts";
import { serverRules } from "./data/server_rules.ts";
import { Board, schemas } from "./data/schema.ts";
import { memberOf } from "./data/team.ts";
import { seed, StoryClock } from "./seed/seed.ts";

/** Where and how the demo's server runs. */
export interface ServeOptions {
  /** Holds the server's data, and the built page in `pages`. */
  readonly folder: string;
  readonly port: number;
  readonly hostname?: string;
}

/** Where and how the demo runs. */
export interface DemoOptions extends ServeOptions {
  /** Does the page bring Sheaf's inspector? (default: false) */
  readonly hasInspector?: boolean;
}

/** A demo that runs. */
export interface Demo {
  readonly server: Server;
  /** How many steps of the story were played; 0 when data was there. */
  readonly steps: number;
}

/** Builds the page, starts the server, and fills it when it is new. */
export async function startDemo(options: DemoOptions): Promise<Demo> {
  await buildDemo(`${options.folder}/pages`, options);
  return await serveDemo(options);
}

/** Starts the server with a page that is built, and fills it when it is new. */
export async function serveDemo(
  { folder, port, hostname = "127.0.0.1" }: ServeOptions,
): Promise<Demo> {
  const options: ServerOptions = {
    data: `${folder}/server`,
    name: "stook",
    schemas,
    rules: serverRules,
    logLevel: "warn",
    login: { app: loginOf },
  };
  const steps = await fillOnce(options);
  const pages = { static: `${folder}/pages`, port, hostname };
  return { server: await createServer({ ...options, ...pages }), steps };
}

/** People say who they are; nobody checks, because this is a demo. */
function loginOf(shown: unknown) {
  const asked = typeof shown === "object" && shown !== null
    ? Reflect.get(shown, "person")
    : undefined;
  const member = memberOf(asked);
  if (member === undefined) return { refused: "Nobody of the team" };
  return {
    user: member.id,
    claims: { role: member.role, team: "nordlys" },
  };
}

/** A server takes nothing before its own time, and dates its clients by it: so the past has a server of its own. */
async function fillOnce(options: ServerOptions): Promise<number> {
  const now = Date.now();
  const world = new StoryClock(now);
  await using server = await createServer({ ...options, port: 0, world });
  const repo = await server.database.repository(teamRepository);
  const isNew = repo.collection(Board).count() === 0;
  await repo.close();
  return isNew ? await seed(server, world, now) : 0;
}
