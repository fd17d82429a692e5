"""Parses texts of queries to trees, using only the grammar of query-language.md §2 and §3.

A tree is tuples: ('and', [..]) ('or', [..]) ('not', x) ('true',) ('false',) ('cmp', op, fold, left, right)
('text', left, right) ('between', left, list) ('geo', left, right). Operands: ('const', kind, text)
('arg', quantifier, number) ('obj', class, key) ('list', quantifier, [constants]) ('path', quantifier, steps, end)
('agg', steps, function, name) ('sub', steps, variable, tree) ('arith', op, left, right). Steps: ('name', x)
('key', x) ('index', n) ('all',) ('arg', n) ('karg', n); the end of a path is None, 'count' or 'type'."""
import base64
import re


class QueryError(Exception):
    """The error of an invalid query, with its number."""

    def __init__(self, number, why=''):
        super().__init__(f'E{number} {why}')
        self.number = number


def any_case(words):
    return '|'.join(''.join(f'[{c}{c.upper()}]' if c.isalpha() else c for c in w) for w in sorted(words.split(), key=len, reverse=True))


def two_cases(words):
    return '|'.join(f'{w}|{w.upper()}' for w in words.split())


KEYWORDS = {
    'beginswith': 'STR', 'endswith': 'STR', 'contains': 'STR', 'like': 'STR', 'text': 'TEXT', 'between': 'BETWEEN', 'geowithin': 'GEOWITHIN',
    'sort': 'SORT', 'distinct': 'DISTINCT', 'limit': 'LIMIT', 'asc': 'DIR', 'ascending': 'DIR', 'desc': 'DIR', 'descending': 'DIR',
    'truepredicate': 'TRUEP', 'falsepredicate': 'FALSEP', 'subquery': 'SUBQUERY', 'obj': 'OBJ', 'bin': 'BINARY', 'binary': 'BINARY',
    'geobox': 'GEO', 'geocircle': 'GEO', 'geopolygon': 'GEO'}
ESCAPE = r'\\["\'/bfnrt0\\]|\\u[0-9a-fA-F]{4}'
# Rows as in §2: the longest match wins, among equal lengths the first.
TOKENS = [(kind, re.compile(pattern)) for kind, pattern in [
    ('OP', r'\[c\]|==|=<|=>|<=|>=|<>|!=|[-+*/\[\](){},.=<>]'),
    ('AND', '&&|' + any_case('and')), ('OR', r'\|\||' + any_case('or')), ('NOT', '!|' + two_cases('not')),
    ('IN', two_cases('in')), ('ANY', two_cases('any some')), ('ALL', two_cases('all')), ('NONE', two_cases('none')),
    ('TRUE', two_cases('true')), ('FALSE', two_cases('false')), ('FIRST', two_cases('first')), ('LAST', two_cases('last')),
    ('SIZE', two_cases('size')), ('WORD', any_case(' '.join(KEYWORDS))), ('NULL', any_case('null nil')),
    ('INF', '[-+]?(' + any_case('infinity inf') + ')'), ('NAN', '[-+]?(' + any_case('nan') + ')'),
    ('AT', '@(count|size|max|min|sum|avg|links|type|keys|values)'), ('NATURAL', '[0-9]+'), ('NUMBER', '0[xX][0-9a-fA-F]+|[-+]?[0-9]+'),
    ('FLOAT', r'[-+]?(([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?f?|[0-9]+[eE][-+]?[0-9]+f?|[0-9]+f)'),
    ('TIME', r'T[-+]?[0-9]+:[-+]?[0-9]+|[0-9]+-[0-9]+-[0-9]+[T@][0-9]+:[0-9]+:[0-9]+(:[0-9]+)?'),
    ('UUID', r'uuid\([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\)'),
    ('OID', r'oid\([0-9a-fA-F]{24}\)'), ('LINK', '[OL][0-9]+:[0-9]+|O[0-9]+'), ('ARG', r'\$[0-9]+'), ('KARG', r'\$K[0-9]+'),
    ('BASE64', 'B64"[a-zA-Z0-9+/=]*"'), ('STRING', rf'"([^"\\]|{ESCAPE})*"|' + rf"'([^'\\]|{ESCAPE})*'"),
    ('NAME', r'([a-zA-Z_$]|[^\x00-\x7f])([-0-9a-zA-Z_$]|[^\x00-\x7f]|\\[ nrt])*')]]
NAMES = {'NAME', 'STR', 'BETWEEN', 'SORT', 'DISTINCT', 'LIMIT', 'DIR', 'IN', 'TEXT', 'BINARY', 'FIRST', 'LAST', 'SIZE'}
COMPARED = {'==': '==', '=': '==', '!=': '!=', '<>': '!=', '<': '<', '<=': '<=', '=<': '<=', '>': '>', '>=': '>=', '=>': '>='}
QUANTIFIERS = ('ANY', 'ALL', 'NONE')


