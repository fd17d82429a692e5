"""Rewrites test files of Realm's Swift package, so that they compile on Linux against `RealmSwift`.

Models get `@Persisted` in place of `@objc dynamic`. Each class lists its test functions, because XCTest on Linux does
not find them. Functions that cannot be compiled there are left out, by name.
"""

import re


def code_of(text):
    """The text with comments and string contents blanked, so that its braces and words can be counted."""
    out = list(text)
    at, size = 0, len(text)

    def blank(begin, end):
        for index in range(begin, min(end, size)):
            if out[index] != "\n":
                out[index] = " "

    def string(begin):
        """The end of the string literal that begins at `begin`."""
        long = text.startswith('"""', begin)
        quote = '"""' if long else '"'
        index = begin + len(quote)
        while index < size and not text.startswith(quote, index):
            if text.startswith("\\(", index):
                depth, index = 1, index + 2
                while depth and index < size:
                    if text[index] == '"':
                        index = string(index)
                        continue
                    depth += {"(": 1, ")": -1}.get(text[index], 0)
                    index += 1
            else:
                index += 2 if text[index] == "\\" else 1
        return index + len(quote)

    while at < size:
        if text.startswith("//", at):
            end = text.find("\n", at)
            end = size if end < 0 else end
            blank(at, end)
            at = end
        elif text.startswith("/*", at):
            end = text.find("*/", at) + 2
            blank(at, end)
            at = end
        elif text[at] == '"':
            end = string(at)
            blank(at + 1, end - 1)
            at = end
        else:
            at += 1
    return "".join(out)


def closing(code, at, pair="{}"):
    """The index behind the brace that closes the one at `at`."""
    depth = 0
    for index in range(at, len(code)):
        if code[index] == pair[0]:
            depth += 1
        elif code[index] == pair[1]:
            depth -= 1
            if depth == 0:
                return index + 1
    raise ValueError("a brace is not closed")


CLASS = re.compile(r"^([ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]+)*)((?:(?:public|open|private|fileprivate|final|internal) )*)"
                   r"(?:class|extension) (\w+)\s*(<[^{]*?>)?\s*(?::\s*([\w.]+)(<[^{]*?>)?)?[^{}]*\{", re.M)
FUNCTION = re.compile(r"^([ \t]*(?:@\w+(?:\([^)\n]*\))?\s+)*(?:(?:override|public|open|private|internal|final) )*"
                      r"func (\w+)\s*(?:<[^(]*>)?\()", re.M)


class Class:
    def __init__(self, match, code):
        self.name, self.is_generic, self.base = match.group(3), bool(match.group(4)), match.group(5)
        self.body, self.is_extension = match.end(), "extension " in match.group(0)
        self.begin, self.end = match.start(), closing(code, match.end() - 1)


def classes(code):
    """The classes and their extensions."""
    return [Class(match, code) for match in CLASS.finditer(code) if match.group(3) not in ("func", "var")]


def functions(code, begin, end):
    """The functions that are members of a class: (name, where they begin, where their body begins, where they end)."""
    found, at = [], begin
    while True:
        match = FUNCTION.search(code, at, end)
        if not match:
            return found
        body = code.find("{", closing(code, match.end() - 1, "()"))
        if body < 0 or body >= end:
            return found
        finish = closing(code, body)
        if depth_of(code, begin, match.start()) == 0:
            found.append((match.group(2), match.start(), body, finish))
        at = finish


def depth_of(code, begin, at):
    return code.count("{", begin, at) - code.count("}", begin, at)


def cut(text, spans):
    for begin, end in sorted(spans, reverse=True):
        text = text[:begin] + text[end:]
    return text


def without_functions(text, left_out):
    """The text without the functions in `left_out`, a function of class and name; and the names of those."""
    code, spans, names = code_of(text), [], []
    for each in classes(code):
        for name, begin, _, end in functions(code, each.body, each.end - 1):
            if left_out(each.name, name):
                spans.append((begin, end))
                names.append((each.name, name))
    return cut(text, spans), names


def modern_models(text, is_model):
    """Gives the properties of models their wrappers."""
    models = [each for each in classes(code_of(text)) if is_model(each.name)]
    for each in sorted(models, key=lambda one: -one.begin):
        if any(one.begin < each.begin < one.end for one in models):
            continue
        body = text[each.body:each.end]
        inherits = each.base not in ("Object", "EmbeddedObject", "AsymmetricObject")
        if "@objc" not in body and not inherits:
            continue
        ignored = re.search(r"ignoredProperties\(\).*?\[(.*?)\n? *\]\n", body, re.S)
        names = set(re.findall(r'"(\w+)"', body[ignored.start():])) if ignored else set()

        def wrapped(match):
            indent, name, rest = match.groups()
            return f"{indent}{'' if name in names or '{' in rest else '@Persisted '}var {name}{rest}"

        body = re.sub(r"^( +)@objc (?:dynamic |private )*var ([^ :]+)([ :].*)$", wrapped, body, flags=re.M)
        body = re.sub(r"^(    @Persisted.*)\bNS(String|Data|Date)\b", r"\1\2", body, flags=re.M)
        body = re.sub(r"^(    @Persisted.*: \w+)!$", r"\1?", body, flags=re.M)
        body = re.sub(r"^ +(?:let|var) (\w+) = RealmProperty<(.*)>\(\)(?: *//.*)?$", r"    @Persisted var \1: \2", body, flags=re.M)
        body = re.sub(r"^ +(?:let|var) (\w+) = RealmOptional<(.*)>\(\)(?: *//.*)?$", r"    @Persisted var \1: \2?", body, flags=re.M)
        body = re.sub(r"^ +(?:let|var) (\w+) = RealmOptional<(.*)>\((.+)\)(?: *//.*)?$", r"    @Persisted var \1: \2? = \3", body, flags=re.M)
        body = re.sub(r"^ +(?:let|var) (\w+) = ((?:List|MutableSet|Map)<.*>)\(\)(?: *//.*)?$", r"    @Persisted var \1: \2", body, flags=re.M)
        body = re.sub(r"^ +(?:let|var) (\w+) = LinkingObjects\(fromType: (\w+)\.self, property: (\".*\")\)$",
                      r"    @Persisted(originProperty: \3) var \1: LinkingObjects<\2>", body, flags=re.M)
        text = text[:each.body] + body + text[each.end:]
    return text


