"""Splits a class of the file that has subclasses into the classes of Python that declare it; see the page "Rules"."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Set, Tuple

from ..schema import ClassSchema


class Part(NamedTuple):
    """A base class or a subclass, with the properties and rules that it declares itself."""

    declared: ClassSchema
    text: str  # The type of its objects: a text in the property `by`.
    above: str  # The type above a subclass; empty for the base.
    by: str
    is_abstract: bool
    unsaid: List[Any]  # Rules that no model can declare.


def parts(declared: ClassSchema) -> Iterator[Part]:
    """The base and its subclasses, each after the class above it. Nothing for a class without subclasses."""
    rules = declared.rules.get("subclasses")
    if not rules:
        return
    classes: Mapping[str, Any] = rules["classes"]
    lines = {text: _line(classes, text) for text in sorted(classes)}
    others = {name for one in classes.values() for name in one["properties"]}
    checks = _Checks(declared.rules.get("checks", ()), rules["by"], lines)
    unique = list(declared.rules.get("unique", ()))
    own = [one for one in unique if others.isdisjoint(one["properties"])]
    base = {name: prop for name, prop in declared.properties.items() if name not in others}
    made = _declared(declared, base, own, checks.of_base)
    unsaid: List[Any] = []
    computed = declared.rules.get("computed", {})  # The file does not tell which class declared one.
    made.rules = {**made.rules, "computed": computed}
    yield Part(made, declared.name, "", rules["by"], bool(rules.get("abstract")), unsaid)
    rest = [one for one in unique if one not in own]
    for text in sorted(lines, key=lambda text: (len(lines[text]), text)):
        one = classes[text]
        columns = {name: declared.properties[name] for name in one["properties"] if name in declared.properties}
        known = {name for above in lines[text] for name in classes[above]["properties"]} | base.keys()
        own = [
            rule
            for rule in rest
            if known.issuperset(rule["properties"]) and not columns.keys().isdisjoint(rule["properties"])
        ]
        rest = [rule for rule in rest if rule not in own]
        made = _declared(declared, columns, own, checks.of(text))
        yield Part(made, text, one["extends"], rules["by"], bool(one.get("abstract")), [])
    if rest or checks.unsaid:  # The base tells of them, once all classes have said what they can.
        unsaid.append({"unique": rest, "checks": checks.unsaid})


def _line(classes: Mapping[str, Any], text: str) -> List[str]:
    """A type and the types above it, the highest first, without the base."""
    found: List[str] = []
    while text in classes and text not in found:
        found.insert(0, text)
        text = classes[text]["extends"]
    return found


def _declared(whole: ClassSchema, properties: Mapping[str, Any], unique: List[Any], checks: List[Any]) -> ClassSchema:
    own = whole.rules.get("properties", {})
    key = whole.primary_key if whole.primary_key in properties else None
    rules = {"properties": {name: own[name] for name in properties if name in own}, "unique": unique, "checks": checks}
    return ClassSchema(whole.name, properties, primary_key=key, rules=rules)


class _Checks:
    """The checks of a class of the file, by the types that they concern."""

    def __init__(self, checks: Any, by: str, lines: Mapping[str, List[str]]) -> None:
        self.of_base: List[Any] = []
        self.unsaid: List[Any] = []
        self._lines = lines
        self._found: Dict[str, Dict[str, str]] = {text: {} for text in lines}  # Conditions by the names of rules.
        for check in checks:
            text, name = self._split(check.get("name", ""))
            condition = self._condition(check["condition"], by, text)
            if not text:
                self.of_base.append(check)
            elif condition is None or name in self._found[text]:
                self.unsaid.append(check)
            else:
                self._found[text][name] = condition

    def _split(self, name: str) -> Tuple[str, str]:
        """The type and the name of a rule of a subclass; empty texts if it is none."""
        text = max((text for text in self._lines if name.startswith(f"{text}: ")), key=len, default="")
        return text, name[len(text) + 2 :] if text else ""

    @staticmethod
    def _condition(condition: str, by: str, text: str) -> Any:
        """The condition of a check without its type; None if it has another form."""
        quoted = f'"{text}"' if "'" in text else f"'{text}'"
        before = f"(NOT {by} == {quoted}) OR ("
        return condition[len(before) : -1] if condition.startswith(before) and condition.endswith(")") else None

    def of(self, text: str) -> List[Any]:
        """The checks that a subclass declares, without those that it has from the classes above."""
        found: List[Any] = []
        above: Set[Tuple[str, str]] = {item for one in self._lines[text][:-1] for item in self._found[one].items()}
        for name, condition in self._found[text].items():
            longest = max((known for other, known in above if other == name), key=len, default="")
            if condition != longest:
                found.append({"name": name, "condition": _rest(condition, longest)})
        return found


def _rest(condition: str, above: str) -> str:
    """The part of a condition that a subclass adds to that of the class above it; `above` is empty if it has none."""
    for before in (f"({above})", above):  # The second, if the class above added something to another one.
        if above and condition.startswith(f"{before} AND (") and condition.endswith(")"):
            return condition[len(before) + 6 : -1]
    return condition
