/// The search indexes of a table: their roots, and the entries that are not inserted yet. Format: logical §9.
///
/// Only this type knows the roots and creates a `SearchIndex` for a table: it changes an index and keeps the new root
/// in the same call.
///
/// Invariants
/// 1. `columns` lists the columns that have an index, ascending. `defaulted` lists those of them in which a new object
///    is indexed under its default.
/// 2. While `newest` is not null, that object is missing in the indexes of `awaited`, and in no other index. Its values
///    in those columns are the defaults.
struct TableIndexes {
    /// The roots of the indexes, which can be compared with the roots that were written.
    struct Roots: Equatable {
        /// By column index; null where there is no index.
        fileprivate var refs: [Ref] = []
    }

    private let rows: ClusterTree
    private(set) var roots = Roots()
    private(set) var columns: [Int] = []
    private var defaulted: [Int] = []

    /// The object created last, while its defaults are not in all indexes. A value that is set right after creation is
    /// then inserted once, without inserting and removing the default first. `settle` is called before an index is used
    /// in any other way.
    private var newest = ObjKey.null
    private var awaited: [Int] = []

    /// The object lists that insertions used last.
    private let recent = RecentLists()

    init(rows: ClusterTree) { self.rows = rows }

    /// Whether the newest object is missing in some indexes.
    var isUnsettled: Bool { !newest.isNull }

    /// Lists that are remembered may not be changed in place any more.
    func closeNodes() { recent.forget() }

    // MARK: Roots

    /// Whether a column has an index.
    @inline(__always) func has(_ column: Int) -> Bool { column < roots.refs.count && !roots.refs[column].isNull }

    /// Reads the roots of a snapshot for the existing columns (`byIndex` ≥ 0).
    /// - Returns: the length of the array of roots, and whether the same columns as before have an index.
    mutating func read(_ ref: Ref, byIndex: [Int]) throws(RealmError) -> (length: Int, isSame: Bool) {
        (newest, awaited) = (.null, [])
        recent.forget()
        roots.refs = [Ref](repeating: .null, count: byIndex.count)
        var length = 0
        if !ref.isNull {
            let node = try Slots(rows.store, ref)
            length = node.count
            for i in 0..<min(node.count, byIndex.count) where byIndex[i] >= 0 { roots.refs[i] = try node.child(i) }
        }
        var known = columns.makeIterator()
        var isSame = true
        for i in roots.refs.indices where has(i) { isSame = isSame && known.next() == i }
        if isSame && known.next() == nil { return (length, true) }
        findColumns()
        return (length, false)
    }

    /// Writes the roots into their array, which becomes at least `length` long; returns its ref.
    func write(_ ref: Ref, length: Int) throws(RealmError) -> Ref {
        let store = rows.store
        var node = try Slots(store, ref)
        try node.makeWritable(store)
        while node.count < length { try node.append(RefOrTagged(.null), store) }
        for i in 0..<node.count { node.set(i, i < roots.refs.count ? roots.refs[i] : .null, store) }
        return node.ref
    }

    /// Makes room for the indexes of `count` columns.
    mutating func widen(to count: Int) {
        while roots.refs.count < count { roots.refs.append(.null) }
    }

    /// Updates `defaulted` after a change of the columns.
    mutating func columnsChanged(_ facts: [ColumnFacts?]) {
        // Excluded are full-text indexes ("" and null have no words), collections (an empty list has no elements) and
        // the primary key (it is inserted when the object is created).
        defaulted = columns.filter { i in
            facts[i].map { !$0.isFullTextIndexed && !$0.isCollection && !$0.isPrimaryKey } ?? false
        }
    }

    private mutating func findColumns() { columns = roots.refs.indices.filter(has) }

    @inline(__always) private func open(_ column: Int) -> SearchIndex {
        SearchIndex(rows.store, root: roots.refs[column], rows: rows, column: column)
    }

    /// Runs `body` on the index of a column and keeps the new root.
    @inline(__always)
    private mutating func change<R>(_ column: Int, _ body: (inout SearchIndex) throws(RealmError) -> R)
        throws(RealmError) -> R
    {
        recent.forget()
        return try add(column, body)
    }

