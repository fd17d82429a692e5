// Results, List, Set and Dictionary. All of them are live: each read sees what the realm shows now.
//
// `collection[0]` works without a proxy around the collection: the prototypes end in one proxy, which is asked for
// names that no class has. So methods and `length` cost nothing more.
'use strict';

const { native, state, Handle } = require('./native.cjs');
const {
  KEY,
  CORE,
  LIST,
  DICTIONARY,
  PAGE_ROWS,
  FIRST_ROWS,
  UPDATE_NEVER,
  Page,
  ElementKind,
  kinds,
  isObject,
  collectionKind,
  decodeTagged,
  numbersBuffer,
  META,
} = require('./core.cjs');
const { fail, mismatch, makeError } = require('./errors.cjs');
const { TYPES, TYPE_NAMES } = require('./schema.cjs');

const keys = numbersBuffer();
const INDEX = /^(?:0|[1-9]\d*)$/;

function indexOf(name) {
  return typeof name === 'string' && INDEX.test(name) ? Number(name) : -1;
}

function IndexedBase() {}
IndexedBase.prototype = new Proxy(Object.create(Object.prototype), {
  get(target, name, receiver) {
    const index = indexOf(name);
    return index < 0 ? Reflect.get(target, name, receiver) : receiver.at(index);
  },
  set(target, name, value, receiver) {
    const index = indexOf(name);
    if (index >= 0) {
      receiver.set(index, value);
      return true;
    }
    return Reflect.defineProperty(receiver, name, { value, writable: true, enumerable: true, configurable: true });
  },
});

// Snapshots of loops that have ended: objects from the loop may still read their pages.
const recent = [];

function keepForAWhile(snapshot) {
  recent.push({ snapshot, version: state.version });
  while (recent.length > 16 || (recent.length > 0 && recent[0].version !== state.version)) {
    recent.shift().snapshot.release();
  }
}

/** Walks over objects: a few rows with the first call, then up to 1024. */
class ObjectIterator {
  constructor(owner) {
    this.core = owner.core;
    this.meta = owner.meta;
    this.rows = new Handle(native.realm_results_snapshot(owner.results().number));
    this.keys = new Float64Array(PAGE_ROWS);
    this.size = FIRST_ROWS;
    this.first = 0;
    this.count = 0;
    this.row = 0;
    this.page = null;
    this.large = undefined;
    this.ended = false;
  }

  next() {
    if (this.row === this.count && !this.turn()) return { done: true, value: undefined };
    const { row } = this;
    this.row += 1;
    let key = this.keys[row];
    if (this.large !== undefined) key = this.large[row];
    else if (key !== key) key = -1; // The object was deleted since the loop began.
    return { done: false, value: new this.meta.Wrapper(key, this.core.shared.transaction, this.page, row) };
  }

  turn() {
    if (this.ended) return false;
    this.first += this.count;
    if (this.count > 0 && this.count < this.size) return this.end();
    if (this.first > 0) this.size = Math.min(this.size * 4, PAGE_ROWS);
    let count = native.pageKeys(this.rows.number, this.first, this.size, this.keys);
    this.large = undefined;
    if (count < 0) {
      const values = native.pageValues(this.rows.number, this.first, this.size);
      this.large = values.map((value) => (value === null ? -1 : value[2]));
      count = values.length;
    }
    this.count = count;
    this.row = 0;
    if (count === 0) return this.end();
    this.page = new Page(this.core, this.meta, this.rows, this.first, count);
    return true;
  }

  end() {
    this.ended = true;
    this.row = this.count;
    keepForAWhile(this.rows);
    return false;
  }

  return(value) {
    if (!this.ended) this.end();
    this.ended = true;
    return { done: true, value };
  }

  [Symbol.iterator]() {
    return this;
  }
}

const ARRAY_METHODS = [
  'concat',
  'every',
  'filter',
  'find',
  'findIndex',
  'findLast',
  'findLastIndex',
  'flat',
  'flatMap',
  'forEach',
  'join',
  'map',
  'reduce',
  'reduceRight',
  'slice',
  'some',
  'toLocaleString',
];

