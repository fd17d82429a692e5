// The package as npm installs it: from a tarball, without a network, in an empty folder.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { folder, root } from './helper.mjs';

const place = path.join(folder, 'program');
// Nothing that names the checkout or the library.
const env = { PATH: process.env.PATH, HOME: folder, npm_config_cache: path.join(folder, 'cache'), LANG: 'C.UTF-8' };
const run = (command, ...args) => execFileSync(command, args, { cwd: place, env, encoding: 'utf8' });

const PROGRAM = `
const schema = [{ name: 'Person', properties: { name: 'string', age: 'int' } }];
const realm = new Realm({ path: 'people.realm', schema });
realm.write(() => realm.create('Person', { name: 'Zoë', age: 31 }));
console.log(realm.objects('Person').filtered('age > $0', 30).map((person) => person.name).join());
realm.close();
`;

const hasNpm = spawnSync('npm', ['--version']).status === 0;

test('the tarball is installed and used offline in an empty folder', { skip: !hasNpm && 'no npm' }, () => {
  execFileSync('bash', [path.join(root, 'Scripts/node.sh'), 'pack'], { cwd: root, stdio: 'pipe' });
  const tarball = fs.readdirSync(path.join(root, '.build/node')).find((name) => name.endsWith('.tgz'));
  fs.mkdirSync(place);
  fs.writeFileSync(path.join(place, 'package.json'), '{"name": "program", "private": true}');
  run('npm', 'install', '--offline', '--no-audit', '--no-fund', path.join(root, '.build/node', tarball));

  const installed = path.join(place, 'node_modules/crealm');
  const about = JSON.parse(fs.readFileSync(path.join(installed, 'package.json'), 'utf8'));
  assert.equal(about.scripts, undefined, 'no script runs at the installation');
  assert.equal(fs.existsSync(path.join(installed, 'binding.gyp')), false);
  const prebuilt = fs.readdirSync(path.join(installed, 'prebuilds', `${process.platform}-${process.arch}`));
  assert.ok(prebuilt.includes('crealm.node') && prebuilt.includes('libCRealm.so'), prebuilt.join());

  fs.writeFileSync(path.join(place, 'one.mjs'), `import Realm from 'crealm';\n${PROGRAM}`);
  fs.writeFileSync(path.join(place, 'two.cjs'), `const Realm = require('crealm');\n${PROGRAM}`);
  assert.equal(run(process.execPath, 'one.mjs'), 'Zoë\n');
  assert.equal(run(process.execPath, 'two.cjs'), 'Zoë,Zoë\n', 'the second program finds what the first wrote');
  const mapped = run(
    process.execPath,
    '-e',
    `
    require('crealm');
    const lines = require('fs').readFileSync('/proc/self/maps', 'utf8').split('\\n');
    const named = lines.map((line) => line.split(/ +/)[5]);
    const files = new Set(named.filter((file) => /libCRealm|libsodium|libcrypto/.test(file)));
    console.log([...files].filter((file) => !file.startsWith(${JSON.stringify(fs.realpathSync(installed))})).join());`,
  );
  assert.equal(mapped.trim(), '', 'all libraries are those of the package');
});
