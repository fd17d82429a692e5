// Realm: opening, transactions, queries, listeners.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const constants = require('../generated/constants.cjs');
const { native, state, callbacks, addCallback, report, Handle, hold, watch } = require('./native.cjs');
const { CORE, KEY, META, Core, Transaction, kinds, flags, cores, keyOf, isObject } = require('./core.cjs');
const { RealmObject } = require('./object.cjs');
const { Collection, Results, List, RealmSet, Dictionary, Counter } = require('./collections.cjs');
const { createMany } = require('./batches.cjs');
const { BSON, ObjectId, UUID, Decimal128 } = require('./bson.cjs');
const errors = require('./errors.cjs');
const { normalizeSchema, nativeSchema, TYPE_NAMES } = require('./schema.cjs');

const { fail, mismatch } = errors;
const MODES = constants.realm_schema_mode_e;

kinds.keyOf = keyOf;

const LOG_LEVELS = ['all', 'trace', 'debug', 'detail', 'info', 'warn', 'error', 'fatal', 'off'];

/** The number of the callback that gets messages. */
let logging;

/** Log levels as numbers, and their names by number. */
const NumericLogLevel = {};
LOG_LEVELS.forEach((level, number) => {
  const name = level[0].toUpperCase() + level.slice(1);
  NumericLogLevel[NumericLogLevel[name] = number] = name;
});

const UpdateMode = Object.freeze({ Never: 'never', Modified: 'modified', All: 'all' });

const MODES_OF_UPDATES = new Set(Object.values(UpdateMode));

function modeOf(mode) {
  if (mode === undefined || mode === false) return UpdateMode.Never;
  if (mode === true) return UpdateMode.All;
  if (MODES_OF_UPDATES.has(mode)) return mode;
  return fail(`Unsupported 'updateMode'. Only 'never', 'modified' or 'all' is supported.`);
}

/** A dictionary may be gone already: it is not asked for a key 'then'. */
function isPromise(value) {
  return isObject(value) && !(value instanceof Dictionary) && typeof value.then === 'function';
}

// Configurations

const defaults = { path: 'default.realm' };

function readConfig(given) {
  if (given === undefined) return {};
  if (typeof given === 'string') return { path: given };
  if (!isObject(given)) mismatch('realmConfig', 'an object or a string', given);
  const config = { ...given };
  const check = (name, test, wanted) => {
    if (config[name] !== undefined && !test(config[name])) {
      const got = errors.kindOf(config[name]);
      throw new errors.TypeAssertionError(
        `Expected '${name}' on realm configuration to be ${wanted}, got ${got}`,
      );
    }
  };
  const isFunction = (value) => typeof value === 'function';
  const isBoolean = (value) => typeof value === 'boolean';
  check('path', (value) => typeof value === 'string', 'a string');
  if (config.schema !== undefined && !Array.isArray(config.schema)) {
    mismatch('realm schema', 'an array', config.schema);
  }
  check(
    'schemaVersion',
    (value) => Number.isInteger(value) && value >= 0,
    'a number that is 0 or a positive integer',
  );
  check(
    'encryptionKey',
    (value) => value instanceof ArrayBuffer || ArrayBuffer.isView(value),
    'an ArrayBuffer or a view of one',
  );
  check('migrationOptions', isObject, 'an object');
  for (const name of ['onMigration', 'migration', 'onFirstOpen', 'shouldCompact']) {
    check(name, isFunction, 'a function');
  }
  for (const name of ['inMemory', 'readOnly', 'deleteRealmIfMigrationNeeded', 'disableFormatUpgrade']) {
    check(name, isBoolean, 'a boolean');
  }
  if (config.sync !== undefined) fail("Sync is not supported: 'sync' cannot be used", 'RLM_ERR_NOT_SUPPORTED');
  return config;
}

function pathOf(config) {
  return path.resolve(config.path ?? defaults.path);
}

/** Files that this thread opened, for clearTestState(). */
const opened = new Set();

