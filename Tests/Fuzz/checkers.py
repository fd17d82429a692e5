#!/usr/bin/env python3
"""Compares the library's check of files with both independent checkers, on damaged files: the library must find a fault
in each file in which one of them finds one.

    checkers.py LIBRARY FIXTURES [COUNT [SEED]] [--keep DIR] [--only NAME]

COUNT rounds (300) from seed SEED (1) on, split over all processors. A round copies a fixture, damages one to three places of the copy, and gives it
to crealm_check(), Tests/Tools/realm_storage_check.py and Tests/Tools/realm_data_check.py. A round fails when a checker
finds a fault and the library none, when the check fails or the process crashes, or when the library finds a fault in an
undamaged file that the checkers call sound. A checker is ignored for a file in which it finds a fault even undamaged:
the checkers do not know all details of formats before 10. For the library a file of 0 bytes is empty, which is no
fault. Round i uses seed SEED + i: `checkers.py LIBRARY FIXTURES 1 N` repeats it alone. Damaged files of failed rounds
go to DIR. Prints a line for each failure, how often each checker found a fault, and 'N passed, M failed'."""

import argparse
import collections
import contextlib
import io
import os
import pathlib
import random
import signal
import struct
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Tools"), str(HERE.parent.parent / "bindings/python")]
LARGEST = 600_000  # Maximum bytes of a fixture: the checkers are slow.
SECONDS = 30  # Time limit of a round.
CHUNK = 20  # Rounds per process, so that a crash ends only a few.
# Written by a test build of realm-core with at most four entries a node: only that build reads them correctly.
ODD = ("node4",)

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("library")
parser.add_argument("fixtures", type=pathlib.Path)
parser.add_argument("count", type=int, nargs="?", default=300)
parser.add_argument("seed", type=int, nargs="?", default=1)
parser.add_argument("--keep", type=pathlib.Path)
parser.add_argument("--only", default="")


class Slow(BaseException):
    """A round takes too long."""


def files(fixtures, only):
    """The plain fixtures, by name."""
    # The folders may be links, which rglob does not follow.
    everything = (pathlib.Path(folder) / name for folder, _, names in os.walk(fixtures, followlinks=True) for name in names)
    found = sorted(p for p in everything if p.suffix == ".realm" and only in p.name and p.stat().st_size <= LARGEST)
    if not found:
        sys.exit(f"no files to damage in {fixtures}")
    found = [p for p in found if not p.with_suffix(".key").exists() and not any(word in p.name for word in ODD)]
    return {f"{p.parent.name}/{p.name}": p.read_bytes() for p in found}


# ------------------------------------------------------------------------------------------------
# Damage
# ------------------------------------------------------------------------------------------------


def nodes(image):
    """The nodes of the newest version: offset, flags, width and number of elements of each."""
    flags = image[23]
    top = struct.unpack_from("<Q", image, 8 * (flags & 1))[0]
    if top == 0xFFFFFFFFFFFFFFFF:
        top = struct.unpack_from("<Q", image, len(image) - 16)[0]
    found, waiting, seen = [], [top], set()
    while waiting:
        at = waiting.pop()
        if at in seen or at % 8 or not 0 < at <= len(image) - 8:
            continue
        seen.add(at)
        node = Place(image, at)
        found.append(node)
        if node.flags & 0x40:
            waiting += [v for v in node.elements(image) if v and not v & 1]
    return found


