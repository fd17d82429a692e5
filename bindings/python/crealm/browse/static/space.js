// The file as a whole: where its bytes are, whether it is sound, who uses it.

import { path } from "./address.js";
import { ask, send } from "./api.js";
import { counted, grouped, h, isolated, put, sized, svg } from "./dom.js";
import { dialog, trouble } from "./edit.js";
import { squarified } from "./treemap.js";

const WIDTH = 1000, HEIGHT = 420, TITLE = 18, TALL = 120;

export async function show([file], options, page) {
  const found = await ask([file, "space"]), grown = h("div", {});
  const drawGrowth = async () => put(grown, growth((await ask([file, "log"])).sizes));
  await drawGrowth();
  const later = h("p", {}); // Where the bytes are takes a while in a large file: it is told again when somebody asks.
  const renew = async ({ version }) => {
    await drawGrowth();
    if (version !== found.version) put(later, `This is told of version ${found.version}; there is a newer one. `, h(
      "button", { type: "button", onclick: () => page.again() }, "Look again",
    ));
  };
  const rows = found.parts.slice(0, 200).map((part) => h("tr", {},
    h("th", { scope: "row" }, part.class === null ? part.kind : h("a", { href: path(file, "class", part.class) }, isolated(nameOf(part)))),
    h("td", { class: "faint" }, part.class === null ? "" : part.kind),
    h("td", { class: "numeric", title: `${grouped(part.bytes)} bytes` }, sized(part.bytes)),
    h("td", { class: "numeric faint" }, percent(part.bytes, found.total))));
  const element = h("section", { class: "sheet wide" }, h("h1", {}, "Space"),
    h("p", {}, `${sized(found.total)}, ${sized(found.free)} of them free. Compacting would leave ${sized(found.total - found.free)}. `
      + "A file over 1 MB shrinks while programs write it, as long as more than half of it is free."),
    later,
    page.editing && h("p", {}, h("button", { type: "button", onclick: (event) => compact(file, page, event.target) }, "Compact the file")),
    found.total > 0 && treemap(file, found),
    grown,
    h(
      "table", { class: "plain" },
      h(
        "thead", {},
        h(
          "tr", {},
          [["Part", ""], ["Kind", ""], ["Size", "numeric"], ["Share", "numeric"]].map(([text, kind]) => h(
            "th", { scope: "col", class: kind || undefined }, text,
          )),
        ),
      ),
      h("tbody", {}, rows),
    ));
  return { element, renew };
}

/** The sizes that the file had since pages watch it: it keeps no record of earlier ones. A step for each version that was seen. */
function growth(sizes) {
  const title = h("h2", {}, "Growth");
  if (sizes.length < 2) return [title, h(
    "p", { class: "faint" }, "A file does not tell which sizes it had. They are drawn here from the versions that are written while a page is open.",
  )];
  const first = sizes[0], last = sizes.at(-1), most = Math.max(...sizes.map((one) => one.size)), length = last.time - first.time || 1;
  const x = (one) => ((one.time - first.time) / length) * WIDTH, y = (one) => TALL - (one.size / most) * (TALL - 4);
  const line = sizes.map((one, index) => (index ? `H${x(one).toFixed(1)}V${y(one).toFixed(1)}` : `M0 ${y(one).toFixed(1)}`)).join("");
  const text = `${sized(first.size)} with version ${first.version}, ${sized(last.size)} with version ${last.version}; `
    + `${counted(sizes.length, "version was", "versions were")} seen since ${new Date(1000 * first.time).toLocaleTimeString()}.`;
  return [title, h("p", {}, text), svg(
    "svg", { class: "growth", viewBox: `0 0 ${WIDTH} ${TALL}`, preserveAspectRatio: "none", role: "img", "aria-label": `Size of the file: ${text}` },
    svg("path", { d: `${line}H${WIDTH}` }),
  )];
}

/** Rewrites the file without its free space, or shortens it while other programs use it. */
async function compact(file, page, button) {
  button.disabled = true;
  try {
    const told = await send([file, "compact"], {});
    const text = `${sized(told.before)} before, ${sized(told.after)} now.`
      + (told.done ? "" : " Another program has the file open: the file was shortened in place. Versions that are in use may keep space.");
    dialog("Compact", (close) => h("div", {}, h("p", {}, text), h("button", { type: "button", onclick: () => { close(); page.reload(); } }, "Close")));
  } catch (error) {
    trouble(error);
  } finally {
    button.disabled = false;
  }
}

function nameOf(part) {
  return part.property === null ? part.class : `${part.class}.${part.property}`;
}

/** An area for each class, and in it one for each of its parts. */
function treemap(file, found) {
  const groups = new Map();
  for (const part of found.parts) {
    if (!part.bytes) continue;
    const name = part.class ?? `\u0000${part.kind}`; // What is of no class is a group of its own; no class is called like that.
    if (!groups.has(name)) groups.set(name, { title: part.class ?? part.kind, class: part.class, parts: [], bytes: 0 });
    groups.get(name).parts.push(part);
    groups.get(name).bytes += part.bytes;
  }
  const sorted = [...groups.values()].sort((a, b) => b.bytes - a.bytes);
  const places = squarified(sorted.map((group) => group.bytes), 0, 0, WIDTH, HEIGHT);
  return svg(
    "svg",
    {
      class: "treemap", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
      "aria-label": "Where the bytes are; the table below says the same",
    },
    sorted.map((group, index) => area(file, group, places[index], found.total)),
  );
}

