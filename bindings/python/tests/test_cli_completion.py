"""Completion and the page for man: they are made from the parser, and the installed files are up to date."""

import shutil
import subprocess
import sys

import pytest

from conftest import PACKAGE_ROOT
from crealm.cli import make_parser
from crealm.cli.completion import SHELLS, commands_of
from test_cli_import import quiet

SHARE = PACKAGE_ROOT / "share"
FILES = {"crealm.bash": ["completion", "bash"], "_crealm": ["completion", "zsh"], "crealm.fish": ["completion", "fish"], "crealm.1": ["manual"]}
COMMANDS = ["info", "check", "versions", "why", "where", "show", "schema", "rules", "migrate", "query", "sql", "export", "diff", "watch", "browse", "sync", "import", "backup", "restore", "compact", "encrypt", "rekey", "decrypt", "salvage", "recover-deleted"]


def made(name):
    code, said, out = quiet(FILES[name])
    assert (code, said) == (0, "")
    return out


def test_every_command_is_there():
    assert [command.name for command in commands_of(make_parser())] == COMMANDS
    assert all(command.help and all(option.help for option in command.options) for command in commands_of(make_parser()))


@pytest.mark.skipif(not SHARE.is_dir(), reason="the tests of an installed package have no sources")
@pytest.mark.parametrize("name", FILES)
def test_what_is_installed_is_what_the_parser_makes(name):
    (file,) = SHARE.rglob(name if name != "crealm.bash" else "bash/crealm")
    assert file.read_text(encoding="utf-8") == made(name), f"python -m crealm {' '.join(FILES[name])} > {file}"


@pytest.mark.parametrize("words, expected", [
    (["crealm", "ex"], ["export"]),
    (["crealm", "export", "--for"], ["--format"]),
    (["crealm", "export", "a", "b", "--format", ""], ["json", "ndjson", "csv", "sqlite", "xlsx", "parquet", "arrow"]),
    (["crealm", "import", "a", "--update", "mod"], ["modified"]),
    (["crealm", "info", "some f"], ["some file.realm"]),
    (["crealm", "query", "x", "--j"], ["--json"]),
])  # fmt: skip
def test_bash(tmp_path, words, expected):
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    (tmp_path / "some file.realm").touch()
    (tmp_path / "completion").write_text(made("crealm.bash"), encoding="utf-8")
    quoted = " ".join("'" + word + "'" for word in words)
    script = f"source completion; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _crealm; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines() == expected and done.stderr == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_accept_it(tmp_path, shell):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell}")
    file = tmp_path / "completion"
    file.write_text(quiet(["completion", shell])[2], encoding="utf-8")
    done = subprocess.run([program, "-n", file], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_fish_and_zsh_name_all_commands():
    fish, zsh = quiet(["completion", "fish"])[2], quiet(["completion", "zsh"])[2]
    for name in COMMANDS:
        assert f"-a {name} -d" in fish and f"        {name}) _arguments" in zsh and f"        '{name}:" in zsh
    assert "-l format -x -a 'json ndjson csv sqlite xlsx parquet arrow'" in fish


def test_the_page_for_man(tmp_path):
    page = made("crealm.1")
    assert page.startswith(".TH CREALM 1") and all(f".SS crealm {name}" in page for name in COMMANDS)
    assert "Exit codes: 0 done" in page and "completion" not in page
    program = next(filter(None, map(shutil.which, ("mandoc", "groff"))), None)
    if program is None:
        pytest.skip("there is neither mandoc nor groff")
    file = tmp_path / "crealm.1"
    file.write_text(page, encoding="utf-8")
    arguments = ["-man", "-Tutf8", "-ww", "-K", "utf8", "-z"] if "groff" in program else ["-T", "lint", "-W", "error"]
    done = subprocess.run([program, *arguments, file], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_hidden_commands_are_not_shown():
    done = subprocess.run([sys.executable, "-m", "crealm", "--help"], capture_output=True, text=True, cwd=PACKAGE_ROOT)
    assert done.returncode == 0 and "watch" in done.stdout and "completion" not in done.stdout and "Exit codes" in done.stdout
