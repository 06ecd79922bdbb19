/**
 * May this user do that? Asked again when anything of the repository changed,
 * once for all that changed in one turn: rules may read other items.
 */

import type { Repository } from "../db/repository.ts";
import type { Decision } from "../schema/rule_types.ts";
import type { CreateInput, Schema, UpdateInput } from "../schema/schema.ts";
import type { Framework, StoreHooks } from "./framework.ts";
import type { Result, Store } from "./result.ts";

/** What is asked of `can`. */
type Asked = readonly [action: string, schema: Schema, ...rest: unknown[]];

export type Judge = Pick<Repository, "can" | "subscribe" | "sync">;

/** The hook `useCan`. */
export interface UseCan {
  /** May an item be created so? As with "delete". */
  <S extends Schema>(
    repository: Judge | undefined,
    action: "create",
    schema: S,
    input: CreateInput<S>,
  ): Result<Decision>;
  /** May an item be changed so? As with "delete". */
  <S extends Schema>(
    repository: Judge | undefined,
    action: "update",
    schema: S,
    id: string,
    changes: UpdateInput<S>,
  ): Result<Decision>;
  /** May an item be deleted? What `repository.can` says, kept up to date. */
  <S extends Schema>(
    repository: Judge | undefined,
    action: "delete",
    schema: S,
    id: string,
  ): Result<Decision>;
}

export function canHookOf(
  { useMemo }: Framework,
  { useMade }: StoreHooks,
): UseCan {
  return (repository: Judge | undefined, ...asked: Asked) => {
    const held = useMemo<{ asked: Asked }>(() => ({ asked }), []);
    held.asked = asked;
    return useMade(
      () => repository && storeOf(repository, () => held.asked),
      [repository],
    );
  };
}

function storeOf(repository: Judge, asked: () => Asked): Store<Decision> {
  // Proof: the signatures above are those of `can`.
  const can = repository.can.bind(repository) as (...asked: Asked) => Decision;
  let last: Decision | undefined;
  return {
    getSnapshot() {
      const now = can(...asked());
      return last = last !== undefined && isSame(last, now) ? last : now;
    },
    subscribe(listener) {
      let isOpen = true;
      let isAsked = false;
      const soon = () => {
        if (isAsked) return;
        isAsked = true;
        queueMicrotask(() => {
          isAsked = false;
          if (isOpen) listener();
        });
      };
      const ends = [
        repository.subscribe(soon),
        repository.sync.subscribe(soon), // A login may make it somebody else.
      ];
      return () => {
        isOpen = false;
        for (const end of ends) end();
      };
    },
  };
}

function isSame(a: Decision, b: Decision): boolean {
  if (a.allowed || b.allowed) return a.allowed === b.allowed;
  return a.reason === b.reason && a.rule === b.rule;
}
