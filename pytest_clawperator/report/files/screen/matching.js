// Finding nodes as Python finds them on a snapshot: the rules of snapshot/query.py and client/target.py.
import { roleOf } from "./roles.js";
import { folded } from "./tree.js";

/**
 * A matcher by its keywords; all that are given must match.
 * @typedef {{
 *   text?: string | Pattern, text_contains?: string, id?: string | Pattern,
 *   desc?: string | Pattern, desc_contains?: string, role?: string,
 * }} Matcher
 * A locator: a matcher, a locator of what is around the node, those of what is inside it, and which
 * of the matches it is; a negative index counts from the end.
 * @typedef {{ matcher: Matcher, within?: Locator, has?: Locator[], index?: number }} Locator
 * @typedef {import("./patterns.js").Pattern} Pattern
 * @typedef {import("./tree.js").Tree} SearchedTree
 * @typedef {import("./tree.js").TreeNode} SearchedNode
 */

/** The keywords, in the order in which code has them. @type {(keyof Matcher)[]} */
export const KEYWORDS = ["id", "text", "text_contains", "desc", "desc_contains", "role"];
/** How many characters a value of a matcher may have. */
export const LONGEST_VALUE = 512;

/**
 * The nodes that a locator means, in the order of the tree. What is inside a node is not the node
 * itself; of several nodes around, any will do.
 * @param {SearchedTree} tree
 * @param {Locator} locator
 * @returns {SearchedNode[]}
 */
export function locate(tree, locator) {
  return locateIn(tree.nodes, locator);
}

/**
 * @param {SearchedNode[]} scope in the order of the tree
 * @param {Locator} locator
 * @returns {SearchedNode[]}
 */
function locateIn(scope, { matcher, within, has = [], index }) {
  const checks = checksOf(matcher);
  const searched = within === undefined ? scope : insideOf(locateIn(scope, within));
  const found = searched.filter((node) => node.isOnScreen && checks.every((check) => check(node))
    && has.every((part) => locateIn(insideOf([node]), part).length > 0));
  if (index === undefined) return found;
  const chosen = found.at(index);
  return chosen === undefined ? [] : [chosen];
}

/**
 * The nodes inside these, each once.
 * @param {SearchedNode[]} around in the order of the tree
 * @returns {SearchedNode[]}
 */
function insideOf(around) {
  /** @type {SearchedNode[]} */
  const found = [];
  let at = 0;
  for (const { tree: { nodes }, place, depth } of around) {
    if (place < at) continue; // it is inside the one before
    for (at = place + 1; at < nodes.length && nodes[at].depth > depth; at += 1) found.push(nodes[at]);
  }
  return found;
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
