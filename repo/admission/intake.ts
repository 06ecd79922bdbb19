/**
 * The intake: what foreign records become once the door has judged them.
 *
 * It asks `admit.ts` and puts what was admitted into log, graph and state, in
 * this order. It never writes a commit of its own.
 *
 * Architecture invariant: what was judged is stored, byte for byte (law 1), and
 * becomes known only through the door (law 2).
 */

import type { Signature } from "../../crypto/signature.ts";
import { admit, type Judged, signaturesOf } from "./admit.ts";
import { Parking } from "./parking.ts";
import type {
  AdmitBatch,
  Admitted,
  Arrival,
  GivenUp,
  Knowledge,
} from "./arrival.ts";
import {
  decodeCredential,
  isCredential,
  kindOfCredential,
} from "../commit/credentials.ts";
import { ChainIds } from "../graph/chain_ids.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import { countEqual, isSilent, payloadAt } from "../history/known_commits.ts";
import { batchKind, isBatch } from "../log/format.ts";
import { type RecordVisitor, visitRecord } from "../log/records.ts";
import type { ReceiveOptions } from "../port.ts";
import {
  type Cut,
  GIVEN_UP,
  type Refusal,
  type RefusedCommit,
  type Resolution,
  resolveIn,
} from "../refusal/void_commits.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import { ChangeList } from "../state/state.ts";
import { lateRefusing } from "../refusal/late_refusing.ts";
import { type OwnChain, receiveBack } from "./set_back.ts";

export interface IntakeParts {
  readonly loaded: LoadedReplica;
  readonly rootKey: Uint8Array;
  /** Puts own commits into the log: nothing foreign may come before them there that names them. */
  readonly flush: () => void;
  /** Runs when a batch of `chain` with `count` new commits from `first` on has entered the log. */
  readonly took: (chain: string, first: number, count: number) => void;
  /** A redaction is known that is to be carried out. */
  readonly redacted: () => void;
  /** Cuts chains once more, after a repair. */
  readonly cutAgain: (cuts: readonly Cut[]) => void;
  /** Commits that are here were given up by their author, or refused before a repair. */
  readonly refuse: (chain: string, refused: readonly RefusedCommit[]) => void;
}

export class Intake {
  /** Where batches wait whose peer has no parking of its own. */
  readonly parking: Parking = new Parking();
  readonly #parts: IntakeParts;
  readonly #loaded: LoadedReplica;
  readonly #commits: CommitReader;
  readonly #knowledge: Knowledge;
  /** Ids in the middle of chains, made when a fork is first claimed. */
  #ids: ChainIds | undefined;
  /** Which refusals and cuts they know of. */
  #idsAt = 0;
  /** What a receive has changed so far. */
  readonly #changes = new ChangeList();

