#!/usr/bin/env python3
"""Runs the same random queries on a reference library and on a library under test, and compares the answers.

    run.py REFERENCE LIBRARY [--fixtures DIR] [--files full-*,deep-full] [--edge 3] [--count 200000] [--seed 1]
           [--jobs 2] [--queries FILE] [--classes All,Str] [--wrong 10] [--describe] [--stages] [--differences FILE]
           [--keep DIR]

DIR holds NAME.realm files with the schema of the operation driver; a dump NAME.json or NAME.json.gz beside one
lets generate.py take values from it. The reference writes N more files edge-1... with edge values (edge.py, fill.c;
--edge 0: none). The queries are split over the files. Each library answers a chunk of queries in a separate process
(answer.c), on a copy of the file; after a crash the next process continues after the query that crashed. Answers must
be the same, line by line: rows in order, or the error number. Differing queries are reduced to the smallest parts that
still differ, and grouped by shape. Queries on which the reference crashes are skipped, as are those whose differing
parts are all known: the reference fails with 3016 or 3017, or known.txt lists the part (regular expression on its text
with the arguments inserted, TAB, reason; perhaps TAB and a regular expression on the kind of the difference: 'rows',
'E3013 / rows'). --queries runs the lines of a file on every fixture instead of random queries; --describe also compares
the canonical text, and runs the library's own text as a query, which must find the same rows; --stages also compares
whether parsing, counting or reading found the error; --differences writes every difference to a file as JSON lines,
--keep the queries and answers of all chunks to a folder. Prints 'N passed, M failed, K skipped'; exit status 1 on a
failure."""
import argparse
import base64
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import edge
import generate
from parts import parts, tokens

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / 'include'
CHUNK = 2000
FILES = 'full-*,nested-*,scalar-*,deep-full'
GROUPS, EXAMPLES = 40, 2

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('reference', type=pathlib.Path)
parser.add_argument('library', type=pathlib.Path)
parser.add_argument('--fixtures', type=pathlib.Path, default=HERE.parent / 'Fixtures' / 'ops')
parser.add_argument('--files', default=FILES, help='patterns of names without .realm, comma-separated')
parser.add_argument('--edge', type=int, default=3)
parser.add_argument('--count', type=int, default=200000)
parser.add_argument('--seed', type=int, default=1)
parser.add_argument('--jobs', type=int, default=2)
parser.add_argument('--queries', type=pathlib.Path)
parser.add_argument('--classes')
parser.add_argument('--wrong', type=float, default=10, help='percent of wrong queries')
parser.add_argument('--describe', action='store_true')
parser.add_argument('--stages', action='store_true')
parser.add_argument('--differences', type=pathlib.Path)
parser.add_argument('--keep', type=pathlib.Path)
options = parser.parse_args()
os.environ.setdefault('SWIFT_BACKTRACE', 'enable=no')  # after a crash the backtracer would hold the pipes open


def known_bugs():
    """The expressions of known.txt with their reasons."""
    found = []
    for line in (HERE / 'known.txt').read_text().splitlines() if (HERE / 'known.txt').exists() else []:
        if line.strip() and not line.startswith('#'):
            expression, reason, kind = (line.split('\t') + ['', ''])[:3]
            found.append((re.compile(expression), reason, re.compile(kind)))
    return found


KNOWN = known_bugs()


class SetupError(Exception):
    pass


def ask(library, file, queries, out, folder, again=False):
    """The answers of a library, one for each query, and their times; 'CRASH n' if signal n ended the process."""
    copy, times = folder / 'copy.realm', folder / 'times'
    total = len(queries.read_bytes().splitlines())
    crashes, done = 0, 0
    out.write_bytes(b'')
    times.write_bytes(b'')
    while done < total:
        for old in folder.glob('copy.realm*'):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        shutil.copyfile(file, copy)
        command = [folder.parent / 'answer', library, copy, queries, out, '--skip', str(done), '--times', times]
        ended = subprocess.run(command + ['--describe'] * options.describe + ['--again'] * again, stdin=subprocess.DEVNULL, capture_output=True)
        text = out.read_bytes()
        text = text[:text.rfind(b'\n') + 1]
        done = text.count(b'\n')
        if ended.returncode > 0:
            raise SetupError(f'answer ended with {ended.returncode}: {ended.stderr.decode(errors="replace").strip()[:300]}')
        if ended.returncode < 0 or done < total:
            text += b'CRASH %d\n' % -ended.returncode
            done += 1
            crashes += 1
            if crashes > 400 and crashes > done / 2:
                text += b'CRASH given up\n' * (total - done)
                done = total
        out.write_bytes(text)
    spent = sum(float(x) for x in times.read_text().split())
    return out.read_text(encoding='utf-8', errors='surrogateescape').split('\n')[:total], spent


