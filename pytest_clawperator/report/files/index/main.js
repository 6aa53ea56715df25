// Starts the index of a run.
import { byId, fill, icon, make } from "../base/dom.js";
import { clip, clockTime, counted, duration } from "../base/format.js";
import { startTheme, switchTheme } from "../base/theme.js";
import { Keys } from "../viewer/keys.js";
import { makeLanes } from "./lanes.js";
import { classOf, countOutcomes, lengthOf, OUTCOMES, ORDERS } from "./results.js";
import { TestList } from "./test_list.js";

/** @typedef {import("./results.js").Results} Results */
/** @typedef {import("./results.js").Test} Test */

class RunIndex {
  /** @param {Results} results */
  constructor(results) {
    this.results = results;
    this.list = new TestList(results.tests);
    /** @type {Set<string>} */
    this.outcomes = new Set();
    /** @type {Set<Test> | null} */
    this.group = null;
    this.search = make("input", { type: "search", class: "field", placeholder: "Search tests, errors, devices, markers", "aria-label": "Search" });
    this.device = makeSelect("Device", ["", ...devicesIn(results)], (one) => one || "all devices");
    this.order = makeSelect("Order", [...ORDERS.keys()], (one) => `by ${one}`);
    this.lanes = makeLanes(results, (test) => this.list.show(test));
  }

  begin() {
    this.showHead();
    this.showGroups();
    const lanesTitle = make("h2", { id: "lanes-title" }, "Devices over time", make("span", { class: "soft count" }, counted(this.lanes.count, "lane")));
    fill(byId("lanes"), lanesTitle, make("div", { class: "tracks", role: "group", "aria-label": "Lanes", tabindex: 0 }, ...this.lanes.elements));
    const outcomes = make("div", { class: "outcomes", role: "group", "aria-label": "Outcomes" }, ...this.outcomeButtons());
    fill(
      byId("tests"), make("h2", { id: "tests-title" }, "Tests"), outcomes,
      make("div", { class: "filter" }, this.search, this.device, this.order, this.list.count), this.list.element,
    );
    for (const field of [this.search, this.device]) field.addEventListener("input", () => this.apply());
    this.order.addEventListener("input", () => this.list.sort(this.order.value));
    this.list.sort(this.order.value);
    this.apply();
    this.listen();
  }

  showHead() {
    const { name, runs, tests } = this.results;
    fill(byId("name"), clip(name, 200));
    const began = runs.length === 1 && runs[0].start > 0 ? clockTime(runs[0].start) : "";
    const facts = [began, counted(tests.length, "test"), duration(lengthOf(tests)), counted(devicesIn(this.results).length, "device")];
    const environment = runs.length === 1 ? Object.entries(runs[0].environment).map(([key, value]) => clip(`${key} ${value}`, 60)) : [];
    fill(byId("facts"), [...facts, ...environment].filter(Boolean).join("  ·  "));
    fill(byId("theme"), icon("moon"));
  }

  outcomeButtons() {
    const counts = countOutcomes(this.results.tests);
    return [...OUTCOMES].filter(([outcome]) => counts.has(outcome)).map(([outcome, shape]) => {
      const button = make("button", { type: "button", class: `outcome ${classOf(outcome)}`, "aria-pressed": "false" }, icon(shape), `${counts.get(outcome)?.toLocaleString("en")} ${outcome}`);
      button.dataset.outcome = outcome;
      button.addEventListener("click", () => this.toggle(outcome));
      return button;
    });
  }

  showGroups() {
    const { tests, groups } = this.results;
    if (groups.length === 0) return;
    const similar = byId("similar");
    similar.hidden = false;
    const buttons = groups.map((places) => {
      const found = places.map((place) => tests[place]);
      const [first] = found;
      const devices = new Set(found.flatMap((test) => test.devices ?? []));
      const where = [counted(new Set(found.map((test) => test.nodeid)).size, "test"), devices.size > 0 ? counted(devices.size, "device") : "", clip(first.nodeid, 200)];
      const button = make(
        "button", { type: "button", class: "group", "aria-pressed": "false" },
        make("span", { class: "times" }, `${found.length} ×`),
        make("span", { class: "message code" }, [first.code ? `${first.code}: ` : "", clip(first.message ?? "", 240)].join("")),
        make("span", { class: "soft" }, where.filter(Boolean).join("  ·  ")),
      );
      button.addEventListener("click", () => this.chooseGroup(button, new Set(found)));
      return button;
    });
    fill(similar, make("h2", { id: "similar-title" }, "Similar failures", make("span", { class: "soft count" }, counted(groups.length, "group"))), make("div", { class: "groups" }, ...buttons));
  }

  /**
   * @param {HTMLElement} button
   * @param {Set<Test>} tests
   */
  chooseGroup(button, tests) {
    const isOn = button.getAttribute("aria-pressed") === "true";
    for (const one of byId("similar").querySelectorAll(".group")) one.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", String(!isOn));
    this.group = isOn ? null : tests;
    this.apply();
  }

  /** @param {string} outcome */
  toggle(outcome) {
    if (!this.outcomes.delete(outcome)) this.outcomes.add(outcome);
    this.apply();
  }

  apply() {
    const device = this.device.value;
    this.list.filter({
      words: this.search.value,
      fits: (test) => (this.outcomes.size === 0 || this.outcomes.has(test.outcome))
        && (device === "" || (test.devices ?? []).includes(device))
        && (this.group === null || this.group.has(test)),
    });
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (byId("tests").querySelectorAll("[data-outcome]"))) {
      button.setAttribute("aria-pressed", String(this.outcomes.has(button.dataset.outcome ?? "")));
    }
    for (const [test, bars] of this.lanes.bars) {
      for (const bar of bars) bar.classList.toggle("out", !this.list.shown.has(test));
    }
  }

  clear() {
    this.search.value = "";
    this.device.value = "";
    this.outcomes.clear();
    this.group = null;
    for (const one of byId("similar").querySelectorAll(".group")) one.setAttribute("aria-pressed", "false");
    this.apply();
  }

  listen() {
    const theme = () => { switchTheme(); };
    const keys = new Keys([
      { shown: ["/"], does: "Search", runs: { "/": () => this.search.focus() } },
      { shown: ["j", "k"], does: "The next and the previous test", runs: { j: () => this.list.move(1), k: () => this.list.move(-1) } },
      { shown: ["↑", "↓", "Enter"], does: "Walk through the tests, and open one" },
      { shown: ["f"], does: "Only failures", runs: { f: () => this.toggle("failed") } },
      { shown: ["Esc"], does: "Show all tests", runs: { Escape: () => this.clear() } },
      { shown: ["t"], does: "Light or dark", runs: { t: theme } },
      { shown: ["?"], does: "These keys", runs: { "?": () => keys.open() } },
    ]);
    byId("help").addEventListener("click", () => keys.open());
    byId("theme").addEventListener("click", theme);
  }
}

/** @param {Results} results */
function devicesIn({ tests }) {
  return [...new Set(tests.flatMap((test) => test.devices ?? []))].sort();
}

/**
 * @param {string} label
 * @param {string[]} values
 * @param {(value: string) => string} shown
 */
function makeSelect(label, values, shown) {
  return make("select", { class: "field", "aria-label": label }, ...values.map((value) => make("option", { value }, shown(value))));
}

startTheme();
new RunIndex(JSON.parse(byId("data").textContent ?? "{}")).begin();
