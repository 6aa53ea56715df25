// The hierarchy of a screen: nodes with what matchers and people ask of them.

/**
 * A hierarchy as plain data: nodes in the order of the tree, each with the place of its parent.
 * @typedef {{ parent: number, attributes: Record<string, string> }} NodeData
 * @typedef {{
 *   rotation?: number, isPartial?: boolean, nodes?: NodeData[], problem?: string, text?: string,
 * }} TreeData
 * @typedef {{ left: number, top: number, right: number, bottom: number }} Box
 */

const PRINTED = /^\[(-?\d{1,9}),(-?\d{1,9})\]\[(-?\d{1,9}),(-?\d{1,9})\]$/;
// What Python calls white space; that of regular expressions differs in a few characters.
const BLANK = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/;

/**
 * Whether a text is empty or white space.
 * @param {string} text
 */
export function isBlank(text) {
  return BLANK.test(text);
}

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
 * Reads `[left,top][right,bottom]`; null for anything else.
 * @param {string} text
 * @returns {Box | null}
 */
export function parseBox(text) {
  const found = PRINTED.exec(text);
  if (found === null) return null;
  const [x1, y1, x2, y2] = found.slice(1).map(Number);
  return {
    left: Math.min(x1, x2), top: Math.min(y1, y2),
    right: Math.max(x1, x2), bottom: Math.max(y1, y2),
  };
}

/**
 * How many pixels a box covers.
 * @param {Box} box
 */
export function areaOf(box) {
  return (box.right - box.left) * (box.bottom - box.top);
}

/**
 * The box around all root nodes; null if none has bounds.
 * @param {NodeData[]} nodes
 * @returns {Box | null}
 */
function screenOf(nodes) {
  const roots = nodes.filter(({ parent }, place) => !(parent >= 0 && parent < place));
  const boxes = roots.map(({ attributes }) => parseBox(String(attributes.bounds ?? "")));
  const known = boxes.filter((box) => box !== null);
  if (known.length === 0) return null;
  return {
    left: Math.min(...known.map((box) => box.left)),
    top: Math.min(...known.map((box) => box.top)),
    right: Math.max(...known.map((box) => box.right)),
    bottom: Math.max(...known.map((box) => box.bottom)),
  };
}

export class TreeNode {
  /**
   * @param {Tree} tree
   * @param {number} place
   * @param {TreeNode | null} parent
   * @param {Record<string, string>} attributes
   */
  constructor(tree, place, parent, attributes) {
    this.tree = tree;
    this.place = place;
    this.parent = parent;
    this.attributes = attributes;
    /** @type {number} */
    this.depth = parent === null ? 0 : parent.depth + 1;
    /** @type {TreeNode[]} */
    this.children = [];
    this.text = this.get("text");
    this.desc = this.get("content-desc");
    this.id = this.get("resource-id");
    this.className = this.get("class");
    this.isClickable = this.get("clickable") === "true";
    this.box = parseBox(this.get("bounds"));
    /** What matchers call text: the text, or where that is blank the description. */
    this.label = !isBlank(this.text) ? this.text : isBlank(this.desc) ? "" : this.desc;
    /** Whether this node and all around it reach into the screen. */
    this.isShown = (parent === null || parent.isShown) && this.reachesIn();
  }

  /** @param {string} name */
  get(name) {
    return Object.hasOwn(this.attributes, name) ? String(this.attributes[name]) : "";
  }

  /** The id without its package. */
  get shortId() {
    return this.id.slice(this.id.lastIndexOf(":id/") + (this.id.includes(":id/") ? 4 : 1));
  }

  /** The class without its package. */
  get shortClass() {
    return this.className.slice(this.className.lastIndexOf(".") + 1);
  }

  /** Whether matchers see it: the Operator keeps the root, and drops what is hidden. */
  get isOnScreen() {
    return this.parent === null || this.isShown;
  }

  reachesIn() {
    const box = this.box;
    if (box === null) return true; // without bounds it counts as visible
    const screen = this.tree.screen;
    return areaOf(box) > 0 && box.right >= 0 && box.bottom >= 0
      && (screen === null || (box.left <= screen.right && box.top <= screen.bottom));
  }
}

export class Tree {
  /** @param {TreeData} data */
  constructor(data) {
    /** Whether the screen lies on its side. */
    this.isTurned = data.rotation === 1 || data.rotation === 3;
    this.isPartial = data.isPartial === true;
    this.problem = data.problem ?? "";
    this.source = data.text ?? "";
    /** @type {TreeNode[]} */
    this.nodes = [];
    /** The area of all windows, which decides whether a node is on the screen. */
    this.screen = screenOf(data.nodes ?? []);
    for (const { parent, attributes } of data.nodes ?? []) {
      const above = this.nodes[parent] ?? null;
      const node = new TreeNode(this, this.nodes.length, above, attributes);
      if (above !== null) above.children.push(node);
      this.nodes.push(node);
    }
  }

  /** The size of the screen, as far as the roots show it. */
  get size() {
    const box = this.screen;
    return box === null ? null : { width: box.right, height: box.bottom };
  }

  /** The nodes that are in no other. */
  get roots() {
    return this.nodes.filter((node) => node.parent === null);
  }

  /**
   * The node at a point: the smallest, and of equal ones the topmost.
   * @param {number} x
   * @param {number} y
   * @returns {TreeNode | null}
   */
  nodeAt(x, y) {
    /** @type {TreeNode | null} */
    let found = null;
    let smallest = Infinity;
    for (const node of this.nodes) {
      const box = node.box;
      if (box === null || !node.isShown) continue;
      if (x < box.left || y < box.top || x >= box.right || y >= box.bottom) continue;
      const area = areaOf(box);
      if (area <= smallest) [found, smallest] = [node, area];
    }
    return found;
  }
}
