/**
 * A server in the test's own program: replicas behind a host, on a memory wire.
 *
 * It has no HTTP: whoever logs in asks `login` directly.
 *
 * @module
 */

import { servingDoor } from "../../repo/admission/serving_door.ts";
import type { Gate } from "../../repo/admission/arrival.ts";
import { boundedPatches } from "../../repo/admission/merge_gate.ts";
import { RuleGate } from "../../repo/admission/rule_gate.ts";
import { judgeCommits } from "../../src/schema/judge.ts";
import {
  createSigner,
  generateKeyPair,
  type KeyPair,
  type Signer,
} from "../../crypto/mod.ts";
import {
  issueCertificate,
  type Mode,
  parseRepositoryName,
  Replica,
  type RepositoryName,
  type Session,
} from "../../repo/mod.ts";
import { toHex } from "../../src/base/bytes.ts";
import { DatabaseError, type Refusal } from "../../src/base/errors.ts";
import { wallMax } from "../../src/base/hlc.ts";
import { system } from "../../src/base/system.ts";
import { Schemas } from "../../src/db/schemas.ts";
import type { Rules } from "../../src/schema/rules.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { rights } from "../../sync/conversation.ts";
import { SyncHost } from "../../sync/host.ts";
import type { Declined, HostedRepository } from "../../sync/host_hooks.ts";
import {
  memoryConnector,
  type MemoryWire,
} from "../../sync/transport/memory_transport.ts";
import type { Connector } from "../../sync/transport/transport.ts";
import type {
  Connection,
  Database,
  LoginAnswer,
  LoginRequest,
} from "../../mod.ts";

/** Where pages find it: they connect by an address. */
export const ADDRESS = "ws://memory.test/";

/** A server needs none. */
const noSchemas = new Schemas([]);

/** How it is made. */
export interface MemoryServerOptions {
  readonly mode?: Mode;
  readonly rules?: Rules;
  /** Who comes with these tokens. */
  readonly users?: Readonly<Record<string, string>>;
}

/** A server that a test can cut, refuse with, stop and start again. */
export class MemoryServer {
  readonly #options: MemoryServerOptions;
  readonly #root: KeyPair = generateKeyPair((bytes) => system.random(bytes));
  readonly #session: Session;
  readonly #signer: Signer;
  readonly #open = new Map<RepositoryName, Promise<Replica>>();
  readonly #gates = new Map<RepositoryName, Gate>();
  readonly #wires = new Set<MemoryWire>();
  readonly #secret = crypto.getRandomValues(new Uint8Array(24));
  #host: SyncHost;
  /** What it keeps its repositories on. */
  readonly storage: Storage = memoryStorage();
  /** Is nobody let in? */
  isDown = false;
  /** Claims that the next logins get, as JSON. */
  claims = "{}";
  /** How long a certificate is good for. */
  certificateMs = 365 * 24 * 3_600_000;
  /** How many logins were asked for. */
  logins = 0;
  /** How many connections were made. */
  connections = 0;
  /** Refuses batches, where it is set. */
  gate: (() => Refusal | undefined) | undefined;
  /** Declines repositories, where it says so. */
  declines: (name: string) => Declined | undefined = () => undefined;

