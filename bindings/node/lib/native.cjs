// The addon, the library, errors, and the way back from the library into JavaScript.
//
// `native` has the functions of generated/calls.c by their C names, and those of src/*.c. They take handles as
// numbers. `state.version` grows with each change and each move of any realm on this thread: what was read into
// JavaScript under another number is not used any more.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { makeError } = require('./errors.cjs');

const PACKAGE = path.dirname(__dirname);
const BUILD = path.join(PACKAGE, '..', '..', '.build');
const PREBUILT = path.join(PACKAGE, 'prebuilds', `${process.platform}-${process.arch}`);

const IS_DENO = process.versions.deno !== undefined;

function firstFile(candidates) {
  return candidates.find((candidate) => candidate && fs.existsSync(candidate));
}

function load() {
  const addon = firstFile([
    process.env.CREALM_ADDON,
    path.join(PREBUILT, 'crealm.node'),
    path.join(BUILD, 'node', 'crealm.node'),
  ]);
  if (!addon) throw new Error(`The addon crealm.node is neither in ${PREBUILT} nor in ${BUILD}: run "make node"`);
  const library = process.env.CREALM_LIBRARY ?? firstFile([
    path.join(PREBUILT, 'libCRealm.so'),
    path.join(BUILD, 'release', 'libCRealm.so'),
  ]) ?? 'libCRealm.so.0';
  const loaded = require(path.resolve(addon));
  loaded.setup(makeError, dispatch, !IS_DENO);
  if (path.dirname(library) === PREBUILT) {
    const needed = fs.readdirSync(PREBUILT).filter((name) => name.includes('.so.'));
    for (const name of needed) loaded.preload(path.join(PREBUILT, name));
  }
  loaded.load(library);
  return loaded;
}

const state = { version: 1 };

/** The functions that the library calls, by number. */
const callbacks = new Map();
let lastNumber = 0;

function addCallback(callback) {
  lastNumber += 1;
  callbacks.set(lastNumber, callback);
  return lastNumber;
}

/** An exception of a program's callback: it ends in 'uncaughtException', as in any other callback of Node. */
function report(error) {
  process.nextTick(() => {
    throw error;
  });
}

const TURN = 0;

function dispatch(kind, number, first, second) {
  state.version += 1;
  try {
    if (kind === TURN) {
      native.runScheduler();
      state.version += 1;
      return true;
    }
    return callbacks.get(number)?.(kind, first, second);
  } catch (error) {
    report(error);
    return false;
  }
}

const native = load();

// Handles

const registry = new FinalizationRegistry((number) => {
  try {
    native.release(number);
  } catch {
    // The thread is ending: all handles were released.
  }
});

/** Owns a handle: it is released when this object is collected, or by release(). */
class Handle {
  constructor(number) {
    this.number = number;
    registry.register(this, number, this);
  }

  release() {
    if (this.number === -1) return;
    registry.unregister(this);
    const { number } = this;
    this.number = -1;
    native.release(number);
  }
}

// The process stays alive while something waits for the library.

let holders = 0;

function hold(flag) {
  holders += flag ? 1 : -1;
  if (flag ? holders !== 1 : holders !== 0) return;
  if (!IS_DENO) native.hold(flag);
  else if (flag) poll().ref();
  else poll().unref();
}

/** Lets the realms of this thread follow the commits of others in turns of the event loop. */
function watch() {
  if (IS_DENO) poll();
  else native.watch();
}

// The event loop of Deno does not watch the descriptor of the library: it asks.

const DENO_MILLISECONDS = 5;
let timer;

function poll() {
  if (timer === undefined) {
    timer = setInterval(() => {
      try {
        if (native.runScheduler()) state.version += 1;
      } catch (error) {
        report(error);
      }
    }, DENO_MILLISECONDS);
    timer.unref();
  }
  return timer;
}

module.exports = { native, state, callbacks, addCallback, report, Handle, hold, watch };
