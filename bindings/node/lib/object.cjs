// Realm.Object: accessors of the properties, and what every object can do.
'use strict';

const util = require('node:util');

const { native, state, addCallback, callbacks, report, Handle } = require('./native.cjs');
const {
  KEY,
  TX,
  PAGE,
  ROW,
  META,
  CORE,
  COLLECTIONS,
  LIST,
  DICTIONARY,
  Texts,
  ElementKind,
  flags,
  kinds,
  keyOf,
  isGone,
  decodeTagged,
} = require('./core.cjs');
const { fail, mismatch } = require('./errors.cjs');
const { TYPES } = require('./schema.cjs');

const DEEPEST_SHOWN = 5;

class RealmObject {
  /** new Person(realm, values): creates an object of the class in the realm. */
  constructor(realm, values) {
    const core = realm?.[CORE];
    if (!core) fail('An object is made by new Class(realm, values), or by realm.create()');
    return core.create(core.resolve(new.target), values ?? {}, 'never');
  }

  /** Names of the properties. */
  keys() {
    return this[META].properties.map((property) => property.name);
  }

  entries() {
    return this.keys().map((name) => [name, this[name]]);
  }

  isValid() {
    const transaction = this[TX];
    if (transaction !== null && transaction.rolledBack && isGone(this)) return false;
    const core = this[CORE];
    return !core.closed && native.exists(core.handle.number, this[META].key, this[KEY]);
  }

  objectSchema() {
    return kinds.publicClass(this[META]);
  }

  getPropertyType(name) {
    const property = propertyOf(this[META], name);
    if (property.type === TYPES.mixed && property.collection === undefined) return typeOfValue(this[name]);
    if (property.collection === 'linkingObjects') return `linkingObjects<${property.target}>`;
    const element = property.target ? `<${property.target}>` : `${property.typeName}${property.optional ? '?' : ''}`;
    if (property.collection) return `${property.collection}<${property.target ?? element}>`;
    return element;
  }

  /** The objects of a class that link here through a property. */
  linkingObjects(type, name) {
    const core = this[CORE];
    const meta = core.resolve(type);
    const property = propertyOf(meta, name);
    if (property.target !== this[META].name || property.collection === 'linkingObjects') {
      fail(`'${meta.name}#${name}' is not a relationship to '${this[META].name}'`, 'RLM_ERR_INVALID_PROPERTY');
    }
    return linking(core, this, meta, property);
  }

  linkingObjectsCount() {
    let count = 0;
    const core = this[CORE];
    for (const meta of core.classes.values()) {
      for (const property of meta.properties) {
        if (property.target === this[META].name && property.collection !== 'linkingObjects') {
          count += linking(core, this, meta, property).length;
        }
      }
    }
    return count;
  }

  /** Calls listener(object, {deleted, changedProperties}) after each change, and once at the beginning. */
  addListener(listener, keyPaths) {
    if (typeof listener !== 'function') mismatch('callback', 'a function', listener);
    const core = this[CORE];
    const number = native.object(core.handle.number, this[META].key, keyOf(this));
    const handle = new Handle(number);
    // In the order of the columns in the file.
    const names = (changed) =>
      [...changed].sort((one, other) => (one < other ? -1 : 1)).map((key) =>
        this[META].properties.find((one) => one.key === key)?.name
      ).filter(Boolean);
    const shape = (changes) => ({ deleted: changes[0], changedProperties: names(changes[1]) });
    try {
      kinds.listen(core, this, handle, this[META].key, keyPaths, listener, shape);
    } catch (error) {
      handle.release();
      throw error;
    }
  }

  removeListener(listener) {
    kinds.unlisten(this[CORE], this, listener);
  }

  removeAllListeners() {
    kinds.unlisten(this[CORE], this, undefined);
  }

  /** An async iterator of {object, changes}. */
  changes(keyPaths) {
    return kinds.changesOf(this[CORE], (listener) => {
      this.addListener(listener, keyPaths);
      return () => this.removeListener(listener);
    }, (object, changes) => ({ object, changes }));
  }

