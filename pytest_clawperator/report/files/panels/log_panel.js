// The device's log: of one step or of the whole test, by level and words.
import { fill, make } from "../base/dom.js";
import { counted } from "../base/format.js";
import { hasWords } from "../base/filter.js";

const LEVELS = ["V", "D", "I", "W", "E"];
const LEVEL_NAMES = ["all levels", "debug and up", "info and up", "warnings and errors", "errors"];
const MOST_LOG_LINES = 2_000;
const LONGEST_LINE = 10_100;

export class LogPanel {
  /** @param {import("../viewer/model.js").Story} story */
  constructor(story) {
    this.story = story;
    /** @type {import("../viewer/model.js").Entry | null} */
    this.entry = null;
    this.isWhole = false;
    this.level = 0;
    this.words = "";
    this.lines = make("ol", { class: "log code", tabindex: 0, "aria-label": "Lines of the log" });
    this.count = make("span", { class: "soft count", role: "status" });
    const whole = make("input", { type: "checkbox" });
    whole.addEventListener("change", () => { this.isWhole = whole.checked; this.draw(); });
    const search = make("input", { type: "search", class: "field", placeholder: "Search the log", "aria-label": "Search the log" });
    search.addEventListener("input", () => { this.words = search.value; this.draw(); });
    const level = make("select", { class: "field", "aria-label": "Lowest level" }, ...LEVEL_NAMES.map((name, place) => make("option", { value: place }, name)));
    level.addEventListener("change", () => { this.level = Number(level.value); this.draw(); });
    this.bar = make("div", { class: "filter" }, search, level, make("label", { class: "check" }, whole, "whole test"), this.count);
  }

  /**
   * @param {HTMLElement} panel
   * @param {import("../viewer/model.js").Entry} entry
   */
  fill(panel, entry) {
    this.entry = entry;
    if (panel.childElementCount === 0) fill(panel, this.bar, this.lines);
    this.draw();
  }

  draw() {
    const own = this.story.log.filter((line) => this.isWhole || this.isOfEntry(line));
    const shown = own.filter((line) => LEVELS.indexOf(line.level === "F" || line.level === "A" ? "E" : line.level) >= this.level || this.level === 0)
      .filter((line) => hasWords(line.text, this.words));
    const drawn = shown.slice(0, MOST_LOG_LINES);
    fill(this.lines, ...drawn.map(({ text, level }) => make("li", { class: `level-${level || "none"}` }, make("bdi", {}, text.slice(0, LONGEST_LINE)))));
    const all = counted(own.length, "line");
    const cut = drawn.length < shown.length ? `, the first ${counted(drawn.length, "line")} shown` : "";
    this.count.textContent = (shown.length === own.length ? all : `${shown.length} of ${all}`) + cut;
    if (own.length === 0) fill(this.lines, make("li", { class: "soft" }, this.isWhole ? "No log was kept." : "Nothing was logged during this step."));
  }

  /** @param {import("../viewer/model.js").LogLine} line */
  isOfEntry(line) {
    const entry = this.entry;
    if (entry === null) return false;
    if (line.execution !== null && entry.kind === "execution") return line.execution === entry.id;
    if (entry.kind === "execution") return false;
    return line.at >= entry.at && line.at <= entry.end;
  }
}
