#!/usr/bin/env python3
"""Writes the low-level layers of language bindings from include/api.json.

    bindings.py            writes bindings/node/generated
    bindings.py --check    fails if the files there are not those that it would write
    bindings.py --list     how many functions Node's layer has, and those that it leaves to sources written by hand

Node: `library.h` and `library.c` are a table of pointers to all functions, for dlsym(). `calls.c` has a function for
JavaScript for each C function whose parameters are handles, numbers, booleans, texts, values, and out arguments of
these. `constants.cjs` has all enums and constants. A JavaScript function takes the in parameters in their order. It
returns the result and the out arguments: one as such, several as an array, and throws where C reports a failure."""

import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MADE = "Made by Scripts/bindings.py from include/api.json; do not edit."
KINDS = {
    "realm_t": "REALM",
    "realm_config_t": "CONFIG",
    "realm_schema_t": "SCHEMA",
    "realm_object_t": "OBJECT",
    "realm_list_t": "LIST",
    "realm_set_t": "SET",
    "realm_dictionary_t": "DICTIONARY",
    "realm_query_t": "QUERY",
    "realm_results_t": "RESULTS",
    "realm_scheduler_t": "SCHEDULER",
    "realm_async_error_t": "ASYNC_ERROR",
    "realm_thread_safe_reference_t": "REFERENCE",
    "realm_notification_token_t": "TOKEN",
    "realm_callback_token_t": "TOKEN",
    "realm_refresh_callback_token_t": "TOKEN",
}
UNSIGNED = {
    "size_t": "SIZE_MAX",
    "uint64_t": "UINT64_MAX",
    "uint32_t": "UINT32_MAX",
    "unsigned": "UINT32_MAX",
    "unsigned int": "UINT32_MAX",
    "realm_class_key_t": "UINT32_MAX",
}
SIGNED = {"int64_t", "int", "realm_property_key_t", "realm_object_key_t"}
STRUCTS = {
    "realm_value_t": "value_to_js",
    "realm_class_info_t": "class_info_to_js",
    "realm_property_info_t": "property_info_to_js",
    "realm_version_id_t": "version_id_to_js",
}
# Written by hand, although the parameters are simple: the table of handles has a part in them.
BY_HAND = {
    "realm_release",
    "realm_clone",
    "realm_free",
    "realm_get_last_error",
    "realm_register_user_code_callback_error",
    "realm_scheduler_get_frozen",
    "realm_config_set_encryption_key",
    "realm_create_thread_safe_reference",
}


class Refused(Exception):
    """The layer has no function for this one."""


