// Which step of another run is the same.

/** @typedef {import("./model.js").Entry} PairedEntry */

/**
 * The step of another run that has the same title, of several the one that is as often there;
 * else the one that the same line of the test made.
 * @param {PairedEntry} entry
 * @param {PairedEntry[]} own
 * @param {PairedEntry[]} others
 * @returns {PairedEntry | null}
 */
export function partnerOf(entry, own, others) {
  const byTitle = (/** @type {PairedEntry} */ one) => one.title;
  const byLine = (/** @type {PairedEntry} */ one) => (one.source === null ? "" : `${one.source.function}:${one.source.text || one.source.line}`);
  return nthAlike(entry, own, others, byTitle) ?? nthAlike(entry, own, others, byLine);
}

/**
 * @param {PairedEntry} entry
 * @param {PairedEntry[]} own
 * @param {PairedEntry[]} others
 * @param {(one: PairedEntry) => string} keyOf
 */
function nthAlike(entry, own, others, keyOf) {
  const key = keyOf(entry);
  if (key === "") return null;
  const before = own.filter((one) => keyOf(one) === key).indexOf(entry);
  return others.filter((one) => keyOf(one) === key)[before] ?? null;
}
