// The programs of docs/node.md run as they are written there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { folder, root } from './helper.mjs';

const page = fs.readFileSync(path.join(root, 'docs/node.md'), 'utf8');
const programs = [...page.matchAll(/```js\n([^]*?)```/g)].map((found) => found[1]);
const OUTPUT = ['Ann\n', '0 open, new rows: \n1 open, new rows: 0\n', null, null];

test('the programs of the guide', () => {
  assert.equal(programs.length, OUTPUT.length);
  fs.mkdirSync(path.join(folder, 'node_modules'));
  fs.symlinkSync(path.join(root, 'bindings/node'), path.join(folder, 'node_modules/crealm'));
  programs.forEach((program, index) => {
    const file = path.join(folder, `program${index}.mjs`);
    fs.writeFileSync(file, program);
    const ended = spawnSync(process.execPath, [file], { cwd: folder, encoding: 'utf8', timeout: 30_000 });
    assert.equal(ended.status, 0, ended.stderr);
    // The text after "// " is what the program prints.
    const shown = /console\.log\(.*\); \/\/ (.*)/.exec(program)?.[1];
    assert.equal(ended.stdout, OUTPUT[index] ?? `${shown}\n`);
  });
});

test('the tables of the guide have the numbers of the exclusions', () => {
  const excluded = (name) =>
    Object.values(JSON.parse(fs.readFileSync(path.join(root, 'bindings/node/test', name), 'utf8'))).map((one) =>
      one.length
    );
  const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);
  const rows = [...page.matchAll(/^\| (\d+) \| /gm)].map((found) => Number(found[1]));
  const descending = (one, other) => other - one;
  assert.deepEqual(rows.sort(descending), excluded('realm-js-exclusions.json').sort(descending));
  assert.match(page, new RegExp(`569 pass, ${sum(rows)} do not`));
  assert.match(page, new RegExp(`${291 - sum(excluded('conformance-exclusions.json'))} of 291 cases`));
});