  constructor(options: MemoryServerOptions = {}) {
    this.#options = options;
    const pair = generateKeyPair((bytes) => system.random(bytes));
    this.#signer = createSigner(pair.secretKey);
    this.#session = {
      user: "server",
      signer: this.#signer,
      certificate: this.#certify(pair.publicKey, "server", true, "{}"),
    };
    this.#host = this.#listen();
  }

  /** The root public key in hexadecimal digits. */
  get rootKey(): string {
    return toHex(this.#root.publicKey);
  }

  /** Who may erase. */
  get root(): Signer {
    return createSigner(this.#root.secretKey);
  }

  #certify(
    sessionKey: Uint8Array,
    user: string,
    mayIssue: boolean,
    claims: string,
  ): Uint8Array {
    const notAfter = mayIssue ? wallMax : Date.now() + this.certificateMs;
    const fields = {
      sessionKey,
      user,
      mayIssue,
      claims,
      notBefore: 0,
      notAfter,
    };
    return issueCertificate(fields, createSigner(this.#root.secretKey)).bytes;
  }

  #listen(): SyncHost {
    const { certificate } = this.#session;
    const signer = this.#signer;
    return new SyncHost({
      world: system,
      prover: {
        publicKey: signer.publicKey,
        certificates: [certificate!],
        sign: (message) => signer.sign(message),
      },
      rootKey: this.#root.publicKey,
      name: "memory",
      hooks: {
        authorize: (_peer, _session, name) => {
          const declined = this.declines(name);
          if (declined !== undefined) return { declined };
          return { rights: rights.read | rights.write };
        },
        openRepository: (name) => this.#openHosted(name),
        gate: (_peer, name, ...asked) =>
          this.gate?.() ?? this.#judge(name, asked),
      },
    });
  }

  async #openHosted(name: RepositoryName): Promise<HostedRepository> {
    const replica = await this.replica(name);
    const { mode = "default", rules } = this.#options;
    if (rules !== undefined && mode === "default") {
      const gate = new RuleGate(rules.of(name), replica.loaded);
      this.#gates.set(name, (batch, from, decode) => {
        const patches = decode(boundedPatches);
        if ("refused" in patches) return patches;
        const judge = gate.judgeOf(batch.chain, system.now());
        const judges = judge === undefined ? [] : [judge];
        return judgeCommits(batch, from, patches, replica.state, judges);
      });
    }
    const enforced = rules !== undefined && mode === "default" ? ["rules"] : [];
    const port = replica.port();
    const order = await replica.serve();
    return { port, order, enforced, release: () => {} };
  }

  /** By the rules, of a repository that is open. */
  #judge(
    name: RepositoryName,
    asked: Parameters<Gate>,
  ): Refusal | undefined {
    return this.#gates.get(name)?.(...asked);
  }

  /** The server's own replica of a repository. */
  replica(name: string): Promise<Replica> {
    const key = parseRepositoryName(name);
    let opening = this.#open.get(key);
    if (opening === undefined) {
      const { mode = "default" } = this.#options;
      opening = Replica.open({
        door: servingDoor,
        storage: this.storage,
        world: system,
        name: key,
        mode,
        isModeRequired: true,
        rootKey: this.#root.publicKey,
        session: this.#session,
        isOriginal: true,
        viewOf: (collection) => noSchemas.viewOf(collection),
        repair: false,
        settle: () => Promise.resolve(),
      });
      this.#open.set(key, opening);
    }
    return opening;
  }

  /** A way to it. */
  get connector(): Connector {
    return memoryConnector("memory:server", (transport, wire) => {
      if (this.isDown) throw { code: "lost", detail: "It is down" };
      this.connections++;
      this.#wires.add(wire);
      this.#host.accept(transport, "memory");
    });
  }

  /** A way to it for who connects by an address. */
  readonly connectorOf = (address: string): Connector => ({
    ...this.connector,
    address,
  });

  /** Connects a page as whom the token "t" says; it is asked for that when it is needed. */
  connect(page: Database): Connection {
    const session = () => ({ token: "t" });
    return page.connect(ADDRESS, { session, login: this.login });
  }

  /** Certifies who comes with a known token; "key-taken" when the key is another's. */
  readonly login = (
    { sessionKey, credentials, certificate }: LoginRequest,
  ): Promise<LoginAnswer | "key-taken"> => {
    this.logins++;
    const { users = {} } = this.#options;
    const token = "token" in credentials ? credentials.token : "guest";
    const user = users[token] ?? (token === "guest" ? "guest" : undefined);
    if (this.isDown || user === undefined) {
      return Promise.reject(
        new DatabaseError("login-failed", "The server knows no such token"),
      );
    }
    const given = this.#certify(sessionKey, user, false, this.claims);
    const isOther = certificate !== undefined &&
      this.#known.get(toHex(sessionKey)) !==
        user + this.claims;
    if (isOther) return Promise.resolve("key-taken");
    this.#known.set(toHex(sessionKey), user + this.claims);
    return Promise.resolve({ certificate: given });
  };
  readonly #known = new Map<string, string>();

  /** All wires go away at once, without a word. */
  cut(): void {
    for (const wire of this.#wires) wire.cut();
    this.#wires.clear();
  }

  /** Closes everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.close();
    this.cut();
    for (const opening of this.#open.values()) await (await opening).close();
  }
}
