#!/usr/bin/env python3
"""Writes the crate crealm-sys, Rust's declarations of the C API, from include/api.json.

    bindings_rust.py            writes bindings/rust/crealm-sys/src/generated.rs
    bindings_rust.py --check    fails if the file there is not the one that it would write

Enums are integers with constants, because a newer library may give numbers that this list lacks. Handles are
opaque structs. The union of realm_value_t is a union of Rust with the name realm_value_data."""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "bindings/rust/crealm-sys/src/generated.rs"
MADE = "// Made by Scripts/bindings_rust.py from include/api.json; do not edit."
PLAIN = {
    "void": "c_void", "char": "c_char", "bool": "bool", "float": "f32", "double": "f64", "int": "c_int",
    "unsigned": "c_uint", "unsigned int": "c_uint", "size_t": "usize", "int32_t": "i32", "int64_t": "i64",
    "uint8_t": "u8", "uint32_t": "u32", "uint64_t": "u64",
}  # fmt: skip
RESERVED = {"type", "move", "ref", "in", "where", "use", "mod", "fn", "impl", "loop", "match"}


def name_of(name):
    return f"r#{name}" if name in RESERVED else name


def function_type(result, parameters):
    returned = "" if result == "void" else f" -> {type_of(result)}"
    return f"Option<unsafe extern \"C\" fn({', '.join(parameters)}){returned}>"


def type_of(text):
    """A type of C as one of Rust: `const char*const*` is `*const *const c_char`."""
    pointer = re.fullmatch(r"(.*)\(\*\)\((.*)\)", text)
    if pointer:
        return function_type(pointer[1], [type_of(part.strip()) for part in pointer[2].split(",")])
    array = re.fullmatch(r"(.*)\[(\d+)\]", text)
    if array:
        return f"[{type_of(array[1])}; {array[2]}]"
    parts = re.findall(r"\*|const|[A-Za-z_0-9]+", text.replace("struct ", "").replace("unsigned int", "unsigned"))
    base, is_const, rust = None, False, None
    for part in parts:
        if part == "const":
            is_const = True
        elif part == "*":
            rust = f"*{'const' if is_const else 'mut'} {rust or base}"
            is_const = False
        elif part == "realm_userdata_t":
            base = rust = "*const c_void" if is_const else "*mut c_void"
            is_const = False
        else:
            base = PLAIN.get(part, part)
    return rust or base


def comment_lines(text, indent=""):
    return [f"{indent}/// {line}".rstrip() for line in text.replace("[", "\\[").split("\n")] if text else []


def wrapped(start, parts, end, indent=""):
    line = f"{indent}{start}{', '.join(parts)}{end}"
    if len(line) <= 110:
        return [line]
    return [f"{indent}{start}", *(f"{indent}    {part}," for part in parts), f"{indent}{end}"]


def source(api):
    out = [MADE, "#![allow(non_camel_case_types)]", "", "use core::ffi::{c_char, c_int, c_uint, c_void};", ""]
    for kind in api["types"]:
        out.append(f"pub type {kind['name']} = {type_of(kind['type'])};")
    for constant in api["constants"]:
        if constant["type"] == "text":
            out.append(f"pub const {constant['name']}: &str = \"{constant['value']}\";")
        else:
            out.append(f"pub const {constant['name']}: {type_of(constant['type'])} = {constant['value']};")
    for handle in api["handles"]:
        out += ["", *comment_lines(handle["comment"]), "#[repr(C)]", f"pub struct {handle['name']} {{"]
        out += ["    opaque: [u8; 0],", "}"]
    for enum in api["enums"]:
        out += ["", *comment_lines(enum["comment"]), f"pub type {enum['name']} = c_uint;"]
        for value in enum["values"]:
            out.append(f"pub const {value['name']}: {enum['name']} = {value['value']};")
    for struct in api["structs"]:
        name = struct["name"].replace("struct ", "")
        union = [field for field in struct["fields"] if field.get("union")]
        if union:
            out += ["", f"/// The union of {name}.", "#[repr(C)]", "#[derive(Clone, Copy)]"]
            out += [f"pub union {name[:-2]}_data {{"]
            out += [f"    pub {name_of(field['name'])}: {type_of(field['type'])}," for field in union] + ["}"]
        out += ["", *comment_lines(struct.get("comment", "")), "#[repr(C)]", "#[derive(Clone, Copy)]"]
        out.append(f"pub struct {name} {{")
        if union:
            out.append(f"    pub data: {name[:-2]}_data,")
        for field in struct["fields"]:
            if not field.get("union"):
                out += comment_lines(field.get("comment", ""), "    ")
                out.append(f"    pub {name_of(field['name'])}: {type_of(field['type'])},")
        out.append("}")
    for callback in api["callbacks"]:
        parameters = [f"{name_of(each['name'])}: {type_of(each['type'])}" for each in callback["parameters"]]
        returned = "" if callback["result"] == "void" else f" -> {type_of(callback['result'])}"
        out += ["", *comment_lines(callback["comment"])]
        out += wrapped(f"pub type {callback['name']} = Option<unsafe extern \"C\" fn(", parameters, f"){returned}>;")
    out += ["", "extern \"C\" {"]
    for function in api["functions"]:
        parameters = [f"{name_of(each['name'])}: {type_of(each['type'])}" for each in function["parameters"]]
        result = function["result"]["type"]
        returned = "" if result == "void" else f" -> {type_of(result)}"
        out += comment_lines(function["comment"], "    ")
        out += wrapped(f"pub fn {function['name']}(", parameters, f"){returned};", "    ") + [""]
    return "\n".join(out[:-1] + ["}", ""])


def main():
    text = source(json.loads((ROOT / "include/api.json").read_text()))
    if "--check" in sys.argv[1:]:
        if not TARGET.exists() or TARGET.read_text() != text:
            sys.exit(f"{TARGET.relative_to(ROOT)} is not up to date: run Scripts/bindings_rust.py")
        return
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(text)


main()