/** What Results, List and Set have in common: rows in an order. */
class Collection extends IndexedBase {
  constructor(core, handle, kind) {
    super();
    const hidden = (value) => ({ value, enumerable: false, writable: true, configurable: true });
    Object.defineProperties(this, {
      core: hidden(core),
      handle: hidden(handle),
      kind: hidden(kind),
      rows: hidden(null),
      window: hidden(null),
    });
  }

  get [CORE]() {
    return this.core;
  }

  get meta() {
    return this.kind.type === TYPES.object ? this.kind.meta : undefined;
  }

  /** The handle of results with these rows. */
  results() {
    this.rows ??= new Handle(this.makeResults());
    return this.rows;
  }

  get type() {
    return TYPE_NAMES.get(this.kind.type);
  }

  get objectType() {
    return this.kind.target;
  }

  get optional() {
    return this.kind.optional;
  }

  get length() {
    return native.realm_results_count(this.results().number);
  }

  set length(_) {
    fail("Cannot assign to read only property 'length'", 'RLM_ERR_READ_ONLY_PROPERTY');
  }

  isEmpty() {
    return this.length === 0;
  }

  at(index) {
    const whole = Math.trunc(Number(index)) || 0;
    const place = whole < 0 ? this.length + whole : whole;
    if (place < 0) return undefined;
    return this.meta === undefined ? this.valueAt(place) : this.objectAt(place);
  }

  valueAt(index) {
    const rows = native.pageValues(this.results().number, index, 1);
    return rows.length === 0 ? undefined : this.decode(rows[0], index);
  }

  /** The object in a row; neighbours come with it, for loops over the index. */
  objectAt(index) {
    let { window } = this;
    if (
      window === null || window.page.version !== state.version || index < window.first ||
      index >= window.first + window.count
    ) {
      const size = window !== null && index === window.first + window.count ? Math.min(window.size * 4, PAGE_ROWS) : 1;
      const results = this.results();
      const count = native.pageKeys(results.number, index, size, keys);
      if (count < 0) {
        const link = native.realm_results_get(results.number, index);
        return this.core.wrap(this.meta, link[2]);
      }
      if (count === 0) return undefined;
      window = {
        first: index,
        count,
        size,
        keys: keys.slice(0, count),
        page: new Page(this.core, this.meta, results, index, count),
      };
      this.window = window;
    }
    const row = index - window.first;
    const key = window.keys[row];
    return new this.meta.Wrapper(key !== key ? -1 : key, this.core.shared.transaction, window.page, row);
  }

  set(index) {
    fail(`Assigning into a ${this.constructor.name} is not supported (index ${index})`, 'RLM_ERR_ILLEGAL_OPERATION');
  }

  /** A row as a value of JavaScript. */
  decode(value, index) {
    if (!Array.isArray(value)) return value;
    if (value[0] === LIST || value[0] === DICTIONARY) return this.nested(value[0], index);
    return decodeTagged(this.core, value);
  }

  nested(kind, index) {
    const number = kind === LIST
      ? native.realm_results_get_list(this.results().number, index)
      : native.realm_results_get_dictionary(this.results().number, index);
    return makeNested(this.core, kind, number, this.kind);
  }

  *plainValues() {
    for (let first = 0;; first += PAGE_ROWS) {
      const rows = native.pageValues(this.results().number, first, PAGE_ROWS);
      for (let row = 0; row < rows.length; row += 1) yield this.decode(rows[row], first + row);
      if (rows.length < PAGE_ROWS) return;
    }
  }

  values() {
    return this.meta === undefined ? this.plainValues() : new ObjectIterator(this);
  }

  [Symbol.iterator]() {
    return this.values();
  }

  *keys() {
    const { length } = this;
    for (let index = 0; index < length; index += 1) yield index;
  }

  *entries() {
    let index = 0;
    for (const value of this.values()) {
      yield [index, value];
      index += 1;
    }
  }

  indexOf(value, from = 0) {
    if (from !== 0) return [...this].findIndex((one, index) => index >= from && sameValue(one, value));
    const encoded = this.kind.encodeForSearch(value);
    if (encoded === undefined) return -1;
    const [index, found] = native.realm_results_find(this.results().number, encoded);
    return found ? Number(index) : -1;
  }

  lastIndexOf(value) {
    return [...this].findLastIndex((one) => sameValue(one, value));
  }

  includes(value) {
    return this.indexOf(value) >= 0;
  }

