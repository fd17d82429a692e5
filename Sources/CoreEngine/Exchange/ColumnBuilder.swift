/// Builds the array of one column. Values are appended a leaf at a time (`ColumnLoops`) or one by one, then exported as
/// an `ArrowArray`.
///
/// There are validity bits only if there is a null. An array of texts, binaries or lists is limited by its 32-bit
/// offsets: a value beyond the limit is refused and sets `isFull`, and the caller truncates the array.
final class ColumnBuilder {
    let field: ColumnField
    let children: [ColumnBuilder]
    private let mostBytes: Int
    private(set) var count = 0
    private var nullCount = 0

    /// Number of values whose parts are complete in all children.
    var completeCount: Int { field.isWhole ? children.reduce(count) { min($0, $1.completeCount) } : count }

    /// One validity bit per value; empty while there are no nulls.
    private var validity = ColumnBuffer()

    /// Numbers, bits of Bools, or the offsets of texts, binaries and lists (one more than values).
    private var values = ColumnBuffer()
    private var bytes = ColumnBuffer()

    /// The last value did not fit.
    private(set) var isFull = false

    /// Whether `isFull` is set here or in a child.
    var holdsFull: Bool { isFull || children.contains(where: \.holdsFull) }

    /// - Parameter mostBytes: maximum number of text or binary bytes, or of list elements, in the array. It must fit in
    ///   32-bit offsets.
    init(_ field: ColumnField, children: [ColumnBuilder] = [], mostBytes: Int = Int(Int32.max)) {
        self.field = field
        self.children = children
        self.mostBytes = mostBytes
    }

    /// Reserves memory for this many values.
    func prepare(_ rows: Int) throws(RealmError) {
        try values.reserve((field.width ?? 4) * (rows + 1))
        if field.isWhole { for child in children { try child.prepare(rows) } }
    }

    /// Bytes in use, including the children.
    var size: Int { children.reduce(validity.count + values.count + bytes.count) { $0 + $1.size } }

    private var hasOffsets: Bool {
        switch field.kind {
        case .text, .binary, .list, .map: true
        default: false
        }
    }

    // MARK: Nulls

    /// Creates the validity bits. All values so far count as present.
    @inline(never) private func beginMarks(_ values: Int) throws(RealmError) {
        try validity.reserve((values + 7) / 8)
        for i in 0..<(values + 7) / 8 { validity.start.storeBytes(of: 0xFF, toByteOffset: i, as: UInt8.self) }
        validity.count = (values + 7) / 8
    }

    /// Marks value `i` as null: either the next value, or an existing one that was marked as present.
    private func markNull(_ i: Int) throws(RealmError) {
        if validity.count == 0 { try beginMarks(max(i + 1, count)) }
        try mark(i, present: false)
        nullCount += 1
    }

    @inline(__always) private func mark(_ i: Int, present: Bool) throws(RealmError) {
        try Self.setBit(&validity, i, present)
    }

    private static func setBit(_ bits: inout ColumnBuffer, _ i: Int, _ isSet: Bool) throws(RealmError) {
        while i >> 3 >= bits.count { try bits.appendZeros(1) }
        let bit = UInt8(1) << UInt8(truncatingIfNeeded: i & 7),
            old = bits.start.load(fromByteOffset: i >> 3, as: UInt8.self)
        bits.start.storeBytes(of: isSet ? old | bit : old & ~bit, toByteOffset: i >> 3, as: UInt8.self)
    }

    /// Counts `more` new values, marked as present for now.
    @inline(__always) private func added(_ more: Int) throws(RealmError) {
        if validity.count > 0 { for i in count..<count &+ more { try mark(i, present: true) } }
        count &+= more
    }

    /// Appends a null.
    func appendNull() throws(RealmError) {
        try markNull(count)
        try appendPlaceholder()
    }

    /// Appends a placeholder for a value whose object or enclosing value is missing: null if the field is nullable,
    /// otherwise zero or empty.
    func appendMissing() throws(RealmError) {
        if field.isNullable { return try appendNull() }
        if validity.count > 0 { try mark(count, present: true) }
        try appendPlaceholder()
    }

    private func appendPlaceholder() throws(RealmError) {
        switch field.kind {
        case .text, .binary: try appendOffset(bytes.count)
        case .list, .map: try appendOffset(children.first?.count ?? 0)
        case .structure, .mixed: for child in children { try child.appendMissing() }
        case .bool: try Self.setBit(&values, count, false)
        default: try values.appendZeros(field.width ?? 0)
        }
        count += 1
    }

