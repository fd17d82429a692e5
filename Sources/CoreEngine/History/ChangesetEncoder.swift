/// Collects the instructions of one transaction. Format: storage §6.4.
///
/// Like realm-core, the encoder omits redundant instructions: the selected table and collection are named once, and
/// changes of the object that this transaction created last in a table are not logged.
final class ChangesetEncoder: MutationLog {
    private var memory: HiddenMemory
    private var buffer: UnsafeMutableRawPointer
    private var capacity: Int

    /// Why the log is incomplete.
    private var shortage: RealmError?
    private var count = 0
    private var selectedTable: TableKey?
    private var selectedCollection: CollectionPlace? { didSet { plainColumn = .null } }

    /// A copy of the selected collection, if it is the one of a property (not nested) and was selected by an insertion;
    /// otherwise the column is null.
    private var plainTable = TableKey.null
    private var plainObject = ObjKey.null
    private var plainColumn = ColKey.null

    /// The encoded last "set" instruction, up to its object. Valid while its table is selected.
    private var setTable = TableKey.null
    private var setColumn = ColKey.null
    private var setBytes: (UInt64, UInt64) = (0, 0)
    private var setLength = 0

    /// The object created last in each table, by table index; −1 if there is none. Changes of this object are not
    /// logged.
    private var newest: [Int64] = []

    /// A value that was set to the old one plus `delta`. The changeset has a `set` instruction for it, too.
    struct Addition {
        let table: TableKey
        let object: ObjKey
        let column: ColKey
        let delta: Int64
    }

    /// The additions so far; empty while `notesAdditions` is false.
    private(set) var additions: [Addition] = []
    var notesAdditions = false

    /// - Parameter memory: the first buffer; more memory is allocated as needed.
    init(_ memory: HiddenMemory) {
        self.memory = memory
        buffer = memory.base
        capacity = memory.count
    }

    /// The bytes so far. Valid until the next instruction.
    ///
    /// - Throws: if memory ran out.
    var bytes: Bytes {
        get throws(RealmError) {
            if let shortage { throw shortage }
            return Bytes(start: buffer, count: count)
        }
    }

    func reset() {
        count = 0
        shortage = nil
        selectedTable = nil
        setColumn = .null
        selectedCollection = nil
        newest.removeAll(keepingCapacity: true)
        additions.removeAll()
        notesAdditions = false
    }

    // MARK: Savepoints

    /// How far the instructions go, and the objects created last.
    struct Mark {
        fileprivate let count: Int
        fileprivate let newest: [Int64]
        fileprivate let additions: Int
    }

    /// Ends the current selections, so that the instructions after the mark do not depend on them.
    func mark() -> Mark {
        deselect()
        return Mark(count: count, newest: newest, additions: additions.count)
    }

    /// Removes the instructions after a mark.
    func undo(to mark: Mark) {
        deselect()
        if shortage == nil { count = mark.count }
        newest = mark.newest
        if additions.count > mark.additions { additions.removeSubrange(mark.additions...) }
    }

    private func deselect() {
        selectedTable = nil
        setColumn = .null
        selectedCollection = nil
    }

    @inline(__always) private func reserve(_ byteCount: Int) {
        if count &+ byteCount > capacity { grow(byteCount) }
    }

    @inline(never) private func grow(_ byteCount: Int) {
        let bigger: HiddenMemory
        do throws(RealmError) { bigger = try HiddenMemory(max(capacity * 2, count + byteCount)) } catch {
            // A mutation cannot report the error, so the commit does. The log is now useless, so it starts over.
            shortage = error
            count = 0
            return
        }
        CMemory.copy(bigger.base, buffer, count)
        memory = bigger
        buffer = bigger.base
        capacity = bigger.count
    }