  toJSON(_ = undefined, seen = new Map()) {
    const cache = seen instanceof Map ? seen : new Map();
    return Array.from(this, (value) => kinds.toPlain(value, cache));
  }

  toString() {
    return `[object ${this.constructor.name}]`;
  }

  // Queries

  needObjects(what) {
    if (this.meta === undefined) fail(`Only collections of objects can be ${what}`, 'RLM_ERR_ILLEGAL_OPERATION');
  }

  filtered(text, ...values) {
    if (typeof text !== 'string') mismatch('query', 'a string', text);
    this.needObjects('filtered');
    const rows = this.results().number;
    const query = native.parse(3, rows, 0, text, this.core.encodeArguments(values));
    try {
      // The ordering inside of the text works on its rows: then the whole query makes the results.
      const ordered = /\b(?:SORT|DISTINCT|LIMIT)\s*\(/i.test(text);
      const made = ordered ? native.realm_query_find_all(query) : native.realm_results_filter(rows, query);
      return new Results(this.core, new Handle(made), this.meta);
    } finally {
      native.release(query);
    }
  }

  /** sorted("name"), sorted("name", true), sorted(["name", ["age", true]]); true: descending. */
  sorted(descriptor = undefined, reverse = false) {
    if (this.meta === undefined) {
      const sorted = [...this].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
      return descriptor === true ? sorted.reverse() : sorted;
    }
    const parts = Array.isArray(descriptor) ? descriptor : [[descriptor, reverse]];
    const text = parts.map((part) => {
      const [path, descending] = Array.isArray(part) ? part : [part, false];
      if (typeof path !== 'string') mismatch('descriptor', 'a string or an array', path);
      return `${this.storedPath(path)} ${descending ? 'DESC' : 'ASC'}`;
    }).join(', ');
    return new Results(this.core, new Handle(native.realm_results_sort(this.results().number, text)), this.meta);
  }

  /** A path with stored names in place of public ones. */
  storedPath(path) {
    let { meta } = this;
    return path.split('.').map((name) => {
      const property = meta?.byName.get(name);
      meta = property?.target === undefined ? undefined : this.core.classByName(property.target);
      return property?.stored ?? name;
    }).join('.');
  }

  snapshot() {
    const made = new Handle(native.realm_results_snapshot(this.results().number));
    return new Results(this.core, made, this.meta, this.kind);
  }

  aggregate(name, call) {
    if (this.meta === undefined) return this.decode(call(this.results().number, -1)[0]) ?? undefined;
    const property = this.meta.byName.get(name);
    if (!property) fail(`Property '${name}' does not exist on '${this.meta.name}' objects`, 'RLM_ERR_INVALID_PROPERTY');
    const [value] = call(this.results().number, property.key);
    return Array.isArray(value) ? decodeTagged(this.core, value) : value ?? undefined;
  }

  min(name) {
    return this.aggregate(name, native.realm_results_min);
  }

  max(name) {
    return this.aggregate(name, native.realm_results_max);
  }

  sum(name) {
    return this.aggregate(name, native.realm_results_sum);
  }

  avg(name) {
    return this.aggregate(name, native.realm_results_average);
  }

  /** Columns as typed arrays: {name: {values, valid}}; `valid` has 0 where a value is null, and is null when none is.
   *  int: BigInt64Array; float, double, date (milliseconds): Float64Array; bool: Uint8Array; others: an array. */
  columns(...names) {
    this.needObjects('read by column');
    const rows = this.snapshot();
    const { length } = rows;
    const made = {};
    for (const name of names.flat()) {
      const property = this.meta.byName.get(name);
      if (!property?.isSimple) fail(`'${name}' is no property with single values`, 'RLM_ERR_INVALID_PROPERTY');
      made[name] = columnOf(rows, property, length);
    }
    rows.handle.release();
    return made;
  }

  // Changes

  addListener(listener, keyPaths) {
    if (typeof listener !== 'function') mismatch('callback', 'a function', listener);
    kinds.listen(this.core, this, this.handle, this.meta?.key, keyPaths, listener, (changes) => ({
      deletions: changes[0],
      insertions: changes[1],
      oldModifications: changes[2],
      newModifications: changes[3],
    }));
  }

  removeListener(listener) {
    kinds.unlisten(this.core, this, listener);
  }

  removeAllListeners() {
    kinds.unlisten(this.core, this, undefined);
  }

  /** An async iterator of {collection, changes}; it keeps the process alive while a loop waits for it. */
  changes(keyPaths) {
    return kinds.changesOf(this[CORE], (listener) => {
      this.addListener(listener, keyPaths);
      return () => this.removeListener(listener);
    }, (collection, changes) => ({ collection, changes }));
  }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
    if (!this.isValid()) return `${this.constructor.name} [invalid]`;
    const shown = [];
    for (const value of this) {
      if (shown.length === 20) break;
      shown.push(value);
    }
    return `${this.constructor.name}(${this.length}) ${
      inspect(shown, { ...options, depth: depth === null ? null : depth - 1 })
    }`;
  }
}

