/// Moves nodes from the end of the file to free space further in, a part of them in each commit, so that the end of the
/// file becomes free and can be cut off. Format: docs/commit-and-locking.md, "A file that shrinks".
///
/// A node that moves is copied into the slab, and the arrays of refs above it are changed, as if the transaction had
/// changed the node. `CommitWriter` then gives it a new place. So a move needs no rule of its own for crashes, readers
/// and older versions.
///
/// The walk goes through the nodes in the order of the roots and their elements. It stops at the limit of the commit
/// (`Plan.budget` bytes), and the next commit resumes it at the same place. When other changes have moved that place
/// meanwhile, the walk may omit nodes; the next walk from the beginning finds them.
///
/// Invariants
/// 1. A node that begins before `cutoff` is changed only when one of its descendants in the tree moves.
/// 2. After an error every ref in the tree leads to its node, and nodes that moved before the error stay at their new
///    places. If the error is fatal (`isFatal`), this does not hold, and the transaction must be rolled back.
struct TailMover {
    private let store: NodeStore

    /// Nodes of the file at this position or behind it move.
    private let cutoff: Int

    /// The bytes that may still be moved, and the number of arrays of refs that may still be visited.
    private var budget: Int
    private var visits: Int

    /// Where the walk begins: the index of the root, then the index of the element in each array on the way.
    private let start: [Int]

    /// The way to the present node.
    private var path: [Int] = []

    /// Where the walk stopped; nil when it has reached the end.
    private(set) var stop: [Int]?

    /// The error that ended the walk.
    private(set) var failure: RealmError?

    /// Whether the error left an array that refers to a node which has moved.
    private(set) var isFatal = false
    private(set) var movedBytes = 0

    /// Deeper nodes stay where they are: the walk must fit into a small stack.
    private static let depthLimit = 48

    /// The number of arrays of refs that are visited for each 64 KB of the budget.
    private static let visitsPerStep = 4096

    init(_ store: NodeStore, cutoff: Int, budget: Int, from start: [Int]) {
        self.store = store
        self.cutoff = cutoff
        self.budget = budget
        self.start = start
        visits = Self.visitsPerStep * max(1, budget >> 16)
    }

    /// Moves nodes below the roots; returns the roots at their new places.
    mutating func move(_ roots: [Ref]) -> [Ref] {
        var roots = roots
        for i in (start.first ?? 0)..<max(roots.count, start.first ?? 0) where i < roots.count && stop == nil {
            path.append(i)
            roots[i] = move(roots[i], depth: 1, isResumed: i == start.first)
            path.removeLast()
        }
        return roots
    }

    /// Moves the node if it is behind the cutoff, and its descendants that are.
    /// - Parameter isResumed: whether the walk resumes in this node or below it.
    private mutating func move(_ ref: Ref, depth: Int, isResumed: Bool) -> Ref {
        guard !ref.isNull, depth < Self.depthLimit else { return ref }
        do throws(RealmError) {
            let node = try store.node(ref)
            if node.hasRefs { return moveChildren(of: node, depth: depth, isResumed: isResumed) }
            guard isBehind(ref) else { return ref }
            guard budget > 0 else {
                stop = path
                return ref
            }
            note(node)
            return try store.writable(node).ref
        } catch {
            end(error)
            return ref
        }
    }

    private mutating func moveChildren(of node: Node, depth: Int, isResumed: Bool) -> Ref {
        var node = node
        visits -= 1
        guard budget > 0, visits > 0 else {
            stop = path
            return node.ref
        }
        do throws(RealmError) {
            if isBehind(node.ref) {
                note(node)
                node = try store.writableRefs(node)
            }
            var i = isResumed && depth < start.count ? start[depth] : 0
            while i < node.count, stop == nil {
                let slot = try node.slot(i)
                if let child = slot.subtree {
                    path.append(i)
                    let leadsOn = isResumed && depth < start.count && i == start[depth]
                    let moved = move(child, depth: depth + 1, isResumed: leadsOn)
                    path.removeLast()
                    if moved != child {
                        if store.isInFile(node.ref) { note(node) }
                        isFatal = true
                        node = try store.writableRefs(node)
                        store.setSlot(node, i, moved)
                        isFatal = false
                    }
                }
                i += 1
            }
        } catch { end(error) }
        return node.ref
    }

    @inline(__always) private func isBehind(_ ref: Ref) -> Bool { store.isInFile(ref) && ref.offset >= cutoff }

    private mutating func note(_ node: Node) {
        budget -= node.size
        movedBytes += node.size
    }

    private mutating func end(_ error: RealmError) {
        if failure == nil { failure = error }
        stop = []
    }
}