def tokens(text):
    found, at = [], 0
    while at < len(text):
        if text[at] in ' \t\r\n':
            at += 1
            continue
        best = max(((kind, m.end()) for kind, pattern in TOKENS if (m := pattern.match(text, at))), key=lambda t: t[1], default=None)
        if not best or best[0] == 'LINK' and re.match('O[0-9]+:', text[at:]):
            raise QueryError(3008, 'invalid character')
        kind, word = best[0], text[at:best[1]]
        found.append((KEYWORDS[word.lower()] if kind == 'WORD' else word if kind == 'OP' else kind, word))
        at = best[1]
    return found + [('END', '')]


def integer(text):
    """A number as C parses it: octal after 0, hexadecimal after 0x, clamped to 64 bits."""
    sign, digits = (text[0], text[1:]) if text[0] in '+-' else ('', text)
    if digits[:2] in ('0x', '0X'):
        value = int(digits[2:], 16)
    elif digits[0] == '0':
        value = int(re.match('[0-7]*', digits)[0] or '0', 8)
    else:
        value = int(digits)
    return max(-(1 << 63), min((1 << 63) - 1, -value if sign == '-' else value))


def decoded64(word):
    text = word[4:-1].rstrip('=')
    if '=' in text or len(text) % 4 == 1:
        raise QueryError(3008, 'base64')
    return base64.b64decode(text + '=' * (-len(text) % 4))


