/**
 * A tab's line to the owner of the files, whoever that is: it finds the owner,
 * follows every change of owner, asks questions, and notices silence.
 *
 * Architecture invariant: messages of an owner that is not the newest one are
 * never heard; a question that was not answered is asked again of the next one.
 */

import { type Deferred, deferred } from "../base/deferred.ts";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import { errorOf } from "./failure.ts";
import type {
  Call,
  CallMethod,
  Envelope,
  Hello,
  OwnerMessage,
  TabMessage,
  Welcome,
} from "./messages.ts";
import { Route, type Wire } from "./route.ts";

export interface TabLinkParts {
  readonly name: string;
  /** Of this tab; its lock is held. */
  readonly id: string;
  /** To the worker that this page started. */
  readonly near: Wire;
  /** To everybody. */
  readonly far: Wire;
  readonly world: World;
  readonly hello: () => Hello;
  /** An owner has taken this tab in: everything is asked of it again. */
  readonly welcomed: (welcome: Welcome) => void;
  readonly hear: (message: OwnerMessage) => void;
  readonly rejected: (why: DatabaseError) => void;
  /** Another build of the app is open, too. */
  readonly otherVersion: () => void;
  readonly isJoined: (repository: string) => boolean;
  /** Does anything else wait for the owner? */
  readonly isWaiting: () => boolean;
  /** What is known of the worker that owns the files, when it is silent? */
  readonly lookAtOwner: () => Promise<OwnerSight>;
}

/**
 * `hidden`: its page may be frozen. `seen`: it is busy. `own`: it is this page's
 * own worker. `none`: the next one in line has its turn, unless it was frozen there.
 */
export type OwnerSight = "hidden" | "seen" | "own" | "none";

interface Question {
  readonly message: Call;
  readonly answer: Deferred<unknown>;
}

/** An owner that is busy is waited for; each time that it was in vain, for twice as long. */
const PATIENCE_MS = 5_000;
/** One that nobody sees is given so many times what its slowest answer of late took, and never more than this. */
const ANSWERS = 4;
const HIDDEN_MS_MAX = 400;
/** As long as it has answered nothing, or opens a repository, it counts as one that takes this long. */
const UNKNOWN_MS = 40;
/** What is left of the slowest answer with each further one. */
const FADE = 0.97;

export class TabLink {
  readonly #parts: TabLinkParts;
  readonly #near: Route<"owner">;
  readonly #far: Route<"owner">;
  /** The owner that is followed, and how it is reached. */
  #owner = "";
  #term = 0;
  #route: Route<"owner"> | undefined;
  #isWelcome = false;
  readonly #questions = new Map<number, Question>();
  #calls = 0;
  /** When the owner was last heard, and how often it was looked at since. */
  #heardAt = 0;
  #looks = 0;
  #pings = 0;
  #cancelWatch: (() => void) | undefined;
  #patienceMs = PATIENCE_MS;
  /** When the owner was asked what it has not answered; 0: nothing. */
  #askedAt = 0;
  /** How long its slowest answer of late took, if it gave one. */
  #slowestMs: number | undefined;
  /** A page of another build was heard: its owner may not know yet that this one waits. */
  #isForeignHeard = false;
  #isClosed = false;

  constructor(parts: TabLinkParts) {
    this.#parts = parts;
    const { near, far } = parts;
    this.#near = this.#routeOver(near);
    this.#far = this.#routeOver(far);
  }