    @inline(__always) private func put(_ byte: UInt8) {
        buffer.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    /// Writes seven bits per byte, least significant first. The last byte has six bits and the sign.
    @inline(__always) private func put(_ number: Int64) { count = Self.put(number, buffer, at: count) }

    /// - Returns: the offset of the next byte.
    @inline(__always) private static func put(_ number: Int64, _ buffer: UnsafeMutableRawPointer, at start: Int) -> Int
    {
        var at = start
        var magnitude = number < 0 ? UInt64(bitPattern: ~number) : UInt64(number)
        while magnitude >= 64 {
            buffer.storeBytes(of: UInt8(truncatingIfNeeded: magnitude) & 0x7F | 0x80, toByteOffset: at, as: UInt8.self)
            at &+= 1
            magnitude >>= 7
        }
        buffer.storeBytes(
            of: UInt8(truncatingIfNeeded: magnitude) | (number < 0 ? 0x40 : 0), toByteOffset: at, as: UInt8.self)
        return at &+ 1
    }

    private func select(_ table: TableKey) {
        if selectedTable != table {
            setColumn = .null
            put(ChangesetCode.selectTable)
            put(Int64(0))
            put(Int64(table.raw))
            selectedTable = table
        }
        if selectedCollection != nil { selectedCollection = nil }
    }

    private func select(_ place: CollectionPlace) {
        if let selected = selectedCollection, selected == place { return }
        select(place.table)
        if place.path.isEmpty {
            put(ChangesetCode.selectCollection)
            put(place.column.raw)
            put(place.object.raw)
        } else {
            put(ChangesetCode.selectNestedCollection)
            put(place.column.raw)
            put(place.object.raw)
            put(Int64(place.path.count))
            for key in place.path { put(key) }
        }
        selectedCollection = place
    }

    @inline(__always) private func isNewest(_ table: TableKey, _ object: ObjKey) -> Bool {
        table.index < newest.count && newest[table.index] == object.raw
    }

    private func setNewest(_ table: TableKey, _ object: ObjKey) {
        while newest.count <= table.index { newest.append(-1) }
        newest[table.index] = object.raw
    }

    /// Writes an instruction about a whole table. It contains the table key and ends the current selection.
    private func changeTable(_ code: UInt8, _ table: TableKey) {
        reserve(32)
        put(code)
        put(Int64(table.raw))
        selectedTable = nil
        setColumn = .null
        selectedCollection = nil
    }

    /// Writes an instruction about something in a table.
    private func put(_ code: UInt8, _ table: TableKey, _ key: Int64) {
        reserve(64)
        select(table)
        put(code)
        put(key)
    }

    override func tableAdded(_ table: TableKey) { changeTable(ChangesetCode.insertTable, table) }

    override func columnAdded(_ table: TableKey, _ column: ColKey) {
        put(ChangesetCode.insertColumn, table, column.raw)
    }

    override func columnErased(_ table: TableKey, _ column: ColKey) {
        put(ChangesetCode.eraseColumn, table, column.raw)
    }

    override func objectCreated(_ table: TableKey, _ object: ObjKey) {
        put(ChangesetCode.createObject, table, object.raw)
        setNewest(table, object)
    }

    /// Not logged: embedded objects cannot be observed.
    override func embeddedCreated(_ table: TableKey, _ object: ObjKey) { setNewest(table, object) }

    override func tableRenamed(_ table: TableKey) { changeTable(ChangesetCode.renameTable, table) }

    override func tableErased(_ table: TableKey) { changeTable(ChangesetCode.eraseTable, table) }

    override func columnRenamed(_ table: TableKey, _ column: ColKey) {
        put(ChangesetCode.renameColumn, table, column.raw)
    }

    override func typedLinkChanged(_ table: TableKey, _ column: ColKey, target: TableKey) {
        put(ChangesetCode.typedLinkChange, table, column.raw)
        put(Int64(target.raw))
    }

    override func objectRemoved(_ table: TableKey, _ object: ObjKey) {
        put(ChangesetCode.removeObject, table, object.raw)
    }

    override func valueSet(_ table: TableKey, _ object: ObjKey, _ column: ColKey) {
        if isNewest(table, object) { return }
        reserve(64)
        if column == setColumn && table == setTable && selectedCollection == nil {
            // The table is selected and the bytes of the column are known: the common case of a bulk update.
            buffer.storeBytes(of: setBytes.0, toByteOffset: count, as: UInt64.self)
            buffer.storeBytes(of: setBytes.1, toByteOffset: count &+ 8, as: UInt64.self)
            count = Self.put(object.raw, buffer, at: count &+ setLength)
            return
        }
        select(table)
        let start = count
        put(ChangesetCode.set)
        put(column.raw)
        (setTable, setColumn, setLength) = (table, column, count - start)
        setBytes = (
            buffer.loadUnaligned(fromByteOffset: start, as: UInt64.self),
            buffer.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self)
        )
        put(object.raw)
    }

    override func integerAdded(_ table: TableKey, _ object: ObjKey, _ column: ColKey, _ delta: Int64) {
        guard notesAdditions, !isNewest(table, object) else { return }
        additions.append(Addition(table: table, object: object, column: column, delta: delta))
    }

    override func elementInserted(_ table: TableKey, _ object: ObjKey, _ column: ColKey, _ index: Int) {
        if isNewest(table, object) { return }
        reserve(96)
        if !(plainColumn == column && plainObject == object && plainTable == table) {
            select(CollectionPlace(table: table, object: object, column: column))
            (plainTable, plainObject, plainColumn) = (table, object, column)
        }
        put(ChangesetCode.collectionInsert)
        put(Int64(index))
    }

    override func collectionChanged(_ place: CollectionPlace, _ change: CollectionChange) {
        if isNewest(place.table, place.object) { return }
        reserve(96 + place.path.count * 10)
        select(place)
        let code: UInt8, number: Int
        switch change {
        case .insert(let i): (code, number) = (ChangesetCode.collectionInsert, i)
        case .set(let i): (code, number) = (ChangesetCode.collectionSet, i)
        case .erase(let i): (code, number) = (ChangesetCode.collectionErase, i)
        case .move(let from, _): (code, number) = (ChangesetCode.collectionMove, from)
        case .clear(let size): (code, number) = (ChangesetCode.collectionClear, size)
        }
        put(code)
        put(Int64(number))
        if case .move(_, let to) = change { put(Int64(to)) }
    }
}
