// The files.

import { path } from "./address.js";
import { ask } from "./api.js";
import { h, isolated, sized } from "./dom.js";

export async function show(at, options, page) {
  const { files } = await ask([]);
  if (files.length === 1 && !options.has("all")) {
    queueMicrotask(() => page.go(path(files[0].name), true));
    return { element: h("div") };
  }
  const rows = files.map((file) => h("li", {}, h("a", { href: path(file.name), class: "card" },
    h("strong", {}, isolated(file.name)), h("span", { class: "faint" }, isolated(file.path)),
    h("span", { class: file.problem ? "fault" : "faint" }, file.problem ? file.problem.message : sized(file.size)))));
  return { element: h("section", { class: "sheet" }, h("h1", {}, "Files"), h("ul", { class: "cards" }, rows)) };
}
