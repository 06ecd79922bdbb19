/**
 * The connecting side: one connection that comes back, many repositories on it.
 *
 * Architecture invariant: it never gives up on what may pass and never hammers
 * a server: waits grow, are capped and partly by chance; what cannot pass by
 * itself is shown and waits for somebody.
 */

import { isSettled, settle } from "../crypto/signature.ts";
import type { RepositoryPort } from "../repo/port.ts";
import { limits } from "../src/base/limits.ts";
import type { World } from "../src/base/world.ts";
import { backoffMs } from "./backoff.ts";
import { ClientConversation } from "./client_conversation.ts";
import { SyncChannel } from "./client_channel.ts";
import type { ConversationEvent, EventOf } from "./conversation.ts";
import type { Prover } from "./proof.ts";
import { Driver } from "./driver.ts";
import { ServerKnowledge } from "./server_knowledge.ts";
import {
  type ClientStatus,
  Notifier,
  settled,
  type SyncReason,
} from "./status.ts";
import type {
  Connector,
  Transport,
  TransportEnd,
} from "./transport/transport.ts";
import { endOf } from "./transport/transport_end.ts";

/** What a client works with. */
export interface SyncClientOptions {
  readonly connector: Connector;
  readonly world: World;
  /** The root public key, 32 bytes. */
  readonly rootKey: Uint8Array;
  /**
   * Who proves itself. Asked before every connection; `renew`: the server did
   * not take the certificate. May log in over the network; what it rejects with
   * is shown as the reason, and tried again later.
   */
  prover(renew: boolean, signal: AbortSignal): Promise<Prover>;
  /** Hears how far the server's clock is ahead of `world`'s, in milliseconds: commits are dated by it. */
  follow?(clockOffsetMs: number): void;
  /** Is there no memory for more? */
  isFull?(): boolean;
  /** Sees every frame that comes or goes, for an inspector. */
  frame?(way: "in" | "out", bytes: Uint8Array): void;
  /** Hears of faults of ours; each also ends the connection and is its reason. */
  report?(error: unknown): void;
}

/** Ends that do not pass by themselves. */
const FINAL = new Set(["root-key-mismatch", "mode-mismatch", "wrong-version"]);
const SILENT: SyncReason = Object.freeze({
  code: "timeout",
  message: "The server does not answer",
});
/** Ends that a new certificate may help with. */
const LOGIN = new Set(["bad-certificate", "expired-session"]);

/** A client of one server. */
export class SyncClient {
  readonly #options: SyncClientOptions;
  readonly #notifier = new Notifier();
  readonly #channels = new Map<string, SyncChannel>();
  readonly #endNetwork: (() => void) | undefined;
  #driver: Driver<ClientConversation> | undefined;
  #attempt: AbortController | undefined;
  #cancelRetry: (() => void) | undefined;
  #attempts = 0;
  #readyMs: number | undefined;
  #isRenewing = false;
  /** Was the certificate of this attempt asked for just now? */
  #isFresh = false;
  #goodbyeMs: number | undefined;
  #notBeforeMs = -Infinity;
  #clockOffsetMs: number | undefined;
  /** While this device's clock is so far from the server's that it does not follow it. */
  #clockIncident: EventOf<"incident"> | undefined;
  #status: ClientStatus;
  #isClosed = false;

