"""A slow, simple evaluator of queries: it tests every row and follows every path with plain Python values.

It was written from query-language.md alone ("§" below is a section of it), and from observed answers where that document
has no rule; never from the code of an engine. `Data` holds the objects of a file; answer(data, class, text, arguments)
gives the object keys in order, or raises QueryError with the number of the error, or NotCovered for queries that it
does not judge:

- `[c]` and LIKE on binaries that are not UTF-8; a TEXT word without a token; a decimal against -nan
- quantifiers on the key of a dictionary or in front of a count; NONE and ALL on `.@values`
- arithmetic between float or double and decimal, NaN that arithmetic makes, NaN in aggregates of Mixed
- the count after a step, a step after `.@keys` inside Mixed, GEOWITHIN, obj(…) of an object that does not exist, O1
  (the object with key 1) against Mixed, BETWEEN on int and timestamp with a bound of another type, a dictionary of
  links next to the key of one"""
import decimal
import functools
import re

import slow_values as v
from slow_text import QueryError, decoded64, integer, parsed
from slow_values import NULL, NUMBERS, NotCovered

TEXTS = ('string', 'binary', 'mixed')
TEXT_OPERATORS = ('beginswith', 'endswith', 'contains', 'like')


class Prop:
    """A property of the schema: its type, '' or list, set, dict, whether it may be null, the class it links to."""

    def __init__(self, name, type, coll, nullable, target=None, fulltext=False):
        self.name, self.type, self.coll, self.nullable, self.target, self.fulltext = name, type, coll, bool(nullable), target, fulltext


class Data:
    """The objects of a file: `tables[class][key][property]` is a value, a list of values, or pairs of a dictionary."""

    def __init__(self, schema, aliases, class_keys):
        self.schema, self.aliases = schema, aliases  # {class: {name: Prop}}, {class: {name: (class, property)}}
        self.class_keys, self.names = class_keys, {key: name for name, key in class_keys.items()}
        self.primary = {}  # {class: name of the primary key}
        self.tables = {name: {} for name in schema}
        self.origins, self.all_links = {}, None
        self.order = None  # a function that reads backlinks in the order in which the file stores them; no rule defines it

    def at(self, link):
        """The properties of the object that a link leads to; None if it does not exist."""
        return self.tables[self.names[link[1][0]]].get(link[1][1]) if link[0] == 'link' else None

    def backlinks(self, name, prop):
        """{object: the objects of class `name` whose property `prop` links to it}, with multiplicity."""
        if (name, prop) not in self.origins:
            found = self.origins[name, prop] = {}
            for key, obj in self.tables[name].items():
                for link in links_in(obj[prop]):
                    found.setdefault(link[1], []).append(('link', (self.class_keys[name], key)))
            for target, origins in found.items():
                if len(origins) > 1 and self.order:
                    stored = self.order(target, name, prop)
                    assert sorted(stored) == sorted(origins), f'backlinks of {target} from {name}.{prop}: {stored} instead of {origins}'
                    found[target] = stored
        return self.origins[name, prop]

    def incoming(self, link):
        """The number of links of any kind to an object."""
        if self.all_links is None:
            self.all_links = {}
            for table in self.tables.values():
                for obj in table.values():
                    for value in obj.values():
                        for found in links_in(value):
                            self.all_links[found[1]] = self.all_links.get(found[1], 0) + 1
        return self.all_links.get(link[1], 0)

    def forget(self):
        """Call it after a change of the tables."""
        self.origins, self.all_links = {}, None


def links_in(value):
    if isinstance(value, list):  # a collection: values, or pairs of key and value
        for x in value:
            yield from links_in(x[1] if isinstance(x, Pair) else x)
    elif value[0] == 'link':
        yield value
    elif value[0] == 'list':
        for x in value[1]:
            yield from links_in(x)
    elif value[0] == 'dict':
        for _, x in value[1]:
            yield from links_in(x)


class Pair(tuple):
    """An entry of a dictionary."""


class Group:
    """Values that are compared together: those of a list, or at most one single value."""

    def __init__(self, values, is_list):
        self.values, self.is_list = values, is_list


