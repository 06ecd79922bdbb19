/**
 * Opens the team's database on this device. The only module that knows where it
 * is kept, and how the server is found.
 *
 * @module
 */

import {
  type Collection,
  type Connection,
  type Database,
  openDatabase,
  type Repository,
  serverInfo,
} from "@sheaf/sheaf/browser";
import { type TextCursors, textCursors } from "@sheaf/sheaf/text";
import { guardUnsaved, keepForGood, tellOfStorage } from "./keep.ts";
import { tellOfLost } from "./lost.ts";
import { rules, teamRepository } from "./rules.ts";
import {
  Board,
  Card,
  Column,
  Comment,
  hueColors,
  Label,
  Person,
  schemas,
} from "./schema.ts";
import type { Member } from "./team.ts";

/** Everything that the views work with. */
export interface Team {
  readonly me: Member;
  readonly db: Database;
  readonly repo: Repository;
  /** Had this device nothing when it was opened? */
  readonly isNew: boolean;
  readonly people: Collection<typeof Person>;
  readonly boards: Collection<typeof Board>;
  readonly columns: Collection<typeof Column>;
  readonly labels: Collection<typeof Label>;
  readonly cards: Collection<typeof Card>;
  readonly comments: Collection<typeof Comment>;
  /** Where one writes, and what one looks at, for the others to see. */
  readonly cursors: TextCursors;
  /** Is it connected, or trying to be? Only the user says otherwise. */
  isOnline(): boolean;
  /** Connects, or works alone from now on. */
  setOnline(isOnline: boolean): void;
}

const ROOT_KEY = "stook.root";

/** The server of this page. */
const serverUrl: string = location.origin.replace(/^http/, "ws");

/** The server's root key: asked once, and remembered, so that a cold start needs no server. */
async function rootKeyOf(): Promise<string> {
  const known = localStorage.getItem(ROOT_KEY);
  if (known === null) return await learnRootKey();
  // A server that was made anew has another key; the next start works with that.
  void learnRootKey().catch(() => {}); // Offline: what is known stands.
  return known;
}

async function learnRootKey(): Promise<string> {
  const { rootKey } = await serverInfo(serverUrl);
  localStorage.setItem(ROOT_KEY, rootKey);
  return rootKey;
}

/** The worker's file: its name bears its hash, so the page that was built with it says it. */
function workerOf(page: Document): string {
  const found = page.querySelector<HTMLMetaElement>("meta[name=stook-worker]");
  if (found === null) throw new Error("This page names no worker: build it");
  return found.content;
}

/** Opens the database of somebody on this device, and connects it. */
export async function openTeam(me: Member): Promise<Team> {
  const rootKey = await rootKeyOf();
  const db = await openDatabase({
    // A device may have several users, and may have known another server.
    name: `stook-${me.id}-${rootKey.slice(0, 8)}`,
    worker: workerOf(document),
    rootKey,
    schemas,
    rules,
    user: me.id,
  });
  const repo = await db.repository(teamRepository);
  void repo.undo; // It remembers from when it is first asked for.
  guardUnsaved(db);
  keepForGood(db, repo);
  tellOfStorage(db);
  const team: Team = {
    me,
    db,
    repo,
    isNew: repo.collection(Card).count() === 0,
    people: repo.collection(Person),
    boards: repo.collection(Board),
    columns: repo.collection(Column),
    labels: repo.collection(Label),
    cards: repo.collection(Card),
    comments: repo.collection(Comment),
    cursors: textCursors(repo.presence, {
      name: me.name.split(" ")[0] ?? me.name,
      color: hueColors[me.hue],
    }),
    ...connector(db, me),
  };
  tellOfLost(team);
  return team;
}

function connector(
  db: Database,
  me: Member,
): Pick<Team, "isOnline" | "setOnline"> {
  let connection: Connection | undefined;
  const isOnline = () =>
    connection !== undefined && connection.status.state !== "closed";
  const setOnline = (wanted: boolean) => {
    if (!wanted) void connection?.close();
    else if (!isOnline()) {
      connection = db.connect(serverUrl, {
        session: { app: { person: me.id } },
      });
    }
  };
  setOnline(true);
  return { isOnline, setOnline };
}