for (const name of ARRAY_METHODS) {
  if (!Array.prototype[name]) continue;
  Object.defineProperty(Collection.prototype, name, {
    value(...args) {
      const all = Array.from(this);
      // The last argument of callbacks is the collection.
      if (typeof args[0] === 'function' && !name.startsWith('reduce')) {
        const [callback, context] = args;
        return all[name]((value, index) => callback.call(context, value, index, this));
      }
      return all[name](...args);
    },
    writable: true,
    configurable: true,
  });
}

function columnOf(rows, property, length) {
  const place = rows.core.handle.number;
  const kind = {
    [TYPES.int]: BigInt64Array,
    [TYPES.bool]: Uint8Array,
    [TYPES.float]: Float64Array,
    [TYPES.double]: Float64Array,
    [TYPES.date]: Float64Array,
  }[property.type];
  if (!kind) {
    const values = Array.from(rows, (row) => row[property.name]);
    return {
      values,
      valid: property.optional && values.includes(null) ? Uint8Array.from(values, (one) => Number(one !== null)) : null,
    };
  }
  const values = new kind(length);
  const valid = new Uint8Array(length);
  for (let first = 0; first < length;) {
    const count = native.column(rows.handle.number, place, property.slot, values, valid, first);
    if (count === 0) break;
    first += count;
  }
  return { values, valid: valid.includes(0) ? valid : null };
}

function sameValue(one, other) {
  if (one?.[KEY] !== undefined && other?.[KEY] !== undefined) return one.equals(other);
  if (one instanceof Date && other instanceof Date) return one.getTime() === other.getTime();
  return Object.is(one, other) || one === other || Boolean(one?.equals?.(other));
}

class Results extends Collection {
  constructor(core, handle, meta, kind = undefined) {
    super(core, handle, kind ?? new ElementKind(core, TYPES.object, false, meta.name, meta.name));
    this.rows = handle;
  }

  get description() {
    const query = native.realm_results_get_query(this.handle.number);
    try {
      return native.realm_query_get_description(query);
    } finally {
      native.release(query);
    }
  }

  isValid() {
    return !this.core.closed && native.realm_results_is_valid(this.handle.number);
  }

  /** Sets a property of all objects. */
  update(name, value) {
    this.needObjects('updated');
    if (!this.meta.byName.has(name)) {
      fail(`Property '${name}' does not exist on '${this.meta.name}'`, 'RLM_ERR_INVALID_PROPERTY');
    }
    for (const object of this.snapshot()) object[name] = value;
  }
}

// List

class List extends Collection {
  makeResults() {
    return native.realm_list_to_results(this.handle.number);
  }

  isValid() {
    return !this.core.closed && native.realm_list_is_valid(this.handle.number);
  }

  get length() {
    return native.realm_list_size(this.handle.number);
  }

  nested(kind, index) {
    const number = kind === LIST
      ? native.realm_list_get_list(this.handle.number, index)
      : native.realm_list_get_dictionary(this.handle.number, index);
    return makeNested(this.core, kind, number, this.kind);
  }

