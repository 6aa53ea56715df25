// JSON that people read: coloured, with long texts folded.
import { copyButton, fill, make } from "../base/dom.js";

const LONGEST_TEXT = 240;
const MOST_LINES = 4_000;

/**
 * @param {HTMLElement} panel
 * @param {unknown} value
 * @param {string} label
 */
export function fillJson(panel, value, label) {
  /** @type {(Node | string)[]} */
  const parts = [];
  write(value, "", parts);
  fill(
    panel,
    make("div", { class: "with-copy" },
      make("pre", { class: "code json", tabindex: 0, "aria-label": label }, ...parts.slice(0, MOST_LINES * 4)),
      copyButton(() => JSON.stringify(value, null, 2), `Copy the ${label.toLowerCase()}`)),
  );
}

/**
 * @param {unknown} value
 * @param {string} indent
 * @param {(Node | string)[]} parts
 */
function write(value, indent, parts) {
  if (typeof value === "string") parts.push(textPart(value));
  else if (typeof value !== "object" || value === null) parts.push(make("span", { class: "literal" }, String(value)));
  else writeAll(value, indent, parts);
}

/**
 * @param {object} value
 * @param {string} indent
 * @param {(Node | string)[]} parts
 */
function writeAll(value, indent, parts) {
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) {
    parts.push(open + close);
    return;
  }
  const inner = `${indent}  `;
  parts.push(`${open}\n`);
  for (const [place, [key, one]] of entries.entries()) {
    parts.push(inner);
    if (!isList) parts.push(make("span", { class: "key" }, JSON.stringify(key)), ": ");
    write(one, inner, parts);
    parts.push(place < entries.length - 1 ? ",\n" : "\n");
  }
  parts.push(indent + close);
}

/** @param {string} text */
function textPart(text) {
  const part = make("span", { class: "text" });
  if (text.length <= LONGEST_TEXT) {
    part.textContent = JSON.stringify(text);
    return part;
  }
  const more = make("button", { type: "button", class: "fold", "aria-expanded": "false" }, `… ${text.length.toLocaleString("en")} characters`);
  more.addEventListener("click", () => fill(part, JSON.stringify(text.slice(0, 200_000))));
  fill(part, JSON.stringify(text.slice(0, LONGEST_TEXT)).slice(0, -1), more);
  return part;
}
