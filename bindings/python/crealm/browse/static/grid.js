// A table of any length. Only the rows that are seen are on the page, and only they, and their neighbours, are asked for.

import { h, put, say } from "./dom.js";
import { plain, rendered } from "./cells.js";

const ROW = 27; // Pixels; style.css has the same.
const PAGE = 100; // Rows that are asked for at a time.
const TALLEST = 8_000_000; // Pixels that web clients still lay out exactly; a longer table is scrolled by share.
const KEPT = 60; // Pages in memory.
const FLASH = 6000; // Milliseconds that what changed is marked.
const WIDTHS = { least: 48, usual: 150, most: 900 };

/**
 * columns: [{ name, title, sortable, numeric, type, width }]
 * source(first, count, signal): { total, state, rows: [{ id, href, place(column), cells }] }
 * events: sorted(column, adds), counted(column), resized(widths), filled(answer), failed(error), changed(row, column), removed(row)
 */
export class Grid {
  constructor(columns, source, { label, order = [], widths = new Map(), ...events }) {
    this.columns = columns;
    this.source = source;
    this.events = events;
    this.order = order;
    this.widths = columns.map((column) => widths.get(column.name) ?? column.width ?? WIDTHS.usual);
    this.total = null;
    this.state = null; // Which state of the file is shown.
    this.top = 0; // The row at the upper edge; a part of it may be hidden.
    this.active = { row: 0, column: 0 };
    this.expected = 0; // Where the scrollbar was put to, so that what it tells then is no wish.
    this.pages = new Map();
    this.waiting = new Map();
    this.rows = new Map(); // Elements, by row.
    this.shown = new WeakMap(); // What they show.
    this.shadow = new Map(); // Pages of the version before, shown until the new ones are there.
    this.changed = new Map(); // Cells that are not what they were before the last commit, by row.
    this.build(label);
  }

