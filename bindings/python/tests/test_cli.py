"""The command line, and the example."""

import os
import runpy
import shutil
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

import crealm
from conftest import FIXTURES, REPOSITORY
from crealm.__main__ import main


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "shop.realm"
    schema = [
        crealm.ClassSchema(
            "Item",
            {
                "id": int,
                "name": crealm.Prop(str, indexed=True),
                "made": datetime,
                "tags": list[str],
                "any": Any,
                "of": "Item",
            },
            primary_key="id",
        ),
        crealm.ClassSchema("Nothing", {"n": int}),
    ]
    with crealm.open(file, schema=schema, schema_version=2) as db, db.write():
        for n in range(12):
            db["Item"].create(
                n, name="x" * n * 5, made=datetime(2024, 1, 1, tzinfo=timezone.utc), of=db["Item"].first()
            )
        db["Item"].get(1).any = "line\nbreak\x1b[31m"
        db["Item"].get(2).any = b"\1\2" * 100
    for companion in tmp_path.iterdir():
        if companion != file:
            companion.unlink()
    return file


def test_show(file, capsys):
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    assert main(["show", str(file), "--limit", "3"]) == 0
    out = capsys.readouterr().out
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before and [
        f.name for f in file.parent.iterdir()
    ] == ["shop.realm"]
    lines = out.splitlines()
    assert lines[0] == "Item: 12 objects, primary key id" and "Nothing: 0 objects" in lines
    assert "  id        int        primary key" in lines and "  of        Item" in lines
    header = next(line for line in lines if line.startswith("  #"))
    rows = lines[lines.index(header) + 1 :][:3]
    column = header.index("made")
    assert all(row[column - 2 :].startswith("  2024-01-01 00:00:00Z") for row in rows)
    assert "line\\nbreak\\x1b[31m" in rows[1] and "Item #0" in rows[1] and "200 bytes 0102" in rows[2]
    assert "  … 9 more" in lines and "\x1b" not in out
    assert main(["show", str(file), "--class", "Item"]) == 0
    long = [line for line in capsys.readouterr().out.splitlines() if "xxxxxxxxxx…" in line]
    assert len(long) == 4
    assert main(["show", str(file), "--limit", "0", "--class", "Item"]) == 0
    assert "#" not in capsys.readouterr().out


def test_info(file, capsys):
    assert main(["info", str(file), "--check"]) == 0
    out = capsys.readouterr().out
    for part in (
        str(file),
        "schema version  2",
        "objects         12",
        "check           sound",
        "primary key id",
    ):
        assert part in out
    assert [f.name for f in file.parent.iterdir()] == ["shop.realm"]


def test_a_file_that_is_being_written(file):
    with crealm.open(file) as db, db.write():
        before = sorted(f.name for f in file.parent.iterdir())
        done = run("-m", "crealm", "info", "--check", file)
        assert done.returncode == 0 and "objects         12" in done.stdout and done.stderr == ""
        assert "version in use" in done.stdout and f" {os.getpid()} " in done.stdout
        assert sorted(f.name for f in file.parent.iterdir()) == before


def test_trouble(tmp_path, file, capsys):
    assert main(["show", str(tmp_path / "none.realm")]) == 1
    assert "none.realm" in capsys.readouterr().err
    other = tmp_path / "other.txt"
    other.write_text("no realm")
    assert main(["info", str(other)]) == 1
    assert main(["show", str(file), "--class", "Nobody"]) == 1
    assert main(["show", str(file), "--key", str(other)]) == 1
    assert "64 bytes" in capsys.readouterr().err
    with pytest.raises(SystemExit) as info:
        main([])
    assert info.value.code == 2


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=1800,
        **options,
    )


def test_as_a_module(file):
    done = run("-m", "crealm", "info", file)
    assert done.returncode == 0 and "classes" in done.stdout and done.stderr == ""
    assert run("-m", "crealm", "--version").stdout.startswith("crealm 0.1.0")


def test_a_reader_that_stops_early(file):
    command = f'"{sys.executable}" -m crealm show "{file}" | head -n 1'
    done = run("-c", f"import subprocess, sys; sys.exit(subprocess.run({command!r}, shell=True).returncode)")
    assert done.stdout == "Item: 12 objects, primary key id\n" and done.stderr == ""


def test_show_every_fixture(tmp_path, capsys):
    for source in [*FIXTURES.glob("sdk/*.realm"), *FIXTURES.glob("ops/[!d]*.realm")]:
        file = tmp_path / "file.realm"
        shutil.copyfile(source, file)
        before = file.read_bytes()
        code = main(["show", str(file), "--limit", "3"])
        out = capsys.readouterr()
        assert (code == 0 and out.out) or (code == 1 and out.err.startswith("crealm: "))
        assert code == 0 or source.with_suffix(".key").exists() or "sync" in source.name
        assert file.read_bytes() == before and [f.name for f in tmp_path.iterdir()] == ["file.realm"]


def test_the_library_is_found_or_the_error_says_how(tmp_path):
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(crealm.__file__).parents[1]),
        "CREALM_LIBRARY": str(tmp_path / "no.so"),
    }
    done = subprocess.run(
        [sys.executable, "-c", "import crealm"], env=environment, capture_output=True, text=True
    )
    assert "ImportError" in done.stderr and "CREALM_LIBRARY" in done.stderr and "no.so" in done.stderr


def test_people(tmp_path, capsys):
    example = REPOSITORY / "examples" / "python" / "people.py"
    people = runpy.run_path(str(example))
    file = tmp_path / "people.realm"
    people["main"](str(file))
    assert "2 people" in capsys.readouterr().out
    people["main"](str(file))
    out = capsys.readouterr().out
    assert "4 people" in out and "Ada is liked by Bob" in out and "Nowhere" not in out
    with crealm.open(file, mode="r") as db:
        assert db.schema_version == 1 and db.verify() == []


def test_library(tmp_path, capsys):
    example = REPOSITORY / "examples" / "python" / "library.py"
    library = runpy.run_path(str(example))
    file = tmp_path / "library.realm"
    library["main"](str(file))
    out = capsys.readouterr().out
    assert "migrating from version 1" in out and "Lem wrote Solaris, Eden" in out and '"reader": "Ann"' in out
    with crealm.open(file, mode="r") as db:
        assert db.schema_version == 2 and db.verify() == [] and len(db["Loan"]) == 1
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, env=environment())
    assert done.returncode == 0 and done.stderr == "" and "Roadside" in done.stdout


def environment():
    return {**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])}
