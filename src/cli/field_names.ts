/**
 * Names from foreign files as names of fields: `First name` becomes
 * `First_name`. A name that is allowed stays as it is.
 *
 * @module
 */

import { isFieldName } from "../schema/names.ts";

const longest = 64;

/** The field that a column or key is stored in. */
export function fieldName(name: string): string {
  if (isFieldName(name)) return name;
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").trim()
    .replace(/[^A-Za-z0-9_]+/g, "_").slice(0, longest - 2);
  if (isFieldName(plain)) return plain;
  const prefixed = `f_${plain}`;
  return isFieldName(prefixed) ? prefixed : "field";
}
