#!/usr/bin/env python3
"""Writes random queries over the schema of the operation driver (classes All, Str, Emb, Emb2, NoPk, Oid, Uid).

    generate.py --seed S --count N [--classes All,Str] [--data DUMP.json[.gz]] [--wrong PERCENT]

A line for each query: class, TAB, query text, TAB, its arguments as compact JSON:
    null  {"int":5}  {"bool":true}  {"str":"a"}  {"bin":"00ff"}  {"ts":[seconds,nanoseconds]}  {"flt":"1.5"}
    {"dbl":"nan"}  {"dec":"32 hex digits, high word first"}  {"oid":"24 hex digits"}  {"uuid":"32 hex digits"}
    {"link":["Str",3]} (the object with index 3, modulo the count, of the class in key order)  [list of these]
Values follow the generators of the driver; with a dump of the file many are taken from the data, so that they match.
About PERCENT (10) of the queries are wrong on purpose. The same options give the same lines."""
import argparse
import base64
import gzip
import json
import random
import struct
import sys

WORDS = ['alpha', 'Beta', 'gamma delta', 'Ærøskøbing', 'straße', '日本語', '', 'z', 'The quick brown fox', 'emoji 😀']
WORDS_OF_TEXT = ['alpha', 'beta', 'BETA', 'gamma', 'delta', 'Ærøskøbing', 'ærøskøbing', 'straße', '日本語', 'z', 'the', 'Quick', 'brown',
                 'fox', 'emoji', 'qui*', 'br*', 'ga*', 'a*', '-fox', '-alpha', '-z', 'über', 'uber', 'café', 'cafe']

NUMBERS = ('int', 'float', 'double', 'decimal')
KINDS = ('int', 'bool', 'string', 'binary', 'timestamp', 'float', 'double', 'decimal', 'oid', 'uuid')

# name, type, collection, nullable, link target
PROPERTIES = {
    'All': [
        ('id', 'int', '', 0), ('i', 'int', '', 0), ('i_n', 'int', '', 1), ('i_x', 'int', '', 0), ('b', 'bool', '', 0), ('b_n', 'bool', '', 1),
        ('s', 'string', '', 0), ('s_n', 'string', '', 1), ('s_x', 'string', '', 1), ('d', 'binary', '', 0), ('d_n', 'binary', '', 1),
        ('t', 'timestamp', '', 0), ('t_n', 'timestamp', '', 1), ('f', 'float', '', 0), ('f_n', 'float', '', 1), ('g', 'double', '', 0),
        ('g_n', 'double', '', 1), ('dec', 'decimal', '', 0), ('dec_n', 'decimal', '', 1), ('o', 'oid', '', 0), ('o_n', 'oid', '', 1),
        ('u', 'uuid', '', 0), ('u_n', 'uuid', '', 1), ('m', 'mixed', '', 1), ('link', 'link', '', 1, 'Str'), ('self', 'link', '', 1, 'All'),
        ('emb', 'link', '', 1, 'Emb'), ('l_i', 'int', 'list', 0), ('l_in', 'int', 'list', 1), ('l_s', 'string', 'list', 1),
        ('l_t', 'timestamp', 'list', 0), ('l_g', 'double', 'list', 0), ('l_b', 'bool', 'list', 0), ('l_d', 'binary', 'list', 0),
        ('l_dec', 'decimal', 'list', 0), ('l_u', 'uuid', 'list', 0), ('l_o', 'oid', 'list', 0), ('l_m', 'mixed', 'list', 1),
        ('l_link', 'link', 'list', 0, 'Str'), ('l_emb', 'link', 'list', 0, 'Emb'), ('e_i', 'int', 'set', 0), ('e_s', 'string', 'set', 0),
        ('e_m', 'mixed', 'set', 1), ('e_u', 'uuid', 'set', 0), ('h_i', 'int', 'dict', 0), ('h_s', 'string', 'dict', 1),
        ('h_m', 'mixed', 'dict', 1), ('h_link', 'link', 'dict', 1, 'Str')],
    'Str': [('key', 'string', '', 0), ('n', 'int', '', 0), ('text', 'string', '', 0), ('linkers', 'link', 'back', 0, 'All')],
    'Emb': [('x', 'int', '', 0), ('name', 'string', '', 1), ('child', 'link', '', 1, 'Emb2')],
    'Emb2': [('x', 'int', '', 0)],
    'NoPk': [('v', 'int', '', 0), ('w', 'string', '', 0), ('next', 'link', '', 1, 'NoPk')],
    'Oid': [('_id', 'oid', '', 0), ('v', 'int', '', 0)],
    'Uid': [('_id', 'uuid', '', 0), ('v', 'int', '', 0)],
}
BACKLINKS = {
    'All': [('@links.All.self', 'All')],
    'Str': [('linkers', 'All'), ('@links.All.link', 'All'), ('@links.All.l_link', 'All'), ('@links.All.h_link', 'All')],
    'Emb': [('@links.All.emb', 'All'), ('@links.All.l_emb', 'All')],
    'Emb2': [('@links.Emb.child', 'Emb')],
    'NoPk': [('@links.NoPk.next', 'NoPk')], 'Oid': [], 'Uid': [],
}
CLASS_WEIGHTS = {'All': 68, 'Str': 13, 'NoPk': 6, 'Emb': 5, 'Emb2': 2, 'Oid': 3, 'Uid': 3}
TYPE_NAMES = ('null int integer int16 int32 int64 short long byte char bool boolean string binary data bytearray byte[] bindata date '
              'datetimeoffset timestamp float double decimal128 decimal objectlink link objectid uuid guid numeric object dictionary '
              'array list collection').split()


class Path:
    """A key path: its text, and the type and number of its values."""

    def __init__(self, text, type, coll='', nullable=False, target=None, many=False, direct=False, owner=None, name=None):
        self.text, self.type, self.coll, self.nullable, self.target = text, type, coll, nullable, target
        self.many = many or bool(coll)  # several values
        self.direct, self.owner, self.name = direct, owner, name


class Data:
    """Values of a dump: by class and property, by type, whole lists, and the primary keys."""

    def __init__(self, file):
        self.of, self.kind, self.lists, self.keys, self.counts = {}, {}, {}, {}, {}
        if not file:
            return
        with (gzip.open(file) if file.endswith('.gz') else open(file, encoding='utf-8')) as stream:
            classes = json.load(stream)['classes']
        for cls, content in classes.items():
            self.counts[cls] = content['count']
            if cls not in PROPERTIES:
                continue
            for obj in content['objects']:
                for p in PROPERTIES[cls]:
                    if p[2] == 'back' or p[1] == 'link' or p[0] not in obj:
                        continue
                    raw = obj[p[0]]
                    seen = self.of.setdefault((cls, p[0]), [])
                    if len(seen) < 3000:
                        for value in self.scalars(raw, p[1]):
                            seen.append(value)
                            self.kind.setdefault(value[0], []).append(value)
                    if p[2] in ('list', 'set') and 0 < len(raw) < 5:
                        flat = [self.scalar(x, p[1]) for x in raw]
                        if None not in flat:
                            self.lists.setdefault((cls, p[0]), []).append(flat)
                for key in ('id', 'key', '_id'):
                    if key in obj:
                        self.keys.setdefault(cls, []).append(self.scalar(obj[key], ''))

    def scalar(self, raw, type):
        if raw is None:
            return ('null', None)
        if isinstance(raw, bool):
            return ('bool', raw)
        if isinstance(raw, int):
            return ('int', raw)
        if isinstance(raw, str):
            return ('string', raw) if len(raw) < 48 else None
        if isinstance(raw, dict) and len(raw) == 1:
            tag, x = next(iter(raw.items()))
            if tag == '$bin':
                return ('binary', bytes.fromhex(x)) if len(x) < 80 else None
            if tag == '$ts':
                return ('timestamp', tuple(x))
            if tag == '$flt':
                return ('float', float(x))
            if tag == '$dbl':
                return ('double', float(x))
            if tag == '$dec':
                return ('decimal', x)
            if tag == '$oid':
                return ('oid', x)
            if tag == '$uuid':
                return ('uuid', x)
        return None

    def scalars(self, raw, type):
        one = self.scalar(raw, type)
        if one:
            return [one]
        if isinstance(raw, list):
            return [v for x in raw for v in self.scalars(x, type)]
        if isinstance(raw, dict) and not any(k.startswith('$') for k in raw):
            return [v for x in raw.values() for v in self.scalars(x, type)]
        return []


