/**
 * The page that starts {@link ./opfs_floor.ts} and tells its samples.
 *
 * @module
 */

const count = 200;

/** Milliseconds of appends with flush: in the worker, and as a page that asks for them. */
export async function floor(): Promise<{ worker: number[]; page: number[] }> {
  const worker = new Worker("/opfs_floor.js", { type: "module" });
  const heard = () =>
    new Promise<number[]>((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    });
  const own = await heard();
  const page: number[] = [];
  for (let turn = 0; turn < count; turn++) {
    const start = performance.now();
    worker.postMessage(0);
    await heard();
    page.push(performance.now() - start);
  }
  worker.terminate();
  return { worker: own, page };
}
