// The schema as a list of classes with their properties.

import { path } from "./address.js";
import { ask } from "./api.js";
import { grouped, h, isolated } from "./dom.js";

export async function show([file]) {
  const found = await ask([file, "schema"]);
  const element = h("section", { class: "sheet" }, h("h1", {}, "Schema"), found.classes.map((one) => declared(file, one)));
  return { element };
}

function declared(file, one) {
  const rows = one.properties.map((property) => h("tr", {}, h("th", { scope: "row" }, isolated(property.name)),
    h("td", {}, property.class ? h("a", { href: path(file, "class", property.class) }, isolated(property.class)) : property.type, property.collection && h("span", { class: "faint" }, ` ${property.collection}`), property.optional && !property.class && h("span", { class: "faint" }, " optional")),
    h("td", { class: "faint" }, [one.primaryKey === property.name && "primary key", property.indexed && "indexed", property.fulltext && "full-text"].filter(Boolean).join(", "))));
  return h("section", { class: "declared" }, h("h2", {}, h("a", { href: path(file, "class", one.name) }, isolated(one.name)), h("span", { class: "count" }, one.count.t === "int" ? grouped(one.count.v) : "⚠"), one.embedded && h("span", { class: "faint" }, "embedded")),
    h("table", { class: "plain" }, h("tbody", {}, rows)));
}