class Place:
    """A node in the bytes of an image."""

    def __init__(self, image, at):
        self.at, self.flags = at, image[at + 4]
        self.type, self.width, self.count = self.flags >> 3 & 3, (1 << (self.flags & 7)) >> 1, int.from_bytes(image[at + 5 : at + 8], "big")
        bits = {0: self.count * self.width, 1: self.count * self.width * 8, 2: self.count * 8}.get(self.type, 0)
        self.size = min((bits + 7) // 8, len(image) - at - 8)

    def elements(self, image):
        if self.width < 8 or self.type:
            return []
        step = self.width // 8
        return [int.from_bytes(image[i : i + step], "little") for i in range(self.at + 8, self.at + 8 + self.size // step * step, step)]


def hurt(image, rng, known):
    """Makes one change in an image, mostly in a node of the newest version. Returns its description."""
    known = [node for node in known if node.at + 8 + node.size <= len(image)]
    place = rng.choice(known) if known else None
    way = rng.randrange(14)
    if way < 5 and place and place.size:
        at = place.at + 8 + rng.randrange(place.size)
        image[at] = rng.choice([image[at] ^ 1 << rng.randrange(8), (image[at] + rng.choice([1, 2, 255, 254])) & 255, rng.randrange(256)])
        return f"byte {at} of node {place.at}"
    if way < 7 and place and place.flags & 0x40 and place.width >= 8 and place.count:
        step, source = place.width // 8, rng.choice(known)
        at = place.at + 8 + rng.randrange(place.count) * step
        value = rng.choice([source.at, rng.choice(source.elements(image) or [0]), 0, 1, rng.randrange(1 << 8 * step), len(image) & ~7])
        image[at : at + step] = (value & (1 << 8 * step) - 1).to_bytes(step, "little")
        return f"element at {at} of node {place.at} = {value}"
    if way < 9 and place:
        at = place.at + rng.randrange(4, 8)
        image[at] = rng.choice([image[at] ^ 1 << rng.randrange(8), (image[at] + rng.choice([1, 255])) & 255])
        return f"header byte {at} of node {place.at}"
    if way == 9:
        at = rng.randrange(min(24, len(image)))
        image[at] = rng.choice([0, 1, 255, image[at] ^ 1 << rng.randrange(8)])
        return f"file header byte {at}"
    if way == 10 and rng.randrange(3) == 0:
        size = max(1, rng.randrange(len(image)) & ~rng.choice([0, 7, 4095]))
        del image[size:]
        return f"truncated to {size}"
    if way == 11 and place and place.size >= 16:
        other = rng.choice(known)
        length = min(place.size, other.size) + 8 & ~7
        image[place.at : place.at + length], image[other.at : other.at + length] = image[other.at : other.at + length], image[place.at : place.at + length]
        return f"{length} bytes of nodes {place.at} and {other.at} swapped"
    at = rng.randrange(len(image))
    image[at] ^= 1 << rng.randrange(8)
    return f"bit of byte {at}"


# ------------------------------------------------------------------------------------------------
# Checkers and their findings
# ------------------------------------------------------------------------------------------------


def storage_sees(path):
    import realm_storage_check as storage

    return complaint(lambda: storage.check(path.read_bytes()), storage.Bad)


def data_sees(path):
    import realm_data_check as data

    def check():
        file = data.RealmFile(str(path))
        if 2 <= file.format <= 24:
            data.check(file)

    return complaint(check, data.FormatError)


def complaint(check, kind):
    """The finding of a checker, also if it crashes; None if it finds nothing."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            check()
    except kind as fault:
        return str(fault)
    except (LookupError, ArithmeticError, StopIteration, ValueError, TypeError, AttributeError, RecursionError, MemoryError, AssertionError, struct.error) as fault:
        return f"{type(fault).__name__}: {fault}"
    return None


def library_sees(path):
    import crealm

    found = crealm.check(path, limit=5)
    for fault in found.faults:
        assert fault.message and fault.kind and fault.offset >= 0, fault
    assert found.result == ("faulty" if found.newest_faults else "sound"), found.report
    return None if found.result == "sound" else found.faults[0].message


CHECKERS = {"storage": storage_sees, "data": data_sees}


def knowing(images, folder):
    """For each undamaged file, by name: the checkers that find nothing in it."""
    path = folder / "intact.realm"
    found = {}
    for name, image in images.items():
        path.write_bytes(image)
        found[name] = [who for who, sees in CHECKERS.items() if sees(path) is None]
    return found


# ------------------------------------------------------------------------------------------------
# Rounds
# ------------------------------------------------------------------------------------------------


def harmless(what, image):
    """An empty leaf of formats before 10 may lack the number that stands for null: the document on these formats
    describes such files."""
    return "nullable int leaf without sentinel" in what and image[20 + (image[23] & 1)] < 10


def run_round(seed, images, path, keep, able):
    """Whether each of the three found a fault, and what is wrong about that; None: nothing."""
    rng = random.Random(seed)
    name = rng.choice(sorted(images))
    image = bytearray(images[name])
    before = bytes(image)
    known = nodes(image)
    done = [hurt(image, rng, known) for _ in range(rng.choice([0] * (rng.randrange(20) == 0) or [1, 1, 2, 3])) if image]
    path.write_bytes(image)
    signal.alarm(SECONDS)
    seen, wrong = {}, None
    try:
        seen["library"] = library_sees(path)
        seen.update({who: CHECKERS[who](path) for who in able[name]})
    except Slow:
        # The checkers trust the count of a node; the library does not.
        wrong = None if "library" in seen else "the check does not end"
    except Exception as error:
        wrong = f"the check ends in {type(error).__name__}: {error}"
    signal.alarm(0)
    others = [who for who in CHECKERS if seen.get(who) and not harmless(seen[who], image)]
    if not wrong and others and not seen["library"]:
        wrong = f"{others[0]} sees: {seen[others[0]]}"
    if not wrong and bytes(image) == before and seen.get("library"):
        wrong = f"an undamaged file: {seen['library']}"
    if wrong and keep:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{seed}.realm").write_bytes(image)
    return tuple(bool(seen.get(who)) for who in ("library", "storage", "data")), wrong and f"seed {seed}, {name}, {'; '.join(done)}: {wrong}"


def worker(seeds, images, able, keep, out):
    """Runs in a separate process: a line for each round."""

    def stop(signal_number, frame):
        raise Slow

    signal.signal(signal.SIGALRM, stop)
    with tempfile.TemporaryDirectory(prefix="checkers-") as folder:
        for seed in seeds:
            out.write(f"begin {seed}\n")
            out.flush()
            seen, wrong = run_round(seed, images, pathlib.Path(folder) / "damaged.realm", keep, able)
            out.write(f"end {''.join(str(int(s)) for s in seen)} {wrong or ''}\n".replace("\r", " "))
            out.flush()


def start(seeds, images, able, keep):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        status = 1
        try:
            with os.fdopen(writing, "w", errors="backslashreplace") as out:
                worker(seeds, images, able, keep, out)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writing)
    return child, os.fdopen(reading, errors="backslashreplace")


def main():
    options = parser.parse_args()
    os.environ["CREALM_LIBRARY"] = os.path.abspath(options.library)
    images = files(options.fixtures, options.only)
    with tempfile.TemporaryDirectory(prefix="checkers-") as folder:
        able = knowing(images, pathlib.Path(folder))
    chunks = [range(i, min(i + CHUNK, options.seed + options.count)) for i in range(options.seed, options.seed + options.count, CHUNK)]
    counts, failed, passed = collections.Counter(), 0, 0
    running = []
    while chunks or running:
        while chunks and len(running) < (os.cpu_count() or 1):
            running.append(start(chunks.pop(0), images, able, options.keep))
        child, lines = running.pop(0)
        last = None
        for line in lines:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "begin":
                last = rest
                continue
            last = None
            seen, _, wrong = rest.partition(" ")
            counts[seen] += 1
            failed, passed = failed + bool(wrong), passed + (not wrong)
            if wrong:
                print(f"FAIL {wrong}", flush=True)
        status = os.waitpid(child, 0)[1]
        if status:
            failed += 1
            print(f"FAIL seed {last}: the process ended with status {status}", flush=True)
    total = sum(counts.values())
    by = {who: sum(n for seen, n in counts.items() if seen[i] == "1") for i, who in enumerate(("library", "storage", "data"))}
    alone = counts["100"]
    print(f"{total} damaged files: the library sees faults in {by['library']}, the storage checker in {by['storage']}, the data checker in {by['data']}; "
          f"{alone} are seen by the library alone, {counts['000']} by nobody")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
