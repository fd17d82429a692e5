// Collections and embedded objects that unfold where they are, page by page.

import { ask } from "./api.js";
import { rendered } from "./cells.js";
import { counted, grouped, h, isolated, put } from "./dom.js";

const PAGE = 100;
const FOLDED = ["list", "set", "dict", "object"];

/** What unfolds to the elements at a place. */
export function tree(cell, place) {
  const inside = h("div", { class: "leaves" });
  const details = h("details", {
    class: "tree",
    ontoggle: () => { if (details.open && !inside.childElementCount) fill(inside, place, 0); },
  },
    h("summary", {}, rendered(cell, place)), inside);
  return [details, cell.count > PAGE && h("a", { href: place.href, class: "quiet" }, `all ${grouped(cell.count)} as a table`)];
}

async function fill(inside, place, from) {
  const wait = h("p", { class: "faint" }, "…");
  inside.append(wait);
  try {
    const found = await ask([place.file, ...place.parts], { from, count: PAGE });
    const entries = found.object ? found.object.properties.map((one) => [one.name, one.cell]) : found.items.map(
      (item) => [item.place, item.cell],
    );
    inside.append(...entries.map(([name, cell]) => leaf(name, cell, place.inside(String(name)))));
    const end = from + entries.length;
    if (!found.object && end < found.total) {
      const more = h(
        "button",
        { type: "button", class: "quiet", onclick: () => { more.remove(); fill(inside, place, end); } },
        `${counted(found.total - end, "more", "more")} …`,
      );
      inside.append(more);
    }
  } catch (error) {
    put(inside, h("p", { class: "fault" }, error.message));
  } finally {
    wait.remove();
  }
}

function leaf(name, cell, place) {
  const isFolded = FOLDED.includes(cell.t) && cell.count !== 0;
  return h(
    "div", { class: "leaf" }, h("span", { class: "name" }, isolated(String(name))),
    h("div", {}, isFolded ? tree(cell, place) : rendered(cell, place)),
  );
}
