// What is behind an open realm: its classes, their properties, and how values pass between JavaScript and the library.
//
// An object in JavaScript has a key, not a handle of the library: see src/objects.c. Objects that come from a loop
// also have a page: the rows around them, of which a property is read in one call for all rows. A page counts as long
// as nothing moved or changed (`state.version`).
'use strict';

const { native, state, Handle } = require('./native.cjs');
const { bytesOf, makeDecimal, makeObjectId, makeUUID, parseDecimal } = require('./bson.cjs');
const { Place, fail, mismatch, makeError } = require('./errors.cjs');
const { TYPES, TYPE_NAMES, FLAGS, CLASS_FLAGS, collectionName } = require('./schema.cjs');

const KEY = Symbol('key');
const TX = Symbol('transaction');
const PAGE = Symbol('page');
const ROW = Symbol('row');
const META = Symbol('class');
const CORE = Symbol('realm');
const COLLECTIONS = Symbol('collections');

// The numbers of realm_value_type_e that mark encoded values.
const INT = 1;
const FLOAT = 6;
const DECIMAL = 8;
const OBJECT_ID = 9;
const LINK = 10;
const UUID_TYPE = 11;
const LIST = 12;
const DICTIONARY = 13;

const OBJECT_EXISTS = 1013;

const UPDATE_NEVER = 'never';
const UPDATE_MODIFIED = 'modified';

/** Switches of the package, for realms that are opened later. OWN_KEYS: objects are proxies, so that
 *  Object.keys(object), {...object} and deep comparisons see the properties as they do with Realm JS; reads cost about
 *  50 ns more. The others are those of Realm JS: values may always be arrays, and `Realm` never is a global. */
const flags = {
  OWN_KEYS: false,
  ALLOW_CLEAR_TEST_STATE: false,
  ALLOW_VALUES_ARRAYS: true,
  THROW_ON_GLOBAL_REALM: false,
};

/** Classes that later files add: collections need the core, and the core makes collections. */
const kinds = {};

// Pages

const PAGE_ROWS = 1024;
const FIRST_ROWS = 16;
const numbersBuffer = () => new Float64Array(PAGE_ROWS);

/** A column of texts: one string, and where each text ends. */
class Texts {
  constructor(text, ends) {
    this.text = text;
    this.ends = ends;
  }

  at(row) {
    return this.text.substring(row === 0 ? 0 : this.ends[row - 1], this.ends[row]);
  }
}

class Page {
  constructor(core, meta, rows, first, count) {
    this.version = state.version;
    this.core = core;
    this.rows = rows;
    this.first = first;
    this.count = count;
    this.columns = new Array(meta.properties.length).fill(undefined);
  }

  /** The column of a property: Float64Array, Texts, an array, or null when it has none. */
  load(property) {
    const { number } = this.rows;
    let column = null;
    if (number !== -1 && property.paged) {
      const place = this.core.handle.number;
      if (property.type === TYPES.string) {
        const ends = new Float64Array(this.count);
        const text = native.pageTexts(number, this.first, this.count, place, property.slot, ends);
        column = text === null
          ? native.pageColumn(number, this.first, this.count, place, property.slot, undefined)
          : new Texts(text, ends);
      } else {
        const numbers = property.isNumber ? new Float64Array(this.count) : undefined;
        const found = native.pageColumn(number, this.first, this.count, place, property.slot, numbers);
        column = typeof found === 'number' ? numbers : found;
      }
      if (Array.isArray(column) && column.length < this.count) column = null;
    }
    this.columns[property.index] = column;
    return column;
  }
}

// Transactions

/** A write transaction. Objects that were fetched inside it know it: after a rollback their keys may be those of
 *  other objects. */
class Transaction {
  constructor() {
    this.created = new Map(); // class key: the lowest key of an object that the transaction made
    this.rolledBack = false;
  }

  note(classKey, key) {
    const lowest = this.created.get(classKey);
    if (lowest === undefined || key < lowest) this.created.set(classKey, key);
  }
}

function isGone(object) {
  const lowest = object[TX].created.get(object[META].key);
  return lowest !== undefined && object[KEY] >= lowest;
}

/** The key of an object, which is checked only against rolled back transactions. */
function keyOf(object) {
  const transaction = object[TX];
  if (transaction !== null && transaction.rolledBack && isGone(object)) {
    throw makeError(2010, 'The object was made in a transaction that was rolled back', undefined, 2);
  }
  return object[KEY];
}

