// Asks every hierarchy of a test what a matcher finds there, without making the page wait.
import { locate } from "../screen/matching.js";

const BREAK_AFTER_MS = 12;

export class MatchScan {
  /**
   * @param {import("./packed.js").TreeStore} trees
   * @param {string[]} names of hierarchies, in the order of time
   * @param {(counts: Map<string, number> | null) => void} onFound
   */
  constructor(trees, names, onFound) {
    this.trees = trees;
    this.names = [...new Set(names)];
    this.onFound = onFound;
    this.turn = 0;
  }

  /** @param {import("../screen/matching.js").Locator | null} locator */
  async start(locator) {
    const turn = ++this.turn;
    if (locator === null) {
      this.onFound(null);
      return;
    }
    // Typing goes on without waiting for the result of what was typed before.
    await new Promise((resolve) => { setTimeout(resolve, 120); });
    /** @type {Map<string, number>} */
    const counts = new Map();
    let begun = performance.now();
    for (const name of this.names) {
      if (turn !== this.turn) return;
      const text = this.trees.texts.get(name);
      const tree = text === undefined ? null : await this.trees.get(name);
      if (tree !== null) counts.set(name, locate(tree, locator).length);
      if (performance.now() - begun > BREAK_AFTER_MS) {
        await new Promise((resolve) => { setTimeout(resolve); });
        begun = performance.now();
      }
    }
    if (turn === this.turn) this.onFound(counts);
  }
}
