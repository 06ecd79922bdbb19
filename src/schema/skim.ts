/**
 * Going over operations without decoding what they write, for who looks through
 * a long log: which fields they give other values.
 */

import type { ByteReader } from "../base/bytes.ts";
import { isRich } from "./kinds.ts";
import { lateRich } from "./late_rich.ts";
import type { Shape } from "./patch.ts";
import { CREATE, UPDATE } from "./patch_codec.ts";
import { tags } from "./value_codec.ts";

/** Hears what an operation writes to: `field` of its shape, or, where nothing later may stand for it, -1. */
type OnWrite = (field: number) => void;

/**
 * Goes over the rest of an operation, behind the item's id, and tells of the
 * fields that it gives other values. Only for bytes that `decodePatch()` has
 * accepted; where `isLast`, the reader may be left anywhere.
 */
export function skimOperation(
  r: ByteReader,
  what: number,
  { fields }: Shape,
  isLast: boolean,
  onWrite: OnWrite,
): void {
  if (what !== UPDATE) {
    onWrite(-1);
    if (isLast || what !== CREATE) return;
    for (let i = 0; i < fields.length; i++) skipValue(r);
    return;
  }
  for (let left = r.varint(); left > 0; left--) {
    const index = r.varint();
    const field = fields[index]!;
    const isRichField = isRich(field.kind);
    onWrite(isRichField ? -1 : index);
    if (isLast && left === 1) return;
    if (isRichField) lateRich.code.readChange(r, field);
    else {
      r.u8();
      skipValue(r);
    }
  }
}

/** Goes over a value, of bytes that were read strictly before. */
function skipValue(r: ByteReader): void {
  const tag = r.u8();
  if (tag <= tags.true) return;
  if (tag <= tags.negative) return void r.varint();
  if (tag === tags.text || tag === tags.json) return r.skipText();
  if (tag === tags.double || tag === tags.date) return r.skip(8);
  const count = r.varint();
  if (tag === tags.bytes) return r.skip(count);
  for (let i = 0; i < count; i++) {
    if (tag === tags.record) r.skipText();
    skipValue(r);
  }
}
