// Measures the package beside node:sqlite (Node 22.5 or later), in one run: node bench.mjs [rows] [rounds]
//
// Both write one transaction of single rows (createMany: our way to write many objects in one call), look rows up by
// their key and read a text, read two properties of all rows, and count with a condition. Nanoseconds of the clock a
// row (milliseconds for the count), medians of the rounds; with CPU=1 nanoseconds of the processor, for a busy machine.
// A listener is told of a commit of another thread after some milliseconds of the clock.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

import Realm from './lib/index.mjs';

const rows = Number(process.argv[2] ?? 200_000);
const rounds = Number(process.argv[3] ?? 5);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'crealm-bench-'));
const times = new Map();

function now() {
  if (!process.env.CPU) return performance.now() * 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

function measure(name, count, run) {
  const start = now();
  const result = run();
  const spent = (now() - start) / count;
  times.set(name, [...(times.get(name) ?? []), spent]);
  return result;
}

const Person = { name: 'Person', primaryKey: 'id', properties: { id: 'int', name: 'string', age: 'int' } };

function ours(round) {
  const realm = new Realm({ path: path.join(folder, `${round}.realm`), schema: [Person] });
  measure('insert ours', rows, () =>
    realm.write(() => {
      for (let id = 0; id < rows; id += 1) realm.create('Person', { id, name: `name ${id}`, age: id % 100 });
    }));
  measure('lookup ours', rows, () => {
    for (let index = 0; index < rows; index += 1) {
      const id = (index * 7919) % rows;
      if (realm.objectForPrimaryKey('Person', id).name.length < 6) throw new Error('wrong');
    }
  });
  measure('createMany ours', rows, () => {
    const many = [];
    for (let id = rows; id < 2 * rows; id += 1) many.push({ id, name: `name ${id}`, age: id % 100 });
    realm.write(() => realm.createMany('Person', many));
  });
  realm.write(() => realm.delete(realm.objects('Person').filtered('id >= $0', rows)));
  const sum = measure('iterate ours', rows, () => {
    let total = 0;
    for (const person of realm.objects('Person')) total += person.age + person.name.length;
    return total;
  });
  const count = measure('count ours', 1e6, () => realm.objects('Person').filtered('age > $0', 50).length);
  const [first] = realm.objects('Person').slice(0, 1);
  measure('one int ours', 1_000_000, () => {
    let total = 0;
    for (let index = 0; index < 1_000_000; index += 1) {
      total += realm.objectForPrimaryKey === undefined ? 0 : first.age;
    }
    return total;
  });
  realm.close();
  return { sum, count };
}

function theirs(round, sqlite) {
  const base = new sqlite.DatabaseSync(path.join(folder, `${round}.sqlite`));
  base.exec(
    'PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; ' +
      'CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER)',
  );
  const insert = base.prepare('INSERT INTO person VALUES (?, ?, ?)');
  measure('insert theirs', rows, () => {
    base.exec('BEGIN');
    for (let id = 0; id < rows; id += 1) insert.run(id, `name ${id}`, id % 100);
    base.exec('COMMIT');
  });
  const find = base.prepare('SELECT name FROM person WHERE id = ?');
  measure('lookup theirs', rows, () => {
    for (let index = 0; index < rows; index += 1) {
      const id = (index * 7919) % rows;
      if (find.get(id).name.length < 6) throw new Error('wrong');
    }
  });
  const all = base.prepare('SELECT name, age FROM person');
  const sum = measure('iterate theirs', rows, () => {
    let total = 0;
    for (const person of all.iterate()) total += person.age + person.name.length;
    return total;
  });
  const counted = base.prepare('SELECT count(*) AS n FROM person WHERE age > ?');
  const count = measure('count theirs', 1e6, () => counted.get(50).n);
  base.close();
  return { sum, count };
}

const median = (name) => {
  const sorted = [...(times.get(name) ?? [])].sort((one, other) => one - other);
  return sorted[sorted.length >> 1];
};

let sqlite;
try {
  sqlite = await import('node:sqlite');
} catch {
  console.log('node:sqlite is not in this Node: only our own times');
}
for (let round = 0; round < rounds; round += 1) {
  const one = ours(round);
  const other = sqlite ? theirs(round, sqlite) : one;
  if (one.sum !== other.sum || one.count !== other.count) throw new Error('the results differ');
}
console.log(`Node ${process.version}, ${rows} rows, medians of ${rounds} rounds`);
for (const name of ['insert', 'createMany', 'lookup', 'iterate', 'count']) {
  const own = median(`${name} ours`);
  const unit = name === 'count' ? 'ms' : 'ns';
  const peer = sqlite ? median(`${name === 'createMany' ? 'insert' : name} theirs`) : undefined;
  const compared = peer === undefined
    ? ''
    : `  node:sqlite ${peer.toFixed(name === 'count' ? 3 : 0)} ${unit}  ${(peer / own).toFixed(2)} x as fast`;
  console.log(`${name.padEnd(10)} ${own.toFixed(name === 'count' ? 3 : 0)} ${unit}${compared}`);
}
console.log(`one int    ${median('one int ours').toFixed(0)} ns`);

/** Milliseconds from the end of a commit on another thread to the listener here: the median of 100. A listener that is
 *  told before the call of the commit returns has a negative one. */
async function listenerDelay() {
  const file = path.join(folder, 'listener.realm');
  const count = 100;
  const at = new Float64Array(new SharedArrayBuffer(8 * count));
  const told = [];
  const module = fileURLToPath(new URL('./lib/index.cjs', import.meta.url));
  const realm = new Realm({ path: file, schema: [Person] });
  const worker = new Worker(
    `const { workerData, parentPort } = require('node:worker_threads');
     const realm = new (require(workerData.module))({ path: workerData.file, schema: [workerData.schema] });
     parentPort.on('message', (id) => {
       realm.write(() => realm.create('Person', { id, name: '', age: 0 }));
       workerData.at[id] = performance.timeOrigin + performance.now();
     });`,
    { eval: true, workerData: { file, schema: Person, module, at } },
  );
  await new Promise((resolve, reject) => {
    worker.once('error', reject);
    realm.objects('Person').addListener((people, changes) => {
      if (changes.insertions.length > 0) told.push(performance.timeOrigin + performance.now());
      setTimeout(() => (told.length === count ? resolve() : worker.postMessage(people.length)), 2);
    });
  });
  await worker.terminate();
  realm.close();
  return told.map((time, id) => time - at[id]).sort((one, other) => one - other)[count / 2];
}

console.log(`listener   ${(await listenerDelay()).toFixed(2)} ms`);
fs.rmSync(folder, { recursive: true });
