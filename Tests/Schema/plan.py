"""Random schemas and steps for run.py: the operations of programs on a file, step by step.

A schema is a list of `Class`; `evolve` makes another one out of it by a few random changes; `Planner.step` decides how
the next program opens the file, what its functions do, and what it writes afterwards."""
import copy
import dataclasses

INT, BOOL, STRING, BINARY, MIXED, DATE, FLOAT, DOUBLE, DECIMAL = 0, 1, 2, 4, 6, 8, 9, 10, 11
OBJECT, LINKING, OBJECT_ID, UUID = 12, 14, 15, 17
NONE, LIST, SET, DICTIONARY = 0, 1, 2, 4
NULLABLE, PRIMARY, INDEXED, FULL_TEXT = 1, 2, 4, 8
TOP, EMBEDDED, ASYMMETRIC = 0, 1, 2
AUTOMATIC, IMMUTABLE, READ_ONLY, SOFT_RESET, HARD_RESET, DISCOVERED, EXPLICIT, MANUAL = range(8)
RESETS, ADDITIVE, FIXED = (SOFT_RESET, HARD_RESET), (DISCOVERED, EXPLICIT), (IMMUTABLE, READ_ONLY)

SINGLE_TYPES = [INT, BOOL, STRING, BINARY, MIXED, DATE, FLOAT, DOUBLE, DECIMAL, OBJECT, OBJECT_ID, UUID]
KEY_TYPES = [INT, STRING, OBJECT_ID, UUID]
INDEXABLE = [INT, BOOL, DATE, STRING, OBJECT_ID, UUID, MIXED]
# Composed and decomposed letters are different names.
CLASS_NAMES = ['A', 'B', 'C', 'D', 'E', 'Z\u00e9', 'Ze\u0301', '\u0301x']
PROPERTY_NAMES = ['a', 'b', 'c', 'd', 'id', 'n', 'v1', '\u00e9', 'e\u0301', '\u212b', '\u00c5', 'first', '\u0301y']


@dataclasses.dataclass
class Property:
    name: str
    type: int
    collection: int = NONE
    flags: int = 0
    target: str = ''
    origin: str = ''
    alias: str = ''

    def line(self):
        return '\t'.join(['property', self.name, self.alias, str(self.type), str(self.collection), self.target, self.origin, str(self.flags)])


@dataclasses.dataclass
class Class:
    name: str
    kind: int = TOP
    primary_key: str = ''
    properties: list = dataclasses.field(default_factory=list)

    def lines(self):
        return ['\t'.join(['class', self.name, self.primary_key, str(self.kind)])] + [p.line() for p in self.properties]

    def property(self, name):
        return next((p for p in self.properties if p.name == name), None)


def writes_nested(p, number):
    """Whether steps.cpp makes a list or dictionary inside the Mixed property from this number."""
    return p.type == MIXED and p.collection == NONE and int(number) % 6 == 1


@dataclasses.dataclass
class Step:
    """One program: how it opens the file, what its functions do, and what it does then."""
    mode: int = AUTOMATIC
    version: int = 0
    subset: int = 0
    backlinks: bool = False
    schema: list | None = None
    migration: list | None = None
    initialization: list | None = None
    operations: list = dataclasses.field(default_factory=list)
    #: A schema for realm_update_schema after opening.
    update: list | None = None
    update_inside: bool = False

    def opening(self, path):
        lines = [line for c in self.schema or [] for line in c.lines()]
        for word, operations in ('migrate', self.migration), ('initialize', self.initialization):
            if operations is not None:
                lines += [word] + ['\t'.join([word] + operation) for operation in operations]
        lines.append('\t'.join(['open', str(path)] + [str(int(x)) for x in (self.mode, self.version, self.subset, self.backlinks, self.schema is not None)]))
        return lines + ['schema']

    def updating(self):
        if self.update is None:
            return []
        lines = [line for c in self.update for line in c.lines()] + ['update', 'schema']
        return ['begin'] + lines + ['commit'] if self.update_inside else lines


