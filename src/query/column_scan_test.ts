import { deepEqual, equal, notEqual } from "node:assert/strict";
import { Columns } from "./column_scan.ts";
import { MemorySource, task, taskFields } from "./kit_test.ts";

Deno.test("Columns builds a column at the second wish, as one query alone is no reason", () => {
  const built: string[] = [];
  class Source extends MemorySource {
    override hasColumn(field: string) {
      return built.includes(field);
    }
    override column(field: string) {
      built.push(field);
      return super.column(field);
    }
  }
  const source = new Source(taskFields, true);
  source.write(["a", task("a", { rank: 1 })]);
  const columns = new Columns(source);
  equal(columns.want("rank"), undefined);
  equal(columns.want("title"), undefined);
  deepEqual(built, []);
  notEqual(columns.want("rank"), undefined);
  deepEqual(built, ["rank"]);
});

Deno.test("Columns asks again for a column that could not be once there are more than twice as many items", () => {
  let asked = 0;
  class Source extends MemorySource {
    override column() {
      asked++;
      return undefined;
    }
  }
  const source = new Source(taskFields, true);
  const columns = new Columns(source);
  const asks: number[] = [];
  for (let n = 1; n <= 8; n++) {
    source.write([`i${n}`, task(`i${n}`)]);
    const before = asked;
    columns.want("rank");
    if (asked > before) asks.push(n);
  }
  deepEqual(asks, [1, 3, 7]);
});
