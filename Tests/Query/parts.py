"""The tokens of query texts, and the smaller queries within a query."""
import re

TOKEN = re.compile(r'''B64"[^"]*"|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|uuid\([^)]*\)|oid\([^)]*\)|T[+-]?\d+:[+-]?\d+
    |\d{4}-\d+-\d+[T@]\d+:\d+:\d+(?::\d+)?|\$K?\d+|[+-]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?f?|@\w+|\$?\w[\w-]*|\[c\]|[=!<>]=|=[<>]|<>|&&|\|\||\s+|.''', re.X)


def tokens(text):
    return TOKEN.findall(text)


def parts(text):
    """Smaller queries within a query: sides of AND and OR, the operands of NOT and brackets, the ordering alone."""
    found = []
    todo = [text]
    while todo and len(found) < 40:
        words = tokens(todo.pop().strip())
        depth, cuts, order = 0, [], None
        for i, word in enumerate(words):
            depth += (word in '([{') - (word in ')]}')
            lower = word.lower()
            if depth == 0 and lower in ('and', 'or', '&&', '||'):
                cuts.append(i)
            elif depth == 0 and order is None and lower in ('sort', 'distinct', 'limit') and i and i + 1 < len(words) and words[i + 1] == '(':
                order = i
        if order:
            found += [''.join(words[:order]), 'TRUEPREDICATE ' + ''.join(words[order:])]
            todo.append(found[-2])
        elif cuts:
            for start, end in zip([-1] + cuts, cuts + [len(words)]):
                found.append(''.join(words[start + 1:end]))
                todo.append(found[-1])
        elif words and words[0].lower() in ('not', '!'):
            found.append(''.join(words[1:]))
            todo.append(found[-1])
        elif words and words[0] == '(' and words[-1] == ')':
            found.append(''.join(words[1:-1]))
            todo.append(found[-1])
    return [p.strip() for p in found if p.strip()]
