// A file: what it is, and its classes.

import { path } from "./address.js";
import { ask, send } from "./api.js";
import { counted, grouped, h, isolated, sized } from "./dom.js";
import { trouble } from "./edit.js";

const WAYS = {
  snapshot: "a copy of each version; nothing in the file's folder is touched",
  shared: "in its place, as other readers do, with the lock file beside it",
  immutable: "in its place; nobody may write it meanwhile",
};

export async function show([name], options, page) {
  const file = await ask([name]);
  const objects = file.classes.reduce((sum, one) => sum + (one.embedded || one.count.t !== "int" ? 0 : Number(one.count.v)), 0);
  const facts = [
    ["Size", sized(file.size), `${grouped(file.size)} bytes`],
    ["Objects", grouped(objects)],
    ["Version", String(file.version)],
    ["Version before", file.previous === null ? "none in this file" : h(
      "a", { href: path(file.name, "compare", "slot", "previous"), title: "Compare with it: what the last commit changed" }, String(file.previous),
    )],
    ["Format", file.format === null ? "unknown" : String(file.format) + (file.streaming ? ", written in one piece" : "")],
    ["Schema version", file.schemaVersion === null ? "none" : String(file.schemaVersion)],
    ["Encryption", file.encrypted ? (file.cipher ?? "unknown cipher") : "none"],
    ["History", file.history ?? "unknown"],
    ["Read", file.way, WAYS[file.way]],
  ];
  const element = h("section", { class: "sheet" },
    h("h1", {}, isolated(file.name)),
    h("p", { class: "faint" }, isolated(file.path)),
    file.problem && h("p", { class: "notice", role: "status" }, "Shown as it was: ", file.problem.message),
    upgrade(file, page),
    h("dl", { class: "facts" }, facts.map(([term, text, title]) => h("div", {}, h("dt", {}, term), h("dd", { title }, text)))),
    classes(file));
  return { element, renew: () => page.again() };
}

function upgrade(file, page) {
  if (file.edit?.upgrade) return h(
    "div", { class: "notice" },
    h("p", {}, "This file has an older format. It can be looked at as it is. To change it, it must become format 24 first, "
      + "which older programs cannot read; a backup stays beside it."),
    h("button", { type: "button", onclick: async () => {
      try {
        await send([file.name, "upgrade"], {});
        await page.reload();
      } catch (error) {
        trouble(error);
      }
    } }, "Upgrade the file"),
  );
  if (file.edit) return h(
    "p", { class: "notice" }, "This file can be changed here. Each change is saved at once, and others who write wait meanwhile; Undo takes it back.",
  );
  if (file.encrypted || file.format === null || file.format >= 24) return null;
  return h(
    "p", { class: "notice" },
    `This file has format ${file.format}. It is shown as it lies; whatever writes to it makes it format 24 first, which older programs cannot read.`,
  );
}

function classes(file) {
  if (!file.classes.length) return h("p", { class: "empty" }, "This file has no classes yet.");
  const rows = file.classes.map((one) => h("tr", {},
    h("th", { scope: "row" }, h("a", { href: path(file.name, "class", one.name) }, isolated(one.name))),
    h("td", { class: "numeric" }, one.count.t === "error" ? h("span", { class: "fault" }, one.count.message) : grouped(one.count.v)),
    h("td", { class: "numeric" }, grouped(one.properties)),
    h("td", {}, one.primaryKey === null ? h("span", { class: "faint" }, one.embedded ? "embedded" : "–") : isolated(one.primaryKey)),
    h("td", { class: "numeric" }, one.indexes ? grouped(one.indexes) : h("span", { class: "faint" }, "–"))));
  const heads = [["Class", ""], ["Objects", "numeric"], ["Properties", "numeric"], ["Primary key", ""], ["Indexes", "numeric"]];
  return h("table", { class: "plain" },
    h("caption", { class: "unseen" }, counted(file.classes.length, "class", "classes")),
    h("thead", {}, h("tr", {}, heads.map(([text, kind]) => h("th", { scope: "col", class: kind || undefined }, text)))),
    h("tbody", {}, rows));
}
