/// The free space that commits may reuse while older versions are pinned: chunks that were freed after the pinned
/// versions, and that were also free in these versions.
///
/// A chunk that version v freed was in use just before v, but a pinned version p < v need not have used it: the chunk
/// may have been allocated after p. Then it was free in p, and the free lists of p contain it. So the parts of a chunk
/// that were free in every older pinned version can be reused. The cost of a pinned version is therefore limited to the
/// nodes that later commits replaced, once each, however many commits follow.
///
/// A chunk that was freed before a pinned version q, and not used since, is in the free lists of q. So it is safe to
/// compare such a chunk with the free space of q, too, although this is not necessary. For this reason the last step
/// may stand for any number of pins: it holds the space that is free in all of them, and needs the memory of one.
///
/// Invariants
/// 1. `steps[i].free` holds the space that is free in all pinned versions up to `steps[i].version`, and for the last
///    step in all pinned versions. It is sorted and merged. The last chunk is the space behind the end of the file, and
///    has no end itself.
/// 2. When the free lists of a version cannot be read, its `free` is empty, and so are those of all later versions.
/// 3. There are at most `limit` steps. `members` are the pins that the steps consider: all present ones, and, if there
///    are more than `limit`, up to a sixteenth of their number that were released since.
struct PinnedSpace {
    struct Step {
        let version: UInt64
        var free: [FileChunk]
    }

    private(set) var steps: [Step] = []
    private(set) var members: [UInt64] = []

    /// The free chunks of versions that were read before, needed again when older pins are released.
    private var known: [UInt64: [FileChunk]] = [:]

    /// The maximum number of steps.
    private let limit: Int

    init(limit: Int = 64) { self.limit = limit }

    /// Adapts the steps to the present pins.
    /// - Parameters:
    ///   - pinned: the versions that are held, in order.
    ///   - load: returns the free chunks of the given versions as `FreeSpace.chunks` does; versions whose lists cannot
    ///     be read are missing. Called for at most `limit` versions at a time.
    mutating func update(_ pinned: [UInt64], load: ([UInt64]) -> [UInt64: [FileChunk]]) {
        guard pinned != members else { return }
        let newest = members.last ?? 0, added = pinned[(pinned.firstIndex { $0 > newest } ?? pinned.endIndex)...]
        if keepsSteps(pinned, added: added.count) { return extend(with: added, load) }
        var common = 0
        if members.count <= limit {
            while common < min(members.count, pinned.count), members[common] == pinned[common] { common += 1 }
        }
        steps.removeSubrange(common...)
        members.removeSubrange(common...)
        let cached = Set(pinned.prefix(limit))
        known = known.filter { cached.contains($0.key) }
        extend(with: pinned[common...], load)
    }

    /// Whether the present steps may still be used for these pins, of which the last `added` ones are new. Steps that
    /// consider released pins are safe: they only keep more space from being reused. When there are many pins, that
    /// space costs less than reading all their lists again after each commit.
    private func keepsSteps(_ pinned: [UInt64], added: Int) -> Bool {
        let allowed = pinned.count > limit ? max(4, pinned.count / 16) : 0
        guard members.count + added - pinned.count <= allowed else { return false }
        var i = 0
        for version in pinned.dropLast(added) {
            while i < members.count, members[i] < version { i += 1 }
            guard i < members.count, members[i] == version else { return false }
        }
        return true
    }

    private mutating func extend(with added: ArraySlice<UInt64>, _ load: ([UInt64]) -> [UInt64: [FileChunk]]) {
        var rest = added
        while !rest.isEmpty {
            let batch = rest.prefix(limit)
            rest = rest.dropFirst(limit)
            let missing = batch.filter { known[$0] == nil }
            var lists = missing.isEmpty ? [:] : load(Array(missing))
            lists.merge(known) { $1 }
            for version in batch { add(version, lists[version] ?? []) }
        }
    }

    private mutating func add(_ version: UInt64, _ chunks: [FileChunk]) {
        if members.count < limit { known[version] = chunks }
        members.append(version)
        let free = steps.last.map { Self.intersection($0.free, chunks) } ?? chunks
        if steps.count < limit {
            steps.append(Step(version: version, free: free))
        } else {
            steps[steps.count - 1].free = free
        }
    }

    /// Calls `body` with each part that can be used of a chunk that `version` freed, in order. At least one pinned
    /// version is older than `version`; when the steps consider none of these, no part can be used.
    func eachPart(of chunk: FileChunk, freedBy version: UInt64, _ body: (FileChunk) -> Void) {
        let older = steps.place { $0.version < version }
        guard older > 0 else { return }
        steps[older - 1].free.withUnsafeBufferPointer { free in
            var i = free.place { $0.end <= chunk.offset }
            while i < free.count, free[i].offset < chunk.end {
                let start = max(free[i].offset, chunk.offset)
                body(FileChunk(offset: start, size: min(free[i].end, chunk.end) - start))
                i += 1
            }
        }
    }

    private static func intersection(_ a: [FileChunk], _ b: [FileChunk]) -> [FileChunk] {
        var result: [FileChunk] = []
        var i = 0, j = 0
        while i < a.count, j < b.count {
            let start = max(a[i].offset, b[j].offset), end = min(a[i].end, b[j].end)
            if start < end { result.append(FileChunk(offset: start, size: end - start)) }
            if a[i].end < b[j].end { i += 1 } else { j += 1 }
        }
        return result
    }
}

extension FreeSpace {
    /// All chunks that are free in a snapshot, whatever version freed them, and the space behind its end.
    static func chunks(
        _ store: NodeStore, _ lists: (positions: Ref, lengths: Ref), logicalSize: Int
    ) throws(RealmError) -> [FileChunk] {
        var chunks: [FileChunk] = []
        var end = Format.headerSize
        func add(_ offset: Int, _ size: Int) {
            if let last = chunks.last, last.end == offset {
                chunks[chunks.count - 1].size += size
            } else {
                chunks.append(FileChunk(offset: offset, size: size))
            }
        }
        if !lists.positions.isNull, !lists.lengths.isNull {
            let positions = try store.integers(lists.positions), lengths = try store.integers(lists.lengths)
            guard positions.count == lengths.count else {
                throw .corrupt("free-space lists of unequal length", at: lists.positions.offset)
            }
            for i in 0..<positions.count {
                let at = positions.get(i), size = lengths.get(i)
                guard at >= end, at & 7 == 0, size > 0, size & 7 == 0, size <= Int64(logicalSize) - at else {
                    throw .corrupt(
                        "free-space list with chunks that overlap or lie outside the file", at: lists.positions.offset)
                }
                add(Int(at), Int(size))
                end = Int(at + size)
            }
        }
        add(logicalSize, Int.max / 2 - logicalSize)
        return chunks
    }
}
