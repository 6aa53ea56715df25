// Which step of another run is the same, and whether two hierarchies are of the same screen.
import { differencesOf } from "../screen/difference.js";

/** @typedef {import("./model.js").Entry} PairedEntry */

/**
 * The step of another run that has the same title, of several the one that is as often there;
 * else the one that the same line of the test made.
 * @param {PairedEntry} entry
 * @param {PairedEntry[]} own
 * @param {PairedEntry[]} others
 * @returns {PairedEntry | null}
 */
export function partnerOf(entry, own, others) {
  const byTitle = (/** @type {PairedEntry} */ one) => one.title;
  const byLine = (/** @type {PairedEntry} */ one) => (one.source === null ? "" : `${one.source.function}:${one.source.text || one.source.line}`);
  return nthSimilar(entry, own, others, byTitle) ?? nthSimilar(entry, own, others, byLine);
}

/**
 * @param {PairedEntry} entry
 * @param {PairedEntry[]} own
 * @param {PairedEntry[]} others
 * @param {(one: PairedEntry) => string} keyOf
 */
function nthSimilar(entry, own, others, keyOf) {
  const key = keyOf(entry);
  if (key === "") return null;
  const before = own.filter((one) => keyOf(one) === key).indexOf(entry);
  return others.filter((one) => keyOf(one) === key)[before] ?? null;
}

// As many nodes of a hundred may come or go while people still call it the same screen.
const SAME_SCREEN = 0.25;

/**
 * Whether two hierarchies show different screens, rather than one that changed a little.
 * @param {import("../screen/tree.js").Tree} one
 * @param {import("../screen/tree.js").Tree} other
 */
export function isOtherScreen(one, other) {
  const found = differencesOf(one, other).filter(({ kind }) => kind === "added" || kind === "removed");
  const nodes = found.reduce((sum, { before, after }) => sum + countIn(before) + countIn(after), 0);
  return nodes > SAME_SCREEN * Math.max(one.nodes.length, other.nodes.length);
}

/**
 * @param {import("../screen/tree.js").TreeNode | null} node
 * @returns {number}
 */
function countIn(node) {
  return node === null ? 0 : node.children.reduce((sum, child) => sum + countIn(child), 1);
}
