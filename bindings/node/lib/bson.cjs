// ObjectId, UUID and Decimal128: those of the package `bson` where it is installed, else the small ones below.
//
// Values of either are accepted everywhere, also of a second copy of `bson`: a value counts by its `_bsontype`, or by
// its class here, and by its bytes.
'use strict';

const crypto = require('node:crypto');

const { fail } = require('./errors.cjs');

const hex = (bytes) => Buffer.from(bytes).toString('hex');

let counter = crypto.randomBytes(3).readUIntBE(0, 3);
const machine = crypto.randomBytes(5);

/** 12 bytes: seconds since 1970, five random bytes of the process, a counter. */
class OwnObjectId {
  constructor(value) {
    let bytes;
    if (value === undefined || value === null || typeof value === 'number') {
      bytes = Buffer.alloc(12);
      bytes.writeUInt32BE((value ?? Math.floor(Date.now() / 1000)) >>> 0, 0);
      machine.copy(bytes, 4);
      counter = (counter + 1) % 0x1000000;
      bytes.writeUIntBE(counter, 9, 3);
    } else if (typeof value === 'string' && /^[0-9a-fA-F]{24}$/.test(value)) {
      bytes = Buffer.from(value, 'hex');
    } else if (ArrayBuffer.isView(value) && value.byteLength === 12) {
      bytes = Buffer.from(new Uint8Array(value.buffer, value.byteOffset, 12));
    } else if (value?.id && ArrayBuffer.isView(value.id)) {
      bytes = Buffer.from(value.id);
    } else {
      fail('An ObjectId is made from 24 hexadecimal digits, 12 bytes, or a number of seconds');
    }
    Object.defineProperty(this, 'id', { value: bytes, enumerable: false });
  }

  get _bsontype() {
    return 'ObjectId';
  }

  /** An id of a time, in seconds since 1970, for comparisons: all other bytes are 0. */
  static createFromTime(seconds) {
    const bytes = Buffer.alloc(12);
    bytes.writeUInt32BE(seconds >>> 0, 0);
    return new OwnObjectId(bytes);
  }

  static createFromHexString(text) {
    return new OwnObjectId(text);
  }

  toHexString() {
    return hex(this.id);
  }

  toString() {
    return hex(this.id);
  }

  toJSON() {
    return hex(this.id);
  }

  equals(other) {
    const bytes = bytesOf(other, 'ObjectId', 12);
    return bytes !== undefined && this.id.equals(bytes);
  }

  getTimestamp() {
    return new Date(this.id.readUInt32BE(0) * 1000);
  }

  static createFromHexString(text) {
    return new OwnObjectId(text);
  }

  static isValid(value) {
    try {
      return value !== undefined && value !== null && Boolean(new OwnObjectId(value));
    } catch {
      return false;
    }
  }

  [Symbol.for('nodejs.util.inspect.custom')]() {
    return `ObjectId('${hex(this.id)}')`;
  }
}

/** 16 bytes in the order of the text form. */
class OwnUUID {
  constructor(value) {
    let bytes;
    if (value === undefined || value === null) {
      bytes = Buffer.from(crypto.randomUUID().replaceAll('-', ''), 'hex');
    } else if (typeof value === 'string' && /^[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}$/.test(value)) {
      bytes = Buffer.from(value.replaceAll('-', ''), 'hex');
    } else if (ArrayBuffer.isView(value) && value.byteLength === 16) {
      bytes = Buffer.from(new Uint8Array(value.buffer, value.byteOffset, 16));
    } else if (value?.buffer && ArrayBuffer.isView(value.buffer) && value.buffer.byteLength === 16) {
      bytes = Buffer.from(value.buffer);
    } else {
      fail('A UUID is made from 32 hexadecimal digits or 16 bytes');
    }
    Object.defineProperty(this, 'buffer', { value: bytes, enumerable: false });
  }

  get _bsontype() {
    return 'Binary';
  }

  get id() {
    return this.buffer;
  }

  toHexString(dashes = true) {
    const text = hex(this.buffer);
    if (!dashes) return text;
    return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join('-');
  }

  toString() {
    return this.toHexString();
  }

  toJSON() {
    return this.toHexString();
  }

  equals(other) {
    const bytes = bytesOf(other, 'UUID', 16);
    return bytes !== undefined && this.buffer.equals(bytes);
  }

  static isValid(value) {
    try {
      return value !== undefined && value !== null && Boolean(new OwnUUID(value));
    } catch {
      return false;
    }
  }

  [Symbol.for('nodejs.util.inspect.custom')]() {
    return `UUID('${this.toHexString()}')`;
  }
}

// An IEEE 754 decimal128 in binary integer encoding: 1 bit sign, 14 bits exponent (biased by 6176), 113 bits
// coefficient of at most 34 digits.
const BIAS = 6176;
const MOST_DIGITS = 34;
const NUMBER = /^([+-])?(?:(\d+)\.?(\d*)|\.(\d+))(?:[eE]([+-]?\d+))?$/;

function decimalBytes(negative, coefficient, exponent) {
  const bytes = Buffer.alloc(16);
  const high = (BigInt(exponent + BIAS) << 49n) | (coefficient >> 64n) | (negative ? 1n << 63n : 0n);
  bytes.writeBigUInt64LE(coefficient & 0xffffffffffffffffn, 0);
  bytes.writeBigUInt64LE(high, 8);
  return bytes;
}

