// The objects of a class: a query, and a table of what it finds.

import { address, path } from "./address.js";
import { ask, Refusal, send } from "./api.js";
import { isNumeric, Place } from "./cells.js";
import { create, dialogAt, paste, remove, trouble } from "./edit.js";
import { counted, grouped, h, isolated, put, say } from "./dom.js";
import { panel } from "./facet.js";
import { Grid } from "./grid.js";
import { QueryBox } from "./query.js";

const MOST = 40; // Columns that are shown when nobody says which.

export async function show(at, options, page) {
  return new Objects(at[0], at[2], options, page).start();
}

class Objects {
  constructor(file, name, options, page) {
    this.file = file;
    this.name = name;
    this.page = page;
    this.where = options.get("where") ?? "";
    this.order = options.getAll("sort").map((text) => ({ name: text.replace(/ (asc|desc)$/, ""), descends: text.endsWith(" desc") }));
    this.chosen = options.getAll("column");
    this.picked = new Set(); // Keys of objects.
    this.stored = `widths ${file} ${name}`;
  }

  async start() {
    const schema = await this.page.schema(this.file);
    this.declared = schema.classes.find((one) => one.name === this.name);
    if (!this.declared) throw new Refusal(404, { kind: "NoSuchClass", message: `There is no class ${this.name}` });
    this.names = this.declared.properties.map((one) => one.name);
    if (!this.chosen.length) this.chosen = this.usual();
    this.chosen = this.chosen.filter((name) => this.names.includes(name));
    this.box = new QueryBox({
      schema, className: this.name, text: this.where, asked: (text) => this.askFor(text), store: `queries ${this.name}`,
    });
    this.count = h("span", { class: "total", role: "status" });
    this.how = h("span", { class: "faint how" });
    this.holder = h("div", { class: "holder" });
    this.aside = h("div", { class: "aside", hidden: true });
    this.element = h(
      "section", { class: "objects" },
      h("div", { class: "bar" }, this.box.element, this.columnMenu(), this.queryMenu(), this.takeAway(), this.changes()),
      h("div", { class: "beside" }, this.holder, this.aside), h("div", { class: "foot" }, this.count, this.how),
    );
    await this.fill();
    return this;
  }

  /** The label of the class first, then as the file has them. */
  usual() {
    const first = [this.declared.primaryKey, this.declared.label].filter((name) => name !== null);
    return [...new Set([...first, ...this.names])].slice(0, MOST);
  }

  get options() {
    const isUsual = JSON.stringify(this.chosen) === JSON.stringify(this.usual());
    return {
      where: this.where,
      sort: this.order.map((one) => `${one.name} ${one.descends ? "desc" : "asc"}`), column: isUsual ? [] : this.chosen,
    };
  }

  shown() {
    if (!this.where) this.grid?.element.focus({ preventScroll: true });
  }

  close() {
    this.grid?.close();
    this.explaining?.abort();
    this.facets?.close();
  }

  /** Another version of the file: the classes may be others, too. */
  async renew() {
    await this.page.schema(this.file);
    this.grid?.renew();
    this.facets?.renew();
  }

  // Asking

  async askFor(text) {
    const isOther = text !== this.where;
    this.where = text;
    this.page.note(this.options, !isOther);
    await this.fill();
    if (this.facets) this.facet(this.facetOf);
  }

  /** A new table, once its first page is there: until then the old one stays. */
  async fill() {
    this.explaining?.abort();
    const grid = this.makeGrid(), news = this.page.news, mine = (this.filling = (this.filling ?? 0) + 1);
    this.element.classList.add("turning");
    try {
      const first = await ask([this.file, "class", this.name], { ...this.request(), from: 0, count: 100 });
      if (mine !== this.filling) return grid.close(); // Somebody asked for something else meanwhile.
      this.box.accept();
      this.grid?.close();
      this.grid = grid;
      put(
        this.holder, grid.element,
        h("p", { class: "empty", hidden: true }, this.where ? "No object meets this condition." : "There are no objects of this class."),
      );
      grid.filled(0, this.paged(first));
      this.tell(first.total);
      if (news !== this.page.news) grid.renew(); // The file changed while this was asked for.
    } catch (error) {
      grid.close();
      if (mine !== this.filling) return;
      if (!(error instanceof Refusal) || error.status !== 400 || !this.where) throw error;
      this.box.refuse(error.error);
      if (!this.grid) put(this.holder, h("p", { class: "empty" }, "The condition cannot be understood."));
    } finally {
      this.element.classList.remove("turning");
    }
  }

  request() {
    return { where: this.where, sort: this.options.sort, column: this.chosen };
  }

  tell(total) {
    put(this.count, counted(total, "object"));
    put(this.how);
    say(counted(total, "object"));
    if (this.where) this.explain();
  }