class Call:
    """The C source of one function for JavaScript."""

    def __init__(self, function):
        self.function = function
        self.declarations, self.reading, self.passed, self.results = [], [], [], []
        self.count = 0
        self.scratch = False
        if function["name"] in BY_HAND:
            raise Refused("handles")
        for index, parameter in enumerate(function["parameters"]):
            self.parameter(parameter, f"p{index}")

    def next_argument(self):
        self.count += 1
        return f"argument[{self.count - 1}]"

    def parameter(self, parameter, name):
        kind, text, c_type = parameter["kind"], parameter["direction"], parameter["type"]
        stars = c_type.count("*")
        if (
            parameter.get("array")
            or "length" in parameter
            or kind in ("callback", "free", "userdata", "array", "pointer")
        ):
            raise Refused(f"{parameter['name']}: {kind}")
        if text == "out":
            self.out(parameter, name)
        elif kind == "handle":
            if parameter["handle"] not in KINDS:
                raise Refused(parameter["handle"])
            self.declarations.append(f"void* {name} = NULL;")
            optional = "true" if parameter["optional"] else "false"
            self.reading.append(
                f"handle_argument(addon, {self.next_argument()}, KIND_{KINDS[parameter['handle']]}, {optional}, &{name})"
            )
            self.passed.append(name)
        elif kind == "text":
            self.scratch = True
            self.declarations.append(f"const char* {name} = NULL;")
            optional = "true" if parameter["optional"] else "false"
            self.reading.append(
                f"text_argument(addon, &scratch, {self.next_argument()}, {optional}, &{name})"
            )
            self.passed.append(name)
        elif kind == "boolean":
            self.declarations.append(f"bool {name} = false;")
            self.reading.append(f"boolean_argument(addon, {self.next_argument()}, &{name})")
            self.passed.append(name)
        elif kind == "struct" and parameter["struct"] == "realm_value_t":
            self.scratch = True
            self.declarations.append(f"realm_value_t {name};")
            self.reading.append(
                f"value_from_js(addon, &scratch, {self.next_argument()}, RLM_PROPERTY_TYPE_MIXED, &{name})"
            )
            self.passed.append(f"&{name}" if stars else name)
        elif kind in ("number", "enum") and stars == 0:
            base = c_type.replace("const ", "")
            if kind == "enum" or base in SIGNED:
                self.declarations.append(f"int64_t {name} = 0;")
                self.reading.append(f"integer_argument(addon, {self.next_argument()}, &{name})")
            elif base in UNSIGNED:
                self.declarations.append(f"uint64_t {name} = 0;")
                self.reading.append(
                    f"unsigned_argument(addon, {self.next_argument()}, {UNSIGNED[base]}, &{name})"
                )
            else:
                raise Refused(c_type)
            self.passed.append(f"({base}){name}")
        else:
            raise Refused(f"{parameter['name']}: {c_type}")

    def out(self, parameter, name):
        kind, base = parameter["kind"], parameter["type"].replace("const ", "").replace("*", "")
        if kind == "handle":
            if parameter["handle"] not in KINDS:
                raise Refused(parameter["handle"])
            self.declarations.append(f"{base}* {name} = NULL;")
            kind = f"KIND_{KINDS[parameter['handle']]}"
            self.results.append(f"{name} ? handle_new(addon, {kind}, {name}, false) : null_to_js(addon)")
        elif kind == "text":
            self.declarations.append(f"char* {name} = NULL;")
            if not parameter["owned"]:
                raise Refused(f"{parameter['name']}: a text")
            self.results.append(f"owned_text(addon, {name})")
        elif kind == "boolean":
            self.declarations.append(f"bool {name} = false;")
            self.results.append(f"boolean_to_js(addon, {name})")
        elif kind == "struct" and parameter["struct"] in STRUCTS and "owned" not in parameter:
            self.declarations.append(f"{base} {name};")
            self.declarations.append(f"memset(&{name}, 0, sizeof {name});")
            self.results.append(f"{STRUCTS[parameter['struct']]}(addon, &{name})")
        elif kind in ("number", "enum"):
            self.declarations.append(f"{base} {name} = 0;")
            self.results.append(f"integer_to_js(addon, (int64_t){name})")
        else:
            raise Refused(f"{parameter['name']}: {parameter['type']}")
        self.passed.append(f"&{name}")

    def source(self):
        function, result = self.function, self.function["result"]
        name = function["name"]
        lines = [f"static napi_value call_{name}(napi_env env, napi_callback_info info) {{"]
        if self.count:
            lines.append(f"    napi_value argument[{self.count}], result = NULL;")
            lines.append(f"    struct addon* addon = arguments(env, info, {self.count}, argument, NULL);")
        else:
            lines.append("    napi_value result = NULL;")
            lines.append("    struct addon* addon = arguments(env, info, 0, NULL, NULL);")
        lines += ["    if (!addon)", "        return NULL;"]
        if self.scratch:
            lines += ["    struct scratch scratch;", "    scratch_begin(&scratch);"]
        lines += [f"    {line}" for line in self.declarations]
        for line in self.reading:
            lines += [f"    if (!{line})", "        goto out;"]
        call = f"crealm.{name}({', '.join(self.passed)})"
        lines.append("    enter(addon);")
        kind, results, failed = result["kind"], list(self.results), None
        if kind == "none":
            lines.append(f"    {call};")
        elif kind == "boolean":
            lines.append(f"    bool done = {call};")
            if result["reports_failure"]:
                failed = "!done"
            else:
                results.insert(0, "boolean_to_js(addon, done)")
        elif kind == "handle" and result["handle"] in KINDS and result["owned"]:
            if result["null_without_error"]:
                lines.append("    crealm.realm_clear_last_error();")
            lines.append(f"    {result['handle']}* made = {call};")
            kind = f"KIND_{KINDS[result['handle']]}"
            made = f"handle_new(addon, {kind}, made, false)"
            results.insert(0, f"made ? {made} : null_to_js(addon)" if result["null_without_error"] else made)
            failed = "!made && crealm.realm_get_last_error(NULL)" if result["null_without_error"] else "!made"
        elif kind == "text":
            lines.append(f"    const char* text = {call};")
            results.insert(
                0, "owned_text(addon, (char*)text)" if result["owned"] else "cstring_to_js(addon, text)"
            )
        elif kind == "number" and result["type"] == "uint64_t":
            # UINT64_MAX stands for "none" in all functions that return this type.
            lines.append(f"    uint64_t number = {call};")
            results.insert(
                0, "number == UINT64_MAX ? null_to_js(addon) : integer_to_js(addon, (int64_t)number)"
            )
        elif kind in ("number", "enum"):
            lines.append(f"    int64_t number = (int64_t){call};")
            results.insert(0, "integer_to_js(addon, number)")
        else:
            raise Refused(f"the result: {result['type']}")
        lines.append("    leave(addon);")
        if failed:
            lines += [
                f"    if ({failed}) {{",
                "        throw_last_error(addon);",
                "        goto out;",
                "    }",
            ]
        if len(results) == 1:
            lines.append(f"    result = {results[0]};")
        elif results:
            lines.append(f"    napi_value items[{len(results)}] = {{")
            lines += [f"        {one}," for one in results]
            lines.append("    };")
            lines.append(f"    result = several(addon, {len(results)}, items);")
        if self.count or failed:
            lines.append("out:")
        if self.scratch:
            lines.append("    scratch_end(&scratch);")
        lines += ["    return result;", "}", ""]
        # A jump may not pass over a declaration in C++ only; in C the variables above are all initialised first.
        return "\n".join(lines)


