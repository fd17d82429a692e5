// Areas for sizes: the whole is cut into rows of rectangles that are as square as can be.

/**
 * Where each size goes: [{ x, y, w, h }], in the order of the sizes, which are positive, the largest first.
 * A row takes further sizes as long as its rectangles become more square.
 */
export function squarified(sizes, x, y, w, h) {
  const places = [];
  const whole = sizes.reduce((sum, size) => sum + size, 0);
  if (!whole) return sizes.map(() => ({ x, y, w: 0, h: 0 }));
  const scale = (w * h) / whole;
  let at = 0;
  while (at < sizes.length) {
    const side = Math.min(w, h);
    let end = at + 1;
    while (end < sizes.length && worst(sizes.slice(at, end + 1), side, scale) <= worst(sizes.slice(at, end), side, scale)) end += 1;
    const row = sizes.slice(at, end), depth = side ? (row.reduce((sum, size) => sum + size, 0) * scale) / side : 0;
    let along = 0;
    for (const size of row) {
      const length = depth ? (size * scale) / depth : 0;
      places.push(w >= h ? { x, y: y + along, w: depth, h: length } : { x: x + along, y, w: length, h: depth });
      along += length;
    }
    if (w >= h) { x += depth; w = Math.max(0, w - depth); } else { y += depth; h = Math.max(0, h - depth); }
    at = end;
  }
  return places;
}

/** How far from a square the least square rectangle of a row is. */
function worst(row, side, scale) {
  const sum = row.reduce((total, size) => total + size, 0) * scale;
  return Math.max(...row.map((size) => size * scale).map(
    (area) => Math.max((side * side * area) / (sum * sum), (sum * sum) / (side * side * area)),
  ));
}
