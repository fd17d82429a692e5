// Fields for values: what a person types becomes the text of the JSON that the server reads (see exact.py), so that no digit is lost on the way.

import { ask } from "./api.js";
import { h, isolated, put } from "./dom.js";

const HINTS = {
  int: "a whole number", float: "a number, NaN, Infinity or -Infinity", Float32: "a number, NaN, Infinity or -Infinity",
  Decimal: "a decimal number with up to 34 digits", datetime: "such as 2024-05-06T07:08:09.5Z; UTC without a zone",
  UUID: "such as 01234567-89ab-cdef-0123-456789abcdef", ObjectId: "24 hexadecimal digits", bytes: "hexadecimal digits",
};
const ANY = ["null", "bool", "int", "float", "Float32", "Decimal", "str", "bytes", "datetime", "UUID", "ObjectId", "link", "list", "dict"];
const MARKS = { Float32: "$float32", Decimal: "$decimal", UUID: "$uuid", ObjectId: "$objectId", bytes: "$bytes", datetime: "$datetime" };
const UNEXACT = ["NaN", "Infinity", "-Infinity"];
let numbers = 0; // For names of elements.

/** What is wrong with what was typed. */
export class Wrong extends Error {}

/**
 * A field for a property: { element, text() }. text() is the JSON of what was typed; Wrong where it is none.
 * prop: as schema.json has it, or "prop" of what can be edited. json: the value that is there; undefined for a new one.
 * around: { file, schema }
 */
export function field(prop, json, around) {
  const { file, schema } = around;
  if (prop.collection !== null) return raw(json ?? (prop.collection === "dict" ? "{}" : "[]"), `all elements, as JSON`);
  if (prop.type === "Any") return any(json, file, schema);
  if (prop.type === "link") return isEmbedded(prop, schema) ? inside(prop, json, around) : link(prop.class, json, file, schema, true);
  return single(prop.type, json, prop.optional);
}

export function isEmbedded(prop, schema) {
  return prop.type === "link" && schema.classes.find((one) => one.name === prop.class)?.embedded === true;
}

// Single values

function single(type, json, optional) {
  const isNull = json === "null" || (json === undefined && optional);
  const inner = type === "bool" ? bool(json) : type === "bytes" ? bytes(json) : typed(type, json);
  if (!optional) return inner;
  const box = h("input", { type: "checkbox", checked: isNull, onchange: () => draw() });
  const label = h("label", { class: "choice" }, box, "null");
  const draw = () => { inner.element.hidden = box.checked; };
  draw();
  return { element: h("div", { class: "nullable" }, inner.element, label), text: () => (box.checked ? "null" : inner.text()) };
}

function named() {
  numbers += 1;
  return `field-${numbers}`;
}

function bool(json) {
  const choice = h("select", { id: named() }, ["false", "true"].map((one) => h("option", { value: one, selected: json === one }, one)));
  return { element: choice, text: () => choice.value };
}

function typed(type, json) {
  const shown = type === "str" || json === undefined || json === "null" ? "" : plainText(json);
  const attributes = { id: named(), spellcheck: "false", autocomplete: "off", placeholder: HINTS[type] };
  const input = type === "str" ? h("textarea", { ...attributes, rows: 1, dir: "auto" }) : h("input", { ...attributes, type: "text", dir: "ltr" });
  input.value = type === "str" && json !== undefined && json !== "null" ? JSON.parse(json) : shown;
  // A text area makes one sign of every end of a line, and takes no others: what nobody touched is given back as it was.
  const before = input.value;
  if (type === "str") input.rows = Math.min(12, Math.max(1, before.split("\n").length));
  const text = () => {
    if (json !== undefined && json !== "null" && input.value === before) return json;
    return type === "str" ? JSON.stringify(input.value) : written(type, input.value.trim());
  };
  const make = type === "UUID" ? () => crypto.randomUUID() : type === "ObjectId" ? objectId : type === "datetime" ? now : null;
  const word = type === "datetime" ? "now" : "new";
  const button = make && h("button", { type: "button", class: "quiet", onclick: () => { input.value = make(); } }, word);
  return { element: button ? h("div", { class: "with-button" }, input, button) : input, text };
}

