// The values of a property, how often each is there, and a histogram; a click narrows the condition.

import { ask } from "./api.js";
import { Place, rendered } from "./cells.js";
import { counted, grouped, h, isolated, put, svg } from "./dom.js";

const HEIGHT = 64, BAR = 12;

/** A panel beside the table. narrowed(where): the condition that was chosen. */
export function panel(file, className, property, where, narrowed, closed) {
  const body = h("div", { class: "faint" }, "…");
  const close = h("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => closed() }, "✕");
  const element = h("aside", {
    class: "facet", "aria-label": `Values of ${property}`,
    onkeydown: (event) => { if (event.key === "Escape") closed(); },
  },
    h("header", {}, h("h2", {}, isolated(property)), close), body);
  let controller;
  const renew = () => {
    controller?.abort(); // What was asked before is not wanted any more.
    controller = new AbortController();
    ask([file, "facets", className, property], { where }, controller.signal).then(
      (found) => { body.className = ""; put(body, content(found, new Place(file), narrowed)); },
      (error) => { if (error.name !== "AbortError") put(body, error.message); });
  };
  renew();
  queueMicrotask(() => close.focus());
  return { element, renew, close: () => controller.abort() };
}

function content(found, place, narrowed) {
  const most = Math.max(...found.values.map((one) => one.count), 1);
  const choice = (label, count, where) => h("li", {}, h("button", {
    type: "button", class: "value", disabled: !where, onclick: () => narrowed(where),
  },
    h(
      "span", { class: "share", "aria-hidden": "true" },
    ), h("span", { class: "label" }, label), h("span", { class: "count" }, grouped(count))));
  const items = found.values.map((one) => {
    const item = choice(one.cell.t === "link" ? isolated(`#${one.cell.key}`) : rendered(one.cell, place), one.count, one.where);
    item.querySelector(".share").style.width = `${(100 * one.count) / most}%`;
    return item;
  });
  const rest = found.distinct - found.values.length;
  return [
    h(
      "p", { class: "faint" },
      `${counted(found.distinct, "value")} in ${counted(found.total, "object")}`,
      found.total < found.objects && ` (the first of ${grouped(found.objects)})`,
    ),
    found.histogram && histogram(found, narrowed),
    h(
      "ul", {},
      found.nulls > 0 && choice(h("span", { class: "null" }, `null, ${percent(found.nulls, found.total)}`), found.nulls, found.whereNull),
      items,
    ),
    rest > 0 && h("p", { class: "faint" }, `${counted(rest, "value")} more`),
  ];
}

function percent(part, whole) {
  return `${((100 * part) / whole).toFixed(part === whole ? 0 : 1)} %`;
}

function histogram(found, narrowed) {
  const most = Math.max(...found.histogram.map((one) => one.count), 1), width = found.histogram.length * BAR;
  const bars = found.histogram.map((one, index) => {
    const height = one.count ? Math.max(2, Math.round((HEIGHT * one.count) / most)) : 0;
    const label = `${bound(one.from)} to ${bound(one.to)}: ${grouped(one.count)}`;
    const choose = () => one.where && one.count && narrowed(one.where);
    return svg("g", {
      class: "bar", role: "button", tabindex: one.count ? 0 : -1, "aria-label": label, onclick: choose,
      onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); } },
    },
      svg(
        "rect",
        { x: index * BAR, y: 0, width: BAR, height: HEIGHT, class: "back" },
      ), svg("rect", { x: index * BAR + 1, y: HEIGHT - height, width: BAR - 2, height }), svg("title", {}, label));
  });
  const ends = h(
    "p", { class: "ends faint" }, h("span", {}, bound(found.histogram[0].from)), h("span", {}, bound(found.histogram.at(-1).to)),
  );
  return h(
    "figure", {},
    svg(
      "svg",
      { viewBox: `0 0 ${width} ${HEIGHT}`, preserveAspectRatio: "none", class: "histogram", role: "group", "aria-label": "Histogram" },
      bars,
    ),
    ends,
  );
}

/** A number, also one that came as text to be exact, or the day of a point in time. */
function bound(value) {
  return Number.isNaN(Number(value)) ? value.slice(0, 10) : String(Number(Number(value).toPrecision(6)));
}