def canonical(answer):
    """An answer with its canonical text, without the parts that the reference does not define or prints with another
    meaning: the order of the elements after IN, digits of floating point numbers, == instead of IN before lists of
    links, a quantifier before a count, the word and the property of a full-text search, the variable before a count of
    all links."""
    rows, tab, text = answer.partition('\t')
    text = re.sub(r' (?:IN|==) \{([^{}]*)\}', lambda m: ' == {' + ', '.join(sorted(m[1].split(', '))) + '}', text)
    text = re.sub(r'-?\b\d+(\.\d+)?(e[-+]?\d+)?\b', lambda m: f'{float(m[0]):g}', text)
    text = re.sub(r'\b(ANY|ALL|NONE) (?=\S*\.@(count|size)\b)', '', text)
    text = re.sub(r'\$\w+\.@links\.@count', '@links.@count', text)
    return rows + tab + re.sub(r'\S+ (FULL)?TEXT "', 'TEXT "', text)


def same(a, b):
    if options.describe:
        a, b = canonical(a), canonical(b)
    if not options.stages and a[:1] == 'E' and b[:1] == 'E':
        return a.split()[0] == b.split()[0]
    return a == b


# Shapes of queries --------------------------------------------------------------------------------

GROUP = {'int': 'number', 'float': 'number', 'double': 'number', 'decimal': 'number'}
KIND = {p[0]: (form % GROUP.get(p[1], p[1])) for properties in generate.PROPERTIES.values() for p in properties
        for form in [{'': '%s', 'list': '[%s]', 'set': '{%s}', 'dict': '<%s>', 'back': '(%s)'}[p[2]]]}
WORD = {'true': 'BOOL', 'false': 'BOOL', 'null': 'NULL', 'nil': 'NULL', 'some': 'ANY', 'binary': 'BIN', '=': '==', '<>': '!=', '=<': '<', '=>': '<',
        '<=': '<', '>=': '<', '>': '<', '&&': 'AND', '||': 'OR', '!': 'NOT', '@size': '@count'}
TAGS = {'int': 'NUMBER', 'flt': 'NUMBER', 'dbl': 'NUMBER', 'dec': 'NUMBER', 'str': 'STR', 'link': 'OBJECT'}


def shape(text, arguments):
    """A query in which names and literals are replaced by their kinds."""
    result = []
    for word in tokens(text):
        lower = word.lower()
        if word.isspace():
            word = ' '
        elif word in KIND:
            word = KIND[word]
        elif re.fullmatch(r'\$\d+', word):
            value = arguments[int(word[1:])] if int(word[1:]) < len(arguments) else {'?': 0}
            word = 'NULL' if value is None else '{…}' if isinstance(value, list) else TAGS.get(next(iter(value)), next(iter(value)).upper())
        elif re.fullmatch(r'\$[a-z]\w*', word):
            word = '$v'
        elif word[0] in '"\'' or word[:4] == 'B64"':
            word = 'STR'
        elif word[:5] == 'uuid(' or word[:4] == 'oid(' and len(word) > 5:
            word = word[:word.index('(')].upper()
        elif re.match(r'T[+-]?\d|\d+-\d+-', word):
            word = 'TS'
        elif re.fullmatch(r'[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?f?|0[xX][0-9a-fA-F]+', word):
            word = 'NUMBER'
        elif re.fullmatch(r'[OL]\d+', word):
            word = 'OBJECT'
        elif re.fullmatch(r'k\d+', word):
            word = 'key'
        else:
            word = WORD.get(lower, word.upper() if word[0].isalpha() else word)
        result.append(word)
    text = ''.join(result)
    text = re.sub(r'\[(NUMBER|FIRST|LAST|STR)\]', '[.]', text)
    text = re.sub(r'(SORT|DISTINCT|LIMIT) ?\([^()]*\)', r'\1(…)', text)
    text = re.sub(r'OBJ\([^()]*\)', 'OBJECT', text)
    text = re.sub(r'BIN\(STR\)', 'BIN', text)
    text = re.sub(r'\{[^{}…]*\}', lambda m: m[0] if m[0] in KIND.values() else '{…}', text)
    text = re.sub(r'(?<![\w])(link\.)+', 'link.', text)
    text = re.sub(r'@links\.[^.]*\.(link|\[link\]|<link>)', '(link)', text)
    return text[:160]


