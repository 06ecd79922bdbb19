/**
 * What tabs ask their owner to do, method by method.
 *
 * @module
 */

import type { BareRepository } from "../db/bare_repository.ts";
import type { DeleteOptions } from "../db/deletion.ts";
import {
  type CallMethod,
  type ConnectRequest,
  isRecords,
  type TabRecord,
} from "./messages.ts";
import type { OwnerConnection } from "./owner_connection.ts";
import type { SmallFiles } from "./owner_files.ts";
import type { OwnerTap } from "./owner_tap.ts";
import type { Member } from "./owner_members.ts";

/** What a call is about. */
export interface CallPlace {
  readonly tab: Member;
  readonly args: readonly unknown[];
  readonly connection: OwnerConnection;
  readonly files: SmallFiles;
  readonly tap: OwnerTap;
  /** The repository that the call names, which must be open. */
  readonly repository: () => BareRepository;
  readonly deleteRepository: (
    name: string,
    options: DeleteOptions,
  ) => Promise<void>;
  /** Gives it what pages that are gone have left. */
  readonly handIn: (records: readonly TabRecord[]) => Promise<boolean>;
  /** Own edits there that lost: what the tab has taken, and what there is to tell. */
  readonly overwritten: (
    tab: Member,
    args: readonly unknown[],
  ) => Promise<unknown>;
  /** The folder of that repository, or the database's where it names none. */
  readonly folder: () => string;
}

type Method = (place: CallPlace) => unknown;

const methods: Readonly<Record<CallMethod, Method>> = {
  audit: ({ repository }) => repository().sync.audit(),
  checkpoint: ({ repository }) => repository().checkpoint(),
  // The parser has seen that `connect` brings an object; `connect()` looks at its fields.
  connect: ({ connection, tab, args }) =>
    connection.connect(tab, args[0] as ConnectRequest),
  // The database looks at both.
  deleteRepository: ({ deleteRepository, args }) =>
    deleteRepository(args[0] as string, args[1] as DeleteOptions),
  disconnect: ({ connection }) => connection.disconnect(),
  durable: ({ repository }) => repository().durable(),
  handIn: ({ handIn, args: [records] }) =>
    isRecords(records) && handIn(records),
  overwritten: ({ overwritten, tab, args }) => overwritten(tab, args),
  readFile: ({ files, folder, args }) => files.read(folder(), args[0]),
  retryConnection: ({ connection }) => connection.retry(),
  sign: ({ connection, args }) => connection.sign(args[0], args[1]),
  tap: ({ tap, tab, args }) => tap.set(tab, args[0] === true),
  verify: ({ repository, args }) =>
    repository().verify(args[0] as Record<string, never> ?? {}),
  writeFile: ({ files, folder, args }) =>
    files.write(folder(), args[0], args[1]),
};

/** Does what a tab asked for. */
export async function answerCall(
  method: CallMethod,
  place: CallPlace,
): Promise<unknown> {
  return await methods[method](place);
}
