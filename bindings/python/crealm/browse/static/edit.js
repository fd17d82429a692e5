// Changing a file: forms in the place of values, dialogs, and what is said where somebody else was faster.

import { path } from "./address.js";
import { ask, Refusal, send } from "./api.js";
import { rendered } from "./cells.js";
import { counted, h, isolated, put, say } from "./dom.js";
import { field, fields, Wrong } from "./fields.js";

/** Sends an edit: changes as changes.py has them. */
export async function change(page, file, changes, options = {}) {
  const told = await send([file, "edit"], { changes, ...options });
  if (!options.preview) page.edited(told);
  return told;
}

/** A form in the place of a value. at: the parts of its address; done: what follows, also when nothing was changed. */
export async function inPlace(page, at, done) {
  const [file, , className, key, ...steps] = at;
  const [found, schema] = await Promise.all([ask(at), page.schema(file)]);
  const { prop, element, json, mark } = found.edit;
  if (json === undefined) return h("p", { class: "faint" }, "This is too long to be changed here.");
  const made = field(element ? { ...prop, collection: null } : prop, json, { file, schema });
  const save = (over) => change(page, file, [{ do: "set", class: className, key, path: steps, json: made.text(), mark: over ?? mark }]);
  return form(made.element, save, { done, label: `Change ${steps.at(-1)}` });
}

/** A form that saves: save(mark) makes a promise; the mark is that of what somebody else wrote, where that is to be written over. */
export function form(content, save, { done, label, word = "Save", told = () => false }) {
  const said = h("div", { class: "said", role: "alert" });
  const button = h("button", { type: "submit", class: "main" }, word);
  const attempt = async (mark) => {
    put(said);
    button.disabled = true;
    try {
      const answer = await save(mark);
      done(answer);
    } catch (error) {
      if (!told(error)) put(said, ...complaint(error, () => attempt(error.error.mark), done));
      button.disabled = false;
      if (document.activeElement === document.body) button.focus(); // A button that was off has lost it.
    } finally {
      button.disabled = false;
    }
  };
  const element = h(
    "form",
    {
      class: "change", "aria-label": label, novalidate: true, onsubmit: (event) => { event.preventDefault(); attempt(); },
      onkeydown: (event) => {
        if (event.key === "Escape") { event.stopPropagation(); event.preventDefault(); done(null); }
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); attempt(); }
      },
    },
    content, said, h("div", { class: "buttons" }, button, h("button", { type: "button", onclick: () => done(null) }, "Cancel")),
  );
  queueMicrotask(() => {
    for (const control of element.querySelectorAll("input, textarea, select")) {
      if (!control.labels.length && !control.hasAttribute("aria-label")) control.setAttribute("aria-label", label);
    }
    element.querySelector("input:not([type=checkbox]), textarea, select")?.focus();
  });
  return element;
}

/** What went wrong. Where somebody else was faster: what is there now, and the choice. */
function complaint(error, again, done) {
  if (error instanceof Wrong) return [h("p", { class: "fault" }, error.message)];
  if (!(error instanceof Refusal)) return [h("p", { class: "fault" }, "The server does not answer. Nothing is known of whether it was written.")];
  const { kind, message, hint, now } = error.error;
  const text = h("p", { class: "fault" }, isolated(message), hint && h("span", { class: "faint" }, ` ${hint}`));
  if (kind !== "Conflict" || !now) return [text];
  const there = now.t === "nothing" ? h("span", { class: "null" }, "nothing any more") : rendered(now, null);
  return [h("div", { class: "conflict" }, text, h("p", {}, "What is there now: ", there), h(
    "div", { class: "buttons" }, h("button", { type: "button", onclick: again }, "Write mine over it"),
    h("button", { type: "button", onclick: () => done(null) }, "Leave theirs"),
  ))];
}

/** A dialog with a form; closed when that is done. */
export function dialog(title, made) {
  const holder = h("dialog", { "aria-label": title, onclose: () => holder.remove() });
  const close = () => { holder.close(); };
  put(holder, h("h2", {}, isolated(title)), made(close));
  document.body.append(holder);
  holder.showModal();
  return holder;
}

