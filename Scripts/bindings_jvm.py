#!/usr/bin/env python3
"""Writes the generated layer of the JVM package from include/api.json.

    bindings_jvm.py            writes bindings/jvm/generated
    bindings_jvm.py --check    fails if the files there are not those that it would write
    bindings_jvm.py --list     the functions that the layer has

`library.h` and `library.c` are a table of pointers to the functions that the C sources call, for dlsym(). `Calls.java`
and `calls.c` have a function for each C function that the Java sources name as `Calls.name`, whose parameters are
handles, numbers, booleans, texts, values, and out arguments of these: `realm_results_count` is `Calls.resultsCount`. A
Java function takes the in parameters in their order and throws where C reports a failure. It returns the result or one
out argument: a value before a number before a boolean. A number whose function also says whether it was found is -1 if
not. `Constants.java` has the names of all error numbers."""

import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "bindings/jvm/generated"
MADE = "Made by Scripts/bindings_jvm.py from include/api.json; do not edit."
NARROW = {"uint32_t", "unsigned", "unsigned int", "int", "int32_t", "realm_class_key_t", "realm_error_categories"}
# Java type and JNI type letter of each kind of value that crosses.
JAVA = {"long": ("long", "J", "jlong"), "int": ("int", "I", "jint"), "boolean": ("boolean", "Z", "jboolean"),
        "bytes": ("byte[]", "[B", "jbyteArray"), "void": ("void", "V", "void")}


class Refused(Exception):
    """The layer cannot have this function."""


def java_name(name):
    words = re.sub(r"^(realm|crealm)_", "", name).split("_")
    return words[0] + "".join(word.capitalize() for word in words[1:])


def variable_name(name):
    """A parameter's name in Java and C; not one of those that the generated code uses itself."""
    words = name.split("_")
    joined = words[0] + "".join(word.capitalize() for word in words[1:])
    return joined + "Value" if joined in ("env", "type", "result", "made", "class", "default") else joined


def base_type(c_type):
    return c_type.replace("const ", "").replace("*", "").strip()


