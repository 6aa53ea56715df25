// The list of tests: sorted, filtered, and walked through with the keyboard.
import { fill, icon, make, roveFocus } from "../base/dom.js";
import { clip, counted, duration } from "../base/format.js";
import { classOf, devicesOf, ORDERS, OUTCOMES, searchedText } from "./results.js";

/** @typedef {import("./results.js").Test} Test */

const LONGEST_WHY = 400;

export class TestList {
  /** @param {Test[]} tests */
  constructor(tests) {
    this.tests = tests;
    this.rows = new Map(tests.map((test) => [test, { element: makeRow(test), text: searchedText(test) }]));
    this.element = make("ul", {});
    this.count = make("span", { class: "soft count", role: "status" });
    /** @type {Set<Test>} */
    this.shown = new Set(tests);
    roveFocus(this.element, () => this.links(), { next: "ArrowDown", previous: "ArrowUp" });
  }

  /** @param {string} order */
  sort(order) {
    const by = ORDERS.get(order);
    const sorted = by === undefined ? this.tests : [...this.tests].sort(by);
    fill(this.element, ...sorted.map((test) => this.rows.get(test)?.element));
    this.resetFocus();
  }

  /** @param {{ words: string, fits: (test: Test) => boolean }} wanted */
  filter({ words, fits }) {
    const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
    this.shown = new Set();
    for (const [test, { element, text }] of this.rows) {
      const isShown = fits(test) && parts.every((part) => text.includes(part));
      element.hidden = !isShown;
      if (isShown) this.shown.add(test);
    }
    const all = counted(this.tests.length, "test");
    this.count.textContent = this.shown.size === this.tests.length ? all : `${this.shown.size.toLocaleString("en")} of ${all}`;
    this.resetFocus();
  }

  /**
   * Moves the focus by so many tests that have a link.
   * @param {number} distance
   */
  move(distance) {
    const links = this.links();
    const at = links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const place = at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + distance));
    links[place]?.focus();
  }

  /** @param {Test} test */
  show(test) {
    const row = this.rows.get(test)?.element;
    if (row === undefined) return;
    row.hidden = false;
    row.scrollIntoView({ block: "center" });
    /** @type {HTMLElement | null} */ (row.querySelector("a"))?.focus();
  }

  /** The links of the tests that are shown, in their order. */
  links() {
    return /** @type {HTMLElement[]} */ ([...this.element.querySelectorAll("li:not([hidden]) a.open")]);
  }

  resetFocus() {
    this.links().forEach((link, place) => { link.tabIndex = place === 0 ? 0 : -1; });
  }
}

/** @type {Map<string, HTMLElement>} */
const outcomeChips = new Map();

/** @param {string} outcome */
function makeOutcome(outcome) {
  // A copy is cheaper than a new one, and there are thousands.
  const known = outcomeChips.get(outcome) ?? make("span", { class: `outcome ${classOf(outcome)}` }, icon(OUTCOMES.get(outcome) ?? "broken"), outcome);
  outcomeChips.set(outcome, known);
  return known.cloneNode(true);
}

/** @param {Test} test */
function makeRow(test) {
  const [file, ...names] = test.nodeid.split("::");
  const name = clip(names.join(" › ") || file, 300);
  const href = test.page ?? test.folder;
  const label = test.page ? "Trace" : "Files";
  const shown = href ? make("a", { href, class: "open", title: `${label} of ${clip(test.nodeid, 1000)}` }, name) : make("span", { class: "open" }, name);
  const attempt = (test.attempt ?? 1) > 1 ? make("span", { class: "chip marker" }, `attempt ${test.attempt}`) : null;
  const markers = (test.markers ?? []).map((one) => make("span", { class: "chip marker" }, clip(one, 60)));
  const phases = Object.entries(test.phases ?? {}).map(([phase, seconds]) => `${phase} ${duration(seconds)}`).join(", ");
  const devices = devicesOf(test);
  return make(
    "li", { class: `test ${classOf(test.outcome)}` },
    makeOutcome(test.outcome),
    make("span", { class: "what" }, shown, attempt, ...markers, make("div", { class: "file soft" }, clip(file, 300))),
    make("span", { class: "where soft", title: [devices, test.worker].filter(Boolean).join(", ") }, devices || test.worker),
    make("span", { class: "time", title: phases }, duration(test.seconds ?? 0)),
    test.message && make("div", { class: "why" }, [test.phase && test.phase !== "call" ? `${test.phase}: ` : "", test.code ? `${test.code}: ` : "", clip(test.message, LONGEST_WHY)].join("")),
  );
}