function plainText(json) {
  return json.startsWith('"') ? JSON.parse(json) : json;
}

function now() {
  return new Date().toISOString();
}

function objectId() {
  const random = [...crypto.getRandomValues(new Uint8Array(8))].map((one) => one.toString(16).padStart(2, "0")).join("");
  return Math.floor(Date.now() / 1000).toString(16).padStart(8, "0") + random;
}

/** The JSON of a value of some type, of what was typed. */
function written(type, text) {
  if (type === "int") {
    if (!/^[+-]?\d{1,30}$/.test(text)) throw new Wrong("This is no whole number.");
    return text.replace(/^\+/, "").replace(/^(-?)0+(?=\d)/, "$1");
  }
  if (type === "float" || type === "Float32") {
    if (UNEXACT.includes(text)) return JSON.stringify(text);
    if (text === "" || !Number.isFinite(Number(text))) throw new Wrong("This is no number.");
    const plain = String(Number(text)) === "0" && text.includes("-") ? "-0.0" : text.replace(/^\+/, "");
    return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(plain) ? (/[.eE]/.test(plain) ? plain : `${plain}.0`) : JSON.stringify(Number(text));
  }
  if (type === "datetime" && text.startsWith("{")) return text;
  if (text === "") throw new Wrong("This is empty.");
  return JSON.stringify(text);
}

function bytes(json) {
  const input = h("textarea", { id: named(), rows: 2, spellcheck: "false", class: "code", dir: "ltr", placeholder: HINTS.bytes });
  input.value = json === undefined || json === "null" ? "" : hexOf(JSON.parse(json));
  const file = h("input", { type: "file", "aria-label": "Bytes of a file", onchange: async () => {
    if (file.files[0]) input.value = [...new Uint8Array(await file.files[0].arrayBuffer())].map((one) => one.toString(16).padStart(2, "0")).join("");
  } });
  return {
    element: h("div", {}, input, file),
    text: () => {
      const plain = input.value.replace(/\s+/g, "");
      if (!/^([0-9a-fA-F]{2})*$/.test(plain)) throw new Wrong("These are no hexadecimal digits, two for each byte.");
      return JSON.stringify(base64(plain));
    },
  };
}

function hexOf(text) {
  return [...atob(text)].map((one) => one.charCodeAt(0).toString(16).padStart(2, "0")).join("");
}

function base64(hex) {
  let found = "";
  for (let at = 0; at < hex.length; at += 2) found += String.fromCharCode(Number.parseInt(hex.slice(at, at + 2), 16));
  return btoa(found);
}

/** A value as the JSON that it is. */
function raw(json, hint) {
  const input = h("textarea", { id: named(), rows: 4, spellcheck: "false", class: "code", dir: "ltr", placeholder: hint });
  input.value = json;
  const text = () => {
    try {
      JSON.parse(input.value);
    } catch (error) {
      throw new Wrong(`This is no JSON: ${error.message}`);
    }
    return input.value; // Not what was parsed: that may have lost digits.
  };
  return { element: input, text };
}

// Values of any type

function any(json, file, schema) {
  const begin = kindOf(json);
  const types = h("select", { id: named(), "aria-label": "Type", onchange: () => draw() }, ANY.map((one) => h("option", { value: one }, one)));
  types.value = begin;
  const holder = h("div", {});
  let inner = null;
  const draw = () => {
    const given = types.value === begin ? unmarked(begin, json) : undefined;
    inner = types.value === "null" ? { element: h("span"), text: () => "null" }
      : types.value === "link" ? link(null, given, file, schema, false)
        : types.value === "list" ? raw(given ?? "[]", "elements, as JSON")
          : types.value === "dict" ? raw(given ?? "{}", "entries, as JSON")
            : single(types.value, given, false);
    put(holder, inner.element);
  };
  draw();
  return { element: h("div", { class: "any" }, types, holder), text: () => marked(types.value, inner.text()) };
}

