// The screens of a step, side by side: before and after it, and in the run that passed.
import { fill, make } from "../base/dom.js";
import { ScreenView } from "../parts/screen_view.js";

/**
 * @typedef {import("./model.js").Moment} ScreenMoment
 * @typedef {import("../screen/tree.js").Tree} ScreenTree
 * @typedef {{
 *   moment: ScreenMoment, tree: ScreenTree | null, uri: string | null, label: string,
 *   size: { width: number, height: number } | null, isPassed: boolean, isOlder: boolean,
 * }} ScreenSlot
 */

export class Screens {
  /**
   * @param {HTMLElement} element
   * @param {{
   *   onActive: (place: number) => void, onHover: (node: import("../screen/tree.js").TreeNode | null) => void,
   *   onPick: (node: import("../screen/tree.js").TreeNode | null) => void,
   * }} listeners
   */
  constructor(element, listeners) {
    this.element = element;
    this.listeners = listeners;
    /** @type {ScreenSlot[]} */
    this.slots = [];
    /** @type {{ figure: HTMLElement, button: HTMLButtonElement, note: HTMLElement, view: ScreenView }[]} */
    this.places = [];
    this.active = 0;
    this.prefersBoxes = false;
  }

  /**
   * @param {ScreenSlot[]} slots
   * @param {number} active
   */
  show(slots, active) {
    this.slots = slots;
    while (this.places.length < slots.length) this.places.push(this.makePlace(this.places.length));
    const shown = this.places.slice(0, slots.length);
    if (this.element.childElementCount !== shown.length) fill(this.element, ...shown.map((one) => one.figure));
    this.element.style.setProperty("--places", String(shown.length));
    for (const [place, { moment, tree, uri, size, label, isPassed, isOlder }] of slots.entries()) {
      const { button, note, view, figure } = this.places[place];
      button.textContent = label;
      figure.classList.toggle("passed", isPassed);
      note.textContent = noteOf(moment, isOlder);
      view.prefersBoxes = this.prefersBoxes;
      view.show({ tree, picture: uri, isOlder, size, touch: moment.touch, label: `Screen: ${label}` });
    }
    this.setActive(active);
  }

  /** @param {number} place */
  makePlace(place) {
    const view = new ScreenView();
    const button = make("button", { type: "button", class: "which", "aria-pressed": "false" });
    const note = make("span", { class: "soft" });
    const figure = make("figure", { class: "place" }, make("figcaption", {}, button, note), view);
    button.addEventListener("click", () => this.listeners.onActive(place));
    view.addEventListener("node-hover", (event) => {
      if (place !== this.active) this.listeners.onActive(place);
      this.listeners.onHover(/** @type {CustomEvent} */ (event).detail);
    });
    view.addEventListener("node-pick", (event) => {
      if (place !== this.active) this.listeners.onActive(place);
      this.listeners.onPick(/** @type {CustomEvent} */ (event).detail);
    });
    return { figure, button, note, view };
  }

  /** @param {number} active */
  setActive(active) {
    this.active = active;
    for (const [place, { figure, button, view }] of this.places.entries()) {
      figure.classList.toggle("active", place === active);
      button.setAttribute("aria-pressed", String(place === active));
      view.hovered = null;
      view.selected = null;
    }
  }

  /** The screen that the tree and the matcher box are about. */
  get view() {
    return this.places[this.active]?.view ?? null;
  }

  /** Shows boxes instead of pictures, or pictures again. */
  switchBoxes() {
    this.prefersBoxes = !this.prefersBoxes;
    for (const { view } of this.places) {
      view.prefersBoxes = this.prefersBoxes;
      view.draw();
    }
  }
}

/**
 * @param {ScreenMoment} moment
 * @param {boolean} isOlder
 */
function noteOf(moment, isOlder) {
  const { picture, tree } = moment;
  if (moment.note !== "") return moment.note;
  if (isOlder) return "its picture is older";
  if (moment.isPictureEarlier) return "its picture is a little older";
  if (picture === null && tree !== null) return "no picture";
  if (picture !== null && tree === null) return "no hierarchy";
  return "";
}
