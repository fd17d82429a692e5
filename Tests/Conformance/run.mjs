// Runs the conformance suite with the Node package.   node run.mjs [PART OF A NAME]
//
// README.md describes the files. Prints a line for each case that fails; the status is 1 if one does. Cases that this
// package does not run are in bindings/node/test/conformance-exclusions.json, by reason.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import Realm from '../../bindings/node/lib/index.mjs';
import { changesOf, declared, isTagged, mapped, same, TAGS } from './values.mjs';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** What each verb does: (case, subject of the step, step, realm, object or collection that the subject names). */
const VERBS = {
  write: (run, steps, step, realm) => run.write(steps, step, realm),
  create: (run, name, step, realm) => run.objects.set(step.as, realm.create(name, run.value(step.values), step.update)),
  set: (run, _, step, realm, object) => Object.assign(object, run.value(step.values)),
  get: (run, _, step, realm, object) => mapped(step.gives, (one, name) => run.check(one, object[name])),
  delete: (run, _, step, realm, object) => realm.delete(object),
  valid: (run, _, step, realm, object) => run.check(step.gives, object.isValid()),
  find(run, name, step, realm) {
    const found = realm.objectForPrimaryKey(name, run.value(step.primaryKey));
    run.objects.set(step.as, found);
    if ('gives' in step) run.check(step.gives, found);
  },
  count: (run, what, step, realm, thing) => run.check(step.gives, thing?.size ?? run.rows(realm, what, {}).length),
  query(run, what, { gives = {}, ...step }, realm) {
    const rows = run.rows(realm, what, step);
    if (typeof gives === 'number') run.check(gives, rows.length);
    else mapped(gives, (values, name) => run.check(values, rows.map((row) => row[name])));
  },
  ...mapped({ sum: 'sum', min: 'min', max: 'max', average: 'avg' }, (method) => (run, name, step, realm) => {
    run.check(step.gives, run.rows(realm, step.of, step)[method](name ?? undefined) ?? null);
  }),
  deleteAll: (run, what, step, realm) => realm.delete(run.rows(realm, what, step)),
  read: (run, _, step, realm, thing) => run.check(step.gives, thing),
  insert: (run, _, { at, value }, realm, list) => {
    if (at > list.length) throw new RangeError('splice() inserts at the end then');
    list.splice(at ?? list.length, 0, run.value(value));
  },
  replace: (run, _, step, realm, list) => list.set(step.at, run.value(step.value)),
  move: (run, _, step, realm, list) => list.move(step.from, step.to),
  add: (run, _, step, realm, set) => set.add(run.value(step.value)),
  discard: (run, _, step, realm, set) => set.delete(run.value(step.value)),
  put: (run, _, step, realm, dictionary) => dictionary.set(step.key, run.value(step.value)),
  remove: (run, _, step, realm, thing) => thing.remove(step.key ?? step.at),
  clear: (run, _, step, realm, thing) => (thing instanceof Realm.List ? thing.removeAll() : thing.clear()),
  observe: (run, what, step, realm, thing) =>
    run.observe(what.$link ? run.value(what) : (!step.where && thing) || run.rows(realm, what, step), step),
  turn: (run, _, step, realm) => realm.refresh() && turn(),
  told: (run, name, step) => run.tell(run.told.get(name).splice(0), step.gives),
  elsewhere(run, steps) {
    const other = run.opened(undefined);
    return run.run(steps, other).finally(() => other.close());
  },
  freeze: (run, name, step, realm) => run.frozen.set(name, realm.freeze()),
  frozen: (run, name, step) => run.run(step.steps, run.frozen.get(name)),
  open: (run, settings) => run.open(settings),
};

/** A case that runs: its file, the open realm, and what its steps named. */
class Case {
  constructor(given, classes, file) {
    Object.assign(this, { path: file, classes: given.classes ?? classes, version: 0, readOnly: false, rename: [] });
    Object.assign(this, { objects: new Map(), told: new Map(), frozen: new Map() });
    this.key = given.key ? Buffer.from(given.key, 'hex') : undefined;
    this.realm = this.opened(this.classes);
  }

  /** Without classes: an instance of its own, with the classes of the file. */
  opened(classes) {
    const { path: file, key: encryptionKey, readOnly } = this;
    const config = { path: file, schema: classes && declared(classes), readOnly, encryptionKey };
    if (classes && !readOnly) config.schemaVersion = this.version;
    const rename = (before, after) => ([name, from, to]) =>
      before.objects(name).forEach((old, index) => (after.objects(name)[index][to] = old[from]));
    if (this.rename.length > 0) config.onMigration = (...realms) => this.rename.forEach(rename(...realms));
    return new Realm(config);
  }