class Parser:
    def __init__(self, text):
        self.tokens, self.at = tokens(text), 0

    def kind(self, ahead=0):
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][0]

    def word(self):
        return self.tokens[self.at][1]

    def take(self, *kinds):
        """The word of the next token, if it is of one of these kinds."""
        if self.kind() in kinds:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return None

    def need(self, *kinds):
        word = self.take(*kinds)
        if word is None:
            raise QueryError(3008, f'{kinds} expected at {self.word()!r}')
        return word

    def query(self):
        tree, clauses = self.predicate(), []
        while self.kind() != 'END':
            clause = self.need('SORT', 'DISTINCT', 'LIMIT').lower()
            self.need('(')
            if clause == 'limit':
                clauses.append((clause, integer(self.need('NATURAL'))))
            else:
                keys = []
                while True:
                    path = self.path()
                    keys.append((path, self.need('DIR').lower()[0] == 'd') if clause == 'sort' else path)
                    if not self.take(','):
                        break
                clauses.append((clause, keys))
            self.need(')')
        return tree, clauses

    def predicate(self):
        parts = [self.conjunction()]
        while self.take('OR'):
            parts.append(self.conjunction())
        return ('or', parts) if len(parts) > 1 else parts[0]

    def conjunction(self):
        parts = [self.unary()]
        while self.take('AND'):
            parts.append(self.unary())
        return ('and', parts) if len(parts) > 1 else parts[0]

    def unary(self):
        if self.take('NOT'):
            return ('not', self.unary())
        if self.take('TRUEP'):
            return ('true',)
        if self.take('FALSEP'):
            return ('false',)
        if self.kind() == '(':
            start = self.at
            try:
                self.at += 1
                inner = self.predicate()
                self.need(')')
                return inner
            except QueryError:
                self.at = start  # Then the bracket belongs to an expression.
        return self.comparison()

    def comparison(self):
        left = self.expression()
        kind = self.kind()
        if kind in COMPARED or kind == 'IN':
            op = COMPARED.get(kind, 'in')
            self.at += 1
            fold = op in ('==', '!=', 'in') and bool(self.take('[c]'))
            return ('cmp', op, fold, left, self.expression())
        if left[0] in ('arith', 'bracket'):
            raise QueryError(3008, 'an expression is compared')
        if word := self.take('STR'):
            fold = bool(self.take('[c]'))
            return ('cmp', word.lower(), fold, left, self.value())
        if self.take('TEXT'):
            return ('text', left, self.value())
        if self.take('BETWEEN'):
            return ('between', left, self.constants(self.quantifier()))
        if self.take('GEOWITHIN') and left[0] == 'path':
            return ('geo', left, self.geo())
        raise QueryError(3008, 'no operator')

    def expression(self):
        left = self.term()
        while op := self.take('+', '-'):
            left = ('arith', op, left, self.term())
        return left

    def term(self):
        left = self.factor()
        while op := self.take('*', '/'):
            left = ('arith', op, left, self.factor())
        return left

    def factor(self):
        if self.take('('):
            inner = self.expression()
            self.need(')')
            return inner if inner[0] == 'arith' else ('bracket', inner)
        return self.value()

    def quantifier(self):
        kind = self.kind()
        return kind if self.take(*QUANTIFIERS) else None

    def value(self):
        quantifier = self.quantifier()
        if self.kind() == '{':
            return self.constants(quantifier)
        if self.kind() == 'ARG':
            return ('arg', quantifier, int(self.need('ARG')[1:]))
        if self.kind() == 'SUBQUERY' and not quantifier:
            return self.subquery()
        if quantifier is None and (constant := self.constant()):
            return constant
        steps = self.path()
        if self.kind() == '.' and self.kind(1) == 'AT':
            self.at += 1
            word = self.need('AT')
            if word in ('@count', '@size'):
                return ('path', quantifier, steps, 'count')
            if word == '@type':
                return ('path', quantifier, steps, 'type')
            if quantifier:
                raise QueryError(3008, 'a quantifier before an aggregate')
            return ('agg', steps, word, self.name() if self.take('.') else None)
        if self.kind() == '[' and self.kind(1) == 'SIZE':
            self.at += 2
            self.need(']')
            return ('path', quantifier, steps, 'count')
        return ('path', quantifier, steps, None)

    def name(self):
        if self.kind() == 'AT' and self.word() in ('@links', '@keys', '@values'):
            return self.need('AT')
        return re.sub(r'\\([ nrt])', lambda m: {'n': '\n', 'r': '\r', 't': '\t', ' ': ' '}[m[1]], self.need(*NAMES))

    def path(self):
        steps = [('karg', int(self.need('KARG')[2:]))] if self.kind() == 'KARG' else [('name', self.name())]
        while True:
            if self.kind() == '.' and (self.kind(1) in NAMES or self.tokens[self.at + 1][1] in ('@links', '@keys', '@values')):
                self.at += 1
                steps.append(('name', self.name()))
            elif self.kind() == '.' and self.kind(1) != 'AT':
                raise QueryError(3008, 'no name behind a dot')
            elif self.kind() == '[' and self.kind(1) != 'SIZE':
                self.at += 1
                steps.append(self.step())
                self.need(']')
            else:
                return steps

    def step(self):
        if word := self.take('NATURAL'):
            return ('index', integer(word))
        if self.take('FIRST'):
            return ('index', 0)
        if self.take('LAST'):
            return ('index', -1)
        if self.take('*'):
            return ('all',)
        if word := self.take('STRING'):
            return ('key', word[1:-1])
        return ('arg', int(self.need('ARG')[1:]))

    def subquery(self):
        self.need('SUBQUERY')
        self.need('(')
        steps = self.path()
        self.need(',')
        variable = self.name()
        if variable[0] != '$' or len(variable) < 2:
            raise QueryError(3008, 'a variable begins with $')
        self.need(',')
        inside = self.predicate()
        self.need(')')
        if self.take('.'):
            if self.need('AT') not in ('@count', '@size'):
                raise QueryError(3008, 'a subquery is counted')
        else:
            raise QueryError(3008, 'a subquery is counted')
        return ('sub', steps, variable, inside)

    def constants(self, quantifier):
        self.need('{')
        found = []
        if self.kind() not in (',', '}'):
            found.append(self.element())
        while self.take(','):
            found.append(self.element())
        self.need('}')
        return ('list', quantifier, found)

    def element(self):
        quantifier = self.quantifier()
        if quantifier or self.kind() == 'ARG':
            return ('arg', quantifier, int(self.need('ARG')[1:]))
        if constant := self.constant():
            return constant
        raise QueryError(3008, 'a list holds constants')

    def constant(self):
        """A constant other than an argument, or None."""
        kind, word = self.tokens[self.at]
        if kind in ('INF', 'NAN', 'FLOAT', 'TIME', 'LINK', 'TRUE', 'FALSE', 'NULL', 'NATURAL', 'NUMBER', 'UUID', 'OID'):
            self.at += 1
            return ('const', 'int' if kind in ('NATURAL', 'NUMBER') else kind.lower(), word)
        if kind == 'STRING':
            self.at += 1
            return ('const', 'string', word[1:-1])
        if kind == 'BASE64':
            self.at += 1
            return ('const', 'base64', word)
        if kind == 'OBJ' and self.kind(1) == '(':
            self.at += 2
            name = self.need('STRING')[1:-1]
            self.need(',')
            key = ('arg', None, int(self.need('ARG')[1:])) if self.kind() == 'ARG' else self.constant()
            if not key or key[0] == 'const' and key[1] not in ('int', 'string', 'uuid', 'oid'):
                raise QueryError(3008, 'no primary key')
            self.need(')')
            return ('obj', name, key)
        if kind == 'BINARY' and self.kind(1) == '(':
            self.at += 2
            word = self.need('STRING', 'BASE64')
            self.need(')')
            return ('const', 'binary', word)
        return None

    def geo(self):
        """Checks only whether the text is well formed."""
        if word := self.take('ARG'):
            return ('arg', None, int(word[1:]))
        kind = self.need('GEO').lower()
        self.need('(')
        if kind == 'geopolygon':
            while True:
                self.need('{')
                self.point()
                while self.take(','):
                    self.point()
                self.need('}')
                if not self.take(','):
                    break
        else:
            self.point()
            self.need(',')
            self.point() if kind == 'geobox' else self.need('FLOAT', 'NATURAL', 'ARG')
        self.need(')')
        return ('geo',)

    def point(self):
        self.need('[')
        self.need('FLOAT', 'NATURAL', 'ARG')
        self.need(',')
        self.need('FLOAT', 'NATURAL', 'ARG')
        if self.take(','):
            self.need('FLOAT')
        self.need(']')


def parsed(text):
    return Parser(text).query()
