// Many objects, listeners and threads, and ends of processes at bad moments.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import test from 'node:test';
import { Worker } from 'node:worker_threads';

import Realm from '../lib/index.mjs';
import { fresh, pause, root } from './helper.mjs';

const { native } = createRequire(import.meta.url)('../lib/native.cjs');
const MODULE = path.join(root, 'bindings/node/lib/index.cjs');
const Item = { name: 'Item', primaryKey: 'id', properties: { id: 'int', n: 'int', tags: 'string[]', other: 'Item' } };
const turn = () => pause(0);

test('dropped objects and collections leave no handles, and memory does not grow', async () => {
  const realm = new Realm({ path: fresh(), schema: [Item] });
  realm.write(() => {
    for (let id = 0; id < 100; id += 1) realm.create('Item', { id, n: 0, tags: ['a'] });
  });
  const round = async () => {
    for (let count = 0; count < 30_000; count += 1) {
      const item = realm.objectForPrimaryKey('Item', count % 100);
      assert.equal(item.tags.length, 1);
      if (count % 100 === 0) {
        assert.equal(realm.objects('Item').filtered('id < $0', count % 70).length, count % 70);
      }
      if (count % 1000 === 0) await turn();
    }
    await turn();
  };
  await round();
  const before = process.memoryUsage().rss;
  for (let count = 0; count < 4; count += 1) await round();
  const grown = process.memoryUsage().rss - before;
  assert.ok(grown < 100e6, `${grown} bytes more`);
  // The last handles wait for the collector.
  assert.ok(native.live() < 60_000, `${native.live()} handles`);
  realm.close();
});

test('a listener that is removed leaves nothing, and thousands are told', async () => {
  const realm = new Realm({ path: fresh(), schema: [Item] });
  const item = realm.write(() => realm.create('Item', { id: 1, n: 0 }));
  const items = realm.objects('Item');
  await turn();
  const before = native.live();
  for (let count = 0; count < 2000; count += 1) {
    for (const target of [item, items]) {
      const listener = () => {};
      target.addListener(listener);
      assert.throws(() => target.addListener(listener), /Remove callback before adding it again/);
      target.removeListener(listener);
    }
  }
  assert.ok(native.live() <= before + 1, `${native.live()} handles, before ${before}`);

  let told = 0;
  for (let count = 0; count < 2000; count += 1) items.addListener(() => (told += 1));
  for (let count = 0; told < 2000 && count < 500; count += 1) await pause(10);
  assert.equal(told, 2000);
  realm.write(() => (item.n = 1));
  for (let count = 0; told < 4000 && count < 500; count += 1) await pause(10);
  assert.equal(told, 4000);
  items.removeAllListeners();
  realm.write(() => (item.n = 2));
  await pause(50);
  assert.equal(told, 4000);
  realm.close();
});

test('a process that ends anywhere leaves the committed file and a free lock', () => {
  const open = `const Realm = require(${JSON.stringify(MODULE)});
    const config = { path: process.argv[1], schema: [${JSON.stringify(Item)}] };
    const realm = new Realm(config);`;
  const programs = {
    'in a transaction': `${open} realm.beginTransaction(); realm.create('Item', { id: 1, n: 1 }); process.exit(7);`,
    'in write()': `${open} realm.write(() => { realm.create('Item', { id: 1, n: 1 }); process.exit(7); });`,
    'in writeAsync()': `${open} realm.writeAsync(() => { realm.create('Item', { id: 1, n: 1 }); process.exit(7); });`,
    'in a listener': `${open} realm.objects('Item').addListener(() => process.exit(7)); setTimeout(() => {}, 9000);`,
    'in a loop': `${open} for (const item of realm.objects('Item')) process.exit(7);`,
    'in a migration': `${open} realm.close();
      new Realm({ ...config, schemaVersion: 9, onMigration() { process.exit(7); } });`,
    'in a logger': `${open} Realm.setLogger(() => process.exit(7)); Realm.setLogLevel('all'); realm.write(() => {});`,
  };
  for (const [name, program] of Object.entries(programs)) {
    const file = fresh();
    const realm = new Realm({ path: file, schema: [Item] });
    realm.write(() => realm.create('Item', { id: 5, n: 0 }));
    realm.close();
    const ended = spawnSync(process.execPath, ['-e', program, file], { timeout: 20_000, encoding: 'utf8' });
    assert.equal(ended.status, 7, `${name}: ${ended.stderr}`);
    const after = new Realm({ path: file });
    assert.deepEqual(after.objects('Item').map((item) => item.id), [5], name);
    after.write(() => after.create('Item', { id: 2, n: 0 }));
    after.close();
  }
});