    // MARK: Values

    /// Appends `valueCount` values of fixed width. `body` fills them in, `isNull` reports which of them are null.
    @inline(__always) func appendFixed<T: BitwiseCopyable>(
        _ valueCount: Int, _ body: (UnsafeMutablePointer<T>) throws(RealmError) -> Void, isNull: ((T, Int) -> Bool)?
    ) throws(RealmError) {
        let size = valueCount &* MemoryLayout<T>.stride
        try values.reserve(size)
        let to = (values.start + values.count).assumingMemoryBound(to: T.self)
        try body(to)
        values.count &+= size
        let first = count
        try added(valueCount)
        guard let isNull else { return }
        for i in 0..<valueCount where isNull(to[i], i) { try markNull(first &+ i) }
    }

    func appendBool(_ flag: Bool) throws(RealmError) {
        try Self.setBit(&values, count, flag)
        try added(1)
    }

    private func appendOffset(_ end: Int) throws(RealmError) {
        if values.count == 0 { try values.appendZeros(4) }
        try values.reserve(4)
        values.start.storeBytes(of: Int32(truncatingIfNeeded: end), toByteOffset: values.count, as: Int32.self)
        values.count &+= 4
    }

    /// Appends a text or a binary. Texts must be valid UTF-8.
    @inline(__always) func append(_ data: Bytes, isText: Bool) throws(RealmError) {
        guard !isText || isUTF8(data) else { throw RealmError(.typeMismatch, "the text is not UTF-8") }
        guard data.count <= mostBytes &- bytes.count else { throw full() }
        try bytes.reserve(data.count)
        if let start = data.baseAddress { bytes.append(start, data.count) }
        try appendOffset(bytes.count)
        try added(1)
    }

    /// Appends a list or map whose elements were already added to the child.
    func appendElements() throws(RealmError) {
        let end = children.first?.count ?? 0
        guard end <= mostBytes else { throw full() }
        try appendOffset(end)
        try added(1)
    }

    /// Counts structures (objects, rows or pairs) whose parts are added to the children before or after this call.
    func appendWhole(_ count: Int) throws(RealmError) { try added(count) }

    /// Appends a missing object. The caller adds placeholders to the children.
    func appendAbsent() throws(RealmError) {
        try markNull(count)
        count &+= 1
    }

    private func full() -> RealmError {
        isFull = true
        return RealmError(.limitExceeded, "the values are larger than an array can hold")
    }

    private func appendValue<T: BitwiseCopyable>(_ value: T) throws(RealmError) {
        try appendFixed(1, { (to: UnsafeMutablePointer<T>) throws(RealmError) in to.pointee = value }, isNull: nil)
    }

    /// Appends a single value. Mixed values, which are written as text, and collections have other functions.
    func append(_ value: Mixed) throws(RealmError) {
        switch (field.kind, value) {
        case (_, .null): try appendNull()
        case (.int, .int(let i)): try appendValue(i)
        case (.bool, .bool(let flag)): try appendBool(flag)
        case (.float, .float(let number)): try appendValue(number)
        case (.double, .double(let number)): try appendValue(number)
        case (.text, .string(let text)): try append(text, isText: true)
        // Integer keys of dictionaries that other libraries wrote.
        case (.text, .int(let i)):
            try Array(String(i).utf8).withBytes { (digits) throws(RealmError) in try append(digits, isText: false) }
        case (.binary, .binary(let data)): try append(data, isText: false)
        case (.timestamp, .timestamp(let time)): try appendValue(try count(time))
        case (.decimal, .decimal(let decimal)): try appendValue((decimal.low, decimal.high))
        case (.objectId, .objectId(let id)): try appendFixedBytes(12) { id.copy(to: $0) }
        case (.uuid, .uuid(let id)): try appendFixedBytes(16) { id.copy(to: $0) }
        case (.link, .link(let key)), (.link, .typedLink(_, let key)):
            if key.raw < 0 { try appendNull() } else { try appendValue(key.raw) }
        default: throw .corrupt("a value of another type than its property")
        }
    }

    private func appendFixedBytes(_ count: Int, _ copy: (UnsafeMutableRawPointer) -> Void) throws(RealmError) {
        try values.reserve(count)
        copy(values.start + values.count)
        values.count += count
        try added(1)
    }

