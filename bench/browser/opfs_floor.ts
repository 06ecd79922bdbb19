/**
 * The floor of durable writes: what one append and flush of an OPFS file take
 * in a worker, with the bytes of one small write. Then does the same whenever
 * the page asks.
 *
 * @module
 */

interface Handle {
  write(bytes: Uint8Array, options: { at: number }): number;
  flush(): void;
  close(): void;
}

interface Folder {
  getFileHandle(name: string, options: { create: boolean }): Promise<{
    createSyncAccessHandle(): Promise<Handle>;
  }>;
}

const scope = globalThis as unknown as {
  navigator: { storage: { getDirectory(): Promise<Folder> } };
  postMessage(samples: number[]): void;
  onmessage: (() => void) | null;
};

const bytes = new Uint8Array(420);
const count = 200;

const folder = await scope.navigator.storage.getDirectory();
const file = await folder.getFileHandle("floor", { create: true });
const handle = await file.createSyncAccessHandle();
let at = 0;

function append(): void {
  handle.write(bytes, { at });
  handle.flush();
  at += bytes.length;
}

const samples: number[] = [];
for (let turn = 0; turn < count; turn++) {
  const start = performance.now();
  append();
  samples.push(performance.now() - start);
}
scope.onmessage = () => {
  append();
  scope.postMessage([]);
};
scope.postMessage(samples);
