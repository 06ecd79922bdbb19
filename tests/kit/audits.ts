/**
 * Clients that have audited before: what they run for that is here from the start,
 * so that one seed is one run.
 *
 * @module
 */

import { audit } from "../../sync/audit.ts";
import { lateAudit } from "../../sync/late_audit.ts";

lateAudit.provide(audit);