  /** Writes a value at a place that exists (insert: makes the place). */
  write(index, value, insert, mode = UPDATE_NEVER) {
    const { core, kind } = this;
    const { number } = this.handle;
    state.version += 1;
    if (kind.isEmbedded) {
      if (!isObject(value)) mismatch(kind.place, `an instance of ${kind.target}`, value);
      const values = value[KEY] === undefined ? value : kinds.copyValues(value);
      const made = insert
        ? native.realm_list_insert_embedded(number, index)
        : native.realm_list_set_embedded(number, index);
      core.fillEmbedded(kind.meta, made, values, mode);
      return;
    }
    const nested = kind.type === TYPES.mixed ? collectionKind(value) : 0;
    if (nested === 0) {
      const encoded = kind.encode(value, mode);
      if (insert) native.realm_list_insert(number, index, encoded);
      else native.realm_list_set(number, index, encoded);
      return;
    }
    const copy = plainCopy(value, nested);
    if (!insert) native.realm_list_set(number, index, null);
    const call = nested === LIST
      ? (insert ? native.realm_list_insert_list : native.realm_list_set_list)
      : (insert ? native.realm_list_insert_dictionary : native.realm_list_set_dictionary);
    fillNested(makeNested(core, nested, call(number, index), kind), copy);
  }

  set(index, value) {
    if (index >= this.length) {
      fail(`Cannot set element at index ${index} out of bounds (length ${this.length})`, 'RLM_ERR_INDEX_OUT_OF_BOUNDS');
    }
    this.write(index, value, false);
  }

  push(...values) {
    for (const value of values) this.write(this.length, value, true);
    return this.length;
  }

  pop() {
    const { length } = this;
    if (length === 0) return this.needWriting();
    const value = this.at(length - 1);
    this.remove(length - 1);
    return value;
  }

  shift() {
    if (this.length === 0) return this.needWriting();
    const value = this.at(0);
    this.remove(0);
    return value;
  }

  needWriting() {
    if (!this.core.isWriting) {
      fail('Cannot modify managed objects outside of a write transaction.', 'RLM_ERR_WRONG_TRANSACTION_STATE');
    }
    return undefined;
  }

  unshift(...values) {
    values.forEach((value, index) => this.write(index, value, true));
    return this.length;
  }

  splice(start, count = Infinity, ...values) {
    const { length } = this;
    const from = Math.trunc(Number(start)) || 0;
    const first = from < 0 ? Math.max(length + from, 0) : Math.min(from, length);
    const many = Math.max(0, Math.min(Math.trunc(Number(count)) || (count === Infinity ? length : 0), length - first));
    const removed = [];
    for (let index = 0; index < many; index += 1) {
      removed.push(this.at(first));
      this.remove(first);
    }
    values.forEach((value, index) => this.write(first + index, value, true));
    return removed;
  }

  remove(index) {
    state.version += 1;
    native.realm_list_erase(this.handle.number, index);
  }

  move(from, to) {
    state.version += 1;
    native.realm_list_move(this.handle.number, from, to);
  }

  swap(first, second) {
    const { length } = this;
    for (const index of [first, second]) {
      if (!Number.isInteger(index) || index < 0 || index >= length) {
        fail(`Index ${index} is out of bounds (length ${length})`, 'RLM_ERR_INDEX_OUT_OF_BOUNDS');
      }
    }
    const [low, high] = first < second ? [first, second] : [second, first];
    if (low === high) return;
    this.move(low, high);
    this.move(high - 1, low);
  }

  removeAll() {
    state.version += 1;
    native.realm_list_clear(this.handle.number);
  }

  /** Deletes the objects that the list links to. */
  deleteAll() {
    state.version += 1;
    native.realm_list_remove_all(this.handle.number);
  }
}

// Set

class RealmSet extends Collection {
  makeResults() {
    return native.realm_set_to_results(this.handle.number);
  }

  isValid() {
    return !this.core.closed && native.realm_set_is_valid(this.handle.number);
  }

  get length() {
    return native.realm_set_size(this.handle.number);
  }

  get size() {
    return this.length;
  }

  add(value) {
    const encoded = this.kind.encode(value);
    state.version += 1;
    native.realm_set_insert(this.handle.number, encoded);
    return this;
  }

  delete(value) {
    const encoded = this.kind.encodeForSearch(value);
    if (encoded === undefined) return false;
    state.version += 1;
    return native.realm_set_erase(this.handle.number, encoded);
  }

  has(value) {
    const encoded = this.kind.encodeForSearch(value);
    return encoded !== undefined && native.realm_set_find(this.handle.number, encoded)[1];
  }

