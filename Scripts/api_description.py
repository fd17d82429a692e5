#!/usr/bin/env python3
"""Writes include/api.json: all that realm.h and crealm.h declare, in a form that programs can read.

    api_description.py [--include DIR]   writes DIR/api.json
    api_description.py --check           fails with one line for each difference between the headers and api.json
    api_description.py --holes           lists the facts that no comment states

Nothing but Python is needed. The script knows the form in which the two headers are written: a declaration that it
does not understand ends it with an error, so that nothing is left out silently. Facts come from the comments, by
these rules of realm.h:

- "Thread:", "Errors:", "Returns:" and the names of parameters begin a part of a comment; a comment that names no
  thread rule has that of its section, if the section states one for all its functions;
- an argument is optional if its part says "[optional]" or "may be NULL"; all others are required (rule 4);
- a result is an own handle, a view, or memory for realm_free(), if the comment says so (rules 1 and 2).

No comment states which calls may wait, which end the life of views, and which run functions of the program:
Scripts/api_facts.json lists these functions by name. The members of api.json:

    handles     name, struct, comment, clonable
    types       numbers with a name of their own, such as realm_class_key_t
    constants   name, type, value
    enums       name, comment, values
    structs     name, comment, fields; a field has name and type; members of the unnamed union have "union": true
    callbacks   name, comment, result, parameters
    functions   name, header, section, since, comment, result, parameters, thread, errors, blocks, moves, calls_back

A parameter has name, type, kind (handle, number, boolean, enum, text, struct, callback, userdata, free, array,
pointer), direction (in, out, inout), optional, text (its part of the comment), and where it applies handle, struct,
enum, length (the parameter that counts the elements), owned (an out argument that receives an own handle or memory).
"""

import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADERS = ("realm.h", "crealm.h")
NUMBERS = {
    "bool",
    "int",
    "unsigned",
    "unsigned int",
    "char",
    "float",
    "double",
    "size_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint32_t",
    "uint64_t",
}
FREE = "realm_free_userdata_func_t"


class Trouble(Exception):
    """A header or a list of facts that this script does not understand."""


def words(text):
    return " ".join(text.split())


def plain_comment(text):
    """The text of a comment without its frame: lines keep their order, paragraphs are separated by empty lines."""
    body = re.sub(r"^/\*\*?|\*/$", "", text.strip(), flags=re.S)
    lines = [re.sub(r"^\s*\*( {0,2}|$)", "", line).rstrip() for line in body.split("\n")]
    lines[0] = lines[0].strip()
    return "\n".join(lines).strip("\n").rstrip()


def strip_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


class Comment:
    """A comment in parts: `text`, and by label what "Thread:", "Errors:", "Returns:" or a parameter say."""

    LABEL = re.compile(r"^(\w[\w, ]*?):(?:\s+|$)")

    def __init__(self, raw, parameters=()):
        self.raw, self.parts = raw, {}
        known = {"Thread", "Errors", "Returns", "Error"} | set(parameters)
        text, names, lines = [], None, []
        # "Thread: confined. Errors: [realm]" has two parts in one line.
        for line in re.sub(r"(?<=[.;]) (Errors|Thread): ", r"\n\1: ", raw).split("\n"):
            found = self.LABEL.match(line)
            labels = [part.strip() for part in found.group(1).split(",")] if found else []
            if found and all(label in known for label in labels):
                self.keep(names, lines)
                names, lines = labels, [line[found.end() :]]
            elif names is not None and (line.startswith(" ") or not line):
                lines.append(line)
            elif names is not None:
                self.keep(names, lines)
                names, lines = None, []
                text.append(line)
            else:
                text.append(line)
        self.keep(names, lines)
        self.text = "\n".join(text).strip()

    def keep(self, names, lines):
        for name in names or ():
            self.parts[name] = words(" ".join(lines))

    def part(self, name):
        return self.parts.get(name, "")


