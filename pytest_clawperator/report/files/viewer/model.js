// What happened in a test, put in order: entries with their moments, made of the trace's events.
import { finish } from "./moments.js";
import { bag, listIn, numberIn, numbersIn, textIn, textsOf } from "./values.js";

/**
 * @typedef {{ file: string, line: number, function: string, text: string }} Source
 * @typedef {{ type: string, message: string, code: string, hint: string }} Failure
 * @typedef {{ box: import("../screen/tree.js").Box | null, point: { x: number, y: number } | null }} Touch
 * @typedef {{ name: string, at: number, serial: string, execution: number | null, width: number, height: number }} Picture
 * @typedef {{ label: string, at: number, tree: string | null, picture: Picture | null, pictured: string | null, isPictureEarlier: boolean, touch: Touch | null, note: string }} Moment
 * `pictured` is the hierarchy that the picture was taken of, where that is another one;
 * `isPictureEarlier`: the picture is of an earlier step, and the screen may have changed since.
 * @typedef {{ at: number, text: string, isBad?: boolean, moment?: number }} Remark
 * @typedef {"step" | "phase" | "fixture" | "execution" | "expectation"} EntryKind
 * @typedef {{ name: string, path: string, mime: string, href: string }} Artefact
 * @typedef {{ phase: string, failure: Failure, excerpt: { source: Source, first: number, lines: string[] } | null, traceback: string }} TraceError
 * @typedef {{ name: string, scope: string, stage: string, seconds: number, failure: Failure | null }} Fixture
 * @typedef {{ serial: string, size: { width: number, height: number } | null, about: Map<string, string> }} Device
 */

/** One line of the list of steps. */
export class Entry {
  /**
   * @param {EntryKind} kind
   * @param {number | null} id
   * @param {string} title
   * @param {number} at
   */
  constructor(kind, id, title, at) {
    this.kind = kind;
    this.id = id;
    this.title = title;
    this.at = at;
    this.seconds = 0;
    this.isDone = false;
    /** @type {Entry | null} */
    this.parent = null;
    /** @type {Entry[]} */
    this.children = [];
    this.depth = 0;
    /** The id of the entry that contains it, which may come later. @type {number | null} */
    this.within = null;
    this.serial = "";
    /** @type {Source | null} */
    this.source = null;
    /** @type {Failure | null} */
    this.failure = null;
    /** @type {Moment[]} */
    this.moments = [];
    /** @type {Remark[]} */
    this.remarks = [];
    /** @type {number | null} */
    this.payload = null;
    /** @type {number | null} */
    this.envelope = null;
    /** @type {Touch | null} */
    this.touch = null;
    /** @type {string | null} */
    this.before = null;
    /** @type {string | null} */
    this.after = null;
  }

  /** Whether something was done or looked at in it, so that it has moments. */
  get isAction() {
    return this.kind === "execution" || this.kind === "expectation";
  }

  /** Whether it is an execution that only takes a snapshot, as many do between two actions. */
  get isSnapshot() {
    return this.kind === "execution" && this.title === "snapshot_ui";
  }

  /**
   * The step that it belongs to: an execution of an expectation to that, others to themselves.
   * @returns {Entry}
   */
  get owner() {
    return this.parent?.kind === "expectation" ? this.parent : this;
  }

  get end() {
    return this.at + this.seconds;
  }
}

/** A line of the device's log, with the execution during which it was written. */
/** @typedef {{ at: number, text: string, level: string, execution: number | null }} LogLine */

/** A whole trace, ready to be shown. */
export class Story {
  /**
   * @param {unknown} contents as `contents.py` makes them
   * @param {unknown} shared hierarchies and pictures of all traces of the page
   */
  constructor(contents, shared) {
    const given = bag(contents);
    this.trees = textsOf(bag(shared).trees);
    this.pictureUris = textsOf(bag(shared).pictures);
    this.packed = listIn(given, "packed").map(String);
    this.skipped = numberIn(given, "skipped") ?? 0;
    this.nodeid = "";
    this.begin = 0;
    this.seconds = 0;
    this.outcome = "broken off";
    this.reason = "";
    this.isInfrastructure = false;
    /** @type {Map<string, string>} */
    this.about = new Map();
    /** @type {Map<string, string>} */
    this.environment = new Map();
    /** @type {Device[]} */
    this.devices = [];
    /** @type {Entry[]} */
    this.entries = [];
    /** @type {Entry[]} */
    this.actions = [];
    /** @type {Picture[]} */
    this.pictures = [];
    /** @type {LogLine[]} */
    this.log = [];
    /** @type {TraceError[]} */
    this.errors = [];
    /** @type {Fixture[]} */
    this.fixtures = [];
    /** @type {Artefact[]} */
    this.artefacts = [];
    readEvents(this, listIn(given, "events").map(bag));
    finish(this);
  }
}