function kindOf(json) {
  if (json === undefined || json === "null") return "null";
  if (json === "true" || json === "false") return "bool";
  if (json.startsWith('"')) return "str";
  if (json.startsWith("[")) return "list";
  if (!json.startsWith("{")) return /[.eE]/.test(json) ? "float" : "int";
  const names = Object.keys(JSON.parse(json));
  if (names.includes("$ref") && names.length === 2) return "link";
  if (names.includes("$seconds") && names.length === 2) return "datetime";
  if (names.length === 1 && names[0] === "$float") return "float";
  const kind = names.length === 1 && Object.keys(MARKS).find((one) => MARKS[one] === names[0]);
  return kind || "dict";
}

function unmarked(kind, json) {
  const mark = kind === "float" ? "$float" : MARKS[kind];
  if (!mark || !json.startsWith("{") || json.includes("$seconds")) return json;
  return JSON.stringify(JSON.parse(json)[mark]);
}

function marked(kind, text) {
  if (kind === "float" && text.startsWith('"')) return `{"$float":${text}}`;
  return MARKS[kind] && !text.includes("$seconds") ? `{${JSON.stringify(MARKS[kind])}:${text}}` : text;
}

// Links

/** The key in a marked link, with all its digits: as a number it might lose some. */
const digitsOf = (json) => /"\$ref":\s*"?(\d+)/.exec(json)?.[1] ?? String(JSON.parse(json).$ref);

/** className: null where it may be any. */
function link(className, json, file, schema, optional) {
  const given = json === undefined || json === "null" ? null : JSON.parse(json);
  const classes = schema.classes.filter((one) => !one.embedded);
  const choice = className === null && h(
    "select", { "aria-label": "Class", onchange: () => { pick(null); search(); } }, classes.map((one) => h("option", { value: one.name }, one.name)),
  );
  if (choice && given) choice.value = given.$class;
  const target = () => className ?? choice.value;
  const input = h("input", {
    id: named(), type: "search", autocomplete: "off", placeholder: "Find an object; #12 is the one with key 12",
    oninput: () => { clearTimeout(timer); timer = setTimeout(search, 150); },
  });
  const found = h("ul", { class: "found" });
  const shown = h("p", { class: "picked", role: "status" });
  let timer = null, key = given ? digitsOf(json) : null, turn = 0;
  const pick = (to, label) => {
    key = to;
    const name = () => [h("span", { class: "faint" }, isolated(target()), ` #${key} `), label && isolated(label)];
    put(shown, key === null ? h("span", { class: "null" }, "null") : name());
    put(found);
  };
  const search = async () => {
    const mine = (turn += 1), text = input.value.trim();
    if (/^#\d+$/.test(text)) return pick(text.slice(1));
    if (!text) return put(found);
    const declared = schema.classes.find((one) => one.name === target());
    const options = { where: condition(declared, text), count: 8, column: columnsOf(declared) };
    const answer = await ask([file, "class", target()], options).catch(() => null);
    if (mine !== turn) return;
    put(found, answer?.rows.map((row) => h("li", {}, h(
      "button", { type: "button", class: "quiet", onclick: () => pick(String(row.key), labelIn(row)) }, isolated(labelIn(row)),
      h("span", { class: "faint" }, ` #${row.key}`),
    ))), answer?.rows.length === 0 && h("li", { class: "faint" }, "none"));
  };
  const none = optional && h("button", { type: "button", class: "quiet", onclick: () => pick(null) }, "null");
  pick(key);
  return {
    element: h("div", { class: "link-field" }, choice, h("div", { class: "with-button" }, input, none), shown, found),
    text: () => {
      const typedKey = /^#(\d+)$/.exec(input.value.trim());
      if (typedKey) pick(typedKey[1]);
      if (key === null && !optional) throw new Wrong("Choose an object.");
      return key === null ? "null" : `{"$ref":${key},"$class":${JSON.stringify(target())}}`;
    },
  };
}

function columnsOf(declared) {
  return [...new Set([declared.label, declared.primaryKey].filter((name) => name !== null))].slice(0, 2);
}

function labelIn(row) {
  return row.cells.length ? String(row.cells[0].v ?? row.cells[0].t) : `#${row.key}`;
}

/** What finds the objects that a person may mean. Names that the language cannot speak find none. */
function condition(declared, text) {
  if (!text) return "";
  const parts = [];
  for (const name of columnsOf(declared)) {
    const prop = declared.properties.find((one) => one.name === name);
    if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) continue;
    if (prop.type === "str") parts.push(`${name} CONTAINS[c] ${JSON.stringify(text)}`);
    else if (prop.type === "int" && /^-?\d{1,18}$/.test(text)) parts.push(`${name} == ${text}`);
    else if (prop.type === "UUID" && /^[0-9a-f-]{36}$/i.test(text)) parts.push(`${name} == uuid(${text})`);
    else if (prop.type === "ObjectId" && /^[0-9a-f]{24}$/i.test(text)) parts.push(`${name} == oid(${text})`);
  }
  return parts.length ? parts.join(" OR ") : "FALSEPREDICATE";
}

