/** What folds rich kinds, for who loads it when it is needed. */

// As in online.ts.
import "../../repo/mod.ts";
import "./bare_repository.ts";

export { rich } from "../schema/rich.ts";
