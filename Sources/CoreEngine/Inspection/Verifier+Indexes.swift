/// Search indexes beside the values they are made of.
extension Verifier {
    func checkIndex(_ walk: TableWalk, _ column: Int) throws(RealmError) {
        let t = walk.table
        guard let f = t.facts[column], let c = t.column(f.key), !f.isCollection, !f.isFullTextIndexed else { return }
        let here = place(t, c)
        guard let index = try reading(here, { () throws(RealmError) in try t.index(of: column) }), let index else { return }
        let data = { (key: ObjKey) throws(RealmError) -> IndexData? in
            if self.unread.contains(ValuePlace(table: t.key, column: f.key, object: key)) { return nil }
            let value = try self.reading(self.place(t, c, key)) { () throws(RealmError) in try t.rows.get(key, column) }
            guard case .some(.some(let v)) = value else { return nil }
            return IndexData(v)
        }
        var seen: Swift.Set<ObjKey> = []
        var isWhole = true
        let damaged = { (error: RealmError) throws(RealmError) -> Void in
            isWhole = false
            _ = try self.reading(here) { () throws(RealmError) in throw error }
        }
        // Every entry stands under the chunks of its object's value; every object has one entry.
        try index.forEachEntry(orElse: damaged) { (key, path, head) throws(RealmError) in
            let spot = self.place(t, c, key)
            guard walk.contains(key) else {
                if !walk.isIncomplete { self.report(.index, "the index names an object that does not exist", spot) }
                return
            }
            if !seen.insert(key).inserted { self.report(.index, "the object stands more than once in the index", spot) }
            guard let own = try data(key) else { return }
            if path.enumerated().contains(where: { own.chunk($0.offset * 4) != $0.element }) {
                self.report(.index, "the object stands in the index under another value", spot)
            } else if let head, head != key, path.count * 4 <= SearchIndex.maxOffset, let other = try data(head), !own.equals(other) {
                // Above the deepest level a list holds one value.
                self.report(.index, "the object stands in the index among those of another value", spot)
            }
        }
        guard isWhole else { return }
        for key in walk.keys where !seen.contains(key) { report(.index, "the object is missing in the index", place(t, c, key)) }
    }
}
