// The matchers that are best for a node.
import { keywordsOf } from "./locator_text.js";
import { LONGEST_VALUE, locate } from "./matching.js";
import { hasCertainRole, roleOf } from "./roles.js";
import { isBlank } from "./tree.js";

// A matcher that finds more nodes than this is of little use for one of them.
const MOST_MATCHES = 20;

/**
 * `place` is the index of the wanted node among the `count` matching ones.
 * @typedef {{
 *   matcher: import("./matching.js").Matcher, code: string, place: number, count: number,
 * }} Suggestion
 */

/**
 * The matchers that find a node: the unique ones first, then the shorter ones.
 * @param {import("./tree.js").TreeNode} node
 * @returns {Suggestion[]}
 */
export function suggestMatchers(node) {
  const { id, label, desc } = node;
  const hasPackage = id.includes(":id/") && node.shortId !== "";
  /** @type {[keyof import("./matching.js").Matcher, string][]} */
  const fields = [
    ["id", hasPackage ? node.shortId : id], ["text", label],
    ["desc", desc === label ? "" : desc], ["role", hasCertainRole(node) ? roleOf(node) : ""],
  ];
  const given = fields.filter(([, value]) => !isBlank(value) && value.length <= LONGEST_VALUE);
  const single = given.map((one) => suggestionFor(node, Object.fromEntries([one])));
  // What is unique alone needs no second keyword.
  const others = given.filter((_, place) => single[place].count > 1);
  const pairs = pairsIn(others).map((pair) => suggestionFor(node, Object.fromEntries(pair)));
  return [...single, ...pairs].filter((one) => one.place >= 0 && one.count <= MOST_MATCHES).sort(byWorth);
}

/**
 * @template T
 * @param {T[]} items
 * @returns {T[][]} two of them, in their order
 */
function pairsIn(items) {
  return items.flatMap((one, place) => items.slice(place + 1).map((other) => [one, other]));
}

/**
 * @param {import("./tree.js").TreeNode} node
 * @param {import("./matching.js").Matcher} matcher
 * @returns {Suggestion}
 */
function suggestionFor(node, matcher) {
  const found = locate(node.tree, { matcher });
  const place = found.indexOf(node);
  const which = found.length > 1 ? `.nth(${place})` : "";
  return {
    matcher, place, count: found.length,
    code: `clawperator.node(${keywordsOf(matcher)})${which}`,
  };
}

/**
 * @param {Suggestion} one
 * @param {Suggestion} other
 */
function byWorth(one, other) {
  return Number(one.count > 1) - Number(other.count > 1)
    || Object.keys(one.matcher).length - Object.keys(other.matcher).length
    // A role alone soon means another node when the screen changes.
    || Number(Object.keys(one.matcher)[0] === "role") - Number(Object.keys(other.matcher)[0] === "role")
    || one.count - other.count;
}