# What is known ---------------------------------------------------------------------------------

def plain(text, arguments, keys):
    """A query with its arguments inserted; links have no class, B64!"…" is not UTF-8, and obj!(…) names an object that
    does not exist."""
    def spelled(value):
        if value is None:
            return 'NULL'
        if isinstance(value, list):
            return '{' + ', '.join(map(spelled, value)) + '}'
        tag, inner = next(iter(value.items()))
        if tag == 'bin':
            return f'binary(B64"{base64.b64encode(bytes.fromhex(inner)).decode()}")'
        return json.dumps(inner, ensure_ascii=False) if tag == 'str' else f'${inner[0]}{inner[1]}' if tag == 'link' else str(inner)

    def marked(match):
        try:
            base64.b64decode(match[1] + '=' * (-len(match[1]) % 4)).decode()
            return match[0]
        except ValueError:
            return f'B64!{match[0][3:]}'

    values = json.loads(arguments)
    text = re.sub(r'\$(\d+)', lambda m: spelled(values[int(m[1])]) if int(m[1]) < len(values) else m[0], text)
    text = re.sub(r'B64"([^"]*)"', marked, text)
    named = r"""(?i)\bobj(?=\(["'](?:class_)?Str["'], *["']([^"']*)["']\))"""
    return re.sub(named, lambda m: m[0] if m[1] in keys else 'obj!', text)


def why(query, arguments, a, b, keys):
    """The reason of a known difference; None for an unknown one."""
    if a[:5] in ('E3016', 'E3017'):
        return 'the reference stumbled over a null link, or counted wrongly (3016, 3017)'
    text, kind = plain(query, arguments, keys), kind_of({'reference': a, 'library': b})
    return next((reason for expression, reason, kinds in KNOWN if expression.search(text) and kinds.search(kind)), None)


# Chunks -----------------------------------------------------------------------------------------

def make_edge_files(folder):
    """Files of edge values, written by the reference."""
    subprocess.run(['cc', '-O2', '-Wall', '-Wextra', '-I', INCLUDE, HERE / 'fill.c', '-ldl', '-o', folder / 'fill'], check=True)
    made = []
    pattern = min(options.fixtures.glob('*.realm'), key=lambda f: f.stat().st_size)
    for seed in range(1, options.edge + 1):
        made.append(folder / f'edge-{seed}.realm')
        shutil.copyfile(pattern, made[-1])
        edge.write(seed, folder / 'script', made[-1].with_suffix('.json'))
        done = subprocess.run([folder / 'fill', options.reference.resolve(), made[-1], folder / 'script'], capture_output=True)
        if done.returncode:
            sys.exit(f'  fill ended with {done.returncode}: {done.stderr.decode(errors="replace")[:300]}')
    return made


class Chunk:
    def __init__(self, number, file, count, lines=None):
        self.number, self.file, self.count, self.lines = number, file, count, lines


def data_of(file):
    """The dump beside a file."""
    return next((str(d) for s in ('.json', '.json.gz') if (d := file.with_suffix(s)).exists()), None)


def generated(chunk):
    """The lines of a chunk; the first of each class counts all objects."""
    if chunk.lines is not None:
        return chunk.lines
    data = data_of(chunk.file)
    if data not in generated.cache:
        generated.cache[data] = generate.Data(data)
    generator = generate.Generator(options.seed * 1000003 + chunk.number, generated.cache[data],
                                   options.classes.split(',') if options.classes else None, options.wrong)
    return ['\t'.join(generator.query()) for _ in range(chunk.count)]


generated.cache = {}


