"""Known cases in which realm-core fails, or differs by choice, and this library follows the rules.

Each entry has the results of both and the circumstance in which that difference is known; any other
difference is a finding."""
import dataclasses
import re

import plan

#: Attributes of a column in a file.
INDEXED, NULLABLE, FULL_TEXT = 1, 16, 256


@dataclasses.dataclass
class Scene:
    """A step whose answers or contents differ: the content of the file before it, and the operation concerned or
    None."""
    step: plan.Step
    before: object
    operation: list | None = None
    #: The operations that the same function or transaction carried out before.
    earlier: list = dataclasses.field(default_factory=list)
    in_migration: bool = False

    def wanted_class(self, name):
        return next((c for c in self.step.schema or [] if c.name == name), None)

    def wanted(self, class_name, property_name):
        c = self.wanted_class(class_name)
        return c and c.property(property_name)

    def classes(self):
        """The classes of the schema for opening and of the one for updating."""
        return (self.step.schema or []) + (self.step.update or [])

    def renames(self):
        return [o for o in self.step.migration or [] if o[0] == 'rename']

    def changes(self):
        """Class name, column of the file and property of the schema that follows it, by name or by a rename in the function."""
        for c in self.step.schema or []:
            for p in c.properties:
                for name in [p.name] + [r[2] for r in self.renames() if r[1] == c.name and r[3] == p.name]:
                    if column := self.before.column(c.name, name):
                        yield c.name, column, p

    def become_nullable(self):
        return [(c, column, p) for c, column, p in self.changes()
                if not column.key.attrs & NULLABLE and p.flags & plan.NULLABLE and column.type == p.type and column.kind == KINDS[p.collection]]


BACKLINKS_STAY = 'the backlinks of a Mixed property stay after it'
KEY_IS_LOST = 'a primary key whose column is made anew is none any more'
COLLECTION_AS_KEY = 'a collection as primary key is not refused before the changes are'
KINDS = {plan.NONE: '', plan.LIST: 'list', plan.SET: 'set', plan.DICTIONARY: 'dictionary'}


def scene_of(step, before, answer, at):
    """The scene for a line of an answer."""
    scene = Scene(step, before)
    waiting, is_open = [], False
    for line in answer[:at + 1]:
        scene.operation = None
        if line == '  migrating':
            waiting, scene.earlier, scene.in_migration = list(step.migration or []), [], True
        elif line == '  initializing' and not is_open:
            waiting, scene.earlier, scene.in_migration = list(step.initialization or []), [], False
        elif line == 'open ok':
            words = [line for line in step.updating() if line in ('begin', 'schema', 'commit')]
            waiting, scene.earlier, scene.in_migration, is_open = [[w] for w in ['schema'] + words] + step.operations, [], False, True
        elif waiting and line.startswith((f'  {waiting[0][0]} ok', f'  {waiting[0][0]} error')):
            scene.operation = waiting.pop(0)
            scene.earlier.append(scene.operation)
    return scene


# Circumstances of answers

def renames_to_another_kind(scene):
    _, c, old, new = scene.operation
    for o in reversed(scene.earlier[:-1]):
        if o[:2] == ['rename', c] and o[3] == old:
            old = o[2]
    column, p = scene.before.column(c, old), scene.wanted(c, new)
    return scene.in_migration and column and p and column.type == p.type and column.kind != KINDS[p.collection]


def asks_for_impossible_index(scene):
    return any(p.flags & plan.FULL_TEXT and p.type != plan.STRING for c in scene.step.schema for p in c.properties)


def sets_renamed(scene):
    _, c, _, name, _ = scene.operation
    return scene.in_migration and any(o[0] == 'rename' and o[1] == c and o[3] == name for o in scene.earlier)


def renames_to_unknown(scene):
    return any(scene.wanted_class(c) and not scene.wanted(c, new) for _, c, _, new in scene.renames())


def sets_primary_key(scene):
    _, c, _, name, _ = scene.operation
    table = scene.before.tables.get('class_' + c)
    return not scene.in_migration and table and table.pk and table.pk.name == name


def sets_dictionary_that_became_nullable(scene):
    _, c, _, name, _ = scene.operation
    return scene.in_migration and any(c == d and p.name == name and column.kind == 'dictionary' for d, column, p in scene.become_nullable())


def adds_set_of_class_embedded_so_far(scene):
    def was_embedded(name):
        table = scene.before.tables.get('class_' + name)
        return table and table.type == plan.EMBEDDED and scene.wanted_class(name).kind == plan.TOP
    return any(p.type == plan.OBJECT and p.collection == plan.SET and was_embedded(p.target) for c in scene.step.schema for p in c.properties)


