// The box for conditions: completion while one types, and what is wrong under the word that is wrong.

import { h, isolated, put, say } from "./dom.js";
import { ALIASES, FOLDING, WORDS } from "./words.js";

/** The words of some roles, each followed by this text. */
const followed = (by, ...roles) => roles.flatMap((role) => WORDS[role]).map((word) => word + by);
/** What a text must be to be one of these signs or a word of these roles. */
const spelled = (signs, end, ...roles) => {
  const words = [...signs, ...roles.flatMap((role) => [...WORDS[role], ...(ALIASES[role] ?? [])])];
  return new RegExp(`^(${words.map((word) => word.replace(/[|(]/g, "\\$&")).join("|")})${end}$`, "i");
};
const BEGIN = [...followed(" ", "negation", "quantifier"), ...followed("(", "subquery"), WORDS.predicate[0]];
const JOIN = [...followed(" ", "connective"), ...followed("(", "ordering", "limit")];
const COMPARE = [...followed(" ", "sign"), ...followed(" {", "listOperator")];
const TEXTS = [...WORDS.stringOperator.flatMap((word) => (FOLDING.includes(word) ? [`${word} `, `${word}[c] `] : [`${word} `])), "==[c] "];
const VALUES = { bool: ["true", "false"] };
const COUNTS = WORDS.size, SUMS = WORDS.aggregate;
const IDENTIFIER = /^[\p{L}_$\u0080-\uffff][\p{L}\p{N}_$\u0080-\uffff \n\r\t-]*$/u;
const TOKEN = /"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|(?:[\p{L}\p{N}_$@.\u0080-\uffff-]|\\[ nrt]|\[[^\]]*\])+|[=<>!]=?(?:\[c\])?|&&|\|\||\S/gu;
const OPERATORS = spelled([], "(\\[c\\])?", "sign", "listOperator", "stringOperator", "fullText");
const OPENERS = spelled(["("], "", "connective", "negation", "quantifier");
const ORDERINGS = spelled([], "", "ordering");
const SHOWN = 12;

export class QueryBox {
  /** asked(text): the condition is to be used. store: where earlier ones are kept as long as the tab is open. */
  constructor({ schema, className, text, asked, store }) {
    this.classes = new Map(schema.classes.map((one) => [one.name, one]));
    this.className = className;
    this.asked = asked;
    this.store = store;
    this.offered = [];
    this.chosen = -1;
    this.build(text);
  }

  build(text) {
    this.input = h("textarea", {
      id: "where", rows: 1, spellcheck: "false", autocapitalize: "off", autocomplete: "off", dir: "ltr", placeholder: "Condition, such as  age > 30",
      role: "combobox", "aria-label": "Condition", "aria-expanded": "false", "aria-autocomplete": "list", "aria-controls": "offers",
      oninput: () => this.typed(), onkeydown: (event) => this.key(event), onblur: () => setTimeout(() => this.hide(), 150),
    });
    this.input.value = text;
    this.mirror = h("div", { class: "mirror", "aria-hidden": "true", dir: "ltr" });
    this.list = h("ul", { id: "offers", class: "pop offers", role: "listbox", "aria-label": "Completions", hidden: true });
    this.said = h("p", { class: "fault said", role: "alert" });
    const clear = h(
      "button",
      {
        type: "button", class: "quiet clear", title: "Without a condition", "aria-label": "Without a condition",
        onclick: () => this.use(""),
      },
      "✕",
    );
    this.element = h("form", { class: "query", role: "search", onsubmit: (event) => { event.preventDefault(); this.submit(); } },
      h(
        "div", { class: "field" }, this.mirror, this.input, clear, this.list,
      ), h("button", { type: "submit", class: "main" }, "Find"), this.said);
    this.reflect();
  }

  use(text) {
    this.input.value = text;
    this.accept();
    this.submit();
  }

  submit() {
    this.hide();
    const text = this.input.value.trim();
    if (text) {
      const kept = [text, ...this.earlier().filter((one) => one !== text)].slice(0, 30);
      sessionStorage.setItem(this.store, JSON.stringify(kept));
    }
    this.asked(text);
  }

  earlier() {
    return JSON.parse(sessionStorage.getItem(this.store) ?? "[]");
  }

  // What is wrong

  accept() {
    put(this.said);
    this.fault = null;
    this.input.removeAttribute("aria-invalid");
    this.reflect();
  }

  /** position and end count characters; a place behind the text is shown as a blank. */
  refuse(error) {
    this.fault = error.position === undefined ? null : [error.position, Math.max(error.end, error.position + 1)];
    this.input.setAttribute("aria-invalid", "true");
    put(this.said, isolated(error.message), error.hint && h("span", { class: "faint" }, " " + error.hint));
    this.reflect();
  }

  reflect() {
    const letters = Array.from(this.input.value);
    if (this.fault) {
      const [start, end] = this.fault;
      put(
        this.mirror, letters.slice(0, start).join(""),
        h("mark", {}, letters.slice(start, end).join("") || "\u00a0\u00a0"), letters.slice(end).join(""),
      );
    } else {
      put(this.mirror, this.input.value);
    }
    this.mirror.append("\u200b");
  }

  // Completion

  typed() {
    if (this.fault) this.accept();
    this.reflect();
    this.offer(false);
  }

