/// The changes of one collection, collected instruction by instruction. Rules: live-objects §6.5, §6.6.
struct ChangeBuilder {
    package struct Move: Equatable {
        /// Index in the old collection.
        package var from: Int

        /// Index in the new collection.
        package var to: Int
    }

    /// Indices in the old collection.
    var deletions = IndexSet()

    /// Indices in the new collection.
    var insertions = IndexSet()
    var modifications = IndexSet()
    var moves: [Move] = []
    var isCleared = false

    /// The collection itself was deleted.
    var isDeleted = false

    var isEmpty: Bool {
        deletions.isEmpty && insertions.isEmpty && modifications.isEmpty && moves.isEmpty && !isCleared && !isDeleted
    }

    // MARK: Instructions

    mutating func apply(_ change: CollectionChange) {
        switch change {
        case .insert(let index): insert(index)
        case .set(let index): modifications.add(index)
        case .erase(let index): erase(index)
        case .move(let from, let to): move(from, to)
        case .clear(let size): clear(size)
        }
    }

    private mutating func insert(_ index: Int) {
        modifications.shiftForInsert(at: index)
        insertions.insert(at: index)
        for moveIndex in moves.indices where moves[moveIndex].to >= index { moves[moveIndex].to += 1 }
        isCleared = false
    }

    private mutating func erase(_ index: Int) {
        modifications.erase(at: index)
        if let old = insertions.eraseOrUnshift(index) { _ = deletions.addShifted(old) }
        moves.removeAll { $0.to == index }
        for moveIndex in moves.indices where moves[moveIndex].to > index { moves[moveIndex].to -= 1 }
    }

    mutating func clear(_ size: Int) {
        let old = size + deletions.count - insertions.count
        self = ChangeBuilder(deletions: IndexSet([0..<max(0, old)]), isCleared: true, isDeleted: isDeleted)
    }

    private mutating func move(_ from: Int, _ to: Int) {
        guard from != to else { return }
        var moved: Int?
        for moveIndex in moves.indices {
            let at = moves[moveIndex].to
            if at == from {
                moved = moveIndex
            } else if from > at, at >= to {
                moves[moveIndex].to += 1
            } else if from < at, at <= to {
                moves[moveIndex].to -= 1
            }
        }
        if let moved {
            moves[moved].to = to
            insertions.erase(at: from)
            insertions.insert(at: to)
        } else {
            let old = insertions.eraseOrUnshift(from)
            insertions.insert(at: to)
            if let old { moves.append(Move(from: deletions.addShifted(old), to: to)) }
        }
        let wasModified = modifications.contains(from)
        modifications.erase(at: from)
        if wasModified { modifications.insert(at: to) } else { modifications.shiftForInsert(at: to) }
    }

    /// Call after the last instruction.
    mutating func finish() { dropIdleMoves() }

    /// Removes moves that ended where they began.
    private mutating func dropIdleMoves() {
        moves = moves.filter { move in
            guard deletions.unshift(move.from) == insertions.unshift(move.to) else { return true }
            deletions.remove(move.from)
            insertions.remove(move.to)
            return false
        }
    }

    // MARK: Limits

    /// The changes for an observer of only the first `limit` elements: an element that enters this range counts as
    /// inserted, one that leaves it as deleted.
    /// - Parameters:
    ///   - before: number of all elements in the old collection.
    ///   - after: number of all elements in the new collection.
    func limited(to limit: Int, before: Int, after: Int) -> ChangeBuilder {
        if before <= limit, after <= limit { return self }
        var visible = ChangeBuilder(
            deletions: deletions.below(limit), insertions: insertions.below(limit), isDeleted: isDeleted)
        // Elements that are in both collections keep their order. `keptBefore` of them were in the range before the
        // change, `keptAfter` of them are in it now.
        let keptBefore = min(before, limit) - visible.deletions.count,
            keptAfter = min(after, limit) - visible.insertions.count
        visible.modifications = modifications.below(limit)
        if keptAfter > keptBefore {
            let coming = insertions.gaps(keptBefore..<keptAfter)
            visible.insertions = visible.insertions.union(coming)
            visible.modifications = visible.modifications.subtracting(coming)
        } else {
            visible.deletions = visible.deletions.union(deletions.gaps(keptAfter..<keptBefore))
        }
        visible.moves = moves.filter { $0.from < limit && $0.to < limit }
        visible.isCleared = isCleared && !visible.deletions.isEmpty
        return visible
    }

    // MARK: Merging

    /// Adds changes that happened later.
    mutating func merge(_ later: ChangeBuilder) {
        if later.isEmpty { return }
        if isEmpty {
            self = later
            return
        }
        var next = later
        var kept: [Move] = []
        for var move in moves {
            if let index = next.moves.firstIndex(where: { $0.from == move.to }) {
                if modifications.contains(move.to) { next.modifications.add(next.moves[index].to) }
                move.to = next.moves[index].to
                next.moves.remove(at: index)
            } else if next.deletions.contains(move.to) {
                continue
            } else {
                move.to = next.insertions.shift(next.deletions.unshift(move.to))
            }
            kept.append(move)
        }
        moves = kept
        next.moves.removeAll { insertions.contains($0.from) }
        for move in next.moves where modifications.contains(move.from) { next.modifications.add(move.to) }
        for move in next.moves { moves.append(Move(from: deletions.shift(insertions.unshift(move.from)), to: move.to)) }
        deletions.addShifted(by: insertions, next.deletions)
        insertions.erase(at: next.deletions)
        insertions.insert(at: next.insertions)
        dropIdleMoves()
        modifications.erase(at: next.deletions)
        modifications.shiftForInsert(at: next.insertions)
        modifications = modifications.union(next.modifications)
        isDeleted = isDeleted || next.isDeleted
        isCleared = next.isCleared
    }
}

/// The changes reported to a callback of a collection. `deletions` and `modifications` are indices in the old
/// collection, the others in the new one. Rules: live-objects §6.8.
package struct CollectionChanges {
    package let deletions: IndexSet
    package let insertions: IndexSet

    /// Modified rows: their indices in the old collection and, in `modificationsAfter`, in the new one.
    package let modifications: IndexSet
    package let modificationsAfter: IndexSet
    package let moves: [(from: Int, to: Int)]
    package let isCleared: Bool
    package let isDeleted: Bool

    init(_ builder: ChangeBuilder) {
        deletions = builder.deletions
        insertions = builder.insertions
        modificationsAfter = builder.modifications.subtracting(builder.insertions)
        var before = builder.modifications
        before.erase(at: builder.insertions)
        before.shiftForInsert(at: builder.deletions)
        modifications = before
        moves = builder.moves.map { ($0.from, $0.to) }
        isCleared = builder.isCleared
        isDeleted = builder.isDeleted
    }
}
