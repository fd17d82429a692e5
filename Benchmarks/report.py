"""The tables and the picture of a measurement.

A measurement is a dictionary, kept as JSON:

    n, rounds, processor, cores, date
    workloads    name → operations, and seconds by engine: crealm, sqlite; encrypted and reference if they were measured
    reading      scan → bytes it needs, and the seconds to read them once
    sizes        measurements that are no times: bytes per object, first read after a reopen, peak of memory; by engine
    watching     number of objects → operation → engine → seconds and operations
    reference    the name of the reference library, if one was measured
"""
import html
import math

# Each workload: its description, the goal as SQLite's time / ours, and the ratio of realm-core 14.14 when the goals
# were set.
WORKLOADS = {
    "insert_bulk": ("insert all objects in one transaction", 2.5, 1.3),
    "write_txn_small": ("transactions of one object", 1.0, 0.28),
    "pk_lookup": ("find an object by its primary key", 4, 2.0),
    "iterate_3props": ("read three properties of every object", 2, 0.65),
    "count_int_gt": ("balance > 500000000", 70, 11),
    "count_int_eq": ("age == 42", 100, 93),
    "count_double_between": ("score BETWEEN {1000, 50000}", 90, 2.5),
    "count_str_eq_indexed": ("city == 'City123', indexed", 11, 11),
    "count_str_eq_unindexed": ("name == 'Person number 77 1'", 35, 11),
    "count_str_beginswith": ("name BEGINSWITH 'Person number 99'", 25, 7.7),
    "count_str_contains_ci": ("name CONTAINS[c] 'NUMBER 9'", 17, 5.9),
    "count_and": ("age > 30 AND balance < 100000000", 55, 10),
    "count_or": ("age == 3 OR age == 7 OR city == …", 65, 18),
    "count_link": ("friend.age == 42", 30, 3.8),
    "count_in": ("age IN {1, 5, 9, 13}", 80, 16),
    "find_sort_int": ("age > 50 SORT(balance ASC)", 7.5, 1.9),
    "find_sort_str_limit": ("SORT(name DESC) LIMIT(100)", 3.8, 0.33),
    "sum_int": ("sum of an integer property", 95, 11),
    "avg_double": ("average of a double property", 100, 12),
    "max_int": ("maximum of an integer property", 100, 10),
    "update_all_int": ("add 1 to a property of every object", 4, 2.0),
    "list_append": ("append to a list", 6, 2.9),
    "list_read": ("read a list, element by element", 30, 28),
    "delete_half": ("delete half of the objects by a query", 1.5, 0.30),
}
ENCRYPTED_GOAL = 0.8
# The cost of watching: the description of each operation.
WATCHING = {
    "callbacks_20x10": "commit to callback, a whole class and `n > 90`",
    "callbacks_sorted_20x10": "commit to callback, `n > 90 SORT(n DESC)`",
    "freeze": "freeze",
}
# The rows of the picture, from the top.
GROUPS = [
    ("Write", ["insert_bulk", "write_txn_small", "update_all_int", "list_append", "delete_half"]),
    ("Read", ["pk_lookup", "iterate_3props", "list_read"]),
    ("Count what a query finds", [name for name in WORKLOADS if name.startswith("count_")]),
    ("Sort", ["find_sort_int", "find_sort_str_limit"]),
    ("Aggregate", ["sum_int", "avg_double", "max_int"]),
]


def conditions(measured) -> str:
    return (f"N = {measured['n']:,}, median of {measured['rounds']} alternating rounds, {measured['processor']}, "
            f"{measured['cores']} cores, {measured['date']}")


def milliseconds(seconds) -> str:
    return f"{seconds * 1e3:,.{0 if seconds >= 0.02 else 2}f} ms"


def with_each(seconds, operations) -> str:
    each = seconds / operations
    return f"{milliseconds(seconds)} ({each * 1e9:,.{0 if each >= 2e-8 else 2}f} ns each)"