/** Makes an object. */
export async function create(page, file, className) {
  const schema = await page.schema(file);
  const declared = schema.classes.find((one) => one.name === className);
  const rows = fields(declared, { file, schema });
  const save = () => change(page, file, [{ do: "create", class: className, json: rows.text() }]);
  const told = (error) => error instanceof Refusal && error.error.property !== undefined && rows.told(error.error.property, error.error.message)
    || error instanceof Wrong;
  dialog(`New ${className}`, (close) => form(rows.element, save, {
    label: `New ${className}`, word: "Create", told,
    done: (answer) => {
      close();
      if (answer) page.go(path(file, "class", className, answer.changes[0].key));
    },
  }));
}

/** Deletes objects, once a person has seen which. then: what follows. */
export async function remove(page, file, className, keys, then = () => {}) {
  const changes = keys.map((key) => ({ do: "delete", class: className, key: String(key) }));
  let told;
  try {
    told = await change(page, file, changes, { preview: true });
  } catch (error) {
    return trouble(error);
  }
  const entry = (one) => h("li", {}, isolated(one.label || `#${one.key}`), h("span", { class: "faint" }, ` #${one.key}`));
  const list = h("ul", { class: "deleted" }, told.changes.map(entry));
  const content = h(
    "div", {}, h("p", {}, `${counted(told.total, "object")} of `, isolated(className), " will be deleted, with what is embedded in them."),
    h("p", {}, "Links to them become null, or leave their lists."),
    list, told.total > told.changes.length && h("p", { class: "faint" }, `… and ${told.total - told.changes.length} more`),
    told.also > 0 && h(
      "p", { class: "fault" },
      `Rules of the file delete further objects: ${counted(told.also, "object")}. Undo does not bring them back.`,
    ),
    told.lost > 0 && h("p", { class: "fault" }, "Links to them inside values of any type will not come back with Undo."),
  );
  const save = () => change(page, file, changes.map((one, index) => ({ ...one, mark: told.marks[index] })));
  dialog("Delete", (close) => form(content, save, {
    label: "Delete", word: "Delete", done: (answer) => { close(); if (answer) then(); },
  }));
}

/** Takes rows that were copied from elsewhere. */
export function paste(page, file, className) {
  const text = h("textarea", { id: "rows", rows: 10, spellcheck: "false", class: "code", placeholder: "The first line has the names of properties" });
  const kind = h("select", { "aria-label": "Format" }, [["tsv", "cells of a spreadsheet (TSV)"], ["csv", "CSV"], ["json", "JSON"]].map(
    ([value, title]) => h("option", { value }, title),
  ));
  const from = h("input", { type: "file", "aria-label": "Rows of a file", onchange: async () => {
    const [chosen] = from.files;
    if (!chosen) return;
    text.value = await chosen.text();
    kind.value = /\.json$/i.test(chosen.name) ? "json" : /\.tsv$/i.test(chosen.name) ? "tsv" : "csv";
  } });
  const shown = h("div", { class: "faint" });
  const ready = () => ({ class: className, format: kind.value, text: text.value });
  let seen = "";
  const save = async () => {
    const body = ready();
    if (JSON.stringify(body) !== seen) {
      const told = await send([file, "rows"], { ...body, preview: true });
      seen = JSON.stringify(body);
      put(shown, h("p", {}, `${counted(told.total, "object")} will be made. Save once more to make them.`), h(
        "ul", {}, told.changes.slice(0, 5).map((one) => h("li", { class: "code" }, isolated(one.after ?? ""))),
      ));
      throw new Looked();
    }
    const told = await send([file, "rows"], body);
    page.edited(told);
    return told;
  };
  dialog(`Rows of ${className}`, (close) => form(
    h("div", { class: "fields" }, h("label", { for: "rows" }, "Rows"), text, h("div", { class: "with-button" }, kind, from), shown), save,
    { label: `Rows of ${className}`, done: close, told: (error) => error instanceof Looked },
  ));
}

