/**
 * Firefox without a window, driven by WebDriver BiDi over its own WebSocket: what
 * a test of the package needs of it, and no more.
 *
 * @module
 */

import { versionOf } from "../browser/find.ts";

/** A tab that shows an address and answers expressions. */
export interface Tab {
  goto(url: string): Promise<unknown>;
  /** The value of an expression in the page, which JSON can say. */
  evaluate(expression: string): Promise<unknown>;
}

interface Answer {
  readonly id: number;
  readonly type: "success" | "error";
  readonly result: Record<string, unknown>;
  readonly message?: string;
}

const NAMES = ["firefox-esr", "firefox"];
const LISTENS = /WebDriver BiDi listening on (ws:\S+)\n/;

/** The program, or `undefined`, which is said in one line. */
export async function findFirefox(): Promise<string | undefined> {
  for (const name of NAMES) if (await versionOf(name)) return name;
  console.warn("tests in Firefox are skipped: no firefox runs here");
  return undefined;
}

/** A Firefox with a profile of its own, which goes with it. */
export class Firefox implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #profile: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #calls = 0;

  private constructor(
    process: Deno.ChildProcess,
    profile: string,
    socket: WebSocket,
  ) {
    this.#process = process;
    this.#profile = profile;
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      const answer: Answer = JSON.parse(data);
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    };
  }

  /** Starts a program that {@linkcode findFirefox} found. */
  static async launch(program: string): Promise<Firefox> {
    const profile = Deno.makeTempDirSync({ prefix: "sheaf-firefox-" });
    const process = new Deno.Command(program, {
      args: [
        ...["--headless", "--no-remote", "--profile", profile],
        ...["--remote-debugging-port", "0"],
      ],
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const address = await addressOf(process.stderr);
    const socket = new WebSocket(`${address}/session`);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = reject;
    });
    const firefox = new Firefox(process, profile, socket);
    await firefox.#call("session.new", { capabilities: {} });
    return firefox;
  }

  /** Another device: cookies and storage of its own. */
  async device(): Promise<string> {
    return String(
      (await this.#call("browser.createUserContext"))["userContext"],
    );
  }

  /** A tab of the first device, or of another. */
  async tab(userContext = "default"): Promise<Tab> {
    const { context } = await this.#call("browsingContext.create", {
      type: "tab",
      userContext,
    });
    return {
      goto: (url) =>
        this.#call("browsingContext.navigate", {
          context,
          url,
          wait: "none",
        }),
      evaluate: async (expression) => {
        const { result } = await this.#call("script.evaluate", {
          expression:
            `Promise.resolve(${expression}).then((it) => JSON.stringify(it))`,
          target: { context },
          awaitPromise: true,
        }) as { result: { value?: string } };
        return JSON.parse(result.value ?? "null");
      },
    };
  }

  async #call(
    method: string,
    params: Record<string, unknown> = {},
  ): Promise<Answer["result"]> {
    const id = ++this.#calls;
    const answered = new Promise<Answer>((resolve) =>
      this.#waiting.set(id, resolve)
    );
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { type, result, message } = await answered;
    if (type === "success") return result;
    throw new Error(`Firefox refused ${method}: ${message}`);
  }

  /** Ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
    Deno.removeSync(this.#profile, { recursive: true });
  }
}

/** Where it listens, which it says; what it says later is let go. */
async function addressOf(said: ReadableStream<Uint8Array>): Promise<string> {
  const reader = said.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`Firefox ended: ${text}`);
    const address = LISTENS.exec(text += decoder.decode(value))?.[1];
    if (address === undefined) continue;
    reader.releaseLock();
    void said.pipeTo(new WritableStream()).catch(() => {});
    return address;
  }
}