def table(headings, rows) -> str:
    lines = [headings, ["---"] + ["---:"] * (len(headings) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines).replace("|  |", "| |").replace("|  |", "| |")


def workload_table(measured) -> str:
    def row(name, label, engine, goal, core):
        found = measured["workloads"][name]
        ours, sqlite = found[engine], found["sqlite"]
        return [label, with_each(ours, found["operations"]), with_each(sqlite, found["operations"]), f"{sqlite / ours:.2f}", f"≥ {goal}", core]

    rows = []
    for name, (_, goal, core) in WORKLOADS.items():
        found = measured["workloads"].get(name, {})
        if "crealm" in found:
            rows.append(row(name, name, "crealm", goal, str(core)))
        if "encrypted" in found:
            rows.append(row(name, f"{name}, encrypted", "encrypted", ENCRYPTED_GOAL, ""))
    sizes = measured["sizes"]
    if "bytes_per_object" in sizes:
        size = sizes["bytes_per_object"]
        rows.append(["bytes per object", f"{size['crealm']:.1f}", f"{size['sqlite']:.1f}", "", "≤ 83", "82.6"])
    if "reopen_first_read" in sizes:
        rows.append(["reopen and first read", milliseconds(sizes["reopen_first_read"]["crealm"]), "", "", "< 1 ms", "0.44 ms"])
        peak = sizes["peak_rss_mb"]
        rows.append(["peak memory", f"{peak['crealm']:.0f} MB", f"{peak['sqlite']:.0f} MB", "", "", ""])
    return table(["workload", "CRealm", "SQLite", "SQLite / CRealm", "goal", "realm-core"], rows)


def reading_table(measured) -> str:
    rows = []
    for name, once in measured["reading"].items():
        ours = measured["workloads"].get(name, {}).get("crealm")
        if ours is not None:
            times = f"{ours / once['seconds']:.1f}" if once["seconds"] else ""
            rows.append([name, f"{once['bytes'] / 1e6:,.2f} MB", f"{once['seconds'] * 1e3:,.2f} ms", f"{ours * 1e3:,.2f} ms", times])
    return table(["scan", "bytes it needs", "reading them once", "CRealm", "CRealm / reading"], rows)


def reference_table(measured) -> str:
    rows = []
    for name, goal in (("open_empty", "≥ 1"), ("write_txn_small", "")):
        found = measured["workloads"][name]
        ours, other = found["crealm"], found["reference"]
        rows.append([name, with_each(ours, found["operations"]), with_each(other, found["operations"]), f"{other / ours:.2f}", goal])
    other = measured["reference"]
    return table(["workload", "CRealm", other, f"{other} / CRealm", "goal"], rows)


def watching_table(watching) -> str:
    rows = []

    def row(what, n, figures, write, ratio):
        ours, other = figures.get("crealm"), figures.get("reference")
        rows.append([what, f"{int(n):,}", write(ours), write(other) if other else "", ratio(ours, other) if other else ""])

    def each(figure):
        return figure[0] / figure[1]

    for name, what in WATCHING.items():
        for n, found in watching.items():
            row(what, n, found[name], lambda f: f"{each(f) * 1e6:,.1f} µs", lambda a, b: f"{each(b) / each(a):.1f}")
    for n, found in watching.items():
        alone, beside = found["read_alone"], found["read_beside_writer"]
        share = {engine: (each(alone[engine]), each(beside[engine])) for engine in alone}
        row("a reader beside a writer, of its throughput alone", n, share, lambda f: f"{each(f):.0%}", lambda a, b: "")
    return table(["watching", "objects", "CRealm", "realm-core", "realm-core / CRealm"], rows)


def tables(measured) -> str:
    parts = [conditions(measured), workload_table(measured)]
    if "reference" in measured:
        parts.append(reference_table(measured))
    parts.append(reading_table(measured))
    if measured.get("watching"):
        parts.append(watching_table(measured["watching"]))
    return "\n\n".join(parts) + "\n"


def picture(measured) -> str:
    """Bars: how many times faster than SQLite, on a logarithmic scale; beside each, a thin bar for realm-core."""
    left, right, top, line, heading = 290, 880, 74, 22, 30
    lowest, highest = 0.25, 300.0

    def x(ratio):
        share = math.log(min(max(ratio, lowest), highest) / lowest) / math.log(highest / lowest)
        return round(left + share * (right - left), 1)

    parts, y = [], top
    for title, names in GROUPS:
        names = [name for name in names if "crealm" in measured["workloads"].get(name, {})]
        if not names:
            continue
        parts.append(f'<text class="group" x="20" y="{y + 19}">{title}</text>')
        y += heading
        for name in names:
            what, _, core = WORKLOADS[name]
            found = measured["workloads"][name]
            ratio = found["sqlite"] / found["crealm"]
            ends = sorted((x(1), x(ratio)))
            core_ends = sorted((x(1), x(core)))
            parts += [
                f'<text class="label" x="{left - 12}" y="{y + 12}">{html.escape(what)}</text>',
                f'<rect class="ours" x="{ends[0]}" y="{y + 1}" width="{max(ends[1] - ends[0], 1):.1f}" height="10"/>',
                f'<rect class="core" x="{core_ends[0]}" y="{y + 12}" width="{max(core_ends[1] - core_ends[0], 1):.1f}" height="4"/>',
                f'<text class="number" x="{(max(ends[1], core_ends[1]) if ratio >= 1 else max(x(1), core_ends[1])) + 6}" y="{y + 12}">'
                f'{ratio:.{2 if ratio < 1 else 1 if ratio < 10 else 0}f}</text>',
            ]
            y += line
    bottom = y + 6
    grid = [f'<line class="{"one" if tick == 1 else "grid"}" x1="{x(tick)}" y1="{top}" x2="{x(tick)}" y2="{bottom}"/>'
            f'<text class="tick" x="{x(tick)}" y="{top - 6}">{"SQLite = 1" if tick == 1 else tick}</text>' for tick in (1, 3, 10, 30, 100, 300)]
    height = bottom + 34
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 940 {height}" width="940" height="{height}" role="img">',
        "<title>CRealm and realm-core beside SQLite</title>",
        "<style>text{font:12px sans-serif;fill:#333}.title{font-size:16px;font-weight:bold}.group{font-weight:bold}.label{text-anchor:end}"
        ".tick{text-anchor:middle;fill:#777}.number{font-weight:bold}.grid{stroke:#e4e4e4}.one{stroke:#777}.ours{fill:#2f6fb7}.core{fill:#b9b9b9}"
        "</style>",
        f'<rect width="940" height="{height}" fill="#fff"/>',
        '<text class="title" x="20" y="30">How many times as fast as SQLite</text>',
        f'<rect class="ours" x="{left + 190}" y="21" width="22" height="10"/><text x="{left + 218}" y="30">CRealm</text>',
        f'<rect class="core" x="{left + 290}" y="24" width="22" height="4"/><text x="{left + 318}" y="30">realm-core 14.14</text>',
        *grid, *parts,
        f'<text class="foot" x="20" y="{height - 12}">{html.escape(conditions(measured))}. Logarithmic scale.</text>',
        "</svg>",
    ]) + "\n"


def page_with(page: str, measured) -> str:
    """The text of the page with these tables between its two markers."""
    begin, end = "<!-- tables -->\n", "<!-- /tables -->"
    before, rest = page.split(begin)
    _, after = rest.split(end)
    return before + begin + tables(measured) + end + after
