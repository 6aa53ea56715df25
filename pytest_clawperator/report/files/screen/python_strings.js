// Strings as Python code: read, and written.

const ESCAPES = new Map(Object.entries({
  n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v",
  "\\": "\\", "'": "'", '"': '"', "\n": "",
}));
const CODE_ESCAPE = /^\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3}))/;

/**
 * Reads the string at the beginning; one that does not end is still being typed.
 * @param {string} source
 * @returns {{ text: string, length: number } | null} null if there is no string
 */
export function stringAt(source) {
  const start = /^([rR]?)(["'])/.exec(source);
  if (start === null) return null;
  const isRaw = start[1] !== "", quote = start[2];
  let text = "", at = start[0].length;
  while (at < source.length && source[at] !== quote) {
    const length = source[at] === "\\" ? escapeLength(source.slice(at, at + 10), isRaw) : 1;
    const part = source.slice(at, at + length);
    text += length > 1 && !isRaw ? unescaped(part) : part;
    at += length;
  }
  return { text, length: Math.min(at + 1, source.length) };
}

/**
 * @param {string} source from a backslash
 * @param {boolean} isRaw
 */
function escapeLength(source, isRaw) {
  return isRaw ? 2 : CODE_ESCAPE.exec(source)?.[0].length ?? 2;
}

/** @param {string} escape */
function unescaped(escape) {
  const code = CODE_ESCAPE.exec(escape);
  if (code === null) return ESCAPES.get(escape[1]) ?? escape;
  const number = code[4] === undefined ? parseInt(code[1] ?? code[2] ?? code[3], 16) : parseInt(code[4], 8);
  return number <= 0x10ffff ? String.fromCodePoint(number) : "\ufffd";
}

/**
 * A string as Python code: whatever could mislead the reader is escaped.
 * @param {string} text
 */
export function quoted(text) {
  const escaped = text.replace(/["\\]/g, "\\$&").replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (one) => {
      if (one === "\n") return "\\n";
      if (one === "\t") return "\\t";
      const code = /** @type {number} */ (one.codePointAt(0));
      if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
      return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}`
        : `\\U${code.toString(16).padStart(8, "0")}`;
    },
  );
  return `"${escaped}"`;
}
