// The list of steps: what the test did, nested by its blocks.
import { fill, icon, make } from "../base/dom.js";
import { clip, duration } from "../base/format.js";

/** @typedef {import("./model.js").Entry} ListedEntry */

const KIND_ICONS = new Map(Object.entries({
  execution: "tap", expectation: "eye", step: "group", phase: "cog", fixture: "cog",
}));

export class StepList {
  /**
   * @param {HTMLElement} element
   * @param {import("./model.js").Story} story
   * @param {(entry: ListedEntry) => void} onSelect
   */
  constructor(element, story, onSelect) {
    this.element = element;
    this.onSelect = onSelect;
    /** @type {Map<ListedEntry, HTMLElement>} */
    this.rows = new Map();
    /** @type {Map<Element, ListedEntry>} */
    this.entries = new Map();
    /** @type {Set<ListedEntry>} */
    this.closed = new Set();
    /** @type {ListedEntry | null} */
    this.selected = null;
    const roots = story.entries.filter((entry) => entry.parent === null);
    for (const entry of inOrderOfTime(roots)) this.rows.set(entry, this.row(entry, roots));
    fill(element, ...this.rows.values());
    for (const entry of this.rows.keys()) if (isClosedAtFirst(entry)) this.mark(entry, false);
    this.hideRows();
    element.addEventListener("click", (event) => this.onClick(event));
    element.addEventListener("keydown", (event) => this.onKey(event));
    const [first] = this.rows.values();
    if (first !== undefined) first.tabIndex = 0;
  }

  /**
   * @param {ListedEntry} entry
   * @param {ListedEntry[]} roots
   */
  row(entry, roots) {
    const [verb, ...rest] = clip(entry.title || entry.kind, 300).split(/ (.*)/s);
    const state = entry.failure !== null ? "failed" : entry.isDone || entry.kind === "phase" ? "done" : "broken";
    const isBlock = entry.kind === "step" || entry.kind === "phase";
    const siblings = entry.parent?.children ?? roots;
    const row = make(
      "div",
      {
        role: "treeitem", class: `entry ${entry.kind} ${state}${entry.isSnapshot ? " snapshot" : ""}`, tabindex: -1,
        "aria-level": entry.depth + 1, "aria-selected": "false",
        "aria-setsize": siblings.length, "aria-posinset": siblings.indexOf(entry) + 1,
        "aria-expanded": entry.children.length > 0 ? "true" : null, title: clip(entry.title, 500),
      },
      make("span", { class: "twist", "aria-hidden": "true" }),
      icon(state === "failed" ? "cross" : state === "broken" ? "broken" : KIND_ICONS.get(entry.isSnapshot ? "expectation" : entry.kind) ?? "tap"),
      make("bdi", { class: "what" }, isBlock ? [verb, ...rest].join(" ") : verb,
        !isBlock && rest[0] ? make("span", { class: "code" }, ` ${rest[0]}`) : null),
      state === "failed" && make("span", { class: "unseen" }, " failed"),
      make("span", { class: "found" }),
      make("span", { class: "time" }, duration(entry.seconds)),
    );
    row.style.paddingInlineStart = `${4 + Math.min(entry.depth, 12) * 14}px`;
    this.entries.set(row, entry);
    return row;
  }

  /** @param {ListedEntry} entry */
  select(entry) {
    const before = this.selected === null ? undefined : this.rows.get(this.selected);
    before?.setAttribute("aria-selected", "false");
    this.selected = entry;
    for (let above = entry.parent; above !== null; above = above.parent) this.toggle(above, true);
    const row = this.rows.get(entry);
    if (row === undefined) return;
    row.setAttribute("aria-selected", "true");
    this.makeTabStop(row);
    row.scrollIntoView({ block: "nearest" });
  }

  /**
   * Shows beside each step how many nodes a matcher finds there; null shows nothing.
   * @param {((entry: ListedEntry) => number | null) | null} countOf
   */
  showFound(countOf) {
    for (const [entry, row] of this.rows) {
      const count = countOf === null || !entry.isAction ? null : countOf(entry);
      const place = row.querySelector(".found");
      if (place === null) continue;
      const text = count === null ? "" : String(count);
      if (place.textContent !== text) place.textContent = text;
      place.classList.toggle("some", count !== null && count > 0);
    }
  }

  /** @param {HTMLElement} row */
  makeTabStop(row) {
    for (const one of this.element.querySelectorAll('[tabindex="0"]')) one.setAttribute("tabindex", "-1");
    row.tabIndex = 0;
  }

  /**
   * @param {ListedEntry} entry
   * @param {boolean} isOpen
   */
  toggle(entry, isOpen) {
    if (entry.children.length === 0 || this.closed.has(entry) === !isOpen) return;
    this.mark(entry, isOpen);
    this.hideRows();
  }

  /**
   * @param {ListedEntry} entry
   * @param {boolean} isOpen
   */
  mark(entry, isOpen) {
    if (isOpen) this.closed.delete(entry);
    else this.closed.add(entry);
    this.rows.get(entry)?.setAttribute("aria-expanded", String(isOpen));
  }

  hideRows() {
    for (const [one, row] of this.rows) row.hidden = this.isHidden(one);
  }

  /** @param {ListedEntry} entry */
  isHidden(entry) {
    for (let above = entry.parent; above !== null; above = above.parent) if (this.closed.has(above)) return true;
    return false;
  }

  /** @param {MouseEvent} event */
  onClick(event) {
    const target = event.target instanceof Element ? event.target : null;
    const row = target?.closest(".entry") ?? null;
    const entry = row === null ? undefined : this.entries.get(row);
    if (entry === undefined || !(row instanceof HTMLElement)) return;
    this.makeTabStop(row);
    if (target?.closest(".twist") || entry.kind === "phase") this.toggle(entry, this.closed.has(entry));
    if (!target?.closest(".twist")) this.onSelect(entry);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const shown = [...this.rows].filter(([, row]) => !row.hidden);
    const at = shown.findIndex(([, row]) => row === document.activeElement);
    if (at < 0) return;
    const [entry] = shown[at];
    const places = new Map([
      ["ArrowDown", at + 1], ["ArrowUp", at - 1], ["Home", 0], ["End", shown.length - 1],
    ]);
    const place = places.get(event.key);
    if (place !== undefined) this.go(shown[Math.max(0, Math.min(shown.length - 1, place))]);
    else if (event.key === "ArrowRight" && entry.children.length > 0) this.toggle(entry, true);
    else if (event.key === "ArrowLeft" && entry.children.length > 0 && !this.closed.has(entry)) this.toggle(entry, false);
    else if (event.key === "ArrowLeft" && entry.parent !== null) this.go([entry.parent, /** @type {HTMLElement} */ (this.rows.get(entry.parent))]);
    else if (event.key === "Enter" || event.key === " ") this.onSelect(entry);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {[ListedEntry, HTMLElement]} place */
  go([entry, row]) {
    this.makeTabStop(row);
    row.focus();
    this.onSelect(entry);
  }
}

/**
 * Setup and teardown are of interest only if they fail; an expectation shows its checks itself.
 * @param {ListedEntry} entry
 */
function isClosedAtFirst(entry) {
  return entry.children.length > 0 && (entry.kind === "expectation" || (entry.kind === "phase" && entry.failure === null));
}

/**
 * @param {ListedEntry[]} entries
 * @returns {Generator<ListedEntry>}
 */
function* inOrderOfTime(entries) {
  for (const entry of [...entries].sort((one, other) => one.at - other.at)) {
    yield entry;
    yield* inOrderOfTime(entry.children);
  }
}
