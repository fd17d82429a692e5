// The checks beside the structures: that operations leave nothing behind but what is in use or free, and that each
// check finds what it is there to find.
import Testing

@testable import CoreEngine

/// Whether `check` finds damage.
func finds(_ check: () throws -> Void) throws -> Bool {
    do { try check() } catch let error as RealmError {
        guard error.isDamage else { throw error }
        return true
    }
    return false
}

@Test(arguments: 1...6) func treesLeaveNoByteOfTheSlabWithoutOwner(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    let s = try memoryStore()
    let kind: LeafKind = seed % 2 == 0 ? .int : .string
    var tree = try BPlusTree.create(s, kind: kind)
    tree.capacity = 4 + seed % 5
    var count = 0
    for step in 0..<600 {
        let text = [UInt8](repeating: 65, count: random.below(random.below(20) == 0 ? 300 : 12))
        try withBytes(text) { b in
            let value: Mixed =
                kind == .int ? .int(Int64(bitPattern: random.next() >> UInt64(random.below(64)))) : .string(b)
            switch random.below(step < 300 ? 4 : 8) {
            case 0...2:
                try tree.insert(random.below(count + 1), value)
                count += 1
            case 3 where count > 0: try tree.set(random.below(count), value)
            case _ where count > 0:
                try tree.erase(random.below(count))
                count -= 1
            default: break
            }
        }
        try tree.checkInvariants()
        try s.checkSlab(holding: [tree.root])
    }
    try tree.clear()
    try tree.checkInvariants()
    try s.checkSlab(holding: [tree.root])
}

@Test(arguments: 1...4) func rowsAndTheirIndexLeaveNoByteOfTheSlabWithoutOwner(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    let s = try memoryStore()
    let columns = [ClusterTree.Column(kind: .string, initial: .null, ownsTrees: false)]
    let tree = ClusterTree(s, root: try ClusterTree.create(s, columns: columns), columns: columns)
    var index = SearchIndex(s, root: try SearchIndex.create(s), rows: tree, column: 0)
    index.capacity = 8
    var keys: [ObjKey] = []
    func check() throws {
        try tree.checkInvariants()
        try index.checkInvariants()
        try s.checkSlab(holding: [tree.root, index.root])
    }
    for step in 0..<1200 {
        if step < 700 || random.below(4) == 0 {
            let key = ObjKey(Int64(seed % 2 == 0 ? step : random.below(1 << 20)))
            guard try tree.insert(key) else { continue }
            keys.append(key)
            try withBytes(Array("a word of \(random.below(80))".utf8)) { b in
                _ = try tree.set(key, 0, .string(b))
                try index.insert(.string(b), key)
            }
        } else if let i = keys.indices.randomElement(using: &random) {
            let key = keys.remove(at: i)
            if let v = try tree.get(key, 0) { try index.erase(v, key) }
            #expect(try tree.erase(key))
        }
        if step < 50 || step % 10 == 0 { try check() }
    }
    var leaving = SearchIndex.Leaving()
    for k in keys { if let v = try tree.get(k, 0) { leaving.append(v, k) } }
    try index.erase(leaving)
    try tree.erase(keys.sorted()[...])
    try check()
    #expect(try tree.count() == 0 && index.entryCount() == 0)
}

