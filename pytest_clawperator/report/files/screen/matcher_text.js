// Matchers as people type them, and as Python code.
import { KEYWORDS, LONGEST_VALUE } from "./matching.js";
import { pythonPattern } from "./patterns.js";
import { KNOWN_ROLES } from "./roles.js";
import { isBlank } from "./tree.js";

/**
 * @typedef {import("./matching.js").Matcher} TypedMatcher
 * @typedef {{ matcher: TypedMatcher, note: string } | { problem: string }} ReadMatcher
 */

const CALL = /^\s*(?:[\w.]+\.)?\w+\((.*)\)\s*$/su;
const KEYWORD = /^\s*,?\s*([A-Za-z_]\w*)\s*=\s*/u;
const COMPILE = /^(?:re\.)?compile\(\s*(?=[rR]?["'])/;
const COMPILE_END = /^\s*(?:,\s*((?:re\.)?[A-Z]+(?:\s*\|\s*(?:re\.)?[A-Z]+)*)\s*)?\)/;
/** @type {(keyof TypedMatcher)[]} */
const TAKING_PATTERNS = ["text", "id", "desc"];
const ESCAPES = new Map(Object.entries({
  n: "\n", t: "\t", r: "\r", 0: "\0", a: "\x07", b: "\b", f: "\f", v: "\v",
  "\\": "\\", "'": "'", '"': '"', "\n": "",
}));

/**
 * Reads `text="Go", role="button"`, a call such as `claw.click(id="ok")`, or plain words,
 * which stand for `text_contains`.
 * @param {string} typed
 * @returns {ReadMatcher | null} null for nothing
 */
export function readMatcher(typed) {
  if (typed.trim() === "") return null;
  const inner = CALL.exec(typed)?.[1] ?? typed;
  if (!KEYWORD.test(inner)) {
    const words = unquoted(inner.trim());
    return checked({ text_contains: words }, `text_contains=${quoted(words)}`);
  }
  /** @type {TypedMatcher} */
  const matcher = {};
  let rest = inner;
  while (rest.trim() !== "" && rest.trim() !== ",") {
    const found = KEYWORD.exec(rest);
    if (found === null) return { problem: `A keyword such as text= should stand here: ${rest.trim().slice(0, 40)}` };
    const keyword = /** @type {keyof TypedMatcher} */ (found[1]);
    if (!KEYWORDS.includes(keyword)) {
      return { problem: `Nodes are not matched by ${found[1]}=, but by ${KEYWORDS.join(", ")}.` };
    }
    if (matcher[keyword] !== undefined) return { problem: `${keyword}= is there twice.` };
    const value = valueAt(rest.slice(found[0].length));
    if ("problem" in value) return value;
    if (typeof value.value === "object" && !TAKING_PATTERNS.includes(keyword)) {
      return { problem: `${keyword}= takes no pattern: ${TAKING_PATTERNS.join(", ")} do.` };
    }
    Object.assign(matcher, { [keyword]: value.value });
    rest = value.rest;
  }
  return checked(matcher, "");
}

/**
 * Reads a string, or a call of `re.compile`.
 * @param {string} source
 * @returns {{ value: string | import("./patterns.js").Pattern, rest: string } | { problem: string }}
 */
function valueAt(source) {
  const call = COMPILE.exec(source);
  if (call === null) {
    const { text, rest } = literal(source);
    return { value: text, rest };
  }
  const inner = literal(source.slice(call[0].length));
  const end = COMPILE_END.exec(inner.rest);
  if (end === null) return { problem: 're.compile("...") should end with a bracket' };
  const flags = (end[1] ?? "").split("|").map((flag) => flag.trim().replace(/^re\./, "")).filter(Boolean);
  try {
    const regex = pythonPattern(inner.text, flags);
    const code = `re.compile(${quoted(inner.text)}${flags.map((flag, place) => `${place ? " |" : ","} re.${flag}`).join("")})`;
    return { value: { regex, code }, rest: inner.rest.slice(end[0].length) };
  } catch (error) {
    return { problem: `The pattern: ${error instanceof Error ? error.message : error}` };
  }
}

/**
 * @param {TypedMatcher} matcher
 * @param {string} note
 * @returns {ReadMatcher}
 */
function checked(matcher, note) {
  const given = Object.values(matcher);
  if (given.every((value) => value === "")) return { problem: "The matcher is still empty." };
  const blank = KEYWORDS.find((keyword) => typeof matcher[keyword] === "string" && matcher[keyword] !== "" && isBlank(String(matcher[keyword])));
  if (blank !== undefined) return { problem: `${blank}= must not be blank.` };
  if (given.some((value) => typeof value === "string" && value.length > LONGEST_VALUE)) {
    return { problem: `A value has ${LONGEST_VALUE} characters at most.` };
  }
  const role = matcher.role?.toLowerCase();
  if (role !== undefined && !KNOWN_ROLES.has(role)) {
    const near = [...KNOWN_ROLES].filter((known) => role !== "" && known.startsWith(role));
    return { matcher, note: near.length > 0 ? `role ${near.join(", ")}?` : "unknown role" };
  }
  return { matcher, note };
}

/**
 * Reads the string at the beginning; one without quotes ends at the next comma.
 * @param {string} source
 * @returns {{ text: string, rest: string }}
 */
function literal(source) {
  const start = /^([rR]?)(["'])/.exec(source);
  if (start === null) {
    const end = source.indexOf(",");
    const text = end < 0 ? source : source.slice(0, end);
    return { text: text.trim(), rest: end < 0 ? "" : source.slice(end) };
  }
  const isRaw = start[1] !== "", quote = start[2];
  let text = "";
  for (let at = start[0].length; at < source.length; at += 1) {
    if (source[at] === quote) return { text, rest: source.slice(at + 1) };
    if (source[at] === "\\" && !isRaw) {
      const escape = escapeAt(source, at);
      text += escape.text;
      at = escape.last;
    } else {
      text += source[at];
    }
  }
  return { text, rest: "" }; // still being typed
}

/**
 * @param {string} source
 * @param {number} at
 */
function escapeAt(source, at) {
  const code = /^\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/.exec(source.slice(at, at + 10));
  if (code !== null) {
    const number = parseInt(code[1] ?? code[2] ?? code[3], 16);
    const text = number <= 0x10ffff ? String.fromCodePoint(number) : "\ufffd";
    return { text, last: at + code[0].length - 1 };
  }
  const next = source[at + 1] ?? "";
  return { text: ESCAPES.get(next) ?? `\\${next}`, last: at + 1 };
}

/** @param {string} text */
function unquoted(text) {
  return /^["']/.test(text) ? literal(text).text : text;
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

/**
 * The keywords as Python code.
 * @param {TypedMatcher} matcher
 */
export function keywordsOf(matcher) {
  return KEYWORDS.filter((keyword) => matcher[keyword] !== undefined)
    .map((keyword) => `${keyword}=${codeOf(matcher[keyword] ?? "")}`)
    .join(", ");
}

/** @param {string | import("./patterns.js").Pattern} value */
function codeOf(value) {
  return typeof value === "string" ? quoted(value) : value.code;
}