  constructor(parts: IntakeParts) {
    const { loaded, rootKey } = parts;
    const { commits } = loaded;
    this.#parts = parts;
    this.#loaded = loaded;
    this.#commits = commits;
    this.#knowledge = {
      ...loaded,
      revocations: loaded.credentials.revocations,
      rootKey,
      clockAt: (chain, number) => commits.clockAt(chain, number),
      countEqual: (batch, end) => countEqual(commits, batch, end),
      isSilent: (chain, number) => isSilent(commits, chain, number),
      payloadOf: (chain, number) => payloadAt(commits, chain, number),
      idBefore: (chain, number) => this.#idBefore(chain, number),
    };
  }

  #idBefore(chain: string, number: number): Uint8Array | undefined {
    const { revision } = this.#commits;
    if (this.#ids === undefined || this.#idsAt !== revision) {
      this.#ids = new ChainIds(this.#commits, this.#knowledge.genesisId);
      this.#idsAt = revision;
    }
    return this.#ids.before(chain, number);
  }

  /**
   * Judges arrivals and takes what is admitted; visible when it returns.
   *
   * @param ends nothing behind a verdict for which it holds is looked at
   */
  receive(
    arrivals: Iterable<Arrival>,
    options: ReceiveOptions = {},
    ends?: (judged: Judged) => boolean,
  ): Judged[] {
    const { revocations } = options;
    const knowledge = revocations
      ? { ...this.#knowledge, revocations }
      : this.#knowledge;
    const judged = this.#receive(arrivals, knowledge, options, ends);
    this.#connect();
    return judged;
  }

  /** The signatures that arrivals are going to be judged by; `undefined` where that shows only then. */
  signaturesOf(arrivals: Iterable<Arrival>): Signature[] | undefined {
    if (this.#loaded.salvage !== undefined) return undefined;
    this.#parts.flush();
    this.#commits.hashAll();
    return signaturesOf(arrivals, this.#knowledge);
  }

  /** As {@linkcode receiveBack}. */
  receiveBack(arrivals: Iterable<Arrival>, own: OwnChain): Judged[] {
    return receiveBack(arrivals, own);
  }

  /** What a repair kept aside comes in when it connects again. */
  #connect(): void {
    const { graph, ownKey, salvage } = this.#loaded;
    if (salvage === undefined) return;
    const knowledge: Knowledge = { ...this.#knowledge, mendedKey: ownKey };
    for (;;) {
      const arrival = salvage.next(graph);
      if (arrival === undefined) break;
      this.#receive([arrival], knowledge, { parking: new Parking() });
    }
    if (salvage.isDone(graph)) this.#loaded.salvage = undefined;
  }

  #receive(
    arrivals: Iterable<Arrival>,
    knowledge: Knowledge,
    options: ReceiveOptions,
    ends?: (judged: Judged) => boolean,
  ): Judged[] {
    const { parking = this.parking, gate, chainOf, isLast } = options;
    this.#parts.flush();
    this.#commits.hashAll();
    const judged: Judged[] = [];
    const refused = new Set<string>();
    const take = (admitted: Admitted, bytes: Uint8Array) =>
      this.#take(admitted, bytes);
    try {
      for (const arrival of arrivals) {
        if (refused.size > 0 && refused.has(chainOf!(arrival))) continue;
        const verdicts = admit(arrival, knowledge, parking, take, gate);
        judged.push(...verdicts);
        let isOver = false;
        for (const { arrival, verdict } of verdicts) {
          if ("givenUp" in verdict) this.#giveUp(verdict.givenUp);
          if (verdict.verdict !== "refuse") continue;
          isOver ||= isLast?.(verdict.refusal) === true;
          const chain = chainOf?.(arrival) ?? "";
          if (chain !== "") refused.add(chain);
        }
        if (isOver) break;
        if (ends !== undefined && verdicts.some(ends)) break;
      }
    } finally {
      this.#changes.publish(); // What was taken is told, whatever failed then.
    }
    return judged;
  }

  /** What its author gave up is void here, too. */
  #giveUp(givenUp: GivenUp | undefined): void {
    if (givenUp === undefined) return;
    const { chain, numbers } = givenUp;
    // Its author was told so once, and has forgotten it.
    const isOwn = chain.startsWith(this.#loaded.ownKey);
    const reason = isOwn ? "denied" : GIVEN_UP;
    const detail = isOwn ? "It was refused before" : "";
    const told = { reason, rule: "", detail, kept: false };
    this.#changes.publish();
    this.#parts.refuse(chain, numbers.map((number) => ({ number, ...told })));
  }

  #take(admitted: Admitted, bytes: Uint8Array): void {
    if (admitted.verdict === "admit") return this.#takeBatch(admitted);
    const { log, credentials } = this.#loaded;
    log.append(kindOfCredential(admitted.credential), [bytes]);
    credentials.add(admitted.credential);
    if (admitted.credential.what === "redaction") this.#parts.redacted();
  }

  #takeBatch({ batch, from, lastId, patches, givenUp }: AdmitBatch): void {
    if (givenUp !== undefined) void lateRefusing.code; // Where it is not loaded, nothing is taken yet.
    const { log, graph, mode } = this.#loaded;
    const start = log.end;
    const kind = batchKind(mode === "default");
    const address = log.append(kind, [batch.bytes]);
    graph.addBatch(batch, lastId);
    this.#commits.appended(start);
    this.#parts.took(
      batch.chain,
      batch.first + from,
      batch.commits.length - from,
    );
    this.#changes.fold(this.#loaded, { batch, address, from }, patches);
  }

  /**
   * After a repair: what still connects comes in again, through the door. What
   * this folder signed itself may be older than its certificate, or have none.
   */
  async readmit(): Promise<void> {
    const { log, recovery, ownKey, saved } = this.#loaded;
    const knowledge: Knowledge = { ...this.#knowledge, mendedKey: ownKey };
    for (const record of saved?.meta.credentials ?? []) {
      this.#readmitCredential(record);
    }
    const { survivors } = recovery;
    for (const { kind, body } of survivors) {
      if (isCredential(kind)) this.#readmitCredential({ kind, bytes: body() });
    }
    const local = new LocalRecords(this.#loaded, this.#parts);
    for (const { kind, body } of survivors) {
      if (isCredential(kind)) continue;
      if (isBatch(kind)) {
        this.#receive([{ kind, bytes: body() }], knowledge, {});
      } else local.take(kind, body());
      local.settle();
    }
    await log.sync();
  }

  #readmitCredential(record: Arrival): void {
    const { credentials, mode } = this.#loaded;
    if (mode === "default") return void this.receive([record]);
    // The door of these modes takes none; certificates tell the history who wrote.
    const credential = decodeCredential(record.kind, record.bytes);
    if (credentials.has(credential)) return;
    this.#take({ verdict: "admit-credential", credential }, record.bytes);
  }
}

/** Records of this device alone, of which some wait for the commits that they speak of. */
class LocalRecords {
  readonly #loaded: LoadedReplica;
  readonly #parts: Pick<IntakeParts, "cutAgain" | "refuse">;
  /** Writes one again if its commits are all here. */
  #waiting: readonly (() => boolean)[] = [];
  /** What is not just written as it was. */
  readonly #visitor: RecordVisitor<unknown> = {
    genesis: () => true,
    order: () => true, // A mark is of the place where it stood.
    unknown: () => true,
    cut: (cuts) => this.#parts.cutAgain(cuts) ?? true,
    refusal: (one) => this.#wait(() => this.#refuse(one)),
    resolution: (one) => this.#wait(() => this.#resolve(one)),
  };

  constructor(
    loaded: LoadedReplica,
    parts: Pick<IntakeParts, "cutAgain" | "refuse">,
  ) {
    this.#loaded = loaded;
    this.#parts = parts;
  }

  take(kind: number, body: Uint8Array): void {
    const isTaken = visitRecord(this.#visitor, kind, body, 0) !== undefined;
    if (!isTaken) this.#loaded.log.append(kind, [body]);
  }

  /** Writes those again whose commits are all here. */
  settle(): void {
    this.#waiting = this.#waiting.filter((isSettled) => !isSettled());
  }

  #wait(isSettled: () => boolean): true {
    this.#waiting = [...this.#waiting, isSettled];
    return true;
  }

  #refuse({ chain, refused }: Refusal): boolean {
    const length = this.#loaded.graph.lengthOf(chain);
    if (refused.some(({ number }) => number >= length)) return false;
    this.#parts.refuse(chain, refused);
    return true;
  }

  #resolve(resolution: Resolution): boolean {
    const { retried } = resolution;
    const isHere = retried === undefined || this.#loaded.graph.has(retried);
    return isHere && resolveIn(this.#loaded, resolution);
  }
}
