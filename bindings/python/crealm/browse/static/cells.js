// Cells, as cells.py makes them, on the page.

import { address, path } from "./address.js";
import { counted, grouped, h, isolated, shown, sized } from "./dom.js";

/** Where a value is: the file, and the address inside of it. */
export class Place {
  constructor(file, ...parts) {
    this.file = file;
    this.parts = parts;
  }

  get href() {
    return path(this.file, ...this.parts);
  }

  inside(part) {
    return new Place(this.file, ...this.parts, part);
  }

  object(className, key) {
    return new Place(this.file, "class", className, key);
  }
}

const RENDER = {
  null: () => h("span", { class: "null" }, "null"),
  bool: (cell) => h("span", { class: "word" }, cell.v ? "true" : "false"),
  int: (cell) => h("span", { class: "number" }, String(cell.v)),
  float: (cell) => h("span", { class: "number" }, numeral(cell.v)),
  float32: (cell) => h("span", { class: "number" }, cell.text ?? numeral(cell.v)),
  decimal: (cell) => h("span", { class: "number" }, cell.v),
  string: (cell) => (cell.v === "" ? h("span", { class: "faint", title: "an empty text" }, "“”") : [
    isolated(cell.v, { class: "text" }),
    cell.cut && h("span", { class: "faint" }, ` … ${counted(cell.length, "character")}`),
  ]),
  binary: (cell) => h(
    "span", { class: "bytes" }, h("span", { class: "faint" }, sized(cell.size)), " ", cell.hex,
    cell.hex.length < 2 * cell.size && "…",
  ),
  date: (cell) => h(
    "time", { class: "number", datetime: cell.v, title: local(cell) }, cell.v.slice(0, -1).replace("T", " "),
    h("span", { class: "faint" }, " UTC"),
  ),
  uuid: (cell) => h("span", { class: "code" }, cell.v),
  objectId: (cell) => h("span", { class: "code", title: `made ${cell.time}` }, cell.v),
  link: (cell, place) => link(cell, place),
  object: (cell, place) => h(
    "span", { class: "inside" }, "{ ",
    separated(cell.fields.map(([name, field]) => entry(name, field, place))), cell.more && ", …", " }",
  ),
  list: (cell, place) => several(cell, place, "[", "]", cell.items.map((item) => rendered(item, place))),
  set: (cell, place) => several(cell, place, "{", "}", cell.items.map((item) => rendered(item, place))),
  dict: (cell, place) => several(
    cell, place, "{", "}",
    cell.items.map((item) => (Array.isArray(item) ? entry(...item, place) : rendered(item, place))),
  ),
  error: (cell) => h("span", { class: "fault", title: cell.message }, "⚠ ", cell.message),
};

/** The nodes of a cell. */
export function rendered(cell, place) {
  return (RENDER[cell.t] ?? RENDER.error)(cell, place);
}

/** Whether a column of this type is set to the right. */
export function isNumeric(type) {
  return /^(Optional\[)?(int|float|Float32|Decimal)\]?$/.test(type);
}

/** The picture of a cell that is one. */
export function picture(cell, place) {
  if (!cell.media) return null;
  return h(
    "img",
    { class: "picture", src: address(place.href, { raw: "1", inline: "1" }), alt: `Picture of ${sized(cell.size)}`, loading: "lazy" },
  );
}

/** A cell as plain text, for the title of a narrow column and for those who hear the page. */
export function plain(cell) {
  if (cell.t === "link") return `${cell.class} ${cell.label ?? cell.key}`;
  if (cell.t === "null") return "null";
  if (cell.t === "list" || cell.t === "set" || cell.t === "dict") return counted(cell.count, "element");
  if (cell.t === "binary") return sized(cell.size);
  if (cell.t === "object") return cell.class;
  if (cell.t === "error") return cell.message;
  return String(cell.text ?? cell.v);
}

function numeral(value) {
  return Object.is(value, -0) ? "-0" : String(value);
}

function local(cell) {
  const moment = new Date(Number(BigInt(cell.ns) / 1000000n));
  return Number.isNaN(moment.getTime()) ? cell.v : moment.toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" });
}

function link(cell, place) {
  const target = place.object(cell.class, cell.key);
  return h(
    "a", { href: target.href, class: "link" }, isolated(cell.label ?? String(cell.key)),
    h("span", { class: "faint" }, " ", shown(cell.class)),
  );
}

function entry(name, cell, place) {
  return [h("span", { class: "name" }, isolated(name), ": "), rendered(cell, place)].flat();
}

function several(cell, place, open, close, items) {
  if (!cell.count) return h("span", { class: "faint" }, open + close);
  const rest = cell.count > items.length && items.length > 0;
  return h(
    "span", { class: "inside" }, h("span", { class: "faint" }, grouped(cell.count)), ` ${open} `, separated(items),
    rest && ", …", !items.length && "…", ` ${close}`,
  );
}

function separated(items) {
  return items.flatMap((item, index) => (index ? [", ", ...[item].flat()] : [item].flat()));
}
