/**
 * A wire that can be cut and counted: a TCP proxy on loopback.
 *
 * @module
 */

/** A proxy in front of one port. */
export class Proxy implements Disposable {
  /** Bytes from clients to the server. */
  up = 0;
  /** Bytes from the server to clients. */
  down = 0;
  /** Times the direction of flow went from down to up: round trips begun. */
  turns = 0;
  #isCut = false;
  #isGoingUp = false;
  readonly #listener: Deno.TcpListener;
  readonly #target: number;
  readonly #open = new Set<Deno.TcpConn>();

  constructor(target: number) {
    this.#target = target;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    void this.#accept();
  }

  /** Where clients connect to. */
  get port(): number {
    return this.#listener.addr.port;
  }

  /** Forgets what was counted. */
  reset(): void {
    this.up = this.down = this.turns = 0;
    this.#isGoingUp = false;
  }

  /** Ends every connection and takes no other until it is healed. */
  cut(): void {
    this.#isCut = true;
    for (const connection of this.#open) close(connection);
    this.#open.clear();
  }

  /** Takes connections again. */
  heal(): void {
    this.#isCut = false;
  }

  async #accept(): Promise<void> {
    for await (const client of this.#listener) {
      if (this.#isCut) close(client);
      else void this.#join(client);
    }
  }

  async #join(client: Deno.TcpConn): Promise<void> {
    const server = await Deno.connect({
      hostname: "127.0.0.1",
      port: this.#target,
    });
    client.setNoDelay(true);
    server.setNoDelay(true);
    this.#open.add(client).add(server);
    const pipes = [
      this.#pipe(client, server, true),
      this.#pipe(server, client, false),
    ];
    await Promise.race(pipes);
    for (const end of [client, server]) {
      close(end);
      this.#open.delete(end);
    }
  }

  async #pipe(
    from: Deno.TcpConn,
    to: Deno.TcpConn,
    isUp: boolean,
  ): Promise<void> {
    const buffer = new Uint8Array(64 * 1024);
    try {
      for (
        let size = await from.read(buffer);
        size !== null;
        size = await from.read(buffer)
      ) {
        this.#count(size, isUp);
        for (let at = 0; at < size;) {
          at += await to.write(buffer.subarray(at, size));
        }
      }
    } catch (error) {
      const isEnd = error instanceof Deno.errors.BadResource ||
        error instanceof Deno.errors.Interrupted ||
        error instanceof Deno.errors.ConnectionReset ||
        error instanceof Deno.errors.BrokenPipe;
      if (!isEnd) throw error;
    }
  }

  #count(size: number, isUp: boolean): void {
    if (isUp) this.up += size;
    else this.down += size;
    if (isUp && !this.#isGoingUp) this.turns++;
    this.#isGoingUp = isUp;
  }

  /** Ends it. */
  [Symbol.dispose](): void {
    this.cut();
    this.#listener.close();
  }
}

function close(connection: Deno.TcpConn): void {
  try {
    connection.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}
