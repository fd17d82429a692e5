/// The rows of a table: a tree of clusters with up to 256 objects each. A cluster is a leaf node with one column leaf
/// per column. Keys are relative to the offset of their node; an ObjKey is the sum of the key and the offsets on the
/// path. Format: logical §5.
///
/// Invariants
/// 1. All column leaves of a cluster have as many elements as the cluster has keys.
/// 2. Keys ascend strictly; the offset of a first child is 0.
/// 3. `cursor` describes a leaf of the current tree, or is invalid: every structural change invalidates or replaces it.
final class ClusterTree {
    /// Describes the content of one column slot in every leaf.
    struct Column {
        var kind: LeafKind

        /// The value for new rows.
        var initial: Mixed

        /// Whether elements are refs of collections or backlink lists, which the row owns.
        var ownsTrees: Bool

        /// The leaf of distinct values, if the column is an enumerated string column.
        var enumeratedValues: Ref = .null
    }

    let store: NodeStore
    private(set) var root: Ref

    /// By column index; nil for unused indexes.
    private(set) var columns: [Column?]
    var cursor = ClusterCursor()

    /// A second cursor, for reading the values that a search index compares (`peek`): this must not move the first one.
    private var probe = ClusterCursor()

    /// A row of the cursor's leaf: valid until the cursor moves, or rows are inserted or erased. Debug builds assert
    /// that.
    struct Row {
        let index: Int
        #if DEBUG
            fileprivate let generation: UInt64
        #endif
    }

    @inline(__always) private func token(_ index: Int) -> Row {
        #if DEBUG
            Row(index: index, generation: generation)
        #else
            Row(index: index)
        #endif
    }

    @inline(__always) private func isCurrent(_ row: Row) -> Bool {
        #if DEBUG
            cursor.isValid && row.generation == generation
        #else
            true
        #endif
    }

    /// Opened column leaves of the cursor's leaf, by column index. An entry is valid while its `generation` equals that
    /// of the tree.
    private var opened: UnsafeMutablePointer<OpenedColumn>
    private var openedCount = 0
    private var openedCapacity = 1
    private var generation: UInt64 = 1

    /// The source of new generations. A value is never reused, although `peek` sets `generation` back.
    private var newestGeneration: UInt64 = 1

    /// Whether the leaves of the column hold indexes into a separate leaf of distinct values.
    func isEnumerated(_ column: ColKey) -> Bool {
        guard column.index < columns.count, let definition = columns[column.index] else { return false }
        return !definition.enumeratedValues.isNull
    }

    init(_ store: NodeStore, root: Ref, columns: [Column?]) {
        self.store = store
        self.root = root
        self.columns = columns
        opened = .allocate(capacity: 1)
        prepareOpened()
    }

    deinit { opened.deallocate() }

