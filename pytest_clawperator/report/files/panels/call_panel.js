// What one step did: where it was called, what it looked at, and what came of it.
import { fill, make } from "../base/dom.js";
import { clip, duration } from "../base/format.js";
import { bag, listIn, textIn } from "../viewer/values.js";
import { failureBlock } from "./error_panel.js";

/**
 * @param {HTMLElement} panel
 * @param {import("../viewer/model.js").Entry} entry
 * @param {{ begin: number, envelope: unknown, onMoment: (place: number) => void }} about
 */
export function fillCall(panel, entry, { begin, envelope, onMoment }) {
  const { source } = entry;
  fill(
    panel,
    make("h2", { class: "call-title code" }, make("bdi", {}, clip(entry.title, 1000))),
    source !== null && make(
      "p", { class: "source" }, make("bdi", { class: "code" }, source.text || source.function),
      make("span", { class: "soft" }, `${source.file}:${source.line}`),
    ),
    make("dl", { class: "facts" }, ...facts(entry, begin)),
    entry.failure !== null && failureBlock(entry.failure, ""),
    callLog(entry, begin, envelope, onMoment),
  );
}

/**
 * @param {import("../viewer/model.js").Entry} entry
 * @param {number} begin
 */
function facts(entry, begin) {
  /** @type {[string, string][]} */
  const rows = [
    ["began", `+${duration(entry.at - begin)}`],
    ["took", entry.isDone || entry.kind === "phase" ? duration(entry.seconds) : "it did not end"],
    ["device", entry.serial],
  ];
  return rows.filter(([, value]) => value !== "").map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
}

/**
 * @param {import("../viewer/model.js").Entry} entry
 * @param {number} begin
 * @param {unknown} envelope
 * @param {(place: number) => void} onMoment
 */
function callLog(entry, begin, envelope, onMoment) {
  /** @type {import("../viewer/model.js").Remark[]} */
  const all = [...entry.remarks, ...stepRemarks(entry, envelope)].sort((one, other) => one.at - other.at);
  const remarks = withoutRepeats(all);
  if (remarks.length === 0) return null;
  return make(
    "ol", { class: "call-log", "aria-label": "Call log" },
    ...remarks.map(({ at, text, isBad, moment }) => make(
      "li", { class: isBad ? "bad" : "" }, make("span", { class: "when" }, `+${duration(at - begin)}`),
      moment === undefined
        ? make("bdi", {}, clip(text, 600))
        : make("button", { type: "button", class: "link", title: "Show this moment", onclick: () => onMoment(moment) }, make("bdi", {}, clip(text, 600))),
    )),
  );
}

/**
 * Equal lines in a row become one, with a count.
 * @param {import("../viewer/model.js").Remark[]} remarks
 * @returns {import("../viewer/model.js").Remark[]}
 */
function withoutRepeats(remarks) {
  const firsts = remarks.filter((one, place) => one.text !== remarks[place - 1]?.text);
  return firsts.map((one, place) => {
    const next = firsts[place + 1];
    const count = (next === undefined ? remarks.length : remarks.indexOf(next)) - remarks.indexOf(one);
    return count === 1 ? one : { ...one, text: `${one.text}, ${count} times` };
  });
}

/**
 * The steps of an envelope, as they were reported at its end.
 * @param {import("../viewer/model.js").Entry} entry
 * @param {unknown} envelope
 * @returns {import("../viewer/model.js").Remark[]}
 */
function stepRemarks(entry, envelope) {
  return listIn(bag(envelope), "stepResults").map((result) => {
    const step = bag(result), data = bag(step.data);
    const isBad = step.success === false;
    const why = isBad ? textIn(data, "error") || textIn(data, "message") : "";
    return {
      at: entry.end, isBad,
      text: [textIn(step, "actionType"), isBad ? "failed" : "succeeded", why && `: ${why}`].filter(Boolean).join(" "),
    };
  });
}
