/**
 * The page of the kit's own tests.
 *
 * @module
 */

/** What OPFS is here, as far as these tests look. */
interface Folder {
  getFileHandle(name: string, options: { create: boolean }): Promise<unknown>;
  keys(): AsyncIterable<string>;
}

function root(): Promise<Folder> {
  const { storage } = navigator as unknown as {
    storage: { getDirectory(): Promise<Folder> };
  };
  return storage.getDirectory();
}

/** Makes an empty file in OPFS. */
export async function keep(name: string): Promise<void> {
  await (await root()).getFileHandle(name, { create: true });
}

export async function kept(): Promise<string[]> {
  const names: string[] = [];
  for await (const name of (await root()).keys()) names.push(name);
  return names.sort();
}

export function place(): { readonly secure: boolean; readonly ticks: number } {
  return { secure: Reflect.get(globalThis, "isSecureContext") === true, ticks };
}

/** Throws after the call, so that nobody can catch it. */
export function throwLater(message: string): void {
  setTimeout(() => {
    throw new Error(message);
  });
}

/** Never answers. */
export function hang(_how: string): Promise<never> {
  return new Promise(() => {});
}

/** Asks a worker to double a number. */
export function double(value: number): Promise<number> {
  const worker = new Worker("/kit_worker.js", { type: "module" });
  return new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage(value);
  });
}

let ticks = 0;
setInterval(() => ticks++, 10);