  key(event) {
    const isOpen = !this.list.hidden;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      if (isOpen && this.chosen >= 0) this.take(this.chosen);
      else this.submit();
    } else if (event.key === "Tab" && isOpen && !event.shiftKey) {
      event.preventDefault();
      this.take(Math.max(0, this.chosen));
    } else if (event.key === "Escape" && isOpen) {
      event.stopPropagation();
      this.hide();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (isOpen) this.choose(this.chosen + (event.key === "ArrowDown" ? 1 : -1));
      else this.offer(true);
    } else if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      this.offer(true);
    }
  }

  /** isWanted: somebody asks for it, also where nothing was begun. */
  offer(isWanted) {
    const { word, names } = this.fitting();
    const isEarlier = isWanted && !this.input.value.trim() && this.earlier().length > 0;
    const wanted = word.toLowerCase();
    this.offered = isEarlier ? this.earlier() : names.filter((name) => name.toLowerCase().startsWith(wanted) && name !== word);
    this.isEarlier = isEarlier;
    this.word = word;
    if (!this.offered.length || (!isWanted && !word)) return this.hide();
    this.offered = this.offered.slice(0, isEarlier ? 30 : SHOWN * 4);
    put(
      this.list,
      this.offered.map((name, index) => h(
        "li",
        { role: "option", id: `offer-${index}`, onpointerdown: (event) => { event.preventDefault(); this.take(index); } },
        name,
      )),
    );
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.choose(isWanted ? 0 : -1);
    return undefined;
  }

  choose(index) {
    const count = this.offered.length;
    this.chosen = index < -1 ? count - 1 : index >= count ? 0 : index;
    [...this.list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === this.chosen)));
    if (this.chosen >= 0) {
      this.list.children[this.chosen].scrollIntoView({ block: "nearest" });
      this.input.setAttribute("aria-activedescendant", `offer-${this.chosen}`);
      say(this.offered[this.chosen]);
    } else {
      this.input.removeAttribute("aria-activedescendant");
    }
  }

  take(index) {
    const text = this.offered[index], at = this.input.selectionStart;
    if (this.isEarlier) this.input.value = text;
    else this.input.setRangeText(text, at - this.word.length, at, "end");
    this.hide();
    this.typed();
  }

  hide() {
    this.list.hidden = true;
    this.chosen = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  /** The word before the cursor, and what could stand there. */
  fitting() {
    const before = this.input.value.slice(0, this.input.selectionStart);
    const tokens = before.match(TOKEN) ?? [];
    const isInside = tokens.length > 0 && before.endsWith(tokens.at(-1)) && !/\s$/.test(before);
    const last = isInside ? tokens.pop() : "";
    if (/^["']/.test(last)) return { word: "", names: [] };
    const dot = last.lastIndexOf(".");
    if (dot >= 0) return { word: last.slice(dot + 1), names: this.behind(last.slice(0, dot)) };
    const previous = tokens.at(-1), isWord = /^[\p{L}_$@\u0080-\uffff]*$/u.test(last);
    return { word: isWord ? last : "", names: this.after(previous, tokens) };
  }

  after(previous, tokens) {
    const own = this.namesOf(this.className);
    if (previous === undefined || OPENERS.test(previous)) return [...own, ...BEGIN];
    if (ORDERINGS.test(tokens.at(-2) ?? "") && previous === "(") return own;
    if (OPERATORS.test(previous)) {
      const property = this.propertyOf(tokens.at(-2) ?? "");
      return [...(VALUES[property?.type] ?? []), ...(property && !property.optional ? [] : ["null"]), ...own, "ANY ", "ALL "];
    }
    const property = this.propertyOf(previous);
    if (property) return [
      ...COMPARE,
      ...(property.type === "str" || property.type === "Any" || property.type === "bytes" ? TEXTS : []),
      ...(property.fulltext ? ["TEXT "] : []), "ASC", "DESC"
    ];
    return JOIN;
  }

  /** What may stand behind a path and a dot. */
  behind(path) {
    const property = this.propertyOf(path);
    if (!property) return [];
    const numbers = ["int", "float", "Float32", "Decimal", "Any"].includes(property.type) ? SUMS : [];
    const names = property.class ? this.namesOf(property.class) : [];
    const keys = property.collection === "dict" ? ["@keys", "@values"] : [];
    return [
      ...names, ...keys,
      ...(property.collection || property.type === "str" || property.type === "bytes" ? COUNTS : []),
      ...(property.collection ? numbers : [])
    ];
  }

  /** The property at the end of a path. */
  propertyOf(path) {
    let className = this.className, property;
    for (const step of path.split(".")) {
      const name = step.replace(/\[.*$/, "").replace(/\\([ nrt])/g, (_, letter) => ({ " ": " ", n: "\n", r: "\r", t: "\t" })[letter]);
      property = this.classes.get(className)?.properties.find((one) => one.name === name);
      if (!property) return undefined;
      className = property.class;
    }
    return property;
  }

  /** The names of a class that the language can spell. */
  namesOf(className) {
    const names = (this.classes.get(className)?.properties ?? []).map((one) => one.name).filter((name) => IDENTIFIER.test(name));
    return names.map((name) => name.replace(/[ \n\r\t]/g, (blank) => ({ " ": "\\ ", "\n": "\\n", "\r": "\\r", "\t": "\\t" })[blank]));
  }
}
