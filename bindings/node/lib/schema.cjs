// Schemas: from the forms that programs write to those of the library, and back.
'use strict';

const constants = require('../generated/constants.cjs');
const { fail, mismatch, kindOf } = require('./errors.cjs');

const TYPES = {
  int: 0,
  bool: 1,
  string: 2,
  data: 4,
  mixed: 6,
  date: 8,
  float: 9,
  double: 10,
  decimal128: 11,
  object: 12,
  linkingObjects: 14,
  objectId: 15,
  uuid: 17,
};
const TYPE_NAMES = new Map(Object.entries(TYPES).map(([name, number]) => [number, name]));
const COLLECTIONS = { list: 1, set: 2, dictionary: 4 };
const SUFFIXES = { '[]': 'list', '<>': 'set', '{}': 'dictionary' };
const FLAGS = constants.realm_property_flags_e;
const CLASS_FLAGS = constants.realm_class_flags_e;

/** Fails because of the declaration of a property. */
function refuse(className, name, why) {
  fail(
    `Invalid type declaration for property '${name}' on '${className}': ${why}`,
    'RLM_ERR_SCHEMA_VALIDATION_FAILED',
  );
}

/** "int?[]" as {collection, type, optional, target}. */
function parseShorthand(text, className, name) {
  let rest = text;
  let collection;
  for (const [suffix, kind] of Object.entries(SUFFIXES)) {
    if (rest.endsWith(suffix)) {
      collection = kind;
      rest = rest.slice(0, -2);
      break;
    }
  }
  let optional = rest.endsWith('?');
  if (optional) rest = rest.slice(0, -1);
  if (!rest) refuse(className, name, 'The type must be specified.');
  if (rest in COLLECTIONS) {
    if (collection) refuse(className, name, 'A collection cannot contain collections.');
    return { collection: rest, type: 'mixed', optional: true, bare: true };
  }
  if (rest === 'counter') return { collection, type: 'int', optional, counter: true };
  if (Object.hasOwn(TYPES, rest)) return { collection, type: rest, optional };
  return { collection, type: 'object', optional, target: rest };
}

