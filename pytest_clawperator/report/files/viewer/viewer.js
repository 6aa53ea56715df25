// The page of a trace: what is selected, and all that shows it.
import { announce, byId, make } from "../base/dom.js";
import { switchTheme } from "../base/theme.js";
import { fillAbout } from "../panels/about_panel.js";
import { fillCall } from "../panels/call_panel.js";
import { ChangesPanel } from "../panels/changes_panel.js";
import { fillErrors } from "../panels/error_panel.js";
import { fillJson } from "../panels/json_panel.js";
import { LogPanel } from "../panels/log_panel.js";
import { Tabs, showNothing } from "../panels/tabs.js";
import { MatcherBox } from "../parts/matcher_box.js";
import { NodeView } from "../parts/node_view.js";
import { TreeView } from "../parts/tree_view.js";
import { isOtherScreen, partnerOf } from "./comparing.js";
import { FilmStrip } from "./film_strip.js";
import { Keys } from "./keys.js";
import { MatchScan } from "./match_scan.js";
import { TreeStore, unpack } from "./packed.js";
import { Screens } from "./screens.js";
import { StepList } from "./step_list.js";

/**
 * @typedef {import("./model.js").Entry} ShownEntry
 * @typedef {import("./model.js").Story} ShownStory
 * @typedef {import("../screen/tree.js").TreeNode} PickedNode
 * @typedef {import("../panels/changes_panel.js").MomentRef} ShownMoment
 */

export class Viewer {
  /**
   * @param {ShownStory} story
   * @param {ShownStory | null} passed
   */
  constructor(story, passed) {
    this.story = story;
    this.passed = passed;
    this.trees = new TreeStore(story.trees);
    /** @type {ShownEntry | null} */
    this.entry = null;
    /** @type {ShownMoment[]} */
    this.shown = [];
    /** @type {import("../screen/tree.js").Tree | null} */
    this.tree = null;
    /** @type {PickedNode | null} */
    this.node = null;
    this.turn = 0;
    this.showsPassed = false;
    /** @type {import("../screen/difference.js").Difference[]} */
    this.differences = [];

    this.treeView = new TreeView();
    this.treeView.id = "nodes";
    this.treeView.setAttribute("aria-label", "Nodes of the screen");
    this.nodeView = new NodeView();
    this.matcher = /** @type {MatcherBox} */ (byId("matcher"));
    this.screens = new Screens(byId("screens"), {
      onActive: (place) => this.activate(place), onHover: (node) => this.hover(node), onPick: (node) => this.pick(node, true),
    });
    this.steps = new StepList(byId("steps"), story, (entry) => this.select(entry));
    this.film = new FilmStrip(byId("film"), story, this.trees, (entry) => this.select(entry));
    this.log = new LogPanel(story);
    this.changes = new ChangesPanel({
      story, passed, treeOf: (ref) => this.treeOf(ref), partnerOf: (entry) => this.partner(entry),
      onDifferences: (found) => { this.differences = found; this.mark(); },
      onPick: (difference) => this.pickDifference(difference),
    });
    const names = story.actions.flatMap((entry) => entry.moments.flatMap((moment) => moment.tree ?? []));
    this.scan = new MatchScan(this.trees, names, (counts) => this.showFound(counts));
    this.tabs = this.makeTabs();
    this.keys = this.makeKeys();
    this.connect();
  }

  makeTabs() {
    const packed = (/** @type {number | null} */ place) => (place === null ? undefined : this.story.packed[place]);
    return new Tabs(byId("tabs"), byId("panels"), [
      { name: "error", title: this.story.errors.length > 1 ? "Errors" : "Error", fill: (panel) => fillErrors(panel, this.story) },
      { name: "tree", title: "Tree", fill: (panel) => this.fillTree(panel) },
      { name: "call", title: "Call", fill: (panel) => this.fillCall(panel) },
      { name: "payload", title: "Payload", fill: (panel) => this.fillPacked(panel, packed(this.entry?.payload ?? null), "Payload") },
      { name: "envelope", title: "Envelope", fill: (panel) => this.fillPacked(panel, packed(this.entry?.envelope ?? null), "Envelope") },
      { name: "log", title: "Log", fill: (panel) => { if (this.entry !== null) this.log.fill(panel, this.entry); } },
      { name: "changes", title: "Changes", fill: (panel) => { if (this.entry !== null) this.changes.fill(panel, this.entry.owner); } },
      { name: "about", title: "About", fill: (panel) => fillAbout(panel, this.story) },
    ], () => this.mark());
  }

