// What programs of Realm JS rely on: each case was wrong once, or is easy to get wrong.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import test from 'node:test';
import { inspect } from 'node:util';

import Realm from '../lib/index.mjs';
import { folder, fresh, pause } from './helper.mjs';

const { flags } = Realm;
const { native } = createRequire(import.meta.url)('../lib/native.cjs');
const Dog = { name: 'Dog', properties: { name: 'string', age: 'int' } };
const Person = {
  name: 'Person',
  primaryKey: 'id',
  properties: {
    id: 'int',
    name: { type: 'string', mapTo: 'full name', default: '' },
    age: { type: 'int', default: 0 },
    dogs: 'Dog[]',
    marks: 'int[]',
    labels: 'string{}',
    any: 'mixed',
    count: 'counter?',
    born: 'date?',
  },
};

function people(settings = {}) {
  const realm = new Realm({ path: fresh(), schema: [Person, Dog], ...settings });
  realm.write(() => {
    for (let id = 0; id < 9; id += 1) realm.create('Person', { id, name: `n${id}`, age: (id * 5) % 9 });
  });
  return realm;
}

test('indexOf finds values and objects', () => {
  const realm = people();
  const all = realm.objects('Person');
  const person = realm.write(() => {
    all[2].any = [1, 'text', null];
    all[2].marks = [5, 6, 7, 6];
    return all[2];
  });
  assert.equal(all.indexOf(person), 2);
  assert.equal(all.includes(person), true);
  assert.deepEqual([5, 6, 7, 8].map((mark) => person.marks.indexOf(mark)), [0, 1, 2, -1]);
  assert.equal(person.marks.lastIndexOf(6), 3);
  assert.deepEqual([1, 'text', null, 'other'].map((value) => person.any.indexOf(value)), [0, 1, 2, -1]);
  assert.equal(person.marks.indexOf('6'), -1);
  const dog = realm.write(() => realm.create('Dog', { name: 'Rex', age: 1 }));
  assert.throws(() => all.indexOf(dog), /Object of type 'Dog' does not match Results type 'Person'/);
  realm.close();
});

test('a query of sorted results keeps their order; its own orderings come after it', () => {
  const realm = people();
  const ages = (rows) => rows.map((person) => person.age);
  const sorted = realm.objects('Person').sorted('age', true);
  assert.deepEqual(ages(sorted.filtered('age > 2 LIMIT(3)')), [8, 7, 6]);
  assert.deepEqual(ages(sorted.filtered('age > 2').filtered('age < 6')), [5, 4, 3]);
  assert.deepEqual(ages(sorted.filtered('age > 5 SORT(age ASC)')), [6, 7, 8]);
  assert.deepEqual(ages(realm.objects('Person').filtered('TRUEPREDICATE SORT(age DESC) LIMIT(2)')), [8, 7]);
  assert.deepEqual(ages(sorted.filtered('name != \'LIMIT(1)\' and name != "SORT("')), [8, 7, 6, 5, 4, 3, 2, 1, 0]);
  assert.deepEqual(realm.objects('Person').sorted('full name', true).map((person) => person.id)[0], 8);
  assert.throws(() => sorted.filtered('age > 2 LIMIT('), Error);
  assert.throws(() => sorted.sorted('nothing'), /property 'Person.nothing' does not exist/);
  realm.close();
});

test('a snapshot has null for deleted objects, by index and in loops', () => {
  const realm = people();
  const snapshot = realm.objects('Person').snapshot();
  realm.write(() => realm.delete(realm.objectForPrimaryKey('Person', 1)));
  assert.equal(snapshot.length, 9);
  assert.equal(snapshot[1], null);
  assert.equal([...snapshot][1], null);
  assert.equal([...snapshot][2].id, 2);
  realm.close();
});

