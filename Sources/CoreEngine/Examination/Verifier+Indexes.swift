/// Compares search indexes with the indexed values.
extension Verifier {
    func checkIndex(_ walk: TableWalk, _ column: Int) throws(RealmError) {
        let table = walk.table
        guard let facts = table.facts[column], let definition = table.column(facts.key) else { return }
        let here = place(table, definition)
        guard let index = try reading(here, { () throws(RealmError) in try table.index(of: column) }), let index else {
            return
        }
        try checkIndexForm(index.root, here)
        if facts.isCollection || facts.isFullTextIndexed { return try checkWords(walk, definition, index) }
        let data = { (key: ObjKey) throws(RealmError) -> IndexData? in
            if self.unread.contains(ValuePlace(table: table.key, column: facts.key, object: key)) { return nil }
            let value = try self.reading(self.place(table, definition, key)) { () throws(RealmError) in
                try table.rows.get(key, column)
            }
            guard case .some(.some(let element)) = value else { return nil }
            return IndexData(element)
        }
        var seen: Swift.Set<ObjKey> = []
        var isWhole = true
        let damaged = { (error: RealmError) throws(RealmError) -> Void in
            isWhole = false
            _ = try self.reading(here) { () throws(RealmError) in throw error }
        }
        // Every entry must be under the chunks of the value of its object, and every object must have one entry.
        try index.forEachEntry(orElse: damaged) { (key, path, head) throws(RealmError) in
            try self.advance(0)
            let spot = self.place(table, definition, key)
            guard walk.contains(key) else {
                if !walk.isIncomplete { self.report(.index, "the index names an object that does not exist", spot) }
                return
            }
            if !seen.insert(key).inserted { self.report(.index, "the object stands more than once in the index", spot) }
            guard let own = try data(key) else { return }
            if path.enumerated().contains(where: { own.chunk($0.offset * 4) != $0.element }) {
                self.report(.index, "the object stands in the index under another value", spot)
            } else if let head, head != key, path.count * 4 <= SearchIndex.maxOffset, let other = try data(head),
                !own.equals(other)
            {
                // Above the deepest level, all objects of an entry have the same value.
                self.report(.index, "the object stands in the index among those of another value", spot)
            }
        }
        guard isWhole else { return }
        for key in walk.keys where !seen.contains(key) {
            report(.index, "the object is missing in the index", place(table, definition, key))
        }
    }

    /// Checks indexes of words: full-text indexes, and indexes of lists of strings. An entry is an object under the
    /// chunks of one of its words.
    ///
    /// To save memory, entries and words are first summed as hash values per object. Only if the sums differ, entries
    /// and words are compared one by one. In indexes of lists, realm-core leaves duplicate entries and entries of
    /// removed words or objects; these are not faults.
    private func checkWords(_ walk: TableWalk, _ column: Column, _ index: SearchIndex) throws(RealmError) {
        let table = walk.table, here = place(table, column), isList = column.isCollection
        textBytes = 0
        var differences: [ObjKey: Int] = [:]
        var isWhole = true
        let damaged = { (error: RealmError) throws(RealmError) -> Void in
            isWhole = false
            _ = try self.reading(here) { () throws(RealmError) in throw error }
        }
        try index.forEachWord(orElse: damaged) { (key, path, isFirst) throws(RealmError) in
            if !isFirst && !isList {
                self.report(.index, "the object stands more than once in the index", self.place(table, column, key))
            }
            if isFirst { differences[key, default: 0] &+= path.hashValue }
        }
        for key in walk.keys {
            guard let words = try words(of: key, walk, column) else {
                differences[key] = nil
                continue
            }
            let sum = words.reduce(differences[key] ?? 0) { $0 &- $1.hashValue }
            differences[key] = sum == 0 ? nil : sum
        }
        guard !differences.isEmpty else { return }
        var entered: [ObjKey: Swift.Set<[Int32]>] = [:]
        try index.forEachWord(orElse: { _ in }) { (key, path, _) throws(RealmError) in
            if differences[key] != nil { entered[key, default: []].insert(path) }
        }
        for key in differences.keys.sorted() {
            let spot = place(table, column, key)
            guard walk.contains(key) else {
                if !walk.isIncomplete && !isList {
                    report(.index, "the index names an object that does not exist", spot)
                }
                continue
            }
            guard let words = try words(of: key, walk, column) else { continue }
            let found = entered[key] ?? []
            if isWhole, !words.isSubset(of: found) {
                report(.index, "a word of the object is missing in the index", spot)
            }
            if !isList, !found.isSubset(of: words) {
                report(.index, "the object stands in the index under a word that it does not have", spot)
            }
        }
    }

    /// Counts the bytes of texts that are split into words. They are at most twice the bytes of the file, unless texts
    /// share bytes.
    private func countWords(of text: Bytes) throws(RealmError) {
        try store.test()
        textBytes += text.count
        guard textBytes > NodeStore.unmeasured, textBytes > 2 * (textRoom ?? 0) else { return }
        let room = store.measuredExtent
        textRoom = room
        guard textBytes <= 2 * room else { throw .corrupt("texts that share their bytes") }
    }

    /// The chunks of all words of an object; nil if its value could not be read.
    private func words(of key: ObjKey, _ walk: TableWalk, _ column: Column) throws(RealmError) -> Swift.Set<[Int32]>? {
        let table = walk.table
        if unread.contains(ValuePlace(table: table.key, column: column.key, object: key)) { return nil }
        return try reading(place(table, column, key)) { () throws(RealmError) in
            var words: Swift.Set<[Int32]> = []
            guard let value = try table.rows.get(key, column.key.index) else { return words }
            if case .string(let text) = value { try countWords(of: text) }
            try TableIndexes.forEachWord(of: value, store) { (word) throws(RealmError) in
                words.insert(SearchIndex.wordPath(word))
            }
            return words
        }
    }
}