def f32(x):
    return struct.unpack('f', struct.pack('f', x))[0]


def short_float(x):
    """The shortest text that reads as this single-precision number."""
    for digits in range(1, 10):
        text = f'{x:.{digits}g}'
        if f32(float(text)) == x:
            return text
    return repr(x)


def decimal_parts(words):
    hi, lo = int(words[:16], 16), int(words[16:], 16)
    return hi >> 63, (hi & ((1 << 49) - 1)) << 64 | lo, ((hi >> 49) & 0x3fff) - 6176


def decimal_text(words):
    sign, digits, exponent = decimal_parts(words)
    text = str(digits)
    if exponent < 0:
        text = text.rjust(1 - exponent, '0')
        text = text[:exponent] + '.' + text[exponent:]
    elif exponent:
        text += f'E{exponent}'
    return '-' * sign + text


def decimal_words(digits, exponent, negative=False):
    return f'{(negative << 63 | (exponent + 6176) << 49 | digits >> 64):016x}{digits & (1 << 64) - 1:016x}'


class Generator:
    def __init__(self, seed, data, classes, wrong):
        self.r = random.Random(seed)
        self.data, self.wrong_share = data, wrong
        names = [c for c in CLASS_WEIGHTS if not classes or c in classes]
        self.classes = [c for c in names for _ in range(CLASS_WEIGHTS[c])]
        if data.counts:
            self.classes = [c for c in self.classes if data.counts.get(c)] or self.classes
        self.args, self.variables = [], []

    # Choices ------------------------------------------------------------------------------------

    def chance(self, percent):
        return self.r.random() * 100 < percent

    def pick(self, *options):
        return self.r.choice(options)

    def weighted(self, **options):
        return self.r.choices(list(options), list(options.values()))[0]

    def word(self, text):
        """A word in one of its letter cases."""
        return text if self.chance(80) else self.pick(text.lower(), text.upper())

    # Values -------------------------------------------------------------------------------------

    def number(self):
        r = self.r
        k = r.randrange(10)
        if k < 2:
            return r.randrange(2)
        if k < 5:
            return r.randrange(4)
        if k < 7:
            return r.randrange(16)
        if k == 7:
            return r.randrange(256) - 128
        if k == 8:
            return r.choice([r.randrange(65536) - 32768, r.randrange(1 << 32) - (1 << 31), r.randrange(400)])
        return r.choice([r.getrandbits(64) - (1 << 63), (1 << 63) - 1, -(1 << 63), 0, -1, 1 << 53, (1 << 53) + 1])

    def fresh(self, kind):
        """A random value, chosen as in the driver."""
        r = self.r
        if kind == 'int':
            return ('int', self.number())
        if kind == 'bool':
            return ('bool', bool(r.randrange(2)))
        if kind in ('string', 'binary'):
            k = r.randrange(100)
            if k < 65:
                s = r.choice(WORDS)
            elif k < 85:
                s = ''.join(r.choice('abcdefghijklmnopqrstuvwxyz') for _ in range(r.randrange(4)))
            elif k < 92:
                s = f'key-{r.randrange(200)}'
            elif k < 96:
                s = str(self.number())
            else:
                s = self.pick('ÆRØSKØBING', 'ALPHA', 'beta', 'Straße', 'été', 'ÉTÉ', "it's", 'a"b', '5x', '1e1', 'k1', 'A')
            return (kind, s if kind == 'string' else s.encode())
        if kind == 'timestamp':
            s = r.randrange(4000000000) - 2000000000
            return ('timestamp', self.pick((s, r.randrange(1000000000) * (-1 if s < 0 else 1)), (0, 0), (s, 0), (1, 5)))
        if kind == 'float':
            return ('float', r.choice([f32((r.randrange(2000000) - 1000000) / 8), 0.0, 1.5, float(r.randrange(4))]))
        if kind == 'double':
            return ('double', r.choice([(r.randrange(2000000000) - 1e9) / 7, 0.0, 0.1, 1.5, float(r.randrange(4))]))
        if kind == 'decimal':
            return ('decimal', decimal_words(r.choice([r.randrange(1000000), r.randrange(4)]), -r.randrange(6), bool(r.randrange(2))))
        if kind == 'oid':
            return ('oid', ''.join(r.choice('0123456789abcdef') for _ in range(24)))
        if kind == 'uuid':
            return ('uuid', ''.join(r.choice('0123456789abcdef') for _ in range(32)))
        return ('null', None)

    def value(self, kind, path=None):
        """A typed value that is likely to occur at the path."""
        if kind == 'mixed':
            pool = path and self.data.of.get((path.owner, path.name))
            if pool and self.chance(60):
                found = self.r.choice(pool)
                if found[0] != 'null' or self.chance(20):
                    return found
            return self.fresh(self.r.choice(KINDS))
        pool = path and self.data.of.get((path.owner, path.name))
        if pool and self.chance(65):
            found = self.r.choice(pool)
            if found[0] == kind:
                return found
        pool = self.data.kind.get(kind)
        if pool and self.chance(40):
            return self.r.choice(pool)
        return self.fresh(kind)

    def argument(self, value):
        """A new argument, or an earlier one of the same value."""
        if value in self.args:
            return f'${self.args.index(value)}'
        self.args.append(value)
        return f'${len(self.args) - 1}'

    def quoted(self, text):
        if any(c == '\\' or c < ' ' for c in text) or ('"' in text and "'" in text):
            return 'B64"' + base64.b64encode(text.encode()).decode() + '"'
        if self.chance(3):
            return 'B64"' + base64.b64encode(text.encode()).decode() + '"'
        quote = "'" if '"' in text else '"' if "'" in text else self.pick("'", '"')
        return quote + text + quote

    def literal(self, value, exact=False):
        """The spelling of a value in a query; an exact one never writes a float as an integer."""
        kind, x = value
        r = self.r
        if kind == 'null':
            return self.pick('null', 'NULL', 'nil', 'null', 'NULL', 'Nil')
        if kind == 'int':
            k = r.randrange(60)
            if k == 0 and x >= 0:
                return f'0{x:o}'
            if k == 1 and x >= 0:
                return self.pick(f'0x{x:x}', f'0X{x:X}')
            if k == 2 and x >= 0:
                return f'+{x}'
            return str(x)
        if kind == 'bool':
            return self.pick(*(('true', 'TRUE', 'true') if x else ('false', 'FALSE', 'false')))
        if kind == 'string':
            return self.quoted(x)
        if kind == 'binary':
            word = self.pick('binary', 'BINARY', 'bin', 'BIN')
            try:
                text = x.decode()
                if self.chance(60) and not any(c in '\\"' or c < ' ' for c in text):
                    return f'{word}("{text}")'
            except UnicodeDecodeError:
                pass
            return f'{word}(B64"{base64.b64encode(x).decode()}")'
        if kind == 'timestamp':
            s, n = x
            if self.chance(25) and -2000000000 < s < 2000000000 and (s or n >= 0):
                return self.calendar(s, n)
            return f'T{s}:{n}'
        if kind == 'float':
            if x != x or x in (float('inf'), float('-inf')):
                return self.special(x)
            text = short_float(x)
            point = text if '.' in text or 'e' in text else text + '.0'
            return self.pick(point + 'f', point, point if exact else text)
        if kind == 'double':
            if x != x or x in (float('inf'), float('-inf')):
                return self.special(x)
            text = repr(x)
            return text[:-2] + self.pick('.0', '.', 'e0') if text.endswith('.0') else text
        if kind == 'decimal':
            if (int(x[:4], 16) & 0x7800) == 0x7800:
                return self.special(float('nan') if int(x[:4], 16) & 0x400 else float('-inf') if int(x[0], 16) & 8 else float('inf'))
            text = decimal_text(x)
            return text if '.' in text or 'E' in text or not exact and self.chance(50) else text + '.0'
        if kind == 'oid':
            return f'oid({x})'
        if kind == 'uuid':
            return f'uuid({x[:8]}-{x[8:12]}-{x[12:16]}-{x[16:20]}-{x[20:]})'
        raise ValueError(kind)

    def special(self, x):
        if x != x:
            return self.pick('nan', 'NaN', 'NAN', '-nan')
        return self.pick('inf', 'infinity', 'Infinity', '+inf') if x > 0 else self.pick('-inf', '-Infinity')

    def calendar(self, s, n):
        from datetime import datetime, timedelta
        when = datetime(1970, 1, 1) + timedelta(seconds=s)
        text = f'{when.year}-{when.month:02}-{when.day:02}{self.pick("T", "@")}{when.hour:02}:{when.minute:02}:{when.second:02}'
        return text + (f':{abs(n)}' if n or self.chance(30) else '')

    def spelled(self, value, share=15, exact=False):
        """A value as a literal, or sometimes as an argument."""
        return self.argument(value) if self.chance(share) else self.literal(value, exact)

    def constant(self, kind, path=None, odd=6):
        """A constant to compare with values of a type: the same type, or one that converts to it."""
        if self.chance(5):
            return self.spelled(('null', None))
        if self.chance(odd):
            if kind in NUMBERS:
                other = self.pick(*NUMBERS, 'int', 'double')
                v = self.value(other)
                if kind == 'int' and other != 'int' and self.chance(50):
                    v = (other, float(self.r.randrange(4))) if other != 'decimal' else ('decimal', decimal_words(self.r.randrange(40), -1))
                if self.chance(15):
                    return self.spelled(('string', self.pick('1', '2.5', '30x', '3e1', '-1', '0')))
                if self.chance(8) and kind != 'int':
                    return self.special(self.pick(float('nan'), float('inf'), float('-inf')))
                if self.chance(8):
                    return self.special(float('nan'))
                return self.spelled(v, 30)
            if kind == 'mixed':
                return self.spelled(self.fresh(self.r.choice(KINDS)), 30)
        return self.spelled(self.value(kind, path))

    def exact(self, kind, path=None):
        return self.spelled(self.value(kind, path))

    # Paths --------------------------------------------------------------------------------------

    def key(self):
        return f'k{self.r.randrange(12)}' if self.chance(97) else self.pick('zz', '', 'odd key', 'n')

    def keyed(self, key=None):
        key = self.key() if key is None else key
        k = self.r.randrange(10)
        if k < 2 and key.isalnum():
            return f'.{key}'
        if k == 2:
            return f'[{self.argument(("string", key))}]'
        return f"['{key}']" if self.chance(60) else f'["{key}"]'

    def indexed(self):
        k = self.r.randrange(20)
        if k < 9:
            return f'[{self.r.choice([0, 0, 0, 1, 1, 2, 3, 7])}]'
        if k < 12:
            return self.pick('[FIRST]', '[first]', '[FIRST]')
        if k < 16:
            return self.pick('[LAST]', '[last]', '[LAST]')
        if k == 16:
            return f'[{self.argument(("int", self.r.choice([0, 1, 2, -1])))}]'
        return '[*]'

    def start(self):
        """The variable of the enclosing subquery, or nothing."""
        return self.variables[-1] + '.' if self.variables and self.chance(85) else ''

    def hops(self, cls, most=3):
        """Link steps: text, class reached, whether they may reach several objects."""
        text, many, lots = '', False, 0  # three steps that each reach many objects would take long
        count = self.r.choices([0, 1, 2, 3], [64, 26, 8, 2])[0]
        taken = 0
        for _ in range(min(count, most)):
            options = [(p[0], p[4], p[2]) for p in PROPERTIES[cls] if p[1] == 'link' and (lots < 2 or not p[2])]
            if not options and not BACKLINKS[cls]:
                break
            if self.chance(75) and options:
                name, target, coll = self.r.choice(options)
                if coll == 'list' and self.chance(20):
                    name += self.indexed()
                elif coll == 'dict' and self.chance(25):
                    name += self.keyed() if self.chance(80) else self.pick('[*]', '.@values')
                many |= bool(coll)
                lots += bool(coll)
            elif BACKLINKS[cls] and lots < 2:
                name, target = self.r.choice(BACKLINKS[cls])
                many = True
                lots += 1
            else:
                continue
            text += name + '.'
            cls = target
            taken += 1
        return text, cls, many, taken

    def path(self, cls, kinds=None, colls=None, hops=3, steps=True):
        """A key path to values of one of these types; None if the class has none."""
        start = self.start()
        for attempt in range(4):
            prefix, owner, many, taken = self.hops(cls, hops if attempt < 3 else 0)
            options = [p for p in PROPERTIES[owner] if p[1] != 'link' and (not kinds or p[1] in kinds) and (colls is None or p[2] in colls)]
            if options:
                break
        else:
            return None
        p = self.r.choice(options)
        path = Path(start + prefix + p[0], p[1], p[2], bool(p[3]), None, many, not taken, owner, p[0])
        if steps:
            self.add_steps(path)
        return path

    def add_steps(self, path):
        if path.coll == 'list' and self.chance(35):
            path.text += self.indexed()
            path.direct = False
            if path.type == 'mixed':
                self.nest(path, 30)
        elif path.coll == 'dict' and self.chance(55):
            k = self.r.randrange(10)
            if k < 7:
                path.text += self.keyed()
                path.coll, path.many = '', path.text.count('.') > 0 and path.many
                path.nullable = True
                if path.type == 'mixed':
                    self.nest(path, 30)
            elif k < 8:
                path.text += self.pick('.@keys', '.@keys', '.@values')
                if path.text.endswith('keys'):
                    path.type, path.owner, path.name = 'string', None, None
            else:
                path.text += self.pick('[*]', '.@values')
            path.direct = False
        elif path.type == 'mixed' and not path.coll:
            self.nest(path, 40)

    def nest(self, path, share):
        """Steps into a Mixed value."""
        while self.chance(share):
            path.text += self.weighted(index=5, key=5, all=3) and self.pick(self.indexed(), self.keyed(f'k{self.r.randrange(9)}'), '[*]')
            path.direct, share, path.many = False, share * 0.8, path.many or '[*]' in path.text
        if path.text.endswith('[*]') is False and '[' in path.text and self.chance(3):
            path.text += self.pick('.@keys', '.n', '.text')
            path.many = True

    def quantifier(self, path, share=35):
        if path.many and self.chance(share):
            return self.pick('ANY', 'SOME', 'ALL', 'NONE', 'any', 'all', 'none', 'some', 'ALL', 'NONE') + ' '
        return ''

    def side(self, path, share=35):
        return self.quantifier(path, share) + path.text

    def operator(self, kind='int'):
        k = self.r.randrange(100)
        if k < 30:
            return self.pick('==', '==', '=')
        if k < 45:
            return self.pick('!=', '!=', '<>')
        return self.pick('<', '>', '<', '>', '<=', '>=', '=<', '=>')

    def fold(self, share=30):
        return '[c]' if self.chance(share) else ''

    # Comparisons --------------------------------------------------------------------------------

    def with_constant(self, cls):
        path = self.path(cls)
        op = self.operator()
        if path.type in ('string', 'mixed') and op in ('==', '!=', '=', '<>') and path.text[-5:] != 'keys' and self.chance(18):
            text = self.exact('string', path)
            return f'{self.side(path)} {op}[c] {text}' if self.chance(80) or path.type == 'mixed' else f'{text} {op}[c] {self.side(path)}'
        constant = self.constant(path.type, path)
        if path.type == 'int' and op not in ('==', '=', '!=', '<>', '<', '>') and ('922337203685477580' in constant or constant[0] == '$'):
            op = op.strip('=')  # 'at most the largest' is a constant, which crashes the reference under OR
        if self.chance(12):
            return f'{constant} {op} {self.side(path)}'
        gap = ' ' if self.chance(95) else ''
        return f'{self.side(path)}{gap}{op} {constant}'

    def with_null(self, cls):
        path = self.path(cls)
        return f'{self.side(path)} {self.pick("==", "!=", "==", "!=", "<", "<=", ">", ">=")} {self.spelled(("null", None))}'

    def between_properties(self, cls):
        path = self.path(cls)
        if path.type in NUMBERS:
            kinds = NUMBERS
        elif path.type == 'mixed':
            kinds = (*KINDS, 'mixed')
        else:
            kinds = (path.type, 'mixed') if self.chance(25) else (path.type,)
        other = self.path(cls, kinds, [''] if path.coll else None)
        if not other:
            return self.with_constant(cls)
        return f'{self.side(path)} {self.operator()}{self.fold(12) if path.type == "string" and other.type == "string" and 0 else ""} {self.side(other)}'

    def elements(self, kind, path, count=None, stranger=5):
        """The elements of a list for values of a type; the first has just that type."""
        count = self.r.choice([1, 1, 2, 2, 3, 3, 4, 6]) if count is None else count
        values = [self.value(kind, path) for _ in range(count)]
        if count > 1 and self.chance(10):
            values[-1] = ('null', None)
        if count > 1 and self.chance(stranger) and kind in NUMBERS:
            values[-1] = self.value(self.pick(*NUMBERS))
        return values

    def whole_list(self, path):
        pool = self.data.lists.get((path.owner, path.name))
        if pool and self.chance(50):
            return self.r.choice(pool)
        return self.elements(path.type, path)

    def listed(self, values, share=20, quantifier=0):
        """A list as a literal or as an argument."""
        front = self.pick('ANY ', 'ALL ', 'NONE ', 'SOME ', 'ANY ') if self.chance(quantifier) else ''
        if self.chance(share):
            return front + self.argument(('list', tuple(values)))
        return front + '{' + ', '.join(self.spelled(v, 8, True) for v in values) + '}'

    def in_list(self, cls):
        path = self.path(cls, colls=[''] if self.chance(75) else None)
        fold = self.fold(10) if path.type == 'string' else ''
        values = self.whole_list(path) if path.coll in ('list', 'set') and self.chance(50) else self.elements(path.type, path)
        if self.chance(3):
            values = []
        quantifier = self.quantifier(path, 60)
        if path.many and not quantifier and self.chance(50):
            return f'{path.text} {self.pick("IN", "==")}{fold} {self.pick("ANY", "SOME")} {self.listed(values)}'
        return f'{quantifier}{path.text} {self.word("IN")}{fold} {self.listed(values)}'

    def in_collection(self, cls):
        """A value, or a property, in a collection."""
        path = self.path(cls, colls=['list', 'set', 'dict'])
        if not path:
            return self.in_list(cls)
        path.many = True
        op = self.pick('IN', 'IN', 'in', '==')
        if self.chance(60):
            return f'{self.constant(path.type, path)} {op} {self.side(path, 20)}'
        kinds = NUMBERS if path.type in NUMBERS else (path.type,)
        other = self.path(cls, kinds, [''])
        return f'{other.text} {op} {self.side(path, 20)}' if other and not other.many else self.in_list(cls)

    def list_comparison(self, cls):
        """Operators other than IN with a list of constants."""
        path = self.path(cls)
        op = self.pick('==', '!=', '==', '!=', '==') if self.chance(70) else self.operator()
        values = self.whole_list(path) if path.many else self.elements(path.type, path)
        if op not in ('==', '!=', '=', '<>'):
            values = values[:2]
        if self.chance(4):
            values = []
        constant = self.listed(values, 20, 25)
        if self.chance(15):
            return f'{constant} {op} {self.side(path, 25)}'
        return f'{self.side(path, 25)} {op} {constant}'

    def between(self, cls):
        path = self.path(cls, ('int', 'float', 'double', 'decimal', 'timestamp', 'string', 'mixed', 'int', 'int', 'timestamp'), colls=[''] if self.chance(75) else None)
        if not path:
            return self.with_constant(cls)
        low, high = self.value(path.type, path), self.value(path.type, path)
        if path.type == 'decimal':
            order = [decimal_parts(v[1]) if v[0] == 'decimal' else None for v in (low, high)]
            swap = None not in order and (-1) ** order[0][0] * order[0][1] * 10 ** (order[0][2] + 10) > (-1) ** order[1][0] * order[1][1] * 10 ** (order[1][2] + 10)
        else:
            swap = low[0] == high[0] and low[1] is not None and low[1] > high[1]
        if swap and self.chance(95):
            low, high = high, low
        quantifier = self.quantifier(path, 40)
        if path.coll:
            quantifier = 'ALL ' if self.chance(95) else ''
        return f'{quantifier}{path.text} {self.word("BETWEEN")} {{{self.spelled(low)}, {self.spelled(high)}}}'

    def piece(self, kind, path):
        """A part of a text in the data, perhaps in another letter case."""
        text = self.value(kind, path)[1]
        if text and self.chance(75):
            if self.chance(50):
                text = text[:self.r.randrange(len(text)) + 1] if self.chance(50) else text[self.r.randrange(len(text)):]
            else:
                at = self.r.randrange(len(text))
                text = text[at:at + self.r.randrange(1, 4)]
        if kind == 'string':
            return text.swapcase() if self.chance(15) else text
        return text

    def pattern(self, kind, path):
        text = self.value(kind, path)[1] if self.chance(80) else self.fresh(kind)[1]
        letters = list(text) if kind == 'string' else [bytes([b]) for b in text]
        star, one = ('*', '?') if kind == 'string' else (b'*', b'?')
        for i in range(len(letters)):
            if self.chance(15):
                letters[i] = one
        if self.chance(80):
            a = self.r.randrange(len(letters) + 1)
            letters[a:min(len(letters), a + self.r.randrange(8))] = [star]
        if self.chance(50):
            letters[self.r.randrange(len(letters) + 1):] = [star]
        joined = ('' if kind == 'string' else b'').join(letters)
        return joined.swapcase() if kind == 'string' and self.chance(10) else joined

    def text_operator(self, cls):
        path = self.path(cls, ('string', 'string', 'string', 'binary', 'mixed'))
        if not path:
            return self.with_constant(cls)
        op = self.pick('BEGINSWITH', 'ENDSWITH', 'CONTAINS', 'LIKE')
        kind = path.type if path.type != 'mixed' else self.pick('string', 'string', 'binary')
        fold = self.fold(35)
        if self.chance(3):
            constant = self.spelled(('null', None))
        elif self.chance(3):
            constant = self.spelled((kind, '' if kind == 'string' else b''))
        elif op == 'LIKE':
            constant = self.spelled((kind, self.pattern(kind, path)))
        else:
            constant = self.spelled((kind, self.piece(kind, path)))
        if fold and kind == 'binary':  # the reference folds well-formed UTF-8 only
            fold = '' if '$' in constant or 'B64' in constant else fold
        if self.chance(6):
            other = self.path(cls, (kind,), [''])
            if other:
                return f'{self.side(path)} {self.word(op)}{fold} {other.text}'
        if self.chance(6) and not path.coll:
            return f'{constant} {self.word(op)}{fold} {path.text}'
        if self.chance(5):
            return f'{self.side(path, 40)} {self.word(op)}{fold} {self.listed([(kind, self.piece(kind, path)) for _ in range(self.r.randrange(1, 4))], 20, 30)}'
        return f'{self.side(path)} {self.word(op)}{fold} {constant}'

    def full_text(self, cls):
        prefix = {'Str': [''], 'All': ['link.', 'l_link.', 'h_link.', 'self.link.', 'self.l_link.', "h_link['k3'].", 'l_link[0].'],
                  'Emb': ['@links.All.emb.link.'], 'NoPk': [], 'Oid': [], 'Uid': [], 'Emb2': []}[cls]
        if not prefix:
            return self.text_operator(cls)
        words = [self.r.choice(WORDS_OF_TEXT) for _ in range(self.r.choice([1, 1, 1, 2, 2, 3]))]
        if self.chance(10):
            words = [w for w in self.value('string')[1].split() if w] or ['fox']
        text = ('  ' if self.chance(5) else ' ').join(dict.fromkeys(words))
        if self.chance(3):
            text = self.pick('', 'fox,brown', 'fox -fox', '-', ' ', 'quick.brown', '*')
        return f'{self.start()}{self.r.choice(prefix)}text {self.word("TEXT")} {self.spelled(("string", text))}'

    def link_path(self, cls, colls=None):
        start = self.start()
        for attempt in range(6):
            prefix, owner, many, taken = self.hops(cls, 1 if attempt < 5 else 0)
            options = [(p[0], p[4], p[2]) for p in PROPERTIES[owner] if p[1] == 'link' and p[2] != 'back' and (colls is None or p[2] in colls)]
            if options:
                name, target, coll = self.r.choice(options)
                return Path(start + prefix + name, 'link', coll, True, target, many, not taken, owner, name)
        return None

    def object(self, target, share=35):
        """A constant for an object of a class."""
        keys = self.data.keys.get(target)
        count = self.data.counts.get(target, 20) or 1
        if self.chance(share) or target in ('Emb', 'Emb2', 'NoPk') and self.chance(90):
            return self.argument(('link', (target, self.r.randrange(count))))
        if target in ('Emb', 'Emb2', 'NoPk') or self.chance(15):
            return f'O{self.r.randrange(count * 2)}'
        name = target if self.chance(90) else 'class_' + target
        if keys:
            return f'{self.pick("obj", "OBJ")}("{name}", {self.spelled(self.r.choice(keys), 20)})'
        key = {'All': ('int', self.r.randrange(400)), 'Str': ('string', f'key-{self.r.randrange(200)}')}.get(target) or self.fresh('oid' if target == 'Oid' else 'uuid')
        return f'obj("{name}", {self.spelled(key, 20)})'

    def links(self, cls):
        path = self.link_path(cls)
        if not path:
            return self.counting(cls)
        if path.coll == 'dict' and self.chance(50):
            path.text += self.keyed()
            path.coll, path.many = '', False
        op = self.pick('==', '!=', '==', '=')
        k = self.r.randrange(20)
        if k < 5 and not path.coll and not path.many:
            return f'{path.text} {op} {self.spelled(("null", None))}'
        if k < 7:
            other = self.link_path(cls)
            if other and other.target == path.target:
                return f'{self.side(path)} {op} {self.side(other)}'
        if k < 11:
            quantifier = self.quantifier(path, 70)
            some = [self.object(path.target, 10) for _ in range(self.r.choice([1, 2, 2, 3]))]
            if self.chance(25):
                count = self.data.counts.get(path.target, 20) or 1
                chosen = self.argument(('list', tuple(('link', (path.target, self.r.randrange(count))) for _ in some)))
            else:
                chosen = '{' + ', '.join(some) + '}'
            return f'{quantifier}{path.text} {self.word("IN")} {chosen}'
        if k == 11:
            return f'{self.object(path.target)} {self.pick("==", "!=", "IN") if path.many else "=="} {self.side(path)}'
        return f'{self.side(path)} {op} {self.object(path.target)}'

    def count_word(self):
        return self.pick('.@count', '.@count', '.@size', '[SIZE]', '.@count', '[size]')

    def counting(self, cls):
        start = self.start()
        k = self.r.randrange(20)
        if k < 2:
            text = start + self.pick('@links.@count', '@links.@size')
        elif k < 5 and BACKLINKS[cls]:
            text = start + self.r.choice(BACKLINKS[cls])[0] + self.pick('.@count', '.@size')
        elif k < 9 and (path := self.link_path(cls)):
            text = path.text + self.count_word()
        elif k < 18 and (path := self.path(cls, ('int', 'bool', 'string', 'binary', 'timestamp', 'double', 'decimal', 'uuid', 'oid', 'mixed'), ['list', 'set', 'dict'], 3, self.chance(4))):
            text = path.text + self.count_word()
        elif path := self.path(cls, ('string', 'binary', 'mixed') if self.chance(20) else ('string', 'binary'), [''], 3, False):
            text = path.text + self.count_word()
        elif BACKLINKS[cls]:
            text = start + self.r.choice(BACKLINKS[cls])[0] + '.@count'
        else:
            text = start + '@links.@count'
        if self.chance(2):
            text = self.pick('ANY ', 'ALL ', 'NONE ') + text
        right = self.spelled(('int', self.r.choice([0, 0, 1, 1, 2, 2, 3, 4, 5, 9])))
        if self.chance(4):
            right = self.pick('null', '1.5', '2.0', "'2'", 'inf', '2.5f')
        elif self.chance(6):
            other = self.path(cls, ('int',), [''])
            right = other.text if other else right
        if self.chance(10):
            return f'{right} {self.operator()} {text}'
        return f'{text} {self.operator()} {right}'

    def aggregated(self, cls, just_text=False):
        op = self.pick('@min', '@max', '@sum', '@avg')
        start = self.start()
        if self.chance(55) and (path := self.path(cls, (*NUMBERS, 'mixed'), ['list', 'set', 'dict'], 3, False)):
            kind, text, target = path.type, f'{path.text}.{op}', path
        else:
            for _ in range(6):
                prefix, owner, many, taken = self.hops(cls, 1)
                options = [(p[0], p[4]) for p in PROPERTIES[owner] if p[1] == 'link'] + BACKLINKS[owner]
                if options:
                    break
            else:
                return '0' if just_text else self.with_constant(cls)
            name, reached = self.r.choice(options)
            kinds = (*NUMBERS, 'mixed') if op in ('@sum', '@avg') else (*NUMBERS, 'mixed', 'timestamp')
            p = self.r.choice([p for p in PROPERTIES[reached] if p[1] in kinds and not p[2]])
            kind, text = p[1], f'{start}{prefix}{name}.{op}.{p[0]}'
            target = Path(text, kind, '', True, None, False, False, reached, p[0])
        if just_text:
            return text
        if op == '@avg' and kind in ('int', 'float'):
            kind = 'double'
        if self.chance(12):
            constant = self.spelled(('null', None))
        elif op == '@sum' and self.chance(25):
            constant = '0'
        elif self.chance(8):
            other = self.path(cls, NUMBERS, [''])
            constant = other.text if other and not other.many else '1'
        else:
            constant = self.constant(kind, target)
        if self.chance(10):
            return f'{constant} {self.operator()} {text}'
        return f'{text} {self.operator()} {constant}'

    def subquery(self, cls):
        start = self.start()
        for _ in range(6):
            prefix, owner, many, taken = self.hops(cls, 1)
            if taken and (']' in prefix or '@values' in prefix):
                prefix, owner = '', cls
            options = [(p[0], p[4]) for p in PROPERTIES[owner] if p[1] == 'link' and p[2] in ('list', 'back')] + BACKLINKS[owner]
            if options:
                break
        else:
            return self.with_constant(cls)
        name, target = self.r.choice(options)
        variable = '$' + 'xyzabcd'[len(self.variables)] + self.pick('', '', '1', 'bc') if self.chance(90) else f'$obj{len(self.variables)}'
        self.variables.append(variable)
        inside = self.predicate(target, 2)
        self.variables.pop()
        return (f'{self.word("SUBQUERY")}({start}{prefix}{name}, {variable}, {inside}){self.pick(".@count", ".@count", ".@size")} '
                f'{self.operator()} {self.spelled(("int", self.r.choice([0, 0, 0, 0, 1, 1, 2, 3])))}')

    def expression(self, cls, depth):
        k = self.r.randrange(10)
        if depth and k < 4:
            a, b = self.expression(cls, depth - 1), self.expression(cls, depth - 1)
            inner = f'{a} {self.pick("+", "-", "*", "/")} {b}'
            return f'({inner})' if self.chance(60) else inner
        if k < 6:
            return self.spelled(self.value(self.pick('int', 'int', 'int', 'double', 'float', 'decimal')) if self.chance(40) else ('int', self.r.randrange(1, 5)), 15)
        if k == 6 and self.chance(40):
            text = self.aggregated(cls, True)
            return text
        path = self.path(cls, NUMBERS if self.chance(92) else ('mixed',), [''], 2, False)
        return path.text if path and not path.many else self.path(cls, NUMBERS, [''], 0, False).text if cls != 'Uid' else 'v'

    def arithmetic(self, cls):
        a = self.path(cls, NUMBERS if self.chance(92) else ('mixed',), [''] if self.chance(85) else ['', 'list', 'set'], 2, False)
        if not a:
            return self.with_constant(cls)
        left = f'{self.side(a, 30)} {self.pick("+", "-", "*", "/")} {self.expression(cls, self.r.choice([0, 0, 1, 2]))}'
        if a.many and self.chance(90):  # no second list
            left = f'{self.side(a, 30)} {self.pick("+", "-", "*", "/")} {self.literal(("int", self.r.randrange(1, 9)))}'
        if self.chance(65):
            right = self.constant(self.pick('int', 'int', 'double', 'decimal'), a)
        elif self.chance(50) and not a.many:
            right = self.expression(cls, 1)
        else:
            other = self.path(cls, NUMBERS, [''], 2, False)
            right = other.text if other and not other.many else '1'
        return f'{left} {self.operator()} {right}'

    def typed(self, cls):
        path = self.path(cls, ('mixed',), None, 2)
        if not path or '@keys' in path.text or '@values' in path.text:
            path = cls == 'All' and Path(self.start() + self.pick('m', 'l_m', 'h_m', 'e_m', 'm', "h_m['k1']", 'l_m[0]'), 'mixed')
            if not path:
                return self.with_constant(cls)
            path.many = path.text.endswith(('l_m', 'h_m', 'e_m'))
        name = lambda: ('string', self.r.choice(TYPE_NAMES) if self.chance(85) else self.r.choice(TYPE_NAMES).capitalize())
        if self.chance(20):
            return f'{self.side(path)}.@type {self.pick("IN", "==")} {self.listed([name() for _ in range(self.r.randrange(1, 4))], 0)}'
        if self.chance(8) and cls == 'All':
            return f'{self.side(path)}.@type {self.pick("==", "!=")} {self.pick("m", "l_m", "h_m", "i", "s", "u")}.@type'
        return f'{self.side(path)}.@type {self.pick("==", "!=", "==")} {self.spelled(name(), 10)}'

    def length(self, cls):
        path = self.path(cls, ('string', 'binary', 'mixed'), ['list'], 2, False)
        if not path:
            return self.with_constant(cls)
        return f'{self.side(path)}.{self.pick("length", "length", "LENGTH", "Length")} {self.operator()} {self.spelled(("int", self.r.randrange(20)))}'

    def by_argument(self, cls):
        """The key path itself as an argument."""
        if self.variables:
            return self.with_constant(cls)
        path = self.path(cls, None, None, 2, False)
        if any(c in path.text for c in '[\\'):
            return self.with_constant(cls)
        number = self.argument(('string', path.text))[1:]
        return f'{self.quantifier(path)}$K{number} {self.operator()} {self.constant(path.type, path)}'

    def mixed(self, cls):
        """Comparisons of Mixed values, which would be rare by chance."""
        if cls != 'All':
            return self.with_constant(cls)
        path = self.path('All', ('mixed',), None, 1)
        k = self.r.randrange(10)
        if k < 5:
            return f'{self.side(path)} {self.operator()} {self.constant("mixed", path)}'
        if k < 7:
            return f'{self.side(path)} {self.operator()} {self.spelled(self.fresh(self.pick("int", "double", "float", "decimal", "bool", "string")))}'
        if k < 9:
            path.text += self.pick('[*]', '[0]', "['k1']", '[LAST]', '.k2', '[*][*]', '[*].k3', '[1][0]')
            return f'{self.pick("", "", "ANY ", "ALL ", "NONE ")}{path.text} {self.operator()} {self.constant("mixed", path)}'
        return f'{self.side(path)} {self.word("IN")} {self.listed(self.elements("mixed", path))}'

    def incomparable(self, cls):
        """A comparison of two types that may not be comparable."""
        path = self.path(cls)
        if self.chance(60):
            return f'{self.side(path)} {self.operator()} {self.spelled(self.fresh(self.r.choice(KINDS)))}'
        other = self.path(cls)
        return f'{self.side(path)} {self.operator()} {self.side(other)}'

    def comparison(self, cls):
        kind = self.weighted(with_constant=30, with_null=4, between_properties=6, in_list=8, in_collection=4, list_comparison=5, between=5,
                             text_operator=11, full_text=3, links=6, counting=7, aggregated=6, subquery=4, arithmetic=6, typed=3, length=1,
                             by_argument=1, mixed=5, incomparable=1, constant_predicate=1)
        if kind == 'subquery' and len(self.variables) > 1:
            kind = 'with_constant'
        return getattr(self, kind)(cls)

    def constant_predicate(self, cls):
        return self.word(self.pick('TRUEPREDICATE', 'FALSEPREDICATE'))

    def predicate(self, cls, depth):
        k = self.r.randrange(100)
        if not depth or k < 66:
            return self.comparison(cls)
        if k < 74:
            inner = self.predicate(cls, depth - 1)
            front = self.pick('NOT ', 'NOT ', 'not ', '!')
            if self.chance(40):
                return front + inner
            return f'{front}({inner})'
        joint = self.pick(' AND ', ' && ', ' and ', ' AND ') if k < 87 else self.pick(' OR ', ' || ', ' or ', ' OR ')
        parts = [self.predicate(cls, depth - 1) for _ in range(self.r.choice([2, 2, 2, 3]))]
        parts = [f'({p})' if self.chance(30) else p for p in parts]
        text = joint.join(parts) if self.chance(70) else parts[0] + ''.join(self.pick(' AND ', ' OR ') + p for p in parts[1:])
        return f'({text})' if self.chance(20) else text

    # Ordering -----------------------------------------------------------------------------------

    def order_path(self, cls):
        text = ''
        for _ in range(self.r.choices([0, 1, 2], [70, 24, 6])[0]):
            options = [(p[0], p[4]) for p in PROPERTIES[cls] if p[1] == 'link' and not p[2]]
            if not options:
                break
            name, cls = self.r.choice(options)
            text += name + '.'
        if cls == 'All' and self.chance(8):
            return text + self.pick('h_i', 'h_s', 'h_m') + self.pick("['k1']", "['k2']", '.k3', '["k4"]', "['k5']")
        options = [p for p in PROPERTIES[cls] if not p[2]]
        if self.chance(1.5):
            options = [p for p in PROPERTIES[cls]]
        common = [p for p in options if p[1] in ('int', 'bool', 'string', 'mixed')]
        return text + self.r.choice(common if common and self.chance(40) else options)[0]

    def ordering(self, cls):
        text = ''
        for _ in range(self.r.choices([1, 2, 3, 4], [55, 30, 12, 3])[0]):
            kind = self.pick('sort', 'sort', 'distinct', 'limit')
            if kind == 'sort':
                keys = [f'{self.order_path(cls)} {self.pick("ASC", "DESC", "asc", "desc", "ASCENDING", "Descending")}'
                        for _ in range(self.r.choice([1, 1, 2, 3]))]
                text += f' {self.word("SORT")}({", ".join(keys)})'
            elif kind == 'distinct':
                text += f' {self.word("DISTINCT")}({", ".join(self.order_path(cls) for _ in range(self.r.choice([1, 1, 2])))})'
            else:
                text += f' {self.word("LIMIT")}({self.r.choice([1, 2, 3, 5, 8, 20, 100, 1000])})'
        if self.chance(2):  # an empty one before other clauses may crash the reference
            text += ' LIMIT(0)'
        return text

    # Wrong queries ------------------------------------------------------------------------------

    def mutated(self, text):
        """A text with a small change."""
        chars = list(text)
        at = self.r.randrange(len(chars))
        k = self.r.randrange(5)
        if k == 0:
            del chars[at]
        elif k == 1:
            chars.insert(at, self.r.choice('()[]{}.,$@"\'=<>!&|+-*/ 0a#`~^é\\'))
        elif k == 2:
            chars[at] = self.r.choice('()[]{}.,$@"\'=<>!&|+-*/ 0a#`~^%;')
        elif k == 3:
            words = text.split(' ')
            del words[self.r.randrange(len(words))]
            return ' '.join(words)
        else:
            words = text.split(' ')
            at = self.r.randrange(len(words))
            words.insert(at, self.r.choice(words))
            return ' '.join(words)
        return ''.join(chars)

    def wrong(self, cls):
        single = self.path(cls, None, [''], 0, False)
        any_path = self.path(cls)
        other = self.pick(*KINDS)
        unknown = self.pick('nope', 'Id', 'i_', 'links', '_', 'ｉ')
        k = self.r.randrange(34)
        if k == 0:
            return f'{unknown} == {self.constant("int")}'
        if k == 1:
            return f'{any_path.text}.{unknown} == {self.constant("int")}'
        if k == 2:
            return f'{self.side(any_path)} {self.operator()} {self.spelled(self.fresh(other), 40)}'
        if k == 3:
            return f'{any_path.text} {self.operator()} ${self.r.randrange(1, 5) + len(self.args)}'
        if k == 4:
            return self.pick(f'{any_path.text} ==', f'== {any_path.text}', f'{any_path.text}', f'({any_path.text} == 1', '', ' ', '1', f'{any_path.text} == 1 AND',
                             f'{any_path.text} == 1 {any_path.text} == 2', f'OR {any_path.text} == 1', 'NOT', f'{any_path.text} === 1', f'{any_path.text} ! = 1')
        if k == 5:
            return self.pick('1 == 1', 'true == false', "'a' == 'a'", 'null == null', '1 + 1 == 2', '{1} == 1', '1 IN {1, 2}', '$0 == 1' if self.args else '5 > 4')
        if k == 6:
            return self.pick(f'ANY {single.text} == {self.constant(single.type, single)}', f'ALL {single.text} IN {{1}}', f'NONE {single.text} < 5')
        if k == 7:
            return self.pick(f'{single.text} BETWEEN {{1}}', f'{single.text} BETWEEN {{1, 2, 3}}', f'{single.text} BETWEEN (1, 2)', f'{single.text} BETWEEN 1',
                             f'{single.text} BETWEEN {{}}', f'{single.text} BETWEEN {{{self.exact(other)}, {self.exact(other)}}}'
                             if single.type not in ('int', 'timestamp') else f'{single.text} BETWEEN {{null}}')  # those read raw bits of other types
        if k == 8:
            return self.pick(f'{single.text} IN 1', f'{single.text} IN (1, 2)', f"{single.text} IN 'a'", f'{single.text} NOT IN {{1}}', f'{single.text} IN {{1,}}', f'{single.text} IN $0')
        if k == 9:
            return self.pick('TRUEPREDICATE SORT(nope ASC)', f'TRUEPREDICATE SORT({single.text})', f'TRUEPREDICATE DISTINCT({single.text} ASC)', 'TRUEPREDICATE LIMIT(-1)',
                             'TRUEPREDICATE LIMIT(1.5)', 'TRUEPREDICATE LIMIT()', f'SORT({single.text} ASC)', f'(TRUEPREDICATE SORT({single.text} ASC))', 'TRUEPREDICATE SORT()',
                             'TRUEPREDICATE DISTINCT()', 'TRUEPREDICATE DISTINCT(nope)', f'TRUEPREDICATE SORT({single.text}.x ASC)', 'TRUEPREDICATE SORT(@links.@count ASC)')
        if k == 10 and cls == 'All':
            return self.pick(f'TRUEPREDICATE {self.pick("SORT(l_i ASC)", "DISTINCT(l_s)", "SORT(l_link.n DESC)", "DISTINCT(h_i)", "SORT(e_i ASC)", "SORT(h_link.n ASC)")}')
        if k == 11:
            return f'{single.text}.{self.pick("@count", "@min", "@max", "@sum", "@avg", "@type", "@keys", "@values", "length", "@size")} == {self.pick("1", "null")}'
        if k == 12:
            return f'{single.text}{self.pick("[0]", "[LAST]", "[*]", chr(91) + chr(39) + "a" + chr(39) + chr(93), "[-1]", "[1.5]", "[SIZE]", "[a]", "[]")} == 1'
        if k == 13:
            return self.pick('@links.Nope.x.@count == 0', '@links.All.nope.@count == 0', '@links.All == 1', '@links == 1', '@links.class_All.self.@count == 0', '@links.Str.@count == 0')
        if k == 14:
            path = self.path(cls, ('string',))
            return f'{path.text if path else single.text} {self.pick("CONTAINS", "BEGINSWITH", "LIKE", "ENDSWITH")}{self.fold()} {self.pick("1", "true", "T1:1", "2.5", "i", "b", "t")}'
        if k == 15:
            return f'{single.text} {self.pick("+", "-", "*", "/")} {self.exact(other)} == {self.exact(other)}'
        if k == 16:
            path = self.path(cls, ('string',), [''], 1)
            return f"{path.text if path else 'm'} {self.pick('TEXT', 'TEXT[c]')} 'fox'" if path or cls == 'All' else 'v == '
        if k == 17 and cls == 'All':
            return self.pick('SUBQUERY(l_i, $x, $x > 1).@count > 0', 'SUBQUERY(link, $x, $x.n > 1).@count > 0', 'SUBQUERY(l_link, x, x.n > 1).@count > 0',
                             'SUBQUERY(l_link, $x, $y.n > 1).@count > 0', 'SUBQUERY(l_link, $x, $x.n > 1) > 0', 'SUBQUERY(l_link, $x, $x.n > 1).@sum > 0',
                             'SUBQUERY(h_link, $x, $x.n > 1).@count > 0', 'SUBQUERY(nope, $x, $x.n > 1).@count > 0', 'SUBQUERY(l_link, $x, $x.nope > 1).@count > 0',
                             'SUBQUERY(l_link, $x, $x.n > 1).count > 0', 'SUBQUERY(l_link, $x, i > 1).@count > 0')
        if k == 18 and cls == 'All':
            return self.pick("link == 5", "link > link", 'link == obj("Nope", 1)', 'link == ' + self.object('All', 0), "l_link == null", "link.@sum.text == 1", "l_link.n.@min == 1", "l_link[0] == null",
                             'self == ' + self.object('Str', 0), "link == 'a'", 'l_link == 1', 'link == {1}', 'emb == 1', 'link < null', 'l_link > {O1}', 'link BEGINSWITH "a"')
        if k == 19 and cls == 'All':
            return self.pick('l_i == l_in', 'ANY l_i == ANY e_i', 'l_i BETWEEN {1, 2}', 'l_s.@min == 1', 'l_i.@min.x == 1', 'h_i == l_i', 'e_i == l_i', 'l_m == h_m', 'e_i[0] == 1')
        if k == 20:
            return f'm.@type {self.pick("== 5", "> " + chr(39) + "int" + chr(39), "== " + chr(39) + "nope" + chr(39), "== null", "BEGINSWITH " + chr(39) + "i" + chr(39), "IN {5}")}' if cls == 'All' else f'{single.text}.@type == \'int\''
        if k == 21:
            return f'{single.text} == {self.pick("inf", "-inf", "nan", "uuid(1)", "oid(12)", "T1:-5", "T-1:5", "1899-01-01T00:00:00", "2020-01-01", "B64" + chr(34) + "Q" + chr(34), "O1", "L1:1", "99999999999999999999", "1.5F", "0x", "1e", "$a", "$", chr(34) + chr(92) + "q" + chr(34), "OBJ(1)", "binary(5)", "UUID(00000000-0000-0000-0000-000000000000)")}'
        if k == 22:
            bad = self.argument(self.pick(('int', 5), ('null', None), ('string', 'nope'), ('string', 'nope.x'), ('list', (('string', single.text),))))
            return f'$K{bad[1:]} == 1'
        if k == 23:
            return f'{single.text} == {self.pick("Not", "Any", "True", "First")} '
        if k == 24:
            return f'{single.text} == {self.argument(("list", (self.value(single.type, single) if single.type != "mixed" else ("int", 1),)))}'
        if k == 25:
            return f'{single.text} {self.pick("==", "IN")}[c] {self.constant(single.type, single)}'
        if k == 26:
            return f'{single.text} GEOWITHIN {self.pick("geoCircle([1.0, 2.0], 0.5)", "geoBox([1.0, 2.0], [3.0, 4.0])", "$0")}'
        if k == 27:
            return f'{single.text} {self.pick("and", "=>=", "<>=", "!<", "LIKES", "MATCHES", "= =", "=!", "IS", "IS NOT")} {self.constant(single.type, single)}'
        text = self.predicate(cls, 1)
        return self.mutated(text) if text else text

    # The whole ----------------------------------------------------------------------------------

    def query(self):
        while True:
            self.args, self.variables = [], []
            cls = self.r.choice(self.classes)
            if self.chance(self.wrong_share):
                text = self.wrong(cls)
            else:
                text = self.predicate(cls, 3)
                if self.chance(22):
                    text += self.ordering(cls)
            if not any(c in text for c in '\t\n\r\0') and len(text) < 4000:
                return cls, text, '[' + ','.join(self.json(a) for a in self.args) + ']'

    def json(self, value):
        kind, x = value
        if kind == 'null':
            return 'null'
        if kind == 'list':
            return '[' + ','.join(self.json(v) for v in x) + ']'
        tag = {'string': 'str', 'binary': 'bin', 'timestamp': 'ts', 'float': 'flt', 'double': 'dbl', 'decimal': 'dec'}.get(kind, kind)
        if kind == 'binary':
            x = x.hex()
        elif kind in ('float', 'double'):
            x = repr(x)
        elif kind in ('timestamp', 'link'):
            x = list(x)
        return json.dumps({tag: x}, ensure_ascii=False, separators=(',', ':'))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seed', type=int, required=True)
    parser.add_argument('--count', type=int, required=True)
    parser.add_argument('--classes', help='comma-separated; all when not given')
    parser.add_argument('--data', help='dump of the file that will be queried')
    parser.add_argument('--wrong', type=float, default=10, help='percent of wrong queries')
    options = parser.parse_args()
    classes = options.classes.split(',') if options.classes else None
    generator = Generator(options.seed, Data(options.data), classes, options.wrong)
    sys.stdout.reconfigure(encoding='utf-8')
    for _ in range(options.count):
        print(*generator.query(), sep='\t')


if __name__ == '__main__':
    main()
