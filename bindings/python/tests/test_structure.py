"""The modules of the package import each other without cycles. Imports inside functions, and those for types only, count like all others."""

import ast
from pathlib import Path

import crealm
import pytest


def imported(module, package):
    """The modules of the package that a module imports, at any place in its text."""
    names = {path.stem for path in package.glob("*.py")}
    found = set()
    for node in ast.walk(ast.parse((package / f"{module}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            parts = (node.module or "").split(".")
            if node.level == 0:
                if parts[0] != package.name:
                    continue
                parts = parts[1:]
            if parts and parts[0]:
                found.add(parts[0])
            else:  # An import from the package itself: one of its modules, or a name in its __init__.
                found.update(alias.name if alias.name in names else "__init__" for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                first, _, rest = alias.name.partition(".")
                if first == package.name:
                    found.add(rest.split(".")[0] or "__init__")
    return found & names


def circle(package):
    """The modules of an import cycle; [] if there is none."""
    below = {path.stem: sorted(imported(path.stem, package)) for path in package.glob("*.py")}
    done, way = set(), []

    def walk(module):
        if module in way:
            return way[way.index(module) :] + [module]
        if module in done:
            return []
        way.append(module)
        found = next((c for c in map(walk, below[module]) if c), [])
        way.pop()
        done.add(module)
        return found

    return next((c for c in map(walk, sorted(below)) if c), [])


def test_modules_import_no_circle():
    package = Path(crealm.__file__).parent
    assert "_session" in imported("database", package) and "database" in imported("__init__", package)
    assert circle(package) == []


@pytest.mark.parametrize(
    "back",
    [
        "from .top import f",
        "from . import top",
        "import made.top",
        "from made.top import f",
        "def g():\n    from .top import f",
        "if TYPE_CHECKING:\n    from .top import f",
    ],
)
def test_a_circle_is_found(tmp_path, back):
    package = tmp_path / "made"
    package.mkdir()
    (package / "__init__.py").write_text("from .top import f\n")
    (package / "top.py").write_text("from . import middle\nf = middle\n")
    (package / "middle.py").write_text("from .bottom import g\n")
    (package / "bottom.py").write_text("g = 1\n")
    assert circle(package) == []
    (package / "bottom.py").write_text("TYPE_CHECKING = False\n" + back + "\n")
    assert circle(package) == ["top", "middle", "bottom", "top"]
