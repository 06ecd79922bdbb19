/**
 * The worker that keeps a database's files, in a browser without OPFS.
 *
 * @module
 */

import "./no_opfs.ts";
import "../../src/browser/worker.ts";
