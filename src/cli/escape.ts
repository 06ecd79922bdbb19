/**
 * Keeps data from steering a terminal: control characters and characters that
 * reorder or hide text are shown as escapes.
 *
 * Architecture invariant: whatever comes from a database or a file passes
 * through here before it reaches a terminal.
 *
 * @module
 */

// Controls (C0, DEL, C1), line and paragraph separators, bidirectional marks,
// zero-width space, the byte order mark, tags and lone surrogates. The joiners
// U+200C and U+200D stay: Persian, Hindi and emoji are spelled with them.
const steering =
  /[\p{Cc}\u2028\u2029\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}\p{Cs}]/gu;

const named: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

/** Text with each steering character as `\n`, `\u001b` or `\u{e0001}`. */
export function escapeControls(text: string): string {
  return text.replace(steering, (found) => named[found] ?? unicode(found));
}

/** JSON text with each steering character as a JSON escape: it parses to the same value. */
export function escapeJson(json: string): string {
  return json.replace(steering, (found) => {
    let escaped = "";
    for (let i = 0; i < found.length; i++) {
      escaped += unit(found.charCodeAt(i));
    }
    return escaped;
  });
}

function unicode(found: string): string {
  const point = found.codePointAt(0) ?? 0;
  return point > 0xffff ? `\\u{${point.toString(16)}}` : unit(point);
}

function unit(code: number): string {
  return `\\u${code.toString(16).padStart(4, "0")}`;
}
