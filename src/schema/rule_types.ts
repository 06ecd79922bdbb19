/** What a rule is given and what it answers. */

import type { JsonValue } from "./field.ts";
import type { RuleParams } from "./rule_pattern.ts";
import type { Infer, Schema } from "./schema.ts";

/** Claims of a session's certificate: what its issuer says of it. */
export type RuleClaims = { readonly [name: string]: JsonValue | undefined };

/** Who writes or reads, as its certificate says. */
export interface RuleSession {
  /** The user. */
  readonly user: string;
  /** What the issuer of its certificate says of it besides. */
  readonly claims: RuleClaims;
  /** The session's public key in hexadecimal. */
  readonly key: string;
}

/** What a rule answers: allowed, not allowed, or the reason why it is not. */
export type RuleResult = boolean | string;

/** Looks up one item of the repository, frozen; `undefined`: there is none of this id. */
export type LookUp = <S extends Schema>(
  schema: S,
  id: string,
) => Infer<S> | undefined;

/** What every rule is given; frozen. */
export interface RuleContext<Params = RuleParams> {
  /** Who asks. */
  readonly session: RuleSession;
  /** The repository's name. */
  readonly repository: string;
  /** What the pattern's parameters stand for. */
  readonly params: Params;
  /** Now: the moment of acceptance on the server, that of the write on a device; never what a commit says. */
  readonly at: Date;
  /** Looks up another item as it is now, before anything that the commit does; so many at most: `limits.ruleLookUpsMax`. */
  readonly get: LookUp;
}

/** What rules of writes are given besides. */
export interface WriteContext<Params = RuleParams> extends RuleContext<Params> {
  /** As `get`, with all that the same commit does. */
  readonly getAfter: LookUp;
}

/** The fields of a schema. */
export type FieldNames<S> = Exclude<keyof Infer<S> & string, "id">;

/** A create: `changed` names every field that it fills. */
export interface CreateContext<S, Params = RuleParams>
  extends WriteContext<Params> {
  readonly before: undefined;
  /** The item as the create makes it. */
  readonly after: Infer<S>;
  readonly changed: readonly FieldNames<S>[];
}

/** An update: `changed` names every field that it writes, even with the value that was there. */
export interface UpdateContext<S, Params = RuleParams>
  extends WriteContext<Params> {
  /** The item as it is now, with what the commit did to it before. */
  readonly before: Infer<S>;
  /** The item as the update makes it of that. */
  readonly after: Infer<S>;
  readonly changed: readonly FieldNames<S>[];
}

/** A delete. */
export interface DeleteContext<S, Params = RuleParams>
  extends WriteContext<Params> {
  /** The item as it is now, with what the commit did to it before. */
  readonly before: Infer<S>;
  readonly after: undefined;
  readonly changed: readonly FieldNames<S>[];
}

export type RuleAction = "create" | "update" | "delete";

/** One function for each thing that one may do with a collection's items; what is left out is denied. */
export interface WriteRules<S, Params = RuleParams> {
  /** May it be created? */
  readonly create?: (context: CreateContext<S, Params>) => RuleResult;
  /** May it be changed? */
  readonly update?: (context: UpdateContext<S, Params>) => RuleResult;
  /** May it be deleted? */
  readonly delete?: (context: DeleteContext<S, Params>) => RuleResult;
}

/** A rule whose schema is no longer known to the compiler. */
export type AnyRule = (context: never) => RuleResult;

/** The rules of one collection, as `rulesFor` makes them. */
export interface CollectionRules<Params = RuleParams> {
  /** The collection's schema: rules see its items through it. */
  readonly schema: Schema;
  /** The functions by action. */
  readonly actions: ReadonlyMap<RuleAction, AnyRule>;
  /** Only for the compiler: which parameters they expect. */
  readonly "~params"?: (params: Params) => void;
}

/** The rules of the repositories that a pattern fits. */
export interface PatternRules<Params = RuleParams> {
  /** May this session read the repository? Asked by servers only; without it, nobody may. */
  readonly read?: (context: RuleContext<Params>) => RuleResult;
  /** Rules of its collections. */
  readonly collections?: readonly CollectionRules<Params>[];
  /** May everybody write collections that have no rules? No, unless it is `true`. */
  readonly others?: boolean;
}

/** What a rule said, or that there is none. */
export type Decision =
  | { readonly allowed: true }
  | {
    readonly allowed: false;
    /** Why, for people. */
    readonly reason: string;
    /** Which rule said so: `team/{team} task.update`. */
    readonly rule: string;
  };

/** Nothing speaks against it. */
export const allowed: Decision = Object.freeze({ allowed: true });
