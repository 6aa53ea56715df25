// <claw-tree>: the nodes of a screen as a tree; only the rows that are seen are made.
import { clip } from "../base/format.js";
import { fill, make } from "../base/dom.js";

/**
 * @typedef {import("../screen/tree.js").Tree} ListedTree
 * @typedef {import("../screen/tree.js").TreeNode} ListedNode
 */

const ROW = 22;
const SPARE_ROWS = 12;

/** Dispatches `node-hover` and `node-pick` with the node as detail. */
export class TreeView extends HTMLElement {
  constructor() {
    super();
    /** @type {ListedTree | null} */
    this.tree = null;
    /** @type {ListedNode[]} */
    this.rows = [];
    /** @type {Map<ListedNode, number>} */
    this.places = new Map();
    /** @type {Set<ListedNode>} */
    this.closed = new Set();
    /** @type {Set<ListedNode>} */
    this.matching = new Set();
    /** @type {ListedNode | null} */
    this.active = null;
    /** @type {ListedNode | null} */
    this.pointed = null;
    this.isWaiting = false;
    this.space = make("div", { class: "rows", role: "presentation" });
    this.window = make("div", { class: "window", role: "presentation" });
    this.space.append(this.window);
    this.addEventListener("scroll", () => this.draw(), { passive: true });
    this.addEventListener("keydown", (event) => this.onKey(event));
    this.addEventListener("click", (event) => this.onClick(event));
    this.addEventListener("pointermove", (event) => this.point(this.rowAt(event)));
    this.addEventListener("pointerleave", () => this.point(null));
    this.observer = new ResizeObserver(() => this.draw());
  }

  connectedCallback() {
    if (this.childElementCount === 0) this.append(this.space);
    this.setAttribute("role", "tree");
    this.tabIndex = 0;
    this.observer.observe(this);
  }

  disconnectedCallback() {
    this.observer.disconnect();
  }

  /** @param {ListedTree | null} tree */
  show(tree) {
    if (tree === this.tree) return;
    this.tree = tree;
    this.closed = new Set();
    this.matching = new Set();
    this.active = null;
    this.pointed = null;
    this.scrollTop = 0;
    this.list();
  }

  /** @param {ListedNode[]} nodes */
  setMatches(nodes) {
    this.matching = new Set(nodes);
    this.draw();
  }

  /** @param {ListedNode | null} node */
  set hovered(node) {
    if (node === this.pointed) return;
    this.pointed = node;
    if (node !== null) this.reveal(node);
    this.draw();
  }

  /** @param {ListedNode | null} node */
  set selected(node) {
    this.active = node;
    if (node !== null) this.reveal(node);
    this.draw();
  }

  /**
   * Opens what is around a node and scrolls to it.
   * @param {ListedNode} node
   */
  reveal(node) {
    let isClosed = false;
    for (let above = node.parent; above !== null; above = above.parent) isClosed = this.closed.delete(above) || isClosed;
    if (isClosed) this.list();
    const top = (this.places.get(node) ?? -1) * ROW;
    const isSeen = top >= this.scrollTop && top + ROW <= this.scrollTop + this.clientHeight;
    if (top >= 0 && !isSeen) this.scrollTop = top - this.clientHeight / 3;
  }

  /** Lists the rows that no closed node hides. */
  list() {
    this.rows = [];
    /** @type {ListedNode | null} */
    let hiding = null;
    for (const node of this.tree?.nodes ?? []) {
      if (hiding !== null && node.depth > hiding.depth) continue;
      hiding = this.closed.has(node) ? node : null;
      this.rows.push(node);
    }
    this.places = new Map(this.rows.map((node, place) => [node, place]));
    this.space.style.height = `${this.rows.length * ROW}px`;
    this.draw();
  }

