// Values of a trace: a file that anybody may have written, so every type is checked.

/**
 * @typedef {Record<string, unknown>} Bag
 */

/**
 * @param {unknown} value
 * @returns {Bag}
 */
export function bag(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? /** @type {Bag} */ (value) : {};
}

/**
 * @param {Bag} from
 * @param {string} name
 */
export function textIn(from, name) {
  const value = Object.hasOwn(from, name) ? from[name] : undefined;
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

/**
 * @param {Bag} from
 * @param {string} name
 * @returns {number | null}
 */
export function numberIn(from, name) {
  const value = Object.hasOwn(from, name) ? from[name] : undefined;
  return typeof value === "number" ? value : null;
}

/**
 * @param {Bag} from
 * @param {string} name
 * @returns {unknown[]}
 */
export function listIn(from, name) {
  const value = Object.hasOwn(from, name) ? from[name] : undefined;
  return Array.isArray(value) ? value : [];
}

/**
 * The texts of an object, by their names.
 * @param {unknown} value
 * @returns {Map<string, string>}
 */
export function textsOf(value) {
  const entries = Object.entries(bag(value)).map(([name, one]) => [name, String(one)]);
  return new Map(/** @type {[string, string][]} */ (entries));
}

/**
 * @param {Bag} from
 * @param {string} name
 * @param {number} length
 * @returns {number[] | null}
 */
export function numbersIn(from, name, length) {
  const list = listIn(from, name);
  const isFit = list.length === length && list.every((one) => typeof one === "number");
  return isFit ? /** @type {number[]} */ (list) : null;
}
