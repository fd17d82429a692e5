"""The hub: its tables, from the classes of a file."""

from __future__ import annotations

import hashlib
import re
from importlib import resources
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ..errors import SchemaError, UsageError
from ..schema import ClassSchema, Prop

if TYPE_CHECKING:
    from ..database import Database

_MOST_NAME = 63  # Bytes of a name of PostgreSQL.

# Type, and kind as the library names it.
_TYPES: Dict[str, Tuple[str, str]] = {
    "int": ("int8", "int"),
    "bool": ("bool", "bool"),
    "Float32": ("float4", "float"),
    "float": ("float8", "double"),
    "str": ("text", "string"),
    "bytes": ("bytea", "data"),
    "datetime": ("timestamptz", "date"),
    "Decimal": ("numeric", "decimal"),
    "ObjectId": ("bytea", "objectId"),
    "UUID": ("uuid", "uuid"),
    "Any": ("jsonb", "mixed"),
}
_TRIGGERS = ("crealm_mark_inserted", "crealm_mark_updated", "crealm_mark_deleted", "crealm_mark_truncate")
# Elements that have arrays of their own; other collections are jsonb.
_IN_ARRAYS = ("int", "bool", "Float32", "float", "str", "UUID")


class Column(NamedTuple):
    name: str
    type: str
    kind: str
    rest: str  # NOT NULL, DEFAULT, CHECK.
    target: Optional[str]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(text: Optional[str]) -> str:
    if text is None:
        return "NULL"
    if "\0" in text:
        raise UsageError("PostgreSQL has no texts with a zero byte")
    escaped = text.replace("'", "''")
    if "\\" in text:
        return " E'" + escaped.replace("\\", "\\\\") + "'"
    return f"'{escaped}'"


_SYSTEM_NAMES = ("ctid", "xmin", "xmax", "cmin", "cmax", "tableoid")


def _name(name: str, what: str) -> str:
    if name in _SYSTEM_NAMES and what != "class":
        raise SchemaError(f"{what} {name!r}: each table of PostgreSQL has a column of this name")
    if len(name.encode()) > _MOST_NAME or "\0" in name:
        raise SchemaError(
            f"{what} {name!r}: PostgreSQL has names of at most {_MOST_NAME} bytes, without zero bytes"
        )
    return name


def _type_name(prop: Prop) -> str:
    return "Any" if prop.type is Any else getattr(prop.type, "__name__", str(prop.type))


def column(name: str, prop: Prop, own: ClassSchema, schema: Mapping[str, ClassSchema]) -> Column:
    """The column of a property."""
    _name(name, f"{own.name}: property")
    target: Optional[str] = None
    if prop.is_link:
        other = schema[prop.type]
        if other.embedded:
            kind, kind_type = "embedded", "jsonb"
        else:
            if other.primary_key is None:
                raise SchemaError(f"{own.name}.{name} links to {other.name}, which has no primary key")
            target = other.name
            kind, kind_type = "link", _TYPES[_type_name(other.properties[other.primary_key])][0]
    else:
        kind_type, kind = _TYPES[_type_name(prop)]
    if prop.collection in ("list", "set"):
        mark = "[]" if prop.collection == "list" else "<>"
        check = _collection_check(quoted(name), prop, schema)
        if not prop.is_link and _type_name(prop) in _IN_ARRAYS:
            return Column(name, kind_type + "[]", kind + mark, f"NOT NULL DEFAULT '{{}}' {check}", None)
        return Column(name, "jsonb", kind + mark, f"NOT NULL DEFAULT '[]' {check}", None)
    if prop.collection == "dict":
        check = _collection_check(quoted(name), prop, schema)
        return Column(name, "jsonb", kind + "{}", f"NOT NULL DEFAULT '{{}}' {check}", None)
    rest = "" if prop.optional or prop.is_link else "NOT NULL"
    if kind == "embedded":
        rest += f" CHECK (jsonb_typeof({quoted(name)}) = 'object')"
    if kind == "objectId":
        rest += f" CHECK (length({quoted(name)}) = 12)"
    return Column(name, kind_type, kind, rest.strip(), target)


def _element_type(prop: Prop, schema: Mapping[str, ClassSchema]) -> Tuple[str, str]:
    """The type of the elements of a jsonb column as `jsonb_typeof` names it, and another test of an element; empty if
    there is none."""
    if prop.is_link:
        other = schema[prop.type]
        if other.embedded or other.primary_key is None:
            return "object", ""
        prop = other.properties[other.primary_key]
    name = _type_name(prop)
    if name == "int":
        return "number", " || @ != @.floor()"
    if name in ("Any", "float", "Float32"):  # NaN and infinities are texts.
        return "", ""
    return ("boolean" if name == "bool" else "string"), ""


