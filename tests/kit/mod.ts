/**
 * Helpers for testing Sheaf and adapters for it: a storage that fails and
 * crashes, the storage conformance suite, and dice that a seed replays.
 *
 * @module
 */

export {
  type FaultyOptions,
  FaultyStorage,
  faultyStorage,
  type Kept,
} from "./faulty_storage.ts";
export { type Files, filesOf, restored, withFile } from "./images.ts";
export { seededRandom, shuffle } from "./random.ts";
export {
  type RepositoryTester,
  type RuleTester,
  ruleTester,
  type SessionTester,
  type TestedCommit,
  type TestedSession,
} from "./rule_tester.ts";
export {
  type ConformanceCase,
  type OpenedStorage,
  storageConformance,
} from "./storage_conformance.ts";
