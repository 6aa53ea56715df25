// The data of the index: tests, their outcomes, devices and groups; no elements.

/**
 * @typedef {{
 *   nodeid: string, outcome: string, attempt?: number, run: number, worker?: string,
 *   devices?: string[], start?: number, seconds?: number, phases?: Record<string, number>,
 *   message?: string, code?: string, phase?: string, is_infrastructure?: boolean,
 *   page?: string, folder?: string, markers?: string[],
 * }} Test
 */
/** @typedef {{ name: string, start: number, environment: Record<string, string> }} RunAbout */
/**
 * @typedef {{
 *   name: string, runs: RunAbout[], devices: Record<string, Record<string, string>>,
 *   tests: Test[], groups: number[][],
 * }} Results
 */

/** The outcomes, what needs attention first, and their pictures. */
export const OUTCOMES = new Map([
  ["failed", "cross"], ["error", "broken"], ["broken off", "broken"], ["rerun", "group"],
  ["xpassed", "check"], ["passed", "check"], ["xfailed", "skip"], ["skipped", "skip"],
]);

/** @param {string} outcome */
export function classOf(outcome) {
  return outcome.replace(" ", "-");
}

/**
 * The devices of a test as one text.
 * @param {Test} test
 */
export function devicesOf(test) {
  return (test.devices ?? []).join(", ");
}

/**
 * The text that a search covers.
 * @param {Test} test
 */
export function searchedText(test) {
  return [test.nodeid, test.outcome, devicesOf(test), test.worker, test.code, test.message, ...(test.markers ?? [])]
    .filter(Boolean).join("\n").toLowerCase();
}

const RANKS = new Map([...OUTCOMES.keys()].map((name, place) => [name, place]));

/** @type {Map<string, (a: Test, b: Test) => number>} */
export const ORDERS = new Map([
  ["outcome", (a, b) => (RANKS.get(a.outcome) ?? 0) - (RANKS.get(b.outcome) ?? 0)],
  ["duration", (a, b) => (b.seconds ?? 0) - (a.seconds ?? 0)],
  ["time", (a, b) => a.run - b.run || (a.start ?? 0) - (b.start ?? 0)],
  ["device", (a, b) => devicesOf(a).localeCompare(devicesOf(b))],
  ["name", (a, b) => a.nodeid.localeCompare(b.nodeid)],
]);

/**
 * The tests of each device of each run, in the order of their names.
 * @param {Results} results
 * @returns {{ who: string, serial: string, run: number, tests: Test[] }[]}
 */
export function lanesOf({ tests, runs }) {
  const lanes = new Map();
  for (const test of tests) {
    for (const serial of test.devices ?? [""]) {
      const key = JSON.stringify([test.run, serial]);
      const name = serial || "no device";
      const who = runs.length > 1 ? `${name}, ${runs[test.run].name}` : name;
      if (!lanes.has(key)) lanes.set(key, { who, serial, run: test.run, tests: [] });
      lanes.get(key).tests.push(test);
    }
  }
  return [...lanes.values()].sort((a, b) => Number(!a.serial) - Number(!b.serial) || a.who.localeCompare(b.who));
}

/**
 * How long the longest of the runs took.
 * @param {Test[]} tests
 */
export function lengthOf(tests) {
  return tests.reduce((most, test) => Math.max(most, (test.start ?? 0) + (test.seconds ?? 0)), 0);
}

/**
 * How many tests had each outcome.
 * @param {Iterable<Test>} tests
 */
export function countOutcomes(tests) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { outcome } of tests) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return counts;
}
