// What changed: from the version before it, one that was remembered, or another file, to the newest version of this one.

import { path } from "./address.js";
import { ask, send } from "./api.js";
import { counted, grouped, h, isolated, put, say } from "./dom.js";

const MARKS = { added: ["+", "sound"], removed: ["−", "fault"], changed: ["~", "faint"] };

export async function show([file, , kind, other]) {
  return kind === undefined ? choices(file) : compared(file, kind, other);
}

async function choices(file) {
  const body = h("div", {});
  const fill = async () => {
    const found = await ask([file, "compare"]);
    const versions = found.remembered.map((version) => h(
      "li", {},
      h(
        "a",
        { href: path(file, "compare", "version", version), class: "card" }, `version ${version}`,
        version === found.version && h("span", { class: "faint" }, "the newest: nothing can differ yet"),
      ),
    ));
    const files = found.files.map((name) => h(
      "li", {},
      h("a", { href: path(file, "compare", "file", name), class: "card" }, isolated(name)),
    ));
    const before = found.previous === null ? h(
      "p", { class: "faint" }, "This file holds no version before the newest one: it was committed to only once, or written in one piece.",
    ) : h("ul", { class: "cards" }, h("li", {}, h(
      "a",
      { href: path(file, "compare", "slot", "previous"), class: "card" }, `version ${found.previous}`,
      h("span", { class: "faint" }, "what the last commit changed"),
    )));
    put(body, h("h2", {}, "With the version before"), before, versions.length > 0 && [
      h("h2", {}, "With a version that was remembered"), h("ul", { class: "cards" }, versions),
    ], files.length > 0 && [h("h2", {}, "With another file"), h("ul", { class: "cards" }, files)],
      !versions.length && !files.length && h(
        "p", { class: "empty" },
        "Remember this version, and come back when something has been written; or give `crealm browse` several files.",
      ));
  };
  const button = h(
    "button",
    {
      type: "button",
      onclick: async () => {
        const { remembered } = await send([file, "remember"], {});
        say(`Version ${remembered} is remembered`);
        await fill();
      },
    },
    "Remember this version",
  );
  await fill();
  return { element: h("section", { class: "sheet" }, h("h1", {}, "Compare"), h("p", {}, button), body), renew: fill };
}

async function compared(file, kind, other) {
  const holder = h("div", {});
  const fill = async () => put(holder, made(file, await ask([file, "compare", kind, other])));
  await fill();
  return { element: holder, renew: fill };
}

function made(file, found) {
  const counts = Object.entries(found.counts).map(([name, kinds]) => h("li", {}, h(
    "a", { href: path(file, "class", name) }, isolated(name),
  ), " ",
    Object.entries(kinds).map(([kind, count]) => h("span", { class: MARKS[kind][1] }, ` ${MARKS[kind][0]}${grouped(count)} ${kind}`))));
  const schema = found.schema.map((one) => h(
    "li", {},
    isolated([one.what, one.class, one.property].filter((part) => part !== undefined).join(" ")), ": ",
    isolated(String(one.a ?? "nothing")), " → ", isolated(String(one.b ?? "nothing")),
  ));
  return h("section", { class: "sheet wide" }, h("h1", {}, `Since ${found.with}`), h(
    "p", { class: "faint" },
    found.total || schema.length ? `${counted(found.total, "object differs", "objects differ")}` : "Nothing differs.",
  ),
    schema.length > 0 && h("ul", { class: "counts" }, schema), h("ul", { class: "counts" }, counts),
    found.changes.length > 0 && h(
      "table", { class: "plain changes" },
      h("thead", {}, h("tr", {}, ["Object", "Property", "Before", "After"].map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, found.changes.flatMap((one) => rows(file, one))),
    ),
    found.total > found.changes.length && h("p", { class: "faint" }, `The first ${grouped(found.changes.length)} are listed.`));
}

function rows(file, one) {
  const [mark, kind] = MARKS[one.kind];
  const name = [h("span", { class: kind, title: one.kind }, `${mark} `), isolated(one.class), " ", isolated(one.identity)];
  const head = one.kind === "removed" ? h("span", {}, name) : h("a", { href: path(file, "class", one.class, one.key) }, name);
  const values = one.values.length ? one.values : [{ property: "" }];
  return values.map((value, index) => h("tr", {}, h("th", { scope: "row" }, index === 0 && head), h(
    "td", { class: "faint" }, isolated(value.property),
  ),
    h(
      "td", { class: "before" }, value.before !== undefined && isolated(value.before),
    ), h("td", { class: "after" }, value.after !== undefined && isolated(value.after))));
}
