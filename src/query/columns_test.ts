import { deepEqual, equal, notEqual } from "node:assert/strict";
import { Columns } from "./columns.ts";
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
