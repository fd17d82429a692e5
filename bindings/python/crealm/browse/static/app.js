// The page: which address shows what, the way to it, and the classes at the side. Every view has an address that can be kept; going back and
// forward are the web client's own.

import { address, parts, path } from "./address.js";
import { ask, Refusal } from "./api.js";
import { counted, grouped, h, isolated, put, say } from "./dom.js";
import * as files from "./files.js";
import * as file from "./file.js";
import * as objects from "./objects.js";
import * as object from "./object.js";
import * as value from "./value.js";
import * as schema from "./schema.js";
import * as space from "./space.js";
import * as compare from "./compare.js";
import * as keys from "./keys.js";
import { trouble, turnBack } from "./edit.js";
import { heard } from "./events.js";
import { Follower, seen } from "./following.js";

const main = document.getElementById("main");
const side = document.getElementById("side");
const crumbs = document.getElementById("crumbs");
const tools = document.getElementById("tools");
const menu = document.getElementById("menu");

let view = null; // What is shown: { close?(), renew?() }.
let turn = 0; // Counts up with every address; an answer for an earlier one comes too late.
let overview = null; // Of the file whose classes are at the side.

/** The view of an address, and the parts of the way to it: [text, href]. */
function route(at) {
  if (!at.length) return [files.show, []];
  const [name, kind, ...rest] = at;
  const way = [[name, path(name)]];
  if (!kind) return [file.show, way];
  if (kind === "class" && rest.length) {
    rest.forEach((part, index) => way.push([index === 1 ? `#${part}` : part, path(name, "class", ...rest.slice(0, index + 1))]));
    return [rest.length === 1 ? objects.show : rest.length === 2 ? object.show : value.show, way];
  }
  if (kind === "links" && rest.length === 4) {
    const [className, key, source, property] = rest;
    way.push(
      [className, path(name, "class", className)], [`#${key}`, path(name, "class", className, key)],
      [`← ${source}.${property}`, path(...at)],
    );
    return [value.showLinks, way];
  }
  if (kind === "compare" && (!rest.length || rest.length === 2)) return [
    compare.show,
    [...way, [kind, path(name, kind)], ...(rest.length ? [[rest[1], path(...at)]] : [])],
  ];
  const shows = { schema: schema.show, space: space.show, check: space.showCheck, versions: space.showVersions, log: space.showLog }[kind];
  return [shows && !rest.length ? shows : nothing, [...way, [kind, path(...at)]]];
}

async function nothing() {
  throw new Refusal(404, { kind: "NoSuchPage", message: "There is nothing at this address" });
}

/** What a view may do with the page around it. */
const page = {
  /** Goes to an address. replaces: it takes the place of the one that is shown. */
  go(href, replaces = false) {
    history[replaces ? "replaceState" : "pushState"](null, "", href);
    show();
  },
  /** Writes down what the view shows now, without showing it anew. replaces: going back leads to what was before this view. */
  note(options, replaces = true) {
    history[replaces ? "replaceState" : "pushState"](null, "", address(location.pathname, options));
    drawTools();
  },
  failed,
  /** Forgets what is known of the file, and shows the same address anew. */
  async reload() {
    overview = null;
    page.schemas.clear();
    await show();
  },
  /** Shows the same address anew. */
  again() {
    return page.whenFree(show, main);
  },
  /** Fills an element: now, or, where somebody is typing in it, once the form is gone. Neither what is typed is lost, nor what is told meanwhile. */
  async whenFree(fill, element) {
    if (!hasForm(element)) return fill();
    if (!late.has(element)) freed(element, turn);
    late.set(element, fill);
  },
  /** How many times something was told of the file: an answer that was asked for before the last of them may be too old. */
  get news() {
    return follower.count;
  },
  schemas: new Map(), // Of files, by name: the shape that was known of when it was asked for, and what was found then.
  /** The classes of a file, asked for once for each shape of them. */
  async schema(file) {
    const shape = overview?.shape, known = page.schemas.get(file);
    if (known !== undefined && known.shape === shape) return known.found;
    const found = await ask([file, "schema"]);
    page.schemas.set(file, { shape, found });
    return found;
  },
  /** Whether, and how, the file may be changed; null where it may only be read. */
  get editing() {
    return overview?.edit ?? null;
  },
  /** What an edit was answered with: what is shown is asked for again, at once. */
  edited({ version, undo, redo }) {
    if (overview?.edit) Object.assign(overview.edit, { undo, redo });
    return moved(overview?.name, { version });
  },
};

