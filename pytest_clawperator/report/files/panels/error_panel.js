// Why the test failed: each error with its code, hint, and the lines of the test.
import { copyButton, fill, make } from "../base/dom.js";
import { showNothing } from "./tabs.js";

/**
 * @param {HTMLElement} panel
 * @param {import("../viewer/model.js").Story} story
 */
export function fillErrors(panel, story) {
  if (story.errors.length === 0) {
    const why = story.reason === "" ? "" : ` ${story.reason}`;
    showNothing(panel, `The test ${story.outcome === "broken off" ? "was broken off; its trace has no error." : `${story.outcome}.`}${why}`);
    return;
  }
  fill(panel, ...story.errors.map((error) => make(
    "article", { class: "error" },
    failureBlock(error.failure, error.phase === "call" ? "" : `in ${error.phase}`),
    error.excerpt !== null && excerptBlock(error.excerpt),
    error.traceback !== "" && make(
      "details", {}, make("summary", {}, "Traceback"),
      make("div", { class: "with-copy" }, make("pre", { class: "code", tabindex: 0 }, error.traceback), copyButton(() => error.traceback, "Copy the traceback")),
    ),
  )));
}

/**
 * @param {import("../viewer/model.js").Failure} failure
 * @param {string} where
 */
export function failureBlock(failure, where) {
  return make(
    "div", { class: "failure" },
    make("p", { class: "kind" }, make("b", {}, failure.type || "Error"),
      failure.code !== "" && make("span", { class: "chip bad" }, failure.code), where !== "" && make("span", { class: "soft" }, where)),
    make("pre", { class: "message" }, failure.message),
    failure.hint !== "" && make("p", { class: "hint-line" }, failure.hint),
  );
}

/** @param {{ source: import("../viewer/model.js").Source, first: number, lines: string[] }} excerpt */
export function excerptBlock({ source, first, lines }) {
  return make(
    "figure", { class: "excerpt" },
    make("figcaption", {}, make("bdi", {}, `${source.file}:${source.line}`), source.function !== "" && make("span", { class: "soft" }, ` ${source.function}`)),
    make("pre", { class: "code", tabindex: 0 }, ...lines.map((line, place) => make(
      "span", { class: first + place === source.line ? "line here" : "line" },
      make("span", { class: "number", "aria-hidden": "true" }, first + place), `${line}\n`,
    ))),
  );
}
