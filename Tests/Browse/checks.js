// What of a page can be checked without a person, as a function: a list of faults, as JSON.
() => {
  const faults = [];
  const label = (element) => element.id && document.querySelector(`label[for="${element.id}"]`);
  const text = (element) => element.getAttribute("aria-label") || element.textContent || element.title || element.alt || "";
  const isNamed = (element) => text(element).trim() || label(element) || element.closest("label");

  // Every control and picture has a name.
  for (const element of document.querySelectorAll("a[href], button, input, textarea, img, [role=grid], [role=img], nav, summary")) {
    if (!isNamed(element)) faults.push(`no name: ${element.outerHTML.slice(0, 80)}`);
  }

  // No id comes twice.
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`twice: ${id}`);

  // Headings leave out no level.
  const levels = [...document.querySelectorAll("#main h1, #main h2, #main h3")].map((element) => Number(element.tagName[1]));
  levels.forEach((level, at) => at && level > levels[at - 1] + 1 && faults.push(`heading ${level} after ${levels[at - 1]}`));

  // Texts have a contrast of 4.5 with what is behind them.
  const part = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map(Number).map(part);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\)$|transparent/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  for (const element of document.querySelectorAll("#top *, #side *, #main *")) {
    if (!hasText(element) || element.closest(".mirror, svg") || !element.checkVisibility()) continue;
    const [more, less] = [light(getComputedStyle(element).color), light(ground(element))].sort((x, y) => y - x);
    const contrast = (more + 0.05) / (less + 0.05);
    if (contrast < 4.5) faults.push(`contrast ${contrast.toFixed(2)}: ${element.outerHTML.slice(0, 80)}`);
  }

  // Rows of a grid have cells, and nothing else.
  for (const row of document.querySelectorAll("[role=grid] [role=row]")) {
    const roles = [...row.children].map((cell) => cell.getAttribute("role"));
    if (!roles.every((role) => ["gridcell", "columnheader"].includes(role))) faults.push("a row with something else than cells");
  }
  return JSON.stringify(faults);
}