function special(high) {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(high, 8);
  return bytes;
}

function parseDecimal(text) {
  if (/^[+-]?nan$/i.test(text)) return special(0x7c00000000000000n);
  if (/^\+?inf(inity)?$/i.test(text)) return special(0x7800000000000000n);
  if (/^-inf(inity)?$/i.test(text)) return special(0xf800000000000000n);
  const found = NUMBER.exec(text);
  if (!found) fail(`Not a decimal number: ${JSON.stringify(text.slice(0, 60))}`);
  const fraction = found[3] ?? found[4] ?? '';
  let digits = ((found[2] ?? '') + fraction).replace(/^0+(?=\d)/, '');
  let exponent = Number(found[5] ?? 0) - fraction.length;
  while (digits.length > MOST_DIGITS && digits.endsWith('0')) {
    digits = digits.slice(0, -1);
    exponent += 1;
  }
  if (digits.length > MOST_DIGITS) fail('A decimal number has at most 34 digits');
  if (digits === '0') exponent = Math.max(-BIAS, Math.min(exponent, 6111));
  while (exponent > 6111 && digits.length < MOST_DIGITS && digits !== '0') {
    digits += '0';
    exponent -= 1;
  }
  while (exponent < -BIAS && digits.endsWith('0') && digits.length > 1) {
    digits = digits.slice(0, -1);
    exponent += 1;
  }
  if (exponent > 6111 || exponent < -BIAS) fail('The exponent of a decimal number is out of range');
  return decimalBytes(found[1] === '-', BigInt(digits), exponent);
}

function formatDecimal(bytes) {
  const low = bytes.readBigUInt64LE(0);
  const high = bytes.readBigUInt64LE(8);
  const sign = high >> 63n ? '-' : '';
  if ((high & 0x7c00000000000000n) === 0x7c00000000000000n) return 'NaN';
  if ((high & 0x7800000000000000n) === 0x7800000000000000n) return `${sign}Infinity`;
  let exponent;
  let coefficient;
  if ((high & 0x6000000000000000n) === 0x6000000000000000n) {
    exponent = Number((high >> 47n) & 0x3fffn) - BIAS;
    coefficient = 0n;
  } else {
    exponent = Number((high >> 49n) & 0x3fffn) - BIAS;
    coefficient = ((high & 0x1ffffffffffffn) << 64n) | low;
    if (coefficient >= 10n ** 34n) coefficient = 0n;
  }
  const digits = coefficient.toString();
  const scientific = exponent + digits.length - 1;
  if (exponent > 0 || scientific < -6) {
    const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;
    return `${sign}${mantissa}E${scientific < 0 ? '' : '+'}${scientific}`;
  }
  if (exponent === 0) return sign + digits;
  const padded = digits.padStart(1 - exponent, '0');
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}

class OwnDecimal128 {
  constructor(value) {
    let bytes;
    if (typeof value === 'string') {
      bytes = parseDecimal(value.trim());
    } else if (ArrayBuffer.isView(value) && value.byteLength === 16) {
      bytes = Buffer.from(new Uint8Array(value.buffer, value.byteOffset, 16));
    } else {
      fail('A Decimal128 is made from a string or 16 bytes');
    }
    Object.defineProperty(this, 'bytes', { value: bytes, enumerable: false });
  }

  get _bsontype() {
    return 'Decimal128';
  }

  static fromString(text) {
    return new OwnDecimal128(String(text));
  }

  toString() {
    return formatDecimal(this.bytes);
  }

  toJSON() {
    return { $numberDecimal: this.toString() };
  }

  [Symbol.for('nodejs.util.inspect.custom')]() {
    return `Decimal128('${this.toString()}')`;
  }
}

const own = { ObjectId: OwnObjectId, UUID: OwnUUID, Decimal128: OwnDecimal128 };
for (const [name, kind] of Object.entries(own)) Object.defineProperty(kind, 'name', { value: name });
own.ObjectID = OwnObjectId;

function installed() {
  try {
    const found = require('bson');
    return found.ObjectId && found.UUID && found.Decimal128 ? found : own;
  } catch {
    return own;
  }
}

const used = installed();

/** The bytes of a value of one of the three classes; undefined for anything else. */
function bytesOf(value, name, size) {
  if (typeof value !== 'object' || value === null) return undefined;
  let bytes;
  const type = value._bsontype;
  if (name === 'UUID') {
    if (
      value instanceof used.UUID || value instanceof OwnUUID || type === 'UUID' ||
      (type === 'Binary' && value.sub_type === 4)
    ) {
      bytes = value.buffer ?? value.id;
    }
  } else if (type === name || (name === 'ObjectId' && type === 'ObjectID')) {
    bytes = name === 'ObjectId' ? value.id : value.bytes;
  }
  return ArrayBuffer.isView(bytes) && bytes.byteLength >= size ? bytes.subarray(0, size) : undefined;
}

const makeObjectId = (buffer) => new used.ObjectId(new Uint8Array(buffer));
const makeUUID = (buffer) => new used.UUID(Buffer.from(buffer));
const makeDecimal = (buffer) => new used.Decimal128(Buffer.from(buffer));

module.exports = {
  BSON: used,
  own,
  ObjectId: used.ObjectId,
  UUID: used.UUID,
  Decimal128: used.Decimal128,
  bytesOf,
  makeObjectId,
  makeUUID,
  makeDecimal,
  parseDecimal,
};
