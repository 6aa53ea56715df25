// The film strip: the test as pictures over time, to drag over.
import { fill, make } from "../base/dom.js";
import { clip, duration } from "../base/format.js";
import { drawBoxes } from "../parts/boxes.js";

/** @typedef {import("./model.js").Entry} FilmEntry */

const FRAME = 34;

export class FilmStrip {
  /**
   * @param {HTMLElement} element
   * @param {import("./model.js").Story} story
   * @param {import("./packed.js").TreeStore} trees
   * @param {(entry: FilmEntry) => void} onSelect
   */
  constructor(element, story, trees, onSelect) {
    this.element = element;
    this.story = story;
    this.trees = trees;
    this.onSelect = onSelect;
    /** @type {FilmEntry | null} */
    this.selected = null;
    const first = story.actions[0]?.at ?? story.begin;
    this.begin = Math.min(story.begin || first, first);
    const last = Math.max(this.begin, ...story.actions.map((entry) => entry.end));
    this.length = Math.max(last - this.begin, 0.001);
    this.frames = make("div", { class: "frames" });
    this.bars = make("div", { class: "bars" });
    this.cursor = make("div", { class: "cursor" });
    this.hint = make("div", { class: "hint", hidden: true });
    fill(element, this.frames, this.bars, this.cursor, this.hint);
    element.addEventListener("pointerdown", (event) => this.onPointer(event, true));
    element.addEventListener("pointermove", (event) => this.onPointer(event, (event.buttons & 1) === 1));
    element.addEventListener("pointerleave", () => { this.hint.hidden = true; });
    element.addEventListener("keydown", (event) => this.onKey(event));
    this.drawBars();
    new ResizeObserver(() => this.drawFrames()).observe(element);
  }

  drawBars() {
    fill(this.bars, ...this.story.actions.map((entry) => {
      const bar = make("div", { class: `bar ${entry.kind}${entry.failure === null ? "" : " failed"}` });
      bar.style.left = this.percent(entry.at);
      bar.style.width = `${(entry.seconds / this.length) * 100}%`;
      return bar;
    }));
  }

  drawFrames() {
    const count = Math.max(1, Math.floor(this.element.clientWidth / FRAME));
    if (this.frames.childElementCount === count) return;
    fill(this.frames, ...Array.from({ length: count }, (_, place) => {
      const until = this.begin + ((place + 1) / count) * this.length;
      return make("div", { class: "frame" }, this.picture(until));
    }));
  }

  /** @param {number} until */
  picture(until) {
    const taken = this.story.pictures.findLast((one) => one.at <= until + 0.05);
    if (taken !== undefined) {
      return make("img", { src: this.story.pictureUris.get(taken.name), alt: "", draggable: "false" });
    }
    const moments = this.story.actions.flatMap((entry) => entry.moments);
    const moment = moments.findLast((one) => one.at <= until && one.tree !== null);
    if (moment === undefined) return null;
    const canvas = make("canvas", { class: "boxes" });
    this.trees.get(moment.tree).then((tree) => {
      if (tree !== null) drawBoxes(canvas, tree, tree.size ?? { width: 1080, height: 2400 }, { width: 64 });
    });
    return canvas;
  }

  /** @param {number} at */
  percent(at) {
    return `${Math.max(0, Math.min(100, ((at - this.begin) / this.length) * 100))}%`;
  }

  /** @param {FilmEntry} entry */
  select(entry) {
    this.selected = entry;
    const place = this.story.actions.indexOf(entry);
    this.cursor.style.left = this.percent(entry.at);
    this.cursor.style.width = `${Math.max(0, (entry.seconds / this.length) * 100)}%`;
    this.element.setAttribute("aria-valuenow", String(place + 1));
    this.element.setAttribute("aria-valuemax", String(this.story.actions.length));
    this.element.setAttribute("aria-valuetext", `${place + 1}: ${clip(entry.title, 100)}, at ${duration(entry.at - this.begin)}`);
  }

  /**
   * Marks the steps at which a matcher finds something.
   * @param {((entry: FilmEntry) => number | null) | null} countOf
   */
  showFound(countOf) {
    for (const [place, entry] of this.story.actions.entries()) {
      const count = countOf === null ? null : countOf(entry);
      this.bars.children[place]?.classList.toggle("hit", count !== null && count > 0);
    }
  }

  /** @param {number} x */
  entryAt(x) {
    const area = this.element.getBoundingClientRect();
    const at = this.begin + Math.max(0, Math.min(1, (x - area.left) / area.width)) * this.length;
    return { at, entry: this.story.actions.findLast((one) => one.at <= at) ?? this.story.actions[0] };
  }

  /**
   * @param {PointerEvent} event
   * @param {boolean} isPressed
   */
  onPointer(event, isPressed) {
    const { at, entry } = this.entryAt(event.clientX);
    if (entry === undefined) return;
    this.hint.hidden = false;
    this.hint.textContent = `${duration(at - this.begin)}  ${clip(entry.title, 60)}`;
    const isRight = event.clientX - this.element.getBoundingClientRect().left > this.element.clientWidth / 2;
    this.hint.style.left = isRight ? "auto" : this.percent(at);
    this.hint.style.right = isRight ? `${100 - parseFloat(this.percent(at))}%` : "auto";
    if (!isPressed) return;
    if (event.type === "pointerdown") this.element.setPointerCapture(event.pointerId);
    if (entry !== this.selected) this.onSelect(entry);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const { actions } = this.story;
    const at = this.selected === null ? -1 : actions.indexOf(this.selected);
    const places = new Map([
      ["ArrowRight", at + 1], ["ArrowUp", at + 1], ["ArrowLeft", at - 1], ["ArrowDown", at - 1],
      ["Home", 0], ["End", actions.length - 1], ["PageUp", at + 10], ["PageDown", at - 10],
    ]);
    const place = places.get(event.key);
    if (place === undefined || event.ctrlKey || event.metaKey || event.altKey || actions.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    this.onSelect(actions[Math.max(0, Math.min(actions.length - 1, place))]);
  }
}
