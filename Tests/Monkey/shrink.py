#!/usr/bin/env python3
"""Finds the calls of a sequence that a fault needs: without them the process does not crash and crealm_verify finds no
fault, or, with a second library, the two do not diverge in the same way.

    shrink.py MONKEY LIBRARY SEED [--second LIBRARY] [--calls 200] [--gentle]

MONKEY is the built monkey.cpp. Skips calls in smaller and smaller groups as long as the fault stays, and prints the
remaining ones."""
import argparse
import os
import re
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('monkey')
parser.add_argument('library')
parser.add_argument('seed', type=int)
parser.add_argument('--calls', type=int, default=200)
parser.add_argument('--second')
parser.add_argument('--gentle', action='store_true')
options = parser.parse_args()
os.environ.setdefault('SWIFT_BACKTRACE', 'enable=no')


def trace(library, skipped):
    """The output of a library, and whether a fault occurred."""
    with tempfile.TemporaryDirectory(dir='/dev/shm' if os.path.isdir('/dev/shm') else None) as folder:
        command = [options.monkey, library, folder, str(options.seed), str(options.seed), '--calls', str(options.calls), '--trace',
                   '--skip', ','.join(map(str, sorted(skipped)))] + ['--gentle'] * (options.gentle or bool(options.second))
        done = subprocess.run(command, capture_output=True)
        return done.stdout.decode('utf-8', 'backslashreplace'), done.returncode != 0


def parting(skipped):
    """The calls, and how they end."""
    ours, fault = trace(options.library, skipped)
    if not options.second:
        return ours, 'a fault' if fault else None
    shown = []
    for x, y in zip(ours.split('\n'), trace(options.second, skipped)[0].split('\n')):
        outcomes = [re.sub(r'[#@]?\d+', '', line.split('-> ')[-1]) for line in (x, y)]
        if x != y and '-> ' in x and not all(o.startswith('failed') for o in outcomes) and 'error 2005' not in x:
            call = re.sub(r"[#@]?\d+|'.*'", '', x.split('-> ')[0]).split()[-1:]
            return '\n'.join(shown + [x, 'SECOND ' + y]), (call, *outcomes)
        shown.append(x)
    return ours, None


skipped = set()
wanted = parting(skipped)[1]
if not wanted:
    raise SystemExit('the sequence has no fault')
size = options.calls // 2
while size:
    at = 0
    while at < options.calls:
        more = set(range(at, min(at + size, options.calls))) - skipped
        if more and parting(skipped | more)[1] == wanted:
            skipped |= more
        at += size
    size //= 2
print(parting(skipped)[0])