    /// Like `change`, for a `body` that only inserts objects: remembered lists stay valid or are remembered again.
    @inline(__always)
    private mutating func add<R>(_ column: Int, _ body: (inout SearchIndex) throws(RealmError) -> R) throws(RealmError)
        -> R
    {
        var index = open(column)
        let result = try body(&index)
        if index.root != roots.refs[column] { roots.refs[column] = index.root }
        return result
    }

    // MARK: Looking up

    /// The index of a column for look-ups, with all entries inserted; nil if the column has no index.
    mutating func index(of column: Int) throws(RealmError) -> SearchIndex? {
        try settle()
        return has(column) ? open(column) : nil
    }

    /// The index of a primary key. It never has entries that are not inserted yet.
    @inline(__always) func primaryKeyIndex(_ column: Int) -> SearchIndex? { has(column) ? open(column) : nil }

    // MARK: New objects

    /// Returns the object with this primary key; if there is none, inserts `key` and returns nil.
    @inline(__always) mutating func findOrInsert(_ value: Mixed, _ key: ObjKey, primaryKey column: Int)
        throws(RealmError) -> ObjKey?
    {
        guard has(column) else { throw .corrupt("primary key without its index") }
        return try add(column) { (index) throws(RealmError) in try index.findOrInsert(value, key) }
    }

    /// An object was created: its defaults must be inserted. Earlier objects were settled.
    @inline(__always) mutating func created(_ object: ObjKey) {
        guard !defaulted.isEmpty else { return }
        newest = object
        for column in defaulted { awaited.append(column) }
    }

    /// Inserts the defaults of the newest object into the indexes of the columns that were not set since its creation.
    @inline(__always) mutating func settle() throws(RealmError) {
        if !newest.isNull { try enterDefaults() }
    }

    @inline(never) private mutating func enterDefaults() throws(RealmError) {
        let object = newest
        newest = .null
        for column in awaited {
            try enter(rows.columns[column]?.initial ?? .null, object, column)
        }
        awaited.removeAll(keepingCapacity: true)
    }

    /// Inserts the first value that is set in an indexed column of the newest object. Its default was not inserted, so
    /// no entry is removed. False if it is another object, or not the first value.
    @inline(__always) mutating func enterFirst(_ value: Mixed, _ object: ObjKey, _ column: Int) throws(RealmError)
        -> Bool
    {
        guard object == newest, let index = awaited.firstIndex(of: column) else { return false }
        awaited.swapAt(index, awaited.count &- 1)
        awaited.removeLast()
        if awaited.isEmpty { newest = .null }
        try enter(value, object, column)
        return true
    }

    @inline(__always) private mutating func enter(_ value: Mixed, _ object: ObjKey, _ column: Int) throws(RealmError) {
        if try recent.append(value, column, object, rows.store) {
            assert(
                !rows.store.isChecked() || open(column).isSound(near: value),
                "an addition to a known list broke the index")
            return
        }
        try add(column) { [recent] (index) throws(RealmError) in
            index.recent = recent
            try index.insert(value, object)
        }
    }

    // MARK: Changing

    /// Moves an object from its old value to its new value. The row still holds the old value.
    mutating func update(_ facts: ColumnFacts, _ key: ObjKey, from old: Mixed, to new: Mixed) throws(RealmError) {
        let column = facts.key.index
        if !newest.isNull {
            if try enterFirst(new, key, column) { return }
            if key != newest { try settle() }
        }
        if facts.isFullTextIndexed {
            var before = Swift.Set<[UInt8]>(), after = Swift.Set<[UInt8]>()
            if case .string(let text) = old { before = try FullTextTokenizer.tokens(text) }
            if case .string(let text) = new { after = try FullTextTokenizer.tokens(text) }
            for word in before where !after.contains(word) {
                try word.withBytes { (text) throws(RealmError) in try eraseWord(text, key, column) }
            }
            for word in after where !before.contains(word) {
                try word.withBytes { (text) throws(RealmError) in try insertWord(text, key, column) }
            }
            return
        }
        if Mixed.equal(old, new), old.isNull == new.isNull, facts.type != .mixed { return }
        try change(column) { (index) throws(RealmError) in
            try index.erase(old, key)
            try index.insert(new, key)
        }
    }