def _collection_check(column: str, prop: Prop, schema: Mapping[str, ClassSchema]) -> str:
    """The constraint of a collection: a SQL program must not give it a value that no file can hold, because no file
    could take rows of the hub until the value is gone."""
    needs_values = not prop.optional and not prop.is_link and _type_name(prop) != "Any"
    if prop.collection != "dict" and not prop.is_link and _type_name(prop) in _IN_ARRAYS:
        tests = [f"coalesce(array_ndims({column}), 1) = 1"]
        if needs_values:
            tests.append(f"array_position({column}, NULL) IS NULL")
    elif prop.collection == "dict":
        tests = [
            f"jsonb_typeof({column}) = 'object'",
            f'NOT jsonb_path_exists({column}, \'$.keyvalue().key ? (@ starts with "$" || @ like_regex "[.]")\')',
        ]
        if needs_values:
            tests.append(f"NOT jsonb_path_exists({column}, '$.* ? (@ == null)')")
    else:
        tests = [f"jsonb_typeof({column}) = 'array'"]
        if needs_values:
            tests.append(f"NOT jsonb_path_exists({column}, '$[*] ? (@ == null)')")
    if prop.collection == "dict" or prop.is_link or _type_name(prop) not in _IN_ARRAYS:
        kind, other = _element_type(prop, schema)
        if kind:
            path = "$.*" if prop.collection == "dict" else "$[*]"
            wrong = f'@ != null && (@.type() != "{kind}"{other})'
            tests.append(f"NOT jsonb_path_exists({column}, '{path} ? ({wrong})')")
    return f"CHECK ({' AND '.join(tests)})"


class HubClass(NamedTuple):
    name: str
    key: str
    columns: List[Column]
    owner: Optional[str]


def hub_classes(
    schema: Mapping[str, ClassSchema], names: Optional[Sequence[str]] = None, owners: Mapping[str, str] = {}
) -> List[HubClass]:
    """The classes of a hub, by name.

    names: None for all that are not embedded. owners: for each class whose rows belong to persons, the property that
    names them.
    """
    classes = []
    wanted = sorted(schema) if names is None else names
    for name in wanted:
        one = schema[name]
        if one.embedded:
            if names is not None:
                raise SchemaError(f"{name} is embedded: it is part of the objects that own it")
            continue
        if one.primary_key is None:
            raise SchemaError(
                f"{name} has no primary key, by which a hub could tell its objects apart",
                hint="`crealm sync prepare` adds one.",
            )
        _name(name, "class")
        owner = owners.get(name)
        if owner is not None and owner not in one.properties:
            raise SchemaError(f"{name} has no property {owner!r} that could name the owner")
        columns = [column(n, p, one, schema) for n, p in one.properties.items()]
        classes.append(HubClass(name, one.primary_key, columns, owner))
    return classes