// Values

/** What a value of a type is called in messages. */
const WANTED = {
  int: 'a number or bigint',
  bool: 'a boolean',
  string: 'a string',
  data: 'an instance of ArrayBuffer',
  date: 'an instance of Date',
  float: 'a number',
  double: 'a number',
  decimal128: 'a Decimal128',
  objectId: 'an ObjectId',
  uuid: 'a UUID',
};

const NOT_NULLABLE = 3002;

const refuseNull = (place, type) => mismatch(place, WANTED[type], null, '', NOT_NULLABLE);

const missing = (property) => `Missing value for property '${property.name}' of '${property.meta.name}'`;

const isObject = (value) => typeof value === 'object' && value !== null;

function isBytes(value) {
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value) ||
    (typeof SharedArrayBuffer !== 'undefined' && value instanceof SharedArrayBuffer);
}

function decimalPayload(value, place) {
  const bytes = bytesOf(value, 'Decimal128', 16);
  if (bytes) return [DECIMAL, bytes];
  if (typeof value === 'number' || typeof value === 'bigint') return [DECIMAL, parseDecimal(String(value))];
  if (typeof value === 'string') return [DECIMAL, parseDecimal(value)];
  return mismatch(place, 'a Decimal128', value);
}

/** Whether the library takes a value for a property as it is. */
function isPlain(property, value) {
  if (!property.isSimple) return false;
  switch (property.type) {
    case TYPES.int:
      return Number.isInteger(value);
    case TYPES.string:
      return typeof value === 'string';
    case TYPES.bool:
      return typeof value === 'boolean';
    default:
      return typeof value === 'number' && (property.type === TYPES.double || property.type === TYPES.float);
  }
}

/** A Date, or a text that a Date is made of. */
function dateOf(value, place) {
  if (value instanceof Date) return value;
  const made = typeof value === 'string' ? new Date(value) : undefined;
  return made && !Number.isNaN(made.getTime()) ? made : mismatch(place, 'an instance of Date', value);
}

/** The value of a counter, for a property that is declared as a counter. */
function counterValue(counter, place) {
  if (!(place instanceof Place && place.counter)) {
    fail(
      "Counters can only be used when 'counter' is declared in the property schema.",
      'RLM_ERR_ILLEGAL_OPERATION',
    );
  }
  return counter.value;
}

/** A value for a property that is not Mixed, not a link and not a collection. */
function encodePlain(type, value, place) {
  if (value === null || value === undefined) return null;
  switch (type) {
    case TYPES.int:
      if (typeof value === 'number') {
        if (!Number.isInteger(value)) mismatch(place, 'an integer', value);
        return value;
      }
      if (typeof value === 'bigint') return value;
      if (value instanceof kinds.Counter) return counterValue(value, place);
      return mismatch(place, 'a number or bigint', value);
    case TYPES.bool:
      return typeof value === 'boolean' ? value : mismatch(place, 'a boolean', value);
    case TYPES.string:
      return typeof value === 'string' ? value : mismatch(place, 'a string', value);
    case TYPES.float:
    case TYPES.double:
      if (typeof value === 'number') return value;
      return typeof value === 'bigint' ? Number(value) : mismatch(place, 'a number', value);
    case TYPES.date:
      return dateOf(value, place);
    case TYPES.data:
      if (isBytes(value)) return value;
      if (typeof value === 'string') return Buffer.from(value, 'base64');
      return mismatch(place, 'an instance of ArrayBuffer', value);
    case TYPES.decimal128:
      return decimalPayload(value, place);
    case TYPES.objectId: {
      const bytes = bytesOf(value, 'ObjectId', 12);
      return bytes ? [OBJECT_ID, bytes] : mismatch(place, 'an ObjectId', value);
    }
    case TYPES.uuid: {
      const bytes = bytesOf(value, 'UUID', 16);
      return bytes ? [UUID_TYPE, bytes] : mismatch(place, 'a UUID', value);
    }
    default:
      return fail(`'${place}' has a type that cannot be written`, 'RLM_ERR_NOT_SUPPORTED');
  }
}

