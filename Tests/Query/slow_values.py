"""Values of queries, pairs of kind and content, and how two of them compare (query-language.md §5, §6, §11, §14).

('null', None) ('int', 5) ('bool', True) ('string', 'a') ('binary', b'a') ('timestamp', (seconds, nanoseconds))
('float', 1.5) ('double', 1.5) ('decimal', Decimal) ('oid', bytes) ('uuid', bytes) ('link', (class, object key))
('list', [values]) ('dict', [(key, value)])"""
import decimal
import math
import struct

NULL = ('null', None)
NUMBERS = ('int', 'float', 'double', 'decimal')
DIGITS = decimal.Context(prec=34, Emin=-6143, Emax=6144, rounding=decimal.ROUND_HALF_EVEN, traps=[])
RANK = {'null': 0, 'bool': 1, 'int': 2, 'float': 2, 'double': 2, 'decimal': 2, 'string': 3, 'binary': 4, 'timestamp': 5, 'oid': 6, 'uuid': 7,
        'link': 8, 'list': 9, 'dict': 10}


class NotCovered(Exception):
    """A query that this evaluator does not judge."""


def single(x):
    """A number in single precision."""
    try:
        return struct.unpack('f', struct.pack('f', x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def is_nan(value):
    return value[0] in NUMBERS and value[1] != value[1]


def exact(value, other):
    """A number in the form in which it is compared with one of another kind."""
    kind, x = value
    if other == 'decimal' and kind in ('float', 'double'):
        return decimal.Decimal(format(x, '.7g' if kind == 'float' else '.15g'))
    return x


def order(a, b):
    """-1, 0, 1, or None when the two are not comparable: rule E, for two values that are not null."""
    (k, x), (l, y) = a, b
    if k in NUMBERS and l in NUMBERS:
        if is_nan(a) or is_nan(b):
            return is_nan(b) - is_nan(a)
        x, y = exact(a, l), exact(b, k)
    elif k != l:
        return None
    elif k in ('list', 'dict'):
        return 0  # Any two lists are equal.
    return (x > y) - (x < y)


def compare(op, a, b, fold=False):
    """Rule E."""
    if op in ('beginswith', 'endswith', 'contains', 'like'):
        return text_matches(op, a, b, fold)
    if fold and op in ('==', '!=') and a[0] == b[0] and a[0] in ('string', 'binary'):
        return (folded(a) == folded(b)) == (op == '==')
    if a[0] == 'null' or b[0] == 'null':
        both = a[0] == b[0]
        return both if op in ('==', '<=', '>=') else not both if op == '!=' else False
    found = order(a, b)
    if a[0] == 'link' == b[0]:
        found = 0 if a[1] == b[1] else None
    if op == '!=':
        return found != 0
    return found is not None and {'==': found == 0, '<': found < 0, '<=': found <= 0, '>': found > 0, '>=': found >= 0}[op]


def compare_direct(op, a, b, fold=False):
    """Rule D: a property compared with a constant of exactly its type, or null."""
    if op in ('beginswith', 'endswith', 'contains') and b == NULL:
        return not (fold and op == 'contains' and a == NULL and fold == 'binary')
    if op == 'like' and b == NULL:
        return a == NULL
    if a[0] in ('float', 'double') and b[0] == a[0]:
        x, y = a[1], b[1]
        return {'==': x == y, '!=': x != y, '<': x < y, '<=': x <= y, '>': x > y, '>=': x >= y}[op]
    return compare(op, a, b, fold)


def compare_direct_text(op, a, b, fold=False):
    """Rule D for strings: null comes before every string."""
    if op in ('<', '<=', '>', '>='):
        x, y = [(v != NULL, v[1] or '') for v in (a, b)]
        return {'<': x < y, '<=': x <= y, '>': x > y, '>=': x >= y}[op]
    return compare_direct(op, a, b, fold)


# Text -------------------------------------------------------------------------------------------

LATIN = {c: c + 32 for c in [*range(65, 91), *range(0xC0, 0xDF)] if c != 0xD7}


def letters(value):
    """A text or binary as characters."""
    if value[0] == 'string':
        return value[1]
    try:
        return value[1].decode()
    except UnicodeDecodeError:
        raise NotCovered('[c] and LIKE on a binary that is not UTF-8') from None


def folded(value):
    return letters(value).translate(LATIN)


def text_matches(op, value, pattern, fold):
    if pattern[0] == 'null':
        return value[0] == 'null' if op == 'like' else op == 'contains' and value[0] != 'null'
    if value[0] not in ('string', 'binary') or value[0] != pattern[0]:
        return False
    if fold:
        x, y = folded(value), folded(pattern)
    elif op == 'like':
        x, y = letters(value), letters(pattern)
    else:
        x, y = value[1], pattern[1]
    if op == 'like':
        return like(x, y)
    return x.startswith(y) if op == 'beginswith' else x.endswith(y) if op == 'endswith' else y in x


def like(value, pattern):
    """The positions of the pattern that can be reached after each character; a star matches no character, or one and
    stays."""
    places = {0}
    for c in [*value, None]:
        reached, todo = set(), list(places)
        seen = set(todo)
        while todo:
            at = todo.pop()
            if at == len(pattern) or c is None:
                continue
            if pattern[at] == '*':
                reached.add(at)
                if at + 1 not in seen:
                    seen.add(at + 1)
                    todo.append(at + 1)
            elif pattern[at] in ('?', c):
                reached.add(at + 1)
        if c is None:
            break
        places = reached
    return any(pattern[at:] in ('', '*') for at in places)


ACCENTS = {}
for base, marked in {
        'a': 'àáâãäÀÁÂÃÄ', 'c': 'çÇ', 'e': 'èéêëÈÉÊË', 'i': 'ìíîïÌÍÎÏ',
        'n': 'ñÑ', 'o': 'òóôõöÒÓÔÕÖ', 'u': 'ùúûüÙÚÛÜ', 'y': 'ýÝ',
        'å': 'åÅ', 'æ': 'æÆ', 'ð': 'ðÐ', 'ø': 'øØ', 'þ': 'þÞ', 'ß': 'ß', '': '×÷'}.items():
    ACCENTS.update(dict.fromkeys(marked, base))


def words(text):
    """The tokens of a text for full-text search."""
    found, current = [], None
    for c in text + ' ':
        if c.isascii() and c.isalnum():
            current = (current or '') + c.lower()
        elif c in ACCENTS:
            current = (current or '') + ACCENTS[c] if current or ACCENTS[c] else current
        else:
            if current:
                found.append(current.encode()[:64])
            current = None
    return found


class FullText:
    """The terms of a search: words that must occur, words that must not, beginnings of words."""

    def __init__(self, text):
        self.wanted, self.excluded, self.beginnings, self.errors = set(), set(), set(), False
        parts = text.split()
        self.errors = not parts
        for part in parts:
            minus, word = part[0] == '-', part.lstrip('-') if part[0] == '-' else part
            star = word.endswith('*')
            found = words(word)
            if not found:
                raise NotCovered('a word for TEXT without a token')
            if len(found) > 1:
                self.errors = True
            if found:
                (self.excluded if minus else self.beginnings if star else self.wanted).add(found[0])
        self.errors |= bool(self.excluded & (self.wanted | self.beginnings))

    def matches(self, text):
        there = set(words(text))
        return self.wanted <= there and not self.excluded & there and all(any(w.startswith(b) for w in there) for b in self.beginnings)


# Arithmetic -------------------------------------------------------------------------------------

def as_decimal(value):
    kind, x = value
    return decimal.Decimal(format(x, '.7g' if kind == 'float' else '.15g')) if kind in ('float', 'double') else decimal.Decimal(x)


def whole(x):
    """An integer, or a decimal if it does not fit into 64 bits."""
    return ('int', x) if -(1 << 63) <= x < 1 << 63 else ('decimal', DIGITS.plus(decimal.Decimal(x)))


def calculate(op, a, b):
    """Null if either is no number."""
    if a[0] not in NUMBERS or b[0] not in NUMBERS:
        return NULL
    kind = max(a[0], b[0], key=NUMBERS.index)
    if kind == 'decimal':
        if 'float' in (a[0], b[0]) or 'double' in (a[0], b[0]):
            raise NotCovered('arithmetic between float and decimal')
        x, y = as_decimal(a), as_decimal(b)
        return (kind, {'+': DIGITS.add, '-': DIGITS.subtract, '*': DIGITS.multiply, '/': DIGITS.divide}[op](x, y))
    x, y = a[1], b[1]
    if kind == 'int':
        if op != '/':
            return whole(x + y if op == '+' else x - y if op == '-' else x * y)
        if y == 0:
            return (kind, -(1 << 63) if x < 0 else (1 << 63) - 1)
        return whole(abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1))
    narrow = single if kind == 'float' else float
    x, y = narrow(x), narrow(y)
    if op == '/' and y == 0:
        result = math.nan if x == 0 or x != x else math.copysign(math.inf, x) * math.copysign(1, y)
    else:
        result = x + y if op == '+' else x - y if op == '-' else x * y if op == '*' else x / y
    if result != result and x == x and y == y:
        raise NotCovered('a NaN that arithmetic makes: its sign is up to the processor')
    return (kind, narrow(result))


def aggregate(function, kind, values):
    """The aggregate of the values of a collection of type `kind`."""
    mixed = kind == 'mixed'
    values = [v for v in values if v[0] != 'null']
    if mixed:
        if any(v[0] in ('float', 'double') and is_nan(v) for v in values):
            raise NotCovered('NaN inside a Mixed collection in an aggregate')
        values = [v for v in values if not is_nan(v)]
        if function in ('@sum', '@avg'):
            values = [v for v in values if v[0] in NUMBERS]
    else:
        values = [v for v in values if not is_nan(v)]
    if function in ('@min', '@max'):
        if not values:
            return NULL
        best = values[0]
        for v in values[1:]:
            found = rank_order(v, best)
            if found < 0 and function == '@min' or found > 0 and function == '@max':
                best = v
        return best
    if mixed or kind == 'decimal':
        total = decimal.Decimal(0)
        for v in values:
            total = DIGITS.add(total, as_decimal(v))
        if function == '@sum':
            return ('decimal', total)
        return ('decimal', DIGITS.divide(total, decimal.Decimal(len(values)))) if values else NULL
    if function == '@sum' and kind == 'int':
        return whole(sum(v[1] for v in values))
    total = 0.0
    for v in values:
        total += float(v[1])
    if function == '@sum':
        return ('double', total)
    return ('double', total / len(values)) if values else NULL


def sort_order(a, b):
    """The order of SORT: by rank, numbers by their exact values, then rule E."""
    if a[0] in NUMBERS and b[0] in NUMBERS and not is_nan(a) and not is_nan(b):
        return (a[1] > b[1]) - (a[1] < b[1])
    return rank_order(a, b)


def rank_order(a, b):
    """The order of minimum and maximum, and the equality of DISTINCT: by rank, then rule E."""
    if RANK[a[0]] != RANK[b[0]]:
        return -1 if RANK[a[0]] < RANK[b[0]] else 1
    return order(a, b) if a[0] != 'null' else 0


TYPE_NAMES = {
    'null': ('null',), 'int': 'int integer int16 int32 int64 short long byte char'.split(), 'bool': ('bool', 'boolean'), 'string': ('string',),
    'binary': 'binary data bytearray byte[] bindata'.split(), 'timestamp': 'date datetimeoffset timestamp'.split(), 'float': ('float',),
    'double': ('double',), 'decimal': ('decimal128', 'decimal'), 'link': ('objectlink', 'link'), 'oid': ('objectid',), 'uuid': ('uuid', 'guid'),
    'dict': ('object', 'dictionary'), 'list': ('array', 'list')}


def types_named(name):
    """The kinds that a type name stands for; None for an unknown name."""
    name = name.lower()
    if name == 'numeric':
        return frozenset(NUMBERS)
    if name == 'collection':
        return frozenset(('list', 'dict'))
    return next((frozenset((kind,)) for kind, names in TYPE_NAMES.items() if name in names), None)
