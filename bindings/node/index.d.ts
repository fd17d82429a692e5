// The types of the package. A program names its objects: realm.objects<Person>("Person"), realm.create(Person, {…}).

export type Primitive =
  | 'int'
  | 'bool'
  | 'string'
  | 'data'
  | 'mixed'
  | 'date'
  | 'float'
  | 'double'
  | 'decimal128'
  | 'objectId'
  | 'uuid'
  | 'counter';

export interface PropertySchema {
  type: string;
  objectType?: string;
  property?: string;
  optional?: boolean;
  indexed?: boolean | 'full-text';
  mapTo?: string;
  default?: unknown;
  presentation?: 'counter';
}

export interface ObjectSchema {
  name: string;
  primaryKey?: string;
  embedded?: boolean;
  properties: Record<string, string | PropertySchema>;
}

export interface ObjectClass<T> {
  new (...args: any[]): T;
  schema: ObjectSchema;
}

export interface Configuration {
  path?: string;
  schema?: (ObjectSchema | ObjectClass<any>)[];
  schemaVersion?: number;
  encryptionKey?: ArrayBuffer | ArrayBufferView;
  passphrase?: string;
  inMemory?: boolean;
  readOnly?: boolean;
  deleteRealmIfMigrationNeeded?: boolean;
  disableFormatUpgrade?: boolean;
  fifoFilesFallbackPath?: string;
  lockTimeout?: number;
  onMigration?(oldRealm: Realm, newRealm: Realm): void;
  onFirstOpen?(realm: Realm): void;
  shouldCompact?(totalBytes: number, usedBytes: number): boolean;
}

export interface CollectionChanges {
  deletions: number[];
  insertions: number[];
  oldModifications: number[];
  newModifications: number[];
}

export interface Column {
  values: BigInt64Array | Float64Array | Uint8Array | unknown[];
  valid: Uint8Array | null;
}

export type Update = 'never' | 'modified' | 'all' | boolean;

export declare class RealmError extends Error {
  code: number;
  readonly codeName: string;
  path?: string;
}
export declare class ArgumentError extends RealmError {}
export declare class FileError extends RealmError {}
export declare class TypeAssertionError extends ArgumentError {}

export declare class Collection<T> implements Iterable<T> {
  readonly [index: number]: T;
  readonly length: number;
  readonly type: string;
  readonly optional: boolean;
  [Symbol.iterator](): IterableIterator<T>;
  at(index: number): T | undefined;
  map<U>(callback: (value: T, index: number) => U): U[];
  filter(callback: (value: T, index: number) => unknown): T[];
  find(callback: (value: T, index: number) => unknown): T | undefined;
  forEach(callback: (value: T, index: number) => void): void;
  reduce<U>(callback: (result: U, value: T, index: number) => U, initial: U): U;
  some(callback: (value: T, index: number) => unknown): boolean;
  every(callback: (value: T, index: number) => unknown): boolean;
  slice(start?: number, end?: number): T[];
  indexOf(value: T): number;
  includes(value: T): boolean;
  isEmpty(): boolean;
  isValid(): boolean;
  filtered(query: string, ...args: unknown[]): Results<T>;
  sorted(descriptor: string | (string | [string, boolean])[], reverse?: boolean): Results<T>;
  snapshot(): Results<T>;
  min(property?: string): number | Date | undefined;
  max(property?: string): number | Date | undefined;
  sum(property?: string): number;
  avg(property?: string): number | undefined;
  columns(...names: string[]): Record<string, Column>;
  addListener(listener: (collection: this, changes: CollectionChanges) => void, keyPaths?: string | string[]): void;
  removeListener(listener: (collection: this, changes: CollectionChanges) => void): void;
  removeAllListeners(): void;
  changes(
    keyPaths?: string | string[],
  ): AsyncIterableIterator<{ collection: Collection<T>; changes: CollectionChanges }>;
  toJSON(): unknown[];
}
export declare class Results<T> extends Collection<T> {
  readonly description: string;
  update(name: string, value: unknown): void;
}
export declare class List<T> extends Collection<T> {
  push(...values: T[]): number;
  pop(): T | undefined;
  shift(): T | undefined;
  unshift(...values: T[]): number;
  splice(start: number, count?: number, ...values: T[]): T[];
  remove(index: number): void;
  move(from: number, to: number): void;
  swap(first: number, second: number): void;
}

export declare class RealmObject {
  constructor(realm: Realm, values: object);
  isValid(): boolean;
  keys(): string[];
  entries(): [string, unknown][];
  toJSON(): Record<string, unknown>;
  linkingObjects<T>(type: string | ObjectClass<T>, property: string): Results<T>;
  addListener(
    listener: (object: this, changes: { deleted: boolean; changedProperties: string[] }) => void,
    keyPaths?: string | string[],
  ): void;
  removeAllListeners(): void;
}

export declare class Realm {
  constructor(config?: string | Configuration);
  static open(config?: string | Configuration): Promise<Realm>;
  static exists(config: string | Configuration): boolean;
  static deleteFile(config: string | Configuration): void;
  static schemaVersion(path: string, encryptionKey?: ArrayBuffer | ArrayBufferView): number;
  static Object: typeof RealmObject;
  static BSON: any;
  readonly path: string;
  readonly schemaVersion: number;
  readonly isClosed: boolean;
  readonly isInTransaction: boolean;
  readonly isEmpty: boolean;
  objects<T = any>(type: string | ObjectClass<T>): Results<T>;
  objectForPrimaryKey<T = any>(type: string | ObjectClass<T>, key: unknown): T | null;
  create<T = any>(type: string | ObjectClass<T>, values: object, mode?: Update): T;
  delete(subject: object): void;
  deleteAll(): void;
  write<R>(callback: () => R): R;
  writeAsync<R>(callback: () => R): Promise<R>;
  beginTransaction(): void;
  commitTransaction(): void;
  cancelTransaction(): void;
  refresh(): boolean;
  compact(): boolean;
  writeCopyTo(config: Configuration): void;
  close(): void;
}
export default Realm;
