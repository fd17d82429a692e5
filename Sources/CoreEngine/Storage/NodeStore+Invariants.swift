/// The invariants of the slab:
///
/// 1. The used part of the slab is a sequence of chunks without gaps: each is a node of this transaction or free.
/// 2. A free chunk is in the list of its size, once.
extension NodeStore {
    /// Whether debug builds check this operation: each of the first 500, then one in about a hundred.
    @inline(__always) func isChecked() -> Bool {
        guard Invariants.areAsserted else { return false }
        operations &+= 1
        return operations <= 500 || operations % 101 == 0
    }

    /// - Parameters:
    ///   - roots: everything that the transaction refers to. The chunks below them and the free chunks must cover the
    ///     whole slab, each byte once. nil: only the free chunks are checked.
    ///   - limit: the maximum number of free chunks that are checked.
    func checkSlab(holding roots: [Ref]? = nil, limit: Int = .max) throws(RealmError) {
        var chunks: [FileChunk] = []
        for (bin, head) in Array(bins.enumerated()) + Array(olderBins.enumerated()) {
            var at = head
            while at != 0, chunks.count < limit {
                guard at & 15 == 0, at >= slabStart, at <= slabEnd - 16 else {
                    throw .corrupt("free chunk outside of the slab", at: at)
                }
                let size = slabSize(base + at)
                guard Self.sizeClass(size) == (bin, size), size <= slabEnd - at else {
                    throw .corrupt("free chunk in the list of another size", at: at)
                }
                chunks.append(FileChunk(offset: at, size: size))
                // A list that leads back into itself has more entries than fit into the slab.
                guard chunks.count <= (slabEnd - slabStart) / 16 else {
                    throw .corrupt("list of free chunks without an end", at: at)
                }
                at = nextFree(at)
            }
        }
        if let roots { for root in roots { try collect(root, &chunks, depth: 0) } }
        chunks.sort { $0.offset < $1.offset }
        var end = slabStart
        for chunk in chunks {
            guard chunk.offset >= end else { throw .corrupt("bytes of the slab with two owners", at: chunk.offset) }
            guard roots == nil || chunk.offset == end else {
                throw .corrupt("bytes of the slab that are neither in use nor free", at: end)
            }
            end = chunk.end
        }
        guard roots == nil || end == slabEnd else {
            throw .corrupt("bytes of the slab that are neither in use nor free", at: end)
        }
    }

    /// Adds the slab chunks of a subtree.
    private func collect(_ ref: Ref, _ chunks: inout [FileChunk], depth: Int) throws(RealmError) {
        guard depth < Format.maxNodeDepth else { throw .corrupt("nodes nested too deeply", at: ref.offset) }
        let node = try node(ref)
        // Nodes of the file do not refer to the slab.
        guard !isInFile(ref) else { return }
        chunks.append(FileChunk(offset: ref.offset, size: slabSize(base + ref.offset)))
        guard node.hasRefs else { return }
        for i in 0..<node.count {
            if let child = try node.slot(i).subtree { try collect(child, &chunks, depth: depth + 1) }
        }
    }
}
