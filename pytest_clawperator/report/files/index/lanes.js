// The tests of each device over time.
import { make } from "../base/dom.js";
import { counted, duration } from "../base/format.js";
import { classOf, countOutcomes, lanesOf, lengthOf } from "./results.js";

/** @typedef {import("./results.js").Results} Results */
/** @typedef {import("./results.js").Test} Test */

/**
 * Makes the lanes; `onChoose` is called with the test whose bar was clicked.
 * @param {Results} results
 * @param {(test: Test) => void} onChoose
 */
export function makeLanes(results, onChoose) {
  const whole = lengthOf(results.tests) || 1;
  /** @type {Map<Test, HTMLElement[]>} */
  const bars = new Map();
  const rows = lanesOf(results).map(({ who, serial, tests }) => {
    const about = results.devices[serial] ?? {};
    const model = about.model ?? "";
    const track = make("div", { class: "track", role: "img", "aria-label": laneText(who, tests) });
    for (const test of tests) {
      const bar = makeBar(test, whole);
      bar.addEventListener("click", () => onChoose(test));
      bars.set(test, [...(bars.get(test) ?? []), bar]);
      track.append(bar);
    }
    return make("div", { class: "lane" }, make("div", { class: "who", title: [who, model].filter(Boolean).join(", ") }, who, model && make("span", { class: "soft" }, ` ${model}`)), track);
  });
  const clock = make("div", { class: "clock soft", "aria-hidden": "true" }, ...[0, 0.25, 0.5, 0.75, 1].map((part) => make("span", {}, duration(whole * part))));
  return { elements: [...rows, clock], bars, count: rows.length };
}

/**
 * @param {Test} test
 * @param {number} whole
 */
function makeBar(test, whole) {
  const title = `${test.nodeid}\n${test.outcome}, ${duration(test.seconds ?? 0)}`;
  const bar = make("div", { class: `bar ${classOf(test.outcome)}`, title });
  bar.style.left = `${((test.start ?? 0) / whole) * 100}%`;
  bar.style.width = `${((test.seconds ?? 0) / whole) * 100}%`;
  return bar;
}

/**
 * @param {string} who
 * @param {Test[]} tests
 */
function laneText(who, tests) {
  const counts = [...countOutcomes(tests)].map(([outcome, count]) => `${count} ${outcome}`);
  const busy = tests.reduce((sum, test) => sum + (test.seconds ?? 0), 0);
  return `${who}: ${counted(tests.length, "test")}, ${counts.join(", ")}; busy for ${duration(busy)}`;
}
