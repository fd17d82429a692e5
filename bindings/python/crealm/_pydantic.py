"""Models as types of pydantic, and so of FastAPI. Imported only when pydantic asks for it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Dict, List, Optional, Set

from pydantic_core import core_schema

from . import _marshal as c
from .errors import Error
from .values import Float32, Timestamp

_PLAIN: Dict[Any, Any] = {Float32: float, Timestamp: datetime}


def of_model(model: Any, handler: Any) -> Any:
    """A model: instances, and dictionaries of the values of a plain instance. Its form in JSON is that of to_json()."""
    fields = {
        name: core_schema.typed_dict_field(handler.generate_schema(_annotation(made)), required=_is_required(made))
        for name, made in model._fields.items()
    }
    values = core_schema.no_info_after_validator_function(
        lambda given: _made(model, given), core_schema.typed_dict_schema(fields, extra_behavior="forbid")
    )
    return core_schema.json_or_python_schema(
        json_schema=values,
        python_schema=core_schema.union_schema([core_schema.is_instance_schema(model), values], mode="left_to_right"),
        serialization=core_schema.plain_serializer_function_ser_schema(_written, info_arg=True),
    )


def json_schema_of_model(model: Any, schema: Any, handler: Any) -> Any:
    """The JSON Schema of a model's fields."""
    return {**handler(schema["json_schema"]), "title": model.__name__}


def _annotation(made: Any) -> Any:
    element, many, may_be_none = made._parsed()
    if hasattr(element, "_realm_class"):
        kind: Any = Any  # An object of the other class, or its values.
        may_be_none = many in (c.C_NONE, c.C_DICTIONARY)
    else:
        kind = _PLAIN.get(element, element)
    kind = Optional[kind] if may_be_none and kind is not Any else kind
    if many == c.C_LIST:
        return List[kind]
    if many == c.C_SET:
        return List[kind] if kind is Any else Set[kind]
    return Dict[str, kind] if many == c.C_DICTIONARY else kind


def _is_required(made: Any) -> bool:
    element, many, may_be_none = made._parsed()
    if made.has_default or made.is_made or made.is_type:
        return False
    return not (many != c.C_NONE or may_be_none or hasattr(element, "_realm_class"))


def _made(model: Any, values: Dict[str, Any]) -> Any:
    try:
        return model.from_dict(values)
    except (Error, TypeError) as error:
        raise ValueError(str(error)) from None


def _written(obj: Any, info: Any) -> Any:
    return obj._json_values() if info.mode == "json" else obj.to_dict()