  includes(value) {
    return this.has(value);
  }

  clear() {
    state.version += 1;
    native.realm_set_clear(this.handle.number);
  }

  removeAll() {
    this.clear();
  }

  deleteAll() {
    state.version += 1;
    native.realm_set_remove_all(this.handle.number);
  }

  /** Pairs of value and value, as those of Set. */
  *entries() {
    for (const value of this.values()) yield [value, value];
  }
}
Object.defineProperty(RealmSet, 'name', { value: 'Set' });

// Dictionary

class Dictionary {
  constructor(core, handle, kind) {
    const hidden = (value) => ({ value, enumerable: false, writable: true, configurable: true });
    Object.defineProperties(this, {
      core: hidden(core),
      handle: hidden(handle),
      kind: hidden(kind),
    });
  }

  get [CORE]() {
    return this.core;
  }

  get size() {
    return native.realm_dictionary_size(this.handle.number);
  }

  isEmpty() {
    return this.size === 0;
  }

  isValid() {
    return !this.core.closed && native.realm_dictionary_is_valid(this.handle.number);
  }

  has(key) {
    return typeof key === 'string' && native.realm_dictionary_contains_key(this.handle.number, key);
  }

  get(key) {
    if (typeof key !== 'string') return undefined;
    const [value, found] = native.realm_dictionary_find(this.handle.number, key);
    return found ? this.decode(value, key) : undefined;
  }

  decode(value, key) {
    if (!Array.isArray(value)) return value;
    if (value[0] === LIST) {
      return makeNested(this.core, LIST, native.realm_dictionary_get_list(this.handle.number, key), this.kind);
    }
    if (value[0] === DICTIONARY) {
      return makeNested(
        this.core,
        DICTIONARY,
        native.realm_dictionary_get_dictionary(this.handle.number, key),
        this.kind,
      );
    }
    return decodeTagged(this.core, value);
  }

  write(key, value, mode = UPDATE_NEVER) {
    const { core, kind } = this;
    const { number } = this.handle;
    if (typeof key !== 'string') mismatch('key', 'a string', key);
    state.version += 1;
    if (kind.isEmbedded && value !== null && value !== undefined) {
      if (!isObject(value)) mismatch(kind.place, `an instance of ${kind.target}`, value);
      const values = value[KEY] === undefined ? value : kinds.copyValues(value);
      core.fillEmbedded(kind.meta, native.realm_dictionary_insert_embedded(number, key), values, mode);
      return;
    }
    const nested = kind.type === TYPES.mixed ? collectionKind(value) : 0;
    if (nested === 0) {
      native.realm_dictionary_insert(number, key, kind.encode(value, mode));
      return;
    }
    const copy = plainCopy(value, nested);
    native.realm_dictionary_insert(number, key, null);
    const made = nested === LIST
      ? native.realm_dictionary_insert_list(number, key)
      : native.realm_dictionary_insert_dictionary(number, key);
    fillNested(makeNested(core, nested, made, kind), copy);
  }

  /** set(key, value) or set({key: value, …}) */
  set(key, value) {
    if (isObject(key)) { for (const [name, one] of Object.entries(key)) this.write(name, one); }
    else this.write(key, value);
    return this.proxy ?? this;
  }

  /** remove(key) or remove([key, …]) */
  remove(key) {
    for (const name of Array.isArray(key) ? key : [key]) {
      state.version += 1;
      if (typeof name === 'string') native.realm_dictionary_erase(this.handle.number, name);
    }
    return this.proxy ?? this;
  }

  clear() {
    state.version += 1;
    native.realm_dictionary_clear(this.handle.number);
  }

  *entries() {
    const size = native.realm_dictionary_size(this.handle.number);
    const names = [];
    for (let index = 0; index < size; index += 1) names.push(native.realm_dictionary_get(this.handle.number, index)[0]);
    for (const name of names) {
      const value = this.get(name);
      if (value !== undefined) yield [name, value];
    }
  }

  *keys() {
    for (const [name] of this.entries()) yield name;
  }

