// <claw-matcher>: type a matcher and see what it finds on a screen.
import { copyButton, icon, make } from "../base/dom.js";
import { counted } from "../base/format.js";
import { codeOf, readLocator } from "../screen/locator_text.js";
import { locate } from "../screen/matching.js";

/**
 * @typedef {import("../screen/tree.js").Tree} MatchedTree
 * @typedef {import("../screen/tree.js").TreeNode} MatchedNode
 * @typedef {import("../screen/matching.js").Locator} BoxLocator
 */

/**
 * Dispatches `matcher-change` with the locator, or null, when another is typed; `matches-change` with
 * the matching nodes; and `node-pick` with the node that was stepped to.
 */
export class MatcherBox extends HTMLElement {
  constructor() {
    super();
    /** @type {MatchedTree | null} */
    this.tree = null;
    /** @type {BoxLocator | null} */
    this.locator = null;
    /** @type {MatchedNode[]} */
    this.found = [];
    this.at = -1;
    this.note = "";
    this.problem = "";
    this.input = make("input", {
      type: "text", class: "code", spellcheck: "false", autocomplete: "off", autocapitalize: "off",
      "aria-label": "Matcher", "aria-describedby": "matcher-status", placeholder: 'Try a matcher:  text="Go"   role="button"   id="ok"',
    });
    this.status = make("span", { class: "status soft", id: "matcher-status", role: "status" });
    this.previous = make("button", { type: "button", class: "quiet", title: "Previous match", "aria-label": "Previous match" }, icon("left"));
    this.next = make("button", { type: "button", class: "quiet", title: "Next match", "aria-label": "Next match" }, icon("right"));
    this.copy = copyButton(() => (this.locator === null ? "" : codeOf(this.locator)), "Copy the matcher as code");
    this.input.addEventListener("input", () => this.read());
    this.input.addEventListener("keydown", (event) => this.onKey(event));
    this.previous.addEventListener("click", () => this.step(-1));
    this.next.addEventListener("click", () => this.step(1));
  }

  connectedCallback() {
    if (this.childElementCount > 0) return;
    this.append(this.input, this.status, this.previous, this.next, this.copy);
    this.update();
  }

  /** @param {MatchedTree | null} tree */
  show(tree) {
    this.tree = tree;
    this.find();
  }

  /** @param {string} text */
  type(text) {
    this.input.value = text;
    this.read();
  }

  read() {
    const read = readLocator(this.input.value);
    this.problem = read !== null && "problem" in read ? read.problem : "";
    this.note = read !== null && "note" in read ? read.note : "";
    this.locator = read !== null && "locator" in read ? read.locator : null;
    this.dispatchEvent(new CustomEvent("matcher-change", { detail: this.locator }));
    this.find();
  }

  find() {
    this.found = this.locator === null || this.tree === null ? [] : locate(this.tree, this.locator);
    this.at = -1;
    this.update();
    this.dispatchEvent(new CustomEvent("matches-change", { detail: this.found }));
  }

  update() {
    const count = this.found.length;
    const found = this.locator === null ? "" : counted(count, "match", "matches");
    const place = this.at >= 0 ? `${this.at + 1} of ` : "";
    this.status.textContent = this.problem || [place + found, this.note].filter(Boolean).join(" · ");
    this.classList.toggle("wrong", this.problem !== "");
    this.classList.toggle("none", this.locator !== null && count === 0);
    this.input.setAttribute("aria-invalid", String(this.problem !== ""));
    this.previous.hidden = this.next.hidden = count === 0;
    this.copy.hidden = this.locator === null;
  }

  /** @param {number} by */
  step(by) {
    if (this.found.length === 0) return;
    const from = this.at < 0 && by < 0 ? 0 : this.at;
    this.at = (from + by + this.found.length) % this.found.length;
    this.update();
    this.dispatchEvent(new CustomEvent("node-pick", { detail: this.found[this.at] }));
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape" && this.input.value !== "") this.type("");
    else if (event.key === "Escape") this.input.blur();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

customElements.define("claw-matcher", MatcherBox);
