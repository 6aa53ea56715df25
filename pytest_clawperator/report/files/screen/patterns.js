// Regular expressions of Python as ones of JavaScript: those that both have.

// What Python counts as part of a word, as a digit and as white space, in any script.
const WORD = "\\p{L}\\p{N}_";
const DIGIT = "\\p{Nd}";
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const IN_CLASS = new Map(Object.entries({
  w: WORD, W: `[^${WORD}]`, d: DIGIT, D: "\\P{Nd}", s: SPACE, S: `[^${SPACE}]`,
}));
const OUTSIDE = new Map(Object.entries({
  w: `[${WORD}]`, W: `[^${WORD}]`, d: `[${DIGIT}]`, D: `[^${DIGIT}]`,
  s: `[${SPACE}]`, S: `[^${SPACE}]`, A: "(?<![\\s\\S])", Z: "(?![\\s\\S])",
  b: `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`,
  B: `(?:(?<=[${WORD}])(?=[${WORD}])|(?<![${WORD}])(?![${WORD}]))`,
}));
const KEPT_ESCAPE = /^(?:[nrtfv]|x[\da-fA-F]{2}|u[\da-fA-F]{4}|[1-9]\d?)/;
const SYNTAX = "^$\\.*+?()[]{}|/";
// What would mean something in a class of the newer kind, which can hold others.
const CLASS_SYNTAX = `${SYNTAX}&!#%,:;<=>@\`~`;
const RE_FLAGS = new Map(Object.entries({
  I: "i", IGNORECASE: "i", S: "s", DOTALL: "s", M: "m", MULTILINE: "m", U: "", UNICODE: "", NOFLAG: "",
}));

/**
 * A pattern, and the Python code that it was read from.
 * @typedef {{ regex: RegExp, code: string }} Pattern
 */

/**
 * Makes a pattern as `re.compile` does; throws a `SyntaxError` for what JavaScript cannot do.
 * @param {string} source
 * @param {string[]} flags names of `re`, without it
 */
export function pythonPattern(source, flags) {
  const letters = flags.map((name) => RE_FLAGS.get(name));
  const unknown = letters.indexOf(undefined);
  if (unknown >= 0) throw new SyntaxError(`re.${flags[unknown]} cannot be tried here`);
  const options = { isMultiline: letters.includes("m"), hasAnyDot: letters.includes("s") };
  let text = "";
  for (let at = 0; at < source.length;) {
    const [part, length] = source[at] === "\\" ? escaped(source.slice(at + 1), false)
      : source[at] === "[" ? wholeClass(source.slice(at)) : plainPart(source.slice(at), options);
    text += part;
    at += length;
  }
  return new RegExp(text, letters.includes("i") ? "iv" : "v");
}

/**
 * @param {string} rest from the bracket that opens a class
 * @returns {[string, number]} what stands for it, and how long it was
 */
function wholeClass(rest) {
  let text = rest[1] === "^" ? "[^" : "[", at = text.length;
  // The first sign is one of the class, also a bracket that would end it.
  for (let isFirst = true; at < rest.length && (isFirst || rest[at] !== "]"); isFirst = false) {
    // At either end a hyphen makes no range.
    const isSign = CLASS_SYNTAX.includes(rest[at]) || (rest[at] === "-" && (isFirst || rest[at + 1] === "]"));
    const [part, length] = rest[at] === "\\" ? escaped(rest.slice(at + 1), true) : [isSign ? `\\${rest[at]}` : rest[at], 1];
    text += part;
    at += length;
  }
  if (at >= rest.length) throw new SyntaxError("a class in brackets does not end");
  return [`${text}]`, at + 1];
}

/**
 * @param {string} rest after the backslash
 * @param {boolean} isInClass
 * @returns {[string, number]} what stands for it, and how long it was
 */
function escaped(rest, isInClass) {
  const known = (isInClass ? IN_CLASS : OUTSIDE).get(rest[0] ?? "");
  if (known !== undefined) return [known, 2];
  const kept = KEPT_ESCAPE.exec(rest);
  if (kept !== null) return [`\\${kept[0]}`, kept[0].length + 1];
  if (rest === "" || /^[A-Za-z0-9]/.test(rest)) throw new SyntaxError(`\\${rest[0] ?? ""} cannot be tried here`);
  const sign = String.fromCodePoint(/** @type {number} */ (rest.codePointAt(0)));
  const isSyntax = isInClass ? CLASS_SYNTAX.includes(sign) || sign === "-" : SYNTAX.includes(sign);
  return [isSyntax ? `\\${sign}` : sign, sign.length + 1];
}

/**
 * @param {string} rest
 * @param {{ isMultiline: boolean, hasAnyDot: boolean }} options
 * @returns {[string, number]}
 */
function plainPart(rest, { isMultiline, hasAnyDot }) {
  // Without the flag, the end is also before a last line break.
  if (rest[0] === "$") return [isMultiline ? "(?=\\n|(?![\\s\\S]))" : "(?=\\n?(?![\\s\\S]))", 1];
  if (rest[0] === "^") return [isMultiline ? "(?<![^\\n])" : "(?<![\\s\\S])", 1];
  // A dot of JavaScript also stops at other line breaks.
  if (rest[0] === ".") return [hasAnyDot ? "[\\s\\S]" : "[^\\n]", 1];
  const times = /^\{(?=\d|,\d)(\d*)(,?)(\d*)\}/.exec(rest);
  if (times !== null) return [`{${times[1] || "0"}${times[2]}${times[3]}}`, times[0].length];
  if ("{}]/".includes(rest[0])) return [`\\${rest[0]}`, 1];
  const group = /^\(\?P(?:<(\w+)>|=(\w+)\))/.exec(rest);
  if (group !== null) return [group[1] ? `(?<${group[1]}>` : `\\k<${group[2]}>`, group[0].length];
  if (/^\(\?[^:=!<]/.test(rest)) throw new SyntaxError(`${rest.slice(0, 4)} cannot be tried here`);
  const sign = String.fromCodePoint(/** @type {number} */ (rest.codePointAt(0)));
  return [sign, sign.length];
}
