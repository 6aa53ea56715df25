// The steps of a story in their order, and the screens that each of them began and ended with.

/**
 * @typedef {import("./model.js").Story} TracedStory
 * @typedef {import("./model.js").Entry} TracedEntry
 * @typedef {import("./model.js").Picture} TracedPicture
 */

/**
 * Orders the steps, and finds the screens of each.
 * @param {TracedStory} story
 */
export function finish(story) {
  // An expectation is written when it ends; in the list it stands where it began.
  nestLooks(story);
  const ofExpectations = story.entries.filter((entry) => entry.isAction && entry.owner !== entry);
  story.actions = story.entries.filter((entry) => entry.isAction && entry.owner === entry).sort((one, other) => one.at - other.at);
  datePictures(story);
  for (const [at, entry] of story.actions.entries()) {
    addMoments(story, entry, story.actions[at - 1] ?? null, story.actions[at + 1] ?? null);
  }
  for (const entry of ofExpectations) addMoments(story, entry, null, null);
  markOlderPictures(story);
  for (const entry of [...story.entries].reverse()) closeEntry(entry);
  const last = story.actions.at(-1);
  if (story.seconds === 0 && last !== undefined) story.seconds = last.end - story.begin;
}

/**
 * A picture is written when the device has sent it; it shows the screen that its execution left.
 * @param {TracedStory} story
 */
function datePictures(story) {
  const ends = new Map(story.entries.map((entry) => [entry.id, entry.end]));
  for (const picture of story.pictures) {
    if (picture.execution !== null) picture.at = ends.get(picture.execution) ?? picture.at;
  }
  story.pictures.sort((one, other) => one.at - other.at);
}

/**
 * Puts what an expectation executed into it: it is written when it ends, after them.
 * @param {TracedStory} story
 */
function nestLooks(story) {
  const expectations = new Map(story.entries.filter((entry) => entry.kind === "expectation").map((entry) => [entry.id, entry]));
  for (const entry of story.entries) {
    const around = entry.kind === "execution" && entry.within !== null ? expectations.get(entry.within) : undefined;
    if (around === undefined) continue;
    const siblings = entry.parent?.children;
    siblings?.splice(siblings.indexOf(entry), 1);
    entry.parent = around;
    entry.depth = around.depth + 1;
    around.children.push(entry);
  }
}

/**
 * A phase lasts as long as what is in it; so does a block whose test was killed.
 * @param {TracedEntry} entry
 */
function closeEntry(entry) {
  if (entry.isDone || entry.children.length === 0) return;
  const ends = entry.children.map((child) => child.end);
  entry.seconds = Math.max(...ends) - entry.at;
  entry.failure ??= entry.children.find((child) => child.failure !== null)?.failure ?? null;
}

/**
 * @param {TracedStory} story
 * @param {TracedEntry} entry
 * @param {TracedEntry | null} previous
 * @param {TracedEntry | null} next
 */
function addMoments(story, entry, previous, next) {
  if (entry.kind === "expectation") {
    for (const moment of entry.moments) {
      const check = entry.children.findLast((child) => moment.tree !== null && child.after === moment.tree);
      const taken = check === undefined ? null : ownPicture(story, check);
      moment.picture = taken ?? pictureAt(story, entry.serial, moment.at);
    }
    return;
  }
  const own = ownPicture(story, entry);
  const before = pictureAt(story, entry.serial, entry.at);
  if (entry.isSnapshot) {
    entry.moments = [{ label: "Snapshot", at: entry.end, tree: entry.after ?? entry.before, picture: own ?? before, pictured: null, isPictureEarlier: false, touch: null, note: "" }];
    return;
  }
  const left = previous?.serial === entry.serial ? previous.after : null;
  const found = next?.serial === entry.serial ? next.before ?? (next.isSnapshot ? next.after : next.moments[0]?.tree ?? null) : null;
  entry.moments = [
    {
      label: "Before", at: entry.at, tree: entry.before ?? left, picture: before, pictured: null, isPictureEarlier: false, touch: entry.touch,
      note: entry.before === null && left !== null ? "as the step before left it" : "",
    },
    {
      label: "After", at: entry.end, tree: entry.after ?? found, picture: own, pictured: null, isPictureEarlier: false, touch: null,
      note: entry.after === null && found !== null ? "as the next step found it" : "",
    },
  ];
}

/**
 * A picture that was taken of another hierarchy may show another screen.
 * @param {TracedStory} story
 */
function markOlderPictures(story) {
  const trees = new Map(story.entries.map((entry) => [entry.id, entry.after]));
  for (const entry of story.entries) {
    for (const moment of entry.moments) {
      if (moment.picture === null || moment.tree === null) continue;
      const taken = trees.get(moment.picture.execution) ?? null;
      if (taken === moment.tree) continue;
      moment.pictured = taken;
      moment.isPictureEarlier = moment.picture.execution !== entry.id;
    }
  }
}

/**
 * The picture that was taken after an execution.
 * @param {TracedStory} story
 * @param {TracedEntry} entry
 * @returns {TracedPicture | null}
 */
function ownPicture(story, entry) {
  return story.pictures.findLast((one) => one.execution !== null && one.execution === entry.id) ?? null;
}

/**
 * The last picture of a device at a time.
 * @param {TracedStory} story
 * @param {string} serial
 * @param {number} at
 * @returns {TracedPicture | null}
 */
function pictureAt(story, serial, at) {
  return story.pictures.findLast((one) => one.at <= at && one.serial === serial) ?? null;
}