def run_chunk(chunk, folder):
    """Counts and differences of a chunk."""
    folder = folder / f'chunk-{chunk.number}'
    folder.mkdir()
    lines = [f'{c}\tTRUEPREDICATE\t[]' for c in generate.PROPERTIES] + generated(chunk)
    queries = folder / 'queries'
    queries.write_text('\n'.join(lines) + '\n', encoding='utf-8')
    ours, our_time = ask(options.library.resolve(), chunk.file, queries, folder / 'ours', folder, options.describe)
    theirs, their_time = ask(options.reference.resolve(), chunk.file, queries, folder / 'theirs', folder)
    counts = collections.Counter(our_microseconds=our_time, their_microseconds=their_time)
    everything = {line.split('\t')[0]: len(answer.split('\t')[0].split()) if answer[0] != '-' else 0 for line, answer in zip(lines, theirs[:len(generate.PROPERTIES)])}
    skipped, failed, crashed, again = collections.Counter(), [], [], []
    for number, (line, a, b) in enumerate(zip(lines, theirs, ours)):
        cls, text, arguments = line.split('\t')[0], *line.split('\t', 1)[1].rsplit('\t', 1)
        rows = 0 if a[0] in 'EC-' else len(a.split('\t')[0].split(' !')[0].split())
        counts['errors'] += a[0] == 'E'
        counts['marked'] += ' !' in a.split('\t')[0]
        counts['selective'] += 0 < rows < everything[cls]
        counts['some'] += rows > 0
        if a.startswith('CRASH'):
            skipped['the reference crashed'] += 1
            crashed.append((line, chunk.file.stem))
        elif ' !again=' in b:
            again.append({'file': chunk.file.stem, 'class': cls, 'query': text, 'arguments': arguments, 'reference': a, 'library': b})
        elif same(a, b):
            counts['passed'] += 1
        else:
            failed.append({'file': chunk.file.stem, 'class': cls, 'query': text, 'arguments': arguments, 'reference': a, 'library': b})
    keys = {k[1] for k in generated.cache[data_of(chunk.file)].keys.get('Str', []) if k} if chunk.lines is None else set()
    failed = judged(failed, skipped, chunk.file, keys, folder)
    for f in again:
        reason = why(f['query'], f['arguments'], f['reference'], f['library'], keys)
        if reason:
            skipped[reason] += 1
        else:
            failed.append(f)
    if options.keep:
        shutil.copytree(folder, options.keep / folder.name, ignore=lambda _, names: [n for n in names if n.startswith('copy') or n == 'again'])
    shutil.rmtree(folder)
    return counts, skipped, failed, crashed


def judged(failed, skipped, file, keys, folder):
    """The differing queries that are not known, replaced by their smallest differing part; counts the others."""
    candidates = [(f, part) for f in failed for part in parts(f['query']) if len(part) < len(f['query'])]
    for f in failed:
        f['parts'] = []
    if candidates:
        again = folder / 'again'
        again.mkdir()
        again.joinpath('queries').write_text(''.join(f'{f["class"]}\t{p}\t{f["arguments"]}\n' for f, p in candidates), encoding='utf-8')
        shutil.copy(folder.parent / 'answer', folder / 'answer')
        ours, _ = ask(options.library.resolve(), file, again / 'queries', again / 'ours', again)
        theirs, _ = ask(options.reference.resolve(), file, again / 'queries', again / 'theirs', again)
        for (f, part), a, b in zip(candidates, theirs, ours):
            f['parts'].append((part, a, b))
    unknown = []
    for f in failed:
        all_parts = f.pop('parts')
        differing = [x for x in all_parts if not x[1].startswith('CRASH') and not same(x[1], x[2])]
        smallest = [x for x in differing if not any(y[0] != x[0] and y[0] in x[0] for y in differing)]
        smallest = smallest or [(f['query'], f['reference'], f['library'])]
        reasons = []
        for query, a, b in smallest:
            # Errors of its parts: if there are several, any of them may be reported.
            errors = {answer.split()[0] for part, *answers in all_parts for answer in answers if answer[0] == 'E' and part in query and part != query}
            several = {a.split()[0], b.split()[0]} <= errors
            reasons.append('of several mistakes another is told' if several else why(query, f['arguments'], a, b, keys))
        if all(reasons):
            skipped[reasons[0]] += 1
            continue
        query, a, b = min((x for x, reason in zip(smallest, reasons) if not reason), key=lambda x: len(x[0]))
        if query != f['query']:
            f['whole'] = f['query']
        f.update(query=query, reference=a, library=b)
        unknown.append(f)
    return unknown


def chunks(files):
    """The chunks, larger files getting fewer queries."""
    if options.queries:
        lines = options.queries.read_text(encoding='utf-8').splitlines()
        return [Chunk(n, file, len(lines), lines) for n, file in enumerate(files)]
    weights = [0.3 if f.stat().st_size > 4_000_000 else 0.5 if f.stat().st_size < 50_000 else 1 for f in files]
    found = []
    for file, weight in zip(files, weights):
        left = round(options.count * weight / sum(weights))
        while left > 0:
            found.append(Chunk(len(found), file, min(CHUNK, left)))
            left -= CHUNK
    return found