/** A config of the library, and what its callbacks threw. */
class Opening {
  constructor(config) {
    this.path = pathOf(config);
    // Parent folders are made.
    if (!config.readOnly) fs.mkdirSync(path.dirname(this.path), { recursive: true });
    opened.add(this.path);
    this.numbers = [];
    this.error = undefined;
    this.config = new Handle(native.realm_config_new());
    const { number } = this.config;
    native.realm_config_set_path(number, this.path);
    if (config.schema !== undefined) {
      this.classes = normalizeSchema(config.schema);
      const schema = native.newSchema(nativeSchema(this.classes));
      try {
        native.realm_schema_validate(schema, 0);
        native.realm_config_set_schema(number, schema);
      } finally {
        native.release(schema);
      }
      native.realm_config_set_schema_version(number, config.schemaVersion ?? 0);
    }
    if (config.encryptionKey !== undefined) native.setKey(number, config.encryptionKey);
    if (config.passphrase !== undefined) native.setPassphrase(number, config.passphrase);
    if (config.inMemory) native.realm_config_set_in_memory(number, true);
    if (config.disableFormatUpgrade) native.realm_config_set_disable_format_upgrade(number, true);
    if (config.fifoFilesFallbackPath) native.realm_config_set_fifo_path(number, config.fifoFilesFallbackPath);
    if (config.lockTimeout !== undefined) native.crealm_config_set_lock_timeout(number, config.lockTimeout);
    if (config.readOnly && config.deleteRealmIfMigrationNeeded) {
      fail("Cannot set 'deleteRealmIfMigrationNeeded' when 'readOnly' is set.", 'RLM_ERR_ILLEGAL_COMBINATION');
    }
    if (config.readOnly) native.realm_config_set_schema_mode(number, MODES.RLM_SCHEMA_MODE_IMMUTABLE);
    else if (config.deleteRealmIfMigrationNeeded) {
      native.realm_config_set_schema_mode(number, MODES.RLM_SCHEMA_MODE_SOFT_RESET_FILE);
    }
    native.realm_config_set_cached(number, !config.readOnly && config.schema !== undefined);
    if (config.migrationOptions?.resolveEmbeddedConstraints) {
      native.realm_config_set_automatic_backlink_handling(number, true);
    }
    const migration = config.onMigration ?? config.migration;
    if (migration) {
      if (config.deleteRealmIfMigrationNeeded) {
        fail(
          "Cannot set 'onMigration' when 'deleteRealmIfMigrationNeeded' is set.",
          'RLM_ERR_ILLEGAL_COMBINATION',
        );
      }
      this.on(6, (before, after) => this.lend([before, after], (old, made) => migration(old, made)));
    }
    if (config.onFirstOpen) this.on(7, (number_) => this.lend([number_], (made) => config.onFirstOpen(made)));
    if (config.shouldCompact) this.on(8, (total, used) => config.shouldCompact(total, used) === true);
  }

  on(kind, run) {
    const number = addCallback((_, first, second) => {
      try {
        return run(first, second);
      } catch (error) {
        this.error = { error };
        if (kind === 8) native.realm_clear_last_error();
        return false;
      }
    });
    this.numbers.push(number);
    native.onOpen(this.config.number, number, kind);
  }

  /** Runs a function with realms that the library lends for its time. */
  lend(numbers, run) {
    const realms = numbers.map((number, index) => {
      const core = new Core(
        number,
        this.path,
        numbers.length === 1 || index === 1 ? this.classes : undefined,
        true,
      );
      core.inMigration = true;
      core.readOnly = numbers.length === 2 && index === 0;
      core.shared.transaction = new Transaction();
      return makeRealm(core, {});
    });
    try {
      const result = run(...realms);
      if (isPromise(result)) fail('A migration cannot be asynchronous', 'RLM_ERR_ILLEGAL_OPERATION');
      return true;
    } finally {
      for (const realm of realms) realm[CORE].closed = true;
      state.version += 1;
    }
  }

