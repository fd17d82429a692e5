// Many new objects: by columns in one call of the library, or one after the other.
'use strict';

const { native, state } = require('./native.cjs');
const { UPDATE_NEVER, META, isObject, isPlain, kinds, readSource } = require('./core.cjs');
const { TYPES } = require('./schema.cjs');

/** Fewer rows are created one after the other. */
const FEWEST_ROWS = 16;
/** The most bytes in a column of texts. */
const MOST_BYTES = 2 ** 30;
/** Texts up to this length are copied here when they are ASCII; that is faster than a call. */
const SHORT = 64;

const BY_COLUMN = new Set([TYPES.int, TYPES.bool, TYPES.string, TYPES.date, TYPES.float, TYPES.double]);

/** Texts as UTF-8, one after the other. */
class Texts {
  constructor(count) {
    this.bytes = Buffer.allocUnsafe(count * 16 + 1024);
    this.size = 0;
  }

  /** Appends a text, and returns its end. */
  add(text) {
    const { length } = text;
    if (this.size + 3 * length > this.bytes.length) this.grow(3 * length);
    const { bytes, size } = this;
    let at = 0;
    if (length <= SHORT) {
      for (; at < length; at += 1) {
        const unit = text.charCodeAt(at);
        if (unit > 0x7f) break;
        bytes[size + at] = unit;
      }
    }
    this.size = size + (at === length ? length : bytes.write(text, size));
    return this.size;
  }

  grow(more) {
    const larger = Buffer.allocUnsafe(2 * this.bytes.length + more);
    this.bytes.copy(larger, 0, 0, this.size);
    this.bytes = larger;
  }
}

/** The values of a property for all rows, as native.createBatch() takes them; undefined: they do not fit into a column,
 *  null: all rows have the default. */
function columnOf(core, property, rows) {
  const { name, type, index } = property;
  const count = rows.length;
  const numbers = new Float64Array(count);
  const texts = type === TYPES.string ? new Texts(count) : undefined;
  let large;
  let flags;
  for (let row = 0; row < count; row += 1) {
    const values = rows[row];
    let value = Array.isArray(values) ? values[index] : values[name];
    if (!isPlain(property, value)) value = core.planned(property, value, UPDATE_NEVER);
    if (value === undefined || value === null) {
      flags ??= new Uint8Array(count).fill(1);
      flags[row] = 0;
      if (texts) numbers[row] = texts.size;
    } else if (texts) {
      numbers[row] = texts.add(value);
      if (texts.size > MOST_BYTES) return undefined;
    } else {
      if (typeof value === 'bigint') (large ??= new Map()).set(row, value);
      numbers[row] = Number(value);
      // No integer of 64 bits, or no date: create() refuses it.
      if ((type === TYPES.int || type === TYPES.date) && !(Math.abs(numbers[row]) <= 2 ** 63)) return undefined;
    }
  }
  if (flags && !property.optional) return flags.includes(1) ? undefined : null;
  if (texts) return [property.stored, property.slot, texts.bytes, numbers, flags];
  if (!large) return [property.stored, property.slot, numbers, undefined, flags];
  const whole = BigInt64Array.from(numbers, (number, row) => (large.has(row) ? 0n : BigInt(number)));
  for (const [row, value] of large) {
    // create() refuses it.
    if (BigInt.asIntN(64, value) !== value) return undefined;
    whole[row] = value;
  }
  return [property.stored, property.slot, whole, undefined, flags];
}

/** The keys of new objects, or undefined when their values do not fit into columns. */
function createByColumns(core, meta, rows) {
  // readSource() refuses what has no values.
  for (const row of rows) if (!isObject(row) || Array.isArray(row)) readSource(meta, row);
  const columns = [];
  for (const property of meta.planned) {
    const column = columnOf(core, property, rows);
    if (column === undefined) return undefined;
    if (column !== null) columns.push(column);
  }
  core.check();
  state.version += 1;
  const keys = new BigInt64Array(rows.length);
  native.createBatch(core.handle.number, meta.plan, rows.length, columns, keys);
  return keys;
}

/** Creates objects, and returns how many; after an error in mode 'never' those of this call do not exist. */
function createMany(core, meta, rows, mode) {
  const isLive = (row) => isObject(row) && row[META] !== undefined;
  const given = rows.some(isLive) ? rows.map((row) => (isLive(row) ? kinds.copyValues(row) : row)) : rows;
  const byColumn = mode === UPDATE_NEVER && given.length >= FEWEST_ROWS && !meta.embedded &&
    meta.later.length === 0 && meta.planned.every((one) => one.isSimple && !one.counter && BY_COLUMN.has(one.type));
  const keys = byColumn ? createByColumns(core, meta, given) : undefined;
  if (keys) {
    let lowest = keys[0];
    for (const key of keys) if (key < lowest) lowest = key;
    core.shared.transaction?.note(meta.key, Number(lowest));
    return keys.length;
  }
  const made = [];
  try {
    for (const values of given) made.push(core.create(meta, values, mode));
  } catch (error) {
    if (mode === UPDATE_NEVER) { for (const object of made) core.undo(meta, kinds.keyOf(object)); }
    throw error;
  }
  return made.length;
}

module.exports = { createMany };