def node_files(api):
    names = [function["name"] for function in api["functions"]]
    library_h = [
        f"/* {MADE} */",
        "",
        "#ifndef CREALM_LIBRARY_TABLE_H",
        "#define CREALM_LIBRARY_TABLE_H",
        "",
        "struct library {",
    ]
    library_h += [f"    __typeof__(&{name}) {name};" for name in names]
    library_h += [
        "};",
        "",
        "extern struct library crealm;",
        "extern const char* const library_names[];",
        "extern const size_t library_count;",
        "",
        "#endif",
        "",
    ]
    library_c = [
        f"/* {MADE} */",
        "",
        '#include "../src/addon.h"',
        "",
        "const char* const library_names[] = {",
    ]
    library_c += [f'    "{name}",' for name in names]
    library_c += ["};", "const size_t library_count = COUNT_OF(library_names);", ""]
    calls = [
        f"/* {MADE} */",
        "",
        "#include <string.h>",
        "",
        '#include "../src/addon.h"',
        "",
        "static napi_value owned_text(struct addon* addon, char* text) {",
        "    napi_value result = cstring_to_js(addon, text);",
        "    crealm.realm_free(text);",
        "    return result;",
        "}",
        "",
        "static napi_value several(struct addon* addon, size_t count, napi_value* items) {",
        "    napi_value result = NULL;",
        "    if (!good(addon, napi_create_array_with_length(addon->env, count, &result)))",
        "        return NULL;",
        "    for (size_t index = 0; index < count; index++)",
        "        if (!items[index] || !good(addon, napi_set_element(addon->env, result, (uint32_t)index, items[index])))",
        "            return NULL;",
        "    return result;",
        "}",
        "",
    ]
    bound, refused = [], []
    for function in api["functions"]:
        try:
            calls.append(Call(function).source())
            bound.append(function["name"])
        except Refused as reason:
            refused.append((function["name"], str(reason)))
    calls.append("const struct function generated_functions[] = {")
    calls += [f'    {{"{name}", call_{name}}},' for name in bound]
    calls += ["};", "const size_t generated_function_count = COUNT_OF(generated_functions);", ""]
    constants = [f"// {MADE}", "'use strict';", "", "module.exports = Object.freeze({"]
    for enum in api["enums"]:
        constants.append(f"  {enum['name']}: Object.freeze({{")
        constants += [f"    {value['name']}: {value['value']}," for value in enum["values"]]
        constants.append("  }),")
    for constant in api["constants"]:
        value = json.dumps(constant["value"])
        constants.append(f"  {constant['name']}: {value},")
    constants += ["});", ""]
    return (
        {
            "library.h": "\n".join(library_h),
            "library.c": "\n".join(library_c),
            "calls.c": "\n".join(calls),
            "constants.cjs": "\n".join(constants),
        },
        bound,
        refused,
    )


def main(arguments):
    api = json.loads((ROOT / "include/api.json").read_text("utf-8"))
    files, bound, refused = node_files(api)
    folder = ROOT / "bindings/node/generated"
    if "--list" in arguments:
        for name, reason in refused:
            print(f"{name}: {reason}")
        print(f"{len(bound)} functions are generated, {len(refused)} are not")
        return 0
    if "--check" in arguments:
        stale = [
            name
            for name, text in files.items()
            if not (folder / name).exists() or (folder / name).read_text("utf-8") != text
        ]
        for name in stale:
            print(f"bindings/node/generated/{name} is not what Scripts/bindings.py writes")
        print(f"bindings: {len(bound)} functions of Node, {len(stale)} files differ")
        return 1 if stale else 0
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        temporary = folder / f"{name}.new"
        temporary.write_text(text, "utf-8")
        os.replace(temporary, folder / name)
    print(f"bindings/node/generated: {len(bound)} functions")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