test('workers are terminated at any time: no commit is lost, none is half', async () => {
  const file = fresh();
  const realm = new Realm({ path: file, schema: [Item] });
  realm.write(() => {
    for (let id = 0; id < 2; id += 1) realm.create('Item', { id, n: 0 });
  });
  const committed = new Int32Array(new SharedArrayBuffer(8));
  const program = `const { workerData } = require('node:worker_threads');
    const realm = new (require(workerData.MODULE))({ path: workerData.file, schema: [workerData.Item] });
    const item = realm.objectForPrimaryKey('Item', workerData.id);
    function step() {
      realm.write(() => { item.n += 1; item.tags.push('x'); });
      Atomics.add(workerData.committed, workerData.id, 1);
      setImmediate(step);
    }
    step();`;
  let terminations = 0;
  const storm = async (id) => {
    for (let count = 0; count < 8; count += 1) {
      const worker = new Worker(program, { eval: true, workerData: { MODULE, file, Item, id, committed } });
      const before = committed[id];
      for (let waits = 0; committed[id] < before + 3 && waits < 1000; waits += 1) await pause(5);
      await pause(3 * count);
      await worker.terminate();
      terminations += 1;
    }
  };
  await Promise.all([storm(0), storm(1)]);
  realm.refresh();
  for (const item of realm.objects('Item')) {
    const lost = committed[item.id] - item.n;
    assert.ok(lost <= 0 && lost >= -terminations, `${committed[item.id]} commits were noted, ${item.n} are there`);
    assert.equal(item.tags.length, item.n);
  }
  assert.ok(committed[0] + committed[1] > 0);
  realm.close();
});

test('a logger gets the messages of all threads, and cannot use realms', async () => {
  const messages = [];
  const errors = [];
  Realm.setLogger((message) => {
    messages.push(message);
    try {
      Realm.schemaVersion(MODULE);
    } catch (error) {
      errors.push(error);
    }
  });
  Realm.setLogLevel('all');
  const file = fresh();
  const realm = new Realm({ path: file, schema: [Item] });
  realm.write(() => realm.create('Item', { id: 1, n: 1 }));
  assert.ok(messages.length > 0);
  assert.deepEqual(Object.keys(messages[0]).sort(), ['category', 'level', 'message']);
  assert.ok(messages.some(({ level }) => level === 'debug'));
  assert.ok(errors.length > 0 && errors.every(({ message }) => /A logger cannot use realms/.test(message)));
  messages.length = 0;
  const worker = new Worker(
    `const { workerData } = require('node:worker_threads');
     const realm = new (require(workerData.MODULE))({ path: workerData.file });
     realm.write(() => realm.create('Item', { id: 2, n: 2 }));
     realm.close();`,
    { eval: true, workerData: { MODULE, file } },
  );
  await new Promise((resolve) => worker.once('exit', resolve));
  await pause(20);
  assert.ok(messages.length > 0);
  Realm.setLogger(undefined);
  Realm.setLogLevel('off');
  messages.length = 0;
  realm.write(() => realm.create('Item', { id: 3, n: 3 }));
  assert.equal(messages.length, 0);
  realm.close();
});
