// The schema as a picture, laid out by the server, and as a list of classes with their properties and rules.

import { address, path } from "./address.js";
import { ask } from "./api.js";
import { grouped, h, isolated, svg } from "./dom.js";
import { addClass, changesOf, changesOfProperty } from "./structure.js";

const HEAD = 30, ROW = 19;

export async function show([file], options, page) {
  const [found, picture] = await Promise.all([ask([file, "schema"]), ask([file, "drawing"])]);
  const element = h("section", { class: "sheet wide" }, h("h1", {}, "Schema"), declarations(file),
    page.editing && h("p", {}, h("button", { type: "button", onclick: () => addClass(page, file) }, "Add a class")),
    picture.boxes.length > 0 ? h(
      "div",
      { class: "drawing", tabindex: 0, role: "group", "aria-label": "Classes and the links between them; the list below says the same" },
      drawn(file, picture),
    ) : h("p", { class: "empty" }, "This file has no classes yet."),
    found.classes.map((one) => declared(file, one, page)));
  return { element, renew: () => page.again() };
}

/** The classes in the words of a language, to be taken away. */
function declarations(file) {
  const entry = (kind, title) => h("a", { href: address(path(file, "schema"), { raw: kind }), download: true, class: "quiet" }, title);
  const kinds = [["python", "Python"], ["swift", "Swift"], ["typescript", "TypeScript"], ["kotlin", "Kotlin"], ["json", "JSON"]];
  return h("p", { class: "faint" }, "As declarations: ", kinds.flatMap(([kind, title], index) => [index > 0 && ", ", entry(kind, title)]));
}

function drawn(file, picture) {
  const lines = picture.lines.map((line) => svg(
    "path",
    { d: line.path, class: line.many ? "line many" : "line", "marker-end": "url(#arrow)", "data-from": line.from, "data-to": line.to },
    svg("title", {}, `${line.from}.${line.property} → ${line.to}`),
  ));
  const arrow = svg(
    "marker",
    {
      id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerUnits: "userSpaceOnUse", markerWidth: 9, markerHeight: 9,
      orient: "auto-start-reverse",
    },
    svg("path", { d: "M0 0L8 4L0 8z", class: "tip" }),
  );
  const mark = (name) => lines.forEach((line) => line.classList.toggle("lit", line.dataset.from === name || line.dataset.to === name));
  const boxes = picture.boxes.map((box) => drawnBox(file, box, mark));
  return svg(
    "svg",
    {
      width: picture.width, height: picture.height, viewBox: `0 0 ${picture.width} ${picture.height}`, role: "img",
      "aria-label": "Schema",
    },
    svg("defs", {}, arrow), lines, boxes,
  );
}

function drawnBox(file, box, mark) {
  const lit = {
    onpointerenter: () => mark(box.class), onpointerleave: () => mark(null), onfocus: () => mark(box.class),
    onblur: () => mark(null),
  };
  const rows = box.rows.map((row, index) => svg("g", { transform: `translate(0 ${HEAD + index * ROW})` },
    svg("text", { x: 10, y: 14, class: "property" }, fitted(row.name, 18)), svg(
      "text",
      { x: box.w - 10, y: 14, class: "kind", "text-anchor": "end" }, fitted(row.type, beside(row.name)),
    )));
  const more = box.more > 0 && svg(
    "text",
    { x: 10, y: HEAD + box.rows.length * ROW + 14, class: "kind" },
    `${box.rows.length ? "and " : ""}${box.more} ${box.more === 1 ? "property" : "properties"}${box.rows.length ? " more" : ""}`,
  );
  return svg("a", {
    href: path(file, "class", box.class), class: box.embedded ? "box embedded" : "box", transform: `translate(${box.x} ${box.y})`,
    "aria-label": `${box.class}, ${box.count.t === "int" ? box.count.v : "?"} objects`, ...lit,
  },
    svg("rect", { width: box.w, height: box.h, rx: 6 }), svg("text", { x: 10, y: 20, class: "class" }, fitted(box.class, 24)),
    svg(
      "text",
      { x: box.w - 10, y: 20, class: "kind", "text-anchor": "end" }, box.count.t === "int" ? grouped(box.count.v) : "⚠",
    ), rows, more);
}

/** The characters of a type that have room beside a name. */
function beside(name) {
  return Math.max(4, 31 - Math.min(18, Array.from(name).length));
}

/** At most so many characters, none of them unseen. */
function fitted(text, most) {
  const letters = Array.from(text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, "�"));
  return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : letters.join("");
}

function declared(file, one, page) {
  const rows = one.properties.map((property) => h("tr", {}, h("th", { scope: "row" }, isolated(property.name)),
    h(
      "td", {},
      property.class ? h("a", { href: path(file, "class", property.class) }, isolated(property.class)) : property.type,
      property.collection && h("span", { class: "faint" }, ` ${property.collection}`),
      property.optional && !property.class && h("span", { class: "faint" }, " optional"),
    ),
    h(
      "td", { class: "faint" },
      [
        one.primaryKey === property.name && "primary key", property.indexed && "indexed", property.fulltext && "full-text",
      ].filter(Boolean).join(", "),
    ),
    page.editing && h("td", {}, changesOfProperty(page, file, one, property))));
  return h("section", { class: "declared" }, h(
    "h2", {},
    h("a", { href: path(file, "class", one.name) }, isolated(one.name)),
    h("span", { class: "count" }, one.count.t === "int" ? grouped(one.count.v) : "⚠"),
    one.embedded && h("span", { class: "faint" }, "embedded"), page.editing && changesOf(page, file, one),
  ),
    h("table", { class: "plain" }, h("tbody", {}, rows)), rules(one));
}

/** What the file demands of the objects of a class. */
function rules(one) {
  if (one.ruleLines.length === 0) return null;
  const lines = one.ruleLines.map((line) => h("li", {}, isolated(line)));
  return [h("h3", {}, "Rules"), h("ul", { class: "rules", "aria-label": `Rules of ${one.name}` }, lines)];
}