  async explain() {
    this.explaining = new AbortController();
    try {
      const { explanation } = await ask(
        [this.file, "explain", this.name], { where: this.where, sort: this.options.sort }, this.explaining.signal,
      );
      const way = {
        scan: "every object was tested", index: `by the index of ${explanation.property}`,
        words: `by the words of ${explanation.property}`, nothing: "nothing was tested",
      }[explanation.access] ?? explanation.access;
      put(
        this.how,
        h("span", { title: explanation.query }, isolated(`${way}: ${grouped(explanation.tested)} of ${grouped(explanation.objects)}`)),
      );
    } catch {
      put(this.how);
    }
  }

  // The table

  makeGrid() {
    const properties = new Map(this.declared.properties.map((one) => [one.name, one]));
    const columns = this.chosen.map((name) => (
      {
        name, type: typeText(properties.get(name)), sortable: isSortable(properties.get(name), name, this),
        numeric: isNumeric(typeText(properties.get(name))), countable: isCountable(properties.get(name), name, this),
        width: widthOf(properties.get(name)),
      }
    ));
    const key = {
      name: "\u0000key", title: "#", width: this.deleting ? 92 : 72, numeric: true, type: "the key of the object",
      render: (cell) => this.keyCell(cell),
    };
    return new Grid([key, ...columns], (from, count, signal) => ask(
      [this.file, "class", this.name], { ...this.request(), from, count }, signal,
    ).then((answer) => this.paged(answer)), {
      label: `Objects of ${this.name}`, order: this.order, widths: new Map(JSON.parse(sessionStorage.getItem(this.stored) ?? "[]")),
      sorted: (column, adds) => this.sort(column.name, adds),
      counted: (column) => this.facet(column.name),
      resized: (widths) => sessionStorage.setItem(this.stored, JSON.stringify([...widths])),
      filled: (answer) => this.tellIfNew(answer),
      failed: (error) => this.page.failed(error),
      changed: (row, column) => this.changeCell(row, column),
      removed: (row) => this.deleting && remove(this.page, this.file, this.name, [row.cells[0].text]),
    });
  }

  tellIfNew(answer) {
    this.holder.lastElementChild.hidden = answer.total > 0;
    if (this.count.dataset.total !== undefined && Number(this.count.dataset.total) !== answer.total) this.tell(answer.total);
    this.count.dataset.total = answer.total;
  }

  paged(answer) {
    const rows = answer.rows.map((row) => {
      const place = new Place(this.file, "class", this.name, String(row.key));
      return {
        id: row.key, place: (column) => place.inside(column.name),
        cells: [{ t: "int", v: row.key, href: place.href, text: String(row.key) }, ...row.cells],
      };
    });
    return { total: answer.total, state: answer.state, rows };
  }

  // Facets

  facet(name) {
    this.unfacet();
    this.facets = panel(
      this.file, this.name, name, this.where, (where) => { this.box.use(where); },
      () => { this.unfacet(); this.grid.element.focus(); },
    );
    this.facetOf = name;
    put(this.aside, this.facets.element);
    this.aside.hidden = false;
  }

  unfacet() {
    this.facets?.close();
    this.facets = null;
    put(this.aside);
    this.aside.hidden = true;
  }

  // Changing

  changes() {
    if (!this.page.editing || this.declared.embedded) return null;
    this.deleting = h("button", { type: "button", hidden: true, onclick: () => this.removePicked() }, "Delete");
    return [
      h("button", { type: "button", onclick: () => create(this.page, this.file, this.name) }, "New"),
      h("button", { type: "button", onclick: () => paste(this.page, this.file, this.name) }, "Paste rows"), this.deleting,
    ];
  }

  pick(key, is) {
    if (is) this.picked.add(key);
    else this.picked.delete(key);
    this.deleting.hidden = !this.picked.size;
    put(this.deleting, `Delete ${grouped(this.picked.size)}`);
  }

  removePicked() {
    remove(this.page, this.file, this.name, [...this.picked], () => {
      for (const key of [...this.picked]) this.pick(key, false);
    });
  }

  keyCell(cell) {
    const link = h("a", { href: cell.href, class: "key" }, cell.text);
    if (!this.deleting) return link;
    return [h("input", {
      type: "checkbox", tabindex: -1, "aria-label": `Select #${cell.text}`, checked: this.picked.has(cell.text),
      onchange: (event) => this.pick(cell.text, event.target.checked),
    }), link];
  }

  /** A change of the value in a cell; collections have pages of their own. */
  changeCell(row, column) {
    if (!this.page.editing || row.cells[0].v === null) return;
    const cell = row.cells[this.chosen.indexOf(column.name) + 1];
    const place = column.name === "\u0000key" ? null : row.place(column);
    if (place === null) this.page.go(new Place(this.file, "class", this.name, row.cells[0].text).href);
    else if (["list", "set", "dict", "object"].includes(cell.t)) this.page.go(place.href);
    else dialogAt(this.page, [this.file, ...place.parts]);
  }

  // Queries with names

