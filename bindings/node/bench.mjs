// Measures the package beside node:sqlite (Node 22.5 or later), in one run: node bench.mjs [rows] [rounds]
//
// Both write one transaction of single rows, look rows up by their key and read a text, read two properties of all
// rows, and count with a condition. Nanoseconds a row (milliseconds for the count), medians of the rounds.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import Realm from './lib/index.mjs';

const rows = Number(process.argv[2] ?? 200_000);
const rounds = Number(process.argv[3] ?? 5);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'crealm-bench-'));
const times = new Map();

function measure(name, count, run) {
  const start = process.hrtime.bigint();
  const result = run();
  const spent = Number(process.hrtime.bigint() - start) / count;
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
  const sum = measure('iterate ours', rows, () => {
    let total = 0;
    for (const person of realm.objects('Person')) total += person.age + person.name.length;
    return total;
  });
  const count = measure('count ours', 1e6, () => realm.objects('Person').filtered('age > $0', 50).length);
  const [first] = realm.objects('Person').slice(0, 1);
  measure('one int ours', 1_000_000, () => {
    let total = 0;
    for (let index = 0; index < 1_000_000; index += 1) total += realm.objectForPrimaryKey === undefined ? 0 : first.age;
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
for (const name of ['insert', 'lookup', 'iterate', 'count']) {
  const own = median(`${name} ours`);
  const unit = name === 'count' ? 'ms' : 'ns';
  const peer = sqlite ? median(`${name} theirs`) : undefined;
  const compared = peer === undefined
    ? ''
    : `  node:sqlite ${peer.toFixed(name === 'count' ? 3 : 0)} ${unit}  ${(peer / own).toFixed(2)} x as fast`;
  console.log(`${name.padEnd(8)} ${own.toFixed(name === 'count' ? 3 : 0)} ${unit}${compared}`);
}
console.log(`one int  ${median('one int ours').toFixed(0)} ns`);
fs.rmSync(folder, { recursive: true });
