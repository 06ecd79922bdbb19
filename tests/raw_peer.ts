/**
 * A peer of a real server that says what it likes: frames by hand over a
 * WebSocket or another transport, with a session that anybody may have signed.
 *
 * @module
 */

import { createSigner, generateKeyPair } from "../crypto/mod.ts";
import { issueCertificate } from "../repo/commit/certificate.ts";
import {
  encodeGenesis,
  genesisId,
  type Mode,
  type RepositoryName,
} from "../repo/commit/genesis.ts";
import type { Session } from "../repo/commit/session.ts";
import { limits } from "../src/base/limits.ts";
import {
  features,
  type Message,
  type MessageOf,
  type WireRecord,
} from "../sync/message.ts";
import { decodeMessage, encodeMessage } from "../sync/message_codec.ts";
import { clientMessage } from "../sync/proof.ts";
import type { Transport } from "../sync/transport/transport.ts";
import type { Server } from "../server/mod.ts";

/** What a raw peer needs to know of a server. */
export type Target = Pick<Server, "url" | "rootKey">;

/** What it needs to know of one that it is connected with. */
type Known = Pick<Server, "rootKey">;

/** The root secret of servers whose sessions are certified here. */
export const ROOT_SECRET = new Uint8Array(32).fill(11);

/** What a certificate says of a session. */
export interface SessionFields {
  /** Its key; a new one where nothing is said. */
  readonly secretKey?: Uint8Array;
  readonly user?: string;
  readonly notBefore?: number;
  readonly notAfter?: number;
  readonly mayIssue?: boolean;
  /** Who signs it; the root of {@linkcode ROOT_SECRET} where nothing is said. */
  readonly issuer?: Uint8Array;
}

/** A session that a root, or whom it trusts, has certified. */
export function rawSession(
  fields: SessionFields = {},
): RawSession & Session {
  const { user = "raw", issuer = ROOT_SECRET } = fields;
  const { secretKey = newSecretKey() } = fields;
  const signer = createSigner(secretKey);
  const { publicKey } = signer;
  const { bytes } = issueCertificate({
    sessionKey: publicKey,
    user,
    claims: "{}",
    mayIssue: fields.mayIssue ?? false,
    notBefore: fields.notBefore ?? 0,
    notAfter: fields.notAfter ?? Date.now() + 1_000_000,
  }, createSigner(issuer));
  return { user, signer, secretKey, certificate: bytes };
}

function newSecretKey(): Uint8Array {
  return generateKeyPair((target) =>
    void crypto.getRandomValues(target as Uint8Array<ArrayBuffer>)
  ).secretKey;
}

/** The genesis id of a repository of a server. */
export function genesisOf(
  { rootKey }: Known,
  name: string,
  mode: Mode = "default",
): Uint8Array {
  // Proof: tests may also ask for names that are none.
  return genesisId(
    encodeGenesis({ name: name as RepositoryName, rootKey, mode }),
  );
}

/** Who proves itself. */
export interface RawSession {
  readonly secretKey: Uint8Array;
  readonly certificate: Uint8Array;
}

/** What a session says to a server's hello. */
export function proofFor(
  { secretKey, certificate }: RawSession,
  { nonce, rootKey, name }: MessageOf<"hello">,
): Message {
  const own = new Uint8Array(32).fill(5);
  const nonces = { server: nonce, client: own };
  const message = clientMessage(nonces, rootKey, name);
  return {
    is: "prove",
    ...features,
    nonce: own,
    window: limits.windowBytesMax,
    certificates: [certificate],
    signature: createSigner(secretKey).sign(message),
  };
}

/** A request for a repository, with nothing in hand. */
export function openMessage(
  target: Known,
  channel: number,
  name: string,
  mode?: Mode,
): Message {
  return {
    is: "open",
    channel,
    name,
    genesisId: genesisOf(target, name, mode),
    start: { from: "vector", vector: new Map() },
  };
}

/** A WebSocket as it is: nothing of a frame is looked at. */
function plainSocket({ url }: Target): Transport {
  const socket = new WebSocket(url.replace("http", "ws"), "sheaf.1");
  socket.binaryType = "arraybuffer";
  socket.onerror = () => {};
  return {
    get buffered() {
      return socket.bufferedAmount;
    },
    listen({ frame, ended }) {
      socket.onmessage = ({ data }) => frame(new Uint8Array(data));
      socket.onclose = ({ reason }) =>
        ended({ code: reason.split(":")[0] ?? "", detail: reason });
    },
    send: (frame) => socket.send(frame.slice()),
    close: () => socket.close(),
  };
}

