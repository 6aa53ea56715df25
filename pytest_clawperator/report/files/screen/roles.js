// What kind of thing a node is: the rules of snapshot/query.py.
import { folded } from "./tree.js";

/** @typedef {import("./tree.js").TreeNode} RoleNode */

const UNSHOWN_ROLES_ROLES = ["listitem", "title", "label", "row", "column", "grid"];
/** The first matching part of the class name decides. @type {[string, string][]} */
const ROLES_BY_CLASS = [
  ["viewpager", "pager"],
  ["button", "button"],
  ["edittext", "textfield"],
  ["autocompletetextview", "textfield"],
  ["switch", "switch"],
  ["checkbox", "checkbox"],
  ["recyclerview", "list"],
  ["listview", "list"],
  ["gridview", "grid"],
  ["toolbar", "toolbar"],
  ["tablayout", "tabbar"],
  ["bottomnavigationview", "tabbar"],
  ["imageview", "image"],
  ["chip", "chip"],
];
/** All roles that the Operator or this module may name. */
export const KNOWN_ROLES = new Set([
  ...UNSHOWN_ROLES_ROLES, ...ROLES_BY_CLASS.map(([, role]) => role),
  "tab", "icon", "container", "unknown", "text",
]);
const TAB_CLASSES = ["tablayout", "bottomnavigationview"];
const TAB_IDS = ["tab", "navigation", "bottom"];
const LAYOUTS = ["linearlayout", "framelayout", "constraintlayout", "coordinatorlayout"];
const CLICKABLE_ANCESTORS = 3;
const LONG_TEXT = 20;

/**
 * The role of a node; the first matching rule wins.
 * @param {RoleNode} node
 */
export function roleOf(node) {
  if (isTab(node)) return "tab";
  const className = folded(node.className);
  const byClass = classRole(className);
  if (byClass === "image" && isEffectivelyClickable(node)) return "icon";
  if (byClass !== null) return byClass;
  if (LAYOUTS.some((layout) => className.includes(layout))) return "container";
  return node.label === "" ? "unknown" : textRole(node);
}

/**
 * Whether the Operator is sure to infer the same role.
 * @param {RoleNode} node
 */
export function hasCertainRole(node) {
  const className = folded(node.className);
  const role = classRole(className);
  const isCollection = className.includes("recyclerview") || role === "grid";
  return isTab(node) || (role !== null && !isCollection);
}

/** @param {RoleNode} node */
function isTab({ parent, label }) {
  if (parent === null || label === "") return false;
  const className = folded(parent.className), id = folded(parent.id);
  return TAB_CLASSES.some((part) => className.includes(part))
    || TAB_IDS.some((part) => id.includes(part));
}

/** @param {string} className */
function classRole(className) {
  return ROLES_BY_CLASS.find(([part]) => className.includes(part))?.[1] ?? null;
}

/** @param {RoleNode} node */
function textRole(node) {
  if (isEffectivelyClickable(node)) {
    return node.text.includes(" ") && node.text.length > LONG_TEXT ? "text" : "button";
  }
  return folded(node.parent?.className ?? "").includes("toolbar") ? "title" : "text";
}

/** @param {RoleNode} node */
function isEffectivelyClickable(node) {
  /** @type {RoleNode | null} */
  let current = node;
  for (let step = 0; step <= CLICKABLE_ANCESTORS && current !== null; step += 1) {
    if (current.isClickable) return true;
    current = current.parent;
  }
  return false;
}