@Test func brokenTreesAreFound() throws {
    let s = try memoryStore()
    func tree(compact: Bool) throws -> (BPlusTree, Node) {
        var tree = try BPlusTree.create(s, kind: .int)
        tree.capacity = 4
        for i in 0..<11 { try tree.insert(compact ? i : i / 2, .int(Int64(i))) }
        try tree.checkInvariants()
        return (tree, try s.node(tree.root))
    }
    for compact in [true, false] {
        let (tree, top) = try tree(compact: compact)
        #expect(try top.slot(0).isTagged == compact)
        let (first, child, total) = (try top.slot(0), try top.slot(1), try top.slot(top.count - 1))
        s.setSlot(top, top.count - 1, RefOrTagged(tagged: total.integer + 1))
        #expect(try finds { try tree.checkInvariants() })
        #expect(try finds { try tree.checkInvariants(near: 0) })
        s.setSlot(top, top.count - 1, total)
        // An offset that is not a child's end, a child of another size than the others.
        s.setSlot(top, 0, compact ? RefOrTagged(tagged: 3) : RefOrTagged(try s.makeUnsigned([1, 2]).ref))
        #expect(try finds { try tree.checkInvariants() })
        s.setSlot(top, 0, first)
        // A child without elements; a child that is a tree, where the others are leaves.
        s.setSlot(top, 1, try LeafKind.int.create(s))
        #expect(try finds { try tree.checkInvariants() })
        let inner = try s.makeRefs(
            [RefOrTagged(tagged: 4), child, RefOrTagged(tagged: try LeafKind.int.count(s, child.ref))], inner: true)
        s.setSlot(top, 1, inner.ref)
        #expect(try finds { try tree.checkInvariants() })
        s.setSlot(top, 1, child)
        try tree.checkInvariants()
        // Elsewhere than the operation was, nothing is looked at.
        var crowded = try s.node(try top.child(top.count - 2))
        while crowded.count < 5 { try s.appendInteger(&crowded, 1) }
        s.setSlot(top, top.count - 2, crowded.ref)
        #expect(try finds { try tree.checkInvariants() })
    }
}