class Planner:
    """The steps of one seed. With `is_comparable` it leaves out the operations in which realm-core is known to fail or
    to be less strict (subset modes during migrations, renames by way of a third name, functions that end their
    transaction, updates in reset modes and in a transaction, primary keys written twice; mostly not collections in
    Mixed properties, nor sets and dictionaries that become nullable)."""

    def __init__(self, random, is_comparable):
        self.random = random
        self.is_comparable = is_comparable
        self.schema = []
        self.version = 0
        #: A collection was written into a Mixed property.
        self.has_nested = False
        for _ in range(random.randint(1, 3)):
            self.add_class(self.schema)
        for _ in range(random.randint(0, 6)):
            self.change(self.schema)
        self.repair(self.schema)
        self.is_first = True

    def chance(self, percent):
        return self.random.random() * 100 < percent

    # Changes of a schema. Each returns the operations that a migration function may add for it.

    def add_class(self, schema):
        free = [n for n in CLASS_NAMES if all(c.name != n for c in schema)]
        if not free:
            return
        c = Class(self.random.choice(free), EMBEDDED if schema and self.chance(25) else TOP)
        schema.append(c)
        if c.kind == TOP and self.chance(40):
            p = Property(self.random.choice(PROPERTY_NAMES), self.random.choice(KEY_TYPES), NONE, PRIMARY | (NULLABLE if self.chance(30) else 0))
            c.properties.append(p)
            c.primary_key = p.name
        for _ in range(self.random.randint(1, 4)):
            self.add_property(schema, c)

    def add_property(self, schema, c, name=None):
        free = [n for n in PROPERTY_NAMES if not c.property(n)]
        if not free:
            return None
        p = Property(name or self.random.choice(free), self.random.choice(SINGLE_TYPES))
        self.give_form(schema, p)
        c.properties.insert(self.random.randint(0, len(c.properties)), p)
        return p

    def give_form(self, schema, p):
        p.collection = self.random.choice([NONE, NONE, NONE, LIST, SET, DICTIONARY])
        p.flags = (NULLABLE if self.chance(40) else 0) | (INDEXED if self.chance(25) else 0)
        p.target = self.random.choice(schema).name if p.type == OBJECT else ''

    def change(self, schema):
        """One random change; returns operations for the migration function."""
        random = self.random
        if not schema:
            return self.add_class(schema)
        c = random.choice(schema)
        p = random.choice(c.properties) if c.properties else None
        kind = random.choice(['class', 'remove class', 'property', 'property', 'remove', 'remove', 'type', 'type', 'null', 'null', 'collection', 'index', 'index',
                              'full text', 'target', 'key', 'key', 'kind', 'order', 'rename', 'rename', 'linking', 'alias'])
        if kind == 'class':
            self.add_class(schema)
        elif kind == 'remove class' and len(schema) > 1:
            schema.remove(c)
            return [['remove', c.name]] if self.chance(70) else []
        elif kind == 'property' or p is None:
            self.add_property(schema, c)
        elif kind == 'remove':
            c.properties.remove(p)
            if c.primary_key == p.name:
                c.primary_key = ''
        elif kind == 'type':
            p.type = random.choice(SINGLE_TYPES)
            p.target = random.choice(schema).name if p.type == OBJECT else ''
        elif kind == 'null':
            p.flags ^= NULLABLE
        elif kind == 'collection':
            p.collection = random.choice([NONE, LIST, SET, DICTIONARY])
        elif kind == 'index':
            p.flags ^= INDEXED
        elif kind == 'full text' and p.type == STRING:
            p.flags ^= FULL_TEXT
        elif kind == 'target' and p.type == OBJECT:
            p.target = random.choice(schema).name
        elif kind == 'key':
            self.change_key(c)
        elif kind == 'kind':
            c.kind = EMBEDDED if c.kind == TOP else TOP
        elif kind == 'order':
            random.shuffle(c.properties)
        elif kind == 'rename':
            return self.rename(c, p)
        elif kind == 'linking':
            origins = [(o.name, q.name) for o in schema for q in o.properties if q.type == OBJECT and q.target == c.name]
            if origins and not c.property('linkers'):
                target, origin = random.choice(origins)
                c.properties.append(Property('linkers', LINKING, LIST, 0, target, origin))
        elif kind == 'alias':
            p.alias = random.choice(['', 'alias', '\u00e9', 'e\u0301'])
        return []

    def change_key(self, c):
        for p in c.properties:
            p.flags &= ~PRIMARY
        c.primary_key = ''
        fitting = [p for p in c.properties if p.type in KEY_TYPES and p.collection == NONE]
        if fitting and self.chance(65):
            p = self.random.choice(fitting)
            p.flags |= PRIMARY
            c.primary_key = p.name

    def rename(self, c, p):
        free = [n for n in PROPERTY_NAMES if not c.property(n)]
        if not free or p.type == LINKING:
            return []
        old, p.name = p.name, self.random.choice(free)
        if c.primary_key == old:
            c.primary_key = p.name
        if self.chance(15) and not self.is_comparable:
            # Through a name that neither schema has.
            return [['rename', c.name, old, 'between'], ['rename', c.name, 'between', p.name]]
        return [['rename', c.name, old, p.name]] if self.chance(80) else [['copy', c.name, old, p.name]]

    def repair(self, schema):
        """Makes a schema valid: links have targets, flags fit types."""
        names = [c.name for c in schema]
        top = [c.name for c in schema if c.kind == TOP]
        if not top and schema:
            schema[0].kind = TOP
            top = [schema[0].name]
        for i, c in enumerate(schema):
            if c.kind == EMBEDDED:
                c.primary_key = ''
            for p in list(c.properties):
                if p.type == LINKING:
                    origin = next((o for o in schema if o.name == p.target), None)
                    link = origin and origin.property(p.origin)
                    if not link or link.type != OBJECT or link.target != c.name:
                        c.properties.remove(p)
                    continue
                if p.type == OBJECT:
                    if p.target not in names:
                        p.target = self.random.choice(names)
                    target = schema[names.index(p.target)]
                    # Links between embedded classes go one way: no cycles.
                    if target.kind == EMBEDDED and c.kind == EMBEDDED and names.index(p.target) <= i:
                        p.target = self.random.choice(top)
                        target = schema[names.index(p.target)]
                    if target.kind == EMBEDDED and p.collection == SET:
                        p.collection = LIST
                    p.flags = NULLABLE if p.collection in (NONE, DICTIONARY) else 0
                else:
                    p.target = ''
                if p.type == MIXED:
                    p.flags |= NULLABLE
                if p.flags & PRIMARY and (p.type not in KEY_TYPES or p.collection != NONE or c.primary_key != p.name):
                    p.flags &= ~PRIMARY
                if c.primary_key == p.name and not p.flags & PRIMARY:
                    c.primary_key = ''
                if p.flags & INDEXED and not (p.type in INDEXABLE and (p.collection == NONE or p.type == STRING and p.collection == LIST)):
                    p.flags &= ~INDEXED
                if p.flags & FULL_TEXT and (p.type != STRING or p.collection not in (NONE, LIST) or p.flags & (INDEXED | PRIMARY)):
                    p.flags &= ~FULL_TEXT
            if c.primary_key and not c.property(c.primary_key):
                c.primary_key = ''
            aliases = set()
            for p in c.properties:
                if p.alias in aliases or c.property(p.alias):
                    p.alias = ''
                aliases.add(p.alias)

    def keep_required(self, schema):
        """Sets and dictionaries that were required stay required."""
        for c in schema:
            for old in (p for o in self.schema if o.name == c.name for p in o.properties):
                p = c.property(old.name)
                if p and p.collection in (SET, DICTIONARY) and not old.flags & NULLABLE:
                    p.flags &= ~NULLABLE

    # Steps

    def step(self):
        random = self.random
        schema, operations = copy.deepcopy(self.schema), []
        if not self.is_first:
            for _ in range(random.choice([0, 1, 1, 1, 2, 2, 3, 4])):
                operations += self.change(schema) or []
        if self.is_comparable and self.chance(85):
            self.keep_required(schema)
        if self.chance(97):
            self.repair(schema)
        step = Step(schema=schema)
        step.mode = random.choices(range(8), [62, 3, 3, 4, 3, 6, 6, 13])[0]
        if self.is_first and step.mode in FIXED and self.chance(70):
            step.mode = AUTOMATIC
        step.version = self.version if self.is_first or self.chance(25) else max(0, self.version + random.choice([1, 1, 1, 1, 1, 2, -1]))
        step.subset = 0 if self.is_comparable else random.choice([0, 0, 0, 0, 1, 2, 3])
        step.backlinks = self.chance(50)
        if step.mode in (AUTOMATIC, MANUAL, *RESETS) and self.chance(70) or self.chance(2):
            step.migration = self.function(schema, operations)
        if step.mode not in FIXED and self.chance(30) or self.chance(2):
            step.initialization = self.writes(schema, 4) + ([['fail']] if self.chance(8) else [])
        if self.chance(4):
            step.schema, step.migration, step.initialization, step.subset = None, None, None, 0
        step.operations = self.transaction(schema)
        if self.chance(12) and not (self.is_comparable and step.mode in RESETS):
            step.update = copy.deepcopy(schema)
            for _ in range(random.randint(0, 2)):
                self.change(step.update)
            if self.chance(95):
                self.repair(step.update)
            step.update_inside = self.chance(20) and not self.is_comparable
        self.is_first = False
        return step

    def succeeded(self, step):
        """Records that the file has the schema of this step now, if the mode changes files."""
        if step.schema is not None and step.mode not in FIXED:
            self.schema, self.version = step.schema, step.version

    def function(self, schema, operations):
        """The operations of a migration function: those that the changes suggest, and others."""
        result = [o for o in operations if self.chance(90)]
        result += self.writes(schema, self.random.choice([0, 0, 2, 5]))
        names = [c.name for c in schema + self.schema]
        if self.chance(6):
            # A rename of any property to any name.
            c = self.random.choice(schema + self.schema) if schema + self.schema else Class('A')
            p = self.random.choice(c.properties).name if c.properties else 'a'
            result.append(['rename', c.name, p, self.random.choice(PROPERTY_NAMES)])
        if self.chance(5) and names:
            result.append(['remove', self.random.choice(names)])
        if self.chance(3) and not self.is_comparable:
            result.append([self.random.choice(['commit', 'rollback', 'begin'])])
        if self.chance(5) and names:
            c = self.random.choice(schema or self.schema)
            if c.properties:
                result.append(['copy', c.name, self.random.choice(c.properties).name, self.random.choice(c.properties).name])
        if self.chance(25):
            self.random.shuffle(result)
        if self.chance(8):
            result.append(['fail'])
        return result

    def writes(self, schema, count):
        result = []
        for _ in range(count if schema else 0):
            c = self.random.choice(schema)
            n = str(self.random.randrange(10000))
            place = str(self.random.randrange(100))
            what = self.random.choices(['create', 'set', 'delete', 'clear'], [40, 55, 8, 1])[0]
            if what == 'create':
                result.append(['create', c.name, n])
            elif what == 'set' and c.properties:
                p = self.random.choice(c.properties)
                if writes_nested(p, n):
                    n = n if not self.is_comparable or self.chance(8) else str(int(n) + 1)
                    self.has_nested |= writes_nested(p, n)
                if not (self.is_comparable and p.flags & PRIMARY):
                    result.append(['set', c.name, place, p.name, n])
            elif what == 'delete':
                result.append(['delete', c.name, place])
            elif what == 'clear':
                result.append(['clear', c.name])
        return result

    def transaction(self, schema):
        end = 'commit' if self.chance(92) else 'rollback'
        return [['begin']] + self.writes(schema, self.random.choice([0, 5, 15, 30])) + [[end]]
