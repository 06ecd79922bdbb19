/**
 * Two conversations face to face over real replicas: frames are handed over by
 * hand, a flight at a time, and can be looked at on the way.
 *
 * @module
 */

import { ok } from "node:assert/strict";
import "./audits.ts";
import { lateEd25519 } from "../../crypto/late_ed25519.ts";
import type { Signature } from "../../crypto/signature.ts";
import { toHex } from "../../src/base/bytes.ts";
import type { Signer } from "../../crypto/mod.ts";
import type { ServedOrder } from "../../repo/mod.ts";
import type { Mode } from "../../repo/commit/genesis.ts";
import type { Session } from "../../repo/commit/session.ts";
import { Broadcast } from "../../sync/broadcast.ts";
import { ClientConversation } from "../../sync/client_conversation.ts";
import {
  type ClientOptions,
  type ConversationEvent,
  type Output,
  rights,
  type ServerChannelOptions,
  type ServerOptions,
} from "../../sync/conversation.ts";
import type { ServerProver } from "../../sync/proof.ts";
import type { Message } from "../../sync/message.ts";
import { decodeMessage, encodeMessage } from "../../sync/message_codec.ts";
import type { ResumeState } from "../../sync/resume.ts";
import { ServerKnowledge } from "../../sync/server_knowledge.ts";
import { ServerConversation } from "../../sync/server_conversation.ts";
import { ReceiptDesk } from "../../sync/receipt.ts";
import { WitnessMaker } from "../../sync/witness.ts";
import {
  bareSession,
  certificateFor,
  ManualWorld,
  Place,
  turns,
} from "./replica_place.ts";

const SERVER_SEED = 90;

/** The prover of a session. */
export function proverFor(session: Session): ServerProver {
  const signer = session.signer as Signer; // Proof: a test's session signs at once.
  const { certificate } = session;
  return {
    publicKey: signer.publicKey,
    certificates: certificate === undefined ? [] : [certificate],
    sign: (message) => signer.sign(message),
  };
}

/** A replica that serves, and the order of its log. */
export class Serving {
  readonly place: Place;
  readonly session: Session;
  readonly order: ServedOrder;
  readonly witness: WitnessMaker;
  readonly broadcast: Broadcast = new Broadcast();
  readonly receipts: ReceiptDesk;

  private constructor(place: Place, session: Session, order: ServedOrder) {
    this.place = place;
    this.session = session;
    this.order = order;
    const port = place.replica.port();
    const prover = proverFor(session);
    this.witness = new WitnessMaker({ prover, port, order });
    this.receipts = new ReceiptDesk({ prover, port, order });
  }

  /** Opens the server's replica, on new storage or on that of `before`. */
  static async open(
    world: ManualWorld,
    before?: Pick<Place, "storage">,
    mode?: Mode,
  ): Promise<Serving> {
    const bare = bareSession(SERVER_SEED);
    const certificate = certificateFor(bare, undefined, true);
    const session = { ...bare, certificate };
    const storage = before && { storage: before.storage };
    const place = await Place.open({ world, session, mode, ...storage });
    return new Serving(place, session, await place.replica.serve());
  }
}

/** What ends a side. */
export interface Ended {
  readonly code: string;
  readonly detail: string;
}

/** What both sides do with outputs. */
export abstract class Side {
  readonly world: ManualWorld;
  /** Frames on their way to the other side. */
  sent: Uint8Array[] = [];
  readonly events: ConversationEvent[] = [];
  ended: Ended | undefined;
  /** When time is asked for. */
  wakeMs = Infinity;

  constructor(world: ManualWorld) {
    this.world = world;
  }

  /** Now. */
  get moment(): { nowMs: number; monotonicMs: number } {
    return { nowMs: this.world.now(), monotonicMs: this.world.monotonic() };
  }

  /** Does what a conversation says. */
  perform(outputs: readonly Output[]): void {
    for (const output of outputs) {
      if (output.do === "send") this.sent.push(output.frame);
      else if (output.do === "close") this.ended = output;
      else if (output.do === "sign") this.sign(output.message);
      else if (output.do === "wake") {
        this.wakeMs = this.world.monotonic() + output.afterMs;
      } else {
        this.events.push(output.event);
        this.hear(output.event);
      }
    }
  }