async function show() {
  const mine = (turn += 1), news = follower.count;
  view?.close?.();
  view = null;
  side.classList.remove("open");
  menu.setAttribute("aria-expanded", "false");
  let at;
  try {
    at = parts(location.pathname);
  } catch {
    at = ["?", "?"];
  }
  const [shows, way] = route(at);
  drawWay(way);
  drawTools();
  main.classList.add("turning");
  try {
    const side = drawSide(at);
    side.catch(() => {}); // It is waited for below, unless something else goes wrong first.
    if (at.length) await known(at[0]);
    if (mine !== turn) return;
    const [made] = await Promise.all([shows(at, new URLSearchParams(location.search), page), side]);
    if (mine !== turn) return made.close?.();
    view = made;
    tries = 0;
    put(main, made.element);
    document.title = [...way.map(([text]) => text).reverse(), "CRealm"].join(" · ");
    made.shown?.();
    if (news !== follower.count && at.length) follower.told({}); // It was told while the view was made, which may be of the version before.
  } catch (error) {
    if (mine === turn) failed(error);
  } finally {
    if (mine === turn) main.classList.remove("turning");
  }
}

const late = new WeakMap(); // What fills elements in which somebody is typing.

function hasForm(element) {
  return element.querySelector("form.change") !== null;
}

/** Fills an element when nobody is typing in it any more, if it is still shown then. */
function freed(element, mine) {
  const observer = new MutationObserver(() => {
    if (hasForm(element)) return;
    observer.disconnect();
    const fill = late.get(element);
    late.delete(element);
    if (mine === turn) Promise.resolve(fill()).catch(failed);
  });
  observer.observe(element, { childList: true, subtree: true });
}

const AGAIN = 2000; // Milliseconds until a page asks again that was not answered; longer each time.
const TRIES = 4; // Where the server was too busy: what takes it too long is not asked for without end.
let tries = 0; // In a row.

/** Shows what went wrong instead of the view. With the next version it is tried again; soon, where that may help. */
function failed(error) {
  if (error.name === "AbortError") return;
  view?.close?.();
  view = null;
  const at = parts(location.pathname);
  if (error instanceof Refusal && error.status === 423) {
    put(main, keys.form(at[0], error.error, () => { overview = null; show(); }));
    return;
  }
  view = { renew: show };
  const mine = turn, isUnanswered = !(error instanceof Refusal) || (error.status >= 500 && tries < TRIES);
  if (isUnanswered) setTimeout(() => mine === turn && overview && follower.told({}), AGAIN * 2 ** Math.min(tries, 2));
  tries += 1;
  const said = error instanceof Refusal ? error.error : {
    kind: error.name,
    message: error instanceof TypeError ? "The server does not answer. Is `crealm browse` still running?" : String(error.message),
  };
  say(said.message);
  put(
    main,
    h(
      "section", { class: "problem", role: "alert" }, h("h1", {}, "This cannot be shown"), h("p", {}, isolated(said.message)),
      said.hint && h("p", { class: "faint" }, said.hint), h("p", { class: "faint code" }, said.kind),
    ),
  );
}

// The way