function normalizeProperty(className, name, given, primary) {
  const place = `${className}.${name}`;
  const form = typeof given === 'string' ? { type: given } : given;
  if (typeof form !== 'object' || form === null) {
    refuse(
      className,
      name,
      `Expected '${name}' on '${className}' to be a string or an object, got ${kindOf(form)}.`,
    );
  }
  if (typeof form.type !== 'string') {
    refuse(className, name, `Expected '${name}.type' on '${className}' to be a string, got ${kindOf(form.type)}.`);
  }
  if (form.indexed !== undefined && typeof form.indexed !== 'boolean' && form.indexed !== 'full-text') {
    const found = kindOf(form.indexed);
    const why = `Expected '${name}.indexed' on '${className}' to be a boolean or 'full-text', got ${found}.`;
    refuse(className, name, why);
  }
  const property = {
    name,
    mapTo: form.mapTo ?? name,
    ...parseShorthand(form.type, className, name),
    indexed: form.indexed ?? false,
    default: form.default,
    primary,
    property: form.property,
  };
  if (form.objectType !== undefined) {
    const inner = parseShorthand(form.objectType, className, name);
    if (inner.collection) {
      const kind = property.collection ?? property.type;
      const why = "must contain only primitive or user-defined types specified through 'objectType'.";
      refuse(className, name, `A ${kind} ${why}`);
    }
    if (property.bare || property.type === 'object' || property.type === 'linkingObjects') {
      property.optional = inner.optional;
      if (property.type !== 'linkingObjects') property.type = inner.type;
      property.target = inner.target;
    } else {
      fail(
        `The property '${place}' of type '${form.type}' cannot have an object type`,
        'RLM_ERR_SCHEMA_VALIDATION_FAILED',
      );
    }
  } else if (property.bare) {
    fail(`The type of the elements of '${place}' is missing`, 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
  }
  if (form.presentation === 'counter') property.counter = true;
  if (form.optional !== undefined) property.optional = Boolean(form.optional);
  if (property.type === 'object' && !property.target) {
    fail(`The class that '${place}' links to is missing`, 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
  }
  if (property.type === 'linkingObjects') {
    if (!property.target || !property.property) {
      fail(`The property '${place}' needs 'objectType' and 'property'`, 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
    }
    property.collection = 'list';
    property.optional = false;
  } else if (property.type === 'mixed') {
    property.optional = true;
  } else if (property.type === 'object') {
    // Links can be null, except in lists and sets, which hold no nulls.
    if (form.optional === false && !property.collection) {
      fail(`The link '${place}' must be optional`, 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
    }
    const alwaysThere = property.collection === 'list' || property.collection === 'set';
    if (alwaysThere && form.optional === true) {
      const why = 'User-defined types in lists and sets are always non-optional and cannot be made optional.';
      refuse(className, name, why);
    }
    property.optional = !alwaysThere;
  }
  if (property.counter && property.collection) {
    fail(`The counter '${place}' cannot be in a collection`, 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
  }
  return property;
}

/** A class as {name, primaryKey, embedded, properties, constructor}. */
function normalizeClass(given) {
  const form = typeof given === 'function' ? given.schema : given;
  if (typeof form !== 'object' || form === null) {
    mismatch(typeof given === 'function' ? 'schema static' : 'object schema', 'an object', form);
  }
  const wrong = (subject, wanted, value) =>
    fail(`Expected ${subject} to be ${wanted}, got ${kindOf(value)}.`, 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
  if (typeof form.name !== 'string') wrong("'name' on object schema", 'a string', form.name);
  if (typeof form.properties !== 'object' || form.properties === null) {
    wrong(`'properties' on '${form.name}'`, 'an object', form.properties);
  }
  if (form.primaryKey !== undefined && !Object.hasOwn(form.properties, form.primaryKey)) {
    fail(
      `The primary key '${form.primaryKey}' of '${form.name}' is no property`,
      'RLM_ERR_SCHEMA_VALIDATION_FAILED',
    );
  }
  const properties = Object.entries(form.properties).map(([name, one]) =>
    normalizeProperty(form.name, name, one, form.primaryKey === name)
  );
  return {
    name: form.name,
    primaryKey: form.primaryKey,
    embedded: Boolean(form.embedded),
    asymmetric: Boolean(form.asymmetric),
    properties,
    constructor: typeof given === 'function' ? given : undefined,
  };
}

function normalizeSchema(given) {
  if (!Array.isArray(given)) mismatch('realm schema', 'an array', given);
  return given.map(normalizeClass);
}

function nativeProperty(property) {
  let flags = property.optional ? FLAGS.RLM_PROPERTY_NULLABLE : 0;
  if (property.primary) flags |= FLAGS.RLM_PROPERTY_PRIMARY_KEY;
  if (property.indexed === 'full-text') flags |= FLAGS.RLM_PROPERTY_FULLTEXT_INDEXED;
  else if (property.indexed) flags |= FLAGS.RLM_PROPERTY_INDEXED;
  return [
    property.mapTo,
    property.mapTo === property.name ? '' : property.name,
    TYPES[property.type],
    COLLECTIONS[property.collection] ?? 0,
    property.target ?? '',
    property.property ?? '',
    flags,
  ];
}

/** The form that native.newSchema() takes. */
function nativeSchema(classes) {
  return classes.map((one) => {
    const primary = one.properties.find((property) => property.primary);
    const stored = one.properties.filter((property) => property.type !== 'linkingObjects');
    const computed = one.properties.filter((property) => property.type === 'linkingObjects');
    const flags = one.embedded ? CLASS_FLAGS.RLM_CLASS_EMBEDDED : one.asymmetric ? CLASS_FLAGS.RLM_CLASS_ASYMMETRIC : 0;
    // A computed property names the origin by its stored name.
    const mapped = computed.map((property) => {
      const source = classes.find((other) => other.name === property.target);
      const origin = source?.properties.find((other) => other.name === property.property);
      return nativeProperty({ ...property, property: origin?.mapTo ?? property.property });
    });
    return [one.name, primary?.mapTo ?? '', flags, stored.map(nativeProperty), mapped];
  });
}

function collectionName(number) {
  return Object.keys(COLLECTIONS).find((name) => COLLECTIONS[name] === number);
}

module.exports = { TYPES, TYPE_NAMES, FLAGS, CLASS_FLAGS, normalizeSchema, nativeSchema, collectionName };
