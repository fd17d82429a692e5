/// The search indexes of a table: where each of them begins, and what waits to be entered. Format: logical §9.
///
/// Nobody else knows a root or makes a `SearchIndex` for a table: an index is changed in here, and its new root is kept
/// in the same call.
///
/// Invariants
/// 1. `columns` names the columns that have an index, ascending; `defaulted` those of them where a new object stands
///    under its default.
/// 2. While `newest` is not null, that object is missing in the indexes of `awaited`, whose values in its row are the
///    defaults, and in no other.
struct TableIndexes {
    /// Where the indexes begin, to be compared with where they began.
    struct Roots: Equatable {
        /// By column index; null where there is no index.
        fileprivate var refs: [Ref] = []
    }

    private let rows: ClusterTree
    private(set) var roots = Roots()
    private(set) var columns: [Int] = []
    private var defaulted: [Int] = []

    /// The object created last, while its defaults are not in all indexes: a value set right after creation is then
    /// entered once, instead of entered, removed and entered. `settle` comes before anything else looks at an index.
    private var newest = ObjKey.null
    private var awaited: [Int] = []

    /// Lists of objects that entering objects met.
    private let recent = RecentLists()

    init(rows: ClusterTree) { self.rows = rows }

    // MARK: Roots

    /// Whether a column has an index.
    @inline(__always) func has(_ column: Int) -> Bool { column < roots.refs.count && !roots.refs[column].isNull }

    /// Takes over the roots of a snapshot for the columns that there are (`byIndex` ≥ 0).
    /// - Returns: how long their array is, and whether the columns with an index are those that had one.
    mutating func read(_ ref: Ref, byIndex: [Int]) throws(RealmError) -> (length: Int, isSame: Bool) {
        (newest, awaited) = (.null, [])
        recent.forget()
        roots.refs = [Ref](repeating: .null, count: byIndex.count)
        var length = 0
        if !ref.isNull {
            let node = try rows.store.refsNode(ref)
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

    /// Writes the roots into their array, which is to be `length` long at least; returns its ref.
    func write(_ ref: Ref, length: Int) throws(RealmError) -> Ref {
        let store = rows.store
        var node = try store.writableRefs(try store.refsNode(ref))
        while node.count < length { try store.insertSlot(&node, node.count, RefOrTagged(.null)) }
        for i in 0..<node.count { store.setSlot(node, i, i < roots.refs.count ? roots.refs[i] : .null) }
        return node.ref
    }

    /// Makes room for the indexes of `count` columns.
    mutating func widen(to count: Int) {
        while roots.refs.count < count { roots.refs.append(.null) }
    }

    /// What is known of the columns changed.
    mutating func columnsChanged(_ facts: [ColumnFacts?]) {
        // "" and null have no words, an empty list has no elements, and a primary key is entered when its object is
        // made.
        defaulted = columns.filter { i in
            facts[i].map { !$0.isFullTextIndexed && !$0.isCollection && !$0.isPrimaryKey } ?? false
        }
    }

    private mutating func findColumns() { columns = roots.refs.indices.filter(has) }

    @inline(__always) private func open(_ column: Int) -> SearchIndex {
        SearchIndex(rows.store, root: roots.refs[column], rows: rows, column: column)
    }

    /// Runs `body` on the index of a column and keeps where it begins then.
    @inline(__always)
    private mutating func change<R>(_ column: Int, _ body: (inout SearchIndex) throws(RealmError) -> R)
        throws(RealmError) -> R
    {
        recent.forget()
        return try add(column, body)
    }

    /// The same for a `body` that only enters objects: lists stay where they are known to be, or are noted anew.
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

    /// The index of a column for looking values up, with nothing missing in it; nil when there is none.
    mutating func index(of column: Int) throws(RealmError) -> SearchIndex? {
        try settle()
        return has(column) ? open(column) : nil
    }

    /// The same for a primary key: nothing ever waits to be entered there.
    @inline(__always) func primaryKeyIndex(_ column: Int) -> SearchIndex? { has(column) ? open(column) : nil }

    // MARK: New objects

    /// The object with this primary key, or nil: then `key` stands in the index now.
    @inline(__always) mutating func findOrInsert(_ value: Mixed, _ key: ObjKey, primaryKey column: Int)
        throws(RealmError) -> ObjKey?
    {
        guard has(column) else { throw .corrupt("primary key without its index") }
        return try add(column) { (index) throws(RealmError) in try index.findOrInsert(value, key) }
    }

    /// An object was made: its defaults are to be entered. What waited before has been settled.
    @inline(__always) mutating func created(_ object: ObjKey) {
        guard !defaulted.isEmpty else { return }
        newest = object
        for column in defaulted { awaited.append(column) }
    }

    /// Enters the defaults of the newest object into the indexes of the columns that were not set since.
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

    /// The newest object gets its first value in an indexed column: its default never went in, so there is nothing to
    /// take out. False when it is another object, or not the first value.
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

    /// Moves an object from under its old value to under the new one. The old value still stands in the row.
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

    /// Enters a word of a text, or an element of a list of strings (nil: null).
    mutating func insertWord(_ word: Bytes?, _ key: ObjKey, _ column: Int) throws(RealmError) {
        try settle()
        try change(column) { (index) throws(RealmError) in try index.insertWord(word, key) }
    }

    mutating func eraseWord(_ word: Bytes?, _ key: ObjKey, _ column: Int) throws(RealmError) {
        try settle()
        try change(column) { (index) throws(RealmError) in try index.eraseWord(word, key) }
    }

    /// Takes an object that is about to go out of the index of a column.
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

    /// The same for many objects. `keys` ascend.
    mutating func remove(_ keys: ArraySlice<ObjKey>, _ facts: ColumnFacts) throws(RealmError) {
        if facts.isCollection || facts.isFullTextIndexed {
            // A hostile file has one long text in many rows: its words are looked for once. Text in the file stays as
            // it is meanwhile.
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

    /// Builds an index over the present rows. `isFullText`: of the words of texts.
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
