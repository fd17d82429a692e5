"""Files for the slow evaluator: opens a file, reads all its objects, runs queries through the library, changes data at
random."""
import ctypes
import json
from ctypes import byref, c_bool, c_size_t, c_uint32, c_uint64, c_void_p
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import generate
from crealm import _library, _marshal as c
from crealm._handle import Owner
from crealm._library import lib
from crealm._prototypes import ClassInfo, PropertyInfo, QueryArgument, Value
from crealm.collections import Dictionary, List, SetView
from crealm.database import Database
from crealm.objects import Object
from crealm.values import Float32, ObjectId, RawTimestamp
from slow import NULL, Data, Pair, Prop

raw = ctypes.CDLL(_library.path)
raw.realm_query_count.argtypes = [c_void_p, c_void_p]
raw.realm_query_find_first.argtypes = [c_void_p, c_void_p, c_void_p]
raw.realm_query_count.restype = raw.realm_query_find_first.restype = c_bool
lib.realm_get_schema_version.restype = c_uint64

ALIASES = {'Str': {'linkers': ('All', 'link')}}
PRIMARY = {'All': 'id', 'Str': 'key', 'Oid': '_id', 'Uid': '_id'}


def open_file(path):
    """A database whose schema has the linking objects `linkers` of class Str, as answer.c opens it."""
    def opened(schema, version):
        config = c.make_config(str(path).encode(), 0, c.Secret())
        raw.realm_config_set_cached(ctypes.c_void_p(config), c_bool(False))
        raw.realm_config_set_automatic_change_notifications(ctypes.c_void_p(config), c_bool(False))
        if schema:
            lib.realm_config_set_schema(config, schema)
            lib.realm_config_set_schema_version(config, version)
        realm = lib.realm_open(config)
        if not realm:
            c.fail(str(path))
        lib.realm_release(config)
        return realm
    realm = opened(None, 0)
    keys, count = (c_uint32 * 100)(), c_size_t()
    lib.realm_get_class_keys(realm, keys, 100, byref(count))
    classes, lists = (ClassInfo * count.value)(), (ctypes.POINTER(PropertyInfo) * count.value)()
    keep = []
    for i in range(count.value):
        lib.realm_get_class(realm, keys[i], byref(classes[i]))
        properties, n = (PropertyInfo * 100)(), c_size_t()
        lib.realm_get_class_properties(realm, keys[i], properties, 99, byref(n))
        for p in properties[:n.value]:
            for name in ('name', 'public_name', 'link_target', 'link_origin_property_name'):
                setattr(p, name, bytes(getattr(p, name) or b''))
        if classes[i].name == b'Str' and not classes[i].num_computed_properties:
            properties[n.value] = PropertyInfo(b'linkers', b'', c.P_LINKING_OBJECTS, c.C_LIST, b'All', b'link', -1, 0)
            classes[i].num_computed_properties = 1
        for name in ('name', 'primary_key'):
            setattr(classes[i], name, bytes(getattr(classes[i], name) or b''))
        lists[i] = ctypes.cast(properties, ctypes.POINTER(PropertyInfo))
        keep.append(properties)
    make = raw.realm_schema_new
    make.restype = c_void_p
    schema = make(classes, count, lists)
    version = lib.realm_get_schema_version(realm)
    realm.close()
    realm = opened(schema, version)
    lib.realm_release(schema)
    return Database(Owner(realm, str(path)), 'rw', is_dynamic=True)


# Reading ----------------------------------------------------------------------------------------

def schema():
    return {cls: {p[0]: Prop(p[0], p[1], p[2], p[3], p[4] if len(p) > 4 else None, (cls, p[0]) == ('Str', 'text'))
                  for p in properties if p[2] != 'back'} for cls, properties in generate.PROPERTIES.items()}


SCHEMA = schema()


def read(db):
    """Every value of every object, at the version that the database reads."""
    data = Data(SCHEMA, ALIASES, {name: db._by_name[name].key for name in SCHEMA})
    data.primary = PRIMARY
    for cls, properties in SCHEMA.items():
        table = data.tables[cls]
        for obj in db[cls]:
            table[obj.object_key] = {name: value(obj[name], p, data) for name, p in properties.items()}

    def order(target, name, prop):
        handle = db._owner.make(lib.realm_get_object, *target)
        origins = Object._wrap(db, handle, *target).backlinks(name, prop)
        return [('link', (data.class_keys[name], origin.object_key)) for origin in origins]
    data.order = order
    return data


def value(x, prop, data):
    if prop.type == 'float' and x is not None:
        return ('float', float(x))  # Python shows these as float.
    return (plain if prop.coll else nested)(x, data)


def plain(x, data):
    if x is None:
        return NULL
    if isinstance(x, bool):
        return ('bool', x)
    if isinstance(x, int):
        return ('int', x)
    if isinstance(x, str):
        return ('string', x)
    if isinstance(x, bytes):
        return ('binary', x)
    if isinstance(x, Float32):
        return ('float', float(x))
    if isinstance(x, float):
        return ('double', x)
    if isinstance(x, Decimal):
        return ('decimal', x)
    if isinstance(x, RawTimestamp):
        return ('timestamp', tuple(x))
    if isinstance(x, datetime):
        ns = x.timestamp_ns()
        s, n = divmod(abs(ns), 10 ** 9)
        return ('timestamp', (s, n) if ns >= 0 else (-s, -n))
    if isinstance(x, ObjectId):
        return ('oid', x.bytes)
    if isinstance(x, UUID):
        return ('uuid', x.bytes)
    if isinstance(x, Object):
        return ('link', (data.class_keys[x.class_name], x.object_key))
    if isinstance(x, Dictionary):
        return Collected('dict', sorted((Pair((k, nested(e, data))) for k, e in x.items()), key=lambda e: e[0].encode()))
    if isinstance(x, (List, SetView)):
        return Collected('list', [nested(e, data) for e in x])
    raise TypeError(type(x))


