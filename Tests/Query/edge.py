#!/usr/bin/env python3
"""Plans a file of edge values for the queries: few different values, so that many comparisons are equal.

    edge.py SEED SCRIPT DUMP.json

Writes the script for fill.c and a dump of the resulting file, for generate.py --data. NaN, infinities, both zeros,
decimals of equal value and different digits, texts that differ in case or accents only, patterns, numbers as text, the
same bytes as text and as binary, timestamps a nanosecond apart, extreme integers, links in Mixed values, nested
collections, cycles of links, null in every nullable place. The script removes nothing: no list was filled and
cleared."""
import json
import random
import sys

INTS = [-7, -1, 0, 0, 1, 1, 2, 3, 5, 8, 30, 36, 1 << 53, (1 << 53) + 1, (1 << 63) - 1, -(1 << 63)]
STRINGS = ['a', 'A', 'b', 'B', 'ab', 'aB', 'Ab', 'aa', 'abc', 'é', 'É', 'e', 'ß', 'ÿ', 'æ', 'Æ', 'Ω', 'ω', '日本', '', '5', '10', '1e1', 'a*b?c', 'x y',
           '*', '?', 'key-1', 'k1', 'z', 'Z', 'été', 'ÉTÉ', "it's", 'emoji 😀', 'alpha', 'ALPHA', 'int', 'a\\b']
TEXTS = ['The Quick brown fox', 'the quick, brown FOX jumps', 'über café', 'Uber CAFE', 'søren', 'soren', 'straße', 'STRASSE', 'fox', 'foxes', 'quick-fox', '日本 fox',
         '', 'naïve fiancé', 'ÿes no', 'a b c d', 'alpha beta', 'beta alpha', 'gamma 3x7', 'Ærøskøbing', '×÷', 'emoji 😀 z']
BINARIES = [s.encode() for s in STRINGS] + [b'\0', b'\xff', b'\xe6\x97', b'\xc3\x89', b'a\0b', b'\xe9']
TIMES = [(0, 0), (0, 1), (0, -1), (1, 0), (1, 5), (-1, 0), (-1, -500000000), (1577836800, 0), (1577836800, 5), (1577836800, 999999999), (-1577836800, -1), (5, 0)]
FLOATS = ['0.0', '-0.0', '1.5', '0.10000000149011612', 'inf', '-inf', 'nan', '2.0', '-2.5', '16777216.0', '3.0', '1.0', '5.0']
DOUBLES = ['0.0', '-0.0', '1.5', '0.1', '0.10000000149011612', 'inf', '-inf', 'nan', '2.0', '2.5', '1e+300', '9007199254740992.0', '3.0', '1.0', '5.0', '-1e-05']
IDS = ['000000000000000000000000', '000000000000000000000001', 'ffffffffffffffffffffffff', '5f0000000000000000000000', '5f0000000000000000000001']
UUIDS = ['0' * 32, '0' * 31 + '1', 'f' * 32, '5f' + '0' * 30]


def decimal(digits, exponent=0, negative=False):
    return f'{(negative << 63 | (exponent + 6176) << 49 | digits >> 64):016x}{digits & (1 << 64) - 1:016x}'


DECIMALS = [decimal(0), decimal(0, 0, True), decimal(15, -1), decimal(150, -2), decimal(1, -1), decimal(1, 3), decimal(1000), decimal(2), decimal(25, -1, True), decimal(5),
            decimal((1 << 53) + 1), decimal(1, -20), decimal(10 ** 33 + 1, -20), decimal(1), decimal(3), decimal(1, -1, True),
            '7c' + '0' * 30, '78' + '0' * 30, 'f8' + '0' * 30]