  /** A plain copy, with collections and linked objects; an object that was met before is the same copy again. */
  toJSON(_ = undefined, seen = new Map()) {
    return kinds.toPlain(this, seen instanceof Map ? seen : new Map());
  }

  _objectKey() {
    return String(keyOf(this));
  }

  _objectId() {
    return String(keyOf(this));
  }

  /** Whether both stand for the same object of the same file. */
  equals(other) {
    return other?.[META] !== undefined && other[META].name === this[META].name &&
      other[CORE].path === this[CORE].path &&
      keyOf(other) === keyOf(this);
  }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect = util.inspect) {
    if (!this[META]) return 'RealmObject';
    if (!this.isValid()) return `${this[META].name} [deleted]`;
    // Objects may link in circles, and each read makes another object of JavaScript.
    const deep = Math.min(depth ?? DEEPEST_SHOWN, DEEPEST_SHOWN);
    if (deep < 0) return `[${this[META].name}]`;
    const shown = {};
    for (const property of this[META].properties) {
      if (property.collection !== 'linkingObjects') shown[property.name] = this[property.name];
    }
    return `${this[META].name} ${inspect(shown, { ...options, depth: deep })}`;
  }
}

/** The property of a class with a name. */
function propertyOf(meta, name) {
  return meta.byName.get(name) ??
    fail(`Property '${name}' does not exist on '${meta.name}' objects`, 'RLM_ERR_INVALID_PROPERTY');
}

/** The type of a value of a Mixed property. */
function typeOfValue(value) {
  if (value === null) return 'null';
  if (value[META]) return `<${value[META].name}>`;
  if (value instanceof kinds.List) return 'list';
  if (value instanceof kinds.Dictionary) return 'dictionary';
  if (value instanceof Date) return 'date';
  if (value instanceof ArrayBuffer) return 'data';
  const type = { ObjectId: 'objectId', Decimal128: 'decimal128', UUID: 'uuid', Binary: 'uuid' }[value._bsontype];
  return type ?? { number: 'double', bigint: 'int', boolean: 'bool', string: 'string' }[typeof value];
}

function linking(core, object, meta, property) {
  const number = core.withObject(object, (target) => native.realm_get_backlinks(target, meta.key, property.key));
  return new kinds.Results(core, new Handle(number), meta);
}

// Accessors

function pagedGetter(core, property) {
  const { slot, index } = property;
  const isBoolean = property.type === TYPES.bool;
  return function get() {
    const page = this[PAGE];
    if (page !== null && page.version === state.version) {
      let column = page.columns[index];
      if (column === undefined) column = page.load(property);
      if (column instanceof Float64Array) return isBoolean ? column[this[ROW]] !== 0 : column[this[ROW]];
      if (column instanceof Texts) return column.at(this[ROW]);
      if (column !== null) return column[this[ROW]];
    }
    return native.get(core.handle.number, keyOf(this), slot);
  };
}

function plainGetter(core, property) {
  const { slot } = property;
  return function get() {
    return native.get(core.handle.number, keyOf(this), slot);
  };
}

function taggedGetter(core, property) {
  const { slot } = property;
  return function get() {
    const value = native.get(core.handle.number, keyOf(this), slot);
    return value === null ? null : decodeTagged(core, value);
  };
}

function counterGetter(core, property) {
  const { slot } = property;
  return function get() {
    return native.get(core.handle.number, keyOf(this), slot) === null ? null : new kinds.Counter(this, property);
  };
}

/** A list, set, dictionary or the linking objects: one JavaScript object for each object and property. */
function collectionGetter(core, property) {
  return function get() {
    const cached = this[COLLECTIONS]?.get(property);
    if (cached !== undefined && !core.closed) {
      keyOf(this);
      return cached;
    }
    const made = core.withObject(this, (number) => kinds.openCollection(core, number, property));
    // A frozen object keeps none.
    if (this[COLLECTIONS] === undefined && Object.isFrozen(this)) return made;
    this[COLLECTIONS] ??= new Map();
    this[COLLECTIONS].set(property, made);
    return made;
  };
}