/** An object of this file as a link. */
function encodeLink(core, object, place) {
  const meta = object[META];
  if (!core.isSameRealm(object[CORE])) {
    const own = meta.core.path === core.path ? core.classByName(meta.name) : undefined;
    if (!own) fail(`Realm object is from another Realm ('${place}')`, 'RLM_ERR_ILLEGAL_OPERATION');
  }
  return [LINK, meta.key, keyOf(object)];
}

/** A value without collections for a Mixed property or a query. */
function encodeAny(core, value, place, forQuery = false) {
  switch (typeof value) {
    case 'undefined':
      return null;
    case 'boolean':
    case 'string':
    case 'bigint':
      return value;
    case 'number':
      return forQuery && Number.isSafeInteger(value) && !Object.is(value, -0) ? [INT, value] : value;
    case 'object': {
      if (value === null || value instanceof Date) return value;
      if (value[META] !== undefined) {
        if (value[META].embedded && !forQuery) {
          const { name } = value[META];
          fail(
            `Using an embedded object (${name}) as a Mixed value is not supported.`,
            'RLM_ERR_ILLEGAL_OPERATION',
          );
        }
        return encodeLink(core, value, place);
      }
      const uuid = bytesOf(value, 'UUID', 16);
      if (uuid) return [UUID_TYPE, uuid];
      if (isBytes(value)) return value;
      if (bytesOf(value, 'ObjectId', 12)) return [OBJECT_ID, bytesOf(value, 'ObjectId', 12)];
      if (bytesOf(value, 'Decimal128', 16)) return [DECIMAL, bytesOf(value, 'Decimal128', 16)];
      if (value instanceof kinds.Counter) {
        fail(
          forQuery
            ? "Using a Counter as a query argument is not supported. Use 'Counter.value'."
            : 'Using a Counter as a Mixed value is not supported.',
          'RLM_ERR_ILLEGAL_OPERATION',
        );
      }
      return mismatch(place, 'a value that can be stored', value);
    }
    default:
      return mismatch(place, 'a value that can be stored', value);
  }
}

/** Whether a Mixed property stores the value as a list or a dictionary. */
function collectionKind(value) {
  if (!isObject(value) || value[META] !== undefined || value instanceof Date || isBytes(value)) return 0;
  if (Array.isArray(value) || value instanceof kinds.List || value instanceof kinds.Results) return LIST;
  if (value instanceof kinds.Dictionary) return DICTIONARY;
  if (value instanceof kinds.RealmSet || value instanceof Set) {
    const name = value instanceof Set ? 'Set' : 'RealmSet';
    fail(`Using a ${name} as a Mixed value is not supported.`, 'RLM_ERR_ILLEGAL_OPERATION');
  }
  if (value._bsontype || value instanceof kinds.Counter) return 0;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? DICTIONARY : 0;
}

function decodeTagged(core, value) {
  switch (value[0]) {
    case DECIMAL:
      return makeDecimal(value[1]);
    case OBJECT_ID:
      return makeObjectId(value[1]);
    case UUID_TYPE:
      return makeUUID(value[1]);
    case LINK: {
      const meta = core.classByKey(value[1]);
      return meta ? core.wrap(meta, value[2]) : null;
    }
    default:
      return undefined; // a collection
  }
}

// Classes

class Property {
  constructor(meta, info, index, given) {
    this.meta = meta;
    this.index = index;
    this.stored = info.name;
    this.name = info.publicName || info.name;
    this.type = info.type;
    this.key = info.key;
    this.collection = info.type === TYPES.linkingObjects ? 'linkingObjects' : collectionName(info.collection);
    this.target = info.target || undefined;
    this.origin = info.origin || undefined;
    this.optional = (info.flags & FLAGS.RLM_PROPERTY_NULLABLE) !== 0;
    this.primary = (info.flags & FLAGS.RLM_PROPERTY_PRIMARY_KEY) !== 0;
    // A primary key has an index of its own, which is no part of the schema that a program writes.
    this.indexed = this.primary && given === undefined
      ? false
      : (info.flags & FLAGS.RLM_PROPERTY_FULLTEXT_INDEXED) !== 0
      ? 'full-text'
      : (info.flags & FLAGS.RLM_PROPERTY_INDEXED) !== 0;
    this.counter = Boolean(given?.counter);
    this.default = given?.default;
    this.place = new Place(`${meta.name}.${this.name}`);
    this.place.counter = this.counter;
    this.isSimple = this.collection === undefined && this.type !== TYPES.object && this.type !== TYPES.mixed;
    this.isNumber = this.isSimple && !this.optional &&
      (this.type === TYPES.int || this.type === TYPES.bool || this.type === TYPES.float ||
        this.type === TYPES.double);
    this.paged = this.isSimple && this.type !== TYPES.date && this.type !== TYPES.data &&
      this.type < TYPES.decimal128;
    this.slot = native.addSlot(meta.core.handle.number, meta.key, info.key, info.type);
  }