class Header:
    """The declarations of one header, in their order."""

    ITEM = re.compile(
        r"(?P<section>/\* -{20,}\n.*?\*/)"
        r"|(?P<doc>/\*.*?\*/)"
        r"|(?P<define>\#[ \t]*define (?P<macro>\w+)[ \t]+(?P<value>[^\n]*?)(?=\n|[ \t]*/\*))"
        r"|(?P<directive>\#(?:[^\n]*\\\n)*[^\n]*)"
        r"|(?P<external>extern \"C\" \{|\}(?=\s*\n\#endif))"
        r"|(?P<declaration>(?:[^;{}/]|/(?!\*)|\{(?:[^{}]|\{[^{}]*\})*\})+;)",
        re.S,
    )

    def __init__(self, path):
        self.name = path.name
        self.items = []
        text, position, section, doc = path.read_text("utf-8"), 0, "", ""
        self.section_texts = {}
        while True:
            position += re.match(r"\s*", text[position:]).end()
            if position == len(text):
                break
            found = self.ITEM.match(text, position)
            if not found:
                raise Trouble(f"{self.name}: cannot read: {text[position : position + 80]!r}")
            position = found.end()
            # A comment on the same line belongs to the declaration before it.
            after = re.match(r"[ \t]*(/\*(?:[^*]|\*(?!/))*\*/)", text[position:])
            trailing = ""
            if after and (found.group("define") or found.group("declaration")):
                trailing = plain_comment(after.group(1))
                position += after.end()
            if found.group("section"):
                comment = re.sub(r"^/\* -+\n|-+ \*/$", "", found.group("section"))
                lines = [re.sub(r"^ \* ?", "", line) for line in comment.strip("\n").split("\n")]
                section, doc = lines[0].strip(), ""
                self.section_texts[section] = "\n".join(lines[1:]).strip()
            elif found.group("doc"):
                doc = plain_comment(found.group("doc"))
            elif found.group("define"):
                self.items.append(
                    ("define", section, trailing or doc, (found.group("macro"), found.group("value").strip()))
                )
            elif found.group("declaration"):
                self.items.append(("declaration", section, doc or trailing, found.group("declaration")))
                doc = ""


def split_top(text, separator=","):
    """Splits at separators that are outside of brackets."""
    parts, depth, start = [], 0, 0
    for index, letter in enumerate(text):
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == separator and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def tidy_type(text):
    return re.sub(r"\s*\*\s*", "*", words(text)).replace("*", "*").strip()


def variable(text):
    """Name and type of a parameter or a field."""
    text = words(text)
    found = re.fullmatch(r"(.+?[\s*])(\w+)((?:\[\w+\])*)", text)
    if not found:
        raise Trouble(f"cannot read the parameter `{text}`")
    return found.group(2), tidy_type(found.group(1)) + found.group(3)


