"""Properties that a file computes from others; see the page "Rules"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NoReturn, Optional, Type

from . import _marshal as c
from ._library import lib
from .errors import NoSuchProperty
from .expressions import Path
from .values import Float32

class Computed:
    """The result of computed(): a property whose value follows from others. It cannot be set."""

    __slots__ = ("name", "expression")

    def __init__(self, expression: str) -> None:
        self.name = ""
        self.expression = expression

    def __set_name__(self, owner: Any, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any) -> Any:
        if instance is None:
            return Path.of(owner, self)
        if instance._db is None:
            raise AttributeError(f"{owner.__name__}.{self.name} is computed: it has a value in a database only")
        return value_of(instance, self.name)

    def __set__(self, instance: Any, value: Any) -> NoReturn:
        raise AttributeError(f"{self.name} is computed from other properties: change those instead")

    # For paths of conditions

    def _leads_to(self) -> Optional[Type[Any]]:
        return None

    def _is_many(self) -> bool:
        return False

    def _is_dictionary(self) -> bool:
        return False

    def _is_known(self) -> bool:
        return True


if TYPE_CHECKING:

    def computed(expression: str, *, init: Literal[False] = False) -> Any: ...

else:

    def computed(expression: str) -> Any:
        """Declares a property whose value follows from others: `total: float = computed("price * count")`. Conditions and
        sorts can name it. The expression is a value of the query language, with the names of the file: arithmetic, paths
        over links to one object, sizes and aggregates."""
        return Computed(expression)


def value_of(obj: Any, name: str) -> Any:
    """The value of a computed property."""
    found = obj._handle.call(c.get_value, lib.crealm_object_get_computed, c.c_name(name))
    if isinstance(found, c.Link):
        return obj._db._object(found.class_key, found.object_key)
    return float(found) if isinstance(found, Float32) else found


def value_if_known(obj: Any, name: str, unknown: NoSuchProperty) -> Any:
    """The value of a computed property that only the file knows. Raises `unknown` if the file does not know it either."""
    try:
        return value_of(obj, name)
    except NoSuchProperty:
        raise unknown from None
