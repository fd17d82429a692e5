// One value: all elements of a collection as a table, all of a text, all bytes; and the objects that link to one.

import { address } from "./address.js";
import { ask, Refusal } from "./api.js";
import { picture, Place } from "./cells.js";
import { counted, grouped, h, isolated, put, sized } from "./dom.js";
import { add, buttonsOf, dialogAt } from "./edit.js";
import { Grid } from "./grid.js";
import { content, properties } from "./object.js";

const LINE = 16; // Bytes.

export async function show(at, options, page) {
  const place = new Place(at[0], ...at.slice(1));
  const found = await ask(at, { count: 100 });
  const told = h("p", { class: "faint" }, summary(found));
  const title = h("header", {}, h("h1", {}, isolated(at.slice(4).join(" › "))), told, changers(at, found, page));
  if (found.items) return collection(at, found, title, page, (later) => put(told, summary(later)));
  if (found.text !== undefined) return long(at, found, title, place, (part) => part.text, "prose", page);
  if (found.hex !== undefined) return long(
    at, found, [title, picture(found.cell, place)], place, (part, from) => lines(part.hex, from), "dump",
    page,
  );
  const inside = found.object ? properties(found.object.properties, place, page) : content(found.cell, place);
  return { element: h("article", { class: "sheet" }, title, inside), renew: () => page.again() };
}

/** What changes the value as a whole, and adds to it. */
function changers(at, found, page) {
  if (!found.edit) return null;
  const isWhole = found.edit.whole;
  return h(
    "p", { class: "buttons" },
    found.items && h("button", { type: "button", onclick: () => add(page, at) }, "Add"),
    h("button", { type: "button", onclick: () => dialogAt(page, at) }, isWhole ? "Change as JSON" : "Change"),
  );
}

function summary(found) {
  if (found.items) return `${{ list: "List", set: "Set", dict: "Dictionary" }[found.cell.t]} of ${counted(found.total, "element")}`;
  if (found.text !== undefined) return counted(found.total, "character");
  if (found.hex !== undefined) return sized(found.total);
  return found.object ? `Embedded ${found.object.class}` : found.cell.t;
}

/** tell(found): the first lines say what a later answer has. */
function collection(at, first, title, page, tell) {
  const isDictionary = first.cell.t === "dict";
  const rows = (found) => found.items.map((item) => ({
    id: item.place, place: () => new Place(at[0], ...at.slice(1), String(item.place)),
    cells: [{ t: isDictionary ? "string" : "int", v: item.place }, item.cell, ...(found.edit ? [{ t: "null", item, found }] : [])],
  }));
  const columns = [
    { name: isDictionary ? "key" : "place", title: isDictionary ? "Key" : "#", width: isDictionary ? 200 : 90, numeric: !isDictionary },
    { name: "value", title: "Value", width: 620 },
  ];
  if (first.edit) columns.push({
    name: "change", title: "", width: 130, render: (cell, row) => buttonsOf(page, at, cell.found, cell.item),
  });
  const source = async (from, count, signal) => {
    const found = await ask(at, { from, count }, signal);
    if (!found.items) throw new Refusal(404, { kind: "NoSuchPage", message: "There is no collection here any more" });
    tell(found);
    return { total: found.total, state: found.state, rows: rows(found) };
  };
  return table(columns, source, { total: first.total, state: first.state, rows: rows(first) }, title, "Elements", page);
}

/** The objects whose property links to one. */
export async function showLinks(at, options, page) {
  const [file, , className, key, source, property] = at;
  const rows = (found) => found.items.map((cell, index) => (
    { id: `${cell.key}/${index}`, place: () => new Place(file), cells: [{ t: "int", v: cell.key }, cell] }
  ));
  const first = await ask(at, { count: 100 });
  const title = h(
    "header", {}, h("h1", {}, isolated(`${source}.${property}`)),
    h(
      "p", { class: "faint" }, counted(first.total, "link"), " to ",
      h("a", { href: new Place(file).object(className, key).href }, isolated(first.label ?? `#${key}`)),
    ),
  );
  const more = (from, count, signal) => ask(at, { from, count }, signal).then((found) => (
    { total: found.total, state: found.state, rows: rows(found) }
  ));
  const columns = [{ name: "key", title: "#", width: 90, numeric: true }, { name: "object", title: source, width: 620 }];
  return table(columns, more, { total: first.total, state: first.state, rows: rows(first) }, title, "Links", page);
}

function table(columns, source, first, title, label, page) {
  const grid = new Grid(columns, source, { label, failed: (error) => page.failed(error) });
  grid.filled(0, first);
  const element = h("section", { class: "objects" }, h("div", { class: "bar" }, title), h("div", { class: "holder" }, grid.element));
  return { element, close: () => grid.close(), renew: () => grid.renew(), shown: () => grid.element.focus({ preventScroll: true }) };
}

/** A text or bytes, part by part. */
function long(at, first, title, place, read, kind, page) {
  const body = h("div", { class: kind, tabindex: 0 });
  const add = (part) => body.append(
    kind === "prose" ? isolated(read(part), { class: "text" }, true) : document.createTextNode(read(part, part.from)),
  );
  let end = 0;
  const more = h("button", { type: "button", onclick: () => next() });
  const took = (part) => {
    add(part);
    end = part.from + (part.text !== undefined ? Array.from(part.text).length : part.hex.length / 2);
    more.hidden = end >= part.total;
    put(more, `${grouped(part.total - end)} more`);
  };
  const next = async () => took(await ask(at, { from: end }));
  const file = h("a", { href: address(place.href, { raw: "1" }), download: true, class: "quiet" }, "Download");
  const element = h(
    "article", { class: "sheet" }, title, h("p", {}, file),
    first.total ? body : h("p", { class: "empty" }, "It is empty."), more,
  );
  // The first answer has only as much as a page of a collection.
  return ask(at).then((part) => { took(part); return { element, renew: () => page.again() }; });
}

function lines(hex, from) {
  const found = [];
  for (let at = 0; at < hex.length; at += 2 * LINE) {
    const bytes = hex.slice(at, at + 2 * LINE).match(/../g);
    const letters = bytes.map((byte) => Number.parseInt(byte, 16)).map((code) => (
      code >= 32 && code < 127 ? String.fromCharCode(code) : "·"
    )).join("");
    found.push(`${(from + at / 2).toString(16).padStart(8, "0")}  ${bytes.join(" ").padEnd(3 * LINE)} ${letters}\n`);
  }
  return found.join("");
}

