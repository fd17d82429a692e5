// Values and classes of the suite, as run.mjs uses them with the Node package: see README.md.
import { isDeepStrictEqual } from 'node:util';

import Realm from '../../bindings/node/lib/index.mjs';

const { Decimal128, ObjectId, UUID } = Realm.BSON;

/** Values of new objects for properties that need one: in this package a schema declares them. */
const DEFAULTS = { int: 0, bool: false, string: '', data: Buffer.alloc(0), date: new Date(0), float: 0, double: 0 };
Object.assign(DEFAULTS, { decimal128: Decimal128.fromString('0'), objectId: new ObjectId('0'.repeat(24)) });
DEFAULTS.uuid = new UUID('0'.repeat(32));

const isNumber = (value) => typeof value === 'number' || typeof value === 'bigint';
export const isTagged = (given) => Object.keys(given).length === 1 && Object.keys(given)[0].startsWith('$');
export const mapped = (given, change) =>
  Object.fromEntries(Object.entries(given).map(([key, one]) => [key, change(one, key)]));

/** The classes of a suite with defaults. */
export function declared(classes) {
  const withDefault = (given) => (given.type in DEFAULTS ? { ...given, default: DEFAULTS[given.type] } : given);
  const property = (given) => withDefault(typeof given === 'string' ? { type: given } : given);
  const choose = (key) => (given, name) => (name === key ? given : property(given));
  return classes.map((one) => ({ ...one, properties: mapped(one.properties, choose(one.primaryKey)) }));
}

/** A decimal as its digits without zeros at the end, and its exponent; NaN and infinities as text. */
function decimal(value) {
  const text = String(Number.isInteger(value) ? BigInt(value) : value);
  const [, sign, whole, fraction = '', power = 0] = /^(-?)(\d+)\.?(\d*)(?:E([+-]?\d+))?$/i.exec(text) ?? [];
  if (whole === undefined) return text.slice(0, 4);
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  return kept ? `${sign}${kept}E${Number(power) - fraction.length + digits.length - kept.length}` : '0';
}

/** Whether a value that was read is one of a step. */
export function same(value, found) {
  const isZero = Object.is(value, -0) || Object.is(found, -0);
  if (isNumber(value) && isNumber(found) && !isZero && !Number.isNaN(value)) return value <= found && value >= found;
  if (found instanceof Decimal128) return value !== null && decimal(value) === decimal(found);
  if (value instanceof Realm.Object || value instanceof ObjectId || value instanceof UUID) return value.equals(found);
  return isDeepStrictEqual(value, found instanceof ArrayBuffer ? Buffer.from(found) : found);
}

/** What each tag of a value makes of its content. */
export const TAGS = {
  $int: BigInt,
  $double: Number,
  $float: (text) => Math.fround(Number(text)),
  $decimal: (text) => Decimal128.fromString(text),
  $oid: (text) => new ObjectId(text),
  $uuid: (text) => new UUID(text),
  $data: (text) => Buffer.from(text, 'base64'),
  $repeat: ([text, count]) => text.repeat(count),
  $date: ([seconds, nanoseconds]) => new Date(Number(seconds) * 1000 + nanoseconds / 1e6),
};

/** The parts of a change set that are not empty, sorted, by the names of the suite. */
export function changesOf({ oldModifications, changedProperties, newModifications, ...others }) {
  const parts = { modifications: oldModifications, properties: changedProperties, ...others };
  const happened = ([, one]) => one === true || one?.length > 0;
  return Object.entries(parts).filter(happened).map(([name, one]) => [name, [one].flat().sort()]).sort();
}