function drawWay(way) {
  const items = way.map(([text, href], index) => h(
    "li", {},
    index === way.length - 1 ? h("span", { "aria-current": "page" }, isolated(text)) : h("a", { href }, isolated(text)),
  ));
  put(crumbs, h("ol", {}, h("li", {}, h("a", { href: "/", class: "brand" }, "crealm")), items));
}

/** The overview, if it is of the file that the address names: on the way to another file it is not. */
function overviewHere() {
  try {
    return overview?.name === parts(location.pathname)[0] ? overview : null;
  } catch {
    return null;
  }
}

function drawTools() {
  const href = location.pathname === "/" ? "/-/files.json" : location.pathname + ".json" + location.search, here = overviewHere();
  put(
    tools,
    here && h("span", { class: "faint", title: `version ${here.version} of the file` }, `v${here.version}`),
    here?.edit && ["undo", "redo"].map((way) => turning(here, way)),
    h("a", { href, class: "quiet", title: "This page as JSON", target: "_blank", rel: "noopener" }, "JSON"),
  );
}

function turning({ name, edit }, way) {
  const title = edit[way], word = way === "undo" ? "Undo" : "Redo";
  return h(
    "button",
    {
      type: "button", class: "quiet", disabled: title === null, title: title === null ? word : `${word}: ${title}`,
      onclick: () => overviewHere()?.name === name && turnBack(page, name, way),
    },
    word,
  );
}

// What happens to the file meanwhile

let listening = null; // To which file, and how to end it.

function listen(file) {
  if (listening?.file === file) return;
  listening?.end();
  listening = file === undefined ? null : {
    file,
    end: heard(file, (kind, data) => (kind === "version" ? moved(file, data) : say(data.message))),
  };
}

const follower = new Follower(
  (news) => refreshed(news.file, news), (first, then) => ({ ...then, classes: { ...first.classes, ...then.classes } }), seen,
);

/** Another version: the side, and what is shown, are asked for again. */
async function moved(file, news) {
  if (overview !== null && overview.name === file && overview.state !== news.state) await follower.told({ ...news, file });
}

async function refreshed(file, news) {
  const name = overview?.name;
  if (name === undefined || (file !== undefined && file !== name)) return; // Another file is shown by now.
  let found;
  try {
    found = await ask([name]);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) throw error; // The follower looks again.
    if (overview?.name === name) failed(error);
    return;
  }
  if (overview?.name !== name) return;
  overview = found;
  fillSide(parts(location.pathname), news.classes);
  drawTools();
  say(`Version ${overview.version}`);
  try {
    await view?.renew?.({ ...news, version: overview.version });
  } catch (error) {
    failed(error);
  }
}

window.addEventListener("pagehide", () => listen(undefined));
window.addEventListener("pageshow", (event) => event.persisted && page.reload()); // It was kept, and heard nothing meanwhile.

// The side

async function drawSide(at) {
  const mine = turn;
  if (!at.length) {
    overview = asking = null;
    listen(undefined);
    document.body.classList.add("alone");
    put(side);
    return;
  }
  document.body.classList.remove("alone");
  await known(at[0]);
  if (mine !== turn) return;
  fillSide(at);
  drawTools();
  listen(at[0]);
}

let asking = null; // For the overview of a file: its name, and the promise.

/** Has the overview of a file, unless another one is asked for meanwhile. */
async function known(file) {
  if (overview?.name === file) return;
  if (asking?.file !== file) {
    put(side);
    overview = null;
    asking = { file, found: ask([file]) };
  }
  const mine = asking;
  try {
    const found = await mine.found;
    if (asking === mine) overview = found;
  } finally {
    if (asking === mine) asking = null;
  }
}

const FLASH = 6000; // Milliseconds that what changed is marked.
let drawn = { counts: new Map() }; // What is at the side: of which address and classes, and where their counts are.

