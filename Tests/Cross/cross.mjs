// A writer and observer of run.py, which describes them.   node cross.mjs FILE LEDGER NUMBER
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import Realm from '../../bindings/node/lib/index.mjs';

const [file, ledgerPath, text] = process.argv.slice(2);
const own = Number(text);
const ledger = fs.openSync(ledgerPath, 'a');
const note = (...words) => fs.writeSync(ledger, `${words.join(' ')}\n`);
const exists = (name) => fs.existsSync(path.join(path.dirname(file), name));

const Counter = { name: 'Counter', primaryKey: 'id', properties: { id: 'int', value: 'int' } };
const Entry = { name: 'Entry', primaryKey: 'id', properties: { id: 'int', worker: 'int', number: 'int' } };
const realm = new Realm({ path: file, schema: [Counter, Entry] });
note('start');
let isTold = false;
let changes = 0;
realm.objects('Entry').addListener((entries, change) => {
  changes += 1;
  if (!isTold) {
    isTold = true;
    note('sees', ...Array.from({ length: 9 }, (_, id) => realm.objectForPrimaryKey('Counter', id).value));
    return;
  }
  const others = change.deletions.length || change.newModifications.length ? ['changed'] : [];
  const rows = change.insertions.map((place) => entries[place]);
  note('told', ...rows.map((row) => `${row.worker}:${row.number}`), ...others);
});
while (!exists('stop')) {
  let number;
  realm.write(() => {
    const counter = realm.objectForPrimaryKey('Counter', own);
    number = counter.value + 1;
    realm.create('Entry', { id: own * 1_000_000_000 + number, worker: own, number });
    counter.value = number;
    realm.objectForPrimaryKey('Counter', 0).value += 1;
  });
  note('wrote', number);
  await pause(2);
}
note('stopped');
let before;
do {
  before = changes;
  await pause(300);
} while (!exists('end') || before !== changes);
note('end', realm.objects('Entry').length);
realm.close();
process.exit(0);
