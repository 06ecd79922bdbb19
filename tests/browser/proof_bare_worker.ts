/**
 * The database's worker in a browser that has nowhere to keep anything.
 *
 * @module
 */

import "./proof_no_opfs.ts";
import "./proof_no_indexeddb.ts";
import "../../src/browser/worker.ts";
