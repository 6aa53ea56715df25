// What differs between two hierarchies: nodes that came, went, or changed.

/**
 * @typedef {import("./tree.js").TreeNode} ComparedNode
 * @typedef {{ name: string, before: string, after: string }} ChangedAttribute
 * @typedef {{
 *   kind: "added" | "removed" | "changed" | "moved", before: ComparedNode | null,
 *   after: ComparedNode | null, changes: ChangedAttribute[],
 * }} Difference
 */

// Longer rows of children are paired by their places; comparing each with each would take long.
const MOST_PAIRS = 250_000;

/**
 * The differences in the order of the later tree; what went comes where it was.
 * @param {import("./tree.js").Tree} before
 * @param {import("./tree.js").Tree} after
 * @returns {Difference[]}
 */
export function differencesOf(before, after) {
  /** @type {Difference[]} */
  const found = [];
  compareRows(before.roots, after.roots, found);
  return found;
}

/**
 * @param {ComparedNode[]} before
 * @param {ComparedNode[]} after
 * @param {Difference[]} found
 */
function compareRows(before, after, found) {
  for (const [was, is] of pairsOf(before, after)) {
    if (was === null) found.push({ kind: "added", before: null, after: is, changes: [] });
    else if (is === null) found.push({ kind: "removed", before: was, after: null, changes: [] });
    else {
      compareNodes(was, is, found);
      compareRows(was.children, is.children, found);
    }
  }
}

/**
 * @param {ComparedNode} before
 * @param {ComparedNode} after
 * @param {Difference[]} found
 */
function compareNodes(before, after, found) {
  const names = new Set([...Object.keys(before.attributes), ...Object.keys(after.attributes)]);
  const changes = [...names]
    .map((name) => ({ name, before: before.get(name), after: after.get(name) }))
    .filter((one) => one.before !== one.after && one.name !== "index");
  if (changes.length === 0) return;
  const isMove = changes.every((one) => one.name === "bounds");
  found.push({ kind: isMove ? "moved" : "changed", before, after, changes });
}

/**
 * Pairs the children of two nodes: the most similar ones first.
 * @param {ComparedNode[]} before
 * @param {ComparedNode[]} after
 * @returns {[ComparedNode | null, ComparedNode | null][]}
 */
function pairsOf(before, after) {
  /** @type {Map<ComparedNode, ComparedNode>} */
  const partners = new Map();
  const keys = [
    (/** @type {ComparedNode} */ node) => [node.className, node.id, nameOf(node)].join("\0"),
    (/** @type {ComparedNode} */ node) => [node.className, node.id].join("\0"),
  ];
  pairBetween(before, after, keys, partners);
  return inOrder(before, after, partners);
}

/**
 * What a node is called: its label, or of a row without one the first label in it.
 * @param {ComparedNode} node
 * @returns {string}
 */
function nameOf(node) {
  if (node.label !== "" || node.children.length === 0) return node.label;
  return nameOf(node.children[0]);
}

/**
 * @param {ComparedNode[]} before
 * @param {ComparedNode[]} after
 * @param {((node: ComparedNode) => string)[]} keys
 * @param {Map<ComparedNode, ComparedNode>} partners
 */
function pairBetween(before, after, keys, partners) {
  if (keys.length === 0 || before.length === 0 || after.length === 0) return;
  const [key, ...others] = keys;
  const common = longestCommon(before.map(key), after.map(key));
  let [low, high] = [0, 0];
  for (const [one, other] of [...common, [before.length, after.length]]) {
    pairBetween(before.slice(low, one), after.slice(high, other), others, partners);
    if (one < before.length) partners.set(before[one], after[other]);
    [low, high] = [one + 1, other + 1];
  }
}

/**
 * The places of the longest common part of two rows.
 * @param {string[]} one
 * @param {string[]} other
 * @returns {[number, number][]}
 */
function longestCommon(one, other) {
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  /** @type {[number, number][]} */
  const pairs = Array.from({ length: start }, (_, place) => [place, place]);
  const rows = one.length - start, columns = other.length - start;
  if (rows * columns > MOST_PAIRS) return pairs;
  const width = columns + 1;
  const lengths = new Uint16Array((rows + 1) * width);
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      lengths[row * width + column] = one[start + row] === other[start + column]
        ? lengths[(row + 1) * width + column + 1] + 1
        : Math.max(lengths[(row + 1) * width + column], lengths[row * width + column + 1]);
    }
  }
  for (let row = 0, column = 0; row < rows && column < columns;) {
    if (one[start + row] === other[start + column]) pairs.push([start + row++, start + column++]);
    else if (lengths[(row + 1) * width + column] >= lengths[row * width + column + 1]) row += 1;
    else column += 1;
  }
  return pairs;
}

/**
 * @param {ComparedNode[]} before
 * @param {ComparedNode[]} after
 * @param {Map<ComparedNode, ComparedNode>} partners
 * @returns {[ComparedNode | null, ComparedNode | null][]}
 */
function inOrder(before, after, partners) {
  /** @type {[ComparedNode | null, ComparedNode | null][]} */
  const pairs = [];
  let next = 0;
  for (const was of before) {
    const is = partners.get(was);
    if (is === undefined) {
      pairs.push([was, null]);
      continue;
    }
    while (after[next] !== is) pairs.push([null, after[next++]]);
    pairs.push([was, after[next++]]);
  }
  while (next < after.length) pairs.push([null, after[next++]]);
  return pairs;
}