/**
 * @param {Story} story
 * @param {import("./values.js").Bag[]} events
 */
function readEvents(story, events) {
  /** @type {Map<number, Entry>} */
  const known = new Map();
  /** @type {Entry | null} */
  let phase = null;
  /** @type {Entry | null} */
  let last = null;
  for (const event of events) {
    const at = numberIn(event, "at") ?? 0;
    const kind = textIn(event, "kind");
    const entry = startedEntry(event, kind, at);
    if (entry !== null) {
      const parent = known.get(numberIn(event, "parent") ?? NaN) ?? null;
      place(story, entry, parent?.kind === "step" ? parent : phase);
      if (entry.id !== null) known.set(entry.id, entry);
      last = entry;
    } else if (kind === "phase") {
      phase = phaseEntry(story, textIn(event, "name"), at);
    } else if (kind === "step-end" || kind === "execution-end") {
      const ended = known.get(numberIn(event, "id") ?? NaN);
      if (ended !== undefined) endEntry(ended, event);
    } else if (kind === "fixture") {
      fixtureEntry(story, event, at, phase);
    } else if (kind === "note") {
      const about = known.get(numberIn(event, "execution") ?? NaN) ?? last;
      about?.remarks.push({ at, text: textIn(event, "message") });
    } else {
      readAbout(story, event, kind, at);
    }
  }
}

/**
 * @param {import("./values.js").Bag} event
 * @param {string} kind
 * @param {number} at
 * @returns {Entry | null}
 */
function startedEntry(event, kind, at) {
  if (kind !== "step" && kind !== "execution" && kind !== "expectation") return null;
  const entry = new Entry(kind, numberIn(event, "id"), textIn(event, "title"), at);
  entry.source = sourceOf(event.source);
  entry.serial = textIn(event, "serial");
  entry.within = numberIn(event, "parent");
  if (kind === "execution") entry.payload = numberIn(event, "payload");
  if (kind === "expectation") endExpectation(entry, event, at);
  return entry;
}

/**
 * @param {Entry} entry
 * @param {import("./values.js").Bag} event
 * @param {number} at
 */
function endExpectation(entry, event, at) {
  entry.seconds = Math.max(0, numberIn(event, "seconds") ?? 0);
  entry.at = at - entry.seconds;
  entry.isDone = true;
  entry.failure = failureOf(event.failure);
  const polls = listIn(event, "polls").map(bag);
  for (const [place, poll] of polls.entries()) {
    const looked = numberIn(poll, "at") ?? at;
    const found = textIn(poll, "found");
    entry.moments.push({
      label: polls.length === 1 ? "Check" : `Check ${place + 1} of ${polls.length}`, at: looked,
      tree: textIn(poll, "tree") || null, picture: null, pictured: null, isPictureEarlier: false, touch: null, note: found,
    });
    entry.remarks.push({ at: looked, text: found === "" ? "looked" : `found ${found}`, moment: place });
  }
}

/**
 * @param {Story} story
 * @param {Entry} entry
 * @param {Entry | null} parent
 */
function place(story, entry, parent) {
  entry.parent = parent;
  entry.depth = parent === null ? 0 : parent.depth + 1;
  if (parent !== null) parent.children.push(entry);
  story.entries.push(entry);
}

/**
 * Setup and teardown are entries of their own; what the test does itself stands at the margin.
 * @param {Story} story
 * @param {string} name
 * @param {number} at
 * @returns {Entry | null}
 */
function phaseEntry(story, name, at) {
  if (name === "call" || name === "") return null;
  const entry = new Entry("phase", null, name, at);
  place(story, entry, null);
  return entry;
}

/**
 * @param {Story} story
 * @param {import("./values.js").Bag} event
 * @param {number} at
 * @param {Entry | null} phase
 */
function fixtureEntry(story, event, at, phase) {
  const seconds = numberIn(event, "seconds") ?? 0;
  const fixture = {
    name: textIn(event, "name"), scope: textIn(event, "scope"), stage: textIn(event, "stage"),
    seconds, failure: failureOf(event.failure),
  };
  story.fixtures.push(fixture);
  const entry = new Entry("fixture", null, fixture.name, at - seconds);
  entry.seconds = seconds;
  entry.isDone = true;
  entry.failure = fixture.failure;
  place(story, entry, phase);
}

/**
 * @param {Entry} entry
 * @param {import("./values.js").Bag} event
 */