  #routeOver(wire: Wire): Route<"owner"> {
    const route: Route<"owner"> = new Route(wire, {
      id: this.#parts.id,
      hears: "owner",
      hear: (envelope) => this.#hear(envelope, route),
      otherVersion: (_from, isForMe) => this.#hearForeign(isForMe),
    });
    return route;
  }

  /** Whatever another build says to one tab is that it does not take it in. */
  #hearForeign(isForMe: boolean): void {
    if (this.#isClosed) return;
    this.#isForeignHeard = true;
    this.#parts.otherVersion();
    if (isForMe && !this.#isWelcome) this.#rejected(otherVersion());
  }

  get isNear(): boolean {
    return this.#isWelcome && this.#route === this.#near;
  }

  get isWelcome(): boolean {
    return this.#isWelcome;
  }

  start(): void {
    const { name } = this.#parts;
    this.#near.post(undefined, 0, { kind: "start", name });
    this.greet();
  }

  greet(): void {
    const { hello } = this.#parts;
    for (const route of [this.#near, this.#far]) {
      route.post(undefined, 0, hello());
    }
    this.watch();
  }

  tellWorker(kind: "yield" | "freeze" | "resume"): void {
    this.#near.post(undefined, this.#term, { kind });
  }

  #hear(
    envelope: Envelope & { readonly message: OwnerMessage },
    route: Route<"owner">,
  ): void {
    if (this.#isClosed || envelope.term < this.#term) return;
    const { message, from, term } = envelope;
    if (message.kind === "announce") {
      return this.#follow(from, term, route);
    }
    if (message.kind === "rejected" && !this.#isWelcome) {
      return this.#rejected(errorOf(message));
    }
    if (message.kind === "welcome" && term > this.#term) {
      this.#adopt(from, term, route);
    }
    if (term !== this.#term || from !== this.#owner) return;
    this.#heardAt = this.#parts.world.monotonic();
    this.#looks = 0;
    if (message.kind === "welcome") return this.#welcome(message);
    if (!this.#isWelcome) return;
    const { kind } = message;
    if (kind === "acknowledged" || kind === "pong") this.#answered();
    if (kind === "result") return this.#answer(message);
    this.#parts.hear(message);
  }

  /** It was asked something that is answered at once: a busy machine shows in how long that takes. */
  #asked(): void {
    if (this.#askedAt === 0) this.#askedAt = this.#parts.world.monotonic();
  }

  #answered(): void {
    if (this.#askedAt === 0) return;
    const tookMs = this.#heardAt - this.#askedAt;
    this.#slowestMs = Math.max(tookMs, (this.#slowestMs ?? 0) * FADE);
    this.#askedAt = 0;
  }

  /** There is an owner: unless this tab follows it, and by the shortest way. */
  #follow(from: string, term: number, route: Route<"owner">): void {
    const isKnown = term === this.#term && from === this.#owner;
    if (isKnown && (route !== this.#near || this.#route === this.#near)) return;
    this.#adopt(from, term, route);
    route.post(from, term, this.#parts.hello());
    this.watch();
  }

  #adopt(owner: string, term: number, route: Route<"owner">): void {
    this.#owner = owner;
    this.#term = term;
    this.#route = route;
    this.#isWelcome = false;
    this.#looks = this.#askedAt = 0;
    this.#heardAt = this.#parts.world.monotonic();
  }

  #welcome(welcome: Welcome): void {
    if (this.#isWelcome) return;
    this.#isWelcome = true;
    this.#patienceMs = PATIENCE_MS;
    this.#parts.welcomed(welcome);
    this.tellNext();
    this.ask(undefined);
  }

  /** Its own worker, if that comes next, opens this very database and no other, as the same author. */
  tellNext(): void {
    if (this.#route === this.#near) return;
    this.#near.post(undefined, 0, this.#parts.hello());
  }

  /** Asks what was not answered yet: of the database, or of a repository that the owner has open now. */
  ask(repository: string | undefined): void {
    for (const { message } of this.#questions.values()) {
      if (message.repository === repository) this.post(message);
    }
  }

  #rejected(failure: DatabaseError): void {
    this.#parts.rejected(failure);
    for (const { answer } of this.#questions.values()) answer.reject(failure);
    this.#questions.clear();
  }

  /** Says something to the owner, if there is one: the next one is asked anew. */
  post(message: TabMessage): void {
    if (!this.#isWelcome || this.#isClosed) return;
    if (message.kind === "write") this.#asked();
    if (message.kind === "open") this.#slowestMs = undefined;
    this.#route?.post(this.#owner, this.#term, message);
    this.watch();
  }

  /** A number for a question. */
  nextCall(): number {
    return ++this.#calls;
  }

  /** Asks the owner to do something, or the next one. */
  call(
    method: CallMethod,
    args: readonly unknown[] = [],
    repository?: string,
  ): Promise<unknown> {
    if (this.#isClosed) {
      return Promise.reject(
        new DatabaseError("closed", "The database is closed: open it again"),
      );
    }
    const call = this.nextCall();
    const message: Call = {
      kind: "call",
      call,
      repository,
      method,
      args,
    };
    const answer = deferred<unknown>();
    this.#questions.set(call, { message, answer });
    if (repository === undefined || this.#parts.isJoined(repository)) {
      this.post(message);
    }
    return answer.promise;
  }

  /** Nobody is asked any more what was asked of a repository. */
  forget(repository: string, why: DatabaseError): void {
    for (const [call, { message, answer }] of this.#questions) {
      if (message.repository !== repository) continue;
      this.#questions.delete(call);
      answer.reject(why);
    }
  }

  #answer(
    { call, value, failure }: Extract<OwnerMessage, { kind: "result" }>,
  ): void {
    const question = this.#questions.get(call);
    this.#questions.delete(call);
    if (failure === undefined) question?.answer.resolve(value);
    else question?.answer.reject(errorOf(failure));
  }

  get #isWaiting(): boolean {
    return !this.#isWelcome || this.#questions.size > 0 ||
      this.#parts.isWaiting();
  }

  /** Watches whether the owner lives, as long as something waits for it. */
  watch(): void {
    if (this.#cancelWatch !== undefined || this.#isClosed) return;
    if (!this.#isWaiting) return;
    if (this.#looks === 0) this.#heardAt = this.#parts.world.monotonic();
    this.#cancelWatch = this.#parts.world.after(limits.tabPingMs, () => {
      this.#cancelWatch = undefined;
      this.#look();
      this.watch();
    });
  }

  /** Every so often: asks who is silent, and takes the place of who stays so. */
  #look(): void {
    if (!this.#isWaiting) return;
    if (!this.#isWelcome && this.#isForeignHeard) {
      this.#isForeignHeard = false;
      this.#far.post(undefined, 0, this.#parts.hello());
    }
    const silence = this.#parts.world.monotonic() - this.#heardAt;
    if (this.#term > 0) {
      const ping = ++this.#pings;
      this.#asked();
      this.#route?.post(this.#owner, this.#term, { kind: "ping", ping });
    }
    // A timer that came late says that this page stood still, not the owner.
    if (++this.#looks < 3 || silence < this.#hiddenMsMax) return;
    const term = this.#term;
    void this.#parts.lookAtOwner().then((sight) => {
      if (this.#looks < 3 || term !== this.#term || this.#isClosed) return;
      const isLong = silence >= this.#patienceMs;
      if (sight === "hidden" || (sight !== "own" && isLong)) this.#steal();
    });
  }

  /** Silence of an owner that nobody sees, after which it is replaced. */
  get #hiddenMsMax(): number {
    const slowMs = ANSWERS * (this.#slowestMs ?? UNKNOWN_MS);
    return Math.max(limits.tabSilenceMsMax, Math.min(slowMs, HIDDEN_MS_MAX));
  }

  #steal(): void {
    this.#looks = 0;
    this.#patienceMs *= 2;
    this.#heardAt = this.#parts.world.monotonic();
    this.#near.post(undefined, this.#term, { kind: "steal" });
  }

  close(): void {
    if (this.#isClosed) return;
    if (this.#isWelcome) {
      this.#route?.post(this.#owner, this.#term, { kind: "goodbye" });
    }
    this.#isClosed = true;
    this.#cancelWatch?.();
    this.#near.close();
    this.#far.close();
    for (const { answer } of this.#questions.values()) {
      answer.reject(
        new DatabaseError("closed", "The database was closed meanwhile"),
      );
    }
    this.#questions.clear();
  }
}

function otherVersion(): DatabaseError {
  return new DatabaseError(
    "other-version",
    "Another page runs another version of this app: reload all of its pages",
  );
}
