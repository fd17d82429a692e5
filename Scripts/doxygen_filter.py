#!/usr/bin/env python3
"""Translates the comments of a public header into doxygen's markup. Doxygen runs this filter on each header and reads
its output.

- The text at the top of realm.h becomes the first page: headings in capitals become sections, terms with their meaning a list.
- A banner (a title between two dashed lines) opens a group, which holds everything up to the next banner. Each becomes one man page.
- In the comment above a function, a line "name: text" describes a parameter of that function; "Returns:", "Thread:" and "Errors:" begin
  paragraphs of their own.
- Other comments belong to the declaration below them, or on the same line.
"""

import re
import sys

BANNER = re.compile(r"^/\* -{20,}\n(.*?)^ \* -{20,} \*/\n", re.M | re.S)
COMMENT = re.compile(r"/\*\*? (.*?) ?\*/|/\*\n(.*?)\n \*/", re.S)
LABEL = re.compile(r"^([A-Za-z_]\w*(?:, \w+)*): *(.*)$")
SPECIAL = re.compile(r"(`[^`]*`)|([\\@<>#%])")


def plain(text):
    """Escapes the text, so that nothing in it is a command; text in backticks stays unchanged."""
    return SPECIAL.sub(lambda m: m.group(1) or "\\" + m.group(2), text)


def unstarred(text):
    """The text of a comment without the stars at the beginnings of its lines."""
    return re.sub(r"^ \*(?:  ?|$)", "", text, flags=re.M)


def unindented(text):
    """The same for a comment whose text begins one blank after the star."""
    return re.sub(r"^ \* ?", "", text, flags=re.M)


def labelled(line, parameters):
    """The markup for a line that begins with a label; None for a line without a label."""
    found = LABEL.match(line)
    if not found:
        return None
    name, text = found.groups()
    if name == "Returns":
        return "@return " + plain(text)
    if name in ("Thread", "Errors"):
        first, separator, errors = text.partition(" Errors: ")
        return f"@par {name}\n{plain(first)}" + (f"\n@par Errors\n{plain(errors)}" if separator else "")
    if all(part in parameters for part in name.split(", ")):
        return f"@param {name.replace(' ', '')} {plain(text)}"
    return None


def described(text, declaration):
    """The comment above a declaration."""
    parameters = set(re.findall(r"\w+", declaration))
    lines, in_label = [], False
    for line in unstarred(text).split("\n"):
        made = labelled(line, parameters)
        if made is not None:
            in_label = True
        elif in_label and not line.startswith(" "):
            in_label = False
            lines.append("")
        lines.append(made if made is not None else plain(line.strip() if in_label else line))
    return "\n".join(lines)


def first_page(text):
    lines = []
    for line in text.split("\n"):
        heading = re.fullmatch(r"[A-Z ]{8,}", line)
        # Lines that are indented by four blanks are code and stay unchanged.
        term = re.fullmatch(r" {5}(\S+) {2,}(\S.*)", line)
        if heading:
            lines.append("# " + line.capitalize())
        elif term:
            lines.append(f"   - **{term.group(1)}** {plain(term.group(2))}")
        else:
            lines.append(line if line.startswith("    ") else plain(line))
    return "\n".join(lines)


def code(text):
    """Declarations with their comments."""
    done, last = [], 0
    for comment in COMMENT.finditer(text):
        done.append(text[last:comment.start()])
        body = comment.group(1) if comment.group(1) is not None else comment.group(2)
        line = text[text.rfind("\n", 0, comment.start()) + 1:comment.start()]
        behind = text[comment.end():]
        if line.strip():
            done.append("/**< " + plain(" ".join(unstarred(body).split())) + " */")
        else:
            done.append("/** " + described(body, behind[:behind.find(";")]) + " */")
        last = comment.end()
    return "".join([*done, text[last:]])


def filtered(name, source):
    guard = source.index("#ifndef")
    opening = unindented(source[source.index("\n") + 1:source.index("*/")])
    position, out, group_ends = guard, [], ""

    def begin_group(title, text):
        nonlocal group_ends
        label = f"{name}_{re.sub('[^a-z]+', '_', title.lower())}"
        out.append(f"{group_ends}/** @defgroup {label} {title}\n{plain(text)}\n@{{ */\n")
        group_ends = "/** @} */\n"

    if name == "realm":
        out.append(f"/** @mainpage The C interface of CRealm\n{first_page(opening)}*/\n")
    else:
        begin_group("Additions", opening)
    for banner in BANNER.finditer(source, guard):
        out.append(code(source[position:banner.start()]))
        title, _, text = unindented(banner.group(1)).partition("\n")
        begin_group(title, text)
        position = banner.end()
    return "".join([*out, code(source[position:]), group_ends])


if __name__ == "__main__":
    path = sys.argv[1]
    print(filtered(path.rsplit("/", 1)[-1].removesuffix(".h"), open(path, encoding="utf-8").read()))