class Description:
    """All declarations of the headers."""

    def __init__(self, include, facts, releases):
        self.include = include
        self.facts, self.releases = facts, releases
        self.handles, self.types, self.constants, self.enums = [], [], [], []
        self.structs, self.callbacks, self.functions = [], [], []
        self.comments = {}
        for name in HEADERS:
            header = Header(include / name)
            for kind, section, doc, content in header.items:
                if kind == "define":
                    self.define(doc, *content)
                else:
                    self.declaration(header, section, doc, content)
        self.finish()

    # Declarations

    def define(self, doc, name, value):
        value = strip_comments(value).strip()
        if re.fullmatch(r'-?\d+|"[^"]*"', value):
            number = value.startswith('"') and value[1:-1] or int(value)
            self.constants.append(
                {"name": name, "type": "text" if value[0] == '"' else "int", "value": number, "comment": doc}
            )
        elif re.fullmatch(r"\(\d+ \* \d+\)", value):
            first, second = map(int, re.findall(r"\d+", value))
            self.constants.append({"name": name, "type": "int", "value": first * second, "comment": doc})

    def declaration(self, header, section, doc, source):
        text = words(strip_comments(source)).rstrip(";").strip()
        text = text.replace("RLM_ANON_UNION union", "union").replace("RLM_ANON_UNION_MEMBER(values)", "")
        if found := re.fullmatch(r"RLM_API (.+?[\s*])(\w+)\((.*)\)", text):
            self.functions.append(
                (header, section, doc, found.group(2), tidy_type(found.group(1)), found.group(3))
            )
        elif found := re.fullmatch(r"typedef (.+?[\s*])\(\*(\w+)\)\((.*)\)", text):
            self.callbacks.append(self.callback(doc, *found.groups()))
        elif re.match(r"typedef enum \w+ \{", text):
            self.enum(doc, source)
        elif re.match(r"(typedef )?struct \w+ \{", text):
            self.struct(doc, source)
        elif found := re.fullmatch(r"typedef struct (\w+) (\w+)", text):
            self.handles.append({"name": found.group(2), "struct": found.group(1), "comment": doc})
        elif found := re.fullmatch(r"typedef (unsigned|u?int\d+_t) (\w+)", text):
            self.types.append({"name": found.group(2), "type": found.group(1), "comment": doc})
        elif found := re.fullmatch(r"static const (\w+) (\w+) = (-?\w+)", text):
            kind, name, value = found.groups()
            self.constants.append({"name": name, "type": kind, "value": int(value, 0), "comment": doc})
        else:
            raise Trouble(f"{header.name}: cannot read the declaration `{text[:100]}`")

    def enum(self, doc, source):
        body = re.search(r"\{(.*)\}\s*(\w+)", source, re.S)
        values = []
        for found in re.finditer(
            r"(\w+)\s*=\s*(-?\w+)\s*,?[ \t]*(/\*.*?\*/)?",
            re.sub(r"(?m)^\s*/\*.*?\*/", "", body.group(1), flags=re.S),
            re.S,
        ):
            value = {"name": found.group(1), "value": int(found.group(2), 0)}
            if found.group(3):
                value["comment"] = words(plain_comment(found.group(3)))
            values.append(value)
        if len(values) != strip_comments(body.group(1)).count("="):
            raise Trouble(f"cannot read all values of {body.group(2)}")
        self.enums.append({"name": body.group(2), "comment": doc, "values": values})

    def struct(self, doc, source):
        name = re.search(r"\}\s*(\w+)\s*;$", source)
        name = name.group(1) if name else "struct " + re.match(r"struct (\w+)", source).group(1)
        body = source[source.index("{") + 1 : source.rindex("}")]
        body, union = re.sub(r"RLM_ANON_UNION\w*(\(\w+\))?", "", body), False
        fields = []
        # A field, with the comments after it; "{" and "}" of the union are fields of their own.
        for found in re.finditer(
            r"\bunion\s*(\{)|(\})\s*;|((?:[^;{}/]|/(?!\*))+);([ \t]*/\*.*?\*/)?|/\*.*?\*/", body, re.S
        ):
            if found.group(1) or found.group(2):
                union = bool(found.group(1))
            elif found.group(3):
                fields.append(self.field(found.group(3), found.group(4), union))
        self.structs.append({"name": name, "comment": doc, "fields": fields})

    @staticmethod
    def field(text, comment, union):
        text = words(text)
        if pointer := re.fullmatch(r"(.+?)\(\*(\w+)\)\((.*)\)", text):
            name = pointer.group(2)
            kind = f"{tidy_type(pointer.group(1))}(*)({', '.join(tidy_type(re.sub(r'(?<=[*]) ?[a-z]+$', '', p)) for p in split_top(pointer.group(3)))})"
        else:
            name, kind = variable(text)
        field = {"name": name, "type": kind}
        if comment:
            field["comment"] = words(plain_comment(comment.strip()))
        if union:
            field["union"] = True
        return field

    def callback(self, doc, result, name, parameters):
        return {
            "name": name,
            "comment": doc,
            "result": tidy_type(result),
            "parameters": self.variables(parameters),
        }

    @staticmethod
    def variables(text):
        return (
            []
            if text.strip() == "void"
            else [dict(zip(("name", "type"), variable(part))) for part in split_top(text)]
        )

    # Facts

    def finish(self):
        names = {handle["name"] for handle in self.handles}
        self.kinds = {name: "handle" for name in names}
        self.kinds |= {one["name"]: "number" for one in self.types} | {one: "number" for one in NUMBERS}
        self.kinds |= {one["name"]: "enum" for one in self.enums}
        self.kinds |= {one["name"]: "struct" for one in self.structs}
        self.kinds |= {one["name"]: "callback" for one in self.callbacks}
        self.kinds |= {"bool": "boolean", FREE: "free"}
        unclonable = {
            "realm_config_t",
            "realm_key_path_array_t",
            "realm_thread_safe_reference_t",
            "realm_work_queue_t",
        }
        for handle in self.handles:
            handle["clonable"] = handle["name"] not in unclonable and not handle["name"].endswith("token_t")
        for struct in self.structs:
            for field in struct["fields"]:
                self.check_type(field["type"], struct["name"])
        for callback in self.callbacks:
            for parameter in callback["parameters"]:
                self.classify(parameter)
        numbers = next(one["values"] for one in self.enums if one["name"] == "realm_errno_e")
        self.error_names = {one["name"].removeprefix("RLM_ERR_") for one in numbers}
        self.error_names |= {one["name"] for one in self.constants if one["name"].startswith("CREALM_ERR_")}
        self.functions = [self.function(*parts) for parts in self.functions]
        known = {function["name"] for function in self.functions}
        for name, listed in self.facts.items():
            for wrong in sorted(set(listed) - known):
                raise Trouble(f"Scripts/api_facts.json: {name} has {wrong}, which no header declares")

    def check_type(self, text, place):
        base = re.sub(r"\bconst\b|[*]|\[\w+\]|\(.*", " ", text).split()
        if " ".join(base) not in self.kinds and base != ["void"] and base != ["realm_userdata_t"]:
            raise Trouble(f"{place}: unknown type `{text}`")

    def classify(self, parameter):
        """Adds kind and direction, as far as the type tells."""
        text = parameter["type"]
        if "(" in text:
            raise Trouble(f"a function pointer without a name: {text}")
        self.check_type(text, parameter["name"])
        base = re.sub(r"\bconst\b|[*]", " ", text).split()
        base = " ".join(base)
        kind, stars = self.kinds.get(base, "pointer"), text.count("*")
        constant = text.startswith("const ")
        if base == "realm_userdata_t":
            kind, direction = "userdata", "in"
        elif kind == "handle":
            parameter["handle"] = base
            direction = (
                "out"
                if stars == 2 and not constant and "* const*" not in text and "*const*" not in text
                else "in"
            )
            kind = "handle" if stars == 1 or direction == "out" else "array"
        elif base == "char":
            direction = (
                "out" if text in ("char**", "const char**") and parameter["name"].startswith("out_") else "in"
            )
            kind = "text" if stars == 1 or direction == "out" else "array"
        elif base == "void":
            kind, direction = "pointer", "in"
        elif stars == 0:
            direction = "in"
        else:
            # realm.h gives realm_results_find() its value by a pointer without const.
            direction = "in" if constant or parameter["name"] == "value" else "out"
            if kind == "struct" and stars == 2 and not constant:
                parameter["owned"] = True
        if kind == "struct":
            parameter["struct"] = base
        if kind == "enum":
            parameter["enum"] = base
        parameter["kind"], parameter["direction"] = kind, direction

    def function(self, header, section, doc, name, result, parameters):
        parameters = self.variables(parameters)
        names = [parameter["name"] for parameter in parameters]
        comment = Comment(doc, names)
        section_text = header.section_texts.get(section, "")
        for parameter in parameters:
            self.classify(parameter)
            self.parameter_facts(name, parameter, parameters, comment)
        thread = comment.part("Thread")
        inherited = not thread and re.search(r'follow the thread rule "(\w+)"', section_text)
        thread = inherited.group(1) if inherited else thread
        errors = self.errors(comment, section_text)
        since = next((release for release, listed in self.releases if name in listed), None)
        entry = {
            "name": name,
            "header": header.name,
            "section": section,
            "since": since,
            "comment": comment.text,
            "result": self.result(result, comment),
            "parameters": parameters,
            "thread": self.thread(thread),
            "thread_text": thread,
            "errors": errors,
        }
        for fact, listed in self.facts.items():
            entry[fact] = name in listed
        return entry

    @staticmethod
    def thread(text):
        found = re.match(r"(any|single|confined)\b", text)
        return found.group(1) if found else "scheduler" if text.startswith("the scheduler's") else None

    def errors(self, comment, section_text):
        text = comment.part("Errors")
        if not text and "and cannot fail unless noted" in words(section_text):
            text = "none"
        names = re.findall(r"\b(?:CREALM_ERR_)?[A-Z]{2,}[A-Z_]*[A-Z]\b", text)
        return {
            "text": text or None,
            "names": list(dict.fromkeys(name for name in names if name in self.error_names)),
            "groups": re.findall(r"\[(realm|object|write|value)\]", text),
            "as": re.findall(r"(?:as|of|those of) (c?realm_\w+)\(\)", text),
        }

    def result(self, text, comment):
        said = comment.part("Returns") + " " + comment.text
        base = re.sub(r"\bconst\b|[*]", " ", text).split()
        base = " ".join(base)
        kind = self.kinds.get(base, "pointer")
        if base == "char":
            kind = "text"
        if base == "void":
            kind = "pointer" if "*" in text else "none"
        result = {"type": text, "kind": kind, "text": comment.part("Returns") or None}
        if kind == "handle":
            result["handle"] = base
            result["owned"] = "own handle" in said or "own token" in said
            result["null_without_error"] = bool(
                re.search(r"NULL\W+without an? error|NULL, without an error", said)
            )
        if kind == "text":
            result["owned"] = "realm_free()" in said
        if kind == "boolean":
            # false means a failure, unless the function only asks.
            result["reports_failure"] = (
                comment.part("Errors") not in ("none.", "none", "") or "Returns" not in comment.parts
            )
            if re.match(r"(none|none\b.*)", comment.part("Errors")):
                result["reports_failure"] = False
        if kind in ("enum", "struct"):
            result[kind] = base
        return result

    @staticmethod
    def parameter_facts(function, parameter, parameters, comment):
        text = comment.part(parameter["name"])
        said = text or comment.text
        parameter["optional"] = bool(
            re.search(
                r"\[optional\]|\bmay be NULL\b|^NULL\b|\bNULL takes\b|\bNULL goes\b|\bNULL restores\b|: NULL\b.*\[optional\]",
                text,
            )
        ) or (
            bool(re.search(r"Each pointer is \[optional\]|each array is\s+\[optional\]", comment.text))
            and parameter["direction"] == "out"
            and "*" in parameter["type"]
        )
        if text:
            parameter["text"] = text
        if parameter["kind"] == "handle" and parameter["direction"] == "out":
            parameter["owned"] = True
        if parameter["kind"] == "text" and parameter["direction"] == "out":
            parameter["owned"] = "realm_free()" in text
        if "struct" in parameter and "owned" in parameter:
            parameter["owned"] = True
        if "*" not in parameter["type"] or parameter["kind"] in ("userdata",):
            return
        counts = [other["name"] for other in parameters if other["type"] in ("size_t", "size_t*")]
        name = parameter["name"]
        patterns = (
            rf"(?:room for|the most|up to) (\w+) ",
            r"^(\w+) (?:names|values|keys|arguments|bytes|tokens|texts|descriptions)",
            r"; (\w+) (?:names|texts) ",
            r"(?:for|of) (\w+) (?:entries|keys|infos|values|texts)",
            r"\b(\w+)\b",
        )
        for pattern in patterns[:4]:
            found = next(
                (match for match in re.findall(pattern, said if text else "") if match in counts), None
            )
            if found:
                parameter["length"] = found
                break
        else:
            for guess in (
                f"{name}_size",
                f"num_{name}",
                f"max_{name.removeprefix('out_')}",
                f"{name}_count",
                "num_args" if name == "args" else "",
                "num_properties" if name == "properties" else "",
                "num_values" if name in ("values", "properties") else "",
                "count" if name == "tokens" else "",
                "num_key_paths" if name == "user_key_paths" else "",
                "num_classes" if name in ("classes", "class_properties") else "",
                f"num_{name.removesuffix('s')}s",
                "max"
                if name in ("out_versions", "out_keys", "out_properties", "out_col_keys", "out_modified")
                else "",
            ):
                if guess in counts and guess != name:
                    parameter["length"] = guess
                    break
        if "length" in parameter and parameter["kind"] not in ("text", "handle"):
            parameter["array"] = True

    def data(self):
        return {
            "comment": "Made by Scripts/api_description.py from realm.h and crealm.h; do not edit.",
            "handles": self.handles,
            "types": self.types,
            "constants": self.constants,
            "enums": self.enums,
            "structs": self.structs,
            "callbacks": self.callbacks,
            "functions": self.functions,
        }


