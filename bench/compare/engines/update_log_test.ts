import assert from "node:assert/strict";
import { UpdateLog } from "./update_log.ts";

const bytes = (...values: number[]) => Uint8Array.from(values);

function inFile(work: (path: string) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    work(`${folder}/updates`);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("a log gives back its updates in order, also after more were added", () => {
  inFile((path) => {
    const first = new UpdateLog(path);
    assert.deepEqual(first.updates, []);
    first.append(bytes(1, 2, 3));
    first.append(bytes());
    first.close();
    const second = new UpdateLog(path);
    assert.deepEqual(second.updates, [bytes(1, 2, 3), bytes()]);
    second.append(bytes(4));
    second.close();
    const third = new UpdateLog(path);
    assert.deepEqual(third.updates, [bytes(1, 2, 3), bytes(), bytes(4)]);
    third.close();
  });
});

Deno.test("an update that was cut off at any byte is gone, and those before it stay", () => {
  inFile((path) => {
    const whole = new UpdateLog(path);
    whole.append(bytes(1, 2));
    whole.append(bytes(3, 4, 5));
    whole.close();
    const content = Deno.readFileSync(path);
    for (let length = 6; length < content.length; length++) {
      Deno.writeFileSync(path, content.subarray(0, length));
      const log = new UpdateLog(path);
      assert.deepEqual(log.updates, [bytes(1, 2)]);
      log.append(bytes(9));
      log.close();
      const again = new UpdateLog(path);
      assert.deepEqual(again.updates, [bytes(1, 2), bytes(9)]);
      again.close();
    }
  });
});