test('collections have the keys of arrays, and refuse writes that they cannot make', () => {
  const realm = people();
  const all = realm.objects('Person');
  const [person] = all;
  realm.write(() => person.marks.push(4, 5));
  assert.deepEqual(Object.keys(person.marks), ['0', '1']);
  assert.deepEqual(Object.entries(person.marks), [['0', 4], ['1', 5]]);
  const names = [];
  for (const name in person.marks) names.push(name);
  assert.deepEqual(names, ['0', '1']);
  assert.equal(1 in person.marks && !(2 in person.marks), true);
  assert.equal(person.marks.push, person.marks.push);
  realm.write(() => {
    assert.throws(() => (all[0] = {}), /Modifying a Results collection is not supported/);
    assert.throws(() => (all[-1] = {}), /Modifying a Results collection is not supported/);
    assert.throws(() => (person.marks[-1] = 1), /Cannot set item at negative index -1/);
    assert.throws(
      () => (person.marks[2] = 1),
      /Requested index 2 calling set\(\) on list 'Person.marks' when max is 1/,
    );
    assert.throws(() => (person.marks.length = 0), /Cannot assign to read only property 'length'/);
    assert.throws(() => person.marks.remove(-1), /Index cannot be smaller than 0/);
    assert.throws(() => person.marks.move(0, 9), /Indexes cannot be greater than the size of the list/);
    assert.throws(() => person.labels.set(Symbol('x'), 'y'), /Symbols cannot be used as keys of a dictionary/);
    person.marks[1] = 9;
  });
  assert.deepEqual([...person.marks], [4, 9]);
  assert.throws(() => new Realm.Results(), /Illegal constructor/);
  realm.close();
});

test('rows cannot be redefined, deleted or frozen; an object can be frozen', () => {
  const realm = people();
  const [person] = realm.objects('Person');
  realm.write(() => person.marks.push(4, 5));
  assert.throws(() => Object.defineProperty(person.marks, '0', { value: 9 }), TypeError);
  assert.throws(() => Object.freeze(person.marks), TypeError);
  assert.throws(() => delete person.marks[0], TypeError);
  person.marks.note = 'mine';
  assert.deepEqual(Object.keys(person.marks), ['0', '1', 'note']);
  Object.freeze(realm.objects('Person')[1]);
  const frozen = Object.freeze(realm.objects('Person')[0]);
  assert.deepEqual([...frozen.marks, ...frozen.dogs], [4, 5]);
  assert.equal(frozen.age, person.age);
  assert.match(realm.objects('Person').filtered('age > 3').description, /age > 3/);
  realm.close();
});

test('an assignment that is refused changes nothing', () => {
  const realm = people();
  const [person] = realm.objects('Person');
  realm.write(() => {
    person.marks = [1, 2];
    person.labels = { a: 'x' };
    person.any = [1, { key: 'x' }];
    assert.throws(() => (person.marks = [5, 'six']), /Expected 'marks\[1\]' to be a number or bigint, got a string/);
    assert.throws(() => (person.marks = [5, null]), /Expected 'marks\[1\]' to be a number or bigint, got null/);
    assert.throws(() => (person.labels = { b: 'y', c: 1 }), /Expected 'labels\["c"\]' to be a string, got a number/);
    assert.throws(() => (person.any = [1, [2, () => {}]]), /a value that can be stored/);
    assert.throws(() => (person.any[1] = { key: Symbol('x') }), /a value that can be stored/);
    assert.throws(() => person.any.push({ deep: [new Set()] }), /Using a Set as a Mixed value is not supported/);
  });
  assert.deepEqual([...person.marks], [1, 2]);
  assert.deepEqual(person.labels.toJSON(), { a: 'x' });
  assert.deepEqual(person.any.toJSON(), [1, { key: 'x' }]);
  realm.close();
});

test('new objects with collections keep no handles', () => {
  const realm = people();
  const before = native.live();
  realm.write(() => {
    for (let id = 100; id < 400; id += 1) {
      realm.create('Person', {
        id,
        dogs: [{ name: 'a', age: 1 }],
        marks: [1],
        labels: { a: 'b' },
        any: [1, [2], { a: [3] }],
      });
    }
  });
  assert.equal(native.live(), before);
  realm.close();
});

test('a spread object is a copy of values, never the object', () => {
  const realm = people();
  const [person] = realm.objects('Person');
  const copy = { ...person, id: 100, name: 'copy' };
  const made = realm.write(() => realm.create('Person', copy));
  assert.equal(made.id, 100);
  assert.equal(person.id, 0);
  realm.close();
});

test('with OWN_KEYS objects have their properties as own ones', () => {
  flags.OWN_KEYS = true;
  const realm = people();
  flags.OWN_KEYS = false;
  const [person] = realm.objects('Person');
  realm.write(() => (person.any = 'x'));
  assert.deepEqual(Object.keys(person), Object.keys(Person.properties));
  assert.equal({ ...person }.any, 'x');
  assert.equal(Object.hasOwn(person, 'age') && 'age' in person, true);
  assert.ok(person instanceof Realm.Object);
  realm.write(() => (person.age = 77));
  assert.equal(realm.objectForPrimaryKey('Person', 0).age, 77);
  assert.deepEqual(realm.objects('Dog').map((dog) => ({ ...dog })), []);
  const copy = realm.write(() => realm.create('Person', { ...person, id: 50 }));
  assert.equal(copy.age, 77);
  assert.equal(person.equals(realm.objects('Person')[0]), true);
  realm.close();
});

