/** What the collections of a checkpoint are read with. Types only. */

import type { CellTables } from "../../src/schema/cell_codec.ts";
import type { Origin } from "../../src/schema/cell.ts";
import type { Shape } from "../../src/schema/patch.ts";
import type { Directory } from "./layout.ts";
import type { LogRows } from "./log_rows.ts";
import type { PageFile } from "./page_file.ts";

export interface StoredOrigin extends Origin {
  /** Its number there. */
  readonly index: number;
  /** Where. */
  readonly owner: Tables;
}

export interface Tables extends CellTables {
  readonly file: PageFile;
  readonly directory: Directory;
  /** The log that it covers. */
  readonly log: LogRows;
  /** The origin with this number: always the same object. */
  origin(index: number): StoredOrigin;
  shape(index: number): Shape;
}