def init_sql(
    classes: Sequence[HubClass],
    *,
    schema_name: str = "public",
    present: Sequence[str] = (),
    is_new: bool = True,
    is_old: bool = False,
    role: Optional[str] = None,
) -> str:
    """The statements that make a hub for these classes.

    schema_name: where the tables of the classes are. present: the classes that the hub has already; their tables get
    the columns that they lack. is_new: whether the hub itself is made, too. is_old: whether it gets the functions of
    this version. role: who else may use it.
    """
    parts: List[str] = []
    if is_new or is_old:
        parts.append(_hub_sql() if is_new else _upgrade_sql())
        parts.append(f"COMMENT ON SCHEMA crealm IS {literal(_version())};")
    for one in classes:
        table = f"{quoted(schema_name)}.{quoted(one.name)}"
        lines = []
        for each in one.columns:
            key = " PRIMARY KEY" if each.name == one.key else ""
            lines.append(f"{quoted(each.name)} {each.type}{key} {each.rest}".rstrip())
        if one.name in present:
            for line, each in zip(lines, one.columns):
                parts.append(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS {_addable(line, each)};")
        else:
            parts.append(f"CREATE TABLE IF NOT EXISTS {table} (\n    " + ",\n    ".join(lines) + "\n);")
    for one in classes:
        parts += _registration(one, f"{quoted(schema_name)}.{quoted(one.name)}", one.name in present)
    made = {one.name for one in classes} | set(present)
    for one in classes:
        for each in one.columns:
            if each.target in made and each.kind == "link":
                parts.append(_foreign_key(one, each, classes, schema_name))
    if role is not None:
        parts.append(_grants(classes, schema_name, role))
    return "\n\n".join(parts) + "\n"


def _addable(line: str, column: Column) -> str:
    """A column for a table that may have rows: without NOT NULL unless it has a default."""
    if "NOT NULL" in column.rest and "DEFAULT" not in column.rest:
        zero = {
            "bool": "false",
            "string": "''",
            "uuid": "'00000000-0000-0000-0000-000000000000'",
            "data": "''",
            "date": "'epoch'",
            "objectId": "'\\x000000000000000000000000'",
        }.get(column.kind, "0")
        return f"{line} DEFAULT {zero}"
    return line


def _registration(one: HubClass, table: str, is_present: bool) -> List[str]:
    class_id = f"(SELECT id FROM crealm.class WHERE name = {literal(one.name)})"
    parts = []
    if not is_present:
        parts.append(
            "INSERT INTO crealm.class (name, relation, key, owner) VALUES "
            f"({literal(one.name)}, {literal(table)}::regclass, {literal(one.key)}, {literal(one.owner)});"
        )
    rows = ",\n    ".join(
        f"({class_id}, {literal(each.name)}, {literal(each.kind)}, {literal(each.target)})" for each in one.columns
    )
    parts.append(
        f"INSERT INTO crealm.property (class, name, kind, target) VALUES\n    {rows}\n"
        "ON CONFLICT (class, name) DO UPDATE SET kind = excluded.kind, target = excluded.target;"
    )
    if is_present:
        return parts
    # The arguments of a trigger are constants: the number of the class is known only here.
    parts.append(f"""DO $crealm$
DECLARE
    id int := {class_id};
BEGIN
    EXECUTE format('CREATE TRIGGER crealm_mark_inserted AFTER INSERT ON %1$s REFERENCING NEW TABLE AS crealm_new '
        'FOR EACH STATEMENT EXECUTE FUNCTION crealm.mark_inserted(%2$L, %3$L, %4$L);'
        'CREATE TRIGGER crealm_mark_updated AFTER UPDATE ON %1$s '
        'REFERENCING OLD TABLE AS crealm_old NEW TABLE AS crealm_new '
        'FOR EACH STATEMENT EXECUTE FUNCTION crealm.mark_updated(%2$L, %3$L, %4$L);'
        'CREATE TRIGGER crealm_mark_deleted AFTER DELETE ON %1$s REFERENCING OLD TABLE AS crealm_old '
        'FOR EACH STATEMENT EXECUTE FUNCTION crealm.mark_deleted(%2$L, %3$L, %4$L)',
        {literal(table)}, id, {literal(one.key)}, {literal(one.owner or '')});
    EXECUTE format('CREATE TRIGGER crealm_mark_truncate AFTER TRUNCATE ON %s FOR EACH STATEMENT '
        'EXECUTE FUNCTION crealm.mark_truncate(%L)',
        {literal(table)}, id);
    EXECUTE format('ALTER TABLE %1$s ENABLE ALWAYS TRIGGER crealm_mark_inserted, '
        'ENABLE ALWAYS TRIGGER crealm_mark_updated, '
        'ENABLE ALWAYS TRIGGER crealm_mark_deleted, ENABLE ALWAYS TRIGGER crealm_mark_truncate', {literal(table)});
    EXECUTE format('INSERT INTO crealm.shadow (class, key, xid, gone, at) '
        'SELECT %s, %I::text, pg_current_xact_id(), false, crealm.now() FROM %s',
        id, {literal(one.key)}, {literal(table)});
END
$crealm$;""")
    if one.owner is not None:
        parts.append(
            f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;\n"
            f"CREATE POLICY crealm_owner ON {table} USING ({quoted(one.owner)} = (SELECT crealm.me())) "
            f"WITH CHECK ({quoted(one.owner)} = (SELECT crealm.me()));"
        )
    return parts


def _foreign_key(one: HubClass, each: Column, classes: Sequence[HubClass], schema_name: str) -> str:
    target = next((other for other in classes if other.name == each.target), None)
    table, key = f"{quoted(schema_name)}.{quoted(one.name)}", quoted(target.key if target else "")
    name = quoted(f"crealm_{one.name}_{each.name}"[:_MOST_NAME])
    if target is None:
        return ""
    return (
        f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name};\n"
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({quoted(each.name)}) "
        f"REFERENCES {quoted(schema_name)}.{quoted(target.name)} ({key}) "
        "ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;"
    )


def _hub_sql() -> str:
    return resources.files("crealm.sync").joinpath("hub.sql").read_text(encoding="utf-8")


def _version() -> str:
    """The comment of the schema of a hub that has the functions of this version."""
    return f"CRealm hub {hashlib.sha256(_hub_sql().encode()).hexdigest()[:16]}"