  /** Signs what has to be proved. */
  sign(_message: Uint8Array): void {}

  /** Hears an event. */
  hear(_event: ConversationEvent): void {}

  /** Takes frames off the wire. */
  take(): Uint8Array[] {
    return this.sent.splice(0);
  }

  /** The messages on their way, decoded and left where they are. */
  get messages(): Message[] {
    return this.sent.map((frame) => decodeMessage(frame) as Message);
  }

  /** Events of one kind. */
  told<Tell extends ConversationEvent["tell"]>(
    tell: Tell,
  ): Extract<ConversationEvent, { tell: Tell }>[] {
    return this.events.filter((event) => event.tell === tell) as never;
  }
}

/** The server's side. */
export class ServerSide extends Side {
  readonly core: ServerConversation;
  readonly serving: Serving;
  readonly #channel: Partial<ServerChannelOptions>;
  readonly #stop: () => void;

  constructor(
    world: ManualWorld,
    serving: Serving,
    options: Partial<ServerOptions> = {},
    channel: Partial<ServerChannelOptions> = {},
  ) {
    super(world);
    const port = serving.place.replica.port();
    this.serving = serving;
    this.#channel = channel;
    this.core = new ServerConversation({
      session: proverFor(serving.session),
      rootKey: port.rootKey,
      name: "test",
      random: world.random,
      ...options,
    });
    this.#stop = port.onShareable(() =>
      this.perform(this.core.shareable(port.name, this))
    );
    this.perform(this.core.step({ is: "begin", ...this.moment }));
  }

  override hear(event: ConversationEvent): void {
    if (event.tell !== "opening") return;
    const { place, order, witness, broadcast, receipts } = this.serving;
    const port = place.replica.port();
    const options = {
      rights: rights.read | rights.write,
      order,
      witness,
      broadcast,
      receipts,
      ...this.#channel,
    };
    this.perform(this.core.opened(event.channel, port, options, this.moment));
  }

  /** Gives it a frame. */
  frame(bytes: Uint8Array): void {
    this.perform(this.core.step({ is: "frame", bytes, ...this.moment }));
  }

  /** Gives it a message. */
  message(message: Message): void {
    this.frame(encodeMessage(message).slice());
  }

  /** Time goes on. */
  tick(): void {
    this.perform(this.core.step({ is: "time", ...this.moment }));
  }

  /** The wire is gone. */
  end(): void {
    this.#stop();
    this.core.end();
  }
}

/** What was asked of signatures while something ran, and found good. */
export function goodAsked(run: () => void): Signature[] {
  const { code } = lateEd25519;
  const asked: Signature[] = [];
  lateEd25519.provide({
    ...code,
    verify(signature, message, publicKey) {
      const isGood = code.verify(signature, message, publicKey);
      if (isGood) asked.push({ signature, message, publicKey });
      return isGood;
    },
  });
  try {
    run();
  } finally {
    lateEd25519.provide(code);
  }
  return asked;
}

function textOf({ signature, message, publicKey }: Signature): string {
  return [signature, message, publicKey].map(toHex).join();
}

/** The client's side: what a frame has it ask of signatures it can say before. */
export class ClientSide extends Side {
  readonly core: ClientConversation;
  readonly place: Place;
  readonly server: ServerKnowledge;
  readonly #prover: ServerProver;
  /** Good signatures that it asked about. */
  readonly asked: Signature[] = [];
  readonly #said = new Set<string>();
  /** Could it once not say before what it would ask? */
  isSurprised = false;
  readonly #stop: () => void;

