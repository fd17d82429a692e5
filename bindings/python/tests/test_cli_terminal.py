"""The output of commands: JSON for programs, and tables on a terminal, which no value can control."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import crealm
from conftest import FIXTURES
from test_cli_import import quiet

EVIL = "\x1b[2J\x07\u202e\x9b31m\r\nend"


@pytest.fixture
def file(tmp_path):
    """A file with names and values that could control a terminal."""
    file = tmp_path / "evil.realm"
    schema = [crealm.ClassSchema("Cl\x1bass", {"na\x1bme": str, "any": Any, "by": dict[str, str]}), crealm.ClassSchema("../../x", {"n": int})]
    with crealm.open(file, schema=schema) as db, db.write():
        db["Cl\x1bass"].create(**{"na\x1bme": EVIL, "any": [EVIL], "by": {EVIL: EVIL}})
        db["../../x"].create(n=1)
    return file


def on_a_terminal(*arguments, **variables):
    """The output of a command to a terminal, from both channels."""
    main, side = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1]), "TERM": "xterm", "COLUMNS": "200", **variables}
    process = subprocess.Popen(
        [sys.executable, "-m", "crealm", *map(str, arguments)], stdout=side, stderr=side, stdin=subprocess.DEVNULL, env=environment)
    os.close(side)
    found = b""
    try:
        while part := os.read(main, 65536):
            found += part
    except OSError:
        pass  # The other side is closed.
    os.close(main)
    return process.wait(60), found.decode("utf-8")


COMMANDS = [
    ["info"], ["info", "--json"], ["show"], ["show", "--json"], ["schema"], ["schema", "--swift"], ["schema", "--json"], ["check"],
    ["query", "Cl\x1bass"], ["query", "Cl\x1bass", "--json"], ["query", "Cl\x1bass", "--ndjson"], ["query", "Cl\x1bass", "--csv"],
    ["query", "Cl\x1bass where any == 1", "--explain"], ["query", "No\x1bbody"], ["query", "Cl\x1bass where \x1b"], ["export", "-", "--format", "json"],
    ["export", "-", "--format", "ndjson"], ["diff", "other.realm"], ["show", "--class", "\x1b"], ["versions"], ["import", "\x1b.json"],
]  # fmt: skip


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: " ".join(arguments).replace("\x1b", "ESC"))
def test_no_value_steers_a_terminal(file, tmp_path, arguments):
    other = tmp_path / "other.realm"
    crealm.open(other, schema=[crealm.ClassSchema("O\x9bther", {"n": int})]).close()
    command, *rest = [str(other) if part == "other.realm" else part for part in arguments]
    # Without `rich`, which writes its own escape codes.
    code, text = on_a_terminal(command, file, *rest, CREALM_PLAIN="1")
    assert code in (0, 1, 4) and text.strip()
    assert [ch for ch in text if not ch.isprintable() and ch not in "\r\n\t"] == []


def test_tables_on_a_terminal(file):
    pytest.importorskip("rich")
    code, text = on_a_terminal("show", file)
    assert code == 0 and "\\x1b[2J" in text and "\x1b[2J" not in text and "\u202e" not in text and "\x9b" not in text
    assert "\x1b[1m" in text  # The header is bold.
    assert "\x1b" not in quiet(["show", file])[2]


def test_names_of_classes_stay_in_the_folder(file, tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert quiet(["export", file, tmp_path / "a" / "b" / "out", "--format", "csv"])[0] == 0
    assert sorted(f.name for f in (tmp_path / "a" / "b" / "out").iterdir()) == ["%2e%2e%2f%2e%2e%2fx.csv", "Cl%1bass.csv"]
    assert list((tmp_path / "a").iterdir()) == [tmp_path / "a" / "b"]


def test_progress_is_for_terminals(file, tmp_path, capsys):
    pytest.importorskip("rich")
    assert quiet(["export", file, tmp_path / "a.json"])[1:] == ("", "")
    code, text = on_a_terminal("export", file, tmp_path / "b.json")
    assert code == 0 and "export to json" in text


# ------------------------------------------------------------------------------------------------
# JSON
# ------------------------------------------------------------------------------------------------


def test_every_command_has_json(tmp_path):
    file, key = tmp_path / "a.realm", tmp_path / "key"
    key.write_bytes(bytes(64))
    with crealm.open(file, schema=[crealm.ClassSchema("T", {"n": int})]) as db, db.write():
        db["T"].create(n=1)

    def ask(*arguments):
        code, said, out = quiet([*arguments, "--json"])
        assert (code, said) == (0, ""), arguments
        return json.loads(out)

    found = ask("info", file, "--check")
    assert (found["objects"], found["format"], found["encrypted"], found["history"], found["sound"]) == (1, 24, False, "in the file", True)
    checked = ask("check", file)
    assert (checked["file"], checked["sound"], checked["faultCount"], checked["faults"]) == (str(file), True, 0, [])
    assert ask("show", file)[0]["objects"] == [{"$key": 0, "n": 1}] and ask("show", file)[0]["count"] == 1
    assert ask("schema", file)["classes"][0]["name"] == "T"
    assert ask("query", file, "T") == [{"$key": 0, "n": 1}]
    assert ask("versions", file)["versions"] == []
    assert ask("export", file, tmp_path / "a.csv") == {"format": "csv", "out": str(tmp_path / "a.csv"), "classes": 1, "objects": 1, "lost": {}}
    assert ask("import", tmp_path / "b.realm", tmp_path / "a.csv", "--class", "T")["classes"] == {"T": 1}
    assert ask("diff", file, tmp_path / "b.realm") == {"schema": [], "objects": [], "counts": {}}
    assert ask("backup", file, tmp_path / "c.realm")["copySize"] == (tmp_path / "c.realm").stat().st_size
    assert ask("compact", file)["compacted"] is True
    assert ask("encrypt", file, "--new-key", key) == {"file": str(file), "encrypted": True}
    assert ask("rekey", file, "--key", key, "--new-key", key) == {"file": str(file), "encrypted": True}
    assert ask("decrypt", file, "--key", key) == {"file": str(file), "encrypted": False}
    assert quiet(["watch", file, "--json", "--for", "0"])[0] == 0


# ------------------------------------------------------------------------------------------------
# Facts of files
# ------------------------------------------------------------------------------------------------


def test_info_tells_encryption(tmp_path):
    file, key, words = tmp_path / "a.realm", tmp_path / "key", tmp_path / "words"
    key.write_bytes(bytes(range(64)))
    words.write_text("a b c\n", encoding="utf-8")
    crealm.open(file, schema=[crealm.ClassSchema("T", {"n": int})]).close()
    plain = quiet(["info", file])[2]
    assert "file format     24" in plain and "encryption      none" in plain and "history         in the file" in plain
    assert quiet(["decrypt", file])[0] == 1
    for cipher, shown in ("xchacha20", "XChaCha20-Poly1305"), ("aes256gcm", "AES-256-GCM"), ("realm", "AES-256-CBC"):
        assert quiet(["encrypt", file, "--new-key", key, "--cipher", cipher])[0] == 0
        code, said, out = quiet(["info", file])
        assert code == 1 and "kind        encrypted" in out and "of 64 bytes" in said
        out = quiet(["info", file, "--key", key])[2]
        assert f"encryption      {shown}" in out and "opened by a key" in out
        code, said, _ = quiet(["encrypt", file, "--key", key, "--new-key", key])
        assert code == 1 and "encrypted already" in said
        assert quiet(["decrypt", file, "--key", key])[0] == 0 and quiet(["check", file])[0] == 0
    assert quiet(["encrypt", file, "--new-passphrase-file", words])[0] == 0
    assert json.loads(quiet(["info", file, "--passphrase-file", words, "--json"])[2])["secret"] == "passphrase"
