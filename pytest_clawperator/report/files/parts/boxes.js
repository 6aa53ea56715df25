// A hierarchy as a drawing: its nodes as boxes with their texts.
import { make } from "../base/dom.js";
import { clip } from "../base/format.js";

/**
 * @typedef {import("../screen/tree.js").Tree} DrawnTree
 * @typedef {{ width: number, height: number }} DrawnSize
 * @typedef {{ color: string, borderTopColor: string }} DrawnColours
 */

// A large screen takes longer to draw than to show. All views share what was drawn last: the
// screen after a step is mostly the one before the next.
const MOST_DRAWINGS = 8;
/** @type {Map<DrawnTree, { key: string, canvas: HTMLCanvasElement }>} */
const drawings = new Map();

/**
 * Shows a hierarchy on a canvas of the page. It is drawn again if its size or colours changed.
 * @param {HTMLCanvasElement} canvas
 * @param {DrawnTree} tree
 * @param {DrawnSize} size
 */
export function showBoxes(canvas, tree, size) {
  const { color, borderTopColor } = getComputedStyle(canvas);
  const drawn = drawingOf(tree, size, { color, borderTopColor });
  canvas.width = drawn.width;
  canvas.height = drawn.height;
  canvas.getContext("2d")?.drawImage(drawn, 0, 0);
}

/**
 * @param {DrawnTree} tree
 * @param {DrawnSize} size
 * @param {DrawnColours} colours
 */
function drawingOf(tree, size, colours) {
  const key = JSON.stringify([size, colours]);
  const known = drawings.get(tree);
  drawings.delete(tree);
  const canvas = known?.key === key ? known.canvas : make("canvas");
  if (canvas !== known?.canvas) drawBoxes(canvas, tree, size, { colours });
  drawings.set(tree, { key, canvas });
  const [oldest] = drawings.keys();
  if (drawings.size > MOST_DRAWINGS) drawings.delete(oldest);
  return canvas;
}

/**
 * Draws a hierarchy; a canvas of less than 200 dots gets no texts.
 * @param {HTMLCanvasElement} canvas
 * @param {DrawnTree} tree
 * @param {DrawnSize} size
 * @param {{ width?: number, colours?: DrawnColours }} [how] `width` is that of the canvas in dots
 */
export function drawBoxes(canvas, tree, size, { width = 720, colours = getComputedStyle(canvas) } = {}) {
  const scale = Math.min(width / size.width, 4096 / size.height);
  canvas.width = Math.max(1, Math.round(size.width * scale));
  canvas.height = Math.max(1, Math.round(size.height * scale));
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.strokeStyle = colours.borderTopColor;
  context.fillStyle = colours.color;
  context.lineWidth = Math.max(1, width / 480);
  context.textBaseline = "middle";
  for (const node of tree.nodes) {
    if (node.box === null || !node.isShown || node.parent === null) continue;
    const { left, top, right, bottom } = node.box;
    const [x, y, w, h] = [left * scale, top * scale, (right - left) * scale, (bottom - top) * scale];
    if (w < 2 || h < 2) continue;
    if (node.isClickable) {
      context.globalAlpha = 0.06;
      context.fillRect(x, y, w, h);
    }
    context.globalAlpha = node.children.length === 0 || node.isClickable ? 0.9 : 0.35;
    context.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    if (node.label === "" || width < 200) continue;
    context.globalAlpha = 1;
    drawLabel(context, node.label, { x, y, w, h }, 14 * (width / 360));
  }
}

/**
 * Draws a text in a box, smaller where it would not fit.
 * @param {CanvasRenderingContext2D} context
 * @param {string} label
 * @param {{ x: number, y: number, w: number, h: number }} box
 * @param {number} largest
 */
function drawLabel(context, label, { x, y, w, h }, largest) {
  if (w < largest || h < largest / 2) return;
  const text = clip(label, 120);
  const usual = Math.min(h * 0.6, largest);
  context.font = `${usual}px system-ui, sans-serif`;
  const fitting = usual * Math.min(1, (w * 0.94) / context.measureText(text).width);
  const size = Math.max(fitting, usual * 0.55);
  if (size < 6) return;
  context.font = `${size}px system-ui, sans-serif`;
  context.save();
  context.beginPath();
  context.rect(x, y, w, h);
  context.clip();
  context.fillText(text, x + Math.min(size * 0.35, w * 0.03), y + h / 2);
  context.restore();
}