  constructor(
    world: ManualWorld,
    place: Place,
    resume?: ResumeState,
    options: Partial<ClientOptions> & { readonly session?: ServerProver } = {},
  ) {
    super(world);
    const port = place.replica.port();
    this.place = place;
    this.server = new ServerKnowledge(port, resume);
    this.#prover = options.session ?? proverFor(place.replica.session);
    this.core = new ClientConversation({
      session: this.#prover,
      rootKey: port.rootKey,
      random: world.random,
      ...options,
    });
    this.#stop = port.onShareable(() =>
      this.perform(this.core.shareable(port.name, this.moment))
    );
    this.perform(this.core.open(port, this.server));
    this.perform(this.core.step({ is: "begin", ...this.moment }));
  }

  /** Gives it a frame. */
  frame(bytes: Uint8Array): void {
    const ahead = this.core.signaturesOf(bytes);
    const asked = goodAsked(() =>
      this.perform(this.core.step({ is: "frame", bytes, ...this.moment }))
    );
    this.asked.push(...asked);
    for (const one of ahead ?? []) this.#said.add(textOf(one));
    const isSaid = asked.every((one) => this.#said.has(textOf(one)));
    // What it could not say before has its code loaded: from then on it need not.
    this.isSurprised ||= ahead === undefined;
    ok(isSaid || this.isSurprised, "a signature was asked for unannounced");
  }

  /** Gives it a message. */
  message(message: Message): void {
    this.frame(encodeMessage(message).slice());
  }

  /** Time goes on. */
  tick(): void {
    this.perform(this.core.step({ is: "time", ...this.moment }));
  }

  override sign(message: Uint8Array): void {
    const signature = this.#prover.sign(message);
    this.perform(this.core.step({ is: "signed", signature, ...this.moment }));
  }

  /** What to keep. */
  get resume(): ResumeState {
    return this.server.state;
  }

  /** The wire is gone. */
  end(): void {
    this.#stop();
    this.core.end();
  }
}

/** A client and a server that hear each other. */
export class Talk {
  readonly world: ManualWorld;
  readonly server: ServerSide;
  readonly client: ClientSide;
  /** Flights of frames from the client to the server. */
  flights = 0;
  /** Bytes that crossed, by direction. */
  readonly bytes: { up: number; down: number } = { up: 0, down: 0 };

  constructor(world: ManualWorld, server: ServerSide, client: ClientSide) {
    this.world = world;
    this.server = server;
    this.client = client;
  }

  /** One flight each way; false when nothing was on its way. */
  async flight(): Promise<boolean> {
    await disks();
    const down = this.server.take();
    for (const frame of down) {
      this.bytes.down += frame.length;
      this.client.frame(frame.slice());
    }
    await disks();
    const up = this.client.take();
    if (up.length > 0) this.flights++;
    for (const frame of up) {
      this.bytes.up += frame.length;
      this.server.frame(frame.slice());
    }
    return down.length + up.length > 0;
  }

  /** Lets frames fly until there are none. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 3;) {
      quiet = await this.flight() ? 0 : quiet + 1;
    }
  }

  /** Lets time go by: both look at their clocks where they asked for it. */
  async pass(ms: number): Promise<void> {
    this.world.advance(ms);
    for (const side of [this.server, this.client]) {
      if (side.wakeMs > this.world.monotonic()) continue;
      side.wakeMs = Infinity;
      side.tick();
    }
    await this.settle();
  }

  /** The wire is cut. */
  end(): void {
    this.server.end();
    this.client.end();
  }
}

/** Lets syncs of memory storages end. */
export async function disks(): Promise<void> {
  await turns(50);
  await new Promise((resolve) => setImmediate(resolve));
}

/** A server and a device that have nothing yet. */
export async function start(): Promise<
  { world: ManualWorld; serving: Serving; place: Place }
> {
  const world = new ManualWorld();
  const serving = await Serving.open(world);
  const place = await Place.open({ world, seed: 1 });
  return { world, serving, place };
}

/** The two of them, connected. */
export function meet(
  serving: Serving,
  place: Place,
  resume?: ResumeState,
  channel: Partial<ServerChannelOptions> = {},
): Talk {
  const world = place.world as ManualWorld;
  const server = new ServerSide(world, serving, {}, channel);
  return new Talk(world, server, new ClientSide(world, place, resume));
}
