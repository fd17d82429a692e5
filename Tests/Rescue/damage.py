"""Damages files in known places, chosen by a seed."""

PAGE = 4096


def damage(rng, data, nodes, names=None):
    """(damaged copy, kind of damage). `nodes`: (start, end) of the nodes in use."""
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
# These may change a number into another number, which cannot be detected in a plain file.
TRACELESS = {"bits", "node_bits", "headers", "noise", "swapped_pages", "zeroed_pages"}
KINDS = {
    "bits": bits, "node_bits": node_bits, "headers": headers, "inner_nodes": inner_nodes, "zeroed_nodes": zeroed_nodes, "zeroed_pages": zeroed_pages, "noise": noise,
    "swapped_pages": swapped_pages, "cut_end": cut_end, "live_slot": live_slot, **HEADERLESS,
}  # fmt: skip


# ---------------------------------------------------------------- encrypted files: docs/security.md, storage §7

PAGE_SIZES = {"xchacha20": 4056, "aes256gcm": 4056, "realm": 4096}
FAN = 507


def page_of(block, cipher):
    """The page of data in a block of an encrypted file; None: the block has no page of data."""
    if cipher == "realm":
        return None if block % 65 == 0 else block - block // 65 - 1
    if block < 6:
        return None
    group, rest = divmod(block - 4, 2 + FAN * (2 + FAN))
    table, place = divmod(rest - 2, 2 + FAN)
    return None if place < 2 else (group * FAN + table) * FAN + place - 2


def damage_sealed(rng, data, cipher, names=None):
    """(damaged copy, kind of damage, pages of data that are lost)"""
    name = rng.choice(names or sorted(SEALED_KINDS))
    copy = bytearray(data)
    copy = bytes(SEALED_KINDS[name](rng, copy, cipher) or copy)
    lost = set()
    for block in range(len(data) // PAGE):
        if copy[block * PAGE : block * PAGE + PAGE] == data[block * PAGE : block * PAGE + PAGE]:
            continue
        page = page_of(block, cipher)
        if page is not None:
            lost.add(page)
        elif cipher == "realm":
            # Entries of 64 bytes: a page is lost without its entry.
            for i in range(64):
                at = block * PAGE + i * 64
                if copy[at : at + 64] != data[at : at + 64]:
                    lost.add(block // 65 * 64 + i)
    return copy, name, lost


def sealed_bits(rng, copy, cipher):
    # Never in the keys, for which another kind of damage exists.
    for _ in range(rng.randint(1, 6)):
        copy[rng.randrange(2 * PAGE, len(copy))] ^= 1 << rng.randrange(8)


def sealed_blocks(rng, copy, cipher):
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(2, len(copy) // PAGE) * PAGE
        copy[at : at + PAGE] = bytes(PAGE) if rng.random() < 0.5 else rng.randbytes(PAGE)


def sealed_front(rng, copy, cipher):
    """A copy of the key block, root records; of Realm's form the page with the header."""
    if cipher == "realm":
        copy[PAGE : 2 * PAGE] = rng.randbytes(PAGE)
        return
    if rng.random() < 0.5:
        at, size = rng.randrange(2) * PAGE, rng.choice([8, 512])
        copy[at : at + size] = bytes(size)
    for slot in rng.choice([(2,), (3,), (2, 3)]):
        size = rng.choice([512, 4096])
        copy[slot * PAGE : slot * PAGE + size] = bytes(size)


def sealed_cut(rng, copy, cipher):
    return copy[: rng.randrange(len(copy) // 2, len(copy))]


SEALED_KINDS = {"bits": sealed_bits, "blocks": sealed_blocks, "front": sealed_front, "cut": sealed_cut}
