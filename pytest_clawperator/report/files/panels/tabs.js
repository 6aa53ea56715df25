// Tabs, each with a panel that is filled when it is looked at.
import { byId, fill, make, roveFocus } from "../base/dom.js";

/** @typedef {{ name: string, title: string, fill: (panel: HTMLElement) => void | Promise<void> }} TabAbout */

export class Tabs {
  /**
   * @param {HTMLElement} bar
   * @param {HTMLElement} panels
   * @param {TabAbout[]} tabs
   * @param {(name: string) => void} onChange
   */
  constructor(bar, panels, tabs, onChange) {
    this.tabs = tabs;
    this.onChange = onChange;
    this.current = "";
    /** @type {Set<string>} */
    this.stale = new Set();
    for (const { name, title } of tabs) {
      bar.append(make("button", {
        type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, tabindex: -1,
        onclick: () => this.show(name),
      }, title));
      panels.append(make("div", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, tabindex: 0, hidden: true }));
    }
    roveFocus(bar, () => /** @type {HTMLElement[]} */ ([...bar.children]), {
      next: "ArrowRight", previous: "ArrowLeft", onMove: (tab) => this.show(tab.id.slice("tab-".length)),
    });
  }

  /** @param {string} name */
  show(name) {
    this.current = name;
    for (const tab of this.tabs) {
      const isShown = tab.name === name;
      const button = byId(`tab-${tab.name}`);
      button.setAttribute("aria-selected", String(isShown));
      button.tabIndex = isShown ? 0 : -1;
      byId(`panel-${tab.name}`).hidden = !isShown;
      if (isShown) button.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    this.refresh();
    this.onChange(name);
  }

  /** Something else is to be shown: each panel is filled again when it is opened. */
  change() {
    this.stale = new Set(this.tabs.map((tab) => tab.name));
    this.refresh();
  }

  refresh() {
    const tab = this.tabs.find((one) => one.name === this.current);
    if (tab === undefined || !this.stale.delete(tab.name)) return;
    void tab.fill(byId(`panel-${tab.name}`));
  }
}

/**
 * Shows a message in place of a panel's content.
 * @param {HTMLElement} panel
 * @param {string} text
 */
export function showNothing(panel, text) {
  fill(panel, make("p", { class: "soft nothing" }, text));
}
