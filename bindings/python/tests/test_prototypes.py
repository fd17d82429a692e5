"""Compares the table of C functions with the header, and the error numbers with the header's enum."""

import ctypes
import pickle
import re

import crealm
from conftest import REPOSITORY
from crealm import _prototypes, errors

INCLUDE = REPOSITORY / "include"


def without_comments(name):
    text = (INCLUDE / name).read_text("utf-8")
    return re.sub(r"/\*.*?\*/|//[^\n]*|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", " ", text, flags=re.S | re.M)


def declared():
    """{name: (result, [parameters])} of all functions in the headers."""
    functions = {}
    for name in ("realm.h", "crealm.h"):
        for result, function, parameters in re.findall(
            r"RLM_API\s+([\w\s*]+?)\s*\b((?:c?realm)_\w+)\s*\(([^;]*)\)\s*;", without_comments(name)
        ):
            parts = [" ".join(p.split()) for p in parameters.split(",")]
            functions[function] = (" ".join(result.split()), [] if parts == ["void"] else parts)
    return functions


def kind(c_type):
    """The kind of a C type as an argument: a letter for its register class and width."""
    if "*" in c_type or "_func_t" in c_type or "realm_userdata_t" in c_type:
        return "pointer"
    words = c_type.replace("const ", "").split()
    return {
        "bool": "bool",
        "void": None,
        "int": "int32",
        "unsigned": "uint32",
        "size_t": "uint64",
        "uint32_t": "uint32",
        "uint64_t": "uint64",
        "int64_t": "int64",
        "realm_class_key_t": "uint32",
        "realm_property_key_t": "int64",
        "realm_object_key_t": "int64",
        "realm_value_t": "Value",
        "realm_schema_mode_e": "int32",
        "realm_log_level_e": "int32",
        "crealm_page_cipher_e": "int32",
        "crealm_durability_e": "int32",
        "crealm_update_mode_e": "int32",
        "crealm_version_slot_e": "int32",
    }[words[0]]


def ctypes_kind(c):
    if c is None:
        return None
    if c is _prototypes.Value:
        return "Value"
    if c in (ctypes.c_void_p, ctypes.c_char_p) or hasattr(c, "contents") or issubclass(c, ctypes._CFuncPtr):
        return "pointer"
    if c is ctypes.c_bool:
        return "bool"
    sign = "int" if c(-1).value == -1 else "uint"
    return f"{sign}{ctypes.sizeof(c) * 8}"


def test_the_header_is_understood():
    functions = declared()
    assert len(functions) > 100
    assert functions["realm_free"] == ("void", ["void* buffer"])
    assert functions["crealm_abi_version"] == ("uint32_t", [])


def test_table_is_sorted_and_complete():
    names = [row[0] for row in _prototypes.TABLE]
    assert names == sorted(names) and len(set(names)) == len(names)
    assert _prototypes.OPTIONAL <= set(names)
    used = set()
    package = REPOSITORY / "bindings" / "python" / "crealm"
    for file in [*package.glob("*.py"), *package.glob("sync/*.py")]:
        used |= set(re.findall(r"\b_?lib\.(c?realm_\w+)", file.read_text("utf-8")))
    assert used <= set(names), "functions used without a line in the table"
    assert set(names) <= used, "lines in the table that nothing uses"


def test_table_agrees_with_the_header():
    functions = declared()
    for name, restype, argtypes, _ in _prototypes.TABLE:
        assert name in functions, f"{name} is not declared in include/"
        result, parameters = functions[name]
        assert len(argtypes) == len(parameters), name
        assert ctypes_kind(restype) == kind(result), name
        for argument, parameter in zip(argtypes, parameters):
            assert ctypes_kind(argument) == kind(parameter), f"{name}: {parameter}"


def test_error_numbers_are_those_of_the_header():
    numbers = {int(n) for n in re.findall(r"RLM_ERR_\w+ = (\d+)", without_comments("realm.h"))}
    own = {int(n) for n in re.findall(r"#define CREALM_ERR_\w+ (\d+)", (INCLUDE / "crealm.h").read_text("utf-8"))}
    assert set(errors._CLASSES) <= numbers | own and own <= set(errors._CLASSES)
    # Errors of the local part of the API have their own classes; the others are plain `Error`s.
    plain = {n for n in numbers if 1000 <= n < 4000} - set(errors._CLASSES)
    assert plain == {
        1000,
        1002,
        1003,
        1010,
        1012,
        *range(1014, 1017),
        *range(1026, 1047),
        2000,
        2002,
        2008,
        3023,
    }


def test_errors_carry_number_path_and_hint():
    error = errors.from_code(1019, "No such file", path="/x.realm")
    assert isinstance(error, FileNotFoundError) and isinstance(error, crealm.FileError)
    assert (error.code, error.path, error.filename, error.errno) == (1019, "/x.realm", "/x.realm", 2)
    assert type(errors.from_code(987654, "?")) is crealm.Error
    assert str(errors.from_code(2006, "Wrong.")).startswith("Wrong. A database belongs to the thread")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and again.path == error.path and str(again) == str(error)
    for kind_of_error in errors._CLASSES.values():
        made = kind_of_error("text", code=1, path="p", hint="h")
        assert str(made) == "text. h" and isinstance(made, crealm.Error)