  makeKeys() {
    const { tabs } = this.tabs;
    const numbers = Object.fromEntries(tabs.map(({ name }, place) => [String(place + 1), () => this.showTab(name)]));
    const passed = { shown: ["v"], does: "the last run that passed beside it", runs: { v: () => this.switchPassed() } };
    return new Keys([
      { shown: ["←", "→"], does: "the step before, the next step", runs: { ArrowLeft: () => this.walk(-1), ArrowRight: () => this.walk(1) } },
      { shown: ["e"], does: "the next step that failed", runs: { e: () => this.walkToFailure() } },
      { shown: ["b", "a"], does: "the screen before, after the step", runs: { b: () => this.activate(0), a: () => this.activate(1) } },
      ...(this.passed === null ? [] : [passed]),
      { shown: ["p"], does: "pictures, or boxes of the hierarchy", runs: { p: () => this.screens.switchBoxes() } },
      { shown: ["/"], does: "type a matcher", runs: { "/": () => this.focusMatcher() } },
      { shown: ["Enter", "Esc"], does: "in it: the next match, empty it" },
      { shown: ["s"], does: "the list of steps", runs: { s: () => this.focusSteps() } },
      { shown: ["↑", "↓", "←", "→"], does: "walk through steps and trees, close and open" },
      { shown: ["1", "–", String(tabs.length)], does: `the tabs, “${tabs[0].title}” to “${tabs[tabs.length - 1].title}”`, runs: numbers },
      { shown: ["t"], does: "light or dark", runs: { t: () => announce(`${switchTheme()} colours`) } },
      { shown: ["?"], does: "these keys", runs: { "?": () => this.keys.open() } },
    ]);
  }

  connect() {
    this.matcher.addEventListener("matcher-change", (event) => void this.scan.start(/** @type {CustomEvent} */ (event).detail));
    this.matcher.addEventListener("matches-change", () => this.mark());
    this.matcher.addEventListener("node-pick", (event) => this.pick(/** @type {CustomEvent} */ (event).detail, true));
    this.treeView.addEventListener("node-hover", (event) => { if (this.screens.view) this.screens.view.hovered = /** @type {CustomEvent} */ (event).detail; });
    this.treeView.addEventListener("node-pick", (event) => this.pick(/** @type {CustomEvent} */ (event).detail, false));
    this.nodeView.addEventListener("matcher-try", (event) => this.matcher.type(/** @type {CustomEvent} */ (event).detail));
    byId("theme").addEventListener("click", () => switchTheme());
    byId("help").addEventListener("click", () => this.keys.open());
    for (const button of byId("views").querySelectorAll("button")) {
      button.addEventListener("click", () => this.showView(button.dataset.view ?? "screen"));
    }
  }

  /** Shows the step that matters most: the one that failed, or the last. */
  begin() {
    const failed = this.story.actions.findLast((entry) => entry.failure !== null);
    this.tabs.show(this.story.errors.length > 0 ? "error" : "tree");
    this.showView("screen");
    const own = this.story.actions.findLast((entry) => !isInPhase(entry));
    const block = this.story.entries.findLast((one) => one.failure !== null); // such as a skill
    const entry = failed ?? own ?? block ?? this.story.actions.at(-1) ?? this.story.entries[0];
    if (entry !== undefined) this.select(entry);
    else this.tabs.change();
  }

  /**
   * @param {ShownEntry} entry
   * @param {number} [active] which of its screens the tree is about
   */
  select(entry, active) {
    const isOther = entry !== this.entry;
    this.entry = entry;
    if (!isOther && active === undefined) return;
    this.steps.select(entry);
    if (entry.isAction) this.film.select(entry.owner);
    this.shown = this.momentsOf(entry);
    const usual = entry.touch !== null || (entry.failure !== null && entry.before !== null) ? 0 : this.shown.findLastIndex((one) => !one.isPassed);
    this.screens.active = Math.max(0, Math.min(active ?? usual, this.shown.length - 1));
    this.tabs.change();
    void this.showScreens(active === undefined);
  }

  /**
   * @param {ShownEntry} entry
   * @returns {ShownMoment[]}
   */
  momentsOf(entry) {
    const acting = entry.isAction ? entry : firstActionIn(entry);
    if (acting === null || acting.moments.length === 0) return [];
    const last = acting.moments.length - 1;
    const own = [...new Set([0, last])].map((moment) => ({ entry: acting, moment, isPassed: false }));
    const partner = this.showsPassed ? this.partner(acting) : null;
    return partner === null || partner.moments.length === 0 ? own : [...own, { entry: partner, moment: partner.moments.length - 1, isPassed: true }];
  }

  /** @param {ShownEntry} entry */
  partner(entry) {
    return this.passed === null ? null : partnerOf(entry.owner, this.story.actions, this.passed.actions);
  }

  /** @param {ShownMoment} ref */
  treeOf(ref) {
    const name = ref.entry.moments[ref.moment]?.tree ?? null;
    return this.trees.get(name);
  }