    /// The address of `noNode`. Nothing reads the bytes there, because that node has no elements.
    nonisolated(unsafe) private static let noAddress = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)

    /// A node without elements, for a cursor that is not at a leaf yet.
    static var noNode: Node { Node(address: noAddress, ref: .null, count: 0, width: 0, flags: 0) }

    private func prepareOpened() {
        if openedCapacity < columns.count {
            opened.deallocate()
            openedCapacity = columns.count + 4
            opened = .allocate(capacity: openedCapacity)
        }
        openedCount = columns.count
        for i in 0..<openedCount { (opened + i).initialize(to: OpenedColumn(initial: columns[i]?.initial ?? .null)) }
    }

    /// Closes all opened column leaves: the cursor moved, or rows were inserted or erased.
    @inline(__always) func forgetOpened() {
        newestGeneration &+= 1
        generation = newestGeneration
    }

    /// An empty tree, with an empty leaf for each column.
    static func create(_ store: NodeStore, columns: [Column?]) throws(RealmError) -> Ref {
        var slots = [RefOrTagged(tagged: 0)]
        for column in columns {
            slots.append(
                RefOrTagged(try column.map { column throws(RealmError) in try column.kind.create(store) } ?? .null))
        }
        return try store.makeRefs(slots).ref
    }

    func setColumns(_ columns: [Column?]) {
        self.columns = columns
        prepareOpened()
        invalidateCursors()
    }

    /// Sets one column, which may be behind the last one.
    func setColumn(_ index: Int, _ column: Column?) {
        while columns.count <= index { columns.append(nil) }
        columns[index] = column
        if openedCapacity < columns.count {
            openedCapacity = 2 * columns.count
            opened.deallocate()
            opened = .allocate(capacity: openedCapacity)
            openedCount = 0
        }
        // Where the memory moved, all of it is prepared again.
        for i in min(openedCount, index)..<columns.count {
            (opened + i).initialize(to: OpenedColumn(initial: columns[i]?.initial ?? .null))
        }
        openedCount = columns.count
        invalidateCursors()
    }

    func setRoot(_ root: Ref) {
        self.root = root
        invalidateCursors()
    }

    /// Called when nodes that could be changed in place may have become immutable.
    func closeNodes() { invalidateCursors() }

    func setRootKeepingCursor(_ root: Ref) { self.root = root }

    func invalidateCursors() {
        forgetOpened()
        cursor.isValid = false
        probe.isValid = false
    }

    // MARK: Counting

    /// Number of objects.
    func count() throws(RealmError) -> Int { try subtreeCount(root) }

    /// Number of objects below a node.
    func subtreeCount(_ ref: Ref) throws(RealmError) -> Int {
        let node = try store.refsNode(ref)
        if !node.isInner { return try ClusterLeaf(store, node).count }
        let count = try node.slot(2)
        // A cluster of up to 256 rows takes at least eight bytes of the file.
        guard count.isTagged, store.admits(count.integer, perByte: 32) else {
            throw .corrupt("impossible number of objects", at: ref.offset)
        }
        return Int(count.integer)
    }

    /// Minimum size of a leaf in bytes: a header and a word, and a header for each column leaf.
    var leastLeafSize: Int { 16 + 8 * columns.reduce(0) { $1 == nil ? $0 : $0 + 1 } }

    // MARK: Finding

    @inline(never) private func descend(to key: UInt64, writable: Bool) throws(RealmError) {
        forgetOpened()
        if writable { probe.isValid = false }
        try cursor.descend(store, &root, to: key, writable: writable)
    }

    @inline(never) private func descend(toIndex index: Int) throws(RealmError) {
        forgetOpened()
        try cursor.descend(store, root, toIndex: index) { (ref) throws(RealmError) in try subtreeCount(ref) }
    }

    /// Moves the cursor to the leaf of `key` and returns the row; nil if the object does not exist.
    @inline(__always) func locate(_ key: ObjKey) throws(RealmError) -> Row? { try find(key).map { token($0) } }

    @inline(__always) private func find(_ key: ObjKey) throws(RealmError) -> Int? {
        let raw = UInt64(bitPattern: key.raw)
        if !cursor.holds(raw) { try descend(to: raw, writable: false) }
        return rowInCursor(raw)
    }

    /// Like `locate`, and makes the path writable (in the slab). For a missing key nothing is copied.
    @inline(__always) func locateForWriting(_ key: ObjKey) throws(RealmError) -> Row? {
        guard let row = try find(key) else { return nil }
        if !cursor.isWritable { try descend(to: UInt64(bitPattern: key.raw), writable: true) }
        return token(row)
    }

    func contains(_ key: ObjKey) throws(RealmError) -> Bool { try find(key) != nil }

    /// Number of objects whose keys are below `key`.
    func rank(of key: ObjKey) throws(RealmError) -> Int {
        var relative = UInt64(bitPattern: key.raw), before = 0
        var node = try store.refsNode(root)
        for _ in 0..<Trees.maxDepth {
            guard node.isInner else { return before + (try ClusterLeaf(store, node)).position(relative) }
            let inner = try ClusterInner(store, node)
            let childIndex = try inner.find(relative)
            before += try inner.objects(before: childIndex) { (ref) throws(RealmError) in try subtreeCount(ref) }
            relative &-= inner.offset(childIndex)
            node = try store.refsNode(try inner.child(childIndex))
        }
        throw .corrupt("cluster tree too deep", at: root.offset)
    }

    /// Key of the object at `index` of the table (`0 ≤ index < count`).
    @inline(__always) func key(at index: Int) throws(RealmError) -> ObjKey {
        if !cursor.holds(index: index) { try descend(toIndex: index) }
        return keyInCursor(index &- cursor.firstIndex)
    }

    /// Key of the object at `index`, if the cursor's leaf holds it; otherwise nil.
    @inline(__always) func keyNear(_ index: Int) -> ObjKey? {
        cursor.holds(index: index) ? keyInCursor(index &- cursor.firstIndex) : nil
    }

    @inline(__always) private func rowInCursor(_ key: UInt64) -> Int? { cursor.leaf.row(key &- cursor.offset) }

    @inline(__always) private func keyInCursor(_ row: Int) -> ObjKey {
        ObjKey(Int64(bitPattern: cursor.leaf.key(row) &+ cursor.offset))
    }

    /// Calls `body` for each key in order until it returns false. The tree must not change meanwhile.
    func forEachKey(_ body: (ObjKey) throws(RealmError) -> Bool) throws(RealmError) {
        let total = try count()
        var i = 0
        while i < total {
            if try !body(try key(at: i)) { return }
            i += 1
        }
    }

    func allKeys() throws(RealmError) -> [ObjKey] {
        let total = try count()
        var all: [ObjKey] = []
        while all.count < total {
            // Leaf by leaf: reading its first key moves the cursor to the next leaf.
            all.append(try key(at: all.count))
            let leaf = cursor.leaf, offset = cursor.offset
            let next = all.count &- cursor.firstIndex
            guard next < leaf.count else { continue }
            try all.makeRoom(for: leaf.count)
            for row in next..<min(leaf.count, next &+ total &- all.count) {
                all.append(ObjKey(Int64(bitPattern: leaf.key(row) &+ offset)))
            }
        }
        return all
    }

    // MARK: Values

    /// Value of column `column` in the object `key`; nil if the object does not exist.
    @inline(__always) func get(_ key: ObjKey, _ column: Int) throws(RealmError) -> Mixed? {
        guard let row = try find(key) else { return nil }
        return try value(row, column)
    }

    /// Value of a row in the cursor's leaf.
    @inline(__always) func get(row: Row, _ column: Int) throws(RealmError) -> Mixed {
        assert(isCurrent(row), "a row after the cursor moved on")
        return try value(row.index, column)
    }

    @inline(__always) private func value(_ row: Int, _ column: Int) throws(RealmError) -> Mixed {
        if let value = try openValue(row, column) { return value }
        return try getOpening(row, column)
    }

    /// The value, if the column leaf is open and the value is not damaged; nil means "take the slow path".
    @inline(__always) private func openValue(_ row: Int, _ column: Int) throws(RealmError) -> Mixed? {
        guard column < openedCount, opened[column].generation == generation else { return nil }
        return try OpenedColumn.anyValue(opened + column, row)
    }

    /// Reads the value of a row, and opens the column leaf for the next reads.
    @inline(never) private func getOpening(_ row: Int, _ column: Int) throws(RealmError) -> Mixed {
        if column < columns.count, try open(column), let value = try openValue(row, column) { return value }
        return try getClosed(row, column)
    }

    /// Opens the column leaf in the cursor's leaf; false if a leaf of this form cannot be kept open.
    @inline(never) private func open(_ column: Int) throws(RealmError) -> Bool {
        let entry = opened + column
        entry.pointee.generation = 0
        guard let definition = columns[column], definition.enumeratedValues.isNull,
            try entry.pointee.open(definition.kind, try cursor.leaf.column(column), store)
        else {
            return false
        }
        entry.pointee.generation = generation
        return true
    }

    /// Whether the opened column matches the column leaf in the cursor's leaf; for checks of the invariants.
    func isOpenedRight(_ column: Int) throws(RealmError) -> Bool {
        guard opened[column].generation == generation, let definition = columns[column] else { return true }
        var anew = OpenedColumn(initial: definition.initial)
        return try anew.open(definition.kind, try cursor.leaf.column(column), store) && anew.isSame(as: opened[column])
    }

    private func getClosed(_ row: Int, _ column: Int) throws(RealmError) -> Mixed {
        guard column < columns.count, let definition = columns[column] else {
            throw .corrupt("no such column", at: cursor.leaf.ref.offset)
        }
        let leaf = try cursor.leaf.column(column)
        if definition.kind == .string && !definition.enumeratedValues.isNull {
            return try getEnumerated(leaf, row, definition.enumeratedValues)
        }
        return try definition.kind.get(store, leaf, row)
    }

    /// The text in a row of `leaf`, which belongs to an enumerated column.
    func enumeratedValue(_ column: ColKey, _ leaf: Ref, _ row: Int) throws(RealmError) -> Mixed {
        guard column.index < columns.count, let definition = columns[column.index] else {
            throw .corrupt("no such column", at: leaf.offset)
        }
        return try getEnumerated(leaf, row, definition.enumeratedValues)
    }

    private func getEnumerated(_ leaf: Ref, _ row: Int, _ values: Ref) throws(RealmError) -> Mixed {
        let node = try store.node(leaf)
        guard !node.hasRefs && node.widthType == 0 else { return try LeafKind.string.get(store, leaf, row) }
        guard row < node.count else { throw .corrupt("leaf is too short", at: leaf.offset) }
        let index = node.get(row)
        guard index >= 0, index < 1 << 24 else {
            throw .corrupt("index of an enumerated string out of range", at: leaf.offset)
        }
        guard let text = try StringLeaf.get(store, values, Int(index)) else { return .null }
        return .string(text)
    }

    /// Fast path of most reads: the value, if the cursor is at the object's leaf and the column leaf is open. nil means
    /// "use `get`".
    @inline(__always) func openedValue(_ key: ObjKey, _ column: Int) -> Mixed? {
        let raw = UInt64(bitPattern: key.raw)
        guard cursor.holds(raw), column < openedCount, opened[column].generation == generation,
            let row = rowInCursor(raw)
        else { return nil }
        return OpenedColumn.value(opened + column, row)
    }

    /// Like `openedValue`, for one type: integers, floating-point numbers, texts. nil means "use `get`".
    @inline(__always) func openedInteger(_ key: ObjKey, _ column: Int) -> Int64? {
        openedRow(key, column).flatMap { OpenedColumn.integer(opened + column, $0) }
    }

    @inline(__always) func openedDouble(_ key: ObjKey, _ column: Int) -> Double? {
        openedRow(key, column).flatMap { OpenedColumn.double(opened + column, $0) }
    }

    @inline(__always) func openedText(_ key: ObjKey, _ column: Int) -> Bytes? {
        openedRow(key, column).flatMap { OpenedColumn.text(opened + column, $0) }
    }

    @inline(__always) private func openedRow(_ key: ObjKey, _ column: Int) -> Int? {
        let raw = UInt64(bitPattern: key.raw)
        guard cursor.holds(raw), column < openedCount, opened[column].generation == generation else { return nil }
        return rowInCursor(raw)
    }

    /// Like `get`, but does not move the cursor.
    func peek(_ key: ObjKey, _ column: Int) throws(RealmError) -> Mixed? {
        if cursor.holds(UInt64(bitPattern: key.raw)) { return try get(key, column) }
        // The column leaves that are open for the cursor stay valid: this path does not use them.
        let kept = generation
        swap(&cursor, &probe)
        defer {
            swap(&cursor, &probe)
            generation = kept
        }
        guard let row = try find(key) else { return nil }
        return try getClosed(row, column)
    }

    /// Stores a value; false if the object does not exist.
    @inline(__always) func set(_ key: ObjKey, _ column: Int, _ value: Mixed) throws(RealmError) -> Bool {
        guard let row = try locateForWriting(key) else { return false }
        try set(row: row, column, value)
        return true
    }

    /// Stores a value in the cursor's leaf, which is writable.
    @inline(__always) func set(row: Row, _ column: Int, _ value: Mixed) throws(RealmError) {
        assert(isCurrent(row) && cursor.isWritable, "a row after the cursor moved on")
        let row = row.index
        let isOpen = column < openedCount && opened[column].generation == generation
        if isOpen {
            if OpenedColumn.set(opened + column, store, row, value) { return }
            opened[column].generation = 0
        }
        guard column < columns.count, let definition = columns[column] else {
            throw .corrupt("no such column", at: cursor.leaf.ref.offset)
        }
        let leaf = try cursor.leaf.column(column)
        let new = try definition.kind.set(store, leaf, row, value)
        if new != leaf { cursor.leaf.setColumn(store, column, new) }
        // The last row was set, so rows are probably being appended: open the leaf for the next row.
        if isOpen, row == cursor.count &- 1 { _ = try open(column) }
    }

    /// Appends the initial values of a new row to every column leaf of the cursor's leaf, which is writable. The column
    /// leaves are opened, so that setting values of this row and appending the next rows find them open.
    func appendToColumns(_ row: Int, _ initial: (column: Int, value: Mixed)?) throws(RealmError) {
        let count = columns.count
        try cursor.leaf.checkHolds(columns: count)
        store.isTouched = true
        for index in 0..<count {
            let entry = opened + index
            if let initial, initial.column == index {
                if entry.pointee.generation == generation, OpenedColumn.append(entry, store, row, initial.value) {
                    continue
                }
                try appendOpening(row, index, initial.value)
            } else {
                if entry.pointee.generation == generation, OpenedColumn.append(entry, store, row, entry.pointee.initial)
                {
                    continue
                }
                try appendOpening(row, index, nil)
            }
        }
    }

    @inline(never) private func appendOpening(_ row: Int, _ column: Int, _ value: Mixed?) throws(RealmError) {
        guard let definition = columns[column] else { return }
        opened[column].generation = 0
        let leaf = try cursor.leaf.column(column)
        let new = try definition.kind.insert(store, leaf, row, value ?? definition.initial)
        if new != leaf { cursor.leaf.setColumn(store, column, new) }
        _ = try open(column)
    }

    /// Gives a stable key to the collection that was just stored in a Mixed property.
    func assignKey(_ key: ObjKey, _ column: Int) throws(RealmError) {
        guard let row = try locateForWriting(key) else { return }
        forgetOpened()
        let leaf = try cursor.leaf.column(column)
        var stable = Int64(Int16(truncatingIfNeeded: StableKeys.next()))
        while true {
            if stable != 0, try MixedLeaf.index(store, leaf, ofKey: stable) == nil { break }
            stable = Int64(Int16(truncatingIfNeeded: stable + 1))
        }
        let new = try MixedLeaf.setKey(store, leaf, row.index, stable)
        if new != leaf { cursor.leaf.setColumn(store, column, new) }
    }
}
