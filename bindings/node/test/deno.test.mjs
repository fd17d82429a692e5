// The package in Deno, where it is installed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { folder, fresh, root } from './helper.mjs';

const hasDeno = spawnSync('deno', ['--version']).status === 0;
const MODULE = path.join(root, 'bindings/node/lib/index.mjs');

const PROGRAM = `
import { spawn } from 'node:child_process';
import process from 'node:process';
import Realm from ${JSON.stringify(MODULE)};

const [file, node, other] = process.argv.slice(2);
const realm = new Realm({ path: file, schema: [{ name: 'Item', properties: { n: 'int' } }] });
for await (const { collection, changes } of realm.objects('Item').changes()) {
  console.log(collection.length, changes.insertions.length);
  if (collection.length === 0) spawn(node, [other, file], { stdio: 'inherit' });
  else break;
}
console.log(await realm.writeAsync(() => realm.create('Item', { n: 8 }).n));
realm.close();
`;

const OTHER = `
import Realm from ${JSON.stringify(MODULE)};
const realm = new Realm({ path: process.argv[2] });
realm.write(() => realm.create('Item', { n: 7 }));
realm.close();
`;

test('Deno is told of a commit of Node, writes, and ends', { skip: !hasDeno && 'no deno' }, () => {
  const [program, other] = [path.join(folder, 'deno.mjs'), path.join(folder, 'node.mjs')];
  fs.writeFileSync(program, PROGRAM);
  fs.writeFileSync(other, OTHER);
  const args = ['run', '-A', '--no-lock', program, fresh(), process.execPath, other];
  const ended = spawnSync('deno', args, { encoding: 'utf8', timeout: 60_000 });
  assert.equal(ended.status, 0, ended.stderr);
  assert.equal(ended.stdout, '0 0\n1 1\n8\n');
});

test('Deno passes the conformance suite', { skip: !hasDeno && 'no deno' }, () => {
  const suite = path.join(root, 'Tests/Conformance/run.mjs');
  const ended = spawnSync('deno', ['run', '-A', '--no-lock', suite], { encoding: 'utf8', timeout: 120_000 });
  assert.equal(ended.status, 0, ended.stdout + ended.stderr);
  assert.match(ended.stdout, / 0 failed/);
});
