"""Damages files in known places, from a seed."""

PAGE = 4096


def damage(rng, data, nodes, names=None):
    """(damaged copy, what was done). `nodes`: (start, end) of those in use."""
    name = rng.choice(names or sorted(KINDS))
    copy = bytearray(data)
    return bytes(KINDS[name](rng, copy, nodes) or copy), name


def bits(rng, copy, nodes):
    for _ in range(rng.randint(1, 12)):
        copy[rng.randrange(24, len(copy))] ^= 1 << rng.randrange(8)


def node_bits(rng, copy, nodes):
    for _ in range(rng.randint(1, 8)):
        start, end = rng.choice(nodes)
        copy[rng.randrange(start + 4, max(end, start + 5))] ^= 1 << rng.randrange(8)


def headers(rng, copy, nodes):
    for _ in range(rng.randint(1, 6)):
        start, _ = rng.choice(nodes)
        copy[start + 4 + rng.randrange(4)] = rng.randrange(256)


def zeroed_nodes(rng, copy, nodes):
    for _ in range(rng.randint(1, 10)):
        start, end = rng.choice(nodes)
        copy[start:end] = bytes(end - start)


def inner_nodes(rng, copy, nodes):
    inner = [node for node in nodes if copy[node[0] + 4] & 0x80]
    if not inner:
        return zeroed_nodes(rng, copy, nodes)
    for _ in range(rng.randint(1, 2)):
        start, end = rng.choice(inner)
        copy[start:end] = bytes(end - start)


def zeroed_pages(rng, copy, nodes):
    for _ in range(rng.randint(1, 3)):
        page = rng.randrange(1, max(2, len(copy) // PAGE)) * PAGE
        copy[page : page + PAGE] = bytes(len(copy[page : page + PAGE]))


def noise(rng, copy, nodes):
    at = rng.randrange(24, len(copy))
    size = min(rng.choice([8, 64, 512, 4096]), len(copy) - at)
    copy[at : at + size] = rng.randbytes(size)


def swapped_pages(rng, copy, nodes):
    pages = len(copy) // PAGE
    if pages < 3:
        return bits(rng, copy, nodes)
    a, b = rng.randrange(1, pages) * PAGE, rng.randrange(1, pages) * PAGE
    copy[a : a + PAGE], copy[b : b + PAGE] = copy[b : b + PAGE], copy[a : a + PAGE]


def cut_end(rng, copy, nodes):
    return copy[: rng.randrange(len(copy) // 2, len(copy))]


def lost_header(rng, copy, nodes):
    copy[:24] = bytes(24) if rng.random() < 0.5 else rng.randbytes(24)


def lost_slots(rng, copy, nodes):
    copy[:16] = bytes(16) if rng.random() < 0.5 else rng.randbytes(16)


def live_slot(rng, copy, nodes):
    slot = copy[23] & 1
    copy[8 * slot : 8 * slot + 8] = rng.randbytes(8)


def first_page(rng, copy, nodes):
    copy[:PAGE] = bytes(min(PAGE, len(copy)))


HEADERLESS = {"lost_header": lost_header, "lost_slots": lost_slots, "first_page": first_page}
KINDS = {
    "bits": bits, "node_bits": node_bits, "headers": headers, "inner_nodes": inner_nodes, "zeroed_nodes": zeroed_nodes, "zeroed_pages": zeroed_pages, "noise": noise,
    "swapped_pages": swapped_pages, "cut_end": cut_end, "live_slot": live_slot, **HEADERLESS,
}  # fmt: skip