function area(file, group, place, total) {
  const hasTitle = place.h > 2 * TITLE && place.w > 50 && group.class !== null;
  const top = hasTitle ? TITLE : 0;
  const inner = squarified(
    group.parts.map((part) => part.bytes), place.x + 1, place.y + top, Math.max(0, place.w - 2), Math.max(0, place.h - top - 1),
  );
  const parts = group.parts.map((part, index) => leaf(part, inner[index], total));
  const title = hasTitle && svg("text", { x: place.x + 6, y: place.y + 13, class: "class" }, clipped(group.title, place.w - 10));
  const content = [svg("rect", { ...rect(place), class: "group" }), parts, title];
  return group.class === null ? svg("g", {}, content) : svg(
    "a",
    { href: path(file, "class", group.class), "aria-label": `${group.title}, ${sized(group.bytes)}` }, content,
  );
}

function leaf(part, place, total) {
  const text = part.property ?? part.kind;
  const label = place.w > 34 && place.h > 15 && svg("text", { x: place.x + 5, y: place.y + 13 }, clipped(text, place.w - 8));
  return svg(
    "g", { class: `part ${part.kind}` }, svg("rect", rect(place)), label,
    svg(
      "title", {},
      `${part.class === null ? part.kind : nameOf(part)}, ${part.kind}: ${sized(part.bytes)}, ${percent(part.bytes, total)}`,
    ),
  );
}

function rect({ x, y, w, h: height }) {
  return { x: x.toFixed(1), y: y.toFixed(1), width: Math.max(0, w - 1).toFixed(1), height: Math.max(0, height - 1).toFixed(1) };
}

function clipped(text, width) {
  const most = Math.floor(width / 6.4), letters = Array.from(text.replace(/[\p{C}\u2028\u2029]/gu, "�"));
  return letters.length > most ? letters.slice(0, Math.max(0, most - 1)).join("") + "…" : letters.join("");
}

function percent(part, whole) {
  return whole ? `${((100 * part) / whole).toFixed(1)} %` : "0 %";
}

export async function showCheck([file]) {
  const found = await ask([file, "check"]);
  const rows = found.faults.map((fault) => h("tr", {},
    h(
      "td", {},
      fault.class === null ? h("span", { class: "faint" }, fault.kind) : h(
        "a",
        { href: fault.key === null ? path(file, "class", fault.class) : path(file, "class", fault.class, fault.key) },
        isolated(fault.class),
      ),
    ),
    h("td", { class: "numeric" }, fault.offset ? grouped(fault.offset) : ""), h("td", {}, isolated(fault.message))));
  const verdict = found.sound ? h(
    "p", { class: "sound" }, "✓ The file is sound: every invariant holds.",
  ) : h("p", { class: "fault" }, counted(found.total, "fault"));
  const element = h("section", { class: "sheet" }, h("h1", {}, "Check"), verdict,
    rows.length > 0 && h(
      "table", { class: "plain" },
      h("thead", {}, h("tr", {}, ["Where", "Byte", "Fault"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, rows),
    ));
  return { element };
}

export async function showVersions([file]) {
  const found = await ask([file, "versions"]);
  const rows = found.versions.map((one) => h(
    "tr", {},
    [
      grouped(one.version), new Date(one.since).toLocaleString(), one.process, one.thread, sized(one.heldBytes),
    ].map((text) => h("td", { class: "numeric" }, String(text))),
  ));
  const element = h("section", { class: "sheet" }, h("h1", {}, "Versions in use"), h(
    "p", { class: "faint" }, `The newest version is ${found.version}.`,
  ),
    rows.length ? h(
      "table", { class: "plain" },
      h(
        "thead", {},
        h(
          "tr", {},
          ["Version", "Since", "Process", "Thread", "Held back"].map((text) => h("th", { scope: "col", class: "numeric" }, text)),
        ),
      ),
      h("tbody", {}, rows),
    ) : h("p", { class: "empty" }, "No program has the file open."));
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
    put(
      body,
      entries.length ? h(
        "table", { class: "plain" },
        h("thead", {}, h("tr", {}, ["Version", "Seen", "Objects"].map((text) => h("th", { scope: "col" }, text)))),
        h("tbody", {}, entries),
      ) : h("p", { class: "empty" }, "Nothing has been written since this page was opened."),
    );
  };
  await fill();
  return {
    element: h(
      "section", { class: "sheet" }, h("h1", {}, "Log"),
      h("p", { class: "faint" }, "Versions that were seen since a page watches the file."), body,
    ),
    renew: fill,
  };
}

function changes(file, classes) {
  const found = Object.entries(classes).map(([name, one]) => h("span", { class: "change" }, h(
    "a", { href: path(file, "class", name) }, isolated(name),
  ), " ",
    one.inserted > 0 && h(
      "span", { class: "sound" }, `+${grouped(one.inserted)} `,
    ), one.deleted > 0 && h("span", { class: "fault" }, `−${grouped(one.deleted)} `),
    h("span", { class: "count" }, one.count === null ? "removed" : grouped(one.count))));
  return found.length ? found : h("span", { class: "faint" }, "values changed");
}