class Looked extends Error {}

/** A dialog that says what went wrong. */
export function trouble(error) {
  const message = error instanceof Refusal ? error.error.message : "The server does not answer.";
  dialog("This was not done", (close) => h(
    "div", {}, h("p", { class: "fault", role: "alert" }, isolated(message)),
    error instanceof Refusal && error.error.hint && h("p", { class: "faint" }, error.error.hint),
    h("div", { class: "buttons" }, h("button", { type: "button", onclick: close }, "Close")),
  ));
}

/** Takes the last edit back, or makes it again. */
export async function turnBack(page, file, way) {
  try {
    const told = await send([file, way], {});
    page.edited(told);
    say(way === "undo" ? "Taken back" : "Made again");
  } catch (error) {
    trouble(error);
  }
}

// Elements of collections

/** The buttons of an element: change, up and down, remove. found: the answer that it came with. */
export function buttonsOf(page, at, found, item, index) {
  const [file, , className, key, ...steps] = at;
  const place = [...steps, String(item.place)];
  const now = (does) => change(page, file, [{ class: className, key, path: place, mark: item.mark, ...does }]).catch(trouble);
  const isList = found.cell.t === "list", isHeld = ["list", "set", "dict", "object"].includes(item.cell.t);
  const name = String(item.place);
  const button = (text, label, act, off = false) => h(
    "button", { type: "button", class: "quiet", title: label, "aria-label": `${label}: ${name}`, disabled: off, onclick: act }, text,
  );
  return h(
    "span", { class: "element-buttons" },
    found.cell.t !== "set" && !isHeld && button("✎", "Change", () => dialogAt(page, [...at, name])),
    isList && button("↑", "Up", () => now({ do: "move", to: item.place - 1 }), item.place === 0),
    isList && button("↓", "Down", () => now({ do: "move", to: item.place + 1 }), item.place === found.total - 1),
    button("✕", "Remove", () => now({ do: "remove" })),
  );
}

/** A dialog that changes the value at an address. */
export async function dialogAt(page, at) {
  let close = () => {};
  let content;
  try {
    content = await inPlace(page, at, () => close());
  } catch (error) {
    return trouble(error);
  }
  const made = dialog(at.slice(4).join(" › "), () => content);
  close = () => made.close();
}

/** A form for a new element. */
export async function add(page, at) {
  const [file, , className, key, ...steps] = at;
  const [found, schema] = await Promise.all([ask(at, { count: 1 }), page.schema(file)]);
  const { prop } = found.edit;
  const made = field({ ...prop, collection: null, optional: prop.optional && found.cell.t !== "set" }, undefined, { file, schema });
  const name = found.cell.t === "dict" && h("input", { id: "new-key", type: "text", autocomplete: "off" });
  const where = found.cell.t === "list" && h("input", { id: "new-place", type: "text", inputmode: "numeric", value: String(found.total) });
  const content = h(
    "div", { class: "fields" }, name && [h("label", { for: "new-key" }, "Key"), name],
    where && [h("label", { for: "new-place" }, "Before element"), where],
    h("span", { class: "label" }, "Value"), made.element,
  );
  const save = async () => {
    const base = { class: className, key, json: made.text() };
    if (found.cell.t === "set") return change(page, file, [{ ...base, do: "add", path: steps }]);
    if (!name) {
      const isLast = where.value === String(found.total);
      return change(page, file, [{ ...base, do: "insert", path: [...steps, numberIn(where.value)], ...(isLast ? { mark: found.edit.end } : {}) }]);
    }
    return change(page, file, [{ ...base, do: "set", path: [...steps, name.value], mark: found.edit.missing }]);
  };
  dialog("Add", (close) => form(content, save, { label: "Add", word: "Add", done: close }));
}

function numberIn(text) {
  if (!/^\d{1,15}$/.test(text.trim())) throw new Wrong("The place is a number.");
  return text.trim();
}
