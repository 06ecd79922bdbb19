/**
 * Floods a server from a thread of its own, one kind at a time, until it is
 * terminated. Message in: an {@linkcode Attack}; message out: "begun".
 *
 * @module
 */

import { forge } from "./kit/forge.ts";
import { pause } from "./kit/patience.ts";
import { genesisOf, RawPeer, rawSession } from "./raw_peer.ts";

/** What is flooded, and where. */
export interface Attack {
  readonly url: string;
  readonly rootKey: Uint8Array;
  readonly repository: string;
  readonly kind: "pings" | "audits" | "opens" | "commits" | "garbage";
}

const PEERS = 4;
/** Who was closed or declined comes again after so long. */
const AGAIN_MS = 10;
/** Bytes that wait here to be sent: more is not faster. */
const WAITING_MAX = 256 * 1024;

type Flood = (peer: RawPeer, turn: number, attack: Attack) => Promise<void>;

const floods: Readonly<Record<Exclude<Attack["kind"], "garbage">, Flood>> = {
  pings(peer, turn) {
    for (let i = 0; i < 200; i++) peer.send({ is: "ping", token: turn });
    return Promise.resolve();
  },
  audits(peer, turn) {
    for (let i = 0; i < 20; i++) {
      peer.send({
        is: "audit",
        channel: 1,
        question: turn,
        query: turn % 2 === 0
          ? { ask: "summary" }
          : { ask: "state", prefix: [] },
      });
    }
    return Promise.resolve();
  },
  opens(peer, turn, { repository }) {
    for (let i = 0; i < 20; i++) {
      const channel = 2 + turn * 20 + i;
      peer.send({ is: "close", channel: channel - 1 });
      peer.open(channel, repository);
    }
    return Promise.resolve();
  },
  async commits(_, turn, attack) {
    const { repository } = attack;
    const session = rawSession();
    const genesisId = genesisOf(attack, repository);
    await using other = await RawPeer.opened(attack, repository, session);
    for (let i = 0; i < 40; i++) {
      const incarnation = turn * 40 + i;
      const one = { session, genesisId, wall: Date.now(), incarnation };
      other.records(forge({ ...one, text: "x".repeat(4_000) }));
    }
    await other.hear("ack");
  },
};

async function flood(attack: Attack): Promise<void> {
  const { kind, repository } = attack;
  for (;;) {
    try {
      if (kind === "garbage") {
        const peer = await RawPeer.greeted(attack);
        peer.send(crypto.getRandomValues(new Uint8Array(500)));
        await peer.ended;
        continue;
      }
      await using peer = await RawPeer.opened(attack, repository);
      for (let turn = 0; !peer.isOver; turn++) {
        await floods[kind](peer, turn, attack);
        do await new Promise((resolve) => setTimeout(resolve)); while (
          peer.waiting > WAITING_MAX && !peer.isOver
        );
      }
    } catch {
      // It was closed or declined: it comes again.
      await pause(AGAIN_MS);
    }
  }
}

const worker = globalThis as unknown as {
  onmessage: (event: { readonly data: Attack }) => void;
  postMessage(message: string): void;
};

worker.onmessage = ({ data }) => {
  for (let i = 0; i < PEERS; i++) void flood(data);
  worker.postMessage("begun");
};
