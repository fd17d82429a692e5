// Wrong use ends in an exception, never in a crash; memory stays; files of other languages.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import Realm from '../lib/index.mjs';
import { folder, fresh, root } from './helper.mjs';

const Item = {
  name: 'Item',
  primaryKey: 'id',
  properties: { id: 'int', text: 'string', list: 'int[]', any: 'mixed', map: 'mixed{}' },
};

test('every function refuses wrong values with an Error', () => {
  const realm = new Realm({ path: fresh(), schema: [Item] });
  const values = [
    undefined,
    null,
    0,
    -1,
    NaN,
    Infinity,
    2n ** 70n,
    '',
    '\0',
    'Item',
    '\ud800',
    Symbol('s'),
    () => {},
    [],
    {},
    [[]],
    new Proxy({}, {
      get() {
        throw new Error('trap');
      },
    }),
    new Date(NaN),
    new Uint8Array(3),
    Object.create(null),
    realm,
  ];
  realm.beginTransaction();
  const object = realm.create('Item', { id: 1, text: 'x' });
  const targets = [realm, object, object.list, object.map, realm.objects('Item'), Realm];
  const skip = new Set([
    'constructor',
    'close',
    'clearTestState',
    'beginTransaction',
    'commitTransaction',
    'cancelTransaction',
    'compact',
    'open',
    'writeAsync',
    'deleteFile',
    'prototype',
    'changes',
    'writeCopyTo',
    'deleteAll',
    'delete',
    'defaultPath',
    'setLogLevel',
    'shutdown',
    'setLogger',
    '_updateSchema',
  ]);
  let refused = 0;
  for (const target of targets) {
    const names = new Set();
    for (
      let one = target;
      one && one !== Object.prototype && one !== Function.prototype;
      one = Object.getPrototypeOf(one)
    ) {
      Object.getOwnPropertyNames(one).forEach((name) => names.add(name));
    }
    for (const name of names) {
      if (skip.has(name) || typeof Object.getOwnPropertyDescriptor(Object.prototype, name) !== 'undefined') continue;
      for (const one of values) {
        for (const args of [[one], [one, one], ['Item', one], [0, one]]) {
          try {
            if (typeof target[name] === 'function' && !/^[A-Z]/.test(name)) target[name](...args);
          } catch (error) {
            assert.ok(error instanceof Error, `${name}: ${String(error)}`);
            refused += 1;
          }
        }
      }
    }
  }
  assert.ok(refused > 500, `${refused} calls were refused`);
  realm.cancelTransaction();
  realm.close();
  for (const use of [() => realm.objects('Item'), () => object.text, () => object.list, () => realm.write(() => {})]) {
    assert.throws(use, Error);
  }
});

test('the addon refuses wrong handles and arguments', () => {
  const code = `const { native } = require(${JSON.stringify(path.join(root, 'bindings/node/lib/native.cjs'))});
    const odd = [undefined, null, 0, 1, -1, 1e300, NaN, 2 ** 40, 2n ** 64n, '', 'x', {}, [], [[]], Symbol('s'), new Uint8Array(2)];
    let thrown = 0;
    for (const name of Object.keys(native)) {
      if (['setup', 'hold', 'crealm_salvage', 'realm_delete_files', 'crealm_scheduler_run'].includes(name)) continue;
      for (const first of odd) for (const second of odd) {
        try { native[name](first, second, second, first, second, first); } catch (error) { thrown += error instanceof Error; }
      }
    }
    console.log(thrown);`;
  const done = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8', cwd: folder, timeout: 120000 });
  assert.equal(done.signal, null);
  assert.equal(done.status, 0, done.stderr.slice(-500));
  assert.ok(Number(done.stdout.trim().split('\n').pop()) > 10000, done.stdout.slice(-200));
});

