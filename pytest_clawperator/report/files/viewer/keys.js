// Keys: what they do, and the dialog that shows them.
import { byId, fill, icon, make } from "../base/dom.js";

/**
 * What a row of the dialog describes, and what its keys do, if they act everywhere on the page.
 * @typedef {{ shown: string[], does: string, runs?: Record<string, () => void> }} KeyAbout
 */

const LETTERS_KEY = "clawperator-letter-keys";

export class Keys {
  /** @param {KeyAbout[]} keys */
  constructor(keys) {
    this.keys = keys;
    /** @type {Map<string, () => void>} */
    this.runs = new Map(keys.flatMap(({ runs }) => Object.entries(runs ?? {})));
    this.hasLetters = readLetters();
    this.dialog = /** @type {HTMLDialogElement} */ (byId("keys"));
    document.addEventListener("keydown", (event) => this.onKey(event));
  }

  open() {
    const letters = make("input", { type: "checkbox" });
    letters.checked = this.hasLetters;
    letters.addEventListener("change", () => {
      this.hasLetters = letters.checked;
      try {
        localStorage.setItem(LETTERS_KEY, letters.checked ? "on" : "off");
      } catch { /* it holds until the page is closed */ }
    });
    const close = make("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => this.dialog.close() }, icon("close"));
    fill(
      this.dialog,
      make("div", { class: "dialog-head" }, make("h2", { id: "keys-title" }, "Keys"), close),
      make("table", {}, make("tbody", {}, ...this.keys.map(({ shown, does }) => make(
        "tr", {}, make("th", { scope: "row" }, ...shown.map((key) => make("kbd", {}, key))), make("td", {}, does),
      )))),
      make("label", { class: "check" }, letters, "Single keys act everywhere on the page"),
    );
    this.dialog.showModal();
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || this.dialog.open) return;
    const target = event.target instanceof HTMLElement ? event.target : null;
    if (target !== null && target.closest("input, select, textarea") && event.key !== "Escape") return;
    if (!this.hasLetters && event.key.length === 1) return;
    const run = this.runs.get(event.key);
    if (run === undefined) return;
    event.preventDefault();
    run();
  }
}

function readLetters() {
  try {
    return localStorage.getItem(LETTERS_KEY) !== "off";
  } catch {
    return true;
  }
}