  open() {
    try {
      const number = native.realm_open(this.config.number);
      if (this.error) {
        native.realm_close(number);
        native.release(number);
        throw this.error.error;
      }
      return number;
    } catch (error) {
      if (this.error) throw this.error.error;
      throw error;
    } finally {
      for (const number of this.numbers) callbacks.delete(number);
      this.config.release();
    }
  }
}

// Listeners

const CHANGE = 'change';

/** Registers a listener; `shape` makes what it gets of the library's changes. */
function listen(core, target, handle, classKey, keyPaths, listener, shape) {
  core.check();
  const paths = keyPaths === undefined ? undefined : Array.isArray(keyPaths) ? keyPaths : [keyPaths];
  if (paths?.some((one) => typeof one !== 'string')) {
    mismatch('keyPaths', 'a string or an array of strings', keyPaths);
  }
  for (const record of core.shared.listeners) {
    if (sameTarget(record.target, target) && record.listener === listener) {
      fail('Remove callback before adding it again', 'RLM_ERR_ILLEGAL_OPERATION');
    }
  }
  const record = { core, target, handle, listener, token: -1, number: -1, ended: false };
  record.number = addCallback((_, changes) => {
    if (record.ended) return;
    try {
      listener(target, shape(changes));
    } catch (error) {
      report(error);
    }
  });
  try {
    record.token = native.listen(handle.number, record.number, core.handle.number, classKey, paths);
  } catch (error) {
    callbacks.delete(record.number);
    throw error;
  }
  core.shared.listeners.add(record);
}

function endListener(record) {
  if (record.ended) return;
  record.ended = true;
  record.core.shared.listeners.delete(record);
  callbacks.delete(record.number);
  if (record.token !== -1) native.release(record.token);
  // The handle of an object is one for the listener; that of a collection belongs to the collection.
  if (record.target[META] !== undefined) record.handle.release();
}

function sameTarget(one, other) {
  if (one === other) return true;
  return one?.[META] !== undefined && other?.[META] !== undefined && one[META] === other[META] &&
    one[KEY] === other[KEY];
}

function unlisten(core, target, listener) {
  for (const record of [...core.shared.listeners]) {
    if (sameTarget(record.target, target) && (listener === undefined || record.listener === listener)) {
      endListener(record);
    }
  }
}