test('a collection that is gone says so; what pop() returns may be gone', () => {
  const realm = people();
  const [person] = realm.objects('Person');
  realm.write(() => {
    person.any = [[1], { key: 1 }];
    person.labels.set('a', 'b');
  });
  const popped = realm.write(() => person.any.pop());
  assert.ok(popped instanceof Realm.Dictionary);
  const { marks, labels } = person;
  realm.write(() => realm.delete(person));
  assert.throws(() => marks[0], /List is no longer valid/);
  assert.throws(() => [...marks], /List is no longer valid|invalidated/);
  assert.throws(() => JSON.stringify(labels), /Dictionary is no longer valid/);
  realm.close();
});

test('counters change by their methods only', () => {
  const realm = people();
  const [person] = realm.objects('Person');
  realm.write(() => (person.count = 3));
  assert.equal(person.count.value, 3);
  realm.write(() => {
    assert.throws(() => (person.count = 4), /You can only reset a Counter instance/);
    assert.throws(() => (person.count.value = 4), /use the methods on the Counter/);
    assert.throws(() => realm.create('Person', { id: 0, count: 4 }, 'modified'), /You can only reset a Counter/);
    assert.throws(() => (person.any = person.count), /Using a Counter as a Mixed value is not supported/);
    assert.throws(() => (person.age = person.count), /Counters can only be used when 'counter' is declared/);
    person.count.increment();
  });
  assert.equal(person.count.value, 4);
  assert.throws(() => realm.objects('Person').filtered('count == $0', person.count), /Counter as a query argument/);
  realm.write(() => (person.count = null));
  assert.equal(person.count, null);
  realm.close();
});

test('a change listener is not called by the beginning of a transaction', async () => {
  const realm = await Realm.open({ path: fresh(), schema: [Dog] });
  const told = [];
  realm.addListener('change', (_, name) => told.push(name));
  realm.addListener('beforenotify', (_, name) => told.push(name));
  realm.write(() => realm.create('Dog', { name: 'a', age: 1 }));
  await pause(30);
  assert.deepEqual(told.sort(), ['beforenotify', 'change']);
  realm.close();
});

test('createMany makes all objects or none, as create() does', () => {
  const All = {
    name: 'All',
    primaryKey: 'id',
    properties: {
      id: 'int',
      text: 'string',
      other: { type: 'string?', mapTo: 'stored' },
      big: 'int?',
      yes: 'bool',
      date: 'date?',
      single: 'float',
      double: { type: 'double', default: 2.5 },
      left: 'int?',
    },
  };
  const realm = new Realm({ path: fresh(), schema: [All, Person, Dog] });
  const texts = ['', 'a', 'ä', '\u0000', 'a\u0000b', '😀', 'e\u0301', '漢字', 'x'.repeat(3000)];
  const rows = Array.from({ length: 300 }, (_, id) => ({
    id,
    text: texts[id % texts.length],
    other: id % 3 === 0 ? null : texts[(id * 7) % texts.length],
    big: id % 5 === 0 ? 2n ** 62n + BigInt(id) : id % 7 === 0 ? undefined : -id,
    yes: id % 2 === 1,
    date: id % 4 === 0 ? null : new Date(id * 1e9 - 5e10),
    single: id / 4,
  }));
  assert.equal(realm.write(() => realm.createMany('All', rows)), 300);
  const read = (object) => ({ ...Object.fromEntries(object.entries()), id: object.id });
  const found = realm.objects('All').sorted('id').map(read);
  realm.write(() => {
    realm.delete(realm.objects('All'));
    for (const row of rows) realm.create('All', row);
  });
  assert.deepEqual(found, realm.objects('All').sorted('id').map(read));
  assert.equal(found[5].big, 2n ** 62n + 5n);
  assert.equal(found[7].big, null);
  assert.equal(found[1].double, 2.5);

  const count = realm.objects('All').length;
  const more = rows.map((row) => ({ ...row, id: row.id + 1000 }));
  const wrong = [
    [...more, { id: 0, text: '', yes: true, single: 1 }],
    [...more, { ...more[0], id: 9000, text: 5 }],
    [...more, { ...more[0], id: 1e300 }],
    [...more, { ...more[0], id: 2n ** 63n }],
    [...more, { ...more[0], id: 9000, date: new Date(NaN) }],
    [...more, { ...more[0], id: 9000, yes: null }],
    [...more, null],
  ];
  realm.write(() => {
    for (const rows_ of wrong) assert.throws(() => realm.createMany('All', rows_), Error);
  });
  assert.equal(realm.objects('All').length, count);
  assert.equal(realm.write(() => realm.createMany('All', [{ ...rows[0], text: 'new' }], 'modified')), 1);
  assert.equal(realm.objectForPrimaryKey('All', 0).text, 'new');
  // Classes with collections and links: one after the other.
  realm.write(() =>
    realm.createMany('Person', Array.from({ length: 20 }, (_, id) => ({ id, dogs: [{ name: 'd', age: id }] })))
  );
  assert.equal(realm.objects('Dog').length, 20);
  assert.throws(() => realm.createMany('All', more), /outside of a write transaction/);
  realm.close();
});

