// Data that is unpacked when it is shown.
import { Tree } from "../screen/tree.js";

/**
 * Unpacks compressed JSON.
 * @param {string} text base64
 * @returns {Promise<unknown>}
 */
export async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** The hierarchies of a trace, each read once; the last ones that were looked at are kept. */
export class TreeStore {
  /**
   * @param {Map<string, string>} texts
   * @param {number} [most] how many are kept
   */
  constructor(texts, most = 60) {
    this.texts = texts;
    this.most = most;
    /** @type {Map<string, Promise<Tree>>} */
    this.trees = new Map();
  }

  /**
   * @param {string | null} name
   * @returns {Promise<Tree | null>}
   */
  async get(name) {
    const text = name === null ? undefined : this.texts.get(name);
    if (name === null || text === undefined) return null;
    const known = this.trees.get(name) ?? this.read(text);
    this.trees.delete(name);
    this.trees.set(name, known);
    if (this.trees.size > this.most) {
      const [oldest] = this.trees.keys();
      this.trees.delete(oldest);
    }
    return known;
  }

  /**
   * @param {string} text
   * @returns {Promise<Tree>}
   */
  async read(text) {
    return new Tree(/** @type {import("../screen/tree.js").TreeData} */ (await unpack(text)));
  }
}