  /**
   * Whether a picture shows another screen: it was taken of a hierarchy with other nodes.
   * @param {ShownMoment} ref
   * @param {import("../screen/tree.js").Tree | null} tree
   */
  async isPictureOlder(ref, tree) {
    const { pictured } = ref.entry.moments[ref.moment];
    const other = pictured === null || tree === null ? null : await this.trees.get(pictured);
    return other !== null && tree !== null && isOtherScreen(other, tree);
  }

  /** @param {boolean} [isFresh] whether the page chooses the screen that the tree is about */
  async showScreens(isFresh = false) {
    const turn = ++this.turn;
    const found = await Promise.all(this.shown.map((ref) => this.treeOf(ref)));
    const older = await Promise.all(this.shown.map((ref, place) => this.isPictureOlder(ref, found[place])));
    if (turn !== this.turn) return;
    const slots = this.shown.map((ref, place) => {
      const story = ref.isPassed ? this.passed ?? this.story : this.story;
      const moment = ref.entry.moments[ref.moment];
      const picture = moment.picture;
      const device = story.devices.find((one) => one.serial === ref.entry.serial) ?? null;
      return {
        moment, tree: found[place], isPassed: ref.isPassed, isOlder: older[place], label: ref.isPassed ? `Passed: ${moment.label.toLowerCase()}` : moment.label,
        uri: picture === null ? null : story.pictureUris.get(picture.name) ?? null,
        size: screenSize(picture, found[place], device?.size ?? null),
      };
    });
    const { active } = this.screens;
    // Where only the other screen has a hierarchy, that one can be searched.
    const chosen = found[active] === null && isFresh ? found.findIndex((tree) => tree !== null) : active;
    this.screens.show(slots, found[chosen] === undefined ? active : chosen);
    this.showTree(found[this.screens.active] ?? null);
  }

  /** @param {import("../screen/tree.js").Tree | null} tree */
  showTree(tree) {
    this.tree = tree;
    this.treeView.show(tree);
    if (this.tabs.current === "tree") this.fillTree(byId("panel-tree"));
    const touch = this.shown[this.screens.active]?.entry.moments[this.shown[this.screens.active].moment].touch ?? null;
    const touched = touch?.box ? tree?.nodes.findLast((node) => isBox(node.box, touch.box)) ?? null : null;
    this.pick(touched, true);
    this.matcher.show(tree);
  }

  /** @param {number} place */
  activate(place) {
    if (place >= this.shown.length || place === this.screens.active) return;
    this.screens.setActive(place);
    this.showTree(this.screens.slots[place]?.tree ?? null);
    this.mark();
  }

  /** @param {PickedNode | null} node */
  hover(node) {
    if (this.screens.view) this.screens.view.hovered = node;
    if (this.tabs.current === "tree") this.treeView.hovered = node;
    if (this.node === null) this.nodeView.show(node);
  }

  /**
   * @param {PickedNode | null} node
   * @param {boolean} isFromElsewhere whether the tree has to show it, too
   */
  pick(node, isFromElsewhere) {
    this.node = node;
    if (this.screens.view) this.screens.view.selected = node;
    if (isFromElsewhere) this.treeView.selected = node;
    this.nodeView.show(node);
    if (node !== null && isFromElsewhere && this.tabs.current !== "tree" && this.isPicking) this.tabs.show("tree");
  }

  /** Whether the user picks nodes, rather than steps. */
  get isPicking() {
    return document.activeElement === this.matcher.input || byId("screens").matches(":hover");
  }

  /** @param {import("../screen/difference.js").Difference} difference */
  pickDifference(difference) {
    for (const node of [difference.after, difference.before]) {
      const place = node === null ? -1 : this.screens.slots.findIndex((slot) => slot.tree === node.tree);
      if (node === null || place < 0) continue;
      this.activate(place);
      this.pick(node, true);
      return;
    }
  }

  /** Draws what the matcher finds, or what differs, on the screens. */
  mark() {
    const isComparing = this.tabs.current === "changes";
    this.treeView.setMatches(isComparing ? [] : this.matcher.found);
    for (const [place, { view }] of this.screens.places.entries()) {
      const tree = this.screens.slots[place]?.tree;
      /** @type {import("../parts/screen_view.js").Mark[]} */
      const marks = isComparing
        ? this.differences.flatMap(({ kind, before, after }) => [before, after].flatMap((node) => (node?.box && node.tree === tree ? { box: node.box, kind } : [])))
        : place === this.screens.active ? this.matcher.found.flatMap((node) => (node.box ? { box: node.box, kind: /** @type {const} */ ("match") } : [])) : [];
      view.setMarks(marks);
    }
  }

  /** @param {Map<string, number> | null} counts */
  showFound(counts) {
    const countOf = counts === null ? null : (/** @type {ShownEntry} */ entry) => {
      const found = entry.moments.flatMap(({ tree }) => (tree === null ? [] : counts.get(tree) ?? []));
      return found.length === 0 ? null : Math.max(...found);
    };
    this.steps.showFound(countOf);
    this.film.showFound(countOf);
  }