test('a frozen realm keeps its version', () => {
  const realm = people();
  const frozen = realm.freeze();
  realm.write(() => realm.delete(realm.objects('Person').filtered('id < 5')));
  assert.equal(realm.objects('Person').length, 4);
  assert.equal(frozen.objects('Person').length, 9);
  assert.throws(() => frozen.write(() => {}), /read-only/);
  frozen.close();
  assert.equal(realm.objects('Person').length, 4);
  realm.close();
});

test('parent folders are made, and paths are absolute', () => {
  const file = path.join(folder, 'one/two/three.realm');
  const realm = new Realm({ path: path.relative(process.cwd(), file), schema: [Dog] });
  assert.equal(realm.path, file);
  realm.close();
  assert.equal(fs.existsSync(file), true);
  assert.equal(path.isAbsolute(Realm.defaultPath), true);
});

test('clearTestState needs its flag, and deletes the files that this thread opened only', () => {
  const foreign = path.join(folder, 'foreign.realm');
  fs.writeFileSync(foreign, 'x');
  const realm = people();
  assert.throws(() => Realm.clearTestState(), /ALLOW_CLEAR_TEST_STATE/);
  flags.ALLOW_CLEAR_TEST_STATE = true;
  Realm.clearTestState();
  flags.ALLOW_CLEAR_TEST_STATE = false;
  assert.equal(realm.isClosed, true);
  assert.equal(fs.existsSync(realm.path), false);
  assert.equal(fs.existsSync(foreign), true);
});

test('a schema that is wrong says where', () => {
  const open = (properties) => () => new Realm({ path: fresh(), schema: [{ name: 'One', properties }] });
  assert.throws(open({ a: '' }), /Invalid type declaration for property 'a' on 'One': The type must be specified/);
  assert.throws(open({ a: { type: 'list', objectType: 'list' } }), /A list must contain only primitive/);
  assert.throws(open({ a: { type: 'list', objectType: 'One', optional: true } }), /are always non-optional/);
  assert.throws(
    open({ a: { type: 'string', indexed: 3 } }),
    /Expected 'a.indexed' on 'One' to be a boolean or 'full-text'/,
  );
  assert.throws(
    () => new Realm({ path: fresh(), schema: {} }),
    /Expected 'realm schema' to be an array, got an object/,
  );
  assert.throws(
    () => new Realm({ path: fresh(), onMigration: 5 }),
    /Expected 'onMigration' on realm configuration to be a function, got a number/,
  );
});

test('objects that link in circles can be shown', () => {
  const schema = [{ name: 'Node', properties: { name: 'string', next: 'Node', list: 'Node[]' } }];
  const realm = new Realm({ path: fresh(), schema });
  const node = realm.write(() => {
    const one = realm.create('Node', { name: 'one' });
    one.next = one;
    one.list.push(one, one);
    return one;
  });
  for (const depth of [0, 2, null, Infinity]) assert.match(inspect(node, { depth }), /^Node \{/);
  assert.match(inspect(node), /Realm\.List\(2\)/);
  realm.close();
});

test('classes with many properties, and keys that a function makes once', () => {
  const names = Array.from({ length: 60 }, (_, index) => `p${index}`);
  const properties = Object.fromEntries(names.map((name, index) => [name, index % 2 === 0 ? 'int' : 'string?']));
  let made = 0;
  properties.id = { type: 'int', default: () => (made += 1) };
  const realm = new Realm({ path: fresh(), schema: [{ name: 'Wide', primaryKey: 'id', properties }] });
  const values = Object.fromEntries(names.map((name, index) => [name, index % 2 === 0 ? index : `text ${index}`]));
  const wide = realm.write(() => realm.create('Wide', values, 'modified'));
  for (const name of names) assert.equal(wide[name], values[name]);
  assert.equal(wide.id, 1);
  assert.equal(made, 1);
  realm.close();
});
