// Errors: each has the number of the C API in `code` and its name in `codeName`.
'use strict';

const constants = require('../generated/constants.cjs');

const names = new Map();
for (const [name, code] of Object.entries(constants.realm_errno_e)) names.set(code, name.replace(/^RLM_ERR_/, ''));
for (const [name, code] of Object.entries(constants)) {
  if (name.startsWith('CREALM_ERR_')) names.set(code, name.replace(/^CREALM_ERR_/, ''));
}

const INVALID_ARGUMENT_BIT = constants.realm_error_category_e.RLM_ERR_CAT_INVALID_ARG;
const FILE_ACCESS_BIT = constants.realm_error_category_e.RLM_ERR_CAT_FILE_ACCESS;

class RealmError extends Error {
  constructor(message, code = constants.realm_errno_e.RLM_ERR_LOGIC, path = undefined) {
    super(message);
    this.code = code;
    if (path) this.path = path;
  }

  get codeName() {
    return names.get(this.code) ?? 'UNKNOWN';
  }
}
Object.defineProperty(RealmError.prototype, 'name', { value: 'RealmError', writable: true, configurable: true });

/** A value or argument is to blame. */
class ArgumentError extends RealmError {}
Object.defineProperty(ArgumentError.prototype, 'name', { value: 'ArgumentError', writable: true, configurable: true });

/** A file, or another user of the file, is to blame; `path` names the file. */
class FileError extends RealmError {}
Object.defineProperty(FileError.prototype, 'name', { value: 'FileError', writable: true, configurable: true });

/** A value has another type than its place needs. */
class TypeAssertionError extends ArgumentError {
  constructor(message, code = constants.realm_errno_e.RLM_ERR_PROPERTY_TYPE_MISMATCH) {
    super(message, code);
  }
}
Object.defineProperty(TypeAssertionError.prototype, 'name', {
  value: 'TypeAssertionError',
  writable: true,
  configurable: true,
});

const TEXTS = {
  [constants.realm_errno_e.RLM_ERR_INVALIDATED_OBJECT]: 'Accessing object which has been invalidated or deleted',
};

/** Called by the addon for each failure. */
function makeError(code, message, path, categories) {
  let kind = RealmError;
  if (code === constants.realm_errno_e.RLM_ERR_PROPERTY_TYPE_MISMATCH) kind = TypeAssertionError;
  else if (categories & FILE_ACCESS_BIT) kind = FileError;
  else if (categories & INVALID_ARGUMENT_BIT) kind = ArgumentError;
  const error = new kind(TEXTS[code] ?? message, code, path);
  if (TEXTS[code]) error.detail = message;
  return error;
}

function fail(message, name = 'RLM_ERR_INVALID_ARGUMENT') {
  const code = constants.realm_errno_e[name];
  throw makeError(code, message, undefined, code >= 3000 ? INVALID_ARGUMENT_BIT : 0);
}

/** The name of a property, "Person.age", as the place of a value. */
class Place {
  constructor(name) {
    this.name = name;
  }

  toString() {
    return this.name;
  }
}

/** The value in a message: its kind, never its content. */
function kindOf(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return String(value);
  if (typeof value === 'number' && Number.isFinite(value) && !Number.isInteger(value)) return 'a decimal number';
  if (typeof value === 'object' || typeof value === 'function') {
    const name = value.constructor?.name;
    return name && name !== 'Object' ? `an instance of ${name}` : 'an object';
  }
  return `a ${typeof value}`;
}

/** Throws for a value of a wrong type. `place`: the Place of a property, or the name of an argument or element;
 *  `which` is written before it. */
function mismatch(place, wanted, value, which = '', code = undefined) {
  const subject = place instanceof Place ? 'value' : `${which}'${place}'`;
  const property = place instanceof Place ? ` (property '${place}')` : '';
  throw new TypeAssertionError(`Expected ${subject} to be ${wanted}, got ${kindOf(value)}${property}`, code);
}

module.exports = { RealmError, ArgumentError, FileError, TypeAssertionError, Place, makeError, fail, mismatch, kindOf };