  get typeName() {
    return TYPE_NAMES.get(this.type);
  }
}

/** The kind of the elements of a collection, or of the value of a property. */
class ElementKind {
  constructor(core, type, optional, target, place) {
    this.core = core;
    this.type = type;
    this.optional = optional;
    this.target = target;
    this.place = place;
  }

  get typeName() {
    return TYPE_NAMES.get(this.type);
  }

  get meta() {
    return this.target === undefined ? undefined : this.core.classByName(this.target);
  }

  get isEmbedded() {
    return Boolean(this.meta?.embedded);
  }

  /** A value as the library takes it. Objects that are not in the realm are made. */
  encode(value, mode = UPDATE_NEVER, place = this.place) {
    if (this.type === TYPES.object) {
      if (value === null || value === undefined) {
        return this.optional ? null : mismatch(place, 'an object', value);
      }
      const object = this.core.objectFor(this.meta, value, place, mode);
      return [LINK, object[META].key, keyOf(object)];
    }
    if (this.type === TYPES.mixed) return encodeAny(this.core, value, place);
    const encoded = encodePlain(this.type, value, place);
    if (encoded === null && !this.optional) refuseNull(place, this.typeName);
    // Collections take values without the type of their property.
    if (this.type === TYPES.int && typeof encoded === 'number') return [INT, encoded];
    if (this.type === TYPES.float && typeof encoded === 'number') return [FLOAT, encoded];
    return encoded;
  }

  /** A value to look for: one that the place cannot hold is undefined. */
  encodeForSearch(value) {
    if (value === undefined) return undefined;
    if (value === null) return null;
    try {
      if (this.type === TYPES.object) {
        return isObject(value) && value[META] !== undefined ? encodeLink(this.core, value, '') : undefined;
      }
      if (this.type === TYPES.mixed) return collectionKind(value) ? undefined : encodeAny(this.core, value, '');
      const encoded = encodePlain(this.type, value, '');
      return this.type === TYPES.int && typeof encoded === 'number'
        ? [INT, encoded]
        : this.type === TYPES.float && typeof encoded === 'number'
        ? [FLOAT, encoded]
        : encoded;
    } catch {
      return undefined;
    }
  }
}

class Meta {
  constructor(core, info, given) {
    this.core = core;
    this.name = info.name;
    this.key = info.key;
    this.embedded = (info.flags & CLASS_FLAGS.RLM_CLASS_MASK) === CLASS_FLAGS.RLM_CLASS_EMBEDDED;
    this.given = given;
    this.properties = info.properties.map((one, index) =>
      new Property(this, one, index, given?.properties.find((other) => other.mapTo === one.name))
    );
    this.byName = new Map(this.properties.map((property) => [property.name, property]));
    this.primary = this.properties.find((property) => property.primary) ?? null;
    this.planned = this.properties.filter((property) => property.collection === undefined);
    // Links to embedded objects are made after the object.
    this.later = this.properties.filter((property) =>
      property.collection !== undefined && property.collection !== 'linkingObjects'
    );
    const primary = this.planned.indexOf(this.primary);
    this.plan = native.addPlan(
      core.handle.number,
      this.key,
      primary,
      ...this.planned.map((property) => property.slot),
    );
    this.isSimple = this.later.length === 0 && this.planned.every((property) => property.isSimple);
    this.Wrapper = kinds.makeWrapper(core, this, given?.constructor);
  }
}

const cores = new Set();

class Core {
  constructor(number, path, classes, lent = false) {
    this.handle = lent ? { number, release() {} } : new Handle(number);
    this.path = path;
    this.given = classes ?? [];
    this.lent = lent;
    this.closed = false;
    this.shared = { transaction: null, listeners: new Set() };
    this.realm = null;
    this.loadClasses();
    if (!lent) this.join();
  }

