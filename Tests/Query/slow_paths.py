"""Key paths of queries (query-language.md §4, §8, §14): the objects they reach, and the values of these."""
import functools

import slow_values as v
from slow import Group, Operand, Pair, QueryError
from slow_values import NULL, NUMBERS, NotCovered


class Path:
    """A path bound to a class: `hops` over links, then perhaps a property `end` with `steps` into its value.

    A hop is (property or None, (class, property) of backlinks or None, kind, step): kind is '', list, set, dict, back;
    step an index or key that picks one element of the list or dictionary."""

    def __init__(self, binder, steps, scope, in_order=False):
        cls, variable, outer = scope
        self.binder, self.data = binder, binder.data
        self.hops, self.end, self.steps, self.cls, self.owner = [], None, [], cls, cls
        self.all_links = self.keyed_end = False
        todo = self.arguments(steps)
        if todo[0][0] == 'name' and variable and todo[0][1] == variable:
            del todo[0]
            if not todo:
                raise QueryError(1009, 'the variable alone')
        while todo:
            if self.end or self.all_links:
                self.steps = self.value_steps(todo)
                break
            self.hop(todo)
        self.many = any(kind or step for _, _, kind, step in self.hops)
        self.stepped_hop = any(step for *_, step in self.hops)

    def arguments(self, steps):
        """Steps with their arguments inserted."""
        found = []
        for step in steps:
            if step[0] == 'karg':
                text = self.binder.argument(step[1])
                if isinstance(text, list) or text[0] != 'string':
                    raise QueryError(3015, 'a path is a text')
                if len(steps) > 1:
                    raise QueryError(1009, 'a path argument among names')
                parts = text[1].split('.')
                if parts[-1] == '':
                    raise QueryError(1009, 'an empty name')
                found += [('name', part) for part in parts if part]
            elif step[0] == 'arg':
                value = self.binder.argument(step[1])
                if isinstance(value, list) or value[0] not in ('int', 'string'):
                    raise QueryError(1009, 'no index')
                if value[0] == 'int' and value[1] < -1:
                    raise QueryError(1009, 'no index')
                found.append(('index' if value[0] == 'int' else 'key', value[1]))
            else:
                found.append(step)
        return found

    def hop(self, todo):
        kind, name = todo.pop(0)
        if kind == 'key' and self.hops:
            kind = 'name'
        if kind != 'name':
            raise QueryError(1009, 'no such step here')
        if name in self.data.aliases.get(self.cls, ()):
            todo[:0] = [('name', part) for part in self.data.aliases[self.cls][name]]
            name = '@links'
        if name == '@links':
            if not todo:
                self.all_links = True
                return
            if len(todo) < 2 or todo[0][0] != 'name' or todo[1][0] != 'name':
                raise QueryError(1009, 'backlinks need a class and a property')
            origin, prop = todo.pop(0)[1], todo.pop(0)[1]
            if origin not in self.data.schema or prop not in self.data.schema[origin]:
                raise QueryError(1009, 'no such backlinks')
            found = self.data.schema[origin][prop]
            if found.type != 'link' or found.target != self.cls:
                raise QueryError(1009, 'no backlinks')
            self.hops.append((None, (origin, prop), 'back', None))
            self.owner, self.cls = self.cls, origin
            return
        prop = self.data.schema[self.cls].get(name)
        if not prop:
            raise QueryError(1009, f'no property {name}')
        if prop.type != 'link':
            self.end = prop
            return
        step = None
        if todo and prop.coll == 'list' and todo[0][0] in ('index', 'all'):
            step = todo.pop(0)
            if step[0] == 'index' and not todo:
                raise QueryError(1009, 'an element of a list of links')
        elif todo and prop.coll == 'dict':
            if todo[0][0] == 'all' or todo[0] == ('name', '@values'):
                step = todo.pop(0)
            elif todo[0] == ('name', '@keys'):
                self.end, self.cls = prop, prop.target
                return
            elif todo[0][0] in ('key', 'name') and todo[0][1] not in self.data.schema[prop.target] \
                    and todo[0][1] not in self.data.aliases.get(prop.target, ()) and todo[0][1] != '@links':
                step = ('key', todo.pop(0)[1])
                self.keyed_end = not todo
            elif todo[0][0] == 'index':
                raise QueryError(1009, 'an index on a dictionary')
        if step and (step[0] == 'all' or step == ('name', '@values')):
            step = None
        self.hops.append((prop, None, prop.coll, step))
        self.owner, self.cls = self.cls, prop.target

    def value_steps(self, todo):
        """The steps that may follow a property of values (§4)."""
        prop = self.end
        if self.all_links:
            raise QueryError(1009, 'nothing follows @links')
        last = todo[-1]
        if ('name', '@keys') in todo[bool(prop.coll == 'dict'):-1]:
            raise NotCovered('a step behind the keys inside a Mixed value')
        if prop.coll == 'dict' and todo[0] == ('name', '@keys') and (len(todo) > 2 or len(todo) == 2 and last[0] == 'name'):
            raise QueryError(1009, 'steps behind the keys')
        if prop.type == 'link':  # only .@keys of a dictionary of links gets here
            return todo
        if prop.coll == 'list' and len(todo) == 1 and last[0] == 'name' and last[1].lower() == 'length':
            if prop.type not in ('string', 'binary', 'mixed'):
                raise QueryError(1009, 'length')
            return [('length',)]
        if prop.type == 'mixed' and prop.coll != 'set' \
                or prop.coll == 'dict' and todo[0] not in (('all',), ('name', '@keys'), ('name', '@values')):
            if prop.coll == 'list' and todo[0][0] not in ('index', 'all'):
                raise QueryError(1009, 'a key of a list')
            if prop.coll == 'dict' and todo[0][0] == 'index':
                raise QueryError(1009, 'an index on a dictionary')
            return todo
        if prop.coll == 'dict' and prop.type not in ('link', 'mixed') and len(todo) > 1 and todo[0] in (('all',), ('name', '@values')):
            raise NotCovered('a step behind the values of a dictionary')
        if not prop.coll or prop.coll == 'set' or len(todo) > 1:
            raise QueryError(1009, 'no steps here')
        if prop.coll == 'list' and last[0] not in ('index', 'all') or prop.coll == 'dict' and last[0] == 'index':
            raise QueryError(1009, 'no such step here')
        return todo

    # Where the path leads -----------------------------------------------------------------------------

    def reach(self, obj, hops=None):
        """The objects reached from one, in order."""
        found = [obj]
        for hop in self.hops if hops is None else hops:
            found = [x for o in found for x in self.targets(o, hop) if x != NULL]
        return found

    def targets(self, obj, hop):
        prop, origin, kind, step = hop
        if origin:
            return self.data.backlinks(*origin).get(obj[1], [])
        value = self.data.at(obj)[prop.name]
        if not kind:
            return [value]
        links = [x[1] for x in value] if kind == 'dict' else value
        if step and step[0] == 'index':
            return links[step[1]:][:1]
        if step:
            return [x[1] for x in value if x[0] == step[1]] or ([NULL] if value else [])
        return links

    def broken(self, obj):
        """Whether a path of to-one links ends early."""
        return not self.reach(obj)

    def walk(self, value, steps):
        """Groups of the values that steps into a Mixed value reach. A step that does not fit reaches none."""
        if not steps:
            return [Group([value], False)]
        step, rest = steps[0], steps[1:]
        kind, x = value
        if step[0] == 'all':
            if kind not in ('list', 'dict'):
                return []
            inside = [e[1] for e in x] if kind == 'dict' else x
            if not rest:
                return [Group(inside, True)]
            return self.walk_all(inside, rest)
        if step[0] == 'index':
            return self.walk(x[step[1]], rest) if kind == 'list' and -1 <= step[1] < len(x) and x else []
        name = step[1]
        if kind == 'link' and step[0] in ('name', 'key'):
            return self.beyond(value, name, rest)
        if kind != 'dict':
            return []
        if name == '@keys' and step[0] == 'name':
            return [Group([('string', e[0]) for e in x], True)]
        found = [e[1] for e in x if e[0] == name]
        if not found:
            return [] if rest or not x else [Group([NULL], False)]
        return self.walk(found[0], rest)

    def walk_all(self, values, steps):
        """After [*]: the last step makes a group for every value, earlier steps only for values from which they
        continue (observed)."""
        last = [Group([], True)] if len(steps) == 1 else []
        return [g for x in values for g in self.walk(x, steps) or last]

    def beyond(self, link, name, rest):
        """A property of an object that a link in a Mixed value leads to."""
        cls = self.data.names[link[1][0]]
        prop = self.data.schema[cls].get(name)
        if not prop:
            return []
        if rest or prop.coll:
            raise NotCovered('steps behind a link in Mixed')
        return [Group([self.data.at(link)[name]], False)]

    def elements(self, obj):
        """Groups for one reached object: the values of its end property, with the steps after it. No value counts as an
        empty list, and a step into a Mixed property as a list of one (observed: `m[0] != {1, 2}` holds for the sizes
        then)."""
        prop, steps = self.end, self.steps
        value = self.data.at(obj)[prop.name]
        if not prop.coll:
            return self.walk(value, steps)
        if steps and steps[0] == ('name', '@keys') and prop.coll == 'dict':  # Later steps are ignored.
            return [Group([('string', e[0]) for e in value], True)]
        inside = [e[1] for e in value] if prop.coll == 'dict' else value
        if not steps or steps[0] in (('all',), ('name', '@values')):
            if len(steps) > 1:
                return self.walk_all(inside, steps[1:])
            return [Group(inside, True)]
        if steps[0][0] == 'length':
            return [Group([('int', len(x[1].encode() if x[0] == 'string' else x[1])) for x in inside if x[0] in ('string', 'binary')]
                          if prop.type == 'mixed' else [('int', v_length(x)) for x in inside], True)]
        if steps[0][0] == 'index':
            at = steps[0][1]
            if -1 <= at < len(inside) and inside:
                one = inside[at]
            elif not inside or len(steps) > 1:
                return []
            else:
                return [Group([NULL], True)]
            if len(steps) == 1:
                return [Group([one], True)]
            return [Group(g.values, True) for g in self.walk(one, steps[1:])]
        found = [e[1] for e in value if e[0] == steps[0][1]]
        if not found:
            return [Group([NULL], False)] if value and len(steps) == 1 else []
        return self.walk(found[0], steps[1:])

    # Operands -------------------------------------------------------------------------------------

    def operand(self, quantifier, end):
        if end == 'count' or self.all_links:
            if self.all_links and self.steps:
                raise QueryError(1009, 'nothing follows @links')
            if self.all_links and quantifier:
                raise NotCovered('a quantifier before a count')
            return self.counted(quantifier)
        if end == 'type':
            return self.typed(quantifier)
        prop = self.end
        if not prop:
            return self.links(quantifier)
        grouped = bool(prop.coll or self.steps)
        is_list = self.is_list()
        if quantifier and not is_list and not self.steps and not self.stepped_hop:
            raise QueryError(1009, 'a quantifier on one value')
        if quantifier and prop.coll == 'dict' and self.keyed() and prop.type != 'mixed':
            raise NotCovered('a quantifier on the key of a dictionary')
        if quantifier in ('NONE', 'ALL') and ('name', '@values') in self.steps:
            raise NotCovered('NONE and ALL on @values')
        if len(self.steps) > 1 and (self.many or ('name', '@values') in self.steps):
            raise NotCovered('several steps behind lists of links or @values')
        keys = ('name', '@keys') in self.steps
        length = self.steps and self.steps[-1][0] == 'length'
        kind = 'string' if keys and self.steps[0] == ('name', '@keys') and prop.coll == 'dict' else 'int' if length else prop.type

        def groups(obj):
            reached = self.reach(obj)
            if not grouped:
                if self.many:
                    return [Group([self.data.at(o)[prop.name] for o in reached], True)]
                return [Group([self.data.at(reached[0])[prop.name] if reached else NULL], False)]
            found = [g for o in reached for g in self.elements(o) or [Group([], True)]]
            if length:
                return [Group([x for g in found for x in g.values], True)]
            return [Group(g.values, g.is_list or self.many or not prop.coll) for g in found] or [Group([], True)]
        direct = prop if not self.hops and not prop.coll and not self.steps else None
        result = Operand(kind, groups, is_list=is_list, quantifier=quantifier, direct=direct, stepped=bool(self.steps),
                         collection=bool(prop.coll), keys=keys, hops=len(self.hops), mixed_like=prop.coll == 'dict' and not keys,
                         keyed=prop.coll == 'dict' and self.keyed())
        result.fulltext = prop.fulltext and not prop.coll
        return result

    def keyed(self):
        return bool(self.steps) and self.steps[0][0] in ('key', 'name') and self.steps[0] not in (('name', '@keys'), ('name', '@values'))

    def is_list(self):
        """Whether this side is a list in the sense of §7."""
        prop = self.end
        if prop.coll and not self.steps:
            return True
        if self.steps:
            if prop.coll or any(s in (('all',), ('name', '@keys'), ('length',)) for s in self.steps) or self.steps[0] == ('name', '@values'):
                return True
            return self.many
        return self.many

    def links(self, quantifier):
        prop, origin, kind, step = self.hops[-1]
        many = self.many
        if quantifier and not many:
            raise QueryError(1009, 'a quantifier on one link')

        def groups(obj):
            if many and not self.keyed_end:
                found = [x for o in self.reach(obj, self.hops[:-1]) for x in self.targets(o, self.hops[-1])]
                return [Group(found if kind == 'dict' else [x for x in found if x != NULL], True)]
            found = self.reach(obj, self.hops[:-1])
            found = [x for o in found for x in self.targets(o, self.hops[-1])] if found or many else [NULL]
            return [Group(found, len(self.hops) > 1 and many or not found)]
        result = Operand('link', groups, is_list=many, quantifier=quantifier, hops=len(self.hops), keyed=self.keyed_end,
                         direct=prop if len(self.hops) == 1 and not kind else None)
        result.target = self.cls
        result.link_dictionary = kind == 'dict' and not self.keyed_end
        return result

    def counted(self, quantifier):
        """@count (§8)."""
        if quantifier:
            raise NotCovered('a quantifier before a count')
        if self.all_links:
            def groups(obj):
                return [Group([('int', self.data.incoming(o)) for o in self.reach(obj)], self.many)]
        elif not self.end:
            before = self.hops[:-1]
            prop = self.hops[-1][0]
            if self.keyed_end or self.hops[-1][3]:
                raise NotCovered('the count of a key of links')

            def groups(obj):
                found = self.reach(obj, before)
                counts = [len([x for x in self.targets(o, self.hops[-1]) if x != NULL or before and prop and prop.coll == 'dict']) for o in found]
                return [Group([('int', n) for n in counts], bool(before))]
        else:
            prop = self.end
            if self.steps and (prop.coll or prop.type != 'mixed'):
                raise NotCovered('the count behind a step')
            if not prop.coll and prop.type not in ('string', 'binary', 'mixed'):
                raise QueryError(1009, 'no count')
            if prop.type == 'link':
                raise NotCovered('the count of keys')

            def groups(obj):
                found = self.reach(obj)
                if prop.coll:
                    counts = [('int', len(self.data.at(o)[prop.name])) for o in found] or ([('int', 0)] if not self.many else [])
                else:
                    inner = [g for o in found for g in self.walk(self.data.at(o)[prop.name], self.steps)]
                    counts = [size(x) for g in inner for x in g.values] or ([NULL] if not self.many and not self.steps else [])
                return [Group(counts, self.many or self.is_list() and not prop.coll)]
        if self.end:
            is_list = self.many or not self.end.coll and self.is_list()
        else:
            is_list = not self.all_links and len(self.hops) > 1
        return Operand('int', groups, is_list=is_list, hops=len(self.hops))

    def aggregated(self, function, name):
        if name is None:
            prop = self.end
            if not prop or not prop.coll or prop.type not in (*NUMBERS, 'mixed'):
                raise QueryError(1009, 'no collection of numbers')
            if self.steps:
                raise NotCovered('an aggregate behind a step')

            def groups(obj):
                found = self.reach(obj)
                lists = [self.data.at(o)[prop.name] for o in found] or ([[]] if not self.many else [])
                values = [v.aggregate(function, prop.type, [x[1] if isinstance(x, Pair) else x for x in one]) for one in lists]
                return [Group(values, self.many)]
            kind, is_list = prop.type, self.many
        else:
            if self.end or not self.hops:
                raise QueryError(1009, 'no list')
            prop = self.data.schema[self.cls].get(name)
            if not prop or prop.coll or prop.type not in (*NUMBERS, 'mixed', *(('timestamp',) if function in ('@min', '@max') else ())):
                raise QueryError(1009, 'not for this type')

            def groups(obj):
                return [Group([v.aggregate(function, prop.type, [self.data.at(o)[name] for o in self.reach(obj)])], False)]
            kind, is_list = prop.type, False
            if function == '@avg' or function == '@sum' and kind == 'mixed':
                kind = 'decimal' if kind in ('mixed', 'decimal') else 'double'
        return Operand(kind, groups, is_list=is_list, hops=len(self.hops))

    def typed(self, quantifier):
        prop = self.end
        if not prop or prop.type != 'mixed':
            if not prop or prop.coll or quantifier:
                raise QueryError(1009, '@type of a fixed type')
            value = ('@type', frozenset((prop.type,)))
            return Operand('@type', lambda obj: [Group([value], False)], constant=[value])
        inner = self.operand(quantifier, None)
        one = prop.coll == 'dict' and self.keyed() and not self.many
        groups = lambda obj: [Group([('@type', frozenset((x[0],))) for x in g.values], g.is_list and not (one and g.values))
                              for g in inner.groups(obj)]
        is_list = inner.is_list and not one
        return Operand('@type', groups, is_list=is_list, quantifier=quantifier)