    /// Inserts a word of a text, or an element of a list of strings (nil: null).
    mutating func insertWord(_ word: Bytes?, _ key: ObjKey, _ column: Int) throws(RealmError) {
        try settle()
        try change(column) { (index) throws(RealmError) in try index.insertWord(word, key) }
    }

    mutating func eraseWord(_ word: Bytes?, _ key: ObjKey, _ column: Int) throws(RealmError) {
        try settle()
        try change(column) { (index) throws(RealmError) in try index.eraseWord(word, key) }
    }

    /// Removes an object that is about to be deleted from the index of a column.
    mutating func remove(_ key: ObjKey, _ facts: ColumnFacts) throws(RealmError) {
        try settle()
        let column = facts.key.index
        guard let value = try rows.get(key, column) else { return }
        if facts.isCollection || facts.isFullTextIndexed {
            try Self.forEachWord(of: value, rows.store) { (word) throws(RealmError) in try eraseWord(word, key, column)
            }
        } else {
            try change(column) { (index) throws(RealmError) in try index.erase(value, key) }
        }
    }

    /// Removes many objects. `keys` ascend.
    mutating func remove(_ keys: ArraySlice<ObjKey>, _ facts: ColumnFacts) throws(RealmError) {
        if facts.isCollection || facts.isFullTextIndexed {
            // In a hostile file many rows may share one long text: its words are computed once. A text in the file does
            // not change meanwhile.
            var before: (text: Bytes, words: Swift.Set<[UInt8]>)?
            for key in keys {
                guard facts.isFullTextIndexed, case .string(let text)? = try rows.get(key, facts.key.index),
                    text.count > 1 << 12,
                    rows.store.isFile(text)
                else {
                    try remove(key, facts)
                    continue
                }
                if before?.text.baseAddress != text.baseAddress || before?.text.count != text.count {
                    before = (text, try FullTextTokenizer.tokens(text))
                }
                for word in before?.words ?? [] {
                    try word.withBytes { (b) throws(RealmError) in try eraseWord(b, key, facts.key.index) }
                }
            }
            return
        }
        try settle()
        let column = facts.key.index
        var leaving = SearchIndex.Leaving()
        try leaving.reserve(keys.count)
        for key in keys { if let value = try rows.get(key, column) { leaving.append(value, key) } }
        try change(column) { (index) throws(RealmError) in try index.erase(leaving) }
    }

    // MARK: Making and dropping

    /// Builds an index over the existing rows; with `isFullText`, of the words of texts.
    mutating func build(_ column: Int, isFullText: Bool) throws(RealmError) {
        let store = rows.store
        var index = SearchIndex(store, root: try SearchIndex.create(store), rows: rows, column: column)
        for key in try rows.allKeys() {
            guard let value = try rows.get(key, column) else { continue }
            var hasWords = isFullText
            if case .slot = value { hasWords = true }
            if hasWords {
                try Self.forEachWord(of: value, store) { (word) throws(RealmError) in try index.insertWord(word, key) }
            } else {
                try index.insert(value, key)
            }
        }
        recent.forget()
        roots.refs[column] = index.root
        findColumns()
    }

    /// Destroys the index of a column, if it has one.
    mutating func drop(_ column: Int) throws(RealmError) {
        try settle()
        guard column < roots.refs.count else { return }
        recent.forget()
        try rows.store.destroy(roots.refs[column])
        roots.refs[column] = .null
        findColumns()
    }

    /// Calls `body` for the words of a text, or the elements of a list of strings.
    static func forEachWord(of value: Mixed, _ store: NodeStore, _ body: (Bytes?) throws(RealmError) -> Void)
        throws(RealmError)
    {
        switch value {
        case .string(let text):
            for word in try FullTextTokenizer.tokens(text) {
                try word.withBytes { (b) throws(RealmError) in try body(b) }
            }
        case .slot(let slot):
            guard let root = slot.subtree else { return }
            let tree = BPlusTree(store, kind: .string, root: root)
            for i in 0..<(try tree.count()) {
                if case .string(let text) = try tree.get(i) { try body(text) } else { try body(nil) }
            }
        default: return
        }
    }
}