// Embedded objects

/** A new embedded object; one that is there is changed where it is, property by property. */
function inside(prop, json, around) {
  const declared = around.schema.classes.find((one) => one.name === prop.class);
  const box = h("input", { type: "checkbox", onchange: () => draw() });
  const holder = h("div", { class: "fields" });
  let form = null;
  const draw = () => {
    form = box.checked ? fields(declared, around) : null;
    put(holder, form?.element);
  };
  const title = json === undefined || json === "null" ? `a new ${prop.class}` : `a new ${prop.class} in place of the one that is there`;
  return {
    element: h("div", {}, h("label", { class: "choice" }, box, isolated(title)), holder),
    text: () => (box.checked ? form.text() : "null"),
  };
}

/** A field for each property: { element, text(), told(name, message) }. What nobody touched is left out. */
export function fields(declared, around) {
  const rows = new Map(declared.properties.map((prop) => [prop.name, row(declared, prop, around)]));
  return {
    element: h("div", { class: "fields" }, [...rows.values()].map((one) => one.element)),
    text: () => {
      const parts = [];
      for (const [name, one] of rows) {
        one.tell("");
        if (!one.isTouched()) continue;
        try {
          parts.push(`${JSON.stringify(name.startsWith("$") ? "$" + name : name)}:${one.text()}`);
        } catch (error) {
          one.tell(error.message);
          throw error;
        }
      }
      return `{${parts.join(",")}}`;
    },
    told: (name, message) => rows.get(name)?.tell(message) ?? false,
  };
}

function row(declared, prop, around) {
  const isMade = declared.rules?.properties?.[prop.name]?.auto === true; // The library makes the value.
  let touched = prop.name === declared.primaryKey && !isMade;
  const made = field(prop, undefined, around);
  const said = h("p", { class: "fault", role: "alert" });
  const touch = () => { touched = true; };
  const controls = "input:not([type=checkbox]), textarea, select";
  const control = made.element.matches(controls) ? made.element : made.element.querySelector(controls);
  const notes = [
    prop.name === declared.primaryKey && " · primary key", isMade && " · made by the file if it is left out",
  ];
  const title = [isolated(prop.name), h("span", { class: "type" }, isolated(typeOf(prop)), notes)];
  const element = h(
    "div", { class: "form-row", oninput: touch, onchange: touch, onclick: (event) => event.target.closest("button") && touch() },
    control?.id ? h("label", { for: control.id }, title) : h("span", { class: "label" }, title), made.element, said,
  );
  return { element, text: made.text, isTouched: () => touched, tell: (message) => { put(said, message); return true; } };
}

export function typeOf(prop) {
  const base = prop.type === "link" ? prop.class : prop.type;
  const one = prop.optional && prop.type !== "link" && prop.type !== "Any" ? `${base}?` : base;
  return prop.collection === null ? one : `${prop.collection} of ${one}`;
}