  /** @param {HTMLElement} panel */
  fillTree(panel) {
    if (this.tree?.problem) {
      showNothing(panel, this.tree.problem);
      panel.append(make("pre", { class: "code message" }, this.tree.source.slice(0, 2000)));
    } else if (this.tree === null) {
      showNothing(panel, "No hierarchy was kept for this moment.");
    } else if (this.treeView.parentElement !== panel) {
      panel.replaceChildren(this.treeView, this.nodeView);
    }
  }

  /** @param {HTMLElement} panel */
  async fillCall(panel) {
    const entry = this.entry;
    if (entry === null) return;
    const packed = entry.envelope === null ? undefined : this.story.packed[entry.envelope];
    const envelope = packed === undefined ? null : await unpack(packed);
    if (entry === this.entry) fillCall(panel, entry, { begin: this.story.begin, envelope, onMoment: (place) => this.showMoment(place) });
  }

  /**
   * Shows one check of an expectation beside the last.
   * @param {number} moment
   */
  showMoment(moment) {
    const entry = this.entry;
    if (entry === null || this.shown.length === 0) return;
    const last = entry.moments.length - 1;
    this.shown = [...new Set([moment, last])].map((one) => ({ entry, moment: one, isPassed: false }));
    this.screens.active = 0;
    void this.showScreens();
  }

  /**
   * @param {HTMLElement} panel
   * @param {string | undefined} text
   * @param {string} label
   */
  async fillPacked(panel, text, label) {
    const entry = this.entry;
    if (text === undefined) {
      showNothing(panel, `This step has no ${label.toLowerCase()}.`);
      return;
    }
    const value = await unpack(text);
    if (entry === this.entry) fillJson(panel, value, label);
  }

  /** @param {number} by */
  walk(by) {
    const { actions } = this.story;
    const at = this.entry === null ? -1 : actions.indexOf(this.entry.owner);
    const next = actions[Math.max(0, Math.min(actions.length - 1, at + by))];
    if (next !== undefined) this.select(next);
  }

  walkToFailure() {
    const { actions } = this.story;
    const at = this.entry === null ? -1 : actions.indexOf(this.entry.owner);
    const next = [...actions.slice(at + 1), ...actions.slice(0, at + 1)].find((entry) => entry.failure !== null);
    if (next !== undefined) this.select(next);
    else announce("No step failed");
  }

  switchPassed() {
    this.showsPassed = !this.showsPassed;
    if (this.entry !== null) this.select(this.entry, this.screens.active);
  }

  focusMatcher() {
    this.showView("screen");
    this.matcher.input.focus();
    this.matcher.input.select();
  }

  focusSteps() {
    this.showView("steps");
    const row = byId("steps").querySelector('[tabindex="0"]');
    if (row instanceof HTMLElement) row.focus();
  }

  /** @param {string} name */
  showTab(name) {
    this.showView("detail");
    this.tabs.show(name);
    byId(`tab-${name}`).focus();
  }

  /**
   * On a narrow window one part is seen at a time.
   * @param {string} view
   */
  showView(view) {
    document.body.dataset.view = view;
    for (const button of byId("views").querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.dataset.view === view));
    }
  }
}

/**
 * Whether it is part of set-up or teardown.
 * @param {ShownEntry} entry
 * @returns {boolean}
 */
function isInPhase(entry) {
  return entry.kind === "phase" || (entry.parent !== null && isInPhase(entry.parent));
}

/**
 * @param {ShownEntry} entry
 * @returns {ShownEntry | null}
 */
function firstActionIn(entry) {
  for (const child of entry.children) {
    const found = child.isAction ? child : firstActionIn(child);
    if (found !== null) return found;
  }
  return null;
}

/**
 * The size of the screen: a hierarchy may be that of a small window on it.
 * @param {import("./model.js").Picture | null} picture
 * @param {import("../screen/tree.js").Tree | null} tree
 * @param {{ width: number, height: number } | null} device in its natural position
 */
function screenSize(picture, tree, device) {
  if (picture !== null && picture.width > 0) return { width: picture.width, height: picture.height };
  const size = tree?.size ?? null;
  if (device === null || size === null) return device ?? size;
  const isTurned = tree?.isTurned && device.height > device.width;
  const turned = isTurned ? { width: device.height, height: device.width } : device;
  return { width: Math.max(turned.width, size.width), height: Math.max(turned.height, size.height) };
}

/**
 * @param {import("../screen/tree.js").Box | null} one
 * @param {import("../screen/tree.js").Box | null} other
 */
function isBox(one, other) {
  return one !== null && other !== null && one.left === other.left && one.top === other.top
    && one.right === other.right && one.bottom === other.bottom;
}