def read_releases(folder):
    """The functions of each release, the oldest first."""

    def number(path):
        return [int(part) for part in path.stem.split(".")]

    return [
        (path.stem, set(re.findall(r"^function (\w+):", path.read_text(), re.M)))
        for path in sorted(folder.glob("*.*.*.txt"), key=number)
    ]


def describe(include=ROOT / "include"):
    facts = json.loads((ROOT / "Scripts/api_facts.json").read_text())
    return Description(include, facts, read_releases(ROOT / "docs/abi")).data()


def written(data):
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def compared(old, new):
    """One line for each declaration that differs."""
    for kind in new:
        if not isinstance(new[kind], list):
            continue
        before = {one["name"]: one for one in old.get(kind, [])}
        after = {one["name"]: one for one in new[kind]}
        for name in sorted(before.keys() - after.keys()):
            yield f"{kind}: {name} is in api.json, but no header declares it"
        for name in sorted(after.keys() - before.keys()):
            yield f"{kind}: {name} is declared, but not in api.json"
        for name in sorted(after.keys() & before.keys()):
            if after[name] != before[name]:
                members = [
                    member for member in after[name] if after[name][member] != before[name].get(member)
                ]
                yield f"{kind}: {name} differs in {', '.join(members) or 'its members'}"
        if list(before) != list(after) and before.keys() == after.keys():
            yield f"{kind}: the order differs"