  *values() {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  /** The values as results; of objects only. */
  asResults() {
    if (this.kind.type !== TYPES.object) {
      fail('Only dictionaries of objects can be filtered', 'RLM_ERR_ILLEGAL_OPERATION');
    }
    return new Results(this.core, new Handle(native.realm_dictionary_to_results(this.handle.number)), this.kind.meta);
  }

  filtered(text, ...values) {
    return this.asResults().filtered(text, ...values);
  }

  sorted(...args) {
    return this.asResults().sorted(...args);
  }

  toJSON(_ = undefined, seen = new Map()) {
    const cache = seen instanceof Map ? seen : new Map();
    return Object.fromEntries(Array.from(this.entries(), ([name, value]) => [name, kinds.toPlain(value, cache)]));
  }

  addListener(listener, keyPaths) {
    if (typeof listener !== 'function') mismatch('callback', 'a function', listener);
    const key = this.kind.type === TYPES.object ? this.kind.meta?.key : undefined;
    kinds.listen(this.core, this.proxy ?? this, this.handle, key, keyPaths, listener, (changes) => ({
      deletions: changes[0],
      insertions: changes[1],
      modifications: changes[2],
    }));
  }

  removeListener(listener) {
    kinds.unlisten(this.core, this.proxy ?? this, listener);
  }

  removeAllListeners() {
    kinds.unlisten(this.core, this.proxy ?? this, undefined);
  }

  changes(keyPaths) {
    return kinds.changesOf(this[CORE], (listener) => {
      this.addListener(listener, keyPaths);
      return () => this.removeListener(listener);
    }, (dictionary, changes) => ({ dictionary, changes }));
  }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
    if (!this.isValid()) return 'Dictionary [invalid]';
    return `Dictionary ${
      inspect(Object.fromEntries(this.entries()), { ...options, depth: depth === null ? null : depth - 1 })
    }`;
  }
}

// `dictionary.key` and Object.keys(dictionary): names of the class go before keys.
const dictionaryTraps = {
  get(target, name) {
    if (typeof name === 'symbol' || name in target) {
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' && name !== 'constructor' ? value.bind(target) : value;
    }
    return target.get(name);
  },
  set(target, name, value) {
    if (typeof name === 'symbol') return false;
    target.write(name, value);
    return true;
  },
  has(target, name) {
    return typeof name === 'symbol' || name in target || target.has(name);
  },
  deleteProperty(target, name) {
    if (typeof name !== 'string') return false;
    target.remove(name);
    return true;
  },
  ownKeys(target) {
    return [
      ...Reflect.ownKeys(target).filter((name) => !Reflect.getOwnPropertyDescriptor(target, name).configurable),
      ...target.keys(),
    ];
  },
  getOwnPropertyDescriptor(target, name) {
    if (typeof name === 'string' && target.has(name)) {
      return { value: target.get(name), enumerable: true, configurable: true, writable: true };
    }
    return undefined;
  },
};

function makeDictionary(core, handle, kind) {
  const target = new Dictionary(core, handle, kind);
  const proxy = new Proxy(target, dictionaryTraps);
  Object.defineProperty(target, 'proxy', { value: proxy, enumerable: false, configurable: true });
  return proxy;
}

// Collections in properties

function makeNested(core, kind, number, element) {
  const inner = new ElementKind(core, TYPES.mixed, true, undefined, element.place);
  return kind === LIST ? new List(core, new Handle(number), inner) : makeDictionary(core, new Handle(number), inner);
}

const DEEPEST = 100;

/** A copy that no getter of the program and no live collection can change while it is written. */
function plainCopy(value, kind, depth = 1) {
  if (depth > DEEPEST) throw makeError(3018, 'Collections are nested more than 100 levels deep', undefined, 8);
  const copied = (one) => {
    const inner = collectionKind(one);
    return inner === 0 ? one : plainCopy(one, inner, depth + 1);
  };
  if (kind === LIST) return Array.from(value, copied);
  const entries = value instanceof Dictionary ? [...value.entries()] : Object.entries(value);
  const copy = Object.create(null);
  for (const [name, one] of entries) copy[name] = copied(one);
  return copy;
}

function fillNested(collection, copy) {
  if (Array.isArray(copy)) { for (const value of copy) collection.push(value); }
  else for (const [name, value] of Object.entries(copy)) collection.set(name, value);
}