  /** Draws the rows before the next frame, once for all that changed until then. */
  draw() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    this.isWaiting = false;
    const first = Math.max(0, Math.floor(this.scrollTop / ROW) - SPARE_ROWS);
    const last = Math.min(this.rows.length, Math.ceil((this.scrollTop + this.clientHeight) / ROW) + SPARE_ROWS);
    const shown = this.rows.slice(first, last);
    const active = this.active;
    // The row that the focus is on stays, however far it was scrolled away.
    if (active !== null && !shown.includes(active) && this.places.has(active)) shown.push(active);
    fill(this.window, ...shown.map((node) => this.row(node)));
    if (active !== null && this.places.has(active)) this.setAttribute("aria-activedescendant", `${this.id || "tree"}-${active.place}`);
    else this.removeAttribute("aria-activedescendant");
  }

  /** @param {ListedNode} node */
  row(node) {
    const siblings = node.parent?.children ?? this.tree?.roots ?? [];
    const hasChildren = node.children.length > 0;
    const row = make(
      "div",
      {
        role: "treeitem", id: `${this.id || "tree"}-${node.place}`, class: this.classOf(node), "data-place": node.place,
        "aria-level": node.depth + 1, "aria-setsize": siblings.length, "aria-posinset": siblings.indexOf(node) + 1,
        "aria-selected": String(node === this.active),
        "aria-expanded": hasChildren ? String(!this.closed.has(node)) : null,
      },
      make("span", { class: "twist", "aria-hidden": "true" }),
      make("bdi", { class: "class" }, clip(node.shortClass || "node", 60)),
      node.id !== "" && make("bdi", { class: "id" }, `#${clip(node.shortId, 60)}`),
      node.label !== "" && make("bdi", { class: "label" }, clip(node.label, 80)),
    );
    row.style.top = `${(this.places.get(node) ?? 0) * ROW}px`;
    row.style.paddingInlineStart = `${6 + Math.min(node.depth, 30) * 12}px`;
    return row;
  }

  /** @param {ListedNode} node */
  classOf(node) {
    const classes = ["row"];
    if (!node.isOnScreen) classes.push("off");
    if (this.matching.has(node)) classes.push("match");
    if (node === this.pointed) classes.push("pointed");
    return classes.join(" ");
  }

  /** @param {MouseEvent} event */
  rowAt(event) {
    const row = event.target instanceof Element ? event.target.closest(".row") : null;
    return row instanceof HTMLElement ? this.tree?.nodes[Number(row.dataset.place)] ?? null : null;
  }

  /** @param {ListedNode | null} node */
  point(node) {
    if (node === this.pointed) return;
    this.pointed = node;
    for (const row of this.window.children) {
      row.classList.toggle("pointed", node !== null && row instanceof HTMLElement && row.dataset.place === String(node.place));
    }
    this.dispatchEvent(new CustomEvent("node-hover", { detail: node }));
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const node = this.rowAt(event);
    if (node === null) return;
    if (event.target instanceof Element && event.target.closest(".twist")) this.toggle(node, this.closed.has(node));
    else this.pick(node);
  }

  /** @param {ListedNode} node */
  pick(node) {
    this.selected = node;
    this.dispatchEvent(new CustomEvent("node-pick", { detail: node }));
  }

  /**
   * @param {ListedNode} node
   * @param {boolean} isOpen
   */
  toggle(node, isOpen) {
    if (node.children.length === 0) return;
    if (isOpen) this.closed.delete(node);
    else this.closed.add(node);
    this.list();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.rows.length === 0) return;
    const at = this.active === null ? -1 : this.places.get(this.active) ?? -1;
    const page = Math.max(1, Math.floor(this.clientHeight / ROW) - 1);
    const places = new Map([
      ["ArrowDown", at + 1], ["ArrowUp", at - 1], ["Home", 0], ["End", this.rows.length - 1],
      ["PageDown", at + page], ["PageUp", at - page],
    ]);
    const place = places.get(event.key);
    if (place !== undefined) this.pick(this.rows[Math.max(0, Math.min(this.rows.length - 1, place))]);
    else if (event.key === "ArrowRight" || event.key === "ArrowLeft") this.walk(event.key === "ArrowRight");
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {boolean} isInward */
  walk(isInward) {
    const node = this.active;
    if (node === null) return;
    const isClosed = this.closed.has(node) || node.children.length === 0;
    if (isInward && this.closed.has(node)) this.toggle(node, true);
    else if (isInward && node.children.length > 0) this.pick(node.children[0]);
    else if (!isInward && !isClosed) this.toggle(node, false);
    else if (!isInward && node.parent !== null) this.pick(node.parent);
  }
}

customElements.define("claw-tree", TreeView);
