/**
 * The worker that keeps a database's files, in OPFS.
 *
 * @module
 */

import "../../src/browser/worker.ts";
