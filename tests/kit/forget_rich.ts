/**
 * A process that has met no rich kind yet.
 *
 * @module
 */

import { ByteReader } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import { lateRich } from "../../src/schema/late_rich.ts";
import { encodeShape, readShape } from "../../src/schema/shape_codec.ts";

let version = 0;

/** What folds rich kinds is not loaded, and no shape that has one is known. */
export function forgetRich(): void {
  for (let i = 0; i <= limits.shapesCachedMax; i++) {
    const shape = { collection: "none", version: version++, fields: [] };
    readShape(new ByteReader(encodeShape(shape)));
  }
  lateRich.provide(undefined);
}
