"""Turns docstrings into Markdown: descriptions of arguments, `name:  text` with indented lines below, become lists."""

import re

import griffe

ITEM = re.compile(r"^(\w+): +(\S.*)$")


class ListsOfArguments(griffe.Extension):
    def on_instance(self, *, obj, **kwargs):
        if obj.docstring is not None:
            obj.docstring.value = _as_markdown(obj.docstring.value)


def _as_markdown(text):
    return "\n\n".join(map(_paragraph, text.split("\n\n")))


def _paragraph(text):
    """A list has arguments only, and their descriptions are indented."""
    lines = text.split("\n")
    if not ITEM.match(lines[0]) or not all(line.startswith(" ") or ITEM.match(line) for line in lines):
        return text if text.startswith("    ") else text.replace("__", r"\_\_")
    return "\n".join(ITEM.sub(r"- **`\1`**: \2", line) if ITEM.match(line) else "    " + line.strip() for line in lines)