class Operand:
    """A side of a comparison, bound to a class."""

    def __init__(self, type, groups, *, is_list=False, quantifier=None, direct=None, constant=None, argument=False, stepped=False,
                 collection=None, hops=0, mixed_like=False, keyed=False, keys=False):
        self.type, self.groups, self.is_list, self.quantifier = type, groups, is_list, quantifier
        self.direct = direct  # the property, when the path is a single step to a single value
        self.constant = constant  # [values]
        self.argument, self.stepped, self.collection, self.hops = argument, stepped, collection, hops
        self.mixed_like = mixed_like or type == 'mixed'  # compares with every type
        self.keyed, self.keys = keyed, keys
        self.fulltext = self.link_dictionary = False
        self.target = None
        self.loose = ()  # indices of list elements whose type is not checked


# Comparing operands -------------------------------------------------------------------------------

def quantified(quantifier, found):
    return any(found) if quantifier in (None, 'ANY') else all(found) if quantifier == 'ALL' else not any(found)


def pair_holds(left, right, a, b, test):
    """§7 for one group of each side."""
    if a.is_list and b.is_list and not left.quantifier and not right.quantifier:
        if len(a.values) != len(b.values):
            return test.op == '!='
        return all(test(x, y) for x, y in zip(a.values, b.values))
    return quantified(left.quantifier, (quantified(right.quantifier, (test(x, y) for y in b.values)) for x in a.values))


class Test:
    def __init__(self, op, fold, rule=v.compare):
        self.op, self.fold, self.rule = op, fold, rule

    def __call__(self, a, b):
        return self.rule(self.op, a, b, self.fold)


def legal(a, b):
    """Whether two types compare (§6)."""
    return a == b or 'mixed' in (a, b) or a in NUMBERS and b in NUMBERS


