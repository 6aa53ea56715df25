// <claw-node>: what is known of a node, and the matchers that find it.
import { clip } from "../base/format.js";
import { copyButton, fill, make } from "../base/dom.js";
import { keywordsOf } from "../screen/locator_text.js";
import { roleOf } from "../screen/roles.js";
import { suggestMatchers } from "../screen/suggesting.js";

/** @typedef {import("../screen/tree.js").TreeNode} DescribedNode */

const FLAGS = ["clickable", "long-clickable", "checkable", "checked", "enabled", "focusable", "focused", "scrollable", "selected", "password"];
const MOST_SUGGESTIONS = 5;
const LONGEST_SHOWN = 2_000;

/** Dispatches `matcher-try` with the keywords of a matcher to try out. */
export class NodeView extends HTMLElement {
  /** @param {DescribedNode | null} node */
  show(node) {
    if (node === null) {
      fill(this, make("p", { class: "soft nothing" }, "Point at the screen, or walk through the tree, to see a node."));
      return;
    }
    fill(this, this.suggestions(node), attributesTable(node));
  }

  /** @param {DescribedNode} node */
  suggestions(node) {
    const found = node.isOnScreen ? suggestMatchers(node).slice(0, MOST_SUGGESTIONS) : [];
    const rows = found.map(({ code, count, place, matcher }) => {
      const isUnique = count === 1;
      const rank = isUnique ? "unique" : `${place + 1} of ${count}`;
      const tryOut = make("button", { type: "button", class: "code link", title: "Try it in the matcher box" }, clip(code, 400));
      tryOut.addEventListener("click", () => this.dispatchEvent(new CustomEvent("matcher-try", { detail: keywordsOf(matcher) })));
      return make(
        "li", {}, tryOut, make("span", { class: `chip ${isUnique ? "good" : ""}` }, rank),
        copyButton(() => code, "Copy the code"),
      );
    });
    const why = node.isOnScreen ? "It has no id, text or description: match a node around it." : "It is off the screen, where matchers find nothing.";
    return make(
      "section", { class: "suggestions", "aria-label": "Matchers" },
      rows.length > 0 ? make("ul", {}, ...rows) : make("p", { class: "soft" }, why),
    );
  }
}

/** @param {DescribedNode} node */
function attributesTable(node) {
  const isFlag = (/** @type {string} */ name) => FLAGS.includes(name);
  const names = Object.keys(node.attributes);
  const flags = FLAGS.filter((name) => names.includes(name));
  /** @type {[string, string][]} */
  const rows = [
    ["role", roleOf(node)], ["on screen", node.isOnScreen ? "yes" : "no"],
    ...names.filter((name) => !isFlag(name)).map((name) => /** @type {[string, string]} */ ([name, node.get(name)])),
  ];
  return make(
    "section", { class: "attributes", "aria-label": "Attributes" },
    flags.length > 0 && make(
      "p", { class: "flags" },
      ...flags.map((name) => make("span", { class: node.get(name) === "true" ? "flag on" : "flag" }, name)),
    ),
    make("table", {}, make("tbody", {}, ...rows.map(([name, value]) => make(
      "tr", {}, make("th", { scope: "row" }, clip(name, 60)),
      make("td", { class: value === "" ? "soft" : "" }, make("bdi", {}, value === "" ? "–" : long(value))),
    )))),
  );
}

/** @param {string} text */
function long(text) {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}… (${text.length.toLocaleString("en")} characters)` : text;
}

customElements.define("claw-node", NodeView);
