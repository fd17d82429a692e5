/// The space that commits may reuse although older versions are pinned: it was freed since, and was free in these
/// versions, too.
///
/// A chunk that version v freed was in use before v, but maybe not in a pinned version p < v: it may have been
/// allocated after p. Then it was free in p, and the free lists of p contain it. So a chunk can be reused although
/// older versions are pinned, as far as it was free in each of them. The cost of a pinned version is therefore limited
/// to the nodes that later commits replaced, once each, however many commits follow.
///
/// Invariants
/// 1. `steps[i].free` holds the space that is free in all pinned versions up to `steps[i].version`, sorted and merged.
///    The last chunk is the space behind the end of the file, and has no end itself.
/// 2. When the free lists of a version cannot be read, its `free` is empty, and so are those of all later versions.
struct PinnedSpace {
    struct Step {
        let version: UInt64
        var free: [FileChunk]
    }

    private(set) var steps: [Step] = []

    /// The free chunks of versions that were read before, needed again when older pins are released.
    private var known: [UInt64: [FileChunk]] = [:]

    /// The maximum number of pins that are considered; for later pins, all space that was freed since is held back.
    static let limit = 64

    /// Adapts the steps to the present pins.
    /// - Parameters:
    ///   - pinned: the versions that are held, in order.
    ///   - load: returns the free chunks of the given versions as `FreeSpace.chunks` does; versions whose lists cannot
    ///     be read are missing.
    mutating func update(_ pinned: [UInt64], load: ([UInt64]) -> [UInt64: [FileChunk]]) {
        let wanted = pinned.prefix(Self.limit + 1)
        var common = 0
        while common < min(steps.count, wanted.count), steps[common].version == wanted[common] { common += 1 }
        if common == wanted.count, common == steps.count { return }
        steps.removeSubrange(common...)
        if !known.isEmpty { known = known.filter { wanted.contains($0.key) } }
        let missing = wanted[common...].filter { known[$0] == nil }
        if !missing.isEmpty { known.merge(load(Array(missing.prefix(Self.limit)))) { $1 } }
        for version in wanted[common...] {
            var free = steps.count < Self.limit ? known[version] ?? [] : []
            if let before = steps.last?.free { free = Self.intersection(before, free) }
            steps.append(Step(version: version, free: free))
        }
    }

    /// The parts of a chunk freed by `version` that can be used; nil: all of it.
    func free(in chunk: FileChunk, freedBy version: UInt64) -> [FileChunk]? {
        var low = 0, high = steps.count
        while low < high {
            let mid = (low + high) / 2
            if steps[mid].version < version { low = mid + 1 } else { high = mid }
        }
        guard low > 0 else { return nil }
        let step = steps[low - 1]
        var parts: [FileChunk] = []
        (low, high) = (0, step.free.count)
        while low < high {
            let mid = (low + high) / 2
            if step.free[mid].end <= chunk.offset { low = mid + 1 } else { high = mid }
        }
        while low < step.free.count, step.free[low].offset < chunk.end {
            let start = max(step.free[low].offset, chunk.offset)
            parts.append(FileChunk(offset: start, size: min(step.free[low].end, chunk.end) - start))
            low += 1
        }
        return parts
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
