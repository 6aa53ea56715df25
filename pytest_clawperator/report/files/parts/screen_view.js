// <claw-screen>: a screen with its picture, or its nodes as boxes, and marks on it.
import { fill, make } from "../base/dom.js";
import { showBoxes } from "./boxes.js";

/**
 * @typedef {import("../screen/tree.js").Tree} ShownTree
 * @typedef {import("../screen/tree.js").TreeNode} ShownNode
 * @typedef {import("../screen/tree.js").Box} ShownBox
 * @typedef {{
 *   tree: ShownTree | null, picture: string | null, size: { width: number, height: number } | null,
 *   isOlder?: boolean,
 *   touch: { box: ShownBox | null, point: { x: number, y: number } | null } | null, label: string,
 * }} ScreenData
 * `isOlder`: the picture may show another screen than the hierarchy.
 * @typedef {{ box: ShownBox, kind: "match" | "added" | "removed" | "changed" | "moved" }} Mark
 */

const USUAL_SIZE = { width: 1080, height: 2400 };
const MOST_MARKS = 300;

/**
 * Dispatches `node-hover` and `node-pick` with the node, or null, as detail.
 */
export class ScreenView extends HTMLElement {
  constructor() {
    super();
    /** @type {ScreenData | null} */
    this.data = null;
    this.size = USUAL_SIZE;
    this.prefersBoxes = false;
    /** @type {ShownTree | null} */
    this.drawn = null;
    this.ground = make("canvas", { class: "boxes" });
    this.image = make("img", { alt: "", draggable: "false" });
    this.marks = make("div", { class: "marks" });
    this.touch = make("div", { class: "marks" });
    this.chosen = make("div", { class: "mark chosen", hidden: true });
    this.pointed = make("div", { class: "mark pointed", hidden: true });
    this.glass = make("div", { class: "glass" }, this.ground, this.image, this.marks, this.touch, this.chosen, this.pointed);
    this.empty = make("p", { class: "soft nothing", hidden: true });
    this.glass.addEventListener("pointermove", (event) => this.emit("node-hover", this.nodeUnder(event)));
    this.glass.addEventListener("pointerleave", () => this.emit("node-hover", null));
    this.glass.addEventListener("click", (event) => this.emit("node-pick", this.nodeUnder(event)));
    document.addEventListener("themechange", () => this.draw(true));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw(true));
  }

  connectedCallback() {
    if (this.childElementCount === 0) this.append(this.glass, this.empty);
  }

  /** @param {ScreenData} data */
  show(data) {
    this.data = data;
    const size = data.size ?? data.tree?.size ?? USUAL_SIZE;
    if (size.width !== this.size.width || size.height !== this.size.height) this.drawn = null;
    this.size = size.width > 0 && size.height > 0 ? size : USUAL_SIZE;
    const isEmpty = data.tree === null && data.picture === null;
    this.glass.hidden = isEmpty;
    this.empty.hidden = !isEmpty;
    this.empty.textContent = "Neither a picture nor a hierarchy was kept for this moment.";
    this.style.setProperty("--ratio", String(this.size.width / this.size.height));
    this.setMarks([]);
    this.showTouch(data.touch);
    this.draw();
  }

  /**
   * Draws the picture, or the boxes where there is none or they are wished for.
   * @param {boolean} [isForced] whether also what is there already: colours may have changed
   */
  draw(isForced = false) {
    if (this.data === null) return;
    const { picture, tree, label, isOlder = false } = this.data;
    // Boxes on a picture of another screen would mislead.
    const isPicture = picture !== null && !(tree !== null && this.prefersBoxes !== isOlder);
    this.image.hidden = !isPicture;
    this.ground.hidden = isPicture;
    this.classList.toggle("drawn", !isPicture);
    if (isPicture) {
      if (this.image.getAttribute("src") !== picture) this.image.src = picture;
      this.image.alt = label;
    } else if (tree !== null && (tree !== this.drawn || isForced)) {
      showBoxes(this.ground, tree, this.size);
      this.drawn = tree;
    }
  }

  /** @param {ShownNode | null} node */
  set hovered(node) {
    this.put(this.pointed, node?.box ?? null);
  }

  /** @param {ShownNode | null} node */
  set selected(node) {
    this.put(this.chosen, node?.box ?? null);
  }

  /** @param {Mark[]} marks */
  setMarks(marks) {
    fill(this.marks, ...marks.slice(0, MOST_MARKS).map(({ box, kind }) => {
      const mark = make("div", { class: `mark ${kind}` });
      this.put(mark, box);
      return mark;
    }));
  }

  /** @param {ScreenData["touch"]} touch */
  showTouch(touch) {
    fill(this.touch);
    if (touch === null) return;
    if (touch.box !== null) {
      const mark = make("div", { class: "mark touched" });
      this.put(mark, touch.box);
      this.touch.append(mark);
    }
    if (touch.point !== null) {
      const dot = make("div", { class: "finger" });
      dot.style.left = `${(touch.point.x / this.size.width) * 100}%`;
      dot.style.top = `${(touch.point.y / this.size.height) * 100}%`;
      this.touch.append(dot);
    }
  }

  /**
   * @param {HTMLElement} mark
   * @param {ShownBox | null} box
   */
  put(mark, box) {
    mark.hidden = box === null;
    if (box === null) return;
    const { width, height } = this.size;
    const left = Math.max(0, box.left), top = Math.max(0, box.top);
    mark.style.left = `${(left / width) * 100}%`;
    mark.style.top = `${(top / height) * 100}%`;
    mark.style.width = `${(Math.max(0, Math.min(width, box.right) - left) / width) * 100}%`;
    mark.style.height = `${(Math.max(0, Math.min(height, box.bottom) - top) / height) * 100}%`;
  }

  /** @param {MouseEvent} event */
  nodeUnder(event) {
    const place = this.glass.getBoundingClientRect();
    const x = ((event.clientX - place.left) / place.width) * this.size.width;
    const y = ((event.clientY - place.top) / place.height) * this.size.height;
    return this.data?.tree?.nodeAt(Math.floor(x), Math.floor(y)) ?? null;
  }

  /**
   * @param {string} name
   * @param {ShownNode | null} node
   */
  emit(name, node) {
    this.dispatchEvent(new CustomEvent(name, { detail: node }));
  }
}

customElements.define("claw-screen", ScreenView);