test('listeners may close the realm, write and remove each other', async () => {
  const realm = new Realm({ path: fresh(), schema: [Item] });
  let calls = 0;
  realm.objects('Item').addListener((items) => {
    calls += 1;
    if (items.length < 3) realm.write(() => realm.create('Item', { id: items.length, text: '' }));
    else realm.close();
  });
  for (let turn = 0; turn < 100 && !realm.isClosed; turn += 1) {
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
  assert.ok(realm.isClosed);
  assert.equal(calls, 4);
});

test('memory stays the same over 200,000 objects read several times', () => {
  const realm = new Realm({ path: fresh(), schema: [{ name: 'P', properties: { n: 'int', t: 'string' } }] });
  realm.write(() => {
    for (let n = 0; n < 200000; n += 1) realm.create('P', { n, t: `text ${n}` });
  });
  const read = () => {
    let sum = 0;
    for (const one of realm.objects('P')) sum += one.n + one.t.length;
    return sum;
  };
  const expected = read();
  read();
  const before = process.memoryUsage().rss;
  for (let round = 0; round < 10; round += 1) assert.equal(read(), expected);
  assert.ok(process.memoryUsage().rss - before < 60e6, `${(process.memoryUsage().rss - before) / 1e6} MB more`);
  realm.close();
});

test('Python reads what Node writes, and Node what Python writes, while both have the file open', (t) => {
  const env = { ...process.env, PYTHONPATH: path.join(root, 'bindings/python') };
  if (spawnSync('python3', ['-c', 'import crealm'], { env }).status !== 0) {
    t.skip('crealm of Python is not there');
    return;
  }
  const file = fresh();
  const realm = new Realm({
    path: file,
    schema: [{ name: 'Person', primaryKey: 'id', properties: { id: 'int', name: 'string' } }],
  });
  realm.write(() => realm.create('Person', { id: 1, name: 'Änn' }));
  const code = `import crealm, sys
with crealm.open(sys.argv[1]) as db:
    print([p.name for p in db["Person"]])
    with db.write():
        db.add_many("Person", [{"id": 2, "name": "Bért"}])
`;
  const done = spawnSync('python3', ['-c', code, file], { env, encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
  assert.match(done.stdout, /Änn/);
  realm.refresh();
  assert.equal(realm.objectForPrimaryKey('Person', 2).name, 'Bért');
  realm.close();
});

const fixtures = path.join(root, '../shared/fixtures/sdk');
const place = fs.existsSync(fixtures) ? fixtures : path.join(process.env.CREALM_FIXTURES ?? '', 'sdk');

test("files of Realm's SDKs have the values of their JSON", { skip: !fs.existsSync(place) }, () => {
  let objects = 0;
  for (const file of fs.readdirSync(place).filter((name) => name.endsWith('.json'))) {
    const name = file.replace(/json$/, 'realm');
    const text = fs.readFileSync(path.join(place, file), 'utf8');
    const expected = JSON.parse(text.replace(/:(-?\d{16,})(?=[,}\]])/g, ':{"$int":"$1"}'));
    const copy = path.join(folder, name);
    fs.copyFileSync(path.join(place, name), copy);
    const key = path.join(place, file.replace(/json$/, 'key'));
    const realm = new Realm({ path: copy, ...(fs.existsSync(key) ? { encryptionKey: fs.readFileSync(key) } : {}) });
    const same = (value, wanted, where) => {
      if (Array.isArray(wanted)) {
        assert.equal(value.length, wanted.length, where);
        [...value].forEach((one, index) => same(one, wanted[index], where));
      } else if (wanted === null || typeof wanted !== 'object') assert.equal(value, wanted, where);
      else if (wanted.$int) assert.equal(BigInt(value), BigInt(wanted.$int), where);
      else if (wanted.$ts) assert.equal(value.getTime(), wanted.$ts[0] * 1000 + Math.floor(wanted.$ts[1] / 1e6), where);
      else if (wanted.$flt ?? wanted.$dbl) {
        const number = Number(wanted.$flt ?? wanted.$dbl);
        assert.ok(
          Math.abs(value - number) <= Math.abs(number) * 1e-6 || Object.is(value, number),
          `${where}: ${value} ${number}`,
        );
      } else if (wanted.$bin !== undefined) assert.equal(Buffer.from(value).toString('hex'), wanted.$bin, where);
      else if (wanted.$oid) assert.equal(String(value), wanted.$oid, where);
      else if (wanted.$uuid) assert.equal(String(value).replaceAll('-', ''), wanted.$uuid.replaceAll('-', ''), where);
      else if (wanted.$link) assert.equal(value._objectKey(), String(wanted.$link[1]), where);
      else if (wanted.$dec) assert.ok(value.bytes, where);
      else for (const one of Object.keys(wanted)) same(value.get(one), wanted[one], where);
    };
    for (const [className, described] of Object.entries(expected.classes)) {
      const embedded = described.flags === 1;
      if (embedded) continue;
      const byKey = new Map(Array.from(realm.objects(className), (object) => [object._objectKey(), object]));
      assert.equal(byKey.size, described.count, `${name} ${className}`);
      for (const wanted of described.objects) {
        const object = byKey.get(String(wanted.$key));
        for (const property of Object.keys(wanted)) {
          if (property !== '$key' && property in object) {
            same(object[property], wanted[property], `${name} ${className}.${property}`);
          }
        }
        objects += 1;
      }
    }
    realm.close();
  }
  assert.ok(objects > 1000, String(objects));
});
