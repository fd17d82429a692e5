// Schemas: from the forms that programs write to those of the library, and back.
'use strict';

const constants = require('../generated/constants.cjs');
const { fail } = require('./errors.cjs');

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

/** "int?[]" as {collection, type, optional, target}. */
function parseShorthand(text, place) {
  let rest = text;
  let collection;
  for (const [suffix, name] of Object.entries(SUFFIXES)) {
    if (rest.endsWith(suffix)) {
      collection = name;
      rest = rest.slice(0, -2);
      break;
    }
  }
  let optional = rest.endsWith('?');
  if (optional) rest = rest.slice(0, -1);
  if (!rest) fail(`The type of '${place}' is empty`, 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
  if (rest in COLLECTIONS) {
    if (collection) fail(`The type of '${place}' has two collections`, 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
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
    fail(`The property '${place}' must be a string or an object`, 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
  }
  if (typeof form.type !== 'string') {
    fail(`The property '${place}' has no type`, 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
  }
  const property = {
    name,
    mapTo: form.mapTo ?? name,
    ...parseShorthand(form.type, place),
    indexed: form.indexed ?? false,
    default: form.default,
    primary,
    property: form.property,
  };
  if (form.objectType !== undefined) {
    const inner = parseShorthand(form.objectType, place);
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
    property.optional = property.collection === undefined || property.collection === 'dictionary';
  }
  if (property.counter && property.collection) {
    fail(`The counter '${place}' cannot be in a collection`, 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
  }
  return property;
}

/** A class as {name, primaryKey, embedded, properties, constructor}. */
function normalizeClass(given) {
  const form = typeof given === 'function' ? given.schema : given;
  if (typeof given === 'function' && (typeof form !== 'object' || form === null)) {
    fail(`The class '${given.name}' has no static property 'schema'`, 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
  }
  if (typeof form !== 'object' || form === null || typeof form.name !== 'string') {
    fail("A schema must be an object with a 'name'", 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
  }
  if (typeof form.properties !== 'object' || form.properties === null) {
    fail(`The class '${form.name}' has no 'properties'`, 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
  }
  if (form.primaryKey !== undefined && !Object.hasOwn(form.properties, form.primaryKey)) {
    fail(`The primary key '${form.primaryKey}' of '${form.name}' is no property`, 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
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
  if (!Array.isArray(given)) fail("The 'schema' must be an array", 'RLM_ERR_SCHEMA_VALIDATION_FAILED');
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
