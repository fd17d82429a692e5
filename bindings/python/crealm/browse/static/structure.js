// Changing classes and properties: each change says first what it does to the file.

import { send } from "./api.js";
import { h, isolated, put } from "./dom.js";
import { dialog, form } from "./edit.js";
import { Wrong } from "./fields.js";

const TYPES = ["str", "int", "float", "bool", "datetime", "bytes", "Decimal", "UUID", "ObjectId", "Float32", "Any"];
const SHAPES = [["", "one value"], ["list", "list"], ["set", "set"], ["dict", "dictionary"]];

class Looked extends Error {}

/** A dialog that makes changes of classes: the first time it shows what they do, the second time it does them. */
function structure(page, file, title, content, changes) {
  const steps = h("div", {});
  let seen = "";
  const save = async () => {
    const wanted = changes();
    if (JSON.stringify(wanted) !== seen) {
      put(steps, shown(await send([file, "structure"], { changes: wanted, preview: true })));
      seen = JSON.stringify(wanted);
      throw new Looked();
    }
    return send([file, "structure"], { changes: wanted });
  };
  const told = (error) => error instanceof Looked;
  dialog(title, (close) => form(h("div", { class: "fields" }, content, steps), save, {
    label: title, word: "Go on", told, done: (answer) => { close(); if (answer) page.reload(); },
  }));
}

function shown(told) {
  const migration = told.migration
    ? `This is a migration: the version of the schema becomes ${told.versionAfter} (it is ${told.versionBefore}). `
      + "Programs that declare a lower one cannot open the file any more. It cannot be undone here."
    : "Programs that do not know of it go on as before. It cannot be undone here.";
  const steps = told.steps.map((step) => h("li", {}, isolated(step)));
  return h("div", { class: "notice" }, h("ul", {}, steps), h("p", {}, migration), h("p", {}, "Go on to do it."));
}

export function addClass(page, file) {
  const name = text("class-name"), embedded = h("input", { type: "checkbox" });
  const key = propertyForm([], [["", "none"], ["int", "int"], ["str", "str"], ["UUID", "UUID"], ["ObjectId", "ObjectId"]]);
  const content = [
    h("label", { for: "class-name" }, "Name"), name, h("label", { class: "choice" }, embedded, "embedded: its objects are parts of others"),
    h("h3", {}, "Primary key"), key.element,
  ];
  structure(page, file, "A new class", content, () => {
    const property = key.value();
    const isKeyed = property.type !== "";
    return [{
      do: "add-class", class: filled(name), embedded: embedded.checked,
      primaryKey: isKeyed ? property.name : null, properties: isKeyed ? [property] : [],
    }];
  });
}

/** The buttons of a class. */
export function changesOf(page, file, declared) {
  const classes = () => page.schemas.get(file)?.found.classes ?? [declared];
  const add = async () => {
    await page.schema(file);
    const links = classes().map((one) => [`link ${one.name}`, `→ ${one.name}`]);
    const made = propertyForm(SHAPES, [...TYPES.map((one) => [one, one]), ...links]);
    structure(page, file, `A new property of ${declared.name}`, made.element, () => [
      { do: "add-property", class: declared.name, property: made.value() },
    ]);
  };
  const remove = () => structure(page, file, `Remove ${declared.name}`, [], () => [{ do: "remove-class", class: declared.name }]);
  return h(
    "span", { class: "element-buttons" }, button("Add a property", `Add a property to ${declared.name}`, add),
    button("Remove", `Remove the class ${declared.name}`, remove),
  );
}

/** The buttons of a property. */
export function changesOfProperty(page, file, declared, property) {
  const rename = () => {
    const name = text("new-name", property.name);
    structure(page, file, `Rename ${declared.name}.${property.name}`, [h("label", { for: "new-name" }, "Name"), name], () => [
      { do: "rename-property", class: declared.name, name: property.name, to: filled(name) },
    ]);
  };
  const remove = () => structure(
    page, file, `Remove ${declared.name}.${property.name}`, [], () => [{ do: "remove-property", class: declared.name, name: property.name }],
  );
  const isKey = declared.primaryKey === property.name;
  return h(
    "span", { class: "element-buttons" }, button("Rename", `Rename ${property.name}`, rename),
    !isKey && button("Remove", `Remove ${property.name}`, remove),
  );
}

function propertyForm(shapes, types) {
  const name = text("property-name");
  const type = h("select", { "aria-label": "Type" }, types.map(([value, title]) => h("option", { value }, title)));
  const shape = shapes.length > 0 && h("select", { "aria-label": "Collection" }, shapes.map(([value, title]) => h("option", { value }, title)));
  const optional = h("input", { type: "checkbox" }), indexed = h("input", { type: "checkbox" });
  const element = h(
    "div", { class: "fields" }, h("label", { for: "property-name" }, "Name of the property"), name, h("div", { class: "with-button" }, type, shape),
    shape && [h("label", { class: "choice" }, optional, "may be null"), h("label", { class: "choice" }, indexed, "indexed")],
  );
  const value = () => {
    const isLink = type.value.startsWith("link ");
    return {
      name: type.value === "" ? "" : filled(name), type: isLink ? "link" : type.value, ...(isLink ? { class: type.value.slice(5) } : {}),
      collection: shape && shape.value ? shape.value : null, optional: optional.checked, indexed: indexed.checked,
    };
  };
  return { element, value };
}

function text(id, value = "") {
  const input = h("input", { id, type: "text", autocomplete: "off", spellcheck: "false" });
  input.value = value;
  return input;
}

function filled(input) {
  if (!input.value) throw new Wrong("A name is missing.");
  return input.value;
}

function button(word, label, act) {
  return h("button", { type: "button", class: "quiet", "aria-label": label, title: label, onclick: act }, word);
}
