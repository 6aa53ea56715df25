// Regular expressions of Python as ones of JavaScript: those that both have, and no others.

// What Python counts as part of a word, as a digit and as white space, in any script.
const WORD = "\\p{L}\\p{N}_";
const DIGIT = "\\p{Nd}";
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const CATEGORIES = new Map(Object.entries({
  w: WORD, W: `[^${WORD}]`, d: DIGIT, D: `[^${DIGIT}]`, s: SPACE, S: `[^${SPACE}]`,
}));
// Places in a text, which nothing can repeat.
const PLACES = new Map(Object.entries({
  A: "^", Z: "$",
  b: `(?:(?<=[${WORD}])(?![${WORD}])|(?<![${WORD}])(?=[${WORD}]))`,
  B: `(?:(?<=[${WORD}])(?=[${WORD}])|(?<![${WORD}])(?![${WORD}]))`,
}));
const CONTROLS = new Map(Object.entries({ a: "\x07", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" }));
const CODE = /^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8}))/;
const TIMES = /^(?:[*+?]|\{(?!\})(\d*)(,?)(\d*)\})/;
const GROUP = /^\((?:\?(?:(:)|([=!])|<([=!])|P<([A-Za-z_]\w*)>))?(?!\?)/;
const NAMED_REFERENCE = /^\(\?P=(\w+)\)/;
const SYNTAX = "^$\\.*+?()[]{}|/";
// What would mean something in a class of the newer kind, which can hold others.
const CLASS_SYNTAX = `${SYNTAX}-&!#%,:;<=>@\`~`;
// Letters that are one for Python if case does not matter, and four for JavaScript.
const ANY_I = "iI\u0130\u0131";
// In the middle of a character that takes two units, where browsers look as well, nothing begins.
const BETWEEN_CHARACTERS = "(?:^|(?<=[\\s\\S]))";
const RE_FLAGS = new Map(Object.entries({
  I: "i", IGNORECASE: "i", S: "s", DOTALL: "s", M: "m", MULTILINE: "m", U: "", UNICODE: "", NOFLAG: "",
}));

/**
 * A pattern, and the Python code that it was read from.
 * @typedef {{ regex: RegExp, code: string }} Pattern
 */

/**
 * Makes a pattern as `re.compile` does; throws a `SyntaxError` for what JavaScript cannot do.
 * @param {string} source
 * @param {string[]} flags names of `re`, without it
 */
export function pythonPattern(source, flags) {
  const letters = flags.map((name) => RE_FLAGS.get(name));
  const unknown = letters.indexOf(undefined);
  if (unknown >= 0) throw untried(`re.${flags[unknown]}`);
  const text = new Translation(source, letters.join("")).text();
  return new RegExp(`${BETWEEN_CHARACTERS}(?:${text})`, letters.includes("i") ? "iv" : "v");
}

/** @param {string} what */
function untried(what) {
  return new SyntaxError(`${what} cannot be tried here`);
}

/**
 * A group that is open: its number if it has one, and whether it looks around. A look-behind has a
 * width, and those of its alternatives, which must be the same.
 * @typedef {{ number: number, isAssertion: boolean, width: number | null, widths: number[] }} OpenGroup
 */

/** Translates a pattern part by part. */
class Translation {
  /**
   * @param {string} source
   * @param {string} flags letters, as of JavaScript
   */
  constructor(source, flags) {
    this.source = source;
    this.at = 0;
    this.ignoresCase = flags.includes("i");
    this.isMultiline = flags.includes("m");
    this.hasAnyDot = flags.includes("s");
    /** What a number of times would be about. @type {"nothing" | "assertion" | "item" | "repeated"} */
    this.last = "nothing";
    /** @type {OpenGroup[]} */
    this.open = [];
    this.groups = 0;
    /** The number of the group that was just closed, if any. */
    this.lastGroup = 0;
    /** The groups that are sure to have a match, by number. @type {Set<number>} */
    this.sure = new Set();
    /** @type {Map<string, number>} */
    this.names = new Map();
  }

  get rest() {
    return this.source.slice(this.at);
  }

  text() {
    let text = "";
    while (this.at < this.source.length) text += this.part();
    if (this.open.length > 0) throw new SyntaxError("a bracket is not closed");
    return text;
  }

  /** @returns {string} what stands for the next part */
  part() {
    const sign = this.source[this.at];
    if (sign === "\\") return this.escaped();
    if (sign === "[") return this.item(this.wholeClass());
    if (sign === "(") return this.opened();
    if (sign === ")") return this.closed();
    if (sign === "|") return this.alternative();
    const times = TIMES.exec(this.rest);
    if (times !== null) return this.repeated(times);
    // A dot of JavaScript also stops at other line breaks.
    if (sign === ".") return this.item(this.taken(1, this.hasAnyDot ? "[\\s\\S]" : "[^\\n]"));
    if (sign === "^") return this.place(this.taken(1, this.isMultiline ? "(?<=^|\\n)" : "^"));
    // Without the flag, the end is also before a last line break.
    if (sign === "$") return this.place(this.taken(1, this.isMultiline ? "(?=\\n|$)" : "(?=\\n?$)"));
    return this.item(this.literal(this.character()));
  }

  /**
   * @param {number} length of what is read
   * @param {string} text what stands for it
   */
  taken(length, text) {
    this.at += length;
    return text;
  }

  /** @returns {string} the next character, which may take two units */
  character() {
    const character = String.fromCodePoint(/** @type {number} */ (this.source.codePointAt(this.at)));
    return this.taken(character.length, character);
  }

  /** @param {string} text of what takes one character */
  item(text) {
    [this.last, this.lastGroup] = ["item", 0];
    const group = this.open.at(-1);
    if (group !== undefined && group.width !== null) group.width += 1;
    return text;
  }

  /** @param {string} text of a place, which nothing can repeat */
  place(text) {
    this.last = "nothing";
    return text;
  }

  /** @param {string} character */
  literal(character) {
    if (this.ignoresCase && ANY_I.includes(character)) return `[${ANY_I}]`;
    return SYNTAX.includes(character) ? `\\${character}` : character;
  }

  /** @param {RegExpExecArray} times */
  repeated([sign, least, comma, most]) {
    if (this.last === "nothing") throw new SyntaxError(`there is nothing to repeat before ${sign}`);
    if (this.last === "repeated") throw untried(`${sign} after another number of times`);
    if (this.last === "assertion") throw untried("a look-around that is repeated");
    this.refuseBehind(sign);
    // A group that is repeated may have no match, or that of an earlier turn.
    this.sure.delete(this.lastGroup);
    this.last = "repeated";
    this.at += sign.length;
    const isLazy = this.source[this.at] === "?";
    const text = comma === undefined ? sign : `{${least || "0"}${comma}${most}}`;
    return isLazy ? this.taken(1, `${text}?`) : text;
  }

  opened() {
    const reference = NAMED_REFERENCE.exec(this.rest);
    if (reference !== null) {
      this.at += reference[0].length;
      return this.reference(this.names.get(reference[1]), reference[0]);
    }
    const found = GROUP.exec(this.rest);
    if (found === null) throw untried(this.rest.slice(0, 4));
    const [all, plain, ahead, behind, name] = found;
    this.refuseBehind("a group");
    const isAssertion = ahead !== undefined || behind !== undefined;
    const isNumbered = plain === undefined && !isAssertion;
    if (isNumbered) this.groups += 1;
    if (name !== undefined && this.names.has(name)) throw new SyntaxError(`the group ${name} is there twice`);
    if (name !== undefined) this.names.set(name, this.groups);
    this.open.push({
      number: isNumbered ? this.groups : 0, isAssertion,
      width: behind === undefined ? null : 0, widths: [],
    });
    this.last = "nothing";
    return this.taken(all.length, name === undefined ? all : "(");
  }

  closed() {
    const group = this.open.pop();
    if (group === undefined) throw new SyntaxError("a bracket is not opened");
    const { number, isAssertion, width, widths } = group;
    if (widths.some((one) => one !== width)) throw new SyntaxError("a look-behind must have one width");
    // One that is inside another may have been skipped.
    if (number > 0 && this.open.length === 0) this.sure.add(number);
    [this.last, this.lastGroup] = [isAssertion ? "assertion" : "item", number];
    return this.taken(1, ")");
  }

  alternative() {
    const group = this.open.at(-1);
    if (group === undefined) this.sure.clear();
    else if (group.width !== null) {
      group.widths.push(group.width);
      group.width = 0;
    }
    this.last = "nothing";
    return this.taken(1, "|");
  }

  /** @param {string} what may have any width */
  refuseBehind(what) {
    if (this.open.at(-1)?.width != null) throw untried(`${what} in a look-behind`);
  }

  /**
   * @param {number | undefined} group
   * @param {string} code
   */
  reference(group, code) {
    this.refuseBehind(code);
    // Where the group has no match, or case does not matter, the languages differ.
    if (group === undefined || !this.sure.has(group) || this.ignoresCase) throw untried(code);
    [this.last, this.lastGroup] = ["item", 0];
    return `(?:\\${group})`;
  }

  escaped() {
    const letter = this.source[this.at + 1] ?? "";
    const place = PLACES.get(letter), category = CATEGORIES.get(letter);
    if (place !== undefined) return this.place(this.taken(2, place));
    if (category !== undefined) return this.item(this.taken(2, `[${category}]`));
    const reference = /^\\([1-9]\d?)(?!\d)/.exec(this.rest);
    if (reference === null) return this.item(this.literal(this.escapedCharacter()));
    this.at += reference[0].length;
    return this.reference(Number(reference[1]), reference[0]);
  }

  /** @returns {string} the character that an escape stands for */
  escapedCharacter() {
    this.at += 1;
    const code = CODE.exec(this.rest), letter = this.rest[0] ?? "";
    const control = CONTROLS.get(letter);
    if (control !== undefined) return this.taken(1, control);
    if (code !== null) {
      const number = parseInt(code[1] ?? code[2] ?? code[3], 16);
      if (number <= 0x10ffff && !(number >= 0xd800 && number < 0xe000)) return this.taken(code[0].length, String.fromCodePoint(number));
    }
    if (letter === "" || /[A-Za-z0-9]/.test(letter)) throw untried(`\\${letter}`);
    return this.character();
  }

  /** @returns {string} what stands for a class in brackets */
  wholeClass() {
    const isNegated = this.source[this.at + 1] === "^";
    this.at += isNegated ? 2 : 1;
    const parts = [this.classPart()]; // the first may be a bracket
    while (this.source[this.at] !== "]") parts.push(this.classPart());
    return this.taken(1, `${isNegated ? "[^" : "["}${parts.join("")}]`);
  }

  classPart() {
    const first = this.member();
    // At the end a hyphen makes no range.
    if (this.source[this.at] !== "-" || this.source[this.at + 1] === "]") return first.category ?? this.range(first.character, first.character);
    this.at += 1;
    const last = this.member();
    if (first.category !== undefined || last.category !== undefined || codePoint(first.character) > codePoint(last.character)) {
      throw new SyntaxError("a range in a class goes from one character to a later one");
    }
    return this.range(first.character, last.character);
  }

  /** @returns {{ category?: string, character: string }} */
  member() {
    if (this.at >= this.source.length) throw new SyntaxError("a class in brackets does not end");
    if (this.source[this.at] !== "\\") return { character: this.character() };
    const category = CATEGORIES.get(this.source[this.at + 1] ?? "");
    return category === undefined ? { character: this.escapedCharacter() } : { category: this.taken(2, category), character: "" };
  }

  /**
   * @param {string} first
   * @param {string} last
   */
  range(first, last) {
    const hasI = this.ignoresCase && [...ANY_I].some((one) => codePoint(first) <= codePoint(one) && codePoint(one) <= codePoint(last));
    const signs = first === last ? [first] : [first, last];
    return signs.map((sign) => (CLASS_SYNTAX.includes(sign) ? `\\${sign}` : sign)).join("-") + (hasI ? ANY_I : "");
  }
}

/** @param {string} character */
function codePoint(character) {
  return /** @type {number} */ (character.codePointAt(0));
}