@Test func brokenRowsAreFound() throws {
    let s = try memoryStore()
    let columns = [ClusterTree.Column(kind: .int, initial: .int(0), ownsTrees: false)]
    let tree = ClusterTree(s, root: try ClusterTree.create(s, columns: columns), columns: columns)
    for k in 0..<600 { _ = try tree.insert(ObjKey(Int64(k * 3))) }
    try tree.checkInvariants()
    let top = try s.node(tree.root)
    func broken(_ slot: Int, in n: Node, _ new: RefOrTagged, near key: Int64? = nil) throws {
        let old = try n.slot(slot)
        s.setSlot(n, slot, new)
        #expect(try finds { try tree.checkInvariants() })
        if let key { #expect(try finds { try tree.checkInvariants(near: ObjKey(key)) }) }
        s.setSlot(n, slot, old)
        try tree.checkInvariants()
    }
    try broken(2, in: top, RefOrTagged(tagged: 599), near: 5)
    try broken(1, in: top, RefOrTagged(tagged: 2))
    try broken(0, in: top, RefOrTagged(try s.makeUnsigned([0, 9, 9]).ref))
    try broken(0, in: top, RefOrTagged(try s.makeUnsigned([1, 768, 1536]).ref))
    // The second cluster begins too early for the first one's keys.
    try broken(0, in: top, RefOrTagged(try s.makeUnsigned([0, 90, 1536]).ref))
    let leaf = try s.node(try top.child(3))
    try broken(0, in: leaf, RefOrTagged(tagged: 255), near: 0)
    try broken(0, in: leaf, RefOrTagged(try s.makeUnsigned((0..<256).map { UInt64($0 / 2) }).ref), near: 0)
    try broken(1, in: leaf, RefOrTagged(try s.makeIntegers([1, 2]).ref), near: 0)
    _ = try tree.get(ObjKey(0), 0)
    tree.cursor.high += 1
    #expect(try finds { try tree.checkInvariants() })
    tree.invalidateCursors()
    try tree.checkInvariants()
}

@Test func brokenIndexesAreFound() throws {
    let s = try memoryStore()
    let columns = [ClusterTree.Column(kind: .int, initial: .int(0), ownsTrees: false)]
    let tree = ClusterTree(s, root: try ClusterTree.create(s, columns: columns), columns: columns)
    var index = SearchIndex(s, root: try SearchIndex.create(s), rows: tree, column: 0)
    index.capacity = 4
    for k in 0..<Int64(40) {
        _ = try tree.insert(ObjKey(k))
        _ = try tree.set(ObjKey(k), 0, .int(k / 2 &* 0x100_0001))
        try index.insert(.int(k / 2 &* 0x100_0001), ObjKey(k))
    }
    try index.checkInvariants()
    let top = try s.node(index.root), keys = try s.integers(try top.child(0))
    #expect(top.isInner && keys.count > 1)
    let key = keys.get(0)
    keys.put(0, key - 1)
    #expect(try finds { try index.checkInvariants() })
    #expect(try finds { try index.checkInvariants(near: .int(0)) })
    keys.put(0, keys.get(1))
    #expect(try finds { try index.checkInvariants() })
    keys.put(0, key)
    try index.checkInvariants()
    let child = try top.slot(1)
    s.setSlot(top, 1, try top.slot(2))
    #expect(try finds { try index.checkInvariants() })
    s.setSlot(top, 1, child)
    try index.checkInvariants()
    // A root without children, as it was once left where everything went together: found, and the next insert makes an
    // index of it.
    index.root = try SearchIndex.makeLeaf(s, inner: true).ref
    #expect(try finds { try index.checkInvariants() })
    #expect(try index.count(of: .int(0)) == 0)
    try index.insert(.int(0), ObjKey(0))
    try index.checkInvariants()
    #expect(try index.count(of: .int(0)) == 1)
}

@Test func brokenSlabsAreFound() throws {
    let s = try memoryStore()
    let a = try s.makeIntegers([1, 2, 3]), b = try s.makeIntegers([4, 5, 6]),
        c = try s.makeRefs([RefOrTagged(a.ref), RefOrTagged(b.ref)])
    try s.checkSlab(holding: [c.ref])
    // A node that nobody refers to, one with two owners, one that is in use and free, one that is free twice.
    #expect(try finds { try s.checkSlab(holding: [a.ref]) })
    #expect(try finds { try s.checkSlab(holding: [a.ref, c.ref]) })
    s.free(a)
    try s.checkSlab()
    #expect(try finds { try s.checkSlab(holding: [c.ref]) })
    s.setSlot(c, 0, .null)
    try s.checkSlab(holding: [c.ref])
    s.free(a)
    #expect(try finds { try s.checkSlab() })
}

@Test(arguments: 1...8) func freeSpaceStaysInOrder(seed: Int) throws {
    var random = Seeded(UInt64(seed))
    var space = FreeSpace(), end = Format.headerSize, taken: [FileChunk] = []
    for _ in 0..<60 {
        let chunk = FileChunk(offset: end + 8 * random.below(3), size: 8 * (1 + random.below(200)))
        if random.below(3) == 0 {
            space.lockAtEnd(chunk, version: UInt64(random.below(3)))
        } else {
            space.appendAtEnd(chunk)
        }
        end = chunk.end
        try space.checkInvariants()
    }
    let size = space.usableSize
    for _ in 0..<400 {
        switch random.below(6) {
        case 0:
            if let c = space.takeExtent(wanted: 8 * random.below(300), least: 8, logicalSize: end) { taken.append(c) }
        case 3:
            let wanted = 8 * (1 + random.below(60))
            if let at = space.takeHole(wanted, below: 800) { taken.append(FileChunk(offset: at, size: wanted)) }
        case 4:
            let wanted = 8 * (1 + random.below(10))
            if let at = space.takeFront(wanted, least: 400) { taken.append(FileChunk(offset: at, size: wanted)) }
        case 1: if let c = space.takeTail(endingAt: end) { taken.append(c) }
        case 2:
            if let u = space.usable.randomElement(using: &random),
                let c = space.takeExtent(startingAt: u.offset, wanted: 8)
            {
                taken.append(c)
            }
        default:
            guard let i = taken.indices.randomElement(using: &random) else { continue }
            // A part of it may be used up.
            let used = 8 * random.below(taken[i].size / 8 + 1)
            let c = taken.remove(at: i)
            space.giveBack(FileChunk(offset: c.offset + used, size: c.size - used))
            if used > 0 { taken.append(FileChunk(offset: c.offset, size: used)) }
        }
        try space.checkInvariants()
        #expect(space.usableSize + taken.reduce(0) { $0 + $1.size } == size)
        // No byte is handed out twice.
        var before = 0
        for chunk in (taken + space.usable.filter { $0.size > 0 }).sorted(by: { $0.offset < $1.offset })
        where chunk.size > 0 {
            #expect(chunk.offset >= before)
            before = chunk.end
        }
    }
}

@Test(arguments: 1...20) func spaceBesidePinnedVersionsIsWhatNoneOfThemUses(seed: Int) throws {
    // A file of 60 units of 8 bytes. Of every version the units in use are known: what is handed out must be in use in
    // no pinned version, not in the version before the base and not in the base; and all of that must be handed out.
    var random = Seeded(UInt64(seed))
    let units = 60, start = Format.headerSize
    let store = try memoryStore()
    var used: [UInt64: Set<Int>] = [1: []]
    var entries: [(unit: Int, version: UInt64)] = (0..<units).map { ($0, 0) }
    var pinned: Set<UInt64> = []
    // Every other file has more pins than steps.
    let limit = seed % 2 == 0 ? 64 : 2 + random.below(4), releases = limit == 64 ? 5 : 12
    var space = PinnedSpace(limit: limit)
    for base in UInt64(1)..<80 {
        if random.below(3) == 0, base > 1 { pinned.insert(base - 1) }
        if random.below(releases) == 0, let gone = pinned.randomElement(using: &random) { pinned.remove(gone) }
        let pins = pinned.sorted().filter { $0 < base }
        let lists = (
            positions: try store.makeIntegers(entries.map { Int64(start + $0.unit * 8) }).ref,
            lengths: try store.makeIntegers(entries.map { _ in 8 }).ref,
            versions: try store.makeIntegers(entries.map { Int64($0.version) }).ref
        )
        let logicalSize = start + units * 8
        // Of one version in ten nothing is found: then more is held, never less.
        let isForgetful = random.below(10) == 0
        if isForgetful { space = PinnedSpace(limit: limit) }
        space.update(pins.filter { $0 + 1 < base }) { versions in
            guard !isForgetful else { return [:] }
            #expect(versions.count <= limit)
            return Dictionary(
                uniqueKeysWithValues: versions.map { version in
                    let free = (0..<units).filter { !used[version]!.contains($0) }
                    let behind = FileChunk(offset: logicalSize, size: Int.max / 2 - logicalSize)
                    return (version, free.map { FileChunk(offset: start + $0 * 8, size: 8) } + [behind])
                })
        }
        let free = try FreeSpace(
            store, lists, logicalSize: logicalSize, base: base, pinned: pins, beside: space, pageSize: nil)
        try free.checkInvariants()
        let usable = Set(free.usable.flatMap { chunk in (0..<chunk.size / 8).map { (chunk.offset - start) / 8 + $0 } })
        let needed = ([base] + (base > 1 ? [base - 1] : []) + pins).reduce(into: Set<Int>()) { $0.formUnion(used[$1]!) }
        #expect(usable.isDisjoint(with: needed), "base \(base), pins \(pins)")
        // Beside many pins, some that were released may still be considered.
        let considered = space.members.reduce(into: needed) { $0.formUnion(used[$1]!) }
        if !isForgetful {
            #expect(usable.isSuperset(of: Set(0..<units).subtracting(considered)), "base \(base), pins \(pins)")
            let isExact = space.members == pins.filter { $0 + 1 < base }
            if isExact { #expect(usable == Set(0..<units).subtracting(needed), "base \(base), pins \(pins)") }
            #expect(isExact || pins.count > limit)
        }
        #expect(space.members.count <= pins.count + max(4, pins.count / 16) && space.steps.count <= limit)
        if isForgetful { space = PinnedSpace(limit: limit) }
        // The next version frees some units of the base and takes some that may be used.
        let freed = used[base]!.filter { _ in random.below(4) == 0 }
        let taken = usable.filter { _ in random.below(4) == 0 }
        used[base + 1] = used[base]!.subtracting(freed).union(taken)
        var versions: [Int: UInt64] = [:]
        for unit in usable.subtracting(taken) { versions[unit] = 0 }
        for locked in free.locked {
            for unit in 0..<locked.chunk.size / 8 {
                versions[(locked.chunk.offset - start) / 8 + unit] = locked.version
            }
        }
        for unit in freed { versions[unit] = base + 1 }
        entries = versions.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
