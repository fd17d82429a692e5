// One object: its properties, what is inside of them, and who links to it.

import { path } from "./address.js";
import { ask } from "./api.js";
import { picture, Place, rendered } from "./cells.js";
import { counted, grouped, h, isolated, put } from "./dom.js";
import { inPlace, remove, trouble } from "./edit.js";
import { tree } from "./tree.js";

export async function show(at, options, page) {
  const holder = h("div", {});
  let turn = 0;
  const fill = async () => {
    const mine = (turn += 1), element = await made(at, page);
    if (mine !== turn) return; // It was asked for again.
    if (holder.querySelector("form.change")) await page.whenFree(fill, holder); // Somebody began to type meanwhile.
    else put(holder, element);
  };
  await fill();
  return { element: holder, renew: () => page.whenFree(fill, holder) };
}

async function made([file, , className, key], page) {
  const found = await ask([file, "class", className, key]);
  const place = new Place(file, "class", className, key);
  const title = found.label ?? `#${key}`;
  const element = h("article", { class: "sheet object" },
    h(
      "header", {}, h("h1", {}, isolated(title)),
      h("p", { class: "faint" }, isolated(className), ` #${key}`, found.embedded && ", embedded"),
      page.editing && !found.embedded && h(
        "button", { type: "button", onclick: () => remove(page, file, className, [key], () => page.go(path(file, "class", className))) }, "Delete",
      ),
    ),
    properties(found.properties, place, page),
    backlinks(found, file));
  return element;
}

/** The properties of an object, also of an embedded one. */
export function properties(entries, place, page) {
  const rows = entries.map((one) => {
    const at = place.inside(one.name);
    return h("div", { class: "property" },
      h("dt", {}, h("a", { href: at.href, class: "quiet name" }, isolated(one.name)), h("span", { class: "type" }, marks(one))),
      value(one, at, page));
  });
  return h("dl", { class: "properties" }, rows);
}

const HELD = ["list", "set", "dict"];

function value(one, place, page) {
  if (!page.editing) return h("dd", {}, content(one.cell, place));
  const holder = h("dd", { class: "changeable" });
  const show = () => put(holder, h("div", { class: "value" }, content(one.cell, place)), !one.primaryKey && changer(one, place, page, holder, show));
  show();
  return holder;
}

/** What begins to change a value. A collection is changed on its page. */
function changer(one, place, page, holder, show) {
  const title = `Change ${one.name}`;
  if (HELD.includes(one.cell.t)) return h("a", { href: place.href, class: "quiet edit", "aria-label": title, title }, "✎");
  const begin = async () => {
    try {
      put(holder, await inPlace(page, [place.file, ...place.parts], show));
    } catch (error) {
      trouble(error);
    }
  };
  return h("button", { type: "button", class: "quiet edit", "aria-label": title, title, onclick: begin }, "✎");
}

function marks(one) {
  const found = [one.type, one.primaryKey && "primary key", one.indexed && "indexed", one.fulltext && "full-text"].filter(Boolean);
  return found.join(" · ");
}

/** A value with what is inside of it to be unfolded. */
export function content(cell, place) {
  if (cell.t === "string") return [
    h("div", { class: "prose" }, isolated(cell.v, { class: "text" }, true)),
    cell.cut && h("p", {}, h("a", { href: place.href }, `All ${counted(cell.length, "character")}`)),
  ];
  if (cell.t === "binary") return [
    picture(cell, place),
    h("div", {}, rendered(cell, place), " ", cell.size > 0 && h("a", { href: place.href, class: "quiet" }, "all")),
  ];
  if (["list", "set", "dict"].includes(cell.t) && cell.count) return tree(cell, place);
  if (cell.t === "object") return tree(cell, place);
  return rendered(cell, place);
}

function backlinks(found, file) {
  const rows = found.backlinks.filter((one) => one.count.t === "error" || one.count.v);
  const none = found.backlinks.length > rows.length && h("p", { class: "faint" }, rows.length ? "" : "Nothing links here.");
  if (!found.backlinks.length) return null;
  const title = found.embedded ? "Part of" : "Linked from";
  const entry = (one) => h("li", {}, h(
    "a",
    { href: path(file, "links", found.class, found.key, one.class, one.property) }, isolated(one.class),
    ".", isolated(one.property),
  ), " ",
    one.count.t === "error" ? h("span", { class: "fault" }, one.count.message) : h("span", { class: "count" }, grouped(one.count.v)));
  return h("section", { class: "backlinks" }, h("h2", {}, title), h("ul", {}, rows.map(entry)), none);
}