def opens_nothing_as_immutable(scene):
    return scene.step.mode == plan.IMMUTABLE and not scene.before.tables


def has_new_key_column(scene, name):
    """The column of the primary key is replaced: it becomes required, or changes its type."""
    table, c = scene.before.tables.get('class_' + name), scene.wanted_class(name)
    if not (table and table.pk and c and c.primary_key == table.pk.name):
        return False
    p = c.property(c.primary_key)
    return p.type != table.pk.type or table.pk.key.attrs & NULLABLE and not p.flags & plan.NULLABLE


def creates_in_class_with_new_key_column(scene):
    return has_new_key_column(scene, scene.operation[1])


def has_any_new_key_column(scene):
    return any(has_new_key_column(scene, c.name) for c in scene.step.schema)


def changes_nullability(column, p):
    return bool(column.key.attrs & NULLABLE) != bool(p.flags & plan.NULLABLE)


def changes_nullability_and_index(scene):
    return any(changes_nullability(column, p) and bool(column.index_ref) != bool(p.flags & (plan.INDEXED | plan.PRIMARY)) for _, column, p in scene.changes())


def gives_key_words(scene):
    return any(column.index_ref and not column.attrs & FULL_TEXT and p.flags & plan.PRIMARY and p.flags & plan.FULL_TEXT
               for _, column, p in scene.changes())


def new_key_column_and_embedded(scene):
    def becomes_embedded(c):
        table = scene.before.tables.get('class_' + c.name)
        return table and table.type != plan.EMBEDDED and c.kind == plan.EMBEDDED
    return has_any_new_key_column(scene) and any(becomes_embedded(c) for c in scene.step.schema)


def makes_collection_the_key(scene):
    return any(p.flags & plan.PRIMARY and p.collection != plan.NONE for c in scene.classes() for p in c.properties)


#: What this library answers, what realm-core answers, where, and why.
ANSWERS = [
    ('  rename error 2007', '  rename ok', renames_to_another_kind, 'a single value or collection renamed to another kind of it keeps its column'),
    ('open error 2017', 'open error 2007', asks_for_impossible_index, 'an index that is not possible, in a change that is not allowed'),
    ('open ok', 'open error 3009', changes_nullability_and_index, 'nullability and index of a property change: its old key is looked for'),
    ('open ok', 'open error 3009', gives_key_words, 'a primary key is to become a full-text property, too'),
    ('  set ok', '  set error 3009', sets_renamed, 'a property that the function renamed has its old key'),
    ('open error 3009', 'open error 2017', renames_to_unknown, 'a rename to a name that the schema does not have: what is left to change is named'),
    ('  set error 1013', '  set ok', sets_primary_key, 'a primary key written twice outside a migration'),
    ('  set ok', '  set error 3011', sets_dictionary_that_became_nullable, 'a dictionary that became nullable takes no keys'),
    ('open ok', 'open error 2007', adds_set_of_class_embedded_so_far, 'a set of a class that is no longer embedded'),
    ('open error 2016', 'open error 1019', opens_nothing_as_immutable, 'an invalid schema for a missing file'),
    ('  create ok', '  create error 3006', creates_in_class_with_new_key_column, KEY_IS_LOST),
    ('  create error 1013', '  create error 3006', creates_in_class_with_new_key_column, KEY_IS_LOST),
    ('open error 2020', 'open ok', has_any_new_key_column, KEY_IS_LOST),
    ('open error 2007', 'open error 2020', new_key_column_and_embedded, 'two reasons to refuse: the other one is named'),
    ('open error 2016', 'open error 2007', makes_collection_the_key, COLLECTION_AS_KEY),
    ('open error 2016', 'open error 2017', makes_collection_the_key, COLLECTION_AS_KEY),
    ('update error 2016', 'update error 2017', makes_collection_the_key, COLLECTION_AS_KEY),
]


def answer(scene, mine, theirs):
    """The reason of a known difference of two answers; None for an unknown one."""
    return next((why for a, b, is_here, why in ANSWERS if (a, b) == (mine, theirs) and is_here(scene)), None)


# Circumstances of contents

def loses_values_of_collection(scene, difference):
    """Sets and dictionaries that become nullable are empty afterwards, except those of texts."""
    return difference.what == 'rows' and any('class_' + c == difference.table and p.name == difference.column and p.type != plan.STRING
                                             and column in nullable_collections(scene) for c, column, p in scene.become_nullable())