/** One raw connection. */
export class RawPeer {
  /** Whom it talks to. */
  readonly server: Known;
  readonly #transport: Transport;
  readonly #heard: Message[] = [];
  #news = Promise.withResolvers<void>();
  /** Records that were handed in: the sequence of the last one. */
  sent = 0;
  /** Is the connection gone? */
  isOver = false;
  /** The code that the server closed with; "" where it gave none. */
  readonly ended: Promise<string>;

  /** Talks over a transport that is open. */
  constructor(server: Known, transport: Transport) {
    this.server = server;
    this.#transport = transport;
    const { promise, resolve } = Promise.withResolvers<string>();
    this.ended = promise;
    transport.listen({
      frame: (bytes) => {
        this.#heard.push(decodeMessage(bytes) as Message);
        this.#tell();
      },
      ended: ({ code }) => {
        this.isOver = true;
        this.#tell();
        resolve(code);
      },
    });
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  /** Connects and hears the server's hello, which is left to be taken. */
  static async greeted(server: Target): Promise<RawPeer> {
    const peer = new RawPeer(server, plainSocket(server));
    while (peer.#heard.length === 0 && !peer.isOver) await peer.#news.promise;
    if (peer.isOver) throw new Error("The server declined the connection");
    return peer;
  }

  /** Connects, and proves to be a session. */
  static async proven(
    server: Target,
    session: RawSession = rawSession(),
  ): Promise<RawPeer> {
    const peer = await RawPeer.greeted(server);
    await peer.prove(session);
    return peer;
  }

  /** Connects, proves and opens a repository as channel 1. */
  static async opened(
    server: Target,
    name: string,
    session: RawSession = rawSession(),
  ): Promise<RawPeer> {
    const peer = await RawPeer.proven(server, session);
    peer.open(1, name);
    await peer.hear("opened");
    return peer;
  }

  /** Proves to be a session, and is let in. */
  async prove(session: RawSession): Promise<void> {
    this.send(await this.proof(session));
    await this.hear("welcome");
  }

  /** What a session says to this connection's hello. */
  async proof(session: RawSession): Promise<Message> {
    return proofFor(session, await this.hear("hello"));
  }

  /** Asks for a repository. */
  open(channel: number, name: string, mode?: Mode): void {
    this.send(openMessage(this.server, channel, name, mode));
  }

  /** Hands records in on channel 1. */
  records(...records: WireRecord[]): void {
    this.sent += records.length;
    this.send({ is: "records", channel: 1, records, progress: undefined });
  }

  /** Hands a record in on channel 1; why it was refused, or `undefined` when it was not. */
  async hand(record: WireRecord): Promise<MessageOf<"refuse"> | undefined> {
    this.records(record);
    for (const sequence = this.sent;;) {
      const answer = await this.hear("refuse", "ack");
      if (answer.is === "ack" && answer.sequence >= sequence) return undefined;
      if (answer.is === "refuse" && answer.sequence === sequence) return answer;
    }
  }

  /** Sends a message, or bytes that are none. */
  send(what: Message | Uint8Array): void {
    const bytes = what instanceof Uint8Array ? what : encodeMessage(what);
    this.#transport.send(bytes);
  }

  /** Bytes that wait to be sent. */
  get waiting(): number {
    return this.#transport.buffered;
  }

  /** Takes the next message of some kinds out of what was heard; others before it are dropped. */
  async hear<Is extends Message["is"]>(
    ...kinds: Is[]
  ): Promise<MessageOf<Is>> {
    // Proof: the last of them is of one of these kinds.
    return (await this.hearTo(...kinds)).at(-1) as MessageOf<Is>;
  }

  /** Takes all messages up to the next one of some kinds. */
  async hearTo(...kinds: Message["is"][]): Promise<Message[]> {
    const heard: Message[] = [];
    for (;;) {
      const { promise } = this.#news;
      for (
        let message = this.#heard.shift();
        message !== undefined;
        message = this.#heard.shift()
      ) {
        heard.push(message);
        if (kinds.includes(message.is)) return heard;
      }
      if (this.isOver) throw new Error(`It closed, and said no "${kinds}"`);
      await promise;
    }
  }

  /** Closes, and resolves when that is done. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#transport.close("", "");
    await this.ended;
  }
}