function endEntry(entry, event) {
  entry.seconds = Math.max(0, numberIn(event, "seconds") ?? 0);
  entry.isDone = true;
  entry.failure = failureOf(event.failure);
  entry.envelope = numberIn(event, "envelope");
  entry.before = textIn(event, "before") || null;
  entry.after = textIn(event, "after") || null;
  entry.touch = touchOf(event.touch);
}

/**
 * @param {Story} story
 * @param {import("./values.js").Bag} event
 * @param {string} kind
 * @param {number} at
 */
function readAbout(story, event, kind, at) {
  if (kind === "trace") readHead(story, event, at);
  else if (kind === "device") story.devices.push(deviceOf(event));
  else if (kind === "picture") readPicture(story, event, at);
  else if (kind === "log") readLog(story, event, at);
  else if (kind === "error") story.errors.push(errorOf(event));
  else if (kind === "artefact") {
    story.artefacts.push({
      name: textIn(event, "name"), path: textIn(event, "path"), mime: textIn(event, "mime"),
      href: textIn(event, "href"),
    });
  } else if (kind === "outcome") {
    story.outcome = textIn(event, "outcome") || "unknown";
    story.reason = textIn(event, "reason");
    story.seconds = numberIn(event, "seconds") ?? 0;
    story.isInfrastructure = event.is_infrastructure === true;
  }
}

/**
 * @param {Story} story
 * @param {import("./values.js").Bag} event
 * @param {number} at
 */
function readHead(story, event, at) {
  story.nodeid = textIn(event, "nodeid");
  story.begin = at;
  for (const name of ["attempt", "run", "worker"]) {
    if (textIn(event, name) !== "") story.about.set(name, textIn(event, name));
  }
  story.environment = textsOf(event.environment);
}

/**
 * @param {Story} story
 * @param {import("./values.js").Bag} event
 * @param {number} at
 */
function readPicture(story, event, at) {
  const name = textIn(event, "blob");
  const [width, height] = numbersIn(event, "size", 2) ?? [0, 0];
  const scale = numberIn(event, "scale") || 1;
  if (!story.pictureUris.has(name)) return;
  story.pictures.push({
    name, at, serial: textIn(event, "serial"), execution: numberIn(event, "execution"),
    width: width / scale, height: height / scale,
  });
}

const THREADTIME = /^\d\d-\d\d \d\d:\d\d:\d\d\.\d+ +\d+ +\d+ ([VDIWEFA]) /;

/**
 * @param {Story} story
 * @param {import("./values.js").Bag} event
 * @param {number} at
 */
function readLog(story, event, at) {
  const execution = numberIn(event, "execution");
  for (const line of listIn(event, "lines")) {
    const text = String(line);
    const level = THREADTIME.exec(text.slice(0, 60))?.[1] ?? "";
    story.log.push({ at, text, level, execution });
  }
}

/**
 * @param {import("./values.js").Bag} event
 * @returns {Device}
 */
function deviceOf(event) {
  const size = numbersIn(event, "size", 2);
  return {
    serial: textIn(event, "serial"), about: textsOf(event.about),
    size: size === null ? null : { width: size[0], height: size[1] },
  };
}

/**
 * @param {import("./values.js").Bag} event
 * @returns {TraceError}
 */
function errorOf(event) {
  const excerpt = bag(event.excerpt);
  const source = sourceOf(excerpt.source);
  return {
    phase: textIn(event, "phase"), traceback: textIn(event, "traceback"),
    failure: failureOf(event.failure) ?? { type: "", message: "", code: "", hint: "" },
    excerpt: source === null ? null
      : { source, first: numberIn(excerpt, "first") ?? 1, lines: listIn(excerpt, "lines").map(String) },
  };
}

/**
 * @param {unknown} value
 * @returns {Source | null}
 */
function sourceOf(value) {
  const given = bag(value);
  if (textIn(given, "file") === "") return null;
  return {
    file: textIn(given, "file"), line: numberIn(given, "line") ?? 0,
    function: textIn(given, "function"), text: textIn(given, "text"),
  };
}

/**
 * @param {unknown} value
 * @returns {Failure | null}
 */
function failureOf(value) {
  const given = bag(value);
  if (Object.keys(given).length === 0) return null;
  return {
    type: textIn(given, "type"), message: textIn(given, "message"), code: textIn(given, "code"),
    hint: textIn(given, "hint"),
  };
}

/**
 * @param {unknown} value
 * @returns {Touch | null}
 */
function touchOf(value) {
  const given = bag(value);
  const box = numbersIn(given, "bounds", 4), point = numbersIn(given, "point", 2);
  if (box === null && point === null) return null;
  return {
    box: box === null ? null : { left: box[0], top: box[1], right: box[2], bottom: box[3] },
    point: point === null ? null : { x: point[0], y: point[1] },
  };
}
