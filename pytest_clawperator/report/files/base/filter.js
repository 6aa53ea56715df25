// A box of words that filters rows, for tables and lists of any page.
import { make } from "./dom.js";
import { counted } from "./format.js";

/**
 * Whether a text has all words, in any order and case.
 * @param {string} text
 * @param {string} words
 */
export function hasWords(text, words) {
  const searched = text.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => searched.includes(word));
}

/**
 * Makes a search field that shows only the rows with its words, and counts them.
 * @param {{
 *   label: string, rowsOf: () => Iterable<HTMLElement>, textOf?: (row: HTMLElement) => string,
 *   noun?: string,
 * }} about
 */
export function filterBox({ label, rowsOf, textOf = (row) => row.textContent ?? "", noun = "row" }) {
  const count = make("span", { class: "soft count", role: "status" });
  const input = make("input", { type: "search", class: "field", placeholder: label, "aria-label": label });
  const apply = () => {
    let [shown, all] = [0, 0];
    for (const row of rowsOf()) {
      row.hidden = !hasWords(textOf(row), input.value);
      shown += row.hidden ? 0 : 1;
      all += 1;
    }
    count.textContent = shown === all ? counted(all, noun) : `${shown} of ${counted(all, noun)}`;
  };
  input.addEventListener("input", apply);
  return { element: make("div", { class: "filter" }, input, count), apply, input };
}
