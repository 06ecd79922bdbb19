/**
 * Sheaf's inspector, for development: it is loaded when it is first opened, and
 * a build without it has nothing of it.
 *
 * @module
 */

import type { Database } from "@sheaf/sheaf/browser";
import type { Inspector } from "@sheaf/sheaf/inspector";
import { tellFailure } from "./say.ts";

/** Does this build bring it? The build says so. */
declare const INSPECTOR: boolean;

/** Does this build bring it? */
export const hasInspector: boolean = INSPECTOR;

// The bundler leaves out what is asked of a constant.
const load = INSPECTOR ? () => import("@sheaf/sheaf/inspector") : undefined;

let inspector: Promise<Inspector> | undefined;

/** Opens it, or closes it. */
export async function toggleInspector(db: Database): Promise<void> {
  try {
    inspector ??= load?.().then(({ inspect }) => inspect(db));
    (await inspector)?.toggle();
  } catch (error) {
    inspector = undefined;
    tellFailure(error);
  }
}

/** Does this key open it for the first time? From then on it listens for itself. */
export function isInspectorKey(event: KeyboardEvent): boolean {
  return INSPECTOR && inspector === undefined && event.altKey &&
    event.shiftKey && event.code === "KeyS";
}
