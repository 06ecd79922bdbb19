/**
 * Starts a browser and waits until it can be driven.
 *
 * It is driven over its debugging port, so that pages are hidden and shown as
 * for users. It has a debugging pipe as well, only because it ends itself when
 * that closes: no browser outlives its test, whatever ended the test.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import type { FoundBrowser } from "./find.ts";

const ARGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-default-apps",
  "--disable-extensions",
  "--disable-breakpad",
  "--disable-search-engine-choice-screen",
  // Each tab has a process of its own, so that one can be killed.
  "--disable-features=Translate,MediaRouter,ProcessPerSiteUpToMainFrameThreshold",
  // Browsers in containers often have a tiny /dev/shm.
  "--disable-dev-shm-usage",
  "--force-color-profile=srgb",
  "--hide-scrollbars",
  "--mute-audio",
  "--password-store=basic",
  "--use-mock-keychain",
  "--window-size=1280,800",
  "--remote-debugging-pipe",
  "--remote-debugging-port=0",
  "about:blank",
];
const LAUNCH_MS_MAX = 60_000;
const SAID_CHARACTERS_MAX = 4_000;

/** A browser's process, and where to drive it. */
export interface Launched {
  readonly endpoint: string;
  /** Settled when the process has ended. */
  readonly ended: Promise<void>;
  /** The last of what it wrote to its standard error. */
  readonly said: () => string;
}

/** The address that the browser prints when it is ready. */
function endpointOf(
  child: ChildProcess,
  said: () => string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => fail("it took too long"), LAUNCH_MS_MAX);
    const fail = (why: string) => {
      clearTimeout(late);
      reject(new Error(`The browser did not start: ${why}\n${said()}`));
    };
    child.on("error", (error) => fail(error.message));
    child.on("exit", (code, signal) => fail(`it ended (${code ?? signal})`));
    child.stderr?.on("data", () => {
      const [, endpoint] = /DevTools listening on (ws:\S+)/.exec(said()) ?? [];
      if (endpoint === undefined) return;
      clearTimeout(late);
      resolve(endpoint);
    });
  });
}

/** Starts a browser on a profile. */
export async function launch(
  found: FoundBrowser,
  profile: string,
  args: readonly string[],
): Promise<Launched> {
  const all = [`--user-data-dir=${profile}`, ...found.args, ...args, ...ARGS];
  const child = spawn(found.path, all, {
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
    env: { ...Deno.env.toObject(), ...found.env },
  });
  const ended = new Promise<void>((resolve) =>
    child.once("exit", () => resolve())
  );
  let text = "";
  child.stderr?.on("data", (data) => {
    text = (text + data).slice(-SAID_CHARACTERS_MAX);
  });
  const said = () => text;
  try {
    return { endpoint: await endpointOf(child, said), ended, said };
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}
