/**
 * What docs/benchmarks.md says in words: how to read it, what each suite does,
 * what durability promises and what the figures do not show.
 *
 * @module
 */

import type { SuiteName } from "../harness/figure.ts";

/** Above all tables. */
export const howToRead: readonly string[] = [
  "## How to read it",
  "",
  "Figures are medians over all samples of all repetitions, p99 in brackets; each repetition is a fresh process, and the",
  "engines take turns, to and fro. **spread** is the greatest less the least median of the repetitions, divided by the",
  "median. A **ratio** is Sheaf's figure divided by the other's, turned round for rates: below 1 Sheaf is ahead. Absolute",
  "times drift by a third from day to day; ratios hardly do. **Ahead, level, behind**: each figure of Sheaf stands beside the",
  "best engine that promises at least as much durability in the same row; a difference within what the repetitions",
  "themselves wandered is level. Every suite checks the answers, outside the timed part; one that is wrong is shown as",
  "WRONG and counts for nothing. ▲ is ahead and ▼ behind, beside figures of Sheaf. All figures, with p75, p99.5 and maximum,",
  "are in `bench/results/`; `deno task bench:report` makes a page of charts of any run.",
  "",
  "**Durability** is what has been done when a write counts as done:",
  "",
  "- *fsync*: the medium was told to keep it, and said so. It survives a power cut. Sheaf Default and Trusted, SQLite with",
  "  `synchronous=FULL`.",
  "- *written*: the operating system has it. It survives a killed process, not a power cut. SQLite with `synchronous=OFF`.",
  "- *queued*: the process has it and will write it by itself. Sheaf Fast: a little weaker than the rivals that it stands",
  "  beside, since what is still queued is lost if the process is killed.",
  "- *memory*: nothing is ever written.",
  "- *none*: a read or a size; there was nothing to write.",
  "",
  "No rival signs what it writes, as Default does, and few keep history, as Sheaf does in every mode.",
];

const sqlite: readonly string[] = [
  "**SQLite** is `node:sqlite` with prepared statements, a 64 MiB page cache, 1 GiB of memory map, rows fetched as arrays,",
  "one proper table with a column a field, and the same indexes as Sheaf: (author, done, rank) and (rank) where a row says",
  "indexed, none elsewhere. Both sides give back equal JavaScript objects (tags parsed, booleans as booleans: plain objects",
  "with every field in place). Every timed answer is afterwards added up field by field, outside the timed part, and its",
  "sum held against the expected one; whole answers are compared before and after. Targets are ratios, stated for 100k",
  "items.",
  "",
  "**Items** have an id, title of 24, done, rank, three tags, createdAt, one of 50 authors and a body of 120 characters:",
  "about 250 bytes. Ids look random. The engines take turns in slices, to and fro, each in a process of its own.",
  "",
  "- *start of the process → first read by id*: from asking the system for a process until it has said the item: the runtime,",
  "  all imports, opening, one read. *warm*: Deno's caches are filled and the files are in memory. *cold*: those caches are",
  "  empty, so that all code is transpiled and compiled, and the database's files have been dropped from memory (Linux).",
  "  `floor` is a process of Deno that reads nothing. *of the package*: what npm has, made of the sources before, instead of",
  "  them; *imported*: nothing is opened.",
  "- *fresh process, code loaded*: a new process for every sample, timed from the call that opens to the answer read: neither",
  "  the start nor the imports count, and the files are in memory. *warm process*: opened and closed again and again; only",
  "  opening and answering is timed.",
  "- *read by id, first touch*: no item was read before since opening. *later touch*, and all queries and updates of an open",
  "  database: every item was read once, so that each engine has in memory what it keeps there: SQLite pages, Sheaf items.",
  "- *n concurrent creates, each*: n writes asked for in one tick, time until all are acknowledged, divided by n; SQLite",
  "  commits each of its n inserts.",
  "- *live result*: an item of a sorted result of 1,000 moves. SQLite runs its prepared query again, once for the first 50",
  "  rows, once for all; its write is not counted. Sheaf's live query always holds all 1,000. Its figure is the write's",
  "  synchronous part until the subscriber was called, less what a write to an item outside the result took just before",
  "  (single samples may so fall below zero); *with the write itself* deducts nothing. Figures are for one write of ten in a",
  "  tick, each heard of by itself.",
  "- *read by id* is timed in bursts of 100, *count* in bursts of 10: their tails are tails of bursts.",
  "- *SQLite locked exclusively*: Sheaf always locks its folder; this is SQLite doing so too (and no other process can read).",
  "- *resident memory*: growth by opening, reading and holding all items in a fresh process, garbage collected before and",
  "  after; once with the settings above, once with SQLite's default cache and no memory map.",
  "- *bytes on disk*: the length of all files after closing; *after 10 updates each*: SQLite keeps old rows by a trigger.",
];

