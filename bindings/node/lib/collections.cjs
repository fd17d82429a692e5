// Results, List, Set and Dictionary. All of them are live: each read sees what the realm shows now.
//
// A program holds proxies, for `collection[0]` and `dictionary.key`; the methods run on what is behind them. A handle
// of the library is released when its collection is collected: collections that no program sees release theirs at once.
'use strict';

const util = require('node:util');

const { native, state, Handle } = require('./native.cjs');
const {
  COLLECTIONS,
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
  encodeAny,
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

const RAW = Symbol('raw');

// What a program holds is a proxy: `collection[0]`, Object.keys(collection), `for … in`. Methods run on what is
// behind it, and cost one read of the proxy.
const collectionTraps = {
  get(target, name) {
    const index = indexOf(name);
    return index < 0 ? target[name] : target.at(index);
  },
  set(target, name, value) {
    if (typeof name === 'string' && /^-?\d+$/.test(name)) {
      target.set(Number(name), value);
      return true;
    }
    return Reflect.set(target, name, value);
  },
  has(target, name) {
    const index = indexOf(name);
    return index < 0 ? name in target : index < target.length;
  },
  ownKeys(target) {
    return [...Array(target.length).keys()].map(String).concat(Object.keys(target));
  },
  getOwnPropertyDescriptor(target, name) {
    const index = indexOf(name);
    if (index < 0) return Reflect.getOwnPropertyDescriptor(target, name);
    if (index >= target.length) return undefined;
    return { value: target.at(index), enumerable: true, configurable: true, writable: true };
  },
  // Rows are not properties that could be redefined, deleted or frozen.
  defineProperty: (target, name, property) => indexOf(name) < 0 && Reflect.defineProperty(target, name, property),
  deleteProperty: (target, name) => indexOf(name) < 0 && Reflect.deleteProperty(target, name),
  preventExtensions: () => false,
};

const INVALIDATED = 2010;

/** Says which kind of collection is gone, and why. */
function explain(collection, error) {
  if (error.code === INVALIDATED && !(collection instanceof Results) && !collection.isValid()) {
    error.message = `${collection.constructor.name} is no longer valid. Either the parent object was deleted or the ` +
      'containing Realm has been invalidated or closed.';
  }
  return error;
}

/** Lets the methods of a class run on what is behind the proxy; `this` as a result is the proxy again. */
function unwrapMethods(kind) {
  for (const [name, { value: method }] of Object.entries(Object.getOwnPropertyDescriptors(kind.prototype))) {
    if (typeof method !== 'function' || name === 'constructor' || INTERNAL.has(name)) continue;
    const wrapped = function (...args) {
      const raw = this[RAW];
      try {
        const result = method.apply(raw, args);
        return result === raw ? raw.proxy : result;
      } catch (error) {
        throw explain(raw, error);
      }
    };
    Object.defineProperty(wrapped, 'name', { value: name });
    Object.defineProperty(kind.prototype, name, { value: wrapped, writable: true, configurable: true });
  }
}

/** Methods that are called on what is behind the proxy only. */
const INTERNAL = new Set(['results', 'makeResults', 'objectAt', 'valueAt', 'decode', 'nested', 'write', 'aggregate']);

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
    const key = this.large === undefined ? this.keys[row] : this.large[row];
    // The object was deleted since the loop began.
    if (key !== key) return { done: false, value: null };
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
      this.large = values.map((value) => (value === null ? NaN : value[2]));
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

const SUMMED = new Set([TYPES.int, TYPES.float, TYPES.double, TYPES.decimal128, TYPES.mixed]);
const ORDERED = new Set([...SUMMED, TYPES.date]);

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
class Collection {
  constructor(core, handle, kind) {
    if (!(handle instanceof Handle)) fail('Illegal constructor: a realm makes collections');
    const hidden = (value) => ({ value, enumerable: false, writable: true, configurable: true });
    const proxy = new Proxy(this, collectionTraps);
    Object.defineProperties(this, {
      core: hidden(core),
      handle: hidden(handle),
      kind: hidden(kind),
      rows: hidden(null),
      window: hidden(null),
      proxy: hidden(proxy),
    });
    return proxy;
  }

  get [RAW]() {
    return this;
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

  get description() {
    const query = native.realm_results_get_query(this.results().number);
    try {
      return native.realm_query_get_description(query);
    } finally {
      native.release(query);
    }
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
        return link === null ? null : this.core.wrap(this.meta, link[2]);
      }
      if (count === 0) {
        if (!this.isValid()) throw makeError(INVALIDATED, '', undefined, 2);
        return undefined;
      }
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
    if (key !== key) return null;
    return new this.meta.Wrapper(key, this.core.shared.transaction, window.page, row);
  }

  set() {
    fail(`Modifying a ${this.constructor.name} collection is not supported`, 'RLM_ERR_ILLEGAL_OPERATION');
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
    const foreign = isObject(value) && value[META] !== undefined &&
      (value[META].name !== this.meta?.name || value[CORE].path !== this.core.path);
    if (this.meta && foreign) {
      const [name, own] = [value[META].name, this.meta.name];
      fail(`Object of type '${name}' does not match Results type '${own}'`, 'RLM_ERR_OBJECT_TYPE_MISMATCH');
    }
    const encoded = this.kind.encodeForSearch(value);
    return encoded === undefined ? -1 : native.indexOf(this.results().number, encoded);
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
    const passed = this.core.encodeArguments(values);
    const parse = (part) => native.parse(3, rows, 0, part, passed);
    const filter = (query) => native.realm_results_filter(rows, query);
    const [predicate, orderings] = splitQuery(text);
    // A query with orderings is parsed as a whole, for the errors in it. They come after those that the rows have.
    if (orderings.length > 0) native.release(parse(text));
    const query = parse(predicate);
    let made;
    try {
      made = new Handle(filter(query));
    } finally {
      native.release(query);
    }
    for (const [kind, content] of orderings) {
      const number = kind === 'LIMIT'
        ? native.realm_results_limit(made.number, Number(content))
        : kind === 'SORT'
        ? native.realm_results_sort(made.number, this.storedPaths(content))
        : native.realm_results_distinct(made.number, this.storedPaths(content));
      made.release();
      made = new Handle(number);
    }
    return new Results(this.core, made, this.meta);
  }

  /** The content of SORT(…) or DISTINCT(…) with stored names. */
  storedPaths(content) {
    const stored = (path) => this.storedPath(path.replace(/\\(.)/g, '$1'));
    return content.split(',').map((part) => part.trim().replace(/^(?:\\.|\S)+/, stored)).join(', ');
  }

  /** sorted("name"), sorted("name", true), sorted(["name", ["age", true]]); true: descending. Values: sorted(true). */
  sorted(descriptor = undefined, reverse = undefined) {
    const given = this.meta === undefined && (descriptor === undefined || typeof descriptor === 'boolean')
      ? [['self', descriptor === true]]
      : Array.isArray(descriptor)
      ? descriptor
      : [[descriptor ?? 'self', reverse]];
    if (typeof given[0]?.[0] !== 'string' && !Array.isArray(descriptor)) {
      mismatch('argument', 'property name and optional bool or an array of descriptors', descriptor);
    }
    const parts = given.map((part, index) => {
      const [path, descending] = Array.isArray(part) ? part : [part, false];
      if (typeof path !== 'string') {
        mismatch(`descriptor[${index}]`, 'string or array with two elements [string, boolean]', part);
      }
      return [path, Boolean(descending)];
    });
    if (Array.isArray(descriptor) && reverse !== undefined) mismatch('argument', 'undefined', reverse, 'second ');
    if (this.meta === undefined) return this.sortedValues(parts);
    if (parts.length === 0) return this.filtered('TRUEPREDICATE');
    const text = parts.map(([path, descending]) => `${this.storedPath(path)} ${descending ? 'DESC' : 'ASC'}`);
    const made = native.realm_results_sort(this.results().number, text.join(', '));
    return new Results(this.core, new Handle(made), this.meta);
  }

  /** An array: values have no live results. */
  sortedValues(parts) {
    for (const [path] of parts) {
      if (path !== 'self') {
        const why = `arrays of '${this.type}' can only be sorted on 'self'`;
        fail(`Cannot sort on key path '${path}': ${why}`, 'RLM_ERR_INVALID_SORT_DESCRIPTOR');
      }
    }
    const values = [...this];
    if (parts.length === 0) return values;
    const direction = parts[0][1] ? -1 : 1;
    return values.sort((one, other) => direction * compareValues(one, other));
  }

  /** A path with stored names in place of public ones. */
  storedPath(path) {
    let { meta } = this;
    const names = path.split('.');
    return names.map((name, index) => {
      const refuse = (why) => fail(`Cannot sort on key path '${path}': ${why}.`, 'RLM_ERR_INVALID_QUERY');
      if (name.startsWith('@')) return name;
      const property = meta?.byName.get(name) ?? meta?.properties.find((one) => one.stored === name);
      if (meta && !property) refuse(`property '${meta.name}.${name}' does not exist`);
      const isLink = property?.type === TYPES.object && property.collection === undefined;
      if (isLink && index === names.length - 1) {
        refuse(`property '${property.place}' of type 'object' cannot be the final property in the key path`);
      }
      meta = property?.target === undefined ? undefined : this.core.classByName(property.target);
      return (property?.stored ?? name).replace(/\s/g, '\\$&');
    }).join('.');
  }

  snapshot() {
    const made = new Handle(native.realm_results_snapshot(this.results().number));
    return new Results(this.core, made, this.meta, this.kind);
  }

  aggregate(operation, name, call) {
    const allowed = operation === 'min' || operation === 'max' ? ORDERED : SUMMED;
    const refuse = (kind, what) => {
      const type = `${kind.typeName}${kind.optional ? '?' : ''}`;
      fail(`Operation '${operation}' not supported for ${type} ${what}`, 'RLM_ERR_ILLEGAL_OPERATION');
    };
    let key = -1;
    if (this.meta === undefined) {
      if (name !== undefined) fail(`Cannot get property named '${name}' on a list of primitives`);
      if (!allowed.has(this.kind.type)) {
        refuse(this.kind, `${this.constructor.name.toLowerCase()} '${this.kind.place}'`);
      }
    } else {
      if (typeof name !== 'string') mismatch('name', 'a string', name);
      const property = this.propertyNamed(name);
      if (!allowed.has(property.type) || property.collection) refuse(property, `property '${property.place}'`);
      key = property.key;
    }
    const [value] = call(this.results().number, key);
    return Array.isArray(value) ? decodeTagged(this.core, value) : value ?? undefined;
  }

  propertyNamed(name) {
    return this.meta.byName.get(name) ??
      fail(`Property '${name}' does not exist on '${this.meta.name}' objects`, 'RLM_ERR_INVALID_PROPERTY');
  }

  min(name) {
    return this.aggregate('min', name, native.realm_results_min);
  }

  max(name) {
    return this.aggregate('max', name, native.realm_results_max);
  }

  sum(name) {
    return this.aggregate('sum', name, native.realm_results_sum);
  }

  avg(name) {
    return this.aggregate('average', name, native.realm_results_average);
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
    kinds.listen(this.core, this.proxy, this.handle, this.meta?.key, keyPaths, listener, (changes) => ({
      deletions: changes[0],
      insertions: changes[1],
      oldModifications: changes[2],
      newModifications: changes[3],
    }));
  }

  removeListener(listener) {
    kinds.unlisten(this.core, this.proxy, listener);
  }

  removeAllListeners() {
    kinds.unlisten(this.core, this.proxy, undefined);
  }

  /** An async iterator of {collection, changes}; it keeps the process alive while a loop waits for it. */
  changes(keyPaths) {
    return kinds.changesOf(this[CORE], (listener) => {
      this.addListener(listener, keyPaths);
      return () => this.removeListener(listener);
    }, (collection, changes) => ({ collection, changes }));
  }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect = util.inspect) {
    if (!this.isValid()) return `Realm.${this.constructor.name} [invalid]`;
    if (depth < 0) return `[Realm.${this.constructor.name}]`;
    const shown = [];
    for (const value of this) {
      if (shown.length === 20) break;
      shown.push(value);
    }
    return `Realm.${this.constructor.name}(${this.length}) ${inspect(shown, { ...options, depth })}`;
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
        return all[name]((value, index) => callback.call(context, value, index, this.proxy));
      }
      return all[name](...args);
    },
    writable: true,
    configurable: true,
  });
}