    /// Units of the field since 1970.
    @inline(__always) private func count(_ time: Timestamp) throws(RealmError) -> Int64 {
        guard let count = field.unit.count(time) else {
            throw RealmError(
                .limitExceeded,
                "a point in time \(time.seconds) seconds from 1970 is too far away for 64 bits of \(field.unit)")
        }
        return count
    }

    // MARK: Truncation and export

    /// Removes the values after the first `newCount`.
    func truncate(_ newCount: Int) throws(RealmError) {
        isFull = false
        switch field.kind {
        case .text, .binary:
            if values.count > 0 {
                values.count = (newCount + 1) * 4
                bytes.count = Int(values.start.load(fromByteOffset: newCount * 4, as: Int32.self))
            }
        case .list, .map:
            var elements = 0
            if values.count > 0 {
                values.count = (newCount + 1) * 4
                elements = Int(values.start.load(fromByteOffset: newCount * 4, as: Int32.self))
            }
            try children.first?.truncate(elements)
        case .structure, .mixed: for child in children { try child.truncate(newCount) }
        case .bool: values.count = (newCount + 7) / 8
        default: values.count = newCount * (field.width ?? 0)
        }
        count = newCount
        guard validity.count > 0 else { return }
        validity.count = (newCount + 7) / 8
        nullCount = 0
        for i in 0..<newCount where validity.start.load(fromByteOffset: i >> 3, as: UInt8.self) >> UInt8(i & 7) & 1 == 0
        {
            nullCount += 1
        }
    }

    /// Moves the values into `array` and leaves the builder empty. `array` owns its buffers and one block of memory,
    /// which holds the pointers to the buffers, the pointers to the children, and the children.
    func export(to array: UnsafeMutablePointer<ArrowArray>) throws(RealmError) {
        let bufferCount = field.isWhole ? 1 : bytesBuffer ? 3 : 2
        let word = MemoryLayout<UnsafeRawPointer?>.stride
        let size = (bufferCount + children.count) * word + children.count * MemoryLayout<ArrowArray>.stride
        guard let block = CMemory.allocate(size) else {
            throw RealmError(.outOfMemory, "There is no memory for the array of a column")
        }
        let buffers = block.bindMemory(to: UnsafeRawPointer?.self, capacity: bufferCount)
        let list = (block + bufferCount * word).bindMemory(
            to: UnsafeMutablePointer<ArrowArray>?.self, capacity: children.count)
        let first = (block + (bufferCount + children.count) * word).bindMemory(
            to: ArrowArray.self, capacity: children.count)
        buffers.initialize(repeating: nil, count: bufferCount)
        for i in children.indices {
            (first + i).initialize(to: ArrowArray())
            (list + i).initialize(to: first + i)
        }
        var filled = ArrowArray()
        filled.length = Int64(count)
        filled.nullCount = Int64(nullCount)
        filled.bufferCount = Int64(bufferCount)
        filled.childCount = Int64(children.count)
        filled.buffers = buffers
        if !children.isEmpty { filled.children = list }
        filled.release = ArrowArray.releaseBlock
        filled.privateData = block
        array.initialize(to: filled)
        do throws(RealmError) {
            if nullCount > 0 { buffers[0] = UnsafeRawPointer(try validity.take()) }
            if hasOffsets, values.count == 0 { try values.appendZeros(4) }
            if bufferCount > 1 { buffers[1] = UnsafeRawPointer(try values.take()) }
            if bufferCount > 2 { buffers[2] = UnsafeRawPointer(try bytes.take()) }
            for i in children.indices { try children[i].export(to: first + i) }
        } catch {
            ArrowArray.releaseBlock(array)
            throw error
        }
        validity.count = 0
        (count, nullCount) = (0, 0)
    }

    private var bytesBuffer: Bool { field.kind == .text || field.kind == .binary }
}

extension ArrowArray {
    /// Skips children whose `release` is nil: they were moved away or never filled.
    fileprivate static let releaseBlock: Release = { pointer in
        guard let array = pointer?.assumingMemoryBound(to: ArrowArray.self), array.pointee.release != nil else {
            return
        }
        if let children = array.pointee.children {
            for i in 0..<Int(array.pointee.childCount) { if let child = children[i] { child.pointee.release?(child) } }
        }
        if let buffers = array.pointee.buffers {
            for i in 0..<Int(array.pointee.bufferCount) {
                CMemory.release(UnsafeMutableRawPointer(mutating: buffers[i]))
            }
        }
        CMemory.release(array.pointee.privateData)
        array.pointee.release = nil
    }
}
