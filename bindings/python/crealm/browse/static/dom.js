// Elements. Whatever comes from a file goes in as text: nothing here, nor anywhere in these modules, parses HTML.

/** An element: h("a", { href, class: "x", onclick: f, "aria-label": "…" }, children…). Children are nodes, texts, or nothing. */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for drawings. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...nodes(children));
  return element;
}

/** Children in lists of lists, without those that are nothing. */
function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false);
}

/** Replaces what is in an element. */
export function put(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

// What nobody would see, or what turns the text around it. Joiners stay: emoji and many scripts need them.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/;
const PIECES = new RegExp(`(${UNSEEN.source})`, "u");
const SIGNS = { "\n": "↵", "\t": "⇥", "\r": "␍" };

/** A text of the file as nodes that show every character of it. `keepsLines`: line ends end lines. */
export function shown(text, keepsLines = false) {
  if (!UNSEEN.test(text)) return [text];
  return text.split(PIECES).map((piece) => {
    if (!UNSEEN.test(piece) || (keepsLines && (piece === "\n" || piece === "\t"))) return piece;
    const number = piece.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    return h("span", { class: "sign", title: `U+${number}` }, SIGNS[piece] ?? number);
  });
}

/** A text whose direction is its own. */
export function isolated(text, attributes = {}, keepsLines = false) {
  return h("bdi", { dir: "auto", ...attributes }, shown(text, keepsLines));
}

const NUMBERS = new Intl.NumberFormat("en-US");

export function counted(number, one, many = one + "s") {
  return `${NUMBERS.format(number)} ${number === 1 ? one : many}`;
}

export function grouped(number) {
  return NUMBERS.format(number);
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

/** A size for people: three digits at most behind a unit. */
export function sized(bytes) {
  let size = bytes, unit = 0;
  while (size >= 999.5 && unit < UNITS.length - 1) { size /= 1000; unit += 1; }
  return `${unit === 0 ? size : size.toPrecision(3)} ${UNITS[unit]}`;
}

/** Tells those who hear the page rather than see it. */
export function say(text) {
  document.getElementById("said").textContent = text;
}