class Call:
    """The C and Java source of one function."""

    def __init__(self, function):
        self.function = function
        self.name = java_name(function["name"])
        self.origin = "null"  # the handle that comes first: what the call makes belongs to its realm
        self.java, self.passed_java, self.natives, self.signature = [], [], [], ""
        self.c_parameters, self.before, self.passed, self.after, self.outs = [], [], [], [], []
        for parameter in function["parameters"]:
            self.parameter(parameter, variable_name(parameter["name"]))
        self.choose_result()

    def takes(self, name, kind, java_type, java_argument):
        java, letter, c_type = JAVA[kind]
        self.natives.append(f"{java} {name}")
        self.signature += letter
        self.c_parameters.append(f"{c_type} {name}_given")
        if java_type:
            self.java.append(f"{java_type} {name}")
        self.passed_java.append(java_argument)

    def parameter(self, parameter, name):
        kind, c_type = parameter["kind"], parameter["type"]
        base = base_type(c_type)
        several = parameter.get("array") or "length" in parameter
        if several or kind in ("callback", "free", "userdata", "array", "pointer"):
            raise Refused(f"{parameter['name']}: {kind}")
        if parameter["direction"] == "out" and not (kind == "struct" and "const" in c_type):
            return self.out(parameter, kind, base, name)
        if kind == "handle":
            self.origin = self.origin if self.natives else name
            self.natives.append(f"Handle {name}Owner")
            self.signature += "Lorg/crealm/Handle;"
            self.c_parameters.append(f"jobject {name}_owner")
            self.before.append(f"(void){name}_owner;")
            self.java.append(f"Handle {name}")
            self.passed_java.append(name)
            self.takes(f"{name}", "long", None, f"Handle.address({name})")
            self.passed.append(f"({base}*)(intptr_t){name}_given")
        elif kind == "text":
            self.takes(name, "bytes", "String", f"Texts.utf8({name})")
            optional = "true" if parameter["optional"] else "false"
            self.before.append(f"struct bytes {name}_text;")
            self.reading(f"text_in(env, {name}_given, {optional}, &{name}_text)")
            self.after.append(f"bytes_end(&{name}_text);")
            self.passed.append(f"{name}_text.data")
        elif kind == "boolean":
            self.takes(name, "boolean", "boolean", name)
            self.passed.append(f"{name}_given")
        elif kind == "struct" and parameter["struct"] == "realm_value_t":
            self.value(name, "*" in c_type)
        elif kind in ("number", "enum") and "*" not in c_type:
            self.takes(name, "int" if kind == "enum" or base in NARROW else "long",
                       "int" if kind == "enum" or base in NARROW else "long", name)
            self.passed.append(f"({base}){name}_given")
        else:
            raise Refused(f"{parameter['name']}: {c_type}")

    def value(self, name, pointer):
        self.takes(name, "bytes", "byte[]", name)
        self.before += [f"struct bytes {name}_bytes;", f"realm_value_t {name};"]
        self.reading(f"value_in(env, {name}_given, &{name}_bytes, &{name})")
        self.after.append(f"bytes_end(&{name}_bytes);")
        self.passed.append(f"&{name}" if pointer else name)

    def reading(self, condition):
        self.before.append(f"READ {condition}")

    def out(self, parameter, kind, base, name):
        if kind == "handle":
            self.before.append(f"{base}* {name} = NULL;")
            self.outs.append((3, "handle", name))
        elif kind == "text" and parameter["optional"]:
            self.passed.append("NULL")
            return
        elif kind == "text" and parameter.get("owned"):
            self.before.append(f"char* {name} = NULL;")
            self.outs.append((3, "text", name))
        elif kind == "boolean":
            self.before.append(f"bool {name} = false;")
            self.outs.append((1, "boolean", name))
        elif kind == "struct" and parameter["struct"] == "realm_value_t":
            self.before += [f"realm_value_t {name};", f"memset(&{name}, 0, sizeof {name});"]
            self.outs.append((3, "value", name))
        elif kind in ("number", "enum"):
            self.before.append(f"{base} {name} = 0;")
            self.outs.append((2, "number", name))
        else:
            raise Refused(f"{parameter['name']}: {parameter['type']}")
        self.passed.append(f"&{name}")

    def choose_result(self):
        """What Java gets: the kind, and the C expression for it."""
        result, found = self.function["result"], None
        kind = result["kind"]
        if kind == "boolean" and not result["reports_failure"]:
            self.result, self.expression = "boolean", "made"
        elif kind == "handle" and result["owned"]:
            self.result, self.expression = "handle", "(jlong)(intptr_t)made"
        elif kind == "text":
            self.result = "bytes"
            self.expression = f"{'owned_text_out' if result['owned'] else 'text_out'}(env, made)"
        elif kind in ("number", "enum"):
            self.result, self.expression = "long", "(jlong)made"
        elif kind in ("none", "boolean"):
            found = next((name for rank, what, name in self.outs if what == "boolean"), None)
            best = max(self.outs, default=(0, "void", ""), key=lambda out: (out[0], self.outs.index(out)))
            self.result, self.expression = {
                "void": ("void", ""), "boolean": ("boolean", best[2]),
                "number": ("long", f"(jlong){best[2]}"), "handle": ("handle", f"(jlong)(intptr_t){best[2]}"),
                "text": ("bytes", f"owned_text_out(env, {best[2]})"),
                "value": ("bytes", f"value_out(env, &{best[2]})")}[best[1]]
            if found and self.result == "long" and "size_t" in str(self.before):
                if "inserted" in str(self.function["parameters"][-1]["name"]):
                    self.result, self.expression = "boolean", found
                else:
                    self.expression = f"{found} ? {self.expression} : -1"
            if found and best[1] == "value" and "find" in self.function["name"]:
                self.expression = f"{found} ? {self.expression} : NULL"
        else:
            raise Refused(f"the result: {result['type']}")

    def c_source(self):
        result = self.function["result"]
        java, letter, c_type = JAVA["long" if self.result == "handle" else self.result]
        parameters = ", ".join(["JNIEnv* env", "jclass type", *self.c_parameters])
        lines = [f"static {c_type} call_{self.function['name']}({parameters}) {{", "    (void)env, (void)type;"]
        if self.result != "void":
            lines.append(f"    {c_type} result = 0;")
        depth = "    "
        for line in self.before:
            if line.startswith("READ "):
                continue
            lines.append(f"    {line}")
        readings = [line[5:] for line in self.before if line.startswith("READ ")]
        for line in self.before:
            text = re.match(r"struct bytes (\w+);", line)
            if text:
                lines.append(f"    {text[1]}.data = NULL;")
        if readings:
            lines.append("    if (" + " &&\n        ".join(readings) + ") {")
            depth = "        "
        call = f"crealm.{self.function['name']}({', '.join(self.passed)})"
        kind, failed = result["kind"], None
        if kind == "none":
            lines.append(f"{depth}{call};")
        elif kind == "boolean":
            lines.append(f"{depth}bool made = {call};")
            failed = "!made" if result["reports_failure"] else None
        elif kind == "handle":
            if result["null_without_error"]:
                lines.append(f"{depth}crealm.realm_clear_last_error();")
            lines += [f"{depth}{base_type(result['type'])}* made =", f"{depth}    {call};"]
            failed = "!made && crealm.realm_get_last_error(NULL)" if result["null_without_error"] else "!made"
        elif kind == "text":
            lines.append(f"{depth}{'char*' if result['owned'] else 'const char*'} made = {call};")
            failed = "!made"
        else:
            lines.append(f"{depth}int64_t made = (int64_t){call};")
        assign = f"result = {self.expression};" if self.result != "void" else None
        if failed and assign:
            lines += [f"{depth}if ({failed})", f"{depth}    fail(env);", f"{depth}else", f"{depth}    {assign}"]
        elif failed:
            lines += [f"{depth}if ({failed})", f"{depth}    fail(env);"]
        elif assign:
            lines.append(f"{depth}{assign}")
        if readings:
            lines.append("    }")
        lines += [f"    {line}" for line in self.after]
        if self.result != "void":
            lines.append("    return result;")
        return "\n".join([*lines, "}", ""])

    def row(self):
        letter = JAVA["long" if self.result == "handle" else self.result][1]
        return f'    {{"{self.name}0", "({self.signature}){letter}", (void*)call_{self.function["name"]}}},'

    def java_source(self):
        native = JAVA["long" if self.result == "handle" else self.result][0]
        shown = "Handle" if self.result == "handle" else native
        call = f"{self.name}0({', '.join(self.passed_java)})"
        # What copies from the memory of a realm, or may move it, runs under the guard of the realm.
        copies = self.result == "bytes" or self.function["moves"] and self.function["name"] != "realm_close"
        if copies and self.origin != "null":
            call = f"Handle.guarded({self.origin}, () -> {call})"
        if self.result == "handle":
            body = f"return Handle.owning({call}, {self.origin});"
        else:
            body = f"{call};" if self.result == "void" else f"return {call};"
        return "\n".join([
            f"    /** {self.function['name']}(). */",
            f"    static {shown} {self.name}({', '.join(self.java)}) {{", f"        {body}", "    }", "",
            f"    private static native {native} {self.name}0({', '.join(self.natives)});", ""])