/** changes: what came and went in a class, to be marked. */
function fillSide(at, changes = {}) {
  const key = JSON.stringify([at.slice(0, 3), overview.classes.map((one) => [one.name, one.embedded])]);
  if (drawn.key !== key || !drawn.side?.isConnected) buildSide(at, key);
  for (const one of overview.classes) {
    const holder = drawn.counts.get(one.name), isChanged = Object.hasOwn(changes, one.name);
    if (!isChanged && JSON.stringify(one.count) === holder.told) continue; // Most of them are what they were.
    holder.told = JSON.stringify(one.count);
    const count = countOf(one, isChanged);
    put(holder.element, count);
    if (isChanged) setTimeout(() => count.classList.remove("changed"), FLASH);
  }
}

function buildSide(at, key) {
  const [name, kind, current] = at, counts = new Map();
  const entry = (one) => {
    const element = h("span", {});
    counts.set(one.name, { element, told: null });
    const isCurrent = (kind === "class" || kind === "links") && current === one.name;
    return h("li", {}, h(
      "a", { href: path(name, "class", one.name), class: "entry", "aria-current": isCurrent ? "page" : undefined }, isolated(one.name), element,
    ));
  };
  const group = (title, classes) => classes.length > 0 && [h("h2", {}, title), h("ul", { class: "classes" }, classes.map(entry))];
  const pages = [
    ["Overview", undefined], ["Schema", "schema"], ["Space", "space"], ["Check", "check"], ["Versions", "versions"],
    ["Log", "log"], ["Compare", "compare"],
  ];
  const filter = h(
    "input",
    { type: "search", placeholder: "Find a class", "aria-label": "Find a class", oninput: () => sift(filter.value) },
  );
  const wanted = side.querySelector("input")?.value ?? "", title = h("h2", {}, "File");
  put(
    side,
    overview.classes.length > 12 && filter,
    group("Classes", overview.classes.filter((one) => !one.embedded)),
    group("Embedded", overview.classes.filter((one) => one.embedded)),
    !overview.classes.length && h("p", { class: "empty" }, "This file has no classes."),
    title,
    h(
      "ul", {},
      pages.map(([title, part]) => h(
        "li", {},
        h("a", { href: part ? path(name, part) : path(name), class: "entry", "aria-current": kind === part ? "page" : undefined }, title),
      )),
    ),
  );
  drawn = { key, counts, side: title };
  filter.value = wanted;
  sift(wanted);
  side.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
}

function countOf(one, isChanged) {
  return one.count.t === "error" ? h("span", { class: "fault", title: one.count.message }, "⚠") : h(
    "span", { class: isChanged ? "count changed" : "count" }, grouped(one.count.v),
  );
}

function sift(text) {
  const wanted = text.toLowerCase();
  let left = 0;
  for (const item of side.querySelectorAll(".classes > li")) {
    item.hidden = !item.textContent.toLowerCase().includes(wanted);
    left += !item.hidden;
  }
  if (wanted) say(counted(left, "class", "classes"));
}

// Following links without loading the page anew

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const to = new URL(link.getAttribute("href"), location.href);
  if (link.getAttribute("target") || link.hasAttribute("download") || to.origin !== location.origin) return;
  if (to.hash && to.pathname === location.pathname) return;
  event.preventDefault();
  if (to.href !== location.href) page.go(to.href);
  main.focus({ preventScroll: true });
});

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select, dialog");
  if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !isTyping && overviewHere()?.edit) {
    const way = event.shiftKey ? "redo" : "undo";
    event.preventDefault();
    if (overview.edit[way] !== null) turnBack(page, overview.name, way).catch(trouble);
  }
  if (event.key === "/" && !event.target.closest?.("input, textarea, select")) {
    const box = document.querySelector("#where, #side input");
    if (box) {
      event.preventDefault();
      box.focus();
    }
  }
});

menu.addEventListener("click", () => {
  const isOpen = side.classList.toggle("open");
  menu.setAttribute("aria-expanded", String(isOpen));
});

window.addEventListener("popstate", show);
show();