const sync: readonly string[] = [
  "One server and its clients, each in a process of its own, all on loopback, so on one machine; tables say how many items",
  "the repository holds. Targets are absolute figures for a machine like this one, and `floor` is what the bare wire (two",
  "hops of `ws` through a relay process) and, in Default and Trusted mode, two fdatasyncs take in the same run.",
  "",
  "- *visible on B*, *replication of a value*: A writes, a live query on B hears it, B writes an answer of the same size, a",
  "  live query on A hears that; the figure is half of it. Each write waits for the one before it to be synced.",
  "- *new client gets*: a fresh process, from `connect` until all items are there and the server says so, every hash and seal",
  "  checked (Default). Its modules are loaded and its database is open; *from the start of its process* counts that too. How",
  "  the items were written decides how many signatures there are: *one by one* has up to 64 under way, which share one.",
  "- *single commits, 64 in flight*: one client, in a repository that was empty before.",
  "- *parted, healed*: with what is left of the client's back-off, which grows with the outage up to 30 s, or told to",
  "  try now.",
  "- *sent, received, an edit*: bytes that a TCP proxy counted, compression, proofs and upgrade included.",
  "",
  "Every case ends by comparing all items of both clients; a difference shows as WRONG.",
];

const kv: readonly string[] = [
  "Values by key, through `@sheaf/sheaf/kv` on our side. Values are equal JavaScript objects on all sides, made anew for",
  "each read. The process that asks has loaded the entries, and each row is warmed up by up to 5,000 of its operations, so",
  "that reads are mostly later touches. *16 in flight*: sixteen writes asked for before the first is awaited, each a",
  "transaction of its own. Engines that know no expiry have no figure in rows with one.",
];

const ycsb: readonly string[] = [
  "The core workloads by their published definition (Cooper et al. 2010): A half reads, half updates; B 95 % reads; C reads",
  "only; D reads the latest, 5 % inserts; E scans of 1 to 100, 5 % inserts; F read, modify, write. Ten fields of 100 bytes,",
  "an update writes one, a read returns all; zipfian 0.99. As YCSB asks, all records are loaded, by a process of their own",
  "(Redis and PostgreSQL: by the one that runs); then A, B, C, F and D run in this order, each by its number of operations",
  "(as many as records, unless the command says another number); then all is loaded anew for E. The process that runs them",
  "has just opened the database: nothing is read or warmed up before the first operation is timed, so A pays for compiling",
  "and for first touches. *n in flight*: n operations asked for before the first is awaited, each a transaction of its own;",
  "there is no target rate. Two things differ from YCSB's client: one process runs A to D, where YCSB starts one for each;",
  "and an inserted record may be asked for when n more operations were asked for, where YCSB waits for the acknowledgement.",
  "Through the server an operation counts when the server has it durably; a read is what a client of Sheaf does: it asks",
  "its own replica, which the server keeps up to date. CPU seconds are those of all processes of an engine.",
];

const stress: readonly string[] = [
  "Records of game players with the same indexes everywhere: the classic list (bulk insert, create, read, update and delete",
  "one by one, 27 indexed queries, an update of 1,001, 101 deletes) and what such lists leave out: the latency of single",
  "saves and finds, pages, counts, a saveAll of every player (in transactions of 10,000), earlier versions, eight readers",
  "and writers at once, memory. Before it a small store is played through, so that code is compiled; *first time* is that",
  "of the question, with its index. Sizes from 1k to 100k show how an operation's cost grows with the collection.",
];

const compare: readonly string[] = [
  "The items of the SQLite suite in databases of many kinds, each in its own process, through its own best interface and",
  "with the persistence that its documentation names. Engines that hold everything in memory load all of it when they open.",
  "*new process*: timed from the call that opens, its modules loaded. *one by id, at random*: some items are read for the",
  "first time and others again. *all, again and again*: from the second time on an engine may give what it has made before.",
  "What did not install, or gave no address to connect to, is listed as skipped.",
];

const text: readonly string[] = [
  "Runs of letters with corrections, jumps, deletions and pastes, typed into a bound textarea, and handed to a document of Yjs",
  "at the same places. Keys are gathered for a commit: as a binding gathers those of somebody who *types alone* (nine, on the",
  "average), or so many; with others there it is three or four. Yjs's CPU is that of a transaction a key, as in its bindings;",
  "its bytes are of one transaction a commit. Sheaf's changes are signed one by one and say who wrote them; Yjs's say only",
  "what. What the textarea takes by itself is a browser's, and taken off. What they made is a checkpoint, with its index of",
  "histories, and the update that makes the document anew.",
];

/** Below the heading of each suite. */
export const suiteProse: Readonly<Record<SuiteName, readonly string[]>> = {
  sqlite,
  sync,
  kv,
  ycsb,
  stress,
  compare,
  text,
};

/** Before the notes. */
export const notShown: readonly string[] = [
  "## What the figures do not show",
  "",
  "A cold disk; other disks (fdatasync takes 1 to 5 ms on many); several processes on one file (SQLite can, Sheaf does not);",
  "joins and SQL; items of other sizes, but where a row says so; a network between machines; weeks of use. Two cores are",
  "shared by the engine, its server and the bench itself. The operations are ours to choose, and a choice is never neutral:",
  "measure your own program before you decide.",
];