def used_names():
    """The names that the Java sources use."""
    names = set()
    for file in sorted((ROOT / "bindings/jvm/java").rglob("*.java")):
        names |= set(re.findall(r"\bCalls(?:\.|::)(\w+)", file.read_text("utf-8")))
    return names


def all_files(api):
    functions = {java_name(function["name"]): function for function in api["functions"]}
    used = used_names()
    missing = sorted(used - set(functions))
    if missing:
        sys.exit(f"bindings_jvm: the C API has no functions for {', '.join(missing)}")
    calls = []
    for name in sorted(used):
        try:
            calls.append(Call(functions[name]))
        except Refused as reason:
            sys.exit(f"bindings_jvm: {functions[name]['name']} cannot be generated: {reason}")
    named = {call.function["name"] for call in calls}
    for file in (ROOT / "bindings/jvm/src").glob("*.c"):
        named |= set(re.findall(r"\bcrealm\.(\w+)\(", file.read_text("utf-8")))
    names = [function["name"] for function in api["functions"] if function["name"] in named]
    library_h = [f"/* {MADE} */", "", "#ifndef CREALM_LIBRARY_TABLE_H", "#define CREALM_LIBRARY_TABLE_H", "",
                 "struct library {", *[f"    __typeof__(&{name}) {name};" for name in names], "};", "",
                 "extern struct library crealm;", "extern const char* const library_names[];",
                 "extern const size_t library_count;", "", "#endif", ""]
    library_c = [f"/* {MADE} */", "", '#include "../src/shim.h"', "", "const char* const library_names[] = {",
                 *[f'    "{name}",' for name in names], "};",
                 "const size_t library_count = COUNT_OF(library_names);", ""]
    calls_c = [f"/* {MADE} */", "", '#include "../src/shim.h"', "", *[call.c_source() for call in calls],
               "const JNINativeMethod generated_methods[] = {", *[call.row() for call in calls], "};",
               "const size_t generated_method_count = COUNT_OF(generated_methods);", ""]
    calls_java = [f"// {MADE}", "", "package org.crealm;", "",
                  "/** Functions of the C API whose parameters are simple. The other ones are in {@link Native}. */",
                  "final class Calls {", "    static {", "        Native.ready();", "    }", "",
                  "    private Calls() {}", "",
                  *[call.java_source() for call in calls]]
    calls_java[-1] = calls_java[-1].rstrip("\n")
    calls_java += ["}", ""]
    errors = {}
    for enum in api["enums"]:
        if enum["name"] == "realm_errno_e":
            errors = {value["value"]: value["name"].removeprefix("RLM_ERR_") for value in enum["values"]}
    for constant in api["constants"]:
        if constant["name"].startswith("CREALM_ERR_"):
            errors[constant["value"]] = constant["name"].removeprefix("CREALM_ERR_")
    code_java = [f"// {MADE}", "", "package org.crealm;", "",
                 "/** The error numbers of the library, for {@link RealmException#code()}. */",
                 "public final class ErrorCode {", "    private ErrorCode() {}", ""]
    for number, name in sorted(errors.items()):
        code_java += [f"    public static final int {name} = {number};", ""]
    code_java += ["    /** The name of a number, or its digits. */", "    public static String name(int code) {",
                  "        return switch (code) {",
                  *[f'            case {number} -> "{name}";' for number, name in sorted(errors.items())],
                  "            default -> Integer.toString(code);", "        };", "    }", "}", ""]
    return {"library.h": "\n".join(library_h), "library.c": "\n".join(library_c), "calls.c": "\n".join(calls_c),
            "org/crealm/Calls.java": "\n".join(calls_java), "org/crealm/ErrorCode.java": "\n".join(code_java)}, calls


