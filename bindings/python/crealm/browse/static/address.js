// Names as parts of addresses, as addresses.py has them.

function encoded(name) {
  const marked = name === "" || name === "." || name === ".." || name.startsWith("~") ? "~" + name : name;
  const text = encodeURIComponent(marked);
  return text.endsWith(".json") ? text.slice(0, -5) + "%2Ejson" : text;
}

/** The path to something. */
export function path(...parts) {
  return "/" + parts.map((part) => encoded(String(part))).join("/");
}

/** The parts of the path of a page. */
export function parts(pathname) {
  const trimmed = pathname.replace(/^\/+|\/+$/g, "");
  if (!trimmed) return [];
  return trimmed.split("/").map((part) => {
    const text = decodeURIComponent(part);
    return text.startsWith("~") ? text.slice(1) : text;
  });
}

/** An address with options: a list makes several of one name; what is empty is left out. */
export function address(pathname, options = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") query.append(name, one);
    }
  }
  const text = query.toString();
  return text ? `${pathname}?${text}` : pathname;
}
