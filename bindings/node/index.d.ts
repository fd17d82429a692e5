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
  /** resolveEmbeddedConstraints: objects of a class that becomes embedded are deleted if nothing links to them, and
   *  copied if several objects link to them. */
  migrationOptions?: { resolveEmbeddedConstraints?: boolean };
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
  [index: number]: T;
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
  sorted(descriptor: string, reverse?: boolean): Results<T>;
  sorted(descriptor: (string | [string, boolean])[]): Results<T>;
  /** Of values: an array in their order. */
  sorted(reverse?: boolean): T[];
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
  removeListener(listener: (object: this, changes: { deleted: boolean; changedProperties: string[] }) => void): void;
  removeAllListeners(): void;
  changes(
    keyPaths?: string | string[],
  ): AsyncIterableIterator<{ object: RealmObject; changes: { deleted: boolean; changedProperties: string[] } }>;
  objectSchema(): ObjectSchema;
  getPropertyType(name: string): string;
  linkingObjectsCount(): number;
  equals(other: unknown): boolean;
}

export declare class RealmSet<T> extends Collection<T> {
  readonly size: number;
  add(value: T): this;
  delete(value: T): boolean;
  has(value: T): boolean;
  clear(): void;
}

export interface DictionaryChanges {
  deletions: string[];
  insertions: string[];
  modifications: string[];
}

export declare class Dictionary<T> implements Iterable<[string, T]> {
  readonly size: number;
  [Symbol.iterator](): IterableIterator<[string, T]>;
  get(key: string): T | undefined;
  has(key: string): boolean;
  set(key: string, value: T): this;
  set(values: Record<string, T>): this;
  remove(key: string | string[]): this;
  clear(): void;
  entries(): IterableIterator<[string, T]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<T>;
  isEmpty(): boolean;
  isValid(): boolean;
  addListener(listener: (dictionary: this, changes: DictionaryChanges) => void, keyPaths?: string | string[]): void;
  removeListener(listener: (dictionary: this, changes: DictionaryChanges) => void): void;
  removeAllListeners(): void;
  toJSON(): Record<string, unknown>;
}

export declare class Counter {
  readonly value: number | bigint;
  increment(by?: number | bigint): void;
  decrement(by?: number | bigint): void;
  set(value: number | bigint): void;
}

export type LogLevel = 'all' | 'trace' | 'debug' | 'detail' | 'info' | 'warn' | 'error' | 'fatal' | 'off';

export interface Flags {
  /** For realms that are opened later: Object.keys(object) and {...object} see the properties. */
  OWN_KEYS: boolean;
  ALLOW_CLEAR_TEST_STATE: boolean;
  ALLOW_VALUES_ARRAYS: boolean;
  THROW_ON_GLOBAL_REALM: boolean;
}
export declare const flags: Flags;
export declare const BSON: any;
export declare const UpdateMode: { readonly Never: 'never'; readonly Modified: 'modified'; readonly All: 'all' };

export declare class Realm {
  constructor(config?: string | Configuration);
  static open(config?: string | Configuration): Promise<Realm>;
  static exists(config: string | Configuration): boolean;
  static deleteFile(config: string | Configuration): void;
  static schemaVersion(path: string, encryptionKey?: ArrayBuffer | ArrayBufferView): number;
  static clearTestState(): void;
  static shutdown(): void;
  static setLogger(logger?: (message: { level: LogLevel; category: string; message: string }) => void): void;
  static setLogLevel(level: LogLevel, category?: string): void;
  static defaultPath: string;
  static readonly flags: Flags;
  static readonly UpdateMode: typeof UpdateMode;
  static Object: typeof RealmObject;
  static Collection: typeof Collection;
  static Results: typeof Results;
  static List: typeof List;
  static Set: typeof RealmSet;
  static Dictionary: typeof Dictionary;
  static Counter: typeof Counter;
  static BSON: any;
  readonly path: string;
  readonly schemaVersion: number;
  readonly isClosed: boolean;
  readonly isInTransaction: boolean;
  readonly isEmpty: boolean;
  objects<T = any>(type: string | ObjectClass<T>): Results<T>;
  objectForPrimaryKey<T = any>(type: string | ObjectClass<T>, key: unknown): T | null;
  create<T = any>(type: string | ObjectClass<T>, values: object, mode?: Update): T;
  createMany<T = any>(type: string | ObjectClass<T>, rows: Iterable<object>, mode?: Update): number;
  freeze(): Realm;
  readonly schema: ObjectSchema[];
  readonly isReadOnly: boolean;
  readonly isInMemory: boolean;
  addListener(name: 'change' | 'beforenotify', listener: (realm: Realm, name: string) => void): void;
  addListener(name: 'schema', listener: (realm: Realm, name: string, schema: ObjectSchema[]) => void): void;
  removeListener(name: 'change' | 'beforenotify' | 'schema', listener: (...args: any[]) => void): void;
  removeAllListeners(name?: 'change' | 'beforenotify' | 'schema'): void;
  deleteModel(name: string): void;
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
