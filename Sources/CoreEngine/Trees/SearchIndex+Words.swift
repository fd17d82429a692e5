/// Full-text indexes, and indexes of lists of strings, store whole words in the tree: a chunk that is not the end of
/// the word always leads to a sub-index. Format: logical §9.8.
extension SearchIndex {
    private func wordChunk(_ data: IndexData, _ offset: Int) -> Int32 {
        data.isNull ? 0 : (offset >= data.count ? Self.emptyChunk : data.chunk(offset))
    }

    /// Throws if the word is too long for an index of whole words.
    static func checkWord(_ word: Bytes) throws(RealmError) {
        guard word.count < maxOffset else {
            throw RealmError(.limitExceeded, "A string of 200 bytes or more cannot be in a full-word index")
        }
    }

    /// Inserts a whole word (nil: a null element of a list of strings). An existing entry is not duplicated.
    mutating func insertWord(_ word: Bytes?, _ key: ObjKey) throws(RealmError) {
        if let word { try Self.checkWord(word) }
        var ref = root
        try insertWord(&ref, Self.wordData(word), key, 0)
        root = ref
    }

    private static func wordData(_ word: Bytes?) -> IndexData { word.map { IndexData(bytes: $0) } ?? IndexData.null }

    private func insertWord(_ ref: inout Ref, _ data: IndexData, _ key: ObjKey, _ offset: Int) throws(RealmError) {
        let growth = try descend(&ref, wordChunk(data, offset), depth: 0) { (entry) throws(RealmError) in
            let ends = offset + 4 >= data.count
            guard let entry else {
                if ends { return RefOrTagged(tagged: UInt64(bitPattern: key.raw)) }
                var sub = try Self.create(self.store)
                try self.insertWord(&sub, data, key, offset + 4)
                return RefOrTagged(sub)
            }
            if !entry.isTagged, try self.store.node(entry.ref).context {
                var sub = entry.ref
                try self.insertWord(&sub, data, key, offset + 4)
                return RefOrTagged(sub)
            }
            if ends { return try self.addKey(entry, key) }
            // The entry of the word that ends here moves one level down, under the chunk of an empty rest.
            var sub = try Self.create(self.store)
            let growth = try self.descend(&sub, Self.emptyChunk, depth: 0) { (_) throws(RealmError) in entry }
            try self.raise(&sub, growth)
            try self.insertWord(&sub, data, key, offset + 4)
            return RefOrTagged(sub)
        }
        try raise(&ref, growth)
    }

    private func addKey(_ entry: RefOrTagged, _ key: ObjKey) throws(RealmError) -> RefOrTagged {
        if entry.isTagged {
            let other = Int64(entry.integer)
            if other == key.raw { return entry }
            return RefOrTagged(try store.makeIntegers([min(other, key.raw), max(other, key.raw)]).ref)
        }
        var list = BPlusTree(store, kind: .int, root: entry.ref)
        let count = try list.count()
        let index = try position(list, 0..<count, key)
        if index < count, try self.key(list, index) == key { return entry }
        try list.insert(index, .int(key.raw))
        return RefOrTagged(list.root)
    }

    mutating func eraseWord(_ word: Bytes?, _ key: ObjKey) throws(RealmError) {
        let data = Self.wordData(word)
        var ref = root
        let chunks = { (offset: Int) -> Int32 in self.wordChunk(data, offset) }
        _ = try erase(&ref, 0, depth: 0, chunk: chunks) { (entry, _) throws(RealmError) in try self.remove(entry, key) }
        try lower(&ref)
        root = ref
    }

    /// The chunks on the path of a word. If the word is the beginning of another word, the chunk of the empty rest is
    /// left out.
    static func wordPath(_ word: Bytes?) -> [Int32] {
        guard let word else { return [0] }
        let data = IndexData(bytes: word)
        return stride(from: 0, to: data.count, by: 4).map { data.chunk($0) }
    }

    /// Like `forEachEntry`, with the chunks as `wordPath` returns them. `isFirst` is false for a key that occurs again
    /// in its list.
    func forEachWord(
        orElse damaged: (RealmError) throws(RealmError) -> Void,
        _ body: (_ key: ObjKey, _ path: [Int32], _ isFirst: Bool) throws(RealmError) -> Void
    ) throws(RealmError) {
        var before: (key: ObjKey, path: [Int32])?
        try forEachEntry(orElse: damaged) { (key, path, _) throws(RealmError) in
            let word = path.last == Self.emptyChunk ? Array(path.dropLast()) : path
            let isFirst = before.map { $0.key != key || $0.path != word } ?? true
            before = (key, word)
            try body(key, word, isFirst)
        }
    }

    // MARK: Reading

    /// Objects that are indexed under exactly this word.
    func findWord(_ word: Bytes) throws(RealmError) -> [ObjKey] {
        var keys: [ObjKey] = []
        var limit = WalkLimit(store, each: 16)
        try collect(root, word, 0, exact: true, depth: 0, &limit, &keys)
        return keys
    }

    /// Objects that are indexed under any word that starts with `prefix`; an object may occur several times.
    func findPrefix(_ prefix: Bytes) throws(RealmError) -> [ObjKey] {
        var keys: [ObjKey] = []
        var limit = WalkLimit(store, each: 16)
        try collect(root, prefix, 0, exact: false, depth: 0, &limit, &keys)
        return keys
    }

    private func collect(
        _ ref: Ref, _ word: Bytes, _ offset: Int, exact: Bool, depth: Int, _ limit: inout WalkLimit,
        _ out: inout [ObjKey]
    ) throws(RealmError) {
        try limit.enter(ref, store)
        try store.test()
        guard depth < 512 else { throw .corrupt("index too deep", at: ref.offset) }
        let node = try store.refsNode(ref)
        let chunks = try store.integers(Ref(Int(try node.slot(0).raw)))
        guard node.context, chunks.count < node.count else {
            throw .corrupt("index node with too few entries", at: ref.offset)
        }
        // The range of chunks that may match the rest of the word.
        var low = Int64(Int32.min), high = Int64(Int32.max)
        let rest = max(0, word.count - offset)
        if exact || rest >= 4 {
            low = Int64(wordChunk(IndexData(bytes: word), offset))
            high = low
        } else if rest > 0 {
            var from: UInt32 = 0, to: UInt32 = 0
            for i in 0..<4 {
                from = from << 8 | (i < rest ? UInt32(word[offset + i]) : 0)
                to = to << 8 | (i < rest ? UInt32(word[offset + i]) : 0xFF)
            }
            (low, high) = (Int64(Int32(bitPattern: from)), Int64(Int32(bitPattern: to)))
        }
        var i = chunks.lowerBound(low)
        while i < chunks.count {
            let chunk = chunks.get(i)
            if !node.isInner && chunk > high { return }
            let entry = try node.slot(i + 1)
            i += 1
            if node.isInner {
                try collect(entry.ref, word, offset, exact: exact, depth: depth + 1, &limit, &out)
                if chunk >= high { return }
                continue
            }
            if entry.isTagged {
                if !exact || offset + 4 >= word.count { try out.add(ObjKey(Int64(entry.integer))) }
            } else if try store.node(entry.ref).context {
                try collect(entry.ref, word, offset + 4, exact: exact, depth: depth + 1, &limit, &out)
            } else if !exact || offset + 4 >= word.count {
                try limit.enter(entry.ref, store)
                let list = BPlusTree(store, kind: .int, root: entry.ref)
                for j in 0..<(try list.count()) { if case .int(let raw) = try list.get(j) { try out.add(ObjKey(raw)) } }
            }
        }
    }
}
