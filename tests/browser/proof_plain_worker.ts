/**
 * The database's worker in a browser without OPFS.
 *
 * @module
 */

import "./proof_no_opfs.ts";
import "../../src/browser/worker.ts";