def wrapped(text):
    """The same with lines of at most 120 characters: longer ones are broken after a comma."""
    lines = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 8)
        while len(line) > 120 and ", " in line[len(indent):118]:
            cut = line.rindex(", ", len(indent), 118) + 1
            lines.append(line[:cut])
            line = indent + line[cut + 1:]
        lines.append(line)
    return "\n".join(lines)


def main(arguments):
    files, calls = all_files(json.loads((ROOT / "include/api.json").read_text("utf-8")))
    files = {name: wrapped(text) for name, text in files.items()}
    if "--list" in arguments:
        print("\n".join(f"{call.function['name']}: {call.name}" for call in calls))
        return 0
    if "--check" in arguments:
        stale = [name for name, text in files.items()
                 if not (FOLDER / name).exists() or (FOLDER / name).read_text("utf-8") != text]
        for name in stale:
            print(f"bindings/jvm/generated/{name} is not what Scripts/bindings_jvm.py writes")
        print(f"bindings: {len(calls)} functions of the JVM, {len(stale)} files differ")
        return 1 if stale else 0
    for name, text in files.items():
        target = FOLDER / name
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_suffix(".new")
        temporary.write_text(text, "utf-8")
        os.replace(temporary, target)
    print(f"bindings/jvm/generated: {len(calls)} functions")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
