"""Files of formats 2 to 9, read through the whole package. Tests/OldFormats compares their contents with an independent reader."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

import crealm

ROOT = pathlib.Path(__file__).resolve().parents[3]


def _maker():
    spec = importlib.util.spec_from_file_location("make_old", ROOT / "Tests/OldFormats/make_old.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make_old = _maker()
SEEDS = range(400, 412)


@pytest.fixture(params=SEEDS)
def old(request, tmp_path):
    path = tmp_path / "old.realm"
    path.write_bytes(make_old.make(request.param, rows=300))
    return path


def contents(db):
    """All contents, by class and key."""
    return {name: {o._key: [plain(getattr(o, p)) for p in cls.properties] for o in db[name]} for name, cls in db.schema.items()}


def plain(value):
    if isinstance(value, crealm.Object):
        return value.class_name, value._key
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (str, bytes)):
        return value
    try:
        return [plain(v) for v in value]
    except TypeError:
        return value


@pytest.mark.parametrize("mode", ["immutable", "r", "snapshot"])
def test_reading_changes_nothing(old, mode):
    before = old.read_bytes()
    with crealm.open(old, mode=mode) as db:
        shown = contents(db)
        assert not db.verify()
        assert sum(part.bytes for part in db.space()) == len(before)
    assert old.read_bytes() == before and [p.name for p in old.parent.iterdir()] == ["old.realm"]
    with crealm.open(old, mode="immutable") as db:
        assert contents(db) == shown


def test_the_upgrade_keeps_everything(old):
    before = old.read_bytes()
    with crealm.open(old, mode="r") as db:
        shown = contents(db)
    with crealm.open(old, mode="rw") as db:
        assert contents(db) == shown
        for name, cls in db.schema.items():
            if cls.primary_key:
                for o in list(db[name])[:20]:
                    assert db[name].get(getattr(o, cls.primary_key))._key == o._key
    backups = [p for p in old.parent.iterdir() if ".backup." in p.name]
    assert len(backups) == 1 and backups[0].read_bytes() == before
    with crealm.open(old, mode="r") as db:
        assert contents(db) == shown


def test_queries_answer_as_after_the_upgrade(old, tmp_path):
    new = tmp_path / "new.realm"
    new.write_bytes(old.read_bytes())
    with crealm.open(new, mode="rw"):
        pass
    with crealm.open(old, mode="r") as a, crealm.open(new, mode="r") as b:
        asked = 0
        for name, cls in a.schema.items():
            for prop, facts in cls.properties.items():
                for query in questions(prop, facts, a[name]):
                    keys = [[o._key for o in ordered(db[name].where(*in_database(query, db)), cls)] for db in (a, b)]
                    assert keys[0] == keys[1], (name, query)
                    asked += 1
            if all(p.collection is None for p in cls.properties.values()):
                assert str(list(a[name].to_dicts())) == str(list(b[name].to_dicts()))
        assert asked or not any(len(a[name]) for name in a.schema)


def in_database(query, db):
    """Keys are row numbers: the same object has the same position."""
    return [db[v.class_name][v._key] if isinstance(v, crealm.Object) else v for v in query]


def ordered(results, cls):
    by = next((n for n, p in cls.properties.items() if p.collection is None and p.type in (int, float, str)), None)
    return results if by is None else results.sort(by)


def questions(prop, facts, results):
    name = prop.replace(" ", "\\ ")
    if facts.collection:
        yield (f"{name}.@count > 1",)
        return
    yield (f"{name} == NULL",) if facts.optional else (f"{name} != NULL",)
    for o in list(results)[:3]:
        value = getattr(o, prop)
        if isinstance(value, (int, str, bytes)) and not isinstance(value, bool):
            yield (f"{name} == $0", value)
            yield (f"{name} > $0", value)
        elif isinstance(value, crealm.Object):
            yield (f"{name} == $0", value)


def test_writing_is_refused_where_it_must_not_upgrade(old):
    before = old.read_bytes()
    with crealm.open(old, mode="r") as db:
        with pytest.raises(crealm.Error):
            with db.write():
                pass
        with pytest.raises(crealm.Error, match="open in another program|already open|reading"):
            crealm.open(old, mode="rw")
    assert old.read_bytes() == before


def test_a_program_that_reads_keeps_others_from_upgrading(old):
    program = (
        "import crealm, sys\n"
        f"db = crealm.open({str(old)!r}, mode='r')\n"
        "print('open', flush=True)\n"
        "sys.stdin.readline()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(crealm.Error, match="open in another program"):
            crealm.open(old, mode="rw")
        for limit in (0, 0.02):
            with pytest.raises(crealm.TimedOut):
                crealm.open(old, mode="rw", timeout=limit)
        told = []
        with pytest.raises(crealm.Interrupted):
            crealm.open(old, mode="rw", progress=lambda what, done, total: told.append(what) or len(told) < 3)
        assert told == ["waiting"] * 3
        other.stdin.close()
        assert other.wait(60) == 0
    with crealm.open(old, mode="rw") as db:
        assert contents(db) is not None
    assert not [p for p in old.parent.iterdir() if "tmp" in p.name]


def test_half_upgraded_files_say_so(tmp_path):
    """A file of the current format with the number of an old one, as an interrupted upgrade leaves it."""
    path = tmp_path / "half.realm"
    with crealm.open(path, schema=[crealm.ClassSchema("A", {"n": crealm.Prop(int)})]) as db:
        with db.write():
            db["A"].create(n=1)
    data = bytearray(path.read_bytes())
    data[20:22] = b"\x09\x09"
    path.write_bytes(data)
    with pytest.raises(crealm.UnsupportedFormat, match="interrupted"):
        crealm.open(path, mode="immutable")


# Found by attacks on the reader


def shared_specs(depth, width):
    """A table whose sub-specs share their nodes: a few hundred bytes describe width ** depth columns."""
    m = make_old.Maker(1, 0, 9, 1000)
    spec = m.refs([m.ints([0]), m.small_names([b"v"]), m.ints([0])])
    for _ in range(depth):
        spec = m.refs([m.ints([make_old.TABLE] * width), m.small_names([b""] * width), m.ints([0] * width), m.refs([spec] * width)])
    return m, m.refs([spec, m.refs([m.refs([])] * width)])


@pytest.mark.parametrize("depth", [8, 14])
def test_specs_that_share_their_nodes_are_refused(tmp_path, depth):
    m, table = shared_specs(depth, 4)
    path = tmp_path / "dag.realm"
    path.write_bytes(m.finish([m.small_names([b"class_A"]), m.refs([table])]))
    with pytest.raises(crealm.Error, match="columns"):
        crealm.open(path, mode="immutable")


@pytest.mark.parametrize("rows", [20_000, 900_000])
def test_rows_that_take_no_space(tmp_path, rows):
    """A column of zeros takes eight bytes, for any number of rows. Rows of a sub-table become lists, so their number is limited more strictly."""
    m = make_old.Maker(1, 0, 9, 1000)
    zeros = m.put(0, rows, b"")
    subs = m.refs([m.refs([zeros, zeros])])
    spec = m.refs([m.ints([make_old.TABLE]), m.small_names([b"v"]), m.ints([0]), m.refs([m.spec([(make_old.INT, 0)] * 2)])])
    path = tmp_path / "zeros.realm"
    path.write_bytes(m.finish([m.small_names([b"class_A"]), m.refs([m.refs([spec, m.refs([subs])])])]))
    with crealm.open(path, mode="immutable") as db:
        one = list(db["A"])[0]
        if rows > 100_000:
            with pytest.raises(crealm.Error, match="more elements"):
                len(one.v)
        else:
            assert len(one.v) == rows and plain(one.v[rows - 1]) == [0, 0]


def test_many_tables_that_share_a_spec_are_refused(tmp_path):
    m = make_old.Maker(1, 0, 9, 1000)
    spec = m.refs([m.ints([0] * 1000), m.small_names([b""] * 1000), m.ints([0] * 1000)])
    table = m.refs([spec, m.refs([m.ints([])] * 1000)])
    path = tmp_path / "tables.realm"
    path.write_bytes(m.finish([m.small_names([b"class_%d" % i for i in range(500)]), m.refs([table] * 500)]))
    with pytest.raises(crealm.Error, match="columns"):
        crealm.open(path, mode="immutable")


def one_column(m, kind, root, keys=None):
    """The bytes of a file with one class that has one column."""
    spec = [m.ints([kind]), m.small_names([b"v"]), m.ints([0]), 0] + ([m.refs([keys])] if keys else [])
    return m.finish([m.small_names([b"class_A"]), m.refs([m.refs([m.refs(spec), m.refs([root])])])])


@pytest.mark.parametrize("number", [1, 2**40, 2**62, 2**63 - 2, 2**63 - 1, -1, 1 - 2**63])
def test_the_number_of_a_value_may_be_any(tmp_path, number):
    """Values of enumerated columns and texts of Mixed values are indexes of elements in another column; a wrong index raises."""
    path = tmp_path / "numbers.realm"
    m = make_old.Maker(1, 0, 9, 1000)
    enumerated = one_column(m, make_old.ENUM, m.ints([number]), m.strings(False)([b"a"]))
    m = make_old.Maker(1, 0, 9, 1000)
    slots = [m.ints([2]), m.refs([m.tagged(number & 2**63 - 1)]), m.binaries(True)([b"a\0"])]
    for data in enumerated, one_column(m, make_old.MIXED, m.refs(slots)):
        path.write_bytes(data)
        with crealm.open(path, mode="immutable") as db, pytest.raises(crealm.Error, match="column|value|leaf"):
            list(db["A"])[0].v


def test_names_that_are_made_fit_and_differ(tmp_path):
    """Columns may have no name, or share one. The suffix that makes names different needs space, and so do bytes that are not UTF-8."""
    long = "é" * 31
    given = [b"", b"a", b"a_2", b"a", long.encode(), long.encode(), b"\xff" * 63, b"col_0", b"a", b"a_8"]
    made = ["col_0", "a", "a_2", "a_3", long, "é" * 30 + "_5", "\ufffd" * 21, "col_0_7", "a_8", "a_8_9"]
    m = make_old.Maker(1, 0, 9, 1000)
    spec = m.refs([m.ints([make_old.INT] * len(given)), m.small_names(given), m.ints([0] * len(given))])
    table = m.refs([spec, m.refs([m.ints([i]) for i in range(len(given))])])
    path = tmp_path / "names.realm"
    path.write_bytes(m.finish([m.small_names([b"class_A", b"class_" + b"\xff" * 57]), m.refs([table, table])]))
    for mode in "r", "rw", "r":
        with crealm.open(path, mode=mode) as db:
            assert sorted(db.schema) == ["A", "\ufffd" * 19]
            shown = list(db["A"])[0]
            assert [(name, getattr(shown, name)) for name in db.schema["A"].properties] == list(zip(made, range(len(given))))


def test_lists_inside_of_rows_are_lists_of_values(tmp_path):
    """A sub-table with one column is a list of values at any place; one with several columns is a list of rows."""
    m = make_old.Maker(1, 0, 9, 1000)
    inner = m.spec([(make_old.INT, 0)])

    def numbers(*values):
        return m.refs([m.ints(values)])

    rows = m.refs([m.refs([m.ints([7, 8]), m.refs([numbers(1, 2), 0])])])
    lists = m.refs([m.refs([m.refs([numbers(3), numbers(4, 5)])])])
    pair = m.refs([m.ints([make_old.INT, make_old.TABLE]), m.small_names([b"a", b"b"]), m.ints([0, 0]), m.refs([inner])])
    lone = m.refs([m.ints([make_old.TABLE]), m.small_names([b"a"]), m.ints([0]), m.refs([inner])])
    spec = [m.ints([make_old.TABLE] * 2), m.small_names([b"rows", b"lists"]), m.ints([0, 0]), m.refs([pair, lone])]
    path = tmp_path / "lists.realm"
    path.write_bytes(m.finish([m.small_names([b"class_A"]), m.refs([m.refs([m.refs(spec), m.refs([rows, lists])])])]))
    for mode in "r", "rw", "r":
        with crealm.open(path, mode=mode) as db:
            shown = list(db["A"])[0]
            assert [plain(shown.rows), plain(shown.lists)] == [[[7, [1, 2]], [8, []]], [[3], [4, 5]]]


@pytest.mark.parametrize("taken", ["other", "empty", "folder", "link"])
def test_a_backup_whose_name_is_taken_gets_another(old, taken):
    before = old.read_bytes()
    name = old.parent / f"old.v{before[20 + (before[23] & 1)]}.backup.realm"
    if taken == "other":
        name.write_bytes(make_old.make(999))
    elif taken == "empty":
        name.write_bytes(b"")
    elif taken == "folder":
        name.mkdir()
    else:
        name.symlink_to(old)
    with crealm.open(old, mode="rw"):
        pass
    backups = [p for p in old.parent.iterdir() if ".backup." in p.name and p != name]
    assert len(backups) == 1 and backups[0].read_bytes() == before


def test_programs_that_open_at_once_all_open(tmp_path):
    path = tmp_path / "old.realm"
    path.write_bytes(make_old.make(403, rows=600))
    program = f"import crealm, sys; sys.stdin.readline(); db = crealm.open({str(path)!r}, mode='rw'); print(sum(len(db[c]) for c in db.schema))"
    all_of_them = [
        subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(5)
    ]
    for one in all_of_them:
        one.stdin.write("\n")
        one.stdin.flush()
    shown = {one.communicate(timeout=300)[0] for one in all_of_them}
    assert len(shown) == 1 and shown != {""} and all(one.returncode == 0 for one in all_of_them)


@pytest.mark.parametrize("mode", ["snapshot", "r", "immutable"])
def test_a_copy_lets_in_whom_the_file_lets_in(old, mode):
    old.chmod(0o600)
    with crealm.open(old, mode=mode) as db:
        db.backup(old.parent / "copy.realm")
    assert (old.parent / "copy.realm").stat().st_mode & 0o777 == 0o600
