// Runs Realm JS's own integration tests with this package.   node realm-js.mjs FOLDER [NAME…]
//
// FOLDER is integration-tests/tests of a checkout of Realm JS (branch `community`), which is not part of this
// repository; NAME is a file in its src/tests, without the ending. `esbuild` must be on the PATH, and the packages
// mocha, chai (4), chai-as-promised (7), sinon, sinon-chai (3) and jsrsasign where Node finds them from FOLDER, or in
// NODE_PATH. With the package bson (4) there, values are of its classes. Prints for each file how many tests passed and
// failed; the status is 1 if a test failed that realm-js-exclusions.json does not name, or if one that it names passed.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import module from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const SELF = fileURLToPath(import.meta.url);
const EXTERNAL = ['realm', 'mocha', 'chai', 'chai-as-promised', 'sinon', 'sinon-chai', 'jsrsasign'];

/** What each bundle does before its tests. */
const prelude = (source) => `
import { flags } from 'realm';
Object.assign(flags, { ALLOW_CLEAR_TEST_STATE: true, OWN_KEYS: true });
import '${source}/node/inject-dev-environment';
import '${source}/node/setup-globals';
import '${source}/setup-globals';
`;

function bundle(source, name, out) {
  const entry = path.join(out, `${name}.entry.ts`);
  fs.writeFileSync(entry, `${prelude(source)}import '${source}/tests/${name}';\n`);
  const config = path.join(out, 'tsconfig.json');
  fs.writeFileSync(config, '{"compilerOptions": {"target": "es2022", "useDefineForClassFields": false}}');
  const file = path.join(out, `${name}.cjs`);
  execFileSync('esbuild', [
    entry,
    '--bundle',
    '--platform=node',
    '--format=cjs',
    '--target=node20',
    '--log-level=error',
    `--tsconfig=${config}`,
    `--outfile=${file}`,
    ...EXTERNAL.map((one) => `--external:${one}`),
  ], { stdio: ['ignore', 'inherit', 'inherit'] });
  return file;
}

/** In a process of its own: runs a bundle, and writes what passed and failed. */
function runOne(folder, file, out) {
  const require = module.createRequire(path.join(folder, 'package.json'));
  const Mocha = require('mocha');
  const packages = Object.fromEntries(EXTERNAL.slice(1).map((name) => [name, require.resolve(name)]));
  packages.realm = path.join(path.dirname(SELF), '../lib/index.cjs');
  const resolve = module._resolveFilename;
  module._resolveFilename = (request, ...others) => packages[request] ?? resolve(request, ...others);
  const mocha = new Mocha({ timeout: 10_000, reporter: class {} });
  mocha.addFile(file);
  const found = { passed: [], failed: {}, pending: 0 };
  const runner = mocha.run(() => {
    fs.writeFileSync(out, JSON.stringify(found));
    process.exit(0);
  });
  runner.on('pass', (one) => found.passed.push(one.fullTitle()));
  runner.on('pending', () => (found.pending += 1));
  runner.on('fail', (one, error) => (found.failed[one.fullTitle()] = String(error?.message).slice(0, 300)));
}

function runAll(folder, names) {
  const source = path.join(folder, 'src');
  const all = fs.readdirSync(path.join(source, 'tests')).filter((name) => name.endsWith('.ts'));
  const exclusions = JSON.parse(fs.readFileSync(path.join(path.dirname(SELF), 'realm-js-exclusions.json'), 'utf8'));
  const excluded = new Set(Object.values(exclusions).flat());
  const out = fs.mkdtempSync(path.join(os.tmpdir(), 'crealm-realm-js-'));
  const total = { passed: 0, failed: 0, excluded: 0, pending: 0 };
  let isGood = true;
  for (const name of names.length > 0 ? names : all.map((file) => path.basename(file, '.ts'))) {
    const result = path.join(out, `${name}.json`);
    const work = fs.mkdtempSync(path.join(out, `${name}-`));
    const ended = spawnSync(process.execPath, [SELF, '--one', folder, bundle(source, name, out), result], {
      cwd: work,
      timeout: 300_000,
      encoding: 'utf8',
    });
    if (!fs.existsSync(result)) {
      console.log(`${name}: no result: ${ended.stderr.slice(-500)}`);
      isGood = false;
      continue;
    }
    const { passed, failed, pending } = JSON.parse(fs.readFileSync(result, 'utf8'));
    const known = Object.keys(failed).filter((title) => excluded.has(title));
    const unknown = Object.keys(failed).filter((title) => !excluded.has(title));
    const better = passed.filter((title) => excluded.has(title));
    console.log(`${name}: ${passed.length} passed, ${unknown.length} failed, ${known.length} excluded`);
    for (const title of unknown) console.log(`  failed: ${title}: ${failed[title]}`);
    for (const title of better) console.log(`  excluded, and passed: ${title}`);
    isGood &&= unknown.length + better.length === 0;
    total.passed += passed.length;
    total.failed += unknown.length;
    total.excluded += known.length;
    total.pending += pending;
  }
  fs.rmSync(out, { recursive: true });
  console.log(
    `Realm JS: ${total.passed} passed, ${total.failed} failed, ${total.excluded} excluded, ` +
      `${total.pending} left out by the tests`,
  );
  process.exit(isGood ? 0 : 1);
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--one') runOne(...rest);
else if (first) runAll(path.resolve(first), rest);
else console.log('node realm-js.mjs FOLDER [NAME…]');
