// Locators as people type them, and as Python code.
import { KEYWORDS, LONGEST_VALUE } from "./matching.js";
import { pythonPattern } from "./patterns.js";
import { quoted, stringAt } from "./python_strings.js";
import { KNOWN_ROLES } from "./roles.js";
import { isBlank } from "./tree.js";

/**
 * @typedef {import("./matching.js").Locator} TypedLocator
 * @typedef {import("./matching.js").Matcher} TypedMatcher
 * @typedef {{ locator: TypedLocator, note: string } | { problem: string }} ReadLocator
 */

// A call copied from a test; other words with brackets are a text.
const CODE_START = /^\s*(?:(?:[A-Za-z_]\w*\s*\.\s*)+[A-Za-z_]\w*\(|[A-Za-z_]\w*\(\s*(?:["']|[A-Za-z_][\w.]*(?:\(|\s*=)))/;
const KEYWORD = /\s*([A-Za-z_]\w*)\s*=(?!=)\s*/y;
const CALL = /\s*(?:[A-Za-z_]\w*\s*\.\s*)*[A-Za-z_]\w*\(/y;
const CALL_END = /\s*(?:\)|$)/y;
const TEXT_END = /\s*$/y;
const COMMA = /\s*,/y;
const NESTED = /\s*\.\s*(?:node|find|find_all)\(/y;
const CHOICE = /\s*\.\s*(?:(first|last)\b(?!\()|nth\(\s*(-?\d+)\s*(?:\)|$))/y;
const COMPILE = /(?:re\.)?compile\(\s*(?=[rR]?["'])/y;
const COMPILE_END = /\s*(?:,\s*((?:re\.)?[A-Z]+(?:\s*\|\s*(?:re\.)?[A-Z]+)*)\s*)?,?\s*\)/y;
/** @type {(keyof TypedMatcher)[]} */
const TAKING_PATTERNS = ["text", "id", "desc"];

/**
 * Reads `text="Go", role="button"`, code such as `claw.node(id="row").first.node(text="Go")`, a call
 * that takes these, or plain words, which stand for `text_contains`.
 * @param {string} typed
 * @returns {ReadLocator | null} null for nothing
 */
export function readLocator(typed) {
  if (typed.trim() === "") return null;
  const source = new TypedCode(typed);
  try {
    if (CODE_START.test(typed)) {
      const locator = source.chain();
      const left = source.rest;
      if (left !== "" && left[0] !== ".") throw new SyntaxError(`Code such as .node(...) should stand here: ${left}`);
      return { locator, note: remarkOn(locator, left.length > 1 ? `without ${left}` : "") };
    }
    if (!source.sees(KEYWORD)) {
      const text = stringAt(typed.trim())?.text ?? typed.trim();
      const locator = { matcher: checked({ text_contains: text }) };
      return { locator, note: `text_contains=${quoted(text)}` };
    }
    const locator = source.nodeArguments(TEXT_END);
    return { locator, note: remarkOn(locator, "") };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { problem: error.message };
  }
}

/** What is typed, and how far it is read. */
class TypedCode {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  /** The beginning of what is left. */
  get rest() {
    return this.text.slice(this.at).trim().slice(0, 40);
  }

  /** @param {RegExp} pattern that is sticky */
  sees(pattern) {
    pattern.lastIndex = this.at;
    return pattern.test(this.text);
  }

  /**
   * Reads on, if a pattern is found here.
   * @param {RegExp} pattern that is sticky
   */
  take(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found !== null) this.at = pattern.lastIndex;
    return found;
  }

  /**
   * A call, and the calls and words after it that narrow it down.
   * @returns {TypedLocator}
   */
  chain() {
    /** @type {TypedLocator | null} */
    let locator = null;
    // Calls without a node, as of `claw.snapshot()`, lead to the one that has it.
    while (locator === null) {
      if (this.take(CALL) === null && this.take(/\s*\.\s*\w+\(/y) === null) throw new SyntaxError("No node is given.");
      if (this.take(/\s*\)/y) === null) locator = this.nodeArguments(CALL_END);
    }
    for (;;) {
      const choice = this.take(CHOICE);
      if (choice !== null) {
        if (locator.index !== undefined) throw new SyntaxError(`That is one node already: ${choice[0].trim()} stands once.`);
        locator = { ...locator, index: choice[1] === "first" ? 0 : choice[1] === "last" ? -1 : Number(choice[2]) };
      } else if (this.take(NESTED) !== null) {
        locator = inside(locator, this.nodeArguments(CALL_END));
      } else {
        return locator;
      }
    }
  }

  /**
   * Keywords, or a locator and what narrows it down.
   * @param {RegExp} end
   * @returns {TypedLocator}
   */
  nodeArguments(end) {
    /** @type {TypedLocator | null} */
    let given = null;
    /** @type {Record<string, any>} */
    const values = {};
    while (this.take(end) === null) {
      const keyword = this.take(KEYWORD)?.[1];
      if (keyword === undefined) {
        if (given !== null || Object.keys(values).length > 0) throw this.noKeyword();
        given = this.positional();
      } else {
        if (Object.hasOwn(values, keyword)) throw new SyntaxError(`${keyword}= is there twice.`);
        values[keyword] = this.value(keyword, end);
      }
      if (this.take(COMMA) === null && !this.sees(end)) throw this.noKeyword();
    }
    return composed(given, values);
  }

  /** @returns {TypedLocator} */
  positional() {
    const words = stringAt(this.text.slice(this.at));
    if (words !== null) {
      this.at += words.length;
      return { matcher: checked({ text_contains: words.text }) };
    }
    if (!this.sees(CALL)) throw this.noKeyword();
    return this.chain();
  }

  noKeyword() {
    return new SyntaxError(`A keyword such as text= should stand here: ${this.rest}`);
  }

  /**
   * @param {string} keyword
   * @param {RegExp} end
   */
  value(keyword, end) {
    if (keyword === "within" || keyword === "has") {
      if (!this.sees(CALL)) throw new SyntaxError(`${keyword}= takes a locator, as in ${keyword}=claw.node(id="row").`);
      return this.chain();
    }
    if (!KEYWORDS.includes(/** @type {keyof TypedMatcher} */ (keyword))) {
      throw new SyntaxError(`Nodes are not matched by ${keyword}=, but by ${KEYWORDS.join(", ")}, within, has.`);
    }
    if (this.take(COMPILE) === null) return this.string(end);
    if (!TAKING_PATTERNS.includes(/** @type {keyof TypedMatcher} */ (keyword))) {
      throw new SyntaxError(`${keyword}= takes no pattern: ${TAKING_PATTERNS.join(", ")} do.`);
    }
    return this.pattern();
  }

  /**
   * A string; one without quotes ends at the next comma, or with the call.
   * @param {RegExp} end
   */
  string(end) {
    const found = stringAt(this.text.slice(this.at));
    if (found === null) return (this.take(end === CALL_END ? /[^,)]*/y : /[^,]*/y)?.[0] ?? "").trim();
    this.at += found.length;
    return found.text;
  }

  /** @returns {import("./patterns.js").Pattern} */
  pattern() {
    const text = this.string(CALL_END), end = this.take(COMPILE_END);
    if (end === null) throw new SyntaxError('re.compile("...") should end with a bracket');
    if (text === "") throw new SyntaxError("The pattern is still empty.");
    const flags = (end[1] ?? "").split("|").map((flag) => flag.trim().replace(/^re\./, "")).filter(Boolean);
    const code = `re.compile(${quoted(text)}${flags.map((flag, place) => `${place ? " |" : ","} re.${flag}`).join("")})`;
    try {
      return { regex: pythonPattern(text, flags), code };
    } catch (error) {
      throw new SyntaxError(`The pattern: ${error instanceof Error ? error.message : error}`);
    }
  }
}

/**
 * @param {TypedLocator | null} given
 * @param {TypedMatcher & { within?: TypedLocator, has?: TypedLocator }} values
 * @returns {TypedLocator}
 */
function composed(given, { within, has, ...matcher }) {
  const isMatcher = Object.keys(matcher).length > 0;
  if (given !== null && isMatcher) throw new SyntaxError("A node is given, and keywords as well: which is meant?");
  const base = given ?? { matcher: checked(matcher) };
  if (has !== undefined && base.index !== undefined) throw new SyntaxError("That is one node already: give has= first, and then .first, .last or .nth(i).");
  const having = has === undefined ? base : { ...base, has: [...base.has ?? [], has] };
  return within === undefined ? having : inside(within, having);
}

/**
 * A locator inside another, which encloses what already is around it.
 * @param {TypedLocator} around
 * @param {TypedLocator} locator
 * @returns {TypedLocator}
 */
function inside(around, locator) {
  return { ...locator, within: locator.within === undefined ? around : inside(around, locator.within) };
}

/**
 * @param {TypedMatcher} matcher
 * @returns {TypedMatcher}
 */
function checked(matcher) {
  const given = Object.values(matcher);
  if (given.every((value) => value === "")) throw new SyntaxError("The matcher is still empty.");
  const blank = KEYWORDS.find((keyword) => {
    const value = matcher[keyword];
    // Nodes without a text exist.
    return typeof value === "string" && isBlank(value) && (value !== "" || keyword !== "text");
  });
  if (blank !== undefined) throw new SyntaxError(`${blank}= must not be ${matcher[blank] === "" ? "empty" : "blank"}.`);
  if (given.some((value) => typeof value === "string" && value.length > LONGEST_VALUE)) {
    throw new SyntaxError(`A value has ${LONGEST_VALUE} characters at most.`);
  }
  return matcher;
}

/**
 * What should be said about a locator: a role that no node has, or else what is given.
 * @param {TypedLocator} locator
 * @param {string} otherwise
 * @returns {string}
 */
function remarkOn({ matcher, within, has = [] }, otherwise) {
  const role = matcher.role?.toLowerCase();
  if (role !== undefined && !KNOWN_ROLES.has(role)) {
    const near = [...KNOWN_ROLES].filter((known) => known.startsWith(role));
    return near.length > 0 ? `role ${near.join(", ")}?` : "unknown role";
  }
  return [...has, ...within === undefined ? [] : [within]].map((part) => remarkOn(part, "")).find(Boolean) ?? otherwise;
}

/**
 * A locator as Python code.
 * @param {TypedLocator} locator
 * @returns {string}
 */
export function codeOf({ matcher, within, has = [], index }) {
  const around = within === undefined ? "clawperator" : codeOf(within);
  const [first, ...more] = has.map((part) => `has=${codeOf(part)}`);
  const keywords = [keywordsOf(matcher), first].filter(Boolean).join(", ");
  // A locator takes one has= at a time.
  const narrowed = more.reduce((inner, part) => `clawperator.node(${inner}), ${part}`, keywords);
  return `${around}.node(${narrowed})${index === undefined ? "" : `.nth(${index})`}`;
}

/**
 * The keywords as Python code.
 * @param {TypedMatcher} matcher
 */
export function keywordsOf(matcher) {
  return KEYWORDS.filter((keyword) => matcher[keyword] !== undefined)
    .map((keyword) => `${keyword}=${valueCode(matcher[keyword] ?? "")}`)
    .join(", ");
}

/** @param {string | import("./patterns.js").Pattern} value */
function valueCode(value) {
  return typeof value === "string" ? quoted(value) : value.code;
}