  build(label) {
    this.head = h(
      "div", { class: "grid-head", role: "row", "aria-rowindex": 1 },
      this.columns.map((column, index) => this.header(column, index)),
    );
    this.canvas = h("div", { class: "grid-canvas", role: "presentation" });
    this.element = h("div", {
      class: "grid", role: "grid", tabindex: 0, "aria-label": label, "aria-colcount": this.columns.length,
      onscroll: () => this.scrolled(), onkeydown: (event) => this.typed(event), onclick: (event) => this.clicked(event), ondblclick: () => this.wishes("changed"),
    }, this.head, this.canvas);
    this.element.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.element);
    this.setWidths();
  }

  // Filling

  /** Asks for what is seen; the first answer says how long the table is. */
  async start() {
    await this.fetch(0);
  }

  close() {
    this.observer.disconnect();
    for (const controller of this.waiting.values()) controller.abort();
  }

  /** Another version of the file: what is seen is asked for again, and shows what changed. */
  renew() {
    for (const controller of this.waiting.values()) controller.abort();
    this.waiting.clear();
    this.shadow = new Map([...this.shadow, ...this.pages].slice(-KEPT)); // Of two versions, one after the other, some pages may not have come.
    this.pages = new Map();
    this.before = null;
    this.draw();
  }

  async fetch(page) {
    if (this.pages.has(page) || this.waiting.has(page)) return;
    const controller = new AbortController();
    this.waiting.set(page, controller);
    try {
      const answer = await this.source(page * PAGE, PAGE, controller.signal);
      if (this.waiting.get(page) === controller) this.filled(page, answer); // Else it came just when it was not wanted any more.
    } catch (error) {
      if (this.waiting.get(page) === controller && error.name !== "AbortError") this.events.failed?.(error);
    } finally {
      if (this.waiting.get(page) === controller) this.waiting.delete(page);
    }
  }

  filled(page, answer) {
    if (this.state !== null && answer.state !== this.state && this.pages.size) this.renew();
    this.state = answer.state;
    this.total = answer.total;
    this.pages.set(page, answer.rows);
    if (this.pages.size > KEPT) this.pages.delete(this.pages.keys().next().value);
    this.compare(page, answer.rows);
    this.canvas.style.height = `${Math.min(this.total * ROW, TALLEST)}px`;
    this.element.setAttribute("aria-rowcount", this.total + 1);
    for (const row of [...this.rows.keys()]) if (Math.floor(row / PAGE) === page) this.freshen(row);
    this.events.filled?.(answer);
    this.draw();
  }

  /** Marks for a while which cells are not what they were. */
  compare(page, rows) {
    if (!this.shadow.size) return;
    this.before ??= new Map([...this.shadow.values()].flat().map((row) => [row.id, row]));
    const found = [], isKnown = this.shadow.has(page);
    rows.forEach((row, index) => {
      const before = this.before.get(row.id);
      const cells = row.cells.map((cell, column) => (before ? !isSame(cell, before.cells[column]) : isKnown));
      if (cells.some(Boolean)) found.push([page * PAGE + index, cells]);
      else this.changed.delete(page * PAGE + index);
    });
    for (const [row, cells] of found) this.changed.set(row, cells);
    if (found.length) setTimeout(() => found.forEach(([row, cells]) => this.unmark(row, cells)), FLASH);
  }

  /** An animation would be drawn sixty times in a second, in each page that shows the file. */
  unmark(row, cells) {
    if (this.changed.get(row) !== cells) return; // It changed again.
    this.changed.delete(row);
    for (const cell of this.rows.get(row)?.children ?? []) cell.classList.remove("changed");
  }

  row(index) {
    const page = Math.floor(index / PAGE);
    return this.pages.get(page)?.[index % PAGE] ?? this.shadow.get(page)?.[index % PAGE];
  }

  // Scrolling

  get seen() {
    return Math.max(1, (this.element.clientHeight - this.head.offsetHeight) / ROW);
  }

  get furthest() {
    return Math.max(0, (this.total ?? 0) - this.seen);
  }

  get isScaled() {
    return (this.total ?? 0) * ROW > TALLEST;
  }

  scrolled() {
    const range = this.element.scrollHeight - this.element.clientHeight;
    if (!this.isScaled) this.top = this.element.scrollTop / ROW;
    else if (Math.abs(
      this.element.scrollTop - this.expected,
    ) > 1) this.top = range > 0 ? (this.element.scrollTop / range) * this.furthest : 0;
    this.expected = this.element.scrollTop;
    this.draw();
  }

  /** A long table moves by rows under the wheel, not by shares of it. */
  wheeled(event) {
    if (!this.isScaled || event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    event.preventDefault();
    this.moveTo(this.top + event.deltaY / (event.deltaMode === 1 ? 1 : ROW));
  }

  moveTo(row) {
    this.top = Math.min(Math.max(0, row), this.furthest);
    const range = this.element.scrollHeight - this.element.clientHeight;
    this.expected = this.isScaled ? Math.round((this.top / Math.max(1, this.furthest)) * range) : this.top * ROW;
    this.element.scrollTop = this.expected;
    this.draw();
  }

  // Drawing

  draw() {
    if (this.total === null) return;
    const first = Math.max(0, Math.floor(this.top) - 4);
    const end = Math.min(this.total, Math.ceil(this.top + this.seen) + 4);
    for (const row of [...this.rows.keys()]) if (row < first || row >= end) this.drop(row);
    for (let row = first; row < end; row += 1) {
      const element = this.rows.get(row) ?? this.make(row);
      const y = this.isScaled ? this.element.scrollTop + (row - this.top) * ROW : row * ROW;
      element.style.transform = `translateY(${y}px)`;
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.want(first, end), this.pages.size ? 30 : 0);
  }

  /** What is passed over on the way to another place is not asked for. */
  want(first, end) {
    const wanted = new Set();
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(first, end - 1) / PAGE); page += 1) wanted.add(page);
    for (const [page, controller] of this.waiting) if (!wanted.has(page)) { controller.abort(); this.waiting.delete(page); }
    for (const page of wanted) this.fetch(page);
  }

  /** Shows what a row has now. Only cells that are others are made anew. */
  freshen(index) {
    const element = this.rows.get(index), row = this.row(index), before = this.shown.get(element);
    if (!row || before?.id !== row.id) {
      this.drop(index);
      return;
    }
    row.cells.forEach((cell, at) => {
      const isMarked = this.changed.get(index)?.[at] ?? false, node = element.children[at];
      if (!isSame(cell, before.cells[at])) node.replaceWith(this.cell(index, at, cell, row));
      else if (!isMarked) node.classList.remove("changed");
    });
    this.shown.set(element, row);
  }

  drop(row) {
    this.rows.get(row)?.remove();
    this.rows.delete(row);
  }

  make(index) {
    const row = this.row(index);
    const cells = this.columns.map((column, at) => this.cell(index, at, row?.cells[at], row));
    const element = h("div", { class: row ? "row" : "row waits", role: "row", "aria-rowindex": index + 2 }, cells);
    this.rows.set(index, element);
    if (row) this.shown.set(element, row);
    this.canvas.append(element);
    return element;
  }

  cell(row, at, cell, data) {
    const column = this.columns[at];
    const isActive = row === this.active.row && at === this.active.column;
    const marks = [column.numeric && "numeric", isActive && "active", this.changed.get(row)?.[at] && "changed"].filter(Boolean).join(" ");
    const attributes = {
      role: "gridcell", id: `cell-${row}-${at}`, class: marks ? `cell ${marks}` : "cell", "aria-colindex": at + 1,
      "data-row": row, "data-column": at,
      title: cell && !cell.href ? plain(cell).slice(0, 400) : undefined,
    };
    return h("div", attributes, cell ? (column.render ? column.render(cell, data) : rendered(cell, data.place(column))) : "");
  }

  // Columns

  header(column, index) {
    const at = this.order.findIndex((one) => one.name === column.name);
    const way = at < 0 ? null : this.order[at].descends ? "descending" : "ascending";
    const sign = way && h(
      "span", { class: "order", "aria-hidden": "true" }, way === "ascending" ? "▲" : "▼",
      this.order.length > 1 && h("sup", {}, at + 1),
    );
    const title = h("bdi", { class: "title" }, column.title ?? column.name);
    const inside = column.sortable
      ? h(
        "button",
        {
          type: "button", class: "quiet", tabindex: -1, title: `Sort by ${column.name} (with Shift: also by it)`,
          onclick: (event) => this.events.sorted?.(column, event.shiftKey),
        },
        title, sign,
      )
      : h("span", { class: "unsortable" }, title);
    const values = column.countable && h(
      "button",
      {
        type: "button", class: "quiet values", tabindex: -1, title: `Values of ${column.name} (f)`,
        "aria-label": `Values of ${column.name}`, onclick: () => this.events.counted?.(column),
      },
      "≡",
    );
    const grip = h(
      "span",
      {
        class: "grip", role: "separator", "aria-hidden": "true", onpointerdown: (event) => this.grip(event, index),
        ondblclick: () => this.fit(index),
      },
    );
    return h(
      "div",
      {
        class: column.numeric ? "cell numeric" : "cell", role: "columnheader", "aria-colindex": index + 1,
        "aria-sort": way ?? undefined, title: column.type,
      },
      inside, values, grip,
    );
  }

  setWidths() {
    this.element.style.setProperty("--columns", this.widths.map((width) => `${width}px`).join(" "));
    this.element.style.setProperty("--width", `${this.widths.reduce((sum, width) => sum + width, 0)}px`);
  }

  resize(index, width) {
    this.widths[index] = Math.min(Math.max(Math.round(width), WIDTHS.least), WIDTHS.most);
    this.setWidths();
    this.events.resized?.(new Map(this.columns.map((column, at) => [column.name, this.widths[at]])));
  }

  grip(event, index) {
    event.preventDefault();
    const start = event.clientX, before = this.widths[index], sign = getComputedStyle(this.element).direction === "rtl" ? -1 : 1;
    const move = (moved) => this.resize(index, before + sign * (moved.clientX - start));
    const target = event.target;
    target.setPointerCapture(event.pointerId);
    target.addEventListener("pointermove", move);
    target.addEventListener("pointerup", () => target.removeEventListener("pointermove", move), { once: true });
  }

  /** As wide as what is seen of it. */
  fit(index) {
    const cells = [...this.rows.values()].map((row) => row.children[index]);
    const widest = Math.max(...[this.head.children[index], ...cells].map((cell) => cell.scrollWidth + 18));
    this.resize(index, widest);
  }

  // The active cell

  typed(event) {
    if (event.target !== this.element && event.key !== "Escape") return;
    const { row, column } = this.active, page = Math.max(1, Math.floor(this.seen) - 1);
    const moves = {
      ArrowDown: [row + 1, column], ArrowUp: [row - 1, column], ArrowRight: [row, column + 1], ArrowLeft: [row, column - 1],
      PageDown: [row + page, column], PageUp: [row - page, column],
      Home: event.ctrlKey ? [0, 0] : [row, 0], End: event.ctrlKey ? [
        this.total - 1, this.columns.length - 1,
      ] : [row, this.columns.length - 1],
    };
    if (event.key in moves) {
      event.preventDefault();
      this.activate(...moves[event.key]);
    } else if (event.key === "f" && !event.ctrlKey && !event.metaKey && this.columns[column].countable) {
      event.preventDefault();
      this.events.counted?.(this.columns[column]);
    } else if (event.key === "F2" || event.key === "Delete") {
      event.preventDefault();
      this.wishes(event.key === "F2" ? "changed" : "removed");
    } else if (event.key === "Enter") {
      const cell = this.rows.get(row)?.children[column];
      const link = cell?.querySelector("a") ?? this.rows.get(row)?.querySelector("a");
      link?.click();
    }
  }

  /** Tells that the active cell is to be changed, or its row removed. */
  wishes(kind) {
    const row = this.row(this.active.row);
    if (row) this.events[kind]?.(row, this.columns[this.active.column]);
  }

  clicked(event) {
    const cell = event.target.closest?.(".row > .cell");
    if (cell) this.activate(Number(cell.dataset.row), Number(cell.dataset.column));
  }

  activate(row, column) {
    if (!this.total) return;
    const before = this.rows.get(this.active.row)?.children[this.active.column];
    before?.classList.remove("active");
    this.active = { row: Math.min(Math.max(0, row), this.total - 1), column: Math.min(Math.max(0, column), this.columns.length - 1) };
    if (this.active.row < this.top) this.moveTo(this.active.row);
    else if (this.active.row + 1 > this.top + this.seen) this.moveTo(this.active.row + 1 - this.seen);
    const cell = this.rows.get(this.active.row)?.children[this.active.column];
    cell?.classList.add("active");
    cell?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.element.setAttribute("aria-activedescendant", `cell-${this.active.row}-${this.active.column}`);
    const data = this.row(this.active.row)?.cells[this.active.column];
    if (data && !data.href) say(`${this.columns[this.active.column].name}: ${plain(data)}`);
  }
}

/** Whether two cells show the same. */
function isSame(one, other) {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** The element of a grid with nothing in it. */
export function empty(text) {
  return put(h("p", { class: "empty" }), text);
}
