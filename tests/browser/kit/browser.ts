/**
 * One running browser with a profile of its own, in which storage survives the
 * browser's death.
 *
 * @module
 */

import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  chromium,
} from "playwright-core";
import type { FoundBrowser } from "../../../tools/browser/find.ts";
import { launch, type Launched } from "../../../tools/browser/launch.ts";

/** A process of the browser, as it lists them. */
interface ProcessInfo {
  readonly type: string;
  readonly id: number;
  readonly cpuTime: number;
}

/** A browser that runs. */
export class RunningBrowser {
  readonly context: BrowserContext;
  readonly browser: Browser;
  readonly pid: number;
  readonly #session: CDPSession;

  readonly #launched: Launched;

  private constructor(
    launched: Launched,
    browser: Browser,
    context: BrowserContext,
    session: CDPSession,
    pid: number,
  ) {
    this.#launched = launched;
    this.browser = browser;
    this.context = context;
    this.#session = session;
    this.pid = pid;
  }

  static async launch(
    found: FoundBrowser,
    profile: string,
    args: readonly string[] = [],
  ): Promise<RunningBrowser> {
    const launched = await launch(found, profile, args);
    const { endpoint } = launched;
    const browser = await chromium.connectOverCDP(endpoint, {
      noDefaults: true,
      isLocal: true,
    });
    const [context] = browser.contexts();
    if (context === undefined) throw new Error("The browser has no profile.");
    const session = await browser.newBrowserCDPSession();
    const processes = await processesOf(session);
    const own = processes.find(({ type }) => type === "browser");
    return new RunningBrowser(
      launched,
      browser,
      context,
      session,
      own?.id ?? 0,
    );
  }

  /** Sends a command of the debugging protocol to the browser itself. */
  get cdp(): CDPSession {
    return this.#session;
  }

  /** The last of what the browser itself said, on its standard error. */
  get said(): string {
    const lines = this.#launched.said().split("\n");
    // Containers have no message bus, and every start says so many times.
    return lines.filter((line) => !line.includes("dbus/")).join("\n");
  }

  /** Ends it with SIGKILL, as a power cut of the browser; gives when it is gone. */
  async kill(): Promise<void> {
    killProcess(this.pid, "SIGKILL");
    await this.#launched.ended;
    if (!this.browser.isConnected()) return;
    await new Promise((resolve) => this.browser.once("disconnected", resolve));
  }

  async close(): Promise<void> {
    if (!this.browser.isConnected()) return;
    await this.#session.send("Browser.close");
    await this.#launched.ended;
  }
}

async function processesOf(session: CDPSession): Promise<ProcessInfo[]> {
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  return processInfo;
}

/** Sends a signal to a process; one that is gone already has had it. */
export function killProcess(pid: number, signal: Deno.Signal): void {
  if (pid <= 1) throw new Error(`${pid} is no process of a browser.`);
  try {
    Deno.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