def holes(data):
    """Facts that no comment states."""
    for function in data["functions"]:
        if not function["thread"]:
            yield f"{function['name']}: thread rule"
        if function["errors"]["text"] is None:
            yield f"{function['name']}: errors"
        for parameter in function["parameters"]:
            if parameter.get("kind") == "array" and "length" not in parameter:
                yield f"{function['name']}: the number of elements of {parameter['name']}"


def main(arguments):
    include = ROOT / "include"
    if "--include" in arguments:
        include = Path(arguments[arguments.index("--include") + 1])
    try:
        data = describe(include)
    except Trouble as trouble:
        print(f"api_description.py: {trouble}", file=sys.stderr)
        return 2
    file = include / "api.json"
    if "--holes" in arguments:
        found = list(holes(data))
        print("\n".join([*found, f"{len(found)} facts are not stated"]))
    elif "--check" in arguments:
        text = file.read_text("utf-8") if file.exists() else "{}"
        found = list(compared(json.loads(text), data))
        if not found and text != written(data):
            found = ["the form of api.json differs: run Scripts/api_description.py"]
        for line in found:
            print(line)
        print(
            f"api.json: {len(data['functions'])} functions, {len(found) or 'no'} difference{'s' if len(found) != 1 else ''}"
        )
        return 1 if found else 0
    else:
        temporary = file.with_suffix(".json.new")
        temporary.write_text(written(data), "utf-8")
        os.replace(temporary, file)
        print(f"{file.name}: {len(data['functions'])} functions")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
