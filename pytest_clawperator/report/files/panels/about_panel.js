// The test itself: its devices, environment, fixtures and files.
import { fill, make } from "../base/dom.js";
import { clockTime, counted, duration } from "../base/format.js";

/**
 * @param {HTMLElement} panel
 * @param {import("../viewer/model.js").Story} story
 */
export function fillAbout(panel, story) {
  fill(
    panel,
    section("Test", [
      ["test", story.nodeid], ["outcome", [story.outcome, story.reason].filter(Boolean).join(": ")],
      ["kind", story.isInfrastructure ? "a fault of the lab, not of the app" : ""],
      ["began", clockTime(story.begin)], ["took", duration(story.seconds)], ...story.about,
      ["unreadable", story.skipped > 0 ? counted(story.skipped, "line of the trace", "lines of the trace") : ""],
    ]),
    ...story.devices.map(({ serial, size, about }) => section("Device", [
      ["serial", serial], ["screen", size === null ? "" : `${size.width} × ${size.height}`], ...about,
    ])),
    section("Environment", [...story.environment]),
    section("Fixtures", story.fixtures.map(({ name, scope, stage, seconds, failure }) => [
      name, `${stage}, ${scope}, ${duration(seconds)}${failure === null ? "" : `: ${failure.type} ${failure.message}`}`,
    ])),
    story.artefacts.length > 0 && make(
      "section", {}, make("h2", {}, "Files"),
      make("ul", { class: "files" }, ...story.artefacts.map(({ name, path, href }) => make(
        "li", {}, href === "" ? make("bdi", {}, name || path) : make("a", { href, target: "_blank", rel: "noopener" }, make("bdi", {}, name || path)),
        make("span", { class: "soft" }, href === "" ? " (not beside this page)" : ""),
      ))),
    ),
  );
}

/**
 * @param {string} title
 * @param {[string, string][]} rows
 */
function section(title, rows) {
  const given = rows.filter(([, value]) => value !== "");
  if (given.length === 0) return null;
  return make(
    "section", {}, make("h2", {}, title),
    make("table", {}, make("tbody", {}, ...given.map(([name, value]) => make(
      "tr", {}, make("th", { scope: "row" }, make("bdi", {}, name)), make("td", {}, make("bdi", {}, value)),
    )))),
  );
}
