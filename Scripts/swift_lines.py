"""The lines of a Swift file for checks that look at code alone."""

import re


def code_lines(text):
    """The lines with their numbers, without comments and the content of texts."""
    in_text = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.count('"""') % 2:
            in_text = not in_text
            continue
        if in_text:
            continue
        line = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)
        yield number, line.split("//")[0]
