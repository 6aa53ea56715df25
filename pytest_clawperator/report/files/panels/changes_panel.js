// What differs between two moments, of this run or of the last one that passed.
import { fill, make } from "../base/dom.js";
import { clip, counted } from "../base/format.js";
import { differencesOf } from "../screen/difference.js";

/**
 * @typedef {import("../screen/difference.js").Difference} ShownDifference
 * @typedef {import("../viewer/model.js").Entry} ComparedEntry
 * @typedef {{ isPassed: boolean, entry: ComparedEntry, moment: number }} MomentRef
 * @typedef {{
 *   story: import("../viewer/model.js").Story, passed: import("../viewer/model.js").Story | null,
 *   treeOf: (ref: MomentRef) => Promise<import("../screen/tree.js").Tree | null>,
 *   partnerOf: (entry: ComparedEntry) => ComparedEntry | null,
 *   onDifferences: (differences: ShownDifference[]) => void,
 *   onPick: (difference: ShownDifference) => void,
 * }} Comparing
 */

const MOST_DIFFERENCES = 400;
const SIGNS = new Map(Object.entries({ added: "+", removed: "−", changed: "~", moved: "→" }));

export class ChangesPanel {
  /** @param {Comparing} comparing */
  constructor(comparing) {
    this.comparing = comparing;
    /** @type {MomentRef[]} */
    this.refs = [];
    this.hasMoves = false;
    this.from = make("select", { class: "field", "aria-label": "Compare this moment" });
    this.to = make("select", { class: "field", "aria-label": "with this one" });
    const moves = make("input", { type: "checkbox" });
    moves.addEventListener("change", () => { this.hasMoves = moves.checked; void this.compare(); });
    this.own = make("button", { type: "button", class: "plain" }, "Before and after");
    this.other = make("button", { type: "button", class: "plain" }, "Last run that passed");
    this.bar = make(
      "div", { class: "filter comparing" }, this.own, this.other, make("label", { class: "check" }, moves, "moves"),
      make("div", { class: "pair" }, this.from, make("span", { class: "soft" }, "to"), this.to),
    );
    this.list = make("div", { class: "differences" });
    for (const select of [this.from, this.to]) select.addEventListener("change", () => void this.compare());
    this.own.addEventListener("click", () => this.compareOwn());
    this.other.addEventListener("click", () => this.comparePassed());
    /** @type {ComparedEntry | null} */
    this.entry = null;
  }

  /**
   * @param {HTMLElement} panel
   * @param {ComparedEntry} entry
   */
  fill(panel, entry) {
    this.entry = entry;
    if (panel.childElementCount === 0) {
      this.addOptions();
      fill(panel, this.bar, this.list);
    }
    this.other.hidden = this.comparing.passed === null;
    this.compareOwn();
  }

  addOptions() {
    const { story, passed } = this.comparing;
    const groups = [["This run", story], ["The last run that passed", passed]];
    for (const [label, of] of /** @type {[string, import("../viewer/model.js").Story | null][]} */ (groups)) {
      if (of === null) continue;
      const options = of.actions.flatMap((entry, number) => entry.moments.map((moment, place) => {
        this.refs.push({ isPassed: of === passed, entry, moment: place });
        return make("option", { value: this.refs.length - 1 }, `${number + 1}. ${clip(entry.title, 40)}: ${moment.label.toLowerCase()}`);
      }));
      this.from.append(make("optgroup", { label }, ...options));
      this.to.append(make("optgroup", { label }, ...options.map((one) => one.cloneNode(true))));
    }
  }

  compareOwn() {
    const entry = this.entry;
    if (entry !== null) this.choose({ entry, moment: 0, isPassed: false }, { entry, moment: entry.moments.length - 1, isPassed: false });
  }

  comparePassed() {
    const entry = this.entry;
    const partner = entry === null ? null : this.comparing.partnerOf(entry);
    if (entry === null || partner === null) {
      fill(this.list, make("p", { class: "soft nothing" }, "The run that passed has no such step."));
      this.comparing.onDifferences([]);
      return;
    }
    this.choose({ entry: partner, moment: partner.moments.length - 1, isPassed: true }, { entry, moment: entry.moments.length - 1, isPassed: false });
  }

  /**
   * @param {MomentRef} from
   * @param {MomentRef} to
   */
  choose(from, to) {
    this.from.value = String(this.placeOf(from));
    this.to.value = String(this.placeOf(to));
    void this.compare();
  }

  /** @param {MomentRef} ref */
  placeOf(ref) {
    return this.refs.findIndex((one) => one.entry === ref.entry && one.moment === ref.moment && one.isPassed === ref.isPassed);
  }

  async compare() {
    const from = this.refs[Number(this.from.value)], to = this.refs[Number(this.to.value)];
    const [before, after] = await Promise.all([from, to].map(async (ref) => (ref === undefined ? null : this.comparing.treeOf(ref))));
    if (before === null || after === null) {
      fill(this.list, make("p", { class: "soft nothing" }, "No hierarchy was kept for one of these moments."));
      this.comparing.onDifferences([]);
      return;
    }
    const all = differencesOf(before, after);
    const found = all.filter((one) => this.hasMoves || one.kind !== "moved");
    this.draw(found, all.length - found.length);
    this.comparing.onDifferences(found);
  }

  /**
   * @param {ShownDifference[]} found
   * @param {number} moved
   */
  draw(found, moved) {
    const counts = [...SIGNS.keys()].map((kind) => [kind, found.filter((one) => one.kind === kind).length]);
    const summary = counts.filter(([, count]) => Number(count) > 0).map(([kind, count]) => `${count} ${kind}`).join(", ");
    const hidden = moved > 0 ? `, and ${counted(moved, "node")} only moved` : "";
    fill(
      this.list,
      make("p", { class: "soft count", role: "status" }, `${summary || "No differences"}${hidden}.`),
      make("ul", { class: "changes" }, ...found.slice(0, MOST_DIFFERENCES).map((one) => this.row(one))),
    );
  }

  /** @param {ShownDifference} difference */
  row(difference) {
    const node = difference.after ?? difference.before;
    const row = make(
      "button", { type: "button", class: `change ${difference.kind}` },
      make("span", { class: "sign", "aria-hidden": "true" }, SIGNS.get(difference.kind)), make("span", { class: "unseen" }, difference.kind),
      make("bdi", { class: "class" }, clip(node?.shortClass || "node", 40)),
      node !== null && node.id !== "" && make("bdi", { class: "id" }, `#${clip(node.shortId, 40)}`),
      node !== null && node.label !== "" && make("bdi", { class: "label" }, clip(node.label, 60)),
      node !== null && difference.kind !== "changed" && node.children.length > 0 && make("span", { class: "soft" }, `with ${counted(sizeOf(node) - 1, "node")} in it`),
      ...difference.changes.map(({ name, before, after }) => make(
        "span", { class: "detail" }, `${name}: `, make("del", {}, clip(before, 80) || "–"), " → ", make("ins", {}, clip(after, 80) || "–"),
      )),
    );
    row.addEventListener("click", () => this.comparing.onPick(difference));
    return make("li", {}, row);
  }
}

/**
 * @param {import("../screen/tree.js").TreeNode} node
 * @returns {number}
 */
function sizeOf(node) {
  return node.children.reduce((sum, child) => sum + sizeOf(child), 1);
}