class Binder:
    def __init__(self, data, arguments):
        self.data, self.arguments = data, arguments
        self.late = None  # an error that is reported only when the query runs

    # Predicates -----------------------------------------------------------------------------------

    def predicate(self, tree, cls, variable=None, outer=()):
        """A function that returns whether an object matches."""
        scope = (cls, variable, outer)
        kind = tree[0]
        if kind == 'and':
            parts = [self.predicate(t, *scope) for t in tree[1]]
            return lambda obj: all(p(obj) for p in parts)
        if kind == 'or':
            parts = [self.predicate(t, *scope) for t in tree[1]]
            return lambda obj: any(p(obj) for p in parts)
        if kind == 'not':
            inner = self.predicate(tree[1], *scope)
            return lambda obj: not inner(obj)
        if kind in ('true', 'false'):
            return lambda obj: kind == 'true'
        return getattr(self, 'bind_' + kind)(tree, scope)

    def bind_cmp(self, tree, scope):
        _, op, fold, l, r = tree
        left_constant, right_constant = is_constant(l), is_constant(r)
        if left_constant and right_constant:
            self.check_arguments(l, r)
            raise QueryError(1009, 'two constants')
        if left_constant:
            right = self.operand(r, scope)
            left = self.constants(l, right)
        else:
            left = self.operand(l, scope)
            hint = Operand('mixed', None) if left.type == 'link' and op in TEXT_OPERATORS else left
            right = self.constants(r, hint) if right_constant else self.operand(r, scope)
        if '@type' in (left.type, right.type):
            return self.types(op, fold, left, right)
        if op in TEXT_OPERATORS:
            self.check_text(op, left, right)
            return self.comparison(op, fold, left, right)
        member = op in ('in', '==') and left.direct and right.constant is not None and right.is_list and right.quantifier in (None, 'ANY') \
            and left.type not in ('mixed', 'link') and right.constant
        if op == 'in' and not member:
            self.check_types(op, left, right)
            if not right.is_list and not right.keyed:
                raise QueryError(3015, 'IN without a list')
        if member:
            wanted = [c for c in right.constant if c[0] == left.type or c == NULL and left.direct.nullable]
            same = v.compare_direct
            return lambda obj: any(same('==', value, c) for c in wanted for value in left.groups(obj)[0].values)
        self.check_types(op, left, right)
        self.check_fold(fold, left, right)
        return self.comparison('==' if op == 'in' else op, fold, left, right, op == 'in')

    def comparison(self, op, fold, left, right, member=False):
        rule = v.compare
        if left.direct and right.constant is not None and not right.is_list:
            constant = right.constant[0]
            if left.type == 'mixed' or constant[0] in (left.type, 'null'):
                rule = v.compare_direct_text if left.type == 'string' else v.compare_direct
        if 'link' in (left.type, right.type) and op not in TEXT_OPERATORS:
            self.check_links(op, left, right)
            if right.constant is not None and right.is_list and (not member or left.keyed and left.hops == 1) and not right.quantifier:
                right.quantifier = 'ANY'  # == with a list of links means ANY; only IN compares whole lists.
        test = Test(op, fold, rule)
        for side, other in ((left, right), (right, left)):
            if other.constant is None and side.link_dictionary and other.keyed:
                raise NotCovered('a dictionary of links and the key of one')
            if side.link_dictionary and op == '!=' and side is right:
                raise NotCovered('an object before a dictionary of links')
            if side.keyed and side.type == 'link' and other.constant is not None and other.is_list:
                raise NotCovered('the key of a dictionary of links and a list')
            if side.link_dictionary and (op != '!=' or {left.quantifier, right.quantifier} - {None, 'ANY'} or side.hops > 1
                                         or other.constant is None):
                # Nulls in a dictionary count as values that differ, but only next to constants (observed).
                side.groups = lambda obj, groups=side.groups: [Group([x for x in g.values if x != NULL], g.is_list) for g in groups(obj)]
        return lambda obj: any(pair_holds(left, right, a, b, test) for a in left.groups(obj) for b in right.groups(obj))

    def check_links(self, op, left, right):
        if op not in ('==', '!='):
            raise QueryError(1009, 'links have no order')
        for a, b in ((left, right), (right, left)):
            if a.is_list and a.constant is None and a.type == 'link' and not a.keyed and b.constant == [NULL]:
                raise QueryError(1009, 'a list of links and null')

    def check_types(self, op, left, right):
        for a, b in ((left, right), (right, left)):
            if b.constant is not None:
                for i, c in enumerate(b.constant):
                    if a.mixed_like or c == NULL or legal(a.type, c[0]):
                        continue
                    if i in b.loose and a.type != 'link':
                        continue  # Elements of another type are never equal (observed).
                    raise QueryError(3015 if b.argument else 1009, f'{a.type} and {c[0]}')
                break
        else:
            if left.collection and right.collection:
                raise QueryError(1009, 'two collections')
            if not left.mixed_like and not right.mixed_like and not legal(left.type, right.type):
                raise QueryError(1009, f'{left.type} and {right.type}')
        if 'link' in (left.type, right.type) and op not in ('==', '!=', 'in'):
            raise QueryError(1009, 'links have no order')

    def check_fold(self, fold, left, right):
        if fold:
            rule_d = left.direct and right.constant is not None and not right.is_list and left.type in (right.constant[0][0], 'mixed')
            kinds = {c[0] for c in right.constant} if right.constant is not None else {right.type}
            if not rule_d and not right.mixed_like and not kinds <= {'string', 'binary', 'mixed', 'null'}:
                raise QueryError(1009, '[c] on other types')
            if 'null' in kinds and left.type not in (*TEXTS, 'link'):
                raise QueryError(1009, '[c] and null')

    def check_text(self, op, left, right):
        kinds = {c[0] for c in right.constant} if right.constant is not None else {'mixed' if right.mixed_like else right.type}
        if not kinds <= {'string', 'binary', 'mixed', 'null'}:
            raise QueryError(3015 if right.argument else 1009, 'no text on the right')
        if left.mixed_like and right.constant == [NULL] and not right.is_list:
            raise QueryError(1009, 'null as a text')
        if left.type not in TEXTS and not left.mixed_like and right.constant == [NULL]:
            raise NotCovered('null as a text on another type')

    def types(self, op, fold, left, right):
        """Comparing with @type."""
        if op not in ('==', '!=', 'in') or fold:
            raise QueryError(1009, '@type has no order')
        if left.constant is not None and right.constant is not None:
            raise QueryError(1009, 'two constants')
        if op == 'in' and not right.is_list:
            raise QueryError(3015, 'IN without a list')
        rule = lambda op, a, b, fold: (bool(kinds(a) & kinds(b))) == (op == '==')
        kinds = lambda x: x[1] if x[0] == '@type' else frozenset((x[0],))
        test = Test('!=' if op == '!=' else '==', False, rule)
        return lambda obj: any(pair_holds(left, right, a, b, test) for a in left.groups(obj) for b in right.groups(obj))

    def bind_between(self, tree, scope):
        _, l, r = tree
        if is_constant(l):
            raise QueryError(1009, 'a constant BETWEEN')
        left = self.operand(l, scope)
        if len(r[2]) != 2:
            raise QueryError(1009, 'BETWEEN needs two')
        if (left.collection and not left.keys or left.keyed) and left.quantifier != 'ALL':
            raise QueryError(1009, 'BETWEEN on a collection')
        if r[1]:
            raise NotCovered('a quantifier on the list of BETWEEN')
        halves = []
        for op, constant in zip(('>=', '<='), r[2]):
            right = self.constants(constant, left)
            if '@type' in (left.type, right.type):
                raise QueryError(1009)
            self.check_types(op, left, right)
            if left.direct and left.type in ('int', 'timestamp') and right.constant[0][0] != left.type:
                raise NotCovered('BETWEEN with a bound of another type')
            halves.append(self.comparison(op, False, left, right))
        return lambda obj: all(h(obj) for h in halves)

    def bind_text(self, tree, scope):
        _, l, r = tree
        if is_constant(l):
            raise QueryError(1009, 'TEXT on a constant')
        left = self.operand(l, scope)
        if not is_constant(r):
            self.operand(r, scope)
            raise QueryError(1009, 'TEXT needs a constant')
        right = self.constants(r, left)
        if right.is_list or right.constant[0][0] != 'string':
            raise QueryError(1009, 'TEXT needs a text')
        if left.type == 'mixed' and not left.stepped and not left.collection:
            raise QueryError(2007, 'no index')
        if left.type != 'string' or left.collection:
            raise QueryError(1009, 'TEXT on something else')
        if not left.fulltext:
            raise QueryError(2007, 'no index')
        if left.quantifier:
            raise NotCovered('a quantifier before TEXT')
        search = v.FullText(right.constant[0][1])
        if search.errors:
            self.late = self.late or QueryError(3000, 'search words')
        return lambda obj: any(x[0] == 'string' and search.matches(x[1]) for g in left.groups(obj) for x in g.values)

    def bind_geo(self, tree, scope):
        raise NotCovered('GEOWITHIN')

    def check_arguments(self, *trees):
        for tree in trees:
            if tree[0] == 'arg':
                self.argument(tree[2])

    # Operands -------------------------------------------------------------------------------------

    def operand(self, tree, scope):
        kind = tree[0]
        if kind == 'bracket':
            return self.operand(tree[1], scope)
        if kind == 'arith':
            return self.arithmetic(tree, scope)
        if kind == 'path':
            return Path(self, tree[2], scope).operand(tree[1], tree[3])
        if kind == 'agg':
            return Path(self, tree[1], scope).aggregated(tree[2], tree[3])
        return self.subquery(tree, scope)

    def subquery(self, tree, scope):
        _, steps, variable, inside = tree
        path = Path(self, steps, scope)
        if not path.hops or path.end or path.hops[-1][3] or path.hops[-1][2] not in ('list', 'back'):
            raise QueryError(1009, 'SUBQUERY needs a list of links')
        if variable in [name for name, cls in (scope[2] + ((scope[1], scope[0]),)) if cls == path.cls]:
            raise QueryError(1009, 'the variable is taken')
        matches = self.predicate(inside, path.cls, variable, scope[2] + ((scope[1], scope[0]),))
        return Operand('int', lambda obj: [Group([('int', sum(1 for x in path.reach(obj) if matches(x)))], False)])

    def arithmetic(self, tree, scope):
        _, op, l, r = tree
        if is_constant(l):
            right = self.operand(r, scope)
            left = self.constants(l, right)
        else:
            left = self.operand(l, scope)
            right = self.constants(r, left) if is_constant(r) else self.operand(r, scope)
        for side in (left, right):
            kind = side.constant[0][0] if side.constant else side.type
            if kind not in (*NUMBERS, 'mixed'):
                raise QueryError(3015, 'arithmetic on other types')
        if left.is_list and right.is_list:
            raise QueryError(1009, 'arithmetic between two lists')
        if any(side.constant is not None and side.is_list for side in (left, right)):
            raise NotCovered('arithmetic with a list')

        def groups(obj):
            return [Group([v.calculate(op, x, y) for x in a.values for y in b.values], a.is_list or b.is_list)
                    for a in left.groups(obj) for b in right.groups(obj)]
        kind = left.constant[0][0] if left.constant else left.type
        return Operand(kind, groups, is_list=left.is_list or right.is_list, quantifier=left.quantifier or right.quantifier,
                       collection=left.collection or right.collection)

    # Constants ------------------------------------------------------------------------------------

    def argument(self, number):
        if number >= len(self.arguments):
            raise QueryError(3015, 'no such argument')
        return self.arguments[number]

    def constants(self, tree, other):
        """An operand for a constant; the other side is a hint for its type."""
        kind = tree[0]
        if kind == 'bracket':
            return self.constants(tree[1], other)
        if kind == 'arith':
            a, b = (self.constants(t, other) for t in tree[2:])
            if a.is_list or b.is_list:
                raise NotCovered('arithmetic with a list')
            for side in (a, b):
                if side.constant[0][0] not in NUMBERS:
                    raise QueryError(3015, 'arithmetic on other types')
            value = v.calculate(tree[1], a.constant[0], b.constant[0])
            return self.fixed([value], False, None, a.argument or b.argument)
        if kind == 'list':
            found, argument, loose = [], False, []
            for i, element in enumerate(tree[2]):
                if element[0] != 'arg':
                    loose.append(i)
                if element[0] == 'arg' and isinstance(self.argument(element[2]), list):
                    raise QueryError(3015, 'a list inside a list')
                found.append(self.converted(element, other, True))
                argument |= element[0] == 'arg'
            return self.fixed(found, True, tree[1], argument, loose)
        if kind == 'arg' and isinstance(self.argument(tree[2]), list):
            found = [self.convert(x, other, True, None) for x in self.argument(tree[2])]
            return self.fixed(found, True, tree[1], True, range(len(found)))
        if kind == 'arg' and tree[1]:
            raise QueryError(1009, 'a quantifier on a scalar')
        return self.fixed([self.converted(tree, other)], False, None, kind == 'arg')

    def fixed(self, values, is_list, quantifier, argument, loose=()):
        types = {x[0] for x in values} - {'null'}
        group = [Group(values, is_list)]
        side = Operand(next(iter(types)) if len(types) == 1 else 'mixed' if types else 'null', lambda obj: group, is_list=is_list,
                       quantifier=quantifier, constant=values, argument=argument)
        side.loose = loose
        return side

    def converted(self, tree, other, in_list=False):
        kind = tree[0]
        if kind == 'arg':
            return self.convert(self.argument(tree[2]), other, True, None, in_list)
        if kind == 'obj':
            return self.object(tree, other)
        _, kind, text = tree
        return self.convert(literal(kind, text), other, False, text if kind == 'float' else None, in_list)

    def object(self, tree, other):
        name = tree[1][6:] if tree[1].startswith('class_') else tree[1]
        if name not in self.data.schema or name not in self.data.primary:
            raise QueryError(1009, 'no class with a primary key')
        key = self.argument(tree[2][2]) if tree[2][0] == 'arg' else literal(tree[2][1], tree[2][2])
        if other.type == 'link' and other.target != name:
            raise QueryError(3015, 'another class')
        if other.type not in ('link', 'mixed') and not other.mixed_like:
            raise QueryError(1009, 'a link and something else')
        for number, obj in self.data.tables[name].items():
            if obj[self.data.primary[name]] == key:
                return ('link', (self.data.class_keys[name], number))
        raise NotCovered('an object that does not exist')

    def convert(self, value, other, argument, source, in_list=False):
        """§5. `source` is the text of a float literal."""
        hint, (kind, x) = other.type, value
        if hint == '@type':
            if kind != 'string' or v.types_named(x) is None:
                raise QueryError(1009 if in_list and kind != 'string' else 3015, '@type')
            return ('@type', v.types_named(x))
        if kind == 'null' or hint == 'mixed' or other.mixed_like:
            if kind == 'link' and x[0] is None:
                raise NotCovered('an object key alone against Mixed')
            return value
        if kind == 'link':
            if hint != 'link':
                raise QueryError(3015 if argument else 1009, 'a link and something else')
            if x[0] is None:
                return ('link', (self.data.class_keys[other.target], x[1]))
            if self.data.names.get(x[0]) != other.target:
                raise QueryError(3015, 'another class')
            return value
        if hint == 'link':
            raise QueryError(3015 if argument else 1009, 'a link and something else')
        special = kind in ('float', 'double') and (x != x or abs(x) == float('inf'))
        if special and not argument or special and hint == 'int':
            if hint not in NUMBERS:
                raise QueryError(1009, 'infinity or NaN')
            if hint == 'int' and x == x:
                raise QueryError(1009, 'infinity')
            if hint == 'int' and kind == 'float' and argument:
                raise QueryError(1009, 'NaN')
        if hint == 'int' and kind in ('float', 'double') and not special and x == int(x) and abs(x) < 2 ** 63:
            return ('int', int(x))
        if hint == 'float' and kind == 'double':
            return ('float', v.single(x))
        if hint == 'decimal' and kind in ('int', 'float', 'double'):
            if special:
                return ('decimal', decimal.Decimal(str(x)))
            if source and kind == 'double':
                return ('decimal', v.DIGITS.create_decimal(source))
            return ('decimal', v.as_decimal(value))
        if kind == 'string' and hint in NUMBERS:
            return self.number(x, hint) or value
        return value

    def number(self, text, hint):
        if hint == 'decimal':
            return ('decimal', decimal.Decimal(text)) if re.fullmatch(r'[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?', text) else None
        if hint == 'int':
            found = re.match(r'\s*[-+]?\d+', text)
            return ('int', max(-(1 << 63), min((1 << 63) - 1, int(found[0])))) if found else None
        found = re.match(r'\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?', text)
        return (hint, v.single(float(found[0])) if hint == 'float' else float(found[0])) if found else None