def v_length(value):
    return 0 if value[0] == 'null' else len(value[1].encode() if value[0] == 'string' else value[1])


def size(value):
    kind, x = value
    return ('int', len(x.encode() if kind == 'string' else x)) if kind in ('string', 'binary', 'list', 'dict') else NULL


# Ordering ----------------------------------------------------------------------------------------

def ordered(binder, clauses, cls):
    """A function from rows to rows for each clause (§14)."""
    merged = []
    for kind, content in clauses:
        if kind == 'limit':
            merged.append((kind, content))
        elif kind == 'distinct':
            merged.append((kind, [Key(binder, path, cls) for path in content]))
        else:
            keys = [(Key(binder, path, cls), down) for path, down in content]
            if merged and merged[-1][0] == 'sort':
                keys += merged.pop()[1]  # Of adjacent sorts the later one is the primary key.
            merged.append((kind, keys))
    return [globals()[kind + '_rows'](content) for kind, content in merged]


class Key:
    """The result of a path of SORT or DISTINCT for a row: a value, or None after a null link."""

    def __init__(self, binder, steps, cls):
        if steps[0][0] == 'karg':
            raise NotCovered('a path argument in SORT')
        if any(s == ('name', '@links') for s in steps):
            raise QueryError(1009, 'ordering over backlinks')
        self.key = None
        if len(steps) > 1 and steps[-1][0] in ('name', 'key'):
            inner = Path(binder, steps[:-1], (cls, None, ()))
            if not inner.end and inner.hops and inner.hops[-1][2] == 'dict':
                self.key, steps = steps[-1][1], steps[:-1]  # After a dictionary of links a name is a key here.
        self.path = Path(binder, steps, (cls, None, ()))
        last = self.path.hops[-1] if self.path.hops else None
        if any(h[1] for h in self.path.hops):
            raise QueryError(1009, 'ordering over backlinks')
        prop = self.path.end
        if self.path.steps and not (prop.coll == 'dict' and len(self.path.steps) == 1 and self.path.keyed()):
            raise QueryError(1009, 'steps in an ordering')
        hops = self.path.hops[:-1] if self.key is not None else self.path.hops
        whole = prop.coll and not self.path.steps if prop else last[2]
        self.is_collection = bool(any(h[2] for h in hops) or self.key is None and whole)

    def __call__(self, row):
        if self.is_collection:
            raise QueryError(3013, 'a collection in an ordering')
        path = self.path
        if not path.end:
            found = path.reach(row, path.hops[:-1])
            if self.key is not None:
                return next((e[1] for e in path.data.at(found[0])[path.hops[-1][0].name] if e[0] == self.key), NULL) if found else None
            return path.targets(found[0], path.hops[-1])[0] if found else None
        found = path.reach(row)
        if not found:
            return None
        value = path.data.at(found[0])[path.end.name]
        if path.steps:
            return next((e[1] for e in value if e[0] == path.steps[0][1]), NULL)
        return value


def sort_rows(keys):
    def compare(a, b):
        for (_, down), x, y in zip(keys, a[0], b[0]):
            if x is None or y is None:
                found = (x is None) - (y is None)
            else:
                found = v.sort_order(x, y)
            if found:
                return -found if down else found
        return 0

    def apply(rows):
        found = [([key(row) for key, _ in keys], row) for row in rows]
        return [row for _, row in sorted(found, key=functools.cmp_to_key(compare))]
    return apply


def distinct_rows(keys):
    def apply(rows):
        kept, buckets = [], {}
        for row in rows:
            values = [key(row) for key in keys]
            if None in values:
                continue
            bucket = buckets.setdefault(tuple(v.RANK[x[0]] for x in values), [])
            if not any(all(v.rank_order(a, b) == 0 for a, b in zip(values, other)) for other in bucket):
                bucket.append(values)
                kept.append(row)
        return kept
    return apply


def limit_rows(count):
    return lambda rows: rows[:count]
