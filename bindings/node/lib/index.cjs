// The package for require().
'use strict';

const Realm = require('./realm.cjs');

module.exports = Realm;
Object.assign(module.exports, { default: Realm });
