"""The examples in docs/python run unchanged, and the reference there has all public names of the package."""

import ast
import contextlib
import inspect
import re
import runpy
import shutil
from pathlib import Path

import pytest

import crealm
from conftest import REPOSITORY
from documents import Session, examples

FOLDER = REPOSITORY / "docs/python"
PAGES = sorted(FOLDER.glob("*.md"))
# Creates the file phone.realm, which the examples read.
PHONE = FOLDER / "phone.py"
EXAMPLES = [pytest.param(page, number, id=f"{page.stem}:{e.line}") for page in PAGES for number, e in enumerate(examples(page))]
# `open` is not in `from crealm import *`, because it would hide the function of Python.
PUBLIC = [*crealm.__all__, "open"]
# Names in the reference; a module is there for its docstring.
REFERENCE = re.findall(r"^::: crealm\.(\w+)$", "\n".join(p.read_text(encoding="utf-8") for p in sorted((FOLDER / "reference").glob("*.md"))), re.M)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """The session of a page; its first example begins it."""
    sessions = {}

    def of(page):
        if page not in sessions:
            folder = tmp_path_factory.mktemp(page.stem)
            shutil.copy(PHONE, folder)
            runpy.run_path(str(folder / PHONE.name))["make"](str(folder / "phone.realm"))
            sessions[page] = Session(page, folder)
        return sessions[page]

    yield of
    for one in sessions.values():
        one.close()


@pytest.mark.parametrize("page, number", EXAMPLES)
def test_example(session, page, number):
    example = examples(page)[number]
    if not example.is_run:
        ast.parse(example.source if example.language == "python" else "")
        pytest.skip("no machine could run it")
    if example.lacking() is not None:
        pytest.skip(f"{example.lacking()} is not there")
    session(page).run(number)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_example_shows_what_it_does(page):
    silent = [e.line for e in examples(page) if not e.says_what_it_does()]
    assert silent == [], f"examples of {page.name} that assert nothing and show no output"


@pytest.mark.parametrize("text, fault", [
    ("```python\nprint(1)\n```\n```text\n1\n```\n", None),
    ("```python\nprint(12)\n```\n```text\n1…\n```\n", None),
    ("```sh\ncrealm --version | cut -c 1-6\n```\n```text\ncrealm\n```\n", None),
    ("```python\nprint(1)\n```\n```text\n2\n```\n", "printed"),
    ("```python\nassert print(1) is None\n```\n", "does not show"),
    ("```python\nassert 1 == 2, 'unequal'\n```\n", "unequal"),
    ("```python\n1 / 0\n```\n", "division"),
])  # fmt: skip
def test_what_an_example_must_do(tmp_path, text, fault):
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    (tmp_path / "folder").mkdir()
    session = Session(page, tmp_path / "folder")
    with contextlib.closing(session), contextlib.nullcontext() if fault is None else pytest.raises(Exception, match=fault):
        session.run(0)
    assert examples(page)[0].says_what_it_does() == (fault != "division")


def test_the_reference_has_every_public_name_once():
    names = [name for name in REFERENCE if not inspect.ismodule(getattr(crealm, name, None))]
    assert sorted(names) == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_public_is_documented(name):
    value = getattr(crealm, name)
    if not inspect.isclass(value) and not inspect.isroutine(value):
        assert _documented_constant(name), f"crealm.{name} has no docstring"
        return
    assert inspect.getdoc(value), f"crealm.{name} has no docstring"
    members = [key for key, one in vars(value).items() if inspect.isroutine(one) or isinstance(one, property)] if inspect.isclass(value) else []
    bare = [key for key in members if key[0] != "_" and not inspect.getdoc(getattr(value, key))]
    assert bare == [], f"without a docstring in crealm.{name}"


def _documented_constant(name):
    """Whether a docstring follows the assignment of a module's constant."""
    body = ast.parse(Path(crealm.__file__).read_text(encoding="utf-8")).body
    for node, following in zip(body, body[1:]):
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant) and isinstance(following.value.value, str)
    return False
