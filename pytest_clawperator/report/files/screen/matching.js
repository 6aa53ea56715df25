// Finding nodes as the Operator finds them: the rules of snapshot/matching.py and query.py.
import { roleOf } from "./roles.js";

/**
 * A matcher by its keywords; all that are given must match.
 * @typedef {{
 *   text?: string | Pattern, text_contains?: string, id?: string | Pattern,
 *   desc?: string | Pattern, desc_contains?: string, role?: string,
 * }} Matcher
 * @typedef {import("./patterns.js").Pattern} Pattern
 * @typedef {import("./tree.js").Tree} SearchedTree
 * @typedef {import("./tree.js").TreeNode} SearchedNode
 */

/** The keywords, in the order in which code has them. @type {(keyof Matcher)[]} */
export const KEYWORDS = ["id", "text", "text_contains", "desc", "desc_contains", "role"];
/** How many characters a value of a matcher may have. */
export const LONGEST_VALUE = 512;

/**
 * The text without its case, as the device compares: character by character.
 * @param {string} text
 */
export function folded(text) {
  // eslint-disable-next-line no-control-regex
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  return Array.from(text, foldedCharacter).join("");
}

/** @param {string} character */
function foldedCharacter(character) {
  const upper = character.toUpperCase();
  // Where a whole string would grow, as ß does, a single character stays what it is.
  const one = [...upper].length === 1 ? upper : character;
  return [...one.toLowerCase()][0];
}

/**
 * The matching nodes, in the order of the tree.
 * @param {SearchedTree} tree
 * @param {Matcher} matcher
 * @returns {SearchedNode[]}
 */
export function findAll(tree, matcher) {
  const checks = checksOf(matcher);
  return tree.nodes.filter((node) => node.isOnScreen && checks.every((check) => check(node)));
}

/**
 * @param {Matcher} matcher
 * @returns {((node: SearchedNode) => boolean)[]}
 */
function checksOf(matcher) {
  const { id, text, text_contains: part, desc, desc_contains: descPart, role } = matcher;
  /** @type {((node: SearchedNode) => boolean)[]} */
  const checks = [];
  if (typeof id === "object") checks.push((node) => fitsPattern(node.id, id) || fitsPattern(node.shortId, id));
  else if (id !== undefined) checks.push((node) => isId(node.id, id));
  if (typeof text === "object") checks.push((node) => fitsPattern(node.label, text));
  else if (text !== undefined) checks.push((node) => node.label === text);
  if (part !== undefined) {
    const wanted = folded(part);
    checks.push((node) => folded(node.label).includes(wanted));
  }
  if (typeof desc === "object") checks.push((node) => fitsPattern(node.desc, desc));
  else if (desc !== undefined) checks.push((node) => node.desc !== "" && node.desc === desc);
  if (descPart !== undefined) {
    const wanted = folded(descPart);
    checks.push((node) => node.desc !== "" && folded(node.desc).includes(wanted));
  }
  if (role !== undefined) {
    const wanted = role.toLowerCase();
    checks.push((node) => roleOf(node) === wanted);
  }
  return checks;
}

/**
 * Whether an id is the wanted one, which may lack its package.
 * @param {string} value
 * @param {string} wanted
 */
function isId(value, wanted) {
  if (value === "") return false;
  return value === wanted || (!wanted.includes(":id/") && value.endsWith(`:id/${wanted}`));
}

/**
 * Whether a pattern is found in a value; a missing value matches no pattern.
 * @param {string} value
 * @param {Pattern} pattern
 */
function fitsPattern(value, { regex }) {
  return value !== "" && regex.test(value);
}