def loses_index(scene, difference):
    """A full-text index that becomes a plain one, or the reverse, is missing afterwards."""
    def is_changed(column, p):
        return column.index_ref and p.flags & (plan.FULL_TEXT if not column.attrs & FULL_TEXT else plan.INDEXED)
    return difference.what == 'index' and difference.mine and not difference.theirs and any(
        'class_' + c == difference.table and p.name == difference.column and is_changed(column, p) for c, column, p in scene.changes())


def loses_key(scene, difference):
    return difference.what in ('primary key', 'index') and has_new_key_column(scene, difference.table.removeprefix('class_'))


def forgets_words(scene, difference):
    """A full-text property that becomes nullable, or required, has a plain index afterwards."""
    return (difference.what, difference.mine, difference.theirs) == ('index', 'full text', 'plain') and any(
        'class_' + c == difference.table and p.name == difference.column and changes_nullability(column, p) for c, column, p in scene.changes())


CONTENTS = [
    (forgets_words, 'a full-text index is a plain one when nullability changes'),
    (loses_key, KEY_IS_LOST),
    (loses_values_of_collection, 'a set or dictionary that became nullable has lost its values'),
    (loses_index, 'an index of another kind is not made'),
]


def content(scene, difference):
    """The reason of a known difference of contents; None for an unknown one."""
    return next((why for is_here, why in CONTENTS if is_here(scene, difference)), None)


# Faults of realm-core alone

def nullable_collections(scene):
    return [column for _, column, p in scene.become_nullable() if column.kind in ('set', 'dictionary')]


def lost_columns(scene):
    """Columns that are removed or replaced."""
    follows = [column for _, column, p in scene.changes() if column.type == p.type and column.kind == KINDS[p.collection]]
    return [c for t in scene.before.tables.values() for c in t.columns if c not in follows]


def loses_mixed(scene, _):
    """The target class of links in Mixed values keeps their backlinks."""
    return any(c.type == plan.MIXED for c in lost_columns(scene))


def loses_links_to_embedded(scene, _):
    """Documented: the embedded objects are not deleted."""
    return any(c.target and c.target.type == plan.EMBEDDED for c in lost_columns(scene))


def is_of_mixed(scene, finding):
    """The wrong index is one of Mixed values; realm-core does not update it when links in them become null."""
    found = re.search(r"of class_(\S+)\.(\S+?)[/']", finding)
    columns = [(t.name, c) for t in scene.before.tables.values() for c in t.columns
               if not found or (t.name, c.name) == ('class_' + found[1], found[2])]
    wanted = [p for c in scene.classes() for p in c.properties if not found or (c.name, p.name) == found.groups()]
    return any(c.type == plan.MIXED and c.index_ref for _, c in columns) or any(p.type == plan.MIXED and p.flags & plan.INDEXED for p in wanted)


def has_list_with_words(scene, _):
    return any(c.kind == 'list' and c.attrs & FULL_TEXT for t in scene.before.tables.values() for c in t.columns) or any(
        p.collection == plan.LIST and p.flags & plan.FULL_TEXT for c in scene.classes() for p in c.properties)


def writes_primary_key(scene, _):
    def is_key(class_name, name):
        table = scene.before.tables.get('class_' + class_name)
        return table and table.pk and table.pk.name == name
    return any(o[0] == 'set' and is_key(o[1], o[3]) for o in scene.step.operations)


#: What is found in a file of realm-core, where, and why.
FAULTS = [
    (BACKLINKS_STAY, loses_mixed, BACKLINKS_STAY),
    (r"the file is not sound: FormatError\('backlinks of", loses_mixed, BACKLINKS_STAY),
    (r"the file is not sound: (KeyError|FormatError\('.*index)", is_of_mixed, 'an index of Mixed values is not kept'),
    (r"the file is not sound: FormatError\('full word index", has_list_with_words, 'a full-text index of a list is not kept'),
    ('died', is_of_mixed, 'an index of Mixed values is not kept'),
    ('died', has_list_with_words, 'a full-text index of a list is not kept'),
    (r"the file is not sound: FormatError\('embedded object with 0 owners", loses_links_to_embedded, 'embedded objects stay without an owner'),
    ('.* has a primary key value twice', writes_primary_key, 'a primary key written twice outside a migration'),
    ('', lambda scene, _: nullable_collections(scene), 'a set or dictionary that became nullable is damaged'),
]


def fault(scene, finding, has_nested):
    """The reason of a known fault of realm-core; None for an unknown one."""
    if why := next((why for text, is_here, why in FAULTS if re.match(text, finding) and is_here(scene, finding)), None):
        return why
    if has_nested and re.match(r"died|the file is not sound: FormatError\('nested collection without key", finding):
        return 'objects come or go where a Mixed property holds a collection: memory is damaged'
    return None
