// Numbers and long texts as people read them.

/**
 * A duration, as short as it is clear.
 * @param {number} seconds
 */
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(2) : seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/**
 * A text that is no longer than that, in one line.
 * @param {string} text
 * @param {number} longest
 */
export function clip(text, longest) {
  const line = text.slice(0, longest + 1).replace(/\s+/g, " ");
  return text.length > longest ? `${line.slice(0, longest)}…` : line;
}

/**
 * A number with its noun.
 * @param {number} count
 * @param {string} noun
 * @param {string} [several]
 */
export function counted(count, noun, several = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : several}`;
}

/**
 * A moment, as the clock of this computer shows it.
 * @param {number} at seconds since the epoch
 */
export function clockTime(at) {
  const date = new Date(at * 1000);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().replace("T", " ").slice(0, 19) + " UTC";
}
