// Objects, collections, values of all types and queries, through the classes of Realm JS.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import test from 'node:test';

import Realm, { BSON } from '../lib/index.mjs';
import { fresh } from './helper.mjs';

class Person extends Realm.Object {
  static schema = {
    name: 'Person',
    primaryKey: 'id',
    properties: {
      id: 'int',
      name: 'string',
      age: { type: 'int', default: 7 },
      dogs: 'Dog[]',
      tags: 'string<>',
      scores: 'mixed{}',
      any: 'mixed',
      counter: { type: 'int', presentation: 'counter' },
      best: 'Dog',
      address: 'Address',
    },
  };

  hello() {
    return `hi ${this.name}`;
  }
}
const Dog = {
  name: 'Dog',
  properties: { name: 'string', owners: { type: 'linkingObjects', objectType: 'Person', property: 'dogs' } },
};
const Address = { name: 'Address', embedded: true, properties: { street: 'string' } };
const open = (path = fresh()) => new Realm({ path, schema: [Person, Dog, Address] });

test('an object with links, collections, an embedded object and a counter', () => {
  const realm = open();
  const ann = realm.write(() =>
    realm.create('Person', {
      id: 1,
      name: 'Änn',
      dogs: [{ name: 'Rex' }, { name: 'Fido' }],
      tags: ['b', 'a', 'b'],
      scores: { x: 1, deep: [1, { y: 'z' }] },
      any: { list: [1, 'two'] },
      address: { street: 'Main' },
    })
  );
  assert.ok(ann instanceof Person);
  assert.equal(ann.hello(), 'hi Änn');
  assert.equal(ann.age, 7);
  assert.deepEqual(ann.dogs.map((dog) => dog.name), ['Rex', 'Fido']);
  assert.deepEqual([...ann.tags], ['a', 'b']);
  assert.equal(ann.scores.deep[1].y, 'z');
  assert.deepEqual(Object.keys(ann.scores), ['deep', 'x']);
  assert.equal(ann.any.list[1], 'two');
  assert.equal(ann.address.street, 'Main');
  assert.equal(ann.dogs[0].owners[0].name, 'Änn');
  realm.write(() => {
    ann.counter.increment(5);
    ann.counter.decrement();
    [ann.best] = ann.dogs.slice(1);
    ann.dogs.push({ name: 'Bo' });
    ann.dogs.swap(0, 2);
    assert.deepEqual(ann.dogs.splice(1, 1).map((dog) => dog.name), ['Fido']);
  });
  assert.equal(ann.counter.value, 4);
  assert.equal(ann.best.name, 'Fido');
  assert.deepEqual(Array.from(ann.dogs, (dog) => dog.name), ['Bo', 'Rex']);
  realm.close();
});

test('update modes, delete, primary keys and queries', () => {
  const realm = open();
  realm.write(() => {
    for (let id = 0; id < 3000; id += 1) realm.create('Person', { id, name: `n${id % 10}`, age: id % 50 });
    realm.create('Person', { id: 5, name: 'five' }, 'modified');
    assert.throws(() => realm.create('Person', { id: 5, name: 'x' }), { code: 1013 });
  });
  assert.equal(realm.objectForPrimaryKey('Person', 5).name, 'five');
  assert.equal(realm.objectForPrimaryKey('Person', 5).age, 5);
  assert.equal(realm.objectForPrimaryKey(Person, 99999), null);
  const old = realm.objects('Person').filtered('age > $0', 30).sorted('id', true);
  assert.equal(old.length, 1140);
  assert.equal(old[0].id, 2999);
  assert.equal(old.at(-1).id, 31);
  assert.equal([...old].reduce((sum, person) => sum + person.age, 0), 1140 * 40);
  assert.equal(realm.objects('Person').filtered('id IN $0', [1, 2, 3]).length, 3);
  assert.equal(realm.objects('Person').max('age'), 49);
  const { age } = realm.objects('Person').columns('age');
  assert.ok(age.values instanceof BigInt64Array && age.values.length === 3000 && age.valid === null);
  realm.write(() => {
    for (const person of realm.objects('Person').filtered('age < 10')) realm.delete(person);
  });
  assert.equal(realm.objects('Person').length, 2400);
  realm.write(() => realm.deleteAll());
  assert.ok(realm.isEmpty);
  realm.close();
});

test('random values of all types are the same after the file was opened again', () => {
  const types = {
    int:
      () => (Math.random() < 0.5
        ? Math.floor(Math.random() * 2 ** 40)
        : 2n ** 62n + BigInt(Math.floor(Math.random() * 1e9))),
    bool: () => Math.random() < 0.5,
    string: () =>
      String.fromCodePoint(
        ...Array.from({ length: 20 }, () => [65, 0xe9, 0x4e2d, 0x1f600, 0][Math.floor(Math.random() * 5)]),
      ),
    double: () => (Math.random() - 0.5) * 10 ** Math.floor(Math.random() * 300),
    float: () => Math.fround(Math.random() * 1000),
    date: () => new Date(Math.floor((Math.random() - 0.5) * 1e14)),
    data: () => Uint8Array.from({ length: Math.floor(Math.random() * 50) }, () => Math.random() * 256).buffer,
    decimal128: () => new BSON.Decimal128(`${Math.floor(Math.random() * 1e9)}E-${Math.floor(Math.random() * 20)}`),
    objectId: () => new BSON.ObjectId(),
    uuid: () => new BSON.UUID(),
  };
  const properties = { id: 'int' };
  for (const name of Object.keys(types)) {
    Object.assign(properties, { [name]: `${name}?`, [`${name}List`]: `${name}?[]`, [`${name}Any`]: 'mixed' });
  }
  const config = { path: fresh(), schema: [{ name: 'All', primaryKey: 'id', properties }] };
  const plain = (
    value,
  ) => (value instanceof ArrayBuffer ? Buffer.from(value).toString('hex') : value?._bsontype ? String(value) : value);
  let realm = new Realm(config);
  const written = [];
  realm.write(() => {
    for (let id = 0; id < 200; id += 1) {
      const values = { id };
      for (const [name, make] of Object.entries(types)) {
        values[name] = Math.random() < 0.1 ? null : make();
        values[`${name}List`] = [make(), null, make()];
        values[`${name}Any`] = make();
      }
      realm.create('All', values);
      written.push(values);
    }
  });
  realm.close();
  realm = new Realm(config);
  let count = 0;
  for (const object of realm.objects('All')) {
    const values = written[object.id];
    for (const name of Object.keys(types)) {
      assert.deepEqual(plain(object[name]), plain(values[name]), name);
      assert.deepEqual(object[`${name}List`].map(plain), values[`${name}List`].map(plain), name);
      assert.deepEqual(plain(object[`${name}Any`]), plain(values[`${name}Any`]), name);
    }
    count += 1;
  }
  assert.equal(count, 200);
  realm.close();
});

test('import and require give the same classes', () => {
  assert.equal(createRequire(import.meta.url)('../lib/index.cjs'), Realm);
});

test('after a rollback a new object is not taken for the old one', () => {
  const realm = open();
  let lost;
  assert.throws(() =>
    realm.write(() => {
      lost = realm.create('Person', { id: 1, name: 'lost' });
      throw new Error('no');
    }), /no/);
  realm.write(() => realm.create('Person', { id: 2, name: 'kept' }));
  assert.equal(lost.isValid(), false);
  assert.throws(() => lost.name, { code: 2010 });
  realm.close();
});
