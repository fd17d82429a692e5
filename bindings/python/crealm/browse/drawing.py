"""The layout of a picture of the schema: the box of each class, and the lines of the links between them.

Classes are in columns, so that links go from left to right if possible: the column of a class is right of the columns of all classes that link to
it, except for links that would close a cycle. The order in a column aims at few crossings: the columns are visited back and forth a few times, and
each class moves to the mean position of its neighbours. Classes without links are below. All numbers are pixels.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Sequence, Set, Tuple

from ..schema import ClassSchema

_WIDTH, _GAP, _BETWEEN = 236, 26, 110  # The width of a box, and the space below and beside it.
_HEAD, _ROW, _FOOT = 30, 19, 8
_SWEEPS = 8
_MOST_ROWS = 14  # Links that a box lists.
_TALLEST = 12  # Boxes in a column; more classes continue in the next column.

Json = Dict[str, Any]
Schemas = Mapping[str, ClassSchema]


class Link(NamedTuple):
    source: str
    property: str
    target: str
    is_many: bool


def drawing(schemas: Schemas) -> Json:
    """Boxes and lines."""
    links = [link for name, declared in schemas.items() for link in links_of(name, declared, schemas)]
    linked = {name for link in links for name in (link.source, link.target)}
    columns = _ordered(_columns([name for name in schemas if name in linked], links), links)
    boxes = _placed(columns, [name for name in schemas if name not in linked], schemas)
    lines = [_line(link, boxes) for link in links if _row_of(link, boxes[link.source]) is not None]
    width = max((box["x"] + box["w"] for box in boxes.values()), default=0)
    height = max((box["y"] + box["h"] for box in boxes.values()), default=0)
    return {"width": width + 70, "height": height + 10, "boxes": list(boxes.values()), "lines": lines}


def links_of(name: str, declared: ClassSchema, schemas: Schemas) -> Iterator[Link]:
    for key, prop in declared.properties.items():
        if prop.is_link and prop.type in schemas:
            yield Link(name, key, prop.type, prop.collection is not None)


# ------------------------------------------------------------------------------------------------
# Columns
# ------------------------------------------------------------------------------------------------


def _columns(names: Sequence[str], links: Sequence[Link]) -> List[List[str]]:
    forward = _without_circles(names, links)
    depth = {name: 0 for name in names}
    for _ in names:  # Until no class moves; at most once for each class.
        moved = [(target, depth[source] + 1) for source in names for target in forward[source] if depth[target] <= depth[source]]
        if not moved:
            break
        for target, wanted in moved:
            depth[target] = max(depth[target], wanted)
    found: List[List[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in names:
        found[depth[name]].append(name)
    return [column[first : first + _TALLEST] for column in found for first in range(0, len(column), _TALLEST)]


def _without_circles(names: Sequence[str], links: Sequence[Link]) -> Dict[str, List[str]]:
    """The classes that each class links to, without the links that close a cycle."""
    onward: Dict[str, List[str]] = {name: [] for name in names}
    for link in links:
        if link.target != link.source and link.target not in onward[link.source]:
            onward[link.source].append(link.target)
    incoming = {name: sum(name in targets for targets in onward.values()) for name in names}
    kept: Dict[str, List[str]] = {name: [] for name in names}
    done: Set[str] = set()
    for start in sorted(names, key=lambda name: incoming[name]):
        way: List[Tuple[str, Iterator[str]]] = [] if start in done else [(start, iter(onward[start]))]
        open_ones = {start}
        while way:
            name, targets = way[-1]
            target = next(targets, None)
            if target is None:
                way.pop()
                open_ones.discard(name)
                done.add(name)
            elif target not in open_ones:
                kept[name].append(target)
                if target not in done:
                    open_ones.add(target)
                    way.append((target, iter(onward[target])))
    return kept


def _ordered(columns: List[List[str]], links: Sequence[Link]) -> List[List[str]]:
    beside: Dict[str, Set[str]] = {name: set() for column in columns for name in column}
    for link in links:
        beside[link.source].add(link.target)
        beside[link.target].add(link.source)
    for sweep in range(_SWEEPS):
        order = columns if sweep % 2 == 0 else columns[::-1]
        place = {name: index - len(column) / 2 for column in columns for index, name in enumerate(column)}
        for column in order:
            column.sort(key=lambda name: _middle([place[other] for other in beside[name] if other not in column], place[name]))
            place.update({name: index - len(column) / 2 for index, name in enumerate(column)})
    return columns


def _middle(places: Sequence[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


# ------------------------------------------------------------------------------------------------
# Places
# ------------------------------------------------------------------------------------------------


def _box(name: str, schemas: Schemas) -> Json:
    declared = schemas[name]
    links = list(links_of(name, declared, schemas))[:_MOST_ROWS]
    key = [{"name": declared.primary_key, "type": str(declared.properties[declared.primary_key]), "target": None}] if declared.primary_key else []
    rows = [*key, *({"name": link.property, "type": str(declared.properties[link.property]), "target": link.target} for link in links)]
    more = len(declared.properties) - len(rows)
    height = _HEAD + _ROW * (len(rows) + bool(more)) + _FOOT
    return {"class": name, "embedded": declared.embedded, "x": 0, "y": 0, "w": _WIDTH, "h": height, "rows": rows, "more": more}


def _placed(columns: Sequence[Sequence[str]], alone: Sequence[str], schemas: Schemas) -> Dict[str, Json]:
    boxes = {name: _box(name, schemas) for name in schemas}
    tallest = max((sum(boxes[name]["h"] + _GAP for name in column) for column in columns), default=0)
    for index, column in enumerate(columns):
        y = 10 + (tallest - sum(boxes[name]["h"] + _GAP for name in column)) // 2
        for name in column:
            boxes[name].update(x=10 + index * (_WIDTH + _BETWEEN), y=y)
            y += boxes[name]["h"] + _GAP
    wide = max(3, len(columns) + (len(columns) - 1) * _BETWEEN // _WIDTH)
    y = tallest + 20 if columns else 10
    for first in range(0, len(alone), wide):
        row = alone[first : first + wide]
        for index, name in enumerate(row):
            boxes[name].update(x=10 + index * (_WIDTH + _GAP), y=y)
        y += max(boxes[name]["h"] for name in row) + _GAP
    return boxes


def _row_of(link: Link, box: Json) -> Any:
    return next((index for index, row in enumerate(box["rows"]) if row["name"] == link.property), None)


def _line(link: Link, boxes: Mapping[str, Json]) -> Json:
    """The line from the row of the property to the head of the target's box: to its left side if the box is further right, else around its right
    side."""
    source, target = boxes[link.source], boxes[link.target]
    x, y = source["x"] + source["w"], source["y"] + _HEAD + _ROW * _row_of(link, source) + _ROW // 2
    end_y = target["y"] + _HEAD // 2
    if target["x"] > source["x"]:
        end_x, reach = target["x"], max(40, (target["x"] - x) // 2)
        bends = f"{x + reach} {y} {end_x - reach} {end_y}"
    else:
        end_x = target["x"] + target["w"]
        reach = 46 + max(0, x - end_x) // 6
        bends = f"{x + reach} {y} {end_x + reach} {end_y}"
    return {"from": link.source, "property": link.property, "to": link.target, "many": link.is_many, "path": f"M{x} {y}C{bends} {end_x} {end_y}"}
