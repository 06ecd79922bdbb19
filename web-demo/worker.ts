/**
 * The worker that keeps the database's files: one line, as in every app.
 *
 * @module
 */

import "@sheaf/sheaf/worker";