def is_constant(tree):
    return tree[0] in ('const', 'arg', 'obj', 'list') or tree[0] == 'bracket' and is_constant(tree[1]) \
        or tree[0] == 'arith' and is_constant(tree[2]) and is_constant(tree[3])


@functools.lru_cache(20000)
def literal(kind, text):
    if kind == 'int':
        return ('int', integer(text))
    if kind == 'string':
        return ('string', text)
    if kind == 'base64':
        return ('string', decoded64(text).decode('utf-8', 'surrogateescape'))
    if kind == 'binary':
        return ('binary', decoded64(text) if text[0] == 'B' else text[1:-1].encode('utf-8', 'surrogateescape'))
    if kind in ('true', 'false'):
        return ('bool', kind == 'true')
    if kind == 'null':
        return NULL
    if kind == 'inf':
        return ('double', float('-inf' if text[0] == '-' else 'inf'))
    if kind == 'nan':
        return ('double', float('nan'))
    if kind == 'float':
        return ('float', v.single(float(text[:-1]))) if text[-1] == 'f' else ('double', float(text))
    if kind == 'uuid':
        return ('uuid', bytes.fromhex(text[5:-1].replace('-', '')))
    if kind == 'oid':
        return ('oid', bytes.fromhex(text[4:-1]))
    if kind == 'link':
        if text[0] == 'O':
            return ('link', (None, int(text[1:])))
        table, key = text[1:].split(':')
        return ('link', (int(table), int(key)))
    return ('timestamp', timestamp(text))