function mixedGetter(core, property) {
  const { slot } = property;
  return function get() {
    const value = native.get(core.handle.number, keyOf(this), slot);
    if (!Array.isArray(value)) return value;
    if (value[0] !== LIST && value[0] !== DICTIONARY) return decodeTagged(core, value);
    const kind = new ElementKind(core, TYPES.mixed, true, undefined, property.place);
    return core.withObject(
      this,
      (
        number,
      ) => (value[0] === LIST
        ? new kinds.List(core, new Handle(native.realm_get_list(number, property.key)), kind)
        : kinds.makeDictionary(core, new Handle(native.realm_get_dictionary(number, property.key)), kind)),
    );
  };
}

function getterFor(core, property) {
  if (property.collection !== undefined) return collectionGetter(core, property);
  if (property.counter) return counterGetter(core, property);
  if (property.type === TYPES.mixed) return mixedGetter(core, property);
  if (
    property.type === TYPES.object || property.type === TYPES.decimal128 || property.type === TYPES.objectId ||
    property.type === TYPES.uuid
  ) {
    return taggedGetter(core, property);
  }
  return property.paged ? pagedGetter(core, property) : plainGetter(core, property);
}

function setterFor(core, property) {
  return function set(value) {
    core.setProperty(this, property, value);
  };
}

/** With flags.OWN_KEYS: the properties of the class are the own ones of its objects. */
const ownKeysTraps = {
  get: (target, name) => target[name],
  ownKeys: (target) => [
    ...new Set([
      ...target[META].properties.filter((one) => one.collection !== 'linkingObjects').map((one) => one.name),
      ...Object.keys(target),
    ]),
  ],
  getOwnPropertyDescriptor(target, name) {
    const property = target[META].byName.get(name);
    if (!property || property.collection === 'linkingObjects') {
      return Reflect.getOwnPropertyDescriptor(target, name);
    }
    return { value: target[name], enumerable: true, configurable: true, writable: true };
  },
  preventExtensions: () => false,
};

/** The class of the objects of a class in one realm: its prototype follows that of the program's class. */
function makeWrapper(core, meta, constructor) {
  const base = constructor?.prototype ?? RealmObject.prototype;
  function Wrapper(key, transaction, page, row) {
    this[KEY] = key;
    this[TX] = transaction;
    this[PAGE] = page;
    this[ROW] = row;
    this[COLLECTIONS] = undefined;
  }
  function Proxied(key, transaction, page, row) {
    return new Proxy(new Wrapper(key, transaction, page, row), ownKeysTraps);
  }
  const prototype = Object.create(base);
  const hidden = (value) => ({ value, enumerable: false, configurable: true, writable: true });
  Object.defineProperty(prototype, META, hidden(meta));
  Object.defineProperty(prototype, CORE, hidden(core));
  if (!constructor) Object.defineProperty(prototype, 'constructor', hidden(RealmObject));
  for (const name of Object.getOwnPropertyNames(RealmObject.prototype)) {
    if (!(name in prototype)) {
      Object.defineProperty(prototype, name, Object.getOwnPropertyDescriptor(RealmObject.prototype, name));
    }
  }
  for (const property of meta.properties) {
    Object.defineProperty(prototype, property.name, {
      get: getterFor(core, property),
      set: setterFor(core, property),
      enumerable: true,
      configurable: true,
    });
  }
  Wrapper.prototype = prototype;
  return flags.OWN_KEYS ? Proxied : Wrapper;
}

/** A link in a copy of values stays a link; embedded objects and collections are copied. */
function copyValues(object) {
  const values = {};
  for (const property of object[META].properties) {
    if (property.collection === 'linkingObjects') continue;
    const value = object[property.name];
    values[property.name] = property.collection === 'dictionary'
      ? Object.fromEntries(value.entries())
      : property.collection !== undefined
      ? [...value]
      : property.counter && value
      ? value.value
      : value;
  }
  return values;
}

Object.assign(kinds, { RealmObject, makeWrapper, copyValues, addCallback, callbacks, report });

module.exports = { RealmObject };