const ORDERING = /\s*(SORT|DISTINCT|LIMIT)\s*\(([^()]*)\)\s*/iy;

/** A query as its predicate and its orderings, [["SORT", "name ASC"], …]: these stand at the end, not in quotes. */
function splitQuery(text) {
  const all = [];
  const words = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\b(?:SORT|DISTINCT|LIMIT)\s*\(/gi;
  for (let found = words.exec(text); found !== null; found = words.exec(text)) {
    if (found[0][0] === '"' || found[0][0] === "'") continue;
    ORDERING.lastIndex = found.index;
    while (ORDERING.lastIndex < text.length) {
      const one = ORDERING.exec(text);
      if (one === null) return [text, []];
      all.push([one[1].toUpperCase(), one[2]]);
    }
    return [text.slice(0, found.index), all];
  }
  return [text, all];
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

/** The order of values of one type; null is the lowest. */
function compareValues(one, other) {
  if (one === null || other === null) return one === other ? 0 : one === null ? -1 : 1;
  if (one instanceof ArrayBuffer && other instanceof ArrayBuffer) {
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  }
  const plain = (
    value,
  ) => (value._bsontype === 'Decimal128' ? Number(value) : value._bsontype ? value.toHexString() : value);
  const [left, right] = [plain(one), plain(other)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function sameValue(one, other) {
  if (one?.[META] !== undefined && other?.[META] !== undefined) return one.equals(other);
  if (one instanceof Date && other instanceof Date) return one.getTime() === other.getTime();
  return Object.is(one, other) || one === other || Boolean(one?.equals?.(other));
}

class Results extends Collection {
  constructor(core, handle, meta, kind = undefined) {
    super(core, handle, kind ?? (meta && new ElementKind(core, TYPES.object, false, meta.name, meta.name)));
    this[RAW].rows = handle;
  }

  isValid() {
    return !this.core.closed && native.realm_results_is_valid(this.handle.number);
  }

  /** Sets a property of all objects. */
  update(name, value) {
    this.needObjects('updated');
    this.propertyNamed(name);
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

  set length(_) {
    super.length = _;
  }

  nested(kind, index) {
    const number = kind === LIST
      ? native.realm_list_get_list(this.handle.number, index)
      : native.realm_list_get_dictionary(this.handle.number, index);
    return makeNested(this.core, kind, number, this.kind);
  }

  /** Writes a value at a place that exists (insert: makes the place). */
  write(index, value, insert, mode = UPDATE_NEVER, place = this.kind.place) {
    const { core, kind } = this;
    const { number } = this.handle;
    state.version += 1;
    if (kind.isEmbedded) {
      if (!isObject(value)) mismatch(place, 'an object', value);
      const values = value[META] === undefined ? value : kinds.copyValues(value);
      const made = insert
        ? native.realm_list_insert_embedded(number, index)
        : native.realm_list_set_embedded(number, index);
      core.fillEmbedded(kind.meta, made, values, mode);
      return;
    }
    const nested = kind.type === TYPES.mixed ? collectionKind(value) : 0;
    if (nested === 0) {
      const encoded = kind.encode(value, mode, place);
      if (insert) native.realm_list_insert(number, index, encoded);
      else native.realm_list_set(number, index, encoded);
      return;
    }
    const copy = plainCopy(core, value, nested, place);
    if (!insert) native.realm_list_set(number, index, null);
    const call = nested === LIST
      ? (insert ? native.realm_list_insert_list : native.realm_list_set_list)
      : (insert ? native.realm_list_insert_dictionary : native.realm_list_set_dictionary);
    fillAndRelease(makeNested(core, nested, call(number, index), kind), copy);
  }

  set(index, value) {
    const { length } = this;
    if (index < 0) fail(`Cannot set item at negative index ${index}.`, 'RLM_ERR_INDEX_OUT_OF_BOUNDS');
    if (index >= length) {
      const limit = length === 0 ? 'when empty' : `when max is ${length - 1}`;
      const call = `Requested index ${index} calling set() on list '${this.kind.place}' ${limit}`;
      fail(call, 'RLM_ERR_INDEX_OUT_OF_BOUNDS');
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
    if (typeof start !== 'number') mismatch('start', 'a number', start);
    if (typeof count !== 'number') mismatch('deleteCount', 'a number', count);
    const { length } = this;
    const from = Math.trunc(Number(start)) || 0;
    const first = from < 0 ? Math.max(length + from, 0) : Math.min(from, length);
    const many = Math.max(
      0,
      Math.min(Math.trunc(Number(count)) || (count === Infinity ? length : 0), length - first),
    );
    const removed = [];
    for (let index = 0; index < many; index += 1) {
      removed.push(this.at(first));
      this.remove(first);
    }
    const place = `element of ${String(this.kind.place).split('.').pop()}`;
    values.forEach((value, index) => this.write(first + index, value, true, UPDATE_NEVER, place));
    return removed;
  }

  remove(index) {
    if (index < 0) fail('Index cannot be smaller than 0.', 'RLM_ERR_INDEX_OUT_OF_BOUNDS');
    if (index >= this.length) {
      fail('Index cannot be greater than the size of the list.', 'RLM_ERR_INDEX_OUT_OF_BOUNDS');
    }
    state.version += 1;
    native.realm_list_erase(this.handle.number, index);
  }

  checkIndexes(first, second) {
    const { length } = this;
    if (first < 0 || second < 0) fail('Indexes cannot be smaller than 0.', 'RLM_ERR_INDEX_OUT_OF_BOUNDS');
    if (first >= length || second >= length) {
      fail('Indexes cannot be greater than the size of the list.', 'RLM_ERR_INDEX_OUT_OF_BOUNDS');
    }
    for (const index of [first, second]) if (!Number.isInteger(index)) mismatch('index', 'an integer', index);
  }

  move(from, to) {
    this.checkIndexes(from, to);
    state.version += 1;
    native.realm_list_move(this.handle.number, from, to);
  }

  swap(first, second) {
    this.checkIndexes(first, second);
    const [low, high] = first < second ? [first, second] : [second, first];
    if (low === high) return;
    this.move(low, high);
    this.move(high - 1, low);
  }

  removeAll() {
    this.clear();
  }

  clear() {
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

  set length(_) {
    super.length = _;
  }

  get size() {
    return this.length;
  }

  add(value, mode = UPDATE_NEVER) {
    const nested = this.kind.type === TYPES.mixed ? collectionKind(value) : 0;
    if (nested !== 0) {
      const name = nested === LIST ? 'Lists' : 'Dictionaries';
      fail(`${name} within a Set are not supported`, 'RLM_ERR_ILLEGAL_OPERATION');
    }
    const encoded = this.kind.encode(value, mode);
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

  write(key, value, mode = UPDATE_NEVER, place = this.kind.place) {
    const { core, kind } = this;
    const { number } = this.handle;
    if (typeof key === 'symbol') fail('Symbols cannot be used as keys of a dictionary');
    if (typeof key !== 'string') mismatch('key', 'a string', key);
    state.version += 1;
    if (kind.isEmbedded && value !== null && value !== undefined) {
      if (!isObject(value)) mismatch(place, 'an object', value);
      const values = value[META] === undefined ? value : kinds.copyValues(value);
      core.fillEmbedded(kind.meta, native.realm_dictionary_insert_embedded(number, key), values, mode);
      return;
    }
    const nested = kind.type === TYPES.mixed ? collectionKind(value) : 0;
    if (nested === 0) {
      native.realm_dictionary_insert(number, key, kind.encode(value, mode, place));
      return;
    }
    const copy = plainCopy(core, value, nested, place);
    native.realm_dictionary_insert(number, key, null);
    const made = nested === LIST
      ? native.realm_dictionary_insert_list(number, key)
      : native.realm_dictionary_insert_dictionary(number, key);
    fillAndRelease(makeNested(core, nested, made, kind), copy);
  }

  /** set(key, value) or set({key: value, …}) */
  set(key, value) {
    if (isObject(key)) {
      if (Object.getOwnPropertySymbols(key).length > 0) fail('Symbols cannot be used as keys of a dictionary');
      for (const [name, one] of Object.entries(key)) this.write(name, one);
    } else this.write(key, value);
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
    for (let index = 0; index < size; index += 1) {
      names.push(native.realm_dictionary_get(this.handle.number, index)[0]);
    }
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
    return new Results(
      this.core,
      new Handle(native.realm_dictionary_to_results(this.handle.number)),
      this.kind.meta,
    );
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
    kinds.unlisten(this.core, this.proxy, listener);
  }

  removeAllListeners() {
    kinds.unlisten(this.core, this.proxy, undefined);
  }

  changes(keyPaths) {
    return kinds.changesOf(this[CORE], (listener) => {
      this.addListener(listener, keyPaths);
      return () => this.removeListener(listener);
    }, (dictionary, changes) => ({ dictionary, changes }));
  }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect = util.inspect) {
    if (!this.isValid()) return 'Realm.Dictionary [invalid]';
    if (depth < 0) return '[Realm.Dictionary]';
    return `Realm.Dictionary ${inspect(Object.fromEntries(this.entries()), { ...options, depth })}`;
  }
}

/** A method of a dictionary for its proxy. */
function bound(target, method) {
  return (...args) => {
    try {
      return method.apply(target, args);
    } catch (error) {
      throw explain(target, error);
    }
  };
}

// `dictionary.key` and Object.keys(dictionary): names of the class go before keys.
const dictionaryTraps = {
  get(target, name) {
    if (typeof name === 'symbol' || name in target) {
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' && name !== 'constructor' ? bound(target, value) : value;
    }
    return target.get(name);
  },
  set(target, name, value) {
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
  defineProperty: () => false,
  preventExtensions: () => false,
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

/** A copy that no getter of the program and no live collection can change while it is written. Throws for values that
 *  cannot be stored. */
function plainCopy(core, value, kind, place, depth = 1) {
  if (depth > DEEPEST) throw makeError(3018, 'Collections are nested more than 100 levels deep', undefined, 8);
  const copied = (one) => {
    const inner = collectionKind(one);
    if (inner !== 0) return plainCopy(core, one, inner, place, depth + 1);
    encodeAny(core, one, place); // refuses what cannot be stored
    return one;
  };
  if (kind === LIST) return Array.from(value, copied);
  const entries = value instanceof Dictionary ? [...value.entries()] : Object.entries(value);
  const copy = Object.create(null);
  for (const [name, one] of entries) copy[name] = copied(one);
  return copy;
}

/** Fills a collection that no program has, and releases its handle: a loop that makes many keeps none. */
function fillAndRelease(collection, copy) {
  try {
    if (Array.isArray(copy)) { for (const value of copy) collection.push(value); }
    else for (const [name, value] of Object.entries(copy)) collection.set(name, value);
  } finally {
    collection.handle.release();
  }
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
  const held = object[COLLECTIONS]?.get(property);
  if (held !== undefined && held === value) return;
  const isDictionary = property.collection === 'dictionary';
  const isIterable = isObject(value) && typeof value[Symbol.iterator] === 'function';
  if (isDictionary ? !isObject(value) : !isIterable) {
    mismatch(property.place, isDictionary ? 'an object' : 'an array', value);
  }
  const entries = isDictionary
    ? (value instanceof Dictionary ? [...value.entries()] : Object.entries(value))
    : Array.from(value, (one, index) => [index, one]);
  const placeOf = (key) => `${property.name}[${isDictionary ? `"${key}"` : key}]`;
  const collection = held ?? core.withObject(object, (number) => openCollection(core, number, property));
  const raw = collection[RAW] ?? collection;
  try {
    // A value that is refused changes nothing.
    if (raw.kind.type !== TYPES.object && raw.kind.type !== TYPES.mixed) {
      for (const [key, one] of entries) raw.kind.encode(one, mode, placeOf(key));
    }
    raw.clear();
    for (const [key, one] of entries) {
      if (property.collection === 'set') raw.add(one, mode);
      else if (isDictionary) raw.write(key, one, mode, placeOf(key));
      else raw.write(key, one, true, mode, placeOf(key));
    }
  } finally {
    if (held === undefined) raw.handle.release();
  }
}

/** Makes a Mixed property hold a list or a dictionary. */
function assignMixed(core, object, property, kind, value) {
  const copy = plainCopy(core, value, kind, property.place);
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
  fillAndRelease(collection, copy);
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

  set value(_) {
    fail('To update the value, use the methods on the Counter.', 'RLM_ERR_READ_ONLY_PROPERTY');
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
  if (value[META] !== undefined) {
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

for (const kind of [Collection, Results, List, RealmSet]) unwrapMethods(kind);

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