def kind_of(difference):
    a, b = difference['reference'], difference['library']
    if b.startswith('CRASH'):
        return 'crash'
    if ' !again=' in b:
        return 'its own text'
    if a[0] == 'E' or b[0] == 'E':
        return f'{a.split()[0] if a[0] == "E" else "rows"} / {b.split()[0] if b[0] == "E" else "rows"}'
    if a.split('\t')[0] == b.split('\t')[0]:
        return 'canonical text'
    strip = lambda x: x.split('\t')[0].split(' !')[0]
    if strip(a) == strip(b):
        return 'count or first'
    return 'order' if sorted(re.findall(r'\d+', strip(a))) == sorted(re.findall(r'\d+', strip(b))) else 'rows'


def short(text, room=150):
    return text if len(text) <= room else f'{text[:room]}… ({len(text.split())})'


def main():
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    files = sorted({f for p in options.files.split(',') for f in options.fixtures.glob(p + '.realm')})
    total, skipped, failed, crashed = collections.Counter(), collections.Counter(), [], []
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run(['cc', '-O2', '-Wall', '-Wextra', '-I', INCLUDE, HERE / 'answer.c', '-ldl', '-o', folder / 'answer'], check=True)
        if options.edge:
            files += make_edge_files(folder)
        if not files:
            sys.exit('no fixtures')
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            try:
                for counts, skips, failures, crashes in pool.map(lambda c: run_chunk(c, folder), chunks(files)):
                    total += counts
                    skipped += skips
                    failed += failures
                    crashed += crashes
            except SetupError as error:
                pool.shutdown(cancel_futures=True)
                sys.exit(f'  {error}')
    groups = collections.defaultdict(list)
    for f in failed:
        groups[kind_of(f), shape(f['query'], json.loads(f['arguments']))].append(f)
    if options.differences:
        with options.differences.open('w', encoding='utf-8') as stream:
            for (kind, form), members in groups.items():
                for f in members:
                    stream.write(json.dumps({'kind': kind, 'shape': form, **f}, ensure_ascii=False) + '\n')
    ordered = sorted(groups.items(), key=lambda g: (-len(g[1]), g[0]))
    for (kind, form), members in ordered[:GROUPS]:
        print(f'{len(members)} × {kind}: {form}')
        for f in sorted(members, key=lambda f: (len(f['query']), len(f['reference'])))[:EXAMPLES]:
            print(f'    {f["class"]}: {f["query"]}' + (f'  « {f["arguments"]} »' if f['arguments'] != '[]' else '') + f'   [{f["file"]}]')
            print(f'        reference {short(f["reference"])}\n        library   {short(f["library"])}')
    if len(ordered) > GROUPS:
        print(f'and {len(ordered) - GROUPS} more shapes')
    forms = collections.defaultdict(list)
    for line, file in crashed:
        forms[shape(line.split('\t', 1)[1].rsplit('\t', 1)[0], json.loads(line.rsplit('\t', 1)[1]))].append((line, file))
    for form, members in sorted(forms.items(), key=lambda g: -len(g[1]))[:10]:
        print(f'reference crashed {len(members)} ×: {form}\n    {members[0][0]}   [{members[0][1]}]')
    asked = total['passed'] + len(failed) + sum(skipped.values())
    for reason, n in skipped.most_common():
        print(f'skipped {n}: {reason}')
    parsed = asked - total['errors'] - skipped['the reference crashed']
    print(f'{asked} queries on {len(files)} files in {time.monotonic() - started:.0f} s: {100 * parsed / asked:.1f} % parsed, of these '
          f'{100 * total["some"] / max(parsed, 1):.1f} % found rows, {100 * total["selective"] / max(parsed, 1):.1f} % some but not all; '
          f'reference {total["their_microseconds"] / 1e6:.1f} s, library {total["our_microseconds"] / 1e6:.1f} s')
    if total['marked']:
        print(f'{total["marked"]} answers of the reference disagree with its own count or find first')
    print(f'{total["passed"]} passed, {len(failed)} failed, {sum(skipped.values())} skipped')
    sys.exit(1 if failed else 0)


main()
