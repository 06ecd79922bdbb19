/**
 * One page of a test: calls to what its entry exports, what it said, and the
 * things that happen to pages: frozen, stopped, killed.
 *
 * @module
 */

import type { CDPSession, Page } from "playwright-core";
import { killProcess } from "./browser.ts";
import { waitFor } from "./wait.ts";

/**
 * Which pages are visible: all of them, each as if it were alone; or, as for
 * users, the one in front, while the others are hidden, their timers slow, and
 * no frame is drawn in them. Only hidden pages can be frozen.
 */
export type Focus = "all" | "front";

/** Functions that an entry exports, by their names. */
type FunctionsOf<Entry> = {
  [
    Name in keyof Entry as Entry[Name] extends (...args: never[]) => unknown
      ? Name
      : never
  ]: Entry[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : never;
};

const READY_SECONDS_MAX = 40;
const CRASH_MS_MAX = 30_000;
/** A call that takes longer never ends; those that may say so themselves. */
const CALL_SECONDS_MAX = 40;
const ARGUMENTS_CHARACTERS_MAX = 60;

/** A page whose entry's exports can be called from the test. */
export class Tab<Entry> {
  readonly page: Page;
  /** What messages call it: `page 2`. */
  readonly name: string;
  #session: CDPSession | undefined;
  #pid: number | undefined;

  constructor(page: Page, name: string) {
    this.page = page;
    this.name = name;
  }

  /** Waits until the entry has run. */
  async ready(): Promise<this> {
    const ran = this.page.waitForFunction("globalThis.sheafEntry", undefined, {
      timeout: 0,
    });
    await waitFor(`the entry of ${this.name}`, ran, READY_SECONDS_MAX);
    return this;
  }

  /**
   * Calls an exported function of the entry in the page and gives what it
   * gives. Arguments and result travel as Playwright carries them: plain
   * values, `Map`, `Set`, `Date`, `BigInt`, and typed arrays.
   */
  async call<Name extends string & keyof FunctionsOf<Entry>>(
    name: Name,
    ...args: Parameters<FunctionsOf<Entry>[Name]>
  ): Promise<Awaited<ReturnType<FunctionsOf<Entry>[Name]>>> {
    return await this.callWithin(CALL_SECONDS_MAX, name, ...args);
  }

  /** The same, for what takes long. */
  async callWithin<Name extends string & keyof FunctionsOf<Entry>>(
    secondsMax: number,
    name: Name,
    ...args: Parameters<FunctionsOf<Entry>[Name]>
  ): Promise<Awaited<ReturnType<FunctionsOf<Entry>[Name]>>> {
    const text = JSON.stringify(args)?.slice(1, -1) ?? "";
    const shown = text.slice(0, ARGUMENTS_CHARACTERS_MAX);
    const what = `the answer of ${this.name} to ${name}(${shown})`;
    const answer = this.page.evaluate(callEntry, { name, args });
    return await waitFor(what, answer, secondsMax);
  }

  /** Loads the page again and waits until its entry has run. */
  async reload(): Promise<void> {
    await this.page.reload();
    await this.ready();
  }

  /** A session of the debugging protocol with this page. */
  async cdp(): Promise<CDPSession> {
    return this.#session ??= await this.page.context()
      .newCDPSession(this.page);
  }

  /** Makes the page believe from now on that it is visible and has the focus. */
  async focus(): Promise<void> {
    const session = await this.cdp();
    await session.send("Emulation.setFocusEmulationEnabled", { enabled: true });
  }

  /** Brings the page to the front; with focus `"front"` this hides its device's others. */
  async show(): Promise<void> {
    const own = await windowOf(this.page);
    await own.setState("normal");
    await this.page.bringToFront();
    // One window has many tabs in a whole browser, and one page in a headless shell.
    for (const page of this.page.context().pages()) {
      const other = await windowOf(page);
      if (other.id !== own.id) await other.setState("minimized");
    }
  }

  /**
   * Freezes the page as browsers freeze hidden ones; its workers freeze with
   * it. It must be hidden: focus `"front"`, and another page in front.
   */
  async freeze(): Promise<void> {
    const session = await this.cdp();
    const state = await this.page.evaluate("document.visibilityState");
    if (state !== "hidden") throw new Error("Only a hidden page can freeze.");
    await session.send("Page.setWebLifecycleState", { state: "frozen" });
  }

  async thaw(): Promise<void> {
    const session = await this.cdp();
    await session.send("Page.setWebLifecycleState", { state: "active" });
  }

  /** The process that draws this page and runs its workers. Ask before you stop any page of its browser. */
  async pid(): Promise<number> {
    if (this.#pid !== undefined) return this.#pid;
    const asked = this.cdp().then(rendererOf);
    this.#pid = await waitFor(`the process of ${this.name}`, asked);
    return this.#pid;
  }

  /** Stops the page's process with SIGSTOP; gives what lets it go on. */
  async stop(): Promise<() => void> {
    const pid = await this.pid();
    killProcess(pid, "SIGSTOP");
    return () => killProcess(pid, "SIGCONT");
  }

  /** Kills the page's process, and its workers with it; gives when it has crashed. */
  async kill(): Promise<void> {
    const pid = await this.pid();
    const crashed = this.page.waitForEvent("crash", { timeout: CRASH_MS_MAX });
    killProcess(pid, "SIGKILL");
    await crashed;
  }

  /** Closes the page as a user does: no `beforeunload`, `pagehide` is told. */
  close(): Promise<void> {
    return this.page.close();
  }
}

/** Runs in the page: calls what {@linkcode Tab.call} names. */
function callEntry(
  { name, args }: { readonly name: string; readonly args: unknown[] },
): Promise<never> {
  const { sheafEntry } = globalThis as unknown as {
    sheafEntry: Record<string, (...args: unknown[]) => Promise<never>>;
  };
  const called = sheafEntry[name];
  if (called === undefined) throw new Error(`the entry exports no ${name}`);
  return called(...args);
}

/** A trace's first event; it alone of all the protocol says which process has which frame. */
interface TraceStart {
  readonly name: string;
  readonly args: {
    readonly data?: {
      readonly frames?: readonly {
        readonly frame: string;
        readonly processId?: number;
      }[];
    };
  };
}

/** The process that draws a session's page. */
async function rendererOf(session: CDPSession): Promise<number> {
  const events: TraceStart[] = [];
  // The protocol's types know nothing of what an event holds.
  const collect = ({ value }: { value: object[] }) =>
    events.push(...value as TraceStart[]);
  session.on("Tracing.dataCollected", collect);
  const complete = new Promise((resolve) =>
    session.once("Tracing.tracingComplete", resolve)
  );
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: {
      includedCategories: ["disabled-by-default-devtools.timeline"],
    },
  });
  await session.send("Tracing.end");
  await complete;
  session.off("Tracing.dataCollected", collect);
  const { targetInfo } = await session.send("Target.getTargetInfo");
  const frames = events
    .filter(({ name }) => name === "TracingStartedInBrowser")
    .flatMap(({ args }) => args.data?.frames ?? []);
  const own = frames.find(({ frame }) => frame === targetInfo.targetId);
  if (own?.processId === undefined) {
    throw new Error("The trace does not say which process draws the page.");
  }
  return own.processId;
}

async function windowOf(page: Page) {
  const session = await page.context().newCDPSession(page);
  const { windowId } = await session.send("Browser.getWindowForTarget");
  const setState = (windowState: "normal" | "minimized") =>
    session.send("Browser.setWindowBounds", {
      windowId,
      bounds: { windowState },
    });
  return { id: windowId, setState };
}

/** Shows `url` in a new page. */
export async function openTab<Entry>(
  page: Page,
  url: string,
  focus: Focus,
  name: string,
): Promise<Tab<Entry>> {
  const tab = new Tab<Entry>(page, name);
  await (focus === "all" ? tab.focus() : tab.show());
  await page.goto(url);
  return await tab.ready();
}
