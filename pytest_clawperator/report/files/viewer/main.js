// Starts the page of a trace.
import { byId, fill, icon } from "../base/dom.js";
import { clip, duration } from "../base/format.js";
import { startTheme } from "../base/theme.js";
import { Story } from "./model.js";
import { unpack } from "./packed.js";
import { Viewer } from "./viewer.js";

const OUTCOME_ICONS = new Map([["passed", "check"], ["failed", "cross"], ["error", "broken"], ["skipped", "skip"]]);

/** @param {Story} story */
function showHead(story) {
  const [file, ...names] = story.nodeid.split("::");
  const outcome = byId("outcome");
  fill(outcome, icon(OUTCOME_ICONS.get(story.outcome) ?? "broken"), clip(story.outcome, 40));
  outcome.classList.add(OUTCOME_ICONS.has(story.outcome) ? story.outcome : "error");
  const test = byId("test");
  fill(test, clip(names.join(" › ") || file, 300));
  test.title = clip(story.nodeid, 1000);
  const devices = story.devices.map(({ serial, about }) => [about.get("model"), serial].filter(Boolean).join(", "));
  const attempt = story.about.get("attempt") ?? "1";
  const facts = [names.length > 0 ? file : "", duration(story.seconds), ...devices, attempt === "1" ? "" : `attempt ${attempt}`];
  fill(byId("facts"), facts.filter(Boolean).map((one) => clip(one, 120)).join("  ·  "));
  fill(byId("theme"), icon("moon"));
}

startTheme();
const given = JSON.parse(byId("data").textContent ?? "{}");
const shownStory = new Story(given.trace, given);
showHead(shownStory);
const passedStory = given.passed === null ? null : new Story(await unpack(given.passed), given);
const viewer = new Viewer(shownStory, passedStory);
viewer.begin();