def nested(x, data):
    found = plain(x, data)
    return (found.kind, list(found)) if isinstance(found, Collected) else found


class Collected(list):
    """The content of a collection."""

    def __init__(self, kind, content):
        super().__init__(content)
        self.kind = kind


def tagged(x, data):
    """An argument of generate.py as a value."""
    if x is None:
        return NULL
    if isinstance(x, list):
        return [tagged(e, data) for e in x]
    (tag, y), = x.items()
    if tag == 'link':
        keys = list(data.tables[y[0]])
        return ('link', (data.class_keys[y[0]], keys[y[1] % len(keys)])) if keys else NULL
    if tag in ('int', 'bool'):
        return (tag, y)
    return {'str': lambda: ('string', y), 'bin': lambda: ('binary', bytes.fromhex(y)), 'ts': lambda: ('timestamp', tuple(y)),
            'flt': lambda: ('float', float(y)), 'dbl': lambda: ('double', float(y)), 'oid': lambda: ('oid', bytes.fromhex(y)),
            'uuid': lambda: ('uuid', bytes.fromhex(y)),
            'dec': lambda: ('decimal', c.decimal_from_bits(int(y[:16], 16), int(y[16:], 16)))}[tag]()


def pool(data):
    """The values of the data for generate.py, so that queries match."""
    found = generate.Data(None)

    def seen(cls, name, value):
        kind, x = value
        if kind in ('list', 'dict'):
            for e in x:
                seen(cls, name, e[1] if kind == 'dict' else e)
        elif kind != 'link' and not (kind in ('string', 'binary') and len(x) > 47):
            if kind in ('oid', 'uuid'):
                x = x.hex()
            elif kind == 'decimal':
                x = '%016x%016x' % c.decimal_to_bits(x)
            some = found.of.setdefault((cls, name), [])
            if len(some) < 3000:
                some.append((kind, x))
                if kind != 'null':
                    found.kind.setdefault(kind, []).append((kind, x))
            return (kind, x)
    for cls, table in data.tables.items():
        found.counts[cls] = len(table)
        for obj in table.values():
            for name, value in obj.items():
                flat = [seen(cls, name, e[1] if isinstance(e, Pair) else e) for e in (value if isinstance(value, list) else [value])]
                if isinstance(value, list) and 0 < len(flat) < 5 and SCHEMA[cls][name].coll != 'dict' and None not in flat:
                    found.lists.setdefault((cls, name), []).append(flat)
            if cls in PRIMARY:
                found.keys.setdefault(cls, []).append(found.of[cls, PRIMARY[cls]][-1])
    return found


# Asking -----------------------------------------------------------------------------------------

def encoded(value):
    kind, x = value
    if kind == 'link':
        return c.encode(c.Link(*x), c.P_OBJECT)
    make = {'null': lambda: None, 'timestamp': lambda: RawTimestamp(*x), 'float': lambda: Float32(x), 'oid': lambda: ObjectId(x),
            'uuid': lambda: UUID(bytes=x)}.get(kind, lambda: x)
    return c.encode(make(), c.P_MIXED)


class Question:
    """A query parsed by the library, or the number of its error."""

    def __init__(self, db, cls, text, arguments):
        keep, structs = [], (QueryArgument * max(len(arguments), 1))()
        for struct, argument in zip(structs, arguments):
            many = isinstance(argument, list)
            values = [encoded(x) for x in (argument if many else [argument])]
            array = (Value * max(len(values), 1))(*values)
            keep.append((values, array))
            struct.count, struct.is_list, struct.values = len(values), many, ctypes.addressof(array)
        self.error = None
        self.query = lib.realm_query_parse(db._owner.pointer, db._by_name[cls].key, text.encode('utf-8', 'surrogateescape'), len(arguments),
                                           structs)
        if not self.query:
            self.error = code()
        self.results = None

    def find(self):
        self.results = lib.realm_query_find_all(self.query) if self.query else None

    def answer(self):
        """Object keys in order, or the number of the error; checks count and find first, too."""
        if self.error:
            return self.error
        if not self.results:
            self.find()
        count, value, found = c_size_t(), Value(), c_bool()
        if not lib.realm_results_count(self.results, byref(count)):
            return code()
        keys = []
        for i in range(count.value):
            if not lib.realm_results_get(self.results, i, byref(value)):
                return code()
            keys.append(c._decode(value).object_key)
        if not raw.realm_query_count(self.query, byref(count)) or count.value != len(keys):
            return f'{len(keys)} rows, but realm_query_count {count.value}'
        if not raw.realm_query_find_first(self.query, byref(value), byref(found)):
            return f'find_first {code()}'
        if found.value != bool(keys) or keys and c._decode(value).object_key != keys[0]:
            return f'{len(keys)} rows, but realm_query_find_first {found.value} {c._decode(value)}'
        return keys

    def release(self):
        for handle in (self.results, self.query):
            if handle:
                lib.realm_release(handle)


def code():
    error = c.last_error()
    return f'E{error.code}'


def asked(db, cls, text, arguments):
    question = Question(db, cls, text, arguments)
    found = question.answer()
    question.release()
    return found


def load(line, data):
    cls, rest = line.split('\t', 1)
    text, arguments = rest.rsplit('\t', 1)
    return cls, text, [tagged(x, data) for x in json.loads(arguments)]