  constructor(options: SyncClientOptions) {
    this.#options = options;
    this.#status = settled(undefined, this.#statusOf("connecting"));
    this.#endNetwork = options.connector.onNetwork?.((isThere) =>
      this.#network(isThere)
    );
    this.#connect();
  }

  /** How the connection fares; the same object until something changes. */
  get status(): ClientStatus {
    return this.#status;
  }

  /** Calls when the status changed; once a turn. */
  subscribe(listener: () => void): () => void {
    return this.#notifier.subscribe(listener);
  }

  /** A repository joins, with what is known of its server, or was kept of that. */
  add(
    port: RepositoryPort,
    known?: ServerKnowledge | Uint8Array,
  ): SyncChannel {
    this.remove(port.name);
    const { world } = this.#options;
    const server = known instanceof ServerKnowledge
      ? known
      : ServerKnowledge.read(port, known);
    const channel = new SyncChannel({
      port,
      server,
      world,
      client: () => this.#status,
      clockOffsetMs: () => this.#clockOffsetMs,
      login: () => this.#login(),
    });
    this.#channels.set(port.name, channel);
    if (this.#clockIncident) channel.incident(this.#clockIncident);
    if (this.#driver !== undefined) channel.begin(this.#driver);
    return channel;
  }

  /** A repository leaves. */
  remove(name: string): void {
    this.#channels.get(name)?.close();
    this.#channels.delete(name);
  }

  /** Somebody wants it now: also where it had given up, and before a server's `goodbye` is over. */
  retryNow(): void {
    for (const channel of this.#channels.values()) channel.retry();
    const { state } = this.#status;
    if (state === "offline" || state === "refused") this.#connectNow();
  }

  /** The platform says that the network came, or went. */
  #network(isThere: boolean): void {
    const driver = this.#driver;
    if (!isThere) return driver?.close("lost", "The network is gone");
    if (this.#status.state !== "offline") {
      return driver?.run((core) => core.doubt(driver.moment));
    }
    if (this.#options.world.monotonic() < this.#notBeforeMs) return;
    this.#connectNow();
  }

  /** A wire that is there is silent: it is given up. */
  #connectNow(): void {
    this.#driver?.close(SILENT.code, SILENT.message);
    this.#attempts = 0;
    this.#connect();
  }

  async #connect(): Promise<void> {
    this.#cancelRetry?.();
    const attempt = this.#attempt = new AbortController();
    const { signal } = attempt;
    this.#become("connecting", this.#status.reason);
    try {
      const isRenewing = this.#isRenewing;
      const prover = await this.#options.prover(isRenewing, signal);
      this.#isFresh = isRenewing;
      this.#isRenewing = false;
      if (signal.aborted) return;
      const transport = await this.#options.connector.connect(signal);
      if (signal.aborted) return transport.close("closed", "No longer wanted");
      this.#begin(prover, transport);
    } catch (error) {
      if (!signal.aborted) this.#failed(endOf(error));
    }
  }

  #begin(session: Prover, transport: Transport): void {
    const { rootKey, world, connector } = this.#options;
    const core: ClientConversation = new ClientConversation({
      session,
      rootKey,
      random: (target) => world.random(target),
      isPlaceProven: connector.address.startsWith("wss:"),
      canRenew: !this.#isFresh,
      isFull: this.#options.isFull,
    });
    const driver = new Driver(core, transport, world, {
      tell: (event) => this.#tell(event),
      ended: (end) => this.#ended(end),
      sign: (message) => session.sign(message),
      ready: (frame) =>
        isSettled() ? undefined : settle(core.signaturesOf(frame)),
      broke: (error) => this.#options.report?.(error),
      moved: (way, bytes) => this.#options.frame?.(way, bytes),
    });
    this.#driver = driver;
    driver.start();
    for (const channel of this.#channels.values()) channel.begin(driver);
  }

  #tell(event: ConversationEvent): void {
    if (event.tell === "ready") return this.#ready(event.clockOffsetMs);
    if (event.tell === "clock") return this.#readClock(event.clockOffsetMs);
    if (event.tell === "goodbye") {
      this.#goodbyeMs = Math.min(event.waitMs, limits.goodbyeMsMax);
      return;
    }
    if (event.tell === "live") this.#attempts = 0;
    if (event.tell === "incident") return this.#incident(event);
    if (event.tell === "silence") return this.#hearSilence(event);
    if (event.tell === "unopened") return; // A server's.
    this.#channels.get(event.name)?.tell(event);
  }

  #hearSilence({ isSilent }: EventOf<"silence">): void {
    if (isSilent) this.#become("offline", SILENT);
    else this.#become("ready", undefined);
  }

  /** What is of no repository is of all. */
  #incident(event: EventOf<"incident">): void {
    const { name } = event;
    for (const channel of this.#channels.values()) {
      if (name === undefined || name === channel.name) channel.incident(event);
    }
  }

  #ready(clockOffsetMs: number): void {
    this.#readClock(clockOffsetMs);
    this.#readyMs = this.#options.world.monotonic();
    this.#become("ready", undefined);
  }

  /** What is written from now on is dated by the server's clock; that this cannot be is told once. */
  #readClock(clockOffsetMs: number): void {
    this.#clockOffsetMs = clockOffsetMs;
    this.#options.follow?.(clockOffsetMs);
    const isFar = Math.abs(clockOffsetMs) > limits.clockCorrectionMsMax;
    if (isFar === (this.#clockIncident !== undefined)) return;
    this.#clockIncident = isFar ? clockIncident(clockOffsetMs) : undefined;
    if (this.#clockIncident) this.#incident(this.#clockIncident);
  }

  /** The server refused what a certificate that ran out had signed. */
  #login(): void {
    this.#driver?.close("expired-session", "A new certificate is needed");
  }

  #ended(end: TransportEnd): void {
    const { world } = this.#options;
    const readyMs = this.#readyMs;
    this.#driver = undefined;
    this.#readyMs = undefined;
    const isSteady = readyMs !== undefined &&
      world.monotonic() - readyMs >= limits.steadyMs;
    if (isSteady) this.#attempts = 0;
    if (!this.#isClosed) this.#failed(end);
    for (const channel of this.#channels.values()) channel.lost();
  }

  #failed({ code, detail }: TransportEnd): void {
    const reason = Object.freeze({ code, message: detail });
    const wantsLogin = LOGIN.has(code);
    const isHopeless = FINAL.has(code) ||
      (code === "bad-certificate" && this.#isFresh);
    this.#attempts++;
    if (isHopeless) return this.#become("refused", reason);
    this.#isRenewing ||= wantsLogin;
    const isFirstLogin = wantsLogin && !this.#isFresh && this.#attempts === 1;
    this.#retryAfter(isFirstLogin ? 0 : this.#waitMs(), reason);
  }

  #waitMs(): number {
    const { world } = this.#options;
    const goodbyeMs = this.#goodbyeMs;
    if (goodbyeMs === undefined) return backoffMs(this.#attempts, world);
    this.#goodbyeMs = undefined;
    this.#notBeforeMs = world.monotonic() + goodbyeMs;
    return goodbyeMs + backoffMs(1, world);
  }

  #retryAfter(waitMs: number, reason: SyncReason): void {
    const { world } = this.#options;
    this.#cancelRetry = world.after(waitMs, () => void this.#connect());
    this.#become("offline", reason, new Date(world.now() + waitMs));
  }

  #become(
    state: ClientStatus["state"],
    reason: SyncReason | undefined,
    retryAt?: Date,
  ): void {
    if (this.#isClosed && state !== "closed") return;
    const status = settled(
      this.#status,
      this.#statusOf(state, reason, retryAt),
    );
    if (status === this.#status) return;
    this.#status = status;
    this.#notifier.tell();
    for (const channel of this.#channels.values()) channel.changed();
  }

  #statusOf(
    state: ClientStatus["state"],
    reason?: SyncReason,
    retryAt?: Date,
  ): ClientStatus {
    return { state, reason, attempts: this.#attempts, retryAt };
  }

  /** Ends the connection and all channels. Waits for nothing. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#endNetwork?.();
    this.#cancelRetry?.();
    this.#attempt?.abort();
    for (const channel of this.#channels.values()) channel.close();
    this.#channels.clear();
    this.#driver?.close("closed", "The client closed");
    this.#become("closed", undefined);
  }
}

function clockIncident(clockOffsetMs: number): EventOf<"incident"> {
  const seconds = Math.round(Math.abs(clockOffsetMs) / 1_000);
  const where = clockOffsetMs < 0 ? "ahead of" : "behind";
  return {
    tell: "incident",
    name: undefined,
    kind: "clock",
    message:
      `This device's clock is ${seconds} s ${where} the server's, too far to follow it: set the clock right`,
    details: { clockOffsetMs },
  };
}