function openCollection(core, number, property) {
  const kind = new ElementKind(core, property.type, property.optional, property.target, property.place);
  switch (property.collection) {
    case 'list':
      return new List(core, new Handle(native.realm_get_list(number, property.key)), kind);
    case 'set':
      return new RealmSet(core, new Handle(native.realm_get_set(number, property.key)), kind);
    case 'dictionary':
      return makeDictionary(core, new Handle(native.realm_get_dictionary(number, property.key)), kind);
    default: {
      const meta = core.classByName(property.target);
      const origin = meta?.properties.find((one) => one.stored === property.origin || one.name === property.origin);
      if (!origin) fail(`'${property.place}' has no origin`, 'RLM_ERR_INVALID_PROPERTY');
      return new Results(core, new Handle(native.realm_get_backlinks(number, meta.key, origin.key)), meta);
    }
  }
}

/** Replaces the content of a collection property. */
function assignCollection(core, object, property, value, mode) {
  const collection = object[property.name];
  if (collection === value) return;
  if (property.collection === 'dictionary') {
    if (value === null || value === undefined || !isObject(value)) mismatch(property.place, 'an object', value);
    const entries = value instanceof Dictionary ? [...value.entries()] : Object.entries(value);
    collection.clear();
    for (const [name, one] of entries) collection.write(name, one, mode);
    return;
  }
  if (
    value === null || value === undefined || typeof value[Symbol.iterator] !== 'function' || typeof value === 'string'
  ) {
    mismatch(property.place, 'an array', value);
  }
  const items = [...value];
  collection.removeAll();
  for (const item of items) {
    if (property.collection === 'set') collection.add(item);
    else collection.write(collection.length, item, true, mode);
  }
}

/** Makes a Mixed property hold a list or a dictionary. */
function assignMixed(core, object, property, kind, value) {
  const copy = plainCopy(value, kind);
  core.setEncoded(object, property, null);
  const collection = core.withObject(object, (number) => {
    const element = new ElementKind(core, TYPES.mixed, true, undefined, property.place);
    return makeNested(
      core,
      kind,
      kind === LIST ? native.realm_set_list(number, property.key) : native.realm_set_dictionary(number, property.key),
      element,
    );
  });
  fillNested(collection, copy);
}

// Counter

class Counter {
  constructor(object, property) {
    Object.defineProperty(this, 'object', { value: object });
    Object.defineProperty(this, 'property', { value: property });
  }

  get value() {
    const value = native.get(this.object[CORE].handle.number, kinds.keyOf(this.object), this.property.slot);
    if (value === null) fail(`The counter '${this.property.place}' is null`, 'RLM_ERR_ILLEGAL_OPERATION');
    return value;
  }

  increment(by = 1) {
    if (typeof by !== 'bigint' && !Number.isInteger(by)) mismatch('by', 'an integer', by);
    const { object, property } = this;
    state.version += 1;
    object[CORE].withObject(object, (number) => native.realm_object_add_int(number, property.key, by));
  }

  decrement(by = 1) {
    if (typeof by !== 'bigint' && !Number.isInteger(by)) mismatch('by', 'an integer', by);
    this.increment(-by);
  }

  set(value) {
    const { object, property } = this;
    if (typeof value !== 'bigint' && !Number.isInteger(value)) mismatch('value', 'an integer', value);
    object[CORE].setEncoded(object, property, value);
  }

  toJSON() {
    return this.value;
  }
}

// Plain copies

function toPlain(value, seen) {
  if (!isObject(value)) return value;
  if (value[KEY] !== undefined) {
    const name = `${value[META].key}:${kinds.keyOf(value)}`;
    if (seen.has(name)) return seen.get(name);
    const copy = {};
    seen.set(name, copy);
    for (const property of value[META].properties) {
      if (property.collection === 'linkingObjects') continue;
      copy[property.name] = toPlain(value[property.name], seen);
    }
    return copy;
  }
  if (value instanceof Collection || value instanceof Dictionary) return value.toJSON(undefined, seen);
  if (value instanceof Counter) return value.value;
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString('base64');
  return value;
}

Object.assign(kinds, {
  Collection,
  Results,
  List,
  RealmSet,
  Dictionary,
  Counter,
  makeDictionary,
  openCollection,
  assignCollection,
  assignMixed,
  toPlain,
});

module.exports = { Collection, Results, List, RealmSet, Dictionary, Counter };
