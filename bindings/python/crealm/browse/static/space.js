// The file as a whole: where its bytes are, whether it is sound, who uses it.

import { path } from "./address.js";
import { ask } from "./api.js";
import { counted, grouped, h, isolated, put, sized } from "./dom.js";

export async function show([file]) {
  const found = await ask([file, "space"]);
  const rows = found.parts.slice(0, 200).map((part) => h("tr", {},
    h("th", { scope: "row" }, part.class === null ? h("span", {}, part.kind) : h("a", { href: path(file, "class", part.class) }, isolated(part.class), part.property !== null && [".", isolated(part.property)])),
    h("td", { class: "faint" }, part.class === null ? "" : part.kind),
    h("td", { class: "numeric", title: `${grouped(part.bytes)} bytes` }, sized(part.bytes)),
    h("td", {}, h("meter", { min: 0, max: found.total || 1, value: part.bytes, "aria-label": `${percent(part.bytes, found.total)} of the file` }))));
  const element = h("section", { class: "sheet" }, h("h1", {}, "Space"),
    h("p", {}, `${sized(found.total)}, ${sized(found.free)} of them free. Compacting would leave ${sized(found.total - found.free)}.`),
    h("table", { class: "plain" }, h("tbody", {}, rows)));
  return { element };
}

function percent(part, whole) {
  return whole ? `${((100 * part) / whole).toFixed(1)} %` : "0 %";
}

export async function showCheck([file]) {
  const found = await ask([file, "check"]);
  const rows = found.faults.map((fault) => h("tr", {},
    h("td", {}, fault.class === null ? h("span", { class: "faint" }, fault.kind) : h("a", { href: fault.key === null ? path(file, "class", fault.class) : path(file, "class", fault.class, fault.key) }, isolated(fault.class))),
    h("td", { class: "numeric" }, fault.offset ? grouped(fault.offset) : ""), h("td", {}, isolated(fault.message))));
  const verdict = found.sound ? h("p", { class: "sound" }, "✓ The file is sound: every invariant holds.") : h("p", { class: "fault" }, counted(found.total, "fault"));
  const element = h("section", { class: "sheet" }, h("h1", {}, "Check"), verdict,
    rows.length > 0 && h("table", { class: "plain" }, h("thead", {}, h("tr", {}, ["Where", "Byte", "Fault"].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, rows)));
  return { element };
}

export async function showVersions([file]) {
  const found = await ask([file, "versions"]);
  const rows = found.versions.map((one) => h("tr", {}, [grouped(one.version), new Date(one.since).toLocaleString(), one.process, one.thread, sized(one.heldBytes)].map((text) => h("td", { class: "numeric" }, String(text)))));
  const element = h("section", { class: "sheet" }, h("h1", {}, "Versions in use"), h("p", { class: "faint" }, `The newest version is ${found.version}.`),
    rows.length ? h("table", { class: "plain" }, h("thead", {}, h("tr", {}, ["Version", "Since", "Process", "Thread", "Held back"].map((text) => h("th", { scope: "col", class: "numeric" }, text)))), h("tbody", {}, rows)) : h("p", { class: "empty" }, "No program has the file open."));
  return { element };
}

/** The versions that were seen since pages watch the file, the newest first. */
export async function showLog([file]) {
  const body = h("div", {});
  const fill = async () => {
    const { log } = await ask([file, "log"]);
    const entries = log.reverse().map((one) => h("tr", {},
      h("td", { class: "numeric" }, grouped(one.version)), h("td", { class: "faint" }, new Date(1000 * one.time).toLocaleTimeString()),
      h("td", {}, changes(file, one.classes))));
    put(body, entries.length ? h("table", { class: "plain" }, h("thead", {}, h("tr", {}, ["Version", "Seen", "Objects"].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, entries)) : h("p", { class: "empty" }, "Nothing has been written since this page was opened."));
  };
  await fill();
  return { element: h("section", { class: "sheet" }, h("h1", {}, "Log"), h("p", { class: "faint" }, "Versions that were seen since a page watches the file."), body), renew: fill };
}

function changes(file, classes) {
  const found = Object.entries(classes).map(([name, one]) => h("span", { class: "change" }, h("a", { href: path(file, "class", name) }, isolated(name)), " ",
    one.inserted > 0 && h("span", { class: "sound" }, `+${grouped(one.inserted)} `), one.deleted > 0 && h("span", { class: "fault" }, `−${grouped(one.deleted)} `),
    h("span", { class: "count" }, one.count === null ? "removed" : grouped(one.count))));
  return found.length ? found : h("span", { class: "faint" }, "values changed");
}
