/**
 * Every limit, with its name and its reason.
 *
 * Architecture invariant: nothing from outside is unbounded (law 10). A module
 * that meets foreign bytes, names, sizes or counts takes its bound from here.
 */

const KiB = 1024;
const MiB = 1024 * KiB;

/** Named bounds; sizes in bytes unless the name says otherwise. */
export const limits = {
  /** Segments of a repository name: deep enough for tenant/team/project paths. */
  nameSegmentsMax: 8,
  /** An item id is read, indexed and sent whole. */
  idBytesMax: 256,
  /** Collections a repository may hold: each costs a table in memory. */
  collectionsMax: 1_024,
  /** Fields of one schema: a shape table travels in every commit. */
  fieldsMax: 256,
  /** Fields of one collection, over all its writers: an item may come to hold all of them. */
  collectionFieldsMax: 1_024,
  /** One string, bytes or JSON value; larger things are files, not fields. */
  valueBytesMax: 4 * MiB,
  /** One item's whole create operation. */
  itemBytesMax: 8 * MiB,
  /** Elements of one set, map or list field. */
  elementsMax: 65_536,
  /** A counter's sum, and as far below 0: beyond it, sums are shown rounded, and nobody sees one more. */
  countMax: Number.MAX_SAFE_INTEGER,
  /** A set, map or list of more parts is put together when somebody reads it, not at each write. */
  shownAtOnceMax: 32,
  /** An item of more fields likewise. */
  fieldsShownAtOnceMax: 128,
  /** A list position grows where inserts crowd; the writer spreads the list before this. */
  positionBytesMax: 256,
  /** The id of one list element. */
  elementIdBytesMax: 128,
  /** Pieces of text that one change inserts: a liar can make each of them pass all others on its way to its place. */
  textRunsMax: 1_024,
  /** Steps that a text may take Yjs to be put in order, 0.1 µs each: two who typed in 1,000 places of one gap, apart. */
  textStepsMax: 1_000_000,
  /** Pieces of texts whose order is kept between two writes, 12 bytes each. */
  textPiecesMax: 1_000_000,
  /** A key of a map field. */
  keyBytesMax: 1_024,
  /** Generations of one item: each delete and create begins one. */
  generationMax: 2 ** 32 - 1,
  /** Lives of an item that are written, and taken by a relay, which cannot ask whether the one before was. */
  relayGenerationMax: 2 ** 20,
  /** Version number of a schema. */
  schemaVersionMax: 2 ** 31 - 1,
  /** Shapes that a decoder keeps in memory, so that equal ones are one object. */
  shapesCachedMax: 4_096,
  /** Nesting of one JSON value: deeper than any form, shallower than the stack. */
  jsonDepthMax: 64,
  /** Operations of one transaction. */
  operationsMax: 2_000_000,
  /** Objects and values of one commit when it is decoded, some 100 bytes each; each takes a byte at least. */
  nodesMax: 4 * MiB,
  /** So many of them count in quotas as one more commit. */
  foldPartsPerCommit: 10,
  /** One commit's payload: a bulk load of a million small items fits. */
  payloadBytesMax: 256 * MiB,
  /** Random bytes behind a patch whose hash must not be guessed back. */
  saltBytes: 16,
  /** Heads of other chains one commit may name. */
  parentsMax: 16,
  /** Commits one seal may cover. */
  batchCommitsMax: 65_536,
  /** One batch as it travels. */
  batchBytesMax: 257 * MiB,
  /** A flush is cut here so that one batch of many commits stays sendable. */
  batchBytesSoft: 4 * MiB,
  /** Commits that are written again between two looks at the log. */
  reissuedTogetherMax: 256,
  /** Fast mode hands its queue to the disk when it has grown to this. */
  queueBytesMax: 1 * MiB,
  /** Users that one folder holds session keys for. */
  sessionsMax: 1_024,
  /** Bytes of claims in a session certificate. */
  claimsBytesMax: 16 * KiB,
  /** A user id in a session certificate. */
  userBytesMax: 256,
  /** Characters of a rule's reason: it travels back to the writer and is shown there. */
  ruleReasonMax: 500,
  /** Items that a rule looks up for one answer: who writes may choose how many it asks for. */
  ruleLookUpsMax: 16,
  /** Parts of large fields that rules have put together for the commits of one batch, some 0.1 µs each. */
  ruleReadPartsMax: 128 * MiB,
  /** So many of them count in quotas as one more commit. */
  ruleReadPartsPerCommit: 64,
  /** Patterns of one set of rules: each name is compared with them in order. */
  rulePatternsMax: 1_024,
  /** Certificates of one repository: each stays in memory. */
  certificatesKeptMax: 65_536,
  /** Certificates of one session key: it is renewed, never reissued to another user. */
  certificatesOfKeyMax: 1_024,
  /** Revocations of one repository: each stays in memory. */
  revocationsMax: 65_536,
  /** Revocations of one session key: each further one accepts more of its commits. */
  revocationsOfKeyMax: 1_024,
  /** A statement: a record that is kept and passed on, whether its kind is known or not. */
  statementBytesMax: 4 * KiB,
  /** All statements of one key: each stays in memory. */
  statementsOfKeyBytesMax: 256 * KiB,
  /** Statements of one repository. */
  statementsMax: 65_536,
  /** Commits that one key may give up in a repository. */
  voidsOfKeyMax: 16_384,
  /** One record of such. */
  voidBytesMax: 65_536,
  /** All such records of one key: as many commits, each given up alone. Each stays in memory … */
  voidsOfKeyBytesMax: 3 * MiB,
  /** … and when those of all keys take this … */
  voidsBytesMax: 64 * MiB,
  /** … a key has no more: 100 of one commit each. */
  voidsOfKeyBytesMin: 20 * KiB,
  /** Commits, and items, that one redaction names … */
  redactionCommitsMax: 900,
  /** … and its bytes. */
  redactionBytesMax: 65_536,
  /** All redactions of a repository: each stays in memory. */
  redactionsBytesMax: 64 * MiB,
  /** Refused commits at the start of a chain whose stubs are kept: who may write nothing adds no more to a log. */
  voidCommitsMax: 64,
  /** Chains of a session of which all hold stubs alone. */
  voidChainsMax: 64,
  /** Chains of one session in a repository that it has not retired: each tab has one. */
  sessionChainsMax: 512,
  /** Where nothing is signed nobody can retire a chain. */
  unsignedChainsMax: 2_048,
  /** Chains that one key may retire in a repository: each stays in memory … */
  retiredChainsMax: 4_096,
  /** … in one record … */
  retiredAtOnceMax: 512,
  /** … and its bytes … */
  retirementBytesMax: 16 * KiB,
  /** … in all records of a key … */
  retirementsOfKeyBytesMax: 256 * KiB,
  /** … and when those of all keys take this … */
  retirementsBytesMax: 64 * MiB,
  /** … a key has no more: some 20 of one chain each. */
  retirementsOfKeyBytesMin: 4 * KiB,
  /** Own chains that nobody writes, and that are kept for tabs to come. */
  idleChainsKept: 32,
  /** The same where a summary cannot name all chains any more: enough for a device that is new there. */
  sessionChainsMin: 64,
  /** Incarnations that one revocation names; where there are more, several are issued at once. */
  revocationCutsMax: 16_384,
  /** A commit that is ahead of the server's clock waits at its author; further ahead than this it is refused. */
  clockAheadMsMax: 60_000,
  /** A device that is further from its server's clock than this keeps its own: a server that lies moves it no further. */
  clockCorrectionMsMax: 31 * 24 * 3_600_000,
  /** One log segment; the next one starts when it is passed. */
  segmentBytesMax: 1_024 * MiB,
  /** The log grows by zero-filled extents of this size: an fdatasync then writes no metadata. */
  extentBytes: 4 * MiB,
  /** The first extent is small, so that an empty repository stays small. */
  extentBytesFirst: 64 * KiB,
  /** Segments of one log. */
  segmentsMax: 65_536,
  /** A file's name in a storage: a folder of hexadecimal digits and a number are far shorter. */
  storageNameBytesMax: 1_024,
  /** Empty OPFS files that are kept open, because opening one cannot be waited for: and two for each prepared folder … */
  sparesMin: 2,
  /** … up to this: each is a handle. */
  sparesMax: 128,
  /** With less than this left, or less than a tenth, a storage calls itself nearly full. */
  storageFreeBytesMin: 16 * MiB,
  /** A browser's storage that writes asks so often whether there is room. */
  storageRoomMs: 10_000,
  /** A browser's storage looks so often whether its files are still there. */
  storageLookMs: 2_000,
  /** After a flush it looks at once, but no more often than this. */
  storageLookMsMin: 250,
  /** IndexedDB that failed is asked for so long what became of it, before anybody hears of the failure: removing takes time. */
  storageAskMsMax: 10_000,
  /** Opening waits so long for handles that another page has not given back. */
  storageWaitMsMax: 2_000,
  /** A thief waits no longer: who does not share its handles will not give them back. */
  storageStealMsMax: 250,
  /** Parked batches wait for parents that may never come. */
  parkedMax: 10_000,
  /** So often a parked batch is judged, each time whole: honest ones wait for one chain or two. */
  parkedTimesMax: 16,
  /** Chains of one channel of which it is known that a batch was refused: what follows one comes within a window. */
  ignoredChainsMax: 1_024,
  /** Bytes of parked batches. */
  parkedBytesMax: 64 * MiB,
  /** What a server says of one refusal: reason, rule and detail, each kept as far as a person reads. */
  refusalTextBytesMax: 4_096,
  /** Conditions in one query. */
  conditionsMax: 1_024,
  /** Nesting of and / or / not in one query. */
  queryDepthMax: 32,
  /** Body of one HTTP request to a server: credentials and a certificate fit many times. */
  httpBodyBytesMax: 64 * KiB,
  /** A request's body that trickles longer than this is given up, in milliseconds. */
  httpBodyMsMax: 10_000,
  /** Addresses and sessions that a server counts for its quotas; the idlest is forgotten. */
  quotaKeysMax: 65_536,
  /** Static tokens and origins of one server's configuration. */
  configEntriesMax: 10_000,
  /** A configuration file. */
  configBytesMax: 4 * MiB,
  /** Refused batches of revoked sessions that a server keeps for somebody to decide. */
  quarantineEntriesMax: 10_000,
  /** Batches in quarantine of one session, so that one cannot fill it for all. */
  quarantineSessionMax: 1_000,
  /** … and their bytes: one session leaves room for three others that are as large. */
  quarantineSessionBytesMax: 64 * MiB,
  /** One batch in quarantine: it is a value of an item. */
  quarantineEntryBytesMax: 4 * MiB,
  /** Bytes of all batches in quarantine. */
  quarantineBytesMax: 256 * MiB,
  /** Kinds of trouble that one connection is logged for: each once. */
  troubleKindsMax: 64,
  /** Lines a minute that one address is logged with: who comes again and again cannot fill the disk. */
  strangerLinesMax: 120,
  /** Sockets of one address that stay after their end, because their peer does not let go; then it gets no other one. */
  lingeringSocketsMax: 16,
  /** A socket that was not let go for so long after its end lingers. */
  lingerMs: 5_000,
  /** Repositories that a server's status names as incomplete; the others are counted. */
  restoringNamedMax: 100,
  /** What a person says of a revocation. */
  revocationReasonBytesMax: 1_024,
  /** Certificates that a device keeps beside its session's: of issuers, and of keys that it had before. */
  pastCertificatesMax: 64,
  /** What a client keeps to go on where its last connection ended; a larger summary is left out. */
  resumeBytesMax: 160 * KiB,
  /** Incidents that a repository's status keeps; older ones have been reported. */
  incidentsMax: 100,
  /** A checkpoint of so many bytes is checked whole when it is opened: a new process takes a millisecond for that. */
  checkpointCheckedBytesMax: 256 * KiB,
  /** A checkpoint of a log of so many bytes holds every item, beside a log that is gone, too: milliseconds to write. */
  checkpointWholeBytesMax: 1024 * KiB,
  /** A scrub reads so much at a time … */
  scrubStepBytes: 256 * KiB,
  /** … so often: a gigabyte takes an hour … */
  scrubStepMs: 1_000,
  /** … and begins anew so long after it came to the end. */
  scrubEveryMs: 24 * 3_600_000,
  /** Lost items that a repair names; of more it says how many. */
  lostItemsMax: 10_000,
  /** Frames are compressed from here on: below, the codec's own bytes and time are not won back. */
  compressBytesMin: 1_024,
  /** Opening a wire, with its TLS and upgrade. */
  connectMsMax: 10_000,
  /** A wire that was closed is let go when the other side has not answered for so long. */
  closeMsMax: 2_000,
  /** Frames that came before anybody listened. */
  unheardBytesMax: 4 * MiB,
  /** A server's answer about itself or to a login: a certificate and its claims, in hexadecimal. */
  loginBytesMax: 128 * KiB,
  /** One login, or one question about a server. */
  loginMsMax: 15_000,
  /** A login signed further from the server's clock than this is asked for again: a recorded one is soon worth nothing. */
  loginClockMsMax: 10 * 60_000,
  /** First wait before a client comes back; each further one is twice as long. */
  backoffMsMin: 500,
  /** Longest wait before a client comes back, unless the server asked for more. */
  backoffMsMax: 30_000,
  /** A server may ask its clients to stay away for so long. */
  goodbyeMsMax: 10 * 60_000,
  /** One frame of the protocol, as it is and when it is unpacked. */
  frameBytesMax: 2 * MiB,
  /** What of a frame is ignored, as a later version's: no quota counts it. */
  frameGrowthBytesMax: 1 * KiB,
  /** One record on the wire; a larger batch is refused, because a peer must put it together in memory. */
  recordBytesMax: 64 * MiB,
  /** A records frame is cut here, and larger records into parts: so long a pong may have to wait. */
  recordsBytesSoft: 256 * KiB,
  /** Record bytes a peer may send before credit comes: it may always be that much ahead of us. */
  windowBytes: 1 * MiB,
  /** A window under this could not take two parts. */
  windowBytesMin: 640 * KiB,
  /** A peer may not ask for more to be on its way to it. */
  windowBytesMax: 8 * MiB,
  /** Log bytes one channel reads in one turn; what is skipped costs no credit. */
  feedBytesMax: 2 * MiB,
  /** Own records on their way to a server that has not acknowledged them: an entry each. */
  unackedRecordsMax: 65_536,
  /** Own log bytes a client sends again after a cursor, rather than ask by vector what of them is known. */
  resendBytesMax: 1 * MiB,
  /** Halves of records that are being put together, over all of a server's connections. */
  partBytesMax: 256 * MiB,
  /** Channels of one connection. */
  channelsMax: 1_024,
  /** Chains a vector on the wire may name: 41 bytes each must fit a frame. What it leaves out is sent again. */
  vectorChainsMax: 40_000,
  /** Chains a summary on the wire may name: 78 bytes each must fit a frame … */
  summaryChainsMax: 20_000,
  /** … with the numbers of those of their commits that are void. */
  summaryBytesMax: 20_000 * 78,
  /** Certificates from a session's to the root's. */
  certificatesMax: 4,
  /** What a server says that it asks of writes: names of constraints. */
  enforcedMax: 4_096,
  /** Presence is for cursors and names. */
  presenceBytesMax: 4 * KiB,
  /** Peers of one repository that may show something at a time. */
  presencePeersMax: 256,
  /** What a peer shows is told to the others no more often. */
  presenceMs: 50,
  /** Bytes that wait in a transport: window, vectors and answers fit; who has more to read is closed. */
  bufferedBytesMax: 16 * MiB,
  /** The same in a server, which has many peers: a window, a frame and what is said besides. */
  servedBytesMax: 4 * MiB,
  /** Frames of one connection that wait because it costs too much work; who sends more is closed. */
  pacedFramesMax: 2_048,
  /** Their bytes: a window of records fits, and a vector. */
  pacedBytesMax: 4 * MiB,
  /** Channels that wait while a server opens their repositories, of one connection. */
  openingMax: 64,
  /** A server opens no further channel of a peer that has more than this to read. */
  openingBytesMax: 1 * MiB,
  /** Time a server spends on one turn of telling its peers what is new; the others come next turn. */
  fanOutMsMax: 10,
  /** A connection that was ready for so long ended by accident: its client comes back at once, not later and later. */
  steadyMs: 10_000,
  /** What the server does not have is counted again no more often, where that means reading. */
  countMs: 500,
  /** What a client knows of its server is handed out to be kept no more often. */
  resumeMs: 1_000,
  /** A server's name, and codes and details of frames. */
  wireTextBytesMax: 1_024,
  /** Commits an audit's question may name. */
  auditNumbersMax: 1_024,
  /** Differences that an audit's report names. */
  auditFindingsMax: 100,
  /** Items that an audit hashes in one go: some 2 ms. Those of more bytes than `auditItemBytes` count as several. */
  auditItemsPerSlice: 64,
  /** Bytes of an item that cost as much as naming it. */
  auditItemBytes: 2 * KiB,
  /** Nodes above items that an audit hashes in one go: 2 ms, or 5 in a browser. */
  auditDigestsPerSlice: 1_024,
  /** Who has not proved itself by then is closed. */
  proveMsMax: 10_000,
  /** After so much silence a side pings; after three it closes. */
  heartbeatMs: 15_000,
  /** Who owes an answer and is silent for so long is asked whether it is there; and for as long again, it is shown as gone. */
  answerMs: 900,
  /** Who was asked and is silent for so long is closed. */
  answerMsMax: 10_000,
  /** A wire that carries fewer bytes a second is taken for silent. */
  wireBytesPerSecond: 20 * KiB,
  /** A peer that gives no credit for so long while records wait is closed. */
  stallMsMax: 30_000,
  /** A batch that waits for its parents for so long is refused: its sender may not know that they are missing. */
  parkMsMax: 30_000,
  /** At most one witness in so long. */
  witnessMs: 1_000,
  /** Chains of one session that a receipt names; of more the first. */
  receiptChainsMax: 512,
  /** A receipt's summary: so many chains, and what is void of them. */
  receiptBytesMax: 64 * KiB,
  /** Hashes beside an author's way up to what a receipt is signed for: one signature serves 64 authors. */
  receiptPathMax: 6,
  /** Receipts that are kept of a repository until a witness shows the same. */
  receiptsMax: 16,
  /** Epochs of its server that a client remembers, to notice one that comes back. */
  epochsMax: 16,
  /** A client tries again after so long what was refused for the time being. */
  refusedRetryMs: 10_000,
  /** What is judged waits for so long after the last commit that came back to a server that had lost it. */
  restoreWaitMs: 30_000,
  /** … and for so long in all, in milliseconds: who hands in one by one, or shows one witness after another, holds up nobody. */
  restoreWaitTotalMsMax: 5 * 60_000,
  /** … and after the start of a server that says that it lost some: clients stay away for `backoffMsMax` at most. */
  restoredWaitMs: 60_000,
  /** Characters of a repository's whole name: all its segments. */
  nameCharsMax: 8 * 65,
  /** Tabs of one origin that share an owner: each has a replica and a chain. */
  tabsMax: 256,
  /** Characters of an address or an error's text between tabs. */
  tabTextMax: 16 * KiB,
  /** Chains that one tab claims: one for each repository that it has open. An owner remembers them. */
  tabChainsMax: 10_000,
  /** Entries of one list between tabs: chains of a repository, records, files. */
  tabListMax: 1_000_000,
  /** Bytes of records in one message between tabs: parsed and folded within a few frames. */
  tabRecordsBytesSoft: 256 * KiB,
  /** Work of a tab on what other tabs wrote, in one go, in milliseconds: half a frame. */
  tabSliceMsMax: 6,
  /** A tab asks whether the owner is alive so often, in milliseconds, while it waits for it. */
  tabPingMs: 20,
  /** An owner that nobody sees and that answers nothing for so long, in milliseconds, is replaced; a slow one later. */
  tabSilenceMsMax: 60,
  /** What tabs are told of sync, storage and each other is gathered for so long, in milliseconds: a frame. */
  tabReportMs: 16,
  /** Frames of the connection are shown to an inspector in another thread so often … */
  tabFramesMs: 100,
  /** … the newest of them, when there are more. */
  tabFramesMax: 256,
  /** A repository that no tab has open is closed after so long, in milliseconds: a reload comes back sooner. */
  tabIdleMs: 10_000,
  /** A tab that is asked for credentials and gives none for so long is passed over, in milliseconds: people type. */
  tabAskMsMax: 5 * 60_000,
  /** What a page that goes away keeps of what it wrote, in text of 4/3 the size: a browser keeps 5 MiB of that for an origin. */
  tabLeftBytesMax: 1 * MiB,
  /** A small file of a tab beside the log: what can be undone, say. */
  tabFileBytesMax: 1 * MiB,
  /** Own edits of one repository that lost and are not taken yet: the oldest go first, and are counted. */
  overwrittenMax: 1_000,
  /** Characters of them as they are kept in a file, 4/3 of their bytes at least. */
  overwrittenCharsMax: 4 * MiB,
  /** What arrived is noted as looked at so soon, in milliseconds: a crash makes it be looked at again. */
  overwrittenSaveMs: 1_000,
  /** Steps that can be undone: more than anybody remembers. */
  undoStepsMax: 200,
  /** Fields and elements that all steps may touch: a larger import is taken back otherwise. */
  undoMarksMax: 10_000,
  /** Characters of texts and values that steps keep in memory, roughly. */
  undoCharsMax: 8 * MiB,
  /** Bytes of the steps that are kept over a reload, the newest: written after each write. */
  undoBytesMax: 256 * KiB,
  /** Writes in one field that follow each other within this are one step, in milliseconds. */
  undoTypingMs: 1_000,
  /** Nor is more than this much typing one step, however quick, in milliseconds. */
  undoTypingMsMax: 10_000,
  /** Steps are kept this long after they changed, in milliseconds. */
  undoSaveMs: 100,
  /** One value of the key-value face: it is held in memory, and sent whole with every write. */
  kvValueBytesMax: 1 * MiB,
  /** One bigint inside such a value: larger ones take long to show as digits. */
  kvIntegerBytesMax: 1_024,
  /** Who waits for entries to expire looks at the clock so often, in milliseconds: it may have been set. */
  kvTimerMsMax: 60_000,
  /** Violations of constraints that are listed of one collection: more is a matter for a program. */
  violationsMax: 100,
  /** Characters of values that are unique together: each write of their item looks at them. */
  uniqueCharsMax: 1_024,
  /** Items that one field names that must be there: each write of its item looks at them. */
  namedMax: 1_000,
  /** Values that are unique, or ids, are kept in an index by their hash from so many characters on. */
  indexKeyCharsMax: 64,
  /** Work per slice of a background task, in milliseconds. */
  sliceMsMax: 2,
} as const;