IMPORTS = re.compile(r"^(?:@\w+(?:\(\w+\))? )?import (?:class )?(?:Realm(?:\..*)?|RealmTestSupport|RealmSwiftTestSupport|"
                     r"os\.lock|RealmSwift)$", re.M)


def listed(text):
    """Each class with test functions lists them, also those of its extensions."""
    code, additions, found, rows_of = code_of(text), [], [], {}
    for each in classes(code):
        rows = rows_of.setdefault(each.name, [])
        for name, begin, body, _ in functions(code, each.body, each.end - 1):
            head = code[begin:body]
            if not name.startswith("test") or "private func" in head or not re.search(r"\(\s*\)", head):
                continue
            call = f"{{ try await (($0 as! {each.name}).{name})() }}" if " async" in head else \
                f"{{ try (($0 as! {each.name}).{name})() }}"
            kind = "Listed.waiting" if " async" in head else "Listed.plain"
            rows.append(f'        {kind}("{each.name}", "{name}", {call}),')
            found.append((each.name, name))
    for each in classes(code):
        rows = rows_of[each.name]
        if rows and not each.is_extension:
            line = "\n".join(["", "    override class var ownTests: [Listed] { Listed.merged(super.ownTests, ["] + rows
                             + ["    ]) }"])
            additions.append((each.body, line))
    for at, line in sorted(additions, reverse=True):
        text = text[:at] + line + text[at:]
    return text, found


# Helpers that another file of the package has, or that only functions use that cannot be built.
HELPERS = {
    ("PrimitiveListTestsBase", "assertThrows"), ("PrimitiveListTestsBase", "invokeTest"),
    ("ProjectionTests", "observeChange"), ("ProjectionTests", "observeValue"),
    ("ProjectionTests", "observeListChange"), ("ProjectionTests", "observeSetChange"),
    ("ProjectionTests", "observeMapChange"), ("RealmTests", "manuallyAdvancedRealm"),
}

# What the compiler on Linux wants to have spelt in another way.
SPELLINGS = [
    (r"\bassertThrows\((\s*)try! ", r"assertThrows(\1try "),
    (r"^( *)@objc\(\w+\)\n", ""),
    (r"@objc (enum|class|func|protocol)", r"\1"),
    (r"@nonobjc ", ""),
    (r"@objc dynamic lazy ", "lazy "),
    (r"override class func _realmObjectName\(\).*", "override class func shouldIncludeInDefaultSchema() -> Bool { false }"),
    (r"forUndefinedKey", "forKey"),
    (r"\bNSString\(format:", "String(format:"),
    (r"as! NSString\b", "as! String"),
    (r" as NSString\?", ""),
    (r"^(.*: )\[AnyObject\]( += \w+\.value\(forKeyPath: .*\))$", r"\1[Any?]\2 as! [Any?]"),
    (r"\[AnyObject\]", "[Any?]"),
    (r"\bAnyObject\?", "Any?"),
    (r"^.*RLM(?:Embedded)?Object\.sharedSchema.*\n", ""),
    (r"^    var changeDictionary: .*\n", ""),
    (r"^.*// required for schema validation.*\n.*\n", ""),
    (r"NSPredicate\(format: (?:queryStr|predicate), argumentArray: (constructedValues|values)\)([,)])$", r"described(\1)\2"),
    (r"\bos_unfair_lock_t = ", "UnsafeMutablePointer<pthread_mutex_t> = "),
    (r"\bos_unfair_lock\(\)", "pthread_mutex_t()"),
    (r"\bos_unfair_lock_(un)?lock\(", r"pthread_mutex_\1lock("),
    (r"\bRLMGeospatial\b", "_Geospatial"),
    (r"if \$0 is NSNull \{", "if $0 == nil {"),
    (r"\bkvc: AnyObject = ", "kvc: Any = "),
    (r"\.key as AnyObject\)", ".key)"),
    (r" as! (Set<String>|(?:NSNumber|Int\d*|Float|Double|Bool)\b)", r" ~~> \1"),
    (r"( ~~> [\w<]+>?\??)", r"\1.self"),
    (r"^(?:@discardableResult\n)?private func (?:realmWithSingleClassProperties|dynamicRealm)\((?:.*\n)*?\}\n", ""),
    (r"shape as! CVarArg", "shape"),
    (r"let (d[12]): Decimal128", r"var \1: Decimal128"),
]


def changed(text):
    for pattern, replacement in SPELLINGS:
        text = re.sub(pattern, replacement, text, flags=re.M)
    return text