def _upgrade_sql() -> str:
    """The statements that give a hub the functions of this version. Tables, marks and grants stay."""
    text = _hub_sql()
    for kind in ("SCHEMA", "TABLE", "INDEX"):
        text = re.sub(f"^CREATE {kind} ", f"CREATE {kind} IF NOT EXISTS ", text, flags=re.M)
    text = re.sub("^CREATE FUNCTION ", "CREATE OR REPLACE FUNCTION ", text, flags=re.M)
    text = re.sub(r"^CREATE VIEW (\S+)", r"DROP VIEW IF EXISTS \1;\nCREATE VIEW \1", text, flags=re.M)
    text = re.sub(r"^CREATE POLICY (\S+) ON (\S+)", r"DROP POLICY IF EXISTS \1 ON \2;\n\g<0>", text, flags=re.M)
    text = re.sub(r"^INSERT INTO crealm\.hub .*;$", "", text, flags=re.M)
    return _DROP_FUNCTIONS + text + _GRANT_VIEWS


# A function with other results cannot be replaced. Triggers and policies keep those that they use, whose form never
# changes.
_DROP_FUNCTIONS = """
DO $$
DECLARE
    one regprocedure;
BEGIN
    FOR one IN SELECT p.oid::regprocedure FROM pg_proc p
        WHERE p.pronamespace = 'crealm'::regnamespace AND p.prorettype <> 'trigger'::regtype
    LOOP
        BEGIN
            EXECUTE 'DROP FUNCTION ' || one;
        EXCEPTION WHEN dependent_objects_still_exist THEN
            NULL;
        END;
    END LOOP;
END
$$;
"""

# Whoever may use the schema may read the view that was made again.
_GRANT_VIEWS = """
DO $$
DECLARE
    one text;
BEGIN
    FOR one IN SELECT DISTINCT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
        FROM pg_namespace n, aclexplode(n.nspacl) a WHERE n.nspname = 'crealm'
    LOOP
        EXECUTE 'GRANT SELECT ON crealm.class, crealm.property, crealm.present, crealm.shadow TO ' || one;
    END LOOP;
END
$$;
"""


def _grants(classes: Sequence[HubClass], schema_name: str, role: str) -> str:
    name = quoted(role)
    tables = ", ".join(f"{quoted(schema_name)}.{quoted(one.name)}" for one in classes)
    return (
        f"GRANT USAGE ON SCHEMA crealm, {quoted(schema_name)} TO {name};\n"
        f"GRANT SELECT ON crealm.class, crealm.property, crealm.present, crealm.shadow TO {name};\n"
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {name};"
    )


def drop_sql(classes: Sequence[str], *, schema_name: str = "public", with_tables: bool = False) -> str:
    """The statements that remove a hub. The tables of the classes stay, unless with_tables."""
    parts = []
    for name in classes:
        table = f"{quoted(schema_name)}.{quoted(name)}"
        if with_tables:
            parts.append(f"DROP TABLE IF EXISTS {table} CASCADE;")
        else:
            parts.append(
                "".join(f"DROP TRIGGER IF EXISTS {name} ON {table};\n" for name in _TRIGGERS)
                +
                f"DROP POLICY IF EXISTS crealm_owner ON {table};"
            )
    parts.append("DROP SCHEMA IF EXISTS crealm CASCADE;")
    return "\n".join(parts) + "\n"


def init(
    url: str,
    db: "Database",
    *,
    classes: Optional[Sequence[str]] = None,
    owners: Mapping[str, str] = {},
    schema_name: str = "public",
    role: Optional[str] = None,
) -> str:
    """Makes the hub in a database of PostgreSQL, in one transaction, and returns the statements. A hub that exists gets
    the classes and properties that it lacks, and the functions of this version of the package."""
    with connect(url) as connection:
        sql = plan(connection, db, classes=classes, owners=owners, schema_name=schema_name, role=role)
        connection.execute(sql)
    return sql


def plan(
    connection: Any,
    db: "Database",
    *,
    classes: Optional[Sequence[str]] = None,
    owners: Mapping[str, str] = {},
    schema_name: str = "public",
    role: Optional[str] = None,
) -> str:
    """The statements that `init` runs."""
    is_new = connection.execute("SELECT to_regclass('crealm.hub') IS NULL").fetchone()[0]
    present = [] if is_new else [row[0] for row in connection.execute("SELECT name FROM crealm.class").fetchall()]
    wanted = hub_classes(db.schema, classes, owners)
    comment = connection.execute(
        "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = 'crealm'"
    ).fetchone()
    is_old = not is_new and comment[0] != _version()
    return init_sql(wanted, schema_name=schema_name, present=present, is_new=is_new, is_old=is_old, role=role)


def connect(url: str) -> Any:
    """A connection of psycopg. UsageError if psycopg is not installed."""
    try:
        import psycopg
    except ImportError as error:
        raise UsageError("A hub needs psycopg 3", hint='Install it: pip install "crealm[sync]"') from error
    return psycopg.connect(url)
