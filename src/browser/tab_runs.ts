/**
 * Many records in messages of a handy size.
 *
 * @module
 */

import type { OwnRecord } from "../../repo/mod.ts";
import { limits } from "../base/limits.ts";

/** Records in runs that one message carries. */
export function* runsOf(records: readonly OwnRecord[]): Iterable<OwnRecord[]> {
  let run: OwnRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    if (
      run.length > 0 && bytes + record.bytes.length > limits.tabRecordsBytesSoft
    ) {
      yield run;
      run = [];
      bytes = 0;
    }
    run.push(record);
    bytes += record.bytes.length;
  }
  if (run.length > 0) yield run;
}