/** Changes as an async iterator. While a loop waits, the process stays alive. Ends when the realm is closed. */
function changesOf(core, start, shape) {
  const waiting = [];
  const queue = [];
  let stop;
  let ended = false;
  const finish = () => {
    if (ended) return;
    ended = true;
    endings.delete(finish);
    try {
      stop?.();
    } catch {
      // The realm is closed.
    }
    for (const resolve of waiting.splice(0)) {
      hold(false);
      resolve({ done: true, value: undefined });
    }
  };
  finish.shared = core.shared;
  return {
    async next() {
      if (!stop && !ended) {
        stop = start((target, changes) => {
          const value = shape(target, changes);
          if (waiting.length === 0) queue.push(value);
          else {
            hold(false);
            waiting.shift()({ done: false, value });
          }
        });
        endings.add(finish);
      }
      if (queue.length > 0) return { done: false, value: queue.shift() };
      if (ended) return { done: true, value: undefined };
      hold(true);
      return new Promise((resolve) => {
        waiting.push(resolve);
      });
    },
    async return(value) {
      finish();
      return { done: true, value };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Loops over changes that wait; the end of a realm ends those whose listeners are gone. */
const endings = new Set();

Object.assign(kinds, { listen, unlisten, changesOf });

// Schemas for programs

function publicProperty(property) {
  const shown = {
    name: property.name,
    type: property.collection ?? property.typeName,
    mapTo: property.stored,
    indexed: property.indexed,
    optional: property.optional,
    presentation: property.counter ? 'counter' : undefined,
    default: property.default,
  };
  if (property.collection === 'linkingObjects') {
    shown.objectType = property.target;
    shown.property = property.origin;
  } else if (property.target !== undefined) {
    shown.objectType = property.target;
  } else if (property.collection) {
    shown.objectType = property.typeName;
  }
  return shown;
}

function publicClass(meta) {
  const shown = {
    ctor: meta.given?.constructor,
    name: meta.name,
    asymmetric: false,
    embedded: meta.embedded,
    properties: Object.fromEntries(meta.properties.map((property) => [property.name, publicProperty(property)])),
  };
  if (meta.primary) shown.primaryKey = meta.primary.name;
  return shown;
}

kinds.publicClass = publicClass;

function makeRealm(core, config) {
  const realm = Object.create(Realm.prototype);
  start(realm, core, config);
  return realm;
}

function start(realm, core, config) {
  Object.defineProperty(realm, CORE, { value: core });
  Object.defineProperty(realm, 'config', { value: config });
  core.realm = new WeakRef(realm);
}

class Realm {
  constructor(given) {
    const config = readConfig(given);
    const opening = new Opening(config);
    const number = opening.open();
    const core = new Core(number, opening.path, opening.classes);
    core.readOnly = config.readOnly === true;
    start(this, core, config);
    // The realm follows the commits of others in turns of the event loop.
    watch();
  }

  static open(given) {
    let realm;
    const promise = new Promise((resolve, reject) => {
      setImmediate(() => {
        try {
          realm = new this(given);
          resolve(realm);
        } catch (error) {
          reject(error);
        }
      });
    });
    return Object.assign(promise, { cancel() {}, progress: () => promise });
  }

  static get defaultPath() {
    return path.resolve(defaults.path);
  }

  static set defaultPath(value) {
    if (typeof value !== 'string') mismatch('defaultPath', 'a string', value);
    defaults.path = value;
  }

  static exists(given) {
    return fs.existsSync(pathOf(readConfig(given)));
  }

  static deleteFile(given) {
    native.realm_delete_files(pathOf(readConfig(given)));
  }

  /** The schema version of a file; -1 when there is no file or no version. */
  static schemaVersion(file, encryptionKey) {
    if (typeof file !== 'string') mismatch('path', 'a string', file);
    const full = path.resolve(file);
    if (!fs.existsSync(full)) return -1;
    const config = native.realm_config_new();
    try {
      native.realm_config_set_path(config, full);
      if (encryptionKey !== undefined) native.setKey(config, encryptionKey);
      native.realm_config_set_schema_mode(config, MODES.RLM_SCHEMA_MODE_IMMUTABLE);
      const number = native.realm_open(config);
      try {
        return native.realm_get_schema_version(number) ?? -1;
      } finally {
        native.realm_close(number);
        native.release(number);
      }
    } finally {
      native.release(config);
    }
  }

  /** Closes all realms of this thread and deletes all files that the thread opened: for tests. It needs
   *  flags.ALLOW_CLEAR_TEST_STATE. */
  static clearTestState() {
    if (!flags.ALLOW_CLEAR_TEST_STATE) {
      fail('Set flags.ALLOW_CLEAR_TEST_STATE before clearTestState()', 'RLM_ERR_ILLEGAL_OPERATION');
    }
    Realm.shutdown();
    for (const file of opened) {
      try {
        native.realm_delete_files(file);
      } catch {
        // Another process has it open.
      }
    }
    opened.clear();
  }

  /** Closes all realms of this thread. */
  static shutdown() {
    for (const reference of [...cores]) {
      const core = reference.deref();
      if (core && !core.closed) closeCore(core);
    }
  }

  /** Sends messages of the library, of all threads, to a function of ({level, category, message}), which cannot use
   *  realms; undefined: to standard error again. */
  static setLogger(logger) {
    if (logger !== undefined && typeof logger !== 'function') mismatch('logger', 'a function', logger);
    const before = logging;
    logging = logger && addCallback((_, [level, category, message]) => {
      logger({ level: LOG_LEVELS[level] ?? 'info', category, message });
    });
    native.setLogger(logging);
    callbacks.delete(before);
  }

  static setLogLevel(level, category = 'Realm') {
    const number = LOG_LEVELS.indexOf(level);
    if (number < 0) fail(`Unknown log level '${level}'`);
    native.realm_set_log_level_category(category, number);
  }

  get path() {
    return this[CORE].path;
  }

  get schema() {
    return [...this[CORE].classes.values()].map(publicClass);
  }

  get schemaVersion() {
    return native.realm_get_schema_version(this[CORE].handle.number) ?? 0;
  }

  get isClosed() {
    const core = this[CORE];
    return core.closed || (!core.lent && native.realm_is_closed(core.handle.number));
  }

  get isInTransaction() {
    const core = this[CORE];
    return !core.closed && (core.shared.transaction !== null || core.isWriting);
  }

  get isInMigration() {
    return Boolean(this[CORE].inMigration) && !this[CORE].closed;
  }

  get isReadOnly() {
    return Boolean(this.config.readOnly);
  }

  get isInMemory() {
    return this.inMemory;
  }

  get inMemory() {
    return Boolean(this.config.inMemory);
  }

  get isEmpty() {
    const core = this[CORE];
    core.check();
    return [...core.classes.values()].every((meta) => native.realm_get_num_objects(core.handle.number, meta.key) === 0);
  }

  get syncSession() {
    return null;
  }

  close() {
    closeCore(this[CORE]);
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.close();
  }

  /** A realm of the version that this one shows, which never changes. */
  freeze() {
    const core = this[CORE];
    core.check();
    const frozen = new Core(native.realm_freeze(core.handle.number), core.path, core.given);
    frozen.readOnly = true;
    return makeRealm(frozen, { ...this.config, readOnly: true });
  }

  // Objects

  objects(type) {
    const core = this[CORE];
    core.check();
    const meta = core.resolve(type);
    if (meta.embedded) fail(`You cannot query an embedded object: '${meta.name}'`, 'RLM_ERR_ILLEGAL_OPERATION');
    return new Results(core, new Handle(native.realm_object_find_all(core.handle.number, meta.key)), meta);
  }

  objectForPrimaryKey(type, key) {
    const core = this[CORE];
    core.check();
    const meta = core.resolve(type);
    if (!meta.primary) fail(`Expected a primary key on '${meta.name}'`, 'RLM_ERR_MISSING_PRIMARY_KEY');
    const found = native.find(core.handle.number, meta.primary.slot, kinds.encodeKey(meta.primary, key));
    return found === null ? null : core.wrap(meta, found);
  }

  /** The object with an object key as text; undefined: there is none. For Realm JS's own programs. */
  _objectForObjectKey(type, key) {
    const core = this[CORE];
    core.check();
    const meta = core.resolve(type);
    if (typeof key !== 'string' || !/^-?\d+$/.test(key)) {
      throw new errors.TypeAssertionError(`Expected value to be a numeric string, got ${errors.kindOf(key)}`);
    }
    const number = Number(key);
    return Number.isSafeInteger(number) && native.exists(core.handle.number, meta.key, number)
      ? core.wrap(meta, number)
      : undefined;
  }

  create(type, values = {}, mode = UpdateMode.Never) {
    const core = this[CORE];
    core.check();
    const used = modeOf(mode);
    needTransaction(core);
    const meta = core.resolve(type);
    const object = isObject(values) && values[META] !== undefined ? kinds.copyValues(values) : values;
    return core.create(meta, object, used);
  }

  /** Creates many objects, in one call of the library where the class has single values only: all of them, or none
   *  after an error. Returns how many objects there were to create. */
  createMany(type, rows, mode = UpdateMode.Never) {
    const core = this[CORE];
    core.check();
    const used = modeOf(mode);
    needTransaction(core);
    const meta = core.resolve(type);
    if (typeof rows?.[Symbol.iterator] !== 'function') mismatch('rows', 'an iterable of objects', rows);
    return createMany(core, meta, [...rows], used);
  }

  /** Deletes an object, or the objects of a list, results or an array. */
  delete(subject) {
    const core = this[CORE];
    core.check();
    needTransaction(core);
    state.version += 1;
    if (!isObject(subject)) {
      mismatch('subject', 'an object or a collection', subject);
    } else if (subject[META] !== undefined) {
      const meta = core.isSameRealm(subject[CORE]) ? subject[META] : core.classByName(subject[META].name);
      if (!meta || subject[CORE].path !== core.path) {
        fail("Can't delete an object from another Realm", 'RLM_ERR_ILLEGAL_OPERATION');
      }
      native.remove(core.handle.number, meta.key, keyOf(subject));
    } else if (subject instanceof List || subject instanceof RealmSet) {
      subject.deleteAll();
    } else if (subject instanceof Results) {
      native.realm_results_delete_all(subject.handle.number);
    } else if (typeof subject[Symbol.iterator] === 'function') {
      for (const object of [...subject]) this.delete(object);
    } else {
      mismatch('subject', 'an object or a collection', subject);
    }
    state.version += 1;
  }

  deleteModel(name) {
    const core = this[CORE];
    core.check();
    if (typeof name !== 'string') mismatch('name', 'a string', name);
    needTransaction(core);
    if (core.lent && core.given.some((one) => one.name === name)) {
      const linked = [...core.classes.values()].some((meta) =>
        meta.name !== name &&
        meta.properties.some((one) => one.collection !== 'linkingObjects' && one.target === name)
      );
      if (linked) {
        fail(`Cannot remove class_${name} that is target of outside links`, 'RLM_ERR_CROSS_TABLE_LINK_TARGET');
      }
      // The class stays, as it is in the new schema, and loses its objects.
      this.delete(this.objects(name));
      return;
    }
    native.realm_remove_table(core.handle.number, name);
    if (core.classes.has(name)) core.loadClasses();
  }

  deleteAll() {
    const core = this[CORE];
    core.check();
    needTransaction(core);
    for (const meta of core.classes.values()) {
      if (meta.embedded) continue;
      const results = native.realm_object_find_all(core.handle.number, meta.key);
      try {
        native.realm_results_delete_all(results);
      } finally {
        native.release(results);
      }
    }
    state.version += 1;
  }

  // Transactions

  beginTransaction() {
    const core = this[CORE];
    core.check();
    if (core.readOnly) fail("Can't perform transactions on read-only Realms.", 'RLM_ERR_WRONG_TRANSACTION_STATE');
    if (core.shared.transaction !== null) {
      fail('The Realm is already in a write transaction', 'RLM_ERR_WRONG_TRANSACTION_STATE');
    }
    state.version += 1;
    native.realm_begin_write(core.handle.number);
    state.version += 1;
    // A callback that ran inside may have ended the transaction.
    if (core.isWriting) core.shared.transaction = new Transaction();
  }

  commitTransaction() {
    const core = this[CORE];
    core.check();
    const { transaction } = core.shared;
    state.version += 1;
    // Callbacks that run inside of the commit are outside of the transaction.
    core.shared.transaction = null;
    try {
      native.realm_commit(core.handle.number);
    } catch (error) {
      core.shared.transaction = transaction;
      throw error;
    } finally {
      state.version += 1;
    }
  }

  cancelTransaction() {
    const core = this[CORE];
    core.check();
    const { transaction } = core.shared;
    state.version += 1;
    native.realm_rollback(core.handle.number);
    native.forget(core.handle.number);
    if (transaction) transaction.rolledBack = true;
    core.shared.transaction = null;
    state.version += 1;
  }

  /** Runs a function in a write transaction, which is committed; it is cancelled when the function throws. */
  write(callback) {
    if (typeof callback !== 'function') mismatch('callback', 'a function', callback);
    const core = this[CORE];
    this.beginTransaction();
    let result;
    try {
      result = callback();
      if (isPromise(result)) {
        fail('A write transaction cannot be asynchronous: use writeAsync()', 'RLM_ERR_ILLEGAL_OPERATION');
      }
    } catch (error) {
      if (!core.closed && core.shared.transaction !== null) this.cancelTransaction();
      throw error;
    }
    if (!core.closed && core.shared.transaction !== null) {
      try {
        this.commitTransaction();
      } catch (error) {
        if (!core.closed && core.shared.transaction !== null) this.cancelTransaction();
        throw error;
      }
    }
    return result;
  }

  /** Waits for the write lock without blocking, runs the function, and resolves when its changes are on the disk. */
  writeAsync(callback) {
    const core = this[CORE];
    return new Promise((resolve, reject) => {
      core.check();
      if (typeof callback !== 'function') mismatch('callback', 'a function', callback);
      hold(true);
      let open = true;
      const done = (settle, value) => {
        if (!open) return;
        open = false;
        core.shared.pending?.delete(drop);
        hold(false);
        settle(value);
      };
      const drop = () =>
        done(reject, errors.makeError(2014, 'The realm was closed before the write began', undefined, 2));
      core.shared.pending ??= new Set();
      core.shared.pending.add(drop);
      const number = addCallback(() => {
        callbacks.delete(number);
        core.shared.transaction = new Transaction();
        let result;
        try {
          result = callback();
          if (isPromise(result)) {
            fail('The function of a write transaction cannot be asynchronous', 'RLM_ERR_ILLEGAL_OPERATION');
          }
          if (core.closed || core.shared.transaction === null) {
            done(resolve, result);
            return;
          }
          const committed = addCallback((_, reason) => {
            callbacks.delete(committed);
            if (reason === null) done(resolve, result);
            else done(reject, errors.makeError(9001, reason, core.path, 0x14));
          });
          const { transaction } = core.shared;
          core.shared.transaction = null;
          state.version += 1;
          try {
            native.asyncCommit(core.handle.number, committed);
          } catch (error) {
            callbacks.delete(committed);
            core.shared.transaction = transaction;
            throw error;
          }
        } catch (error) {
          if (!core.closed && core.shared.transaction !== null) this.cancelTransaction();
          done(reject, error);
        }
      });
      try {
        native.asyncBegin(core.handle.number, number);
      } catch (error) {
        callbacks.delete(number);
        done(reject, error);
      }
    });
  }

  /** Moves to the newest version now; otherwise that happens in turns of the event loop. */
  refresh() {
    const core = this[CORE];
    core.check();
    state.version += 1;
    const moved = native.realm_refresh(core.handle.number);
    state.version += 1;
    return moved;
  }

  // Files

  compact() {
    const core = this[CORE];
    core.check();
    if (this.isInTransaction) {
      fail('Cannot compact a Realm within a transaction.', 'RLM_ERR_WRONG_TRANSACTION_STATE');
    }
    state.version += 1;
    native.forget(core.handle.number);
    return native.realm_compact(core.handle.number);
  }

  writeCopyTo(given) {
    const core = this[CORE];
    core.check();
    const config = readConfig(given);
    if (config.path === undefined) fail("'path' is missing");
    const made = native.realm_config_new();
    try {
      native.realm_config_set_path(made, pathOf(config));
      if (config.encryptionKey !== undefined) native.setKey(made, config.encryptionKey);
      native.realm_convert_with_config(core.handle.number, made, false);
    } finally {
      native.release(made);
    }
  }

  _updateSchema(schema) {
    const core = this[CORE];
    core.check();
    const classes = normalizeSchema(schema);
    if (core.shared.transaction === null) {
      fail('Can only create object schema within a transaction.', 'RLM_ERR_WRONG_TRANSACTION_STATE');
    }
    const made = native.newSchema(nativeSchema(classes));
    try {
      native.updateSchema(core.handle.number, made, this.schemaVersion + 1, core.shared.transaction !== null);
    } finally {
      native.release(made);
    }
    core.given = classes;
    state.version += 1;
    core.loadClasses();
  }

  // Listeners of the realm

  addListener(name, listener) {
    const core = this[CORE];
    core.check();
    if (!['change', 'schema', 'beforenotify'].includes(name)) {
      fail(`Unknown event name '${name}': only 'change', 'schema' and 'beforenotify' are supported.`);
    }
    if (typeof listener !== 'function') mismatch('callback', 'a function', listener);
    for (const record of core.shared.listeners) {
      if (record.target === this && record.listener === listener && record.event === name) return;
    }
    const record = { core, target: this, listener, event: name, token: -1, number: -1, ended: false };
    record.version = versionOf(core);
    record.number = addCallback(() => {
      if (record.ended) return;
      if (name === 'schema') {
        core.loadClasses();
      } else {
        // The beginning of a transaction is no change.
        const version = versionOf(core);
        if (version === record.version) return;
        record.version = version;
      }
      try {
        if (name === 'schema') listener(this, 'schema', this.schema);
        else listener(this, name);
      } catch (error) {
        report(error);
      }
    });
    const { number } = core.handle;
    record.token = name === 'schema'
      ? native.listenToSchema(number, record.number)
      : native.listen(number, record.number, number);
    core.shared.listeners.add(record);
  }

  removeListener(name, listener) {
    for (const record of [...this[CORE].shared.listeners]) {
      if (record.target === this && record.event === name && record.listener === listener) endListener(record);
    }
  }

  removeAllListeners(name = undefined) {
    for (const record of [...this[CORE].shared.listeners]) {
      if (record.target === this && (name === undefined || record.event === name)) endListener(record);
    }
  }
}

/** The number of the version that a realm shows. */
function versionOf(core) {
  const { number } = core.handle;
  const [reading, version] = native.realm_get_version_id(number);
  if (reading) return version;
  native.realm_begin_read(number);
  return native.realm_get_version_id(number)[1];
}

function needTransaction(core) {
  if (core.shared.transaction === null && !core.isWriting) {
    fail('Cannot modify managed objects outside of a write transaction.', 'RLM_ERR_WRONG_TRANSACTION_STATE');
  }
}

function closeCore(core) {
  if (core.lent) fail('The realm of a migration cannot be closed', 'RLM_ERR_ILLEGAL_OPERATION');
  if (core.closed) return;
  core.closed = true;
  state.version += 1;
  const { shared } = core;
  for (const record of [...shared.listeners]) endListener(record);
  if (shared.transaction) shared.transaction.rolledBack = true;
  shared.transaction = null;
  native.forget(core.handle.number);
  native.realm_close(core.handle.number);
  // All instances that share the file on this thread are closed with it.
  for (const reference of cores) {
    const other = reference.deref();
    if (other && other.shared === shared) other.closed = true;
  }
  for (const drop of [...(shared.pending ?? [])]) drop();
  for (const finish of [...endings]) if (finish.shared === shared) finish();
}

kinds.encodeKey = (property, key) => {
  if (key === undefined) mismatch('primaryKey', `a value of type ${property.typeName}`, key);
  return kinds.encodePlain(property.type, key, property.place);
};
kinds.encodePlain = require('./core.cjs').encodePlain;

Object.assign(Realm, {
  Object: RealmObject,
  Collection,
  OrderedCollection: Collection,
  Results,
  List,
  Set: RealmSet,
  Dictionary,
  BSON,
  UpdateMode,
  flags,
  RealmError: errors.RealmError,
  ArgumentError: errors.ArgumentError,
  FileError: errors.FileError,
  TypeAssertionError: errors.TypeAssertionError,
  Types: Object.freeze({
    Bool: Boolean,
    String,
    Int: Number,
    Float: Number,
    Double: Number,
    Decimal128,
    ObjectId,
    UUID,
    Date,
    Data: ArrayBuffer,
    List,
    Set: RealmSet,
    Dictionary,
    Counter,
  }),
  NumericLogLevel,
  Counter,
});
Object.defineProperty(Realm.Object, 'name', { value: 'RealmObject' });
Object.defineProperty(Realm, 'Realm', { value: Realm });

module.exports = Realm;