class Plan:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines, self.classes = [], {c: [] for c in ('All', 'Str', 'Emb', 'Emb2', 'NoPk', 'Oid', 'Uid')}

    def scalar(self, kind, null=0):
        """A value as JSON for arguments of the driver, and as in a dump."""
        r = self.r
        if null and r.random() < 0.2:
            return None, None
        if kind == 'mixed':
            kind = r.choice(['int', 'int', 'bool', 'string', 'string', 'binary', 'timestamp', 'float', 'double', 'decimal', 'oid', 'uuid'])
        if kind == 'int':
            x = r.choice(INTS)
            return {'int': x}, x
        if kind == 'bool':
            x = r.random() < 0.5
            return {'bool': x}, x
        if kind == 'string':
            x = r.choice(STRINGS)
            return {'str': x}, x
        x = r.choice({'binary': BINARIES, 'timestamp': TIMES, 'float': FLOATS, 'double': DOUBLES, 'decimal': DECIMALS, 'oid': IDS, 'uuid': UUIDS}[kind])
        if kind == 'binary':
            x = x.hex()
        if kind == 'timestamp':
            x = list(x)
        tag = {'binary': 'bin', 'timestamp': 'ts', 'float': 'flt', 'double': 'dbl', 'decimal': 'dec'}.get(kind, kind)
        return {tag: x}, {'$' + tag: x}

    def link(self, target, null=0):
        count = len(self.classes[target])
        if not count or (null and self.r.random() < 0.25):
            return None, None
        x = [target, self.r.randrange(count)]
        return {'link': x}, {'$link': x}

    def mixed(self, depth=0):
        r = self.r
        k = r.random()
        if depth < 3 and k < (0.3 if depth == 0 else 0.2):
            items = [self.mixed(depth + 1) for _ in range(r.randrange(4))]
            return [a for a, _ in items], [b for _, b in items]
        if depth < 3 and k < (0.55 if depth == 0 else 0.35):
            items = {f'k{r.randrange(5)}': self.mixed(depth + 1) for _ in range(r.randrange(4))}
            return {'dict': {k: v[0] for k, v in items.items()}}, {k: v[1] for k, v in items.items()}
        if k > 0.92:
            return self.link(r.choice(['Str', 'Str', 'All', 'NoPk']), 0)
        return self.scalar('mixed', 1)

    def new(self, cls, key, name=None):
        self.lines.append(f'new\t{cls}\t{json.dumps(key[0], ensure_ascii=False, separators=(",", ":")) if key else "-"}')
        self.classes[cls].append({name: key[1]} if key else {})
        return len(self.classes[cls]) - 1

    def set(self, cls, number, name, value):
        self.lines.append(f'set\t{cls}\t{number}\t{name}\t{json.dumps(value[0], ensure_ascii=False, separators=(",", ":"))}')
        self.classes[cls][number][name] = value[1]

    def embed(self, cls, number, name, target):
        self.lines.append(f'embed\t{cls}\t{number}\t{name}\t{target}')
        self.classes[target].append({})
        return len(self.classes[target]) - 1

    def embedded(self, number, name):
        e = self.embed('All', number, name, 'Emb')
        self.set('Emb', e, 'x', self.scalar('int'))
        self.set('Emb', e, 'name', self.scalar('string', 1))
        if self.r.random() < 0.6:
            self.set('Emb2', self.embed('Emb', e, 'child', 'Emb2'), 'x', self.scalar('int'))

    def make(self, properties):
        r = self.r
        for i in range(16):
            n = self.new('Str', ({'str': f'key-{i}'}, f'key-{i}') if i < 12 else ({'str': STRINGS[i]}, STRINGS[i]), 'key')
            self.set('Str', n, 'n', self.scalar('int'))
            text = r.choice(TEXTS)
            self.set('Str', n, 'text', ({'str': text}, text))
        for i in range(10):
            self.new('NoPk', None)
        for i in range(10):
            self.set('NoPk', i, 'v', self.scalar('int'))
            self.set('NoPk', i, 'w', self.scalar('string'))
            self.set('NoPk', i, 'next', self.link('NoPk', 1))
        for x in IDS:
            self.set('Oid', self.new('Oid', ({'oid': x}, {'$oid': x}), '_id'), 'v', self.scalar('int'))
        for x in UUIDS:
            self.set('Uid', self.new('Uid', ({'uuid': x}, {'$uuid': x}), '_id'), 'v', self.scalar('int'))
        keys = list(range(-2, 78))
        r.shuffle(keys)
        for key in keys:
            self.new('All', ({'int': key}, key), 'id')
        for number in range(len(keys)):
            for name, kind, coll, nullable, *target in properties['All']:
                if name == 'id' or r.random() < 0.1:
                    continue
                if target and target[0] == 'Emb':
                    for _ in range(r.randrange(3) if coll else r.randrange(2)):
                        self.embedded(number, name)
                elif not coll:
                    self.set('All', number, name, self.link(target[0], 1) if target else self.mixed() if kind == 'mixed' else self.scalar(kind, nullable))
                else:
                    one = lambda: (self.link(target[0], nullable) if target else self.mixed(1) if kind == 'mixed' and coll != 'set' else
                                   self.link('Str', 0) if kind == 'mixed' and r.random() < 0.1 else self.scalar(kind, nullable))
                    count = r.choice([0, 1, 1, 2, 2, 3, 4])
                    if not count:
                        continue  # never filled
                    if coll == 'dict':
                        items = {f'k{r.randrange(12)}': one() for _ in range(count)}
                        self.set('All', number, name, ({'dict': {k: v[0] for k, v in items.items()}}, {k: v[1] for k, v in items.items()}))
                    else:
                        items = [one() for _ in range(count)]
                        self.set('All', number, name, ([a for a, _ in items], [b for _, b in items]))

    def dump(self):
        return {'classes': {c: {'count': len(objects), 'objects': objects} for c, objects in self.classes.items()}}


def write(seed, script, dump):
    import generate
    plan = Plan(seed)
    plan.make(generate.PROPERTIES)
    with open(script, 'w', encoding='utf-8') as stream:
        stream.write('\n'.join(plan.lines) + '\n')
    with open(dump, 'w', encoding='utf-8') as stream:
        json.dump(plan.dump(), stream, ensure_ascii=False)


if __name__ == '__main__':
    write(int(sys.argv[1]), sys.argv[2], sys.argv[3])