  queryMenu() {
    const list = h("ul", {});
    const name = h("input", { type: "text", "aria-label": "Name of the query", placeholder: "Name", autocomplete: "off" });
    const fill = (queries) => put(list, queries.filter((one) => one.class === this.name).map((one) => h(
      "li", { class: "with-button" },
      h("a", { class: "entry", href: address(path(this.file, "class", this.name), one.options) }, isolated(one.name)),
      h(
        "button", { type: "button", class: "quiet", "aria-label": `Forget ${one.name}`, onclick: () => keep({ name: one.name, remove: true }) },
        "✕",
      ),
    )));
    const told = ({ queries }) => fill(queries.map((one) => ({ ...one, options: { where: one.where, sort: one.sort, column: one.column } })));
    const keep = (given) => send([this.file, "queries"], { class: this.name, ...given }).then(told).catch(trouble);
    const save = (event) => {
      event.preventDefault();
      if (name.value) keep({ name: name.value, ...this.options });
      name.value = "";
    };
    const menu = h(
      "details", { class: "menu" }, h("summary", {}, "Queries"),
      h("div", { class: "pop" }, list, h("form", { class: "with-button", onsubmit: save }, name, h("button", { type: "submit" }, "Save"))),
    );
    menu.addEventListener("toggle", () => menu.open && ask([this.file, "queries"]).then(told).catch(trouble));
    return menu;
  }

  // Taking away

  takeAway() {
    const menu = h("details", { class: "menu" }, h("summary", {}, "Download"));
    const fill = () => {
      const isWhole = !this.where && !this.order.length;
      const entry = (kind, title) => h(
        "li", {},
        h(
          "a",
          {
            href: address(path(this.file, "class", this.name), { where: this.where, sort: this.options.sort, download: kind }),
            download: true, class: "entry",
          },
          title,
        ),
      );
      put(
        list,
        [["csv", "CSV"], ["json", "JSON"], ["ndjson", "NDJSON"]].map((one) => entry(...one)),
        isWhole && [["parquet", "Parquet"], ["sqlite", "SQLite"]].map((one) => entry(...one)),
      );
    };
    const list = h("ul", { class: "pop" });
    menu.append(list);
    menu.addEventListener("toggle", () => menu.open && fill());
    return menu;
  }

  sort(name, adds) {
    const known = this.order.find((one) => one.name === name);
    const others = adds ? this.order.filter((one) => one.name !== name) : [];
    if (!known) this.order = [...others, { name, descends: false }];
    else if (!known.descends) this.order = adds ? this.order.map((one) => (
      one === known ? { name, descends: true } : one
    )) : [{ name, descends: true }];
    else this.order = others;
    this.changed();
  }

  changed() {
    this.page.note(this.options);
    this.fill().catch((error) => this.page.failed(error));
  }

  // Columns

  columnMenu() {
    const boxes = this.names.map((name) => h(
      "label", { class: "choice" },
      h("input", { type: "checkbox", value: name, checked: this.chosen.includes(name), onchange: () => choose() }),
      isolated(name),
    ));
    const choose = () => {
      const inputs = [...list.querySelectorAll("input")];
      const wanted = new Set(inputs.filter((input) => input.checked).map((input) => input.value));
      this.chosen = [
        ...this.chosen.filter((name) => wanted.has(name)),
        ...this.names.filter((name) => wanted.has(name) && !this.chosen.includes(name))
      ];
      this.changed();
    };
    const all = (is) => h(
      "button",
      {
        type: "button", class: "quiet",
        onclick: () => { list.querySelectorAll("input").forEach((input) => { input.checked = is; }); choose(); },
      },
      is ? "all" : "none",
    );
    const list = h("div", { class: "choices" }, boxes);
    const hidden = this.names.length - this.chosen.length;
    return h(
      "details", { class: "menu" },
      h("summary", {}, "Columns", hidden > 0 && h("span", { class: "faint" }, ` ${this.chosen.length} of ${this.names.length}`)),
      h("div", { class: "pop" }, h("p", {}, all(true), all(false)), list),
    );
  }
}

function typeText(property) {
  const base = property.type === "link" ? property.class : property.type;
  const element = property.optional && property.type !== "link" && property.type !== "Any" ? `Optional[${base}]` : base;
  return property.collection === null ? element : property.collection === "dict" ? `dict[str, ${element}]` : `${property.collection}[${element}]`;
}

function isCountable(property, name, objects) {
  return isSortable(property, name, objects) && property.type !== "Any";
}

function isSortable(property, name, { page, file }) {
  const target = property.type === "link" && page.schemas.get(file).found.classes.find((one) => one.name === property.class);
  return property.collection === null && !(target && target.embedded) && name !== "" && !/^@|[.[\]"\\]/.test(name);
}

const WIDE = {
  bool: 80, int: 110, float: 120, Float32: 110, str: 200, bytes: 200, datetime: 220, Decimal: 140, UUID: 290,
  ObjectId: 200, Any: 200, link: 170,
};

function widthOf(property) {
  return property.collection === null ? WIDE[property.type] : 220;
}

/** Where the objects of a class are that meet a condition. */
export function whereAddress(file, name, where) {
  return address(path(file, "class", name), { where });
}
