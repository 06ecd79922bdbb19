/**
 * The folders that a run makes, and takes away again.
 *
 * @module
 */

const triesMax = 20;
const pauseMs = 50;

/** A folder of one run's own: on the project's disk by default, since the temporary folder is often in memory. */
export function makeRunFolder(parent: string): string {
  Deno.mkdirSync(parent, { recursive: true });
  return Deno.realPathSync(
    Deno.makeTempDirSync({ dir: parent, prefix: "bench-" }),
  );
}

/** Removes a folder in which a process that is just being killed may still write. */
export async function removeFolder(folder: string): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      return await Deno.remove(folder, { recursive: true });
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return;
      if (tries === triesMax) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
