// Building elements. Texts are set as texts: nothing here ever parses markup.

/** @typedef {Node | string | number | null | false | undefined} Child */

/**
 * Makes an element. Names of properties are those of the attributes; a function is a listener,
 * true an attribute without a value; what is null, undefined or false is left out.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  setAll(element, properties);
  element.append(...kept(children));
  return element;
}

/**
 * @param {Element} element
 * @param {Record<string, unknown>} properties
 */
export function setAll(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") {
      element.addEventListener(name.replace(/^on/, ""), /** @type {EventListener} */ (value));
    } else if (value === null || value === undefined || value === false) {
      element.removeAttribute(name);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

/**
 * Replaces all that is in an element.
 * @param {Element} element
 * @param {...Child} children
 */
export function fill(element, ...children) {
  element.replaceChildren(...kept(children));
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function kept(children) {
  return children
    .filter((one) => one !== null && one !== undefined && one !== false)
    .map((one) => (one instanceof Node ? one : String(one)));
}

/**
 * The element with an id, which the page has.
 * @param {string} id
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
}

const SHAPES = new Map(Object.entries({
  check: "M3.5 8.5l3 3 6-7",
  cross: "M4 4l8 8M12 4l-8 8",
  skip: "M3 8h10",
  broken: "M8 3v6M8 12.5v.5",
  tap: "M8 8m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0M8 8m-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0",
  eye: "M1.5 8s2.5-4.5 6.5-4.5S14.5 8 14.5 8s-2.5 4.5-6.5 4.5S1.5 8 1.5 8zM8 8m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0",
  group: "M6 4l4 4-4 4",
  cog: "M3 5h10M3 11h10M6 3v4M10 9v4",
  copy: "M6 6h7v7H6zM3 10V3h7",
  moon: "M13 9.5A5.5 5.5 0 1 1 6.5 3a4.5 4.5 0 0 0 6.5 6.5z",
  close: "M4 4l8 8M12 4l-8 8",
  left: "M10 4L6 8l4 4",
  right: "M6 4l4 4-4 4",
}));

/**
 * A small picture beside a word; screen readers do not read it.
 * @param {string} name
 */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  setAll(svg, { viewBox: "0 0 16 16", class: `icon icon-${name}`, "aria-hidden": "true" });
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", SHAPES.get(name) ?? "");
  svg.append(path);
  return svg;
}

/**
 * A button that copies a text and confirms it.
 * @param {() => string} textOf
 * @param {string} label
 */
export function copyButton(textOf, label) {
  const button = make("button", { type: "button", class: "quiet copy", title: label, "aria-label": label }, icon("copy"));
  button.addEventListener("click", async () => {
    const isCopied = await copyText(textOf());
    announce(isCopied ? "Copied" : "Copying failed: select the text instead");
    fill(button, icon(isCopied ? "check" : "cross"));
    setTimeout(() => fill(button, icon("copy")), 1200);
  });
  return button;
}

/**
 * Copies a text, also where a frame may not use the clipboard.
 * @param {string} text
 */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", { class: "unseen", "aria-hidden": "true", tabindex: -1 });
    const focused = document.activeElement;
    area.value = text;
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return isCopied;
  }
}

/**
 * Announces to screen readers what happened.
 * @param {string} text
 */
export function announce(text) {
  const place = document.getElementById("said");
  if (place !== null) place.textContent = text;
}

/**
 * Moves the focus among elements with the arrow keys: one of them is in the order of tabs.
 * @param {HTMLElement} container
 * @param {() => HTMLElement[]} itemsOf
 * @param {{ next: string, previous: string, onMove?: (item: HTMLElement) => void }} keys
 */
export function roveFocus(container, itemsOf, { next, previous, onMove }) {
  container.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const items = itemsOf();
    const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const places = new Map([
      [next, at + 1], [previous, at - 1], ["Home", 0], ["End", items.length - 1],
    ]);
    const place = places.get(event.key);
    if (at < 0 || place === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const item = items[Math.max(0, Math.min(items.length - 1, place))];
    for (const one of items) one.tabIndex = one === item ? 0 : -1;
    item.focus();
    onMove?.(item);
  });
}
