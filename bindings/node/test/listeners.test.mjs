// Listeners on the event loop, asynchronous writes, migrations, workers.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { Worker } from 'node:worker_threads';

import Realm from '../lib/index.mjs';
import { fresh, pause } from './helper.mjs';

const entry = new URL('../lib/index.mjs', import.meta.url).href;
const Item = { name: 'Item', properties: { n: 'int' } };

test('a listener gets change sets, also of a worker, until it is removed', async () => {
  const path = fresh();
  const realm = new Realm({ path, schema: [Item] });
  const told = [];
  const listener = (collection, changes) => told.push([collection.length, changes.insertions]);
  const items = realm.objects('Item');
  items.addListener(listener);
  await pause(50);
  realm.write(() => realm.create('Item', { n: 1 }));
  await pause(50);
  const text = `import('${entry}').then(({ default: Realm }) => {
    const realm = new Realm({ path: ${JSON.stringify(path)}, schema: [{ name: 'Item', properties: { n: 'int' } }] });
    realm.write(() => realm.create('Item', { n: 2 }));
    realm.close();
  })`;
  await new Promise((resolve, reject) => {
    new Worker(text, { eval: true }).on('exit', resolve).on('error', reject);
  });
  await pause(100);
  assert.deepEqual(told, [[0, []], [1, [0]], [2, [1]]]);
  items.removeListener(listener);
  realm.write(() => realm.create('Item', { n: 3 }));
  await pause(50);
  assert.equal(told.length, 3);
  realm.close();
});

test('writeAsync, changes() and Realm.open', async () => {
  const realm = await Realm.open({ path: fresh(), schema: [Item] });
  assert.equal(await realm.writeAsync(() => realm.create('Item', { n: 4 }).n), 4);
  await assert.rejects(
    realm.writeAsync(() => {
      realm.create('Item', { n: 5 });
      throw new Error('stop');
    }),
    /stop/,
  );
  assert.equal(realm.objects('Item').length, 1);
  const seen = [];
  for await (const { changes } of realm.objects('Item').changes()) {
    seen.push(changes.insertions);
    if (seen.length === 2) break;
    setTimeout(() => realm.write(() => realm.create('Item', { n: 6 })), 5);
  }
  assert.deepEqual(seen, [[], [1]]);
  realm.close();
});

test('a migration sees old and new objects; its exception comes out of the constructor', () => {
  const path = fresh();
  const before = new Realm({ path, schema: [{ name: 'A', properties: { first: 'string', last: 'string' } }] });
  before.write(() => before.create('A', { first: 'Ada', last: 'L' }));
  before.close();
  const schema = [{ name: 'A', properties: { full: 'string' } }];
  assert.throws(() =>
    new Realm({
      path,
      schema,
      schemaVersion: 1,
      onMigration() {
        throw new RangeError('mine');
      },
    }), RangeError);
  let kept;
  const after = new Realm({
    path,
    schema,
    schemaVersion: 1,
    onMigration(old, made) {
      kept = made;
      made.objects('A')[0].full = `${old.objects('A')[0].first} ${old.objects('A')[0].last}`;
    },
  });
  assert.equal(after.objects('A')[0].full, 'Ada L');
  assert.equal(after.schemaVersion, 1);
  assert.throws(() => kept.objects('A'), { code: 2014 });
  after.close();
  assert.equal(Realm.schemaVersion(path), 1);
});

test('a listener does not keep the process alive, and its exception is an uncaught one', () => {
  const run = (extra) =>
    spawnSync(process.execPath, [
      '--input-type=module',
      '-e',
      `import Realm from '${entry}';
    const realm = new Realm({ path: ${JSON.stringify(fresh())}, schema: [{ name: 'Item', properties: { n: 'int' } }] });
    ${extra}`,
    ], { timeout: 20000, encoding: 'utf8' });
  assert.equal(run("realm.objects('Item').addListener(() => {});").status, 0);
  const failed = run(
    "process.on('uncaughtException', (error) => { console.log(error.message); process.exit(7); });" +
      "realm.objects('Item').addListener(() => { throw new Error('mine'); }); setTimeout(() => {}, 2000);",
  );
  assert.equal(failed.status, 7);
  assert.match(failed.stdout, /mine/);
  assert.equal(run("realm.beginTransaction(); realm.create('Item', { n: 1 }); process.exit(3);").status, 3);
});

test('a worker that is terminated inside of a transaction frees the lock', async () => {
  const path = fresh();
  const worker = new Worker(
    `import('${entry}').then(({ default: Realm }) => {
    const realm = new Realm({ path: ${JSON.stringify(path)}, schema: [{ name: 'Item', properties: { n: 'int' } }] });
    realm.beginTransaction();
    realm.create('Item', { n: 1 });
    require('node:worker_threads').parentPort.postMessage('in');
    for (;;);
  })`,
    { eval: true },
  );
  await new Promise((resolve) => {
    worker.on('message', resolve);
  });
  await worker.terminate();
  const realm = new Realm({ path, schema: [Item], lockTimeout: 5000 });
  realm.write(() => realm.create('Item', { n: 2 }));
  assert.deepEqual(realm.objects('Item').map((item) => item.n), [2]);
  realm.close();
});