def timestamp(text):
    if text[0] == 'T':
        s, n = (integer(x) for x in text[1:].split(':'))
        if s < 0 < n or n < 0 < s or abs(n) >= 10 ** 9:
            raise QueryError(3008, 'a timestamp of two signs')
        return (s, n)
    import datetime
    parts = [int(x) for x in re.split('[-T@:]', text)]
    year, month, day, h, m, s = parts[:6]
    if year < 1900:
        raise QueryError(1009, 'before 1900')
    n = parts[6] if len(parts) > 6 else 0
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    if year > 9998 or n >= 10 ** 9:
        raise NotCovered('a date out of range')
    days = datetime.date(year, month, 1).toordinal() - 719163 + day - 1
    seconds = days * 86400 + h * 3600 + m * 60 + s
    return (seconds, -n if seconds < 0 else n)


from slow_paths import Path, ordered  # noqa: E402  (they need the names above)


def answer(data, cls, text, arguments):
    """The keys of the objects that match, in order."""
    tree, clauses = parsed(text)
    binder = Binder(data, arguments)
    matches = binder.predicate(tree, cls)
    clauses = ordered(binder, clauses, cls)
    if binder.late and ('limit', 0) not in parsed(text)[1]:
        raise binder.late  # An invalid ordering fails only if the query has rows.
    number = data.class_keys[cls]
    rows = [('link', (number, key)) for key in data.tables[cls]]
    rows = [row for row in rows if matches(row)]
    for clause in clauses:
        rows = clause(rows)
    return [row[1][1] for row in rows]