  /** Instances of one file on one thread are one instance for the library: they share their transaction. */
  join() {
    for (const reference of cores) {
      const other = reference.deref();
      if (!other) cores.delete(reference);
      else if (
        other.path === this.path && !other.closed && native.equals(other.handle.number, this.handle.number)
      ) {
        this.shared = other.shared;
      }
    }
    cores.add(new WeakRef(this));
  }

  isSameRealm(other) {
    return other === this || other.shared === this.shared;
  }

  loadClasses() {
    const before = this.classes;
    this.classes = new Map();
    this.byKey = new Map();
    for (const info of native.classes(this.handle.number)) {
      const given = this.given.find((one) => one.name === info.name);
      const old = before?.get(info.name);
      const signature = JSON.stringify(info, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
      const same = old && old.given === given && old.signature === signature;
      const meta = same ? old : new Meta(this, info, given);
      meta.signature = signature;
      this.classes.set(info.name, meta);
      this.byKey.set(info.key, meta);
    }
  }

  classByName(name) {
    return this.classes.get(name);
  }

  classByKey(key) {
    return this.byKey.get(key);
  }

  /** The class that a name, a class of JavaScript or an object stands for. */
  resolve(type) {
    const name = typeof type === 'string'
      ? type
      : typeof type === 'function'
      ? type.schema?.name ?? type.name
      : undefined;
    if (name === undefined) mismatch('objectType', 'a string or a class', type);
    const meta = this.classes.get(name);
    if (!meta) {
      this.check();
      throw makeError(3020, `Object type '${name}' not found in schema.`, undefined, 8);
    }
    if (typeof type === 'function' && meta.given?.constructor && meta.given.constructor !== type) {
      fail(
        `Constructor was not registered in the schema for this Realm: '${name}'`,
        'RLM_ERR_OBJECT_TYPE_MISMATCH',
      );
    }
    return meta;
  }

  check() {
    if (this.closed) fail('Cannot access realm that has been closed.', 'RLM_ERR_CLOSED_REALM');
  }

  wrap(meta, key) {
    return new meta.Wrapper(key, this.shared.transaction, null, 0);
  }

  get isWriting() {
    return !this.closed && native.realm_is_writable(this.handle.number);
  }

  // Objects

  /** The object for a link: one that exists, or a new one with these values. */
  objectFor(meta, value, place, mode = UPDATE_NEVER) {
    if (!meta) fail(`'${place}' links to a class that is not in the schema`, 'RLM_ERR_NO_SUCH_TABLE');
    if (isObject(value) && value[META] !== undefined) {
      if (value[META].name !== meta.name) mismatch(place, `an instance of ${meta.name}`, value);
      if (this.isSameRealm(value[CORE])) return value;
      if (value[CORE].path === this.path) return this.wrap(meta, keyOf(value));
      return this.create(meta, kinds.copyValues(value), mode);
    }
    if (meta.embedded) fail(`'${place}' cannot link to an embedded object`, 'RLM_ERR_ILLEGAL_OPERATION');
    if (!isObject(value)) mismatch(place, 'an object', value);
    return this.create(meta, value, mode);
  }

  /** Makes or updates an object. Values may come from getters of the program, which may do anything. */
  create(meta, values, mode) {
    if (meta.embedded) {
      fail(`Embedded objects of '${meta.name}' are made in their parent`, 'RLM_ERR_ILLEGAL_OPERATION');
    }
    const source = readSource(meta, values);
    let primaryKey;
    if (meta.primary && mode !== UPDATE_NEVER) {
      primaryKey = source(meta.primary);
      // A function that makes keys is called once.
      if (primaryKey === undefined) primaryKey = defaultOf(meta.primary);
      const found = native.find(
        this.handle.number,
        meta.primary.slot,
        encodePlain(meta.primary.type, primaryKey, meta.primary.place),
      );
      if (found !== null) return this.update(this.wrap(meta, found), meta, source, mode);
    }
    const given = [];
    for (const property of meta.planned) {
      const value = property === meta.primary && primaryKey !== undefined ? primaryKey : source(property);
      given.push(isPlain(property, value) ? value : this.planned(property, value, mode));
    }
    if (this.closed) this.check();
    state.version += 1;
    const key = this.insert(meta, given);
    this.shared.transaction?.note(meta.key, key);
    const object = this.wrap(meta, key);
    if (!meta.isSimple) {
      try {
        this.fillLater(object, meta, given, source, mode);
      } catch (error) {
        this.undo(meta, key);
        throw error;
      }
    }
    return object;
  }

  insert(meta, given) {
    try {
      const passed = meta.isSimple ? given : given.map((value) => (value instanceof Later ? undefined : value));
      return native.create(this.handle.number, meta.plan, ...passed);
    } catch (error) {
      if (error.code === OBJECT_EXISTS) {
        const encoded = given[meta.planned.indexOf(meta.primary)];
        const key = Array.isArray(encoded) ? decodeTagged(this, encoded) : encoded;
        error.message = `Attempting to create an object of type '${meta.name}' with an existing primary key value ` +
          `'${key}'.`;
      }
      throw error;
    }
  }

  undo(meta, key) {
    try {
      native.remove(this.handle.number, meta.key, key);
    } catch {
      // The program rolled the transaction back, or closed the realm.
    }
  }

  /** The encoded value of a property of a new object; Later for what is set when the object exists. */
  planned(property, value, mode) {
    let used = value === undefined ? defaultOf(property) : value;
    if (used === undefined) {
      if (property.counter && !property.optional) return 0;
      if (property.primary && !property.optional) {
        throw makeError(3005, missing(property), undefined, 8);
      }
      if (!property.optional) throw makeError(3004, missing(property), undefined, 8);
      return undefined;
    }
    if (property.isSimple) {
      const encoded = encodePlain(property.type, used, property.place);
      if (encoded === null && !property.optional) {
        refuseNull(property.place, property.typeName);
      }
      return encoded;
    }
    if (property.type === TYPES.object) {
      if (used === null) return undefined;
      const target = this.classByName(property.target);
      if (target?.embedded) return new Later(used);
      const object = this.objectFor(target, used, property.place, mode);
      return [LINK, object[META].key, keyOf(object)];
    }
    return collectionKind(used) ? new Later(used) : encodeAny(this, used, property.place);
  }

  fillLater(object, meta, given, source, mode) {
    for (let index = 0; index < given.length; index += 1) {
      if (given[index] instanceof Later) this.setProperty(object, meta.planned[index], given[index].value, mode);
    }
    for (const property of meta.later) {
      let value = source(property);
      if (value === undefined) value = defaultOf(property);
      if (value !== undefined && value !== null) this.setProperty(object, property, value, mode);
    }
  }

  update(object, meta, source, mode) {
    for (const property of meta.properties) {
      if (property.primary || property.collection === 'linkingObjects') continue;
      const value = source(property);
      if (value === undefined) continue;
      if (mode === UPDATE_MODIFIED && property.isSimple) {
        const encoded = encodePlain(property.type, value, property.place);
        if (sameEncoded(encoded, native.get(this.handle.number, keyOf(object), property.slot))) continue;
      }
      this.setProperty(object, property, value, mode);
    }
    return object;
  }

  /** Writes any property. */
  setProperty(object, property, value, mode = UPDATE_NEVER) {
    if (property.isSimple) {
      if (property.counter) this.checkCounter(object, property, value);
      const encoded = encodePlain(property.type, value, property.place);
      if (encoded === null && !property.optional) {
        refuseNull(property.place, property.typeName);
      }
      this.setEncoded(object, property, encoded);
    } else if (property.collection === 'linkingObjects') {
      fail(`'${property.place}' is computed`, 'RLM_ERR_READ_ONLY_PROPERTY');
    } else if (property.collection !== undefined) {
      kinds.assignCollection(this, object, property, value, mode);
    } else if (property.type === TYPES.object) {
      this.setLink(object, property, value, mode);
    } else {
      const kind = collectionKind(value);
      if (kind === 0) this.setEncoded(object, property, encodeAny(this, value, property.place));
      else kinds.assignMixed(this, object, property, kind, value, mode);
    }
  }

  /** A counter that has a value is changed by its methods; if it may be null, null can be written. */
  checkCounter(object, property, value) {
    if (!this.isWriting || (property.optional && (value === null || value === undefined))) return;
    if (native.get(this.handle.number, keyOf(object), property.slot) !== null) {
      fail(
        'You can only reset a Counter instance when initializing a previously null Counter or resetting a nullable ' +
          'Counter to null. To update the value of the Counter, use its instance methods.',
        'RLM_ERR_ILLEGAL_OPERATION',
      );
    }
  }

  setEncoded(object, property, encoded) {
    state.version += 1;
    native.set(this.handle.number, keyOf(object), property.slot, encoded);
  }

  setLink(object, property, value, mode) {
    const target = this.classByName(property.target);
    if (value === null || value === undefined) {
      this.setEncoded(object, property, null);
    } else if (target?.embedded) {
      if (!isObject(value)) mismatch(property.place, 'an object', value);
      const values = value[META] === undefined ? value : kinds.copyValues(value);
      this.withObject(object, (number) => {
        state.version += 1;
        this.fillEmbedded(target, native.realm_set_embedded(number, property.key), values, mode);
      });
    } else {
      const linked = this.objectFor(target, value, property.place, mode);
      this.setEncoded(object, property, [LINK, linked[META].key, keyOf(linked)]);
    }
  }

  /** Fills a new embedded object, given by a handle, which is released. */
  fillEmbedded(meta, number, values, mode) {
    const [, key] = native.objectKey(number);
    this.shared.transaction?.note(meta.key, key);
    const object = this.wrap(meta, key);
    const source = readSource(meta, values);
    for (const property of meta.properties) {
      if (property.collection === 'linkingObjects') continue;
      let value = source(property);
      if (value === undefined) value = defaultOf(property);
      if (value === undefined) {
        if (!property.optional && property.collection === undefined && !property.counter) {
          throw makeError(3004, missing(property), undefined, 8);
        }
        continue;
      }
      if (property.counter && value !== null) {
        this.setEncoded(object, property, encodePlain(property.type, value, property.place));
      } else if (value !== null || property.collection === undefined) {
        this.setProperty(object, property, value, mode);
      }
    }
    return object;
  }

  /** Runs a function with a handle of an object. */
  withObject(object, run) {
    const number = native.object(this.handle.number, object[META].key, keyOf(object));
    try {
      return run(number);
    } finally {
      native.release(number);
    }
  }

  // Queries

  encodeArguments(values) {
    return values.map((value, index) => {
      const place = `$${index}`;
      const list = Array.isArray(value) || value instanceof Set
        ? [...value]
        : value instanceof kinds.Collection
        ? [...value.values()]
        : undefined;
      return list
        ? { list: list.map((one) => encodeAny(this, one, place, true)) }
        : encodeAny(this, value, place, true);
    });
  }
}

/** A value that is set when the object exists. */
class Later {
  constructor(value) {
    this.value = value;
  }
}

function defaultOf(property) {
  const value = property.default;
  return typeof value === 'function' ? value() : value;
}

/** Reads the value of a property from an object, or from an array in the order of the properties. */
function readSource(meta, values) {
  if (!isObject(values)) mismatch(`values of ${meta.name}`, 'an object', values);
  if (Array.isArray(values)) {
    if (
      values.length <
        meta.properties.length - meta.properties.filter((one) => one.collection === 'linkingObjects').length
    ) {
      fail(`An array for '${meta.name}' needs a value for each property`);
    }
    return (property) => values[property.index];
  }
  return (property) => values[property.name];
}

function sameEncoded(encoded, current) {
  if (encoded === current) return true;
  if (encoded instanceof Date && current instanceof Date) return encoded.getTime() === current.getTime();
  if (Array.isArray(encoded) && Array.isArray(current)) {
    return encoded[0] === current[0] && Buffer.from(current[1]).equals(encoded[1]);
  }
  return false;
}

module.exports = {
  readSource,
  isPlain,
  KEY,
  TX,
  PAGE,
  ROW,
  META,
  CORE,
  COLLECTIONS,
  LIST,
  DICTIONARY,
  LINK,
  INT,
  PAGE_ROWS,
  FIRST_ROWS,
  UPDATE_NEVER,
  UPDATE_MODIFIED,
  Core,
  Page,
  Texts,
  Transaction,
  ElementKind,
  flags,
  kinds,
  cores,
  keyOf,
  isGone,
  isObject,
  isBytes,
  encodePlain,
  encodeAny,
  encodeLink,
  collectionKind,
  decodeTagged,
  numbersBuffer,
};