  value(given) {
    if (given === null || typeof given !== 'object') return given;
    if (Array.isArray(given)) return given.map((one) => this.value(one));
    if (!isTagged(given)) return mapped(given, (one) => this.value(one));
    const [[tag, content]] = Object.entries(given);
    return tag === '$link' ? this.objects.get(content) : TAGS[tag](content);
  }

  /** Whether what was read is what a step gives. */
  equals(given, found) {
    if (Array.isArray(given)) {
      const left = [...found];
      const among = (one) => left.some((other) => this.equals(one, other));
      const at = (one, index) => this.equals(one, left[index]);
      return left.length === given.length && given.every(found instanceof Realm.Set ? among : at);
    }
    if (given === null || typeof given !== 'object' || isTagged(given)) return same(this.value(given), found);
    const entries = Object.entries(given);
    if (found instanceof Realm.Object) return entries.every(([name, one]) => this.equals(one, found[name]));
    return found?.size === entries.length && entries.every(([key, one]) => this.equals(one, found.get(key)));
  }

  check(given, found) {
    if (!this.equals(given, found)) throw new Error(`${found?.toJSON?.() ?? found}, not ${JSON.stringify(given)}`);
  }

  rows(realm, target, { where, arguments: values = [], sort, distinct, limit }) {
    let rows = typeof target === 'string' ? realm.objects(target) : this.read(target);
    if (where) rows = rows.filtered(where, ...this.value(values));
    if (sort) rows = rows.sorted(sort.split(',').map((part) => [part.trim().split(' ')[0], part.endsWith(' DESC')]));
    if (distinct) rows = rows.filtered(`TRUEPREDICATE DISTINCT(${distinct})`);
    return limit === undefined ? rows : rows.filtered(`TRUEPREDICATE LIMIT(${limit})`);
  }

  read([name, ...parts]) {
    return parts.reduce((thing, part) => thing[part], this.objects.get(name));
  }

  async run(steps, realm = undefined) {
    for (const step of steps) {
      const [verb, what] = Object.entries(step)[0];
      let failure;
      try {
        const isPlace = Array.isArray(what) && typeof what[0] === 'string';
        await VERBS[verb](this, what, step, realm ?? this.realm, isPlace ? this.read(what) : this.objects.get(what));
      } catch (error) {
        failure = error;
      }
      const isWanted = failure instanceof RangeError || [step.error].flat().includes(failure?.code);
      if (step.error === undefined ? !failure : failure && isWanted) continue;
      failure ??= new Error('no error');
      throw Object.assign(failure, { step: failure.step ?? step });
    }
  }

  async write(steps, { rollback }, realm) {
    realm.beginTransaction();
    try {
      await this.run(steps, realm);
    } catch (error) {
      realm.cancelTransaction();
      throw error;
    }
    if (rollback) realm.cancelTransaction();
    else realm.commitTransaction();
  }

  async observe(target, step) {
    const told = [];
    this.told.set(step.as, told);
    target.addListener((_, changes) => told.push(changes), step.paths);
    while (told.length === 0) await turn();
    told.length = 0;
  }

  tell(told, gives) {
    const [found, wanted] = [told.map(changesOf), gives ? [changesOf(gives)] : []];
    if (!isDeepStrictEqual(found, wanted)) throw new Error(`${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
  }

  open({ classes = this.classes, version = this.version, rename = [], readOnly = false, key }) {
    this.close();
    Object.assign(this, { classes, readOnly, rename, version });
    if (key !== undefined) this.key = key ? Buffer.from(key, 'hex') : undefined;
    this.realm = this.opened(classes);
    this.rename = [];
  }

  close() {
    for (const each of [...this.frozen.values(), this.realm]) each.close();
  }
}

const read = (name) => JSON.parse(fs.readFileSync(new URL(name, import.meta.url), 'utf8'));
const excluded = new Set(Object.values(read('../../bindings/node/test/conformance-exclusions.json')).flat());
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'crealm-conformance-'));
const counts = { cases: 0, failed: 0, excluded: 0 };
for (const file of fs.readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.json')).sort()) {
  const suite = read(file);
  for (const given of suite.cases) {
    const name = `${path.basename(file, '.json')}: ${given.name}`;
    if (!name.includes(process.argv[2] ?? '')) continue;
    counts[excluded.has(name) ? 'excluded' : 'cases'] += 1;
    if (excluded.has(name)) continue;
    try {
      const running = new Case(given, suite.classes, path.join(folder, `${counts.cases}.realm`));
      await running.run(given.steps);
      running.close();
    } catch (error) {
      counts.failed += 1;
      const step = JSON.stringify(error.step)?.slice(0, 300);
      console.log(`failed: ${name}: ${step}: ${error.name} ${error.code}: ${error.message.slice(0, 300)}`);
    }
  }
}
fs.rmSync(folder, { recursive: true });
console.log(`conformance, Node: ${counts.cases} cases, ${counts.failed} failed, ${counts.excluded} excluded`);
process.exit(counts.failed > 0 ? 1 : 0);
