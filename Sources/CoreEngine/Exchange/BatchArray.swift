/// An array of another program, read through its schema.
///
/// Counts, lengths, offsets and the presence of buffers are checked once, when the array is opened. Later reads of
/// elements skip these checks. Two things cannot be checked and are trusted: each buffer is as long as the length and
/// offset of the array require, and the texts of the schema end with a zero byte.
final class BatchArray {
    enum Form: UInt8 {
        case null, bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double
        /// Texts or binaries with 32-bit offsets, 64-bit offsets, views, or one fixed length.
        case bytes32, bytes64, views, fixed
        case days, milliseconds, timestamp, decimal
        case list32, list64, structure
    }

    let name: Name
    let form: Form
    let isText: Bool

    /// Bytes per element of `fixed`.
    private let width: Int

    /// Units per second (`timestamp`), or digits after the decimal point (`decimal`).
    private let scale: Int

    /// The field was exported as an object key.
    let isLink: Bool

    /// The texts are Mixed values as JSON.
    let isJSON: Bool
    private let offset: Int
    private let validity: UnsafeRawPointer?

    /// Values, offsets or views.
    private let values: UnsafeRawPointer

    /// The buffer that the offsets point into.
    private let data: UnsafeRawPointer
    private let viewed: [Bytes]

    /// Fields of a structure, or the elements of lists.
    let children: [BatchArray]

    /// The values of a dictionary-encoded array, whose own elements are indexes into them.
    private let dictionary: BatchArray?
    private let dictionaryCount: Int

    /// Limits of depth and number of arrays. No useful schema reaches them.
    private static let deepest = 32
    private static let most = 20_000

    /// Upper limit of lengths and offsets, so that their sums and products cannot overflow.
    private static let farthest: Int64 = 1 << 40

    nonisolated(unsafe) private static let nothing = UnsafeRawPointer(
        UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16))  // Never read.

    /// - Parameter count: number of elements, from the first, that will be read.
    convenience init(_ schema: UnsafePointer<ArrowSchema>, _ array: UnsafePointer<ArrowArray>, count: Int)
        throws(RealmError)
    {
        var left = Self.most
        try self.init(schema, array, count: count, depth: 0, left: &left)
    }

    private init(
        _ schema: UnsafePointer<ArrowSchema>, _ array: UnsafePointer<ArrowArray>, count: Int, depth: Int,
        left: inout Int
    ) throws(RealmError) {
        let fieldSchema = schema.pointee, fieldArray = array.pointee
        left -= 1
        guard depth < Self.deepest, left > 0 else {
            throw RealmError(.limitExceeded, "Arrays nested too deeply, or too many")
        }
        // A released or moved struct holds invalid pointers.
        guard fieldSchema.release != nil, fieldArray.release != nil else {
            throw RealmError(.invalidArgument, "An array, or its schema, was released or moved before the call")
        }
        name = Name(try Self.text(fieldSchema.name))
        let metadata = try BatchMetadata(fieldSchema.metadata)
        (isLink, isJSON) = (metadata.isLink, metadata.isJSON)
        let type = try BatchType(try Self.text(fieldSchema.format), of: name)
        guard fieldArray.length >= 0, fieldArray.offset >= 0, fieldArray.length <= Self.farthest,
            fieldArray.offset <= Self.farthest
        else {
            throw Self.malformed(name, "its length or offset")
        }
        guard count <= Int(fieldArray.length) else {
            throw Self.malformed(name, "a length of \(fieldArray.length) where \(count) elements are needed")
        }
        offset = Int(fieldArray.offset)
        form = type.form
        isText = type.isText
        width = type.width
        scale = type.scale
        let end = Int(fieldArray.offset) + count
        let buffers = try Self.buffers(fieldArray, form, name)
        validity = form == .null ? nil : buffers[0]
        let elements =
            form == .null || form == .structure ? Self.nothing : try Self.buffer(buffers[1], 1, needed: count > 0, name)
        values = elements
        switch form {
        case .bytes32, .bytes64, .list32, .list64:
            let isWide = form == .bytes64 || form == .list64, hasData = form == .bytes32 || form == .bytes64
            let last =
                count == 0
                ? 0 : try Self.checkOffsets(elements, from: Int(fieldArray.offset), count: count, isWide, name)
            data = hasData ? try Self.buffer(buffers[2], 2, needed: last > 0, name) : Self.nothing
            viewed = []
            children =
                hasData
                ? [] : try Self.children(fieldSchema, fieldArray, name, 1, count: last, depth: depth, left: &left)
        case .views:
            data = Self.nothing
            viewed = try Self.viewed(buffers, fieldArray.bufferCount, name)
            children = []
        default:
            data = Self.nothing
            viewed = []
            children =
                form == .structure
                ? try Self.children(fieldSchema, fieldArray, name, nil, count: end, depth: depth, left: &left) : []
        }
        guard let dictionarySchema = fieldSchema.dictionary else {
            (dictionary, dictionaryCount) = (nil, 0)
            return
        }
        guard let known = fieldArray.dictionary, form.rawValue >= Form.int8.rawValue,
            form.rawValue <= Form.uint64.rawValue
        else {
            throw Self.malformed(name, "its dictionary, which is missing or numbered by no integers")
        }
        let size = known.pointee.length
        guard size >= 0, size <= Self.farthest else { throw Self.malformed(name, "the length of its dictionary") }
        dictionaryCount = Int(size)
        dictionary = try BatchArray(dictionarySchema, known, count: Int(size), depth: depth + 1, left: &left)
    }

    // MARK: Checks

    private static func malformed(_ name: Name, _ what: String) -> RealmError {
        RealmError(.invalidArgument, "The array of column '\(name)' is malformed: \(what)")
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) throws(RealmError) -> String {
        guard let pointer else { return "" }
        let bytes = Bytes(start: pointer, count: CMemory.length(pointer))
        guard isUTF8(bytes) else {
            throw RealmError(.invalidArgument, "A name or format of an Arrow schema is not UTF-8")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func buffers(_ array: ArrowArray, _ form: Form, _ name: Name) throws(RealmError)
        -> UnsafeBufferPointer<
            UnsafeRawPointer?
        >
    {
        let wanted: ClosedRange<Int64> =
            switch form {
            case .null: 0...0
            case .structure: 1...1
            case .bytes32, .bytes64: 3...3
            case .views: 3...1_000_000
            default: 2...2
            }
        guard wanted.contains(array.bufferCount) else { throw malformed(name, "\(array.bufferCount) buffers") }
        guard let list = array.buffers else {
            guard array.bufferCount == 0 else { throw malformed(name, "its buffers, which are missing") }
            return UnsafeBufferPointer(start: nil, count: 0)
        }
        return UnsafeBufferPointer(start: UnsafePointer(list), count: Int(array.bufferCount))
    }

    private static func buffer(_ pointer: UnsafeRawPointer?, _ i: Int, needed: Bool, _ name: Name) throws(RealmError)
        -> UnsafeRawPointer
    {
        guard pointer != nil || !needed else { throw malformed(name, "buffer \(i), which is missing") }
        return pointer ?? nothing
    }

    /// - Returns: the last offset.
    private static func checkOffsets(
        _ pointer: UnsafeRawPointer, from first: Int, count: Int, _ isWide: Bool, _ name: Name
    ) throws(RealmError) -> Int {
        func at(_ i: Int) -> Int64 {
            isWide
                ? pointer.loadUnaligned(fromByteOffset: (first &+ i) &* 8, as: Int64.self)
                : Int64(pointer.loadUnaligned(fromByteOffset: (first &+ i) &* 4, as: Int32.self))
        }
        var before = at(0), isOrdered = before >= 0
        for i in 1...count {
            let next = at(i)
            isOrdered = isOrdered && next >= before
            before = next
        }
        guard isOrdered, before <= farthest else { throw malformed(name, "offsets that are negative or descend") }
        return Int(before)
    }

    /// The buffers that views point into. The last buffer of the array holds their lengths.
    private static func viewed(
        _ buffers: UnsafeBufferPointer<UnsafeRawPointer?>, _ count: Int64, _ name: Name
    ) throws(RealmError) -> [Bytes] {
        let bufferCount = Int(count) - 3
        guard bufferCount > 0 else { return [] }
        guard let lengths = buffers[bufferCount + 2] else {
            throw malformed(name, "the lengths of its buffers, which are missing")
        }
        var all: [Bytes] = []
        for i in 0..<bufferCount {
            let length = lengths.loadUnaligned(fromByteOffset: i * 8, as: Int64.self)
            guard length >= 0, length <= farthest, length == 0 || buffers[i + 2] != nil else {
                throw malformed(name, "the length of buffer \(i + 2)")
            }
            all.append(Bytes(start: buffers[i + 2] ?? nothing, count: Int(length)))
        }
        return all
    }

    private static func children(
        _ fieldSchema: ArrowSchema, _ fieldArray: ArrowArray, _ name: Name, _ wanted: Int64?, count: Int, depth: Int,
        left: inout Int
    ) throws(RealmError) -> [BatchArray] {
        guard fieldSchema.childCount == fieldArray.childCount, fieldSchema.childCount >= 0,
            fieldSchema.childCount <= most,
            wanted == nil || fieldSchema.childCount == wanted
        else {
            throw malformed(name, "the number of its children")
        }
        guard fieldSchema.childCount > 0 else { return [] }
        guard let schemas = fieldSchema.children, let arrays = fieldArray.children else {
            throw malformed(name, "its children, which are missing")
        }
        var all: [BatchArray] = []
        for i in 0..<Int(fieldSchema.childCount) {
            guard let schema = schemas[i], let array = arrays[i] else {
                throw malformed(name, "child \(i), which is missing")
            }
            all.append(try BatchArray(schema, array, count: count, depth: depth + 1, left: &left))
        }
        return all
    }

    // MARK: Elements

    @inline(__always) func isNull(_ i: Int) -> Bool {
        if let validity, !Self.bit(validity, offset &+ i) { return true }
        return form == .null
    }

    /// Whether this array declares no null elements.
    var hasNoNulls: Bool { validity == nil && form != .null && dictionary == nil }

    @inline(__always) private static func bit(_ pointer: UnsafeRawPointer, _ i: Int) -> Bool {
        pointer.load(fromByteOffset: i >> 3, as: UInt8.self) >> UInt8(truncatingIfNeeded: i & 7) & 1 != 0
    }

    /// The elements of list `i`, as indexes of the child array. (The fields of structure `i` have index `field(i)` in
    /// each child.)
    func elements(_ i: Int) -> Range<Int> {
        let at = offset &+ i
        if form == .list64 {
            return Int(
                values.loadUnaligned(fromByteOffset: at &* 8, as: Int64.self))..<Int(
                    values.loadUnaligned(fromByteOffset: (at &+ 1) &* 8, as: Int64.self))
        }
        return Int(
            values.loadUnaligned(fromByteOffset: at &* 4, as: Int32.self))..<Int(
                values.loadUnaligned(fromByteOffset: (at &+ 1) &* 4, as: Int32.self))
    }

    func field(_ i: Int) -> Int { offset + i }

    @inline(__always) private func load<T: BitwiseCopyable>(_ at: Int, _: T.Type) -> T {
        values.loadUnaligned(fromByteOffset: at &* MemoryLayout<T>.stride, as: T.self)
    }

    /// Element `i` of a type without nested elements. Texts and binaries are views into the buffers.
    @inline(__always) func value(_ i: Int) throws(RealmError) -> Mixed {
        if isNull(i) { return .null }
        let at = offset &+ i
        if dictionary == nil {
            switch form {
            case .int64: return .int(load(at, Int64.self))
            case .double: return .double(load(at, Double.self))
            case .bytes32:
                let start = Int(load(at, Int32.self)), end = Int(load(at &+ 1, Int32.self))
                return bytes(Bytes(start: data + start, count: end &- start))
            default: break
            }
        }
        return try otherValue(at)
    }

    @inline(__always) private func bytes(_ bytes: Bytes) -> Mixed { isText ? .string(bytes) : .binary(bytes) }

    @inline(never) private func otherValue(_ at: Int) throws(RealmError) -> Mixed {
        if let dictionary {
            guard case .int(let i) = try number(at), i >= 0, i < dictionaryCount else {
                throw RealmError(.invalidArgument, "a number that its dictionary does not have")
            }
            return try dictionary.value(Int(i))
        }
        switch form {
        case .null: return .null
        case .bool: return .bool(Self.bit(values, at))
        case .float: return .float(load(at, Float.self))
        case .double: return .double(load(at, Double.self))
        case .bytes32:
            let start = Int(load(at, Int32.self))
            return bytes(Bytes(start: data + start, count: Int(load(at &+ 1, Int32.self)) &- start))
        case .bytes64:
            let start = Int(load(at, Int64.self))
            return bytes(Bytes(start: data + start, count: Int(load(at &+ 1, Int64.self)) &- start))
        case .views: return bytes(try view(at))
        case .fixed: return .binary(Bytes(start: values + at &* width, count: width))
        case .days: return .timestamp(Timestamp(seconds: Int64(load(at, Int32.self)) &* 86_400, nanoseconds: 0))
        case .milliseconds: return .timestamp(Self.time(load(at, Int64.self), per: 1000))
        case .timestamp: return .timestamp(Self.time(load(at, Int64.self), per: Int64(scale)))
        case .decimal: return .decimal(try decimal(at))
        case .list32, .list64, .structure: throw RealmError(.typeMismatch, "a value that is no single one")
        default: return try number(at)
        }
    }

    private func number(_ at: Int) throws(RealmError) -> Mixed {
        switch form {
        case .int8: return .int(Int64(load(at, Int8.self)))
        case .int16: return .int(Int64(load(at, Int16.self)))
        case .int32: return .int(Int64(load(at, Int32.self)))
        case .uint8: return .int(Int64(load(at, UInt8.self)))
        case .uint16: return .int(Int64(load(at, UInt16.self)))
        case .uint32: return .int(Int64(load(at, UInt32.self)))
        case .uint64:
            let value = load(at, UInt64.self)
            guard let signed = Int64(exactly: value) else {
                throw RealmError(.limitExceeded, "\(value) is larger than the largest integer, \(Int64.max)")
            }
            return .int(signed)
        default: return .int(load(at, Int64.self))
        }
    }

    /// A view stores up to twelve bytes inline.
    private func view(_ at: Int) throws(RealmError) -> Bytes {
        let pointer = values + at &* 16
        let count = Int(pointer.loadUnaligned(as: Int32.self))
        guard count >= 0 else { throw RealmError(.invalidArgument, "a view of a negative length") }
        if count <= 12 { return Bytes(start: pointer + 4, count: count) }
        let buffer = Int(pointer.loadUnaligned(fromByteOffset: 8, as: Int32.self)),
            start = Int(pointer.loadUnaligned(fromByteOffset: 12, as: Int32.self))
        guard buffer >= 0, buffer < viewed.count, start >= 0, start + count <= viewed[buffer].count else {
            throw RealmError(.invalidArgument, "a view beyond its buffer")
        }
        return Bytes(rebasing: viewed[buffer][start..<start + count])
    }

    /// Seconds and nanoseconds get the same sign.
    private static func time(_ ticks: Int64, per second: Int64) -> Timestamp {
        Timestamp(
            seconds: ticks / second, nanoseconds: Int32(truncatingIfNeeded: ticks % second * (1_000_000_000 / second))
        )
    }

    private func decimal(_ at: Int) throws(RealmError) -> Decimal128 {
        let low = values.loadUnaligned(fromByteOffset: at &* 16, as: UInt64.self)
        let high = values.loadUnaligned(fromByteOffset: at &* 16 &+ 8, as: Int64.self)
        let negative = high < 0
        let bits = UInt128(UInt64(bitPattern: high)) << 64 | UInt128(low)
        var coefficient = negative ? ~bits &+ 1 : bits, exponent = -scale
        while coefficient > Decimal128.maxCoefficient, coefficient % 10 == 0 {
            coefficient /= 10
            exponent += 1
        }
        guard coefficient <= Decimal128.maxCoefficient, exponent >= -6176, exponent <= 6111 else {
            throw RealmError(.limitExceeded, "a decimal of more than 34 digits")
        }
        return Decimal128(negative: negative, coefficient: coefficient, exponent: exponent)
    }
}

/// The type that the format text of a schema describes.
struct BatchType {
    let form: BatchArray.Form
    var isText = false
    var width = 0
    var scale = 1

    init(_ format: String, of name: Name) throws(RealmError) {
        switch format {
        case "n": form = .null
        case "b": form = .bool
        case "c": form = .int8
        case "C": form = .uint8
        case "s": form = .int16
        case "S": form = .uint16
        case "i": form = .int32
        case "I": form = .uint32
        case "l": form = .int64
        case "L": form = .uint64
        case "f": form = .float
        case "g": form = .double
        case "u", "z": (form, isText) = (.bytes32, format == "u")
        case "U", "Z": (form, isText) = (.bytes64, format == "U")
        case "vu", "vz": (form, isText) = (.views, format == "vu")
        case "tdD": form = .days
        case "tdm": form = .milliseconds
        case "+l", "+m": form = .list32
        case "+L": form = .list64
        case "+s": form = .structure
        default:
            if let bytes = Self.number(format, after: "w:"), bytes >= 0, bytes <= 1 << 20 {
                (form, width) = (.fixed, bytes)
            } else if let unit = [("tss:", 1), ("tsm:", 1000), ("tsu:", 1_000_000), ("tsn:", 1_000_000_000)].first(
                where: { format.hasPrefix($0.0) })
            {
                (form, scale) = (.timestamp, unit.1)
            } else if format.hasPrefix("d:"), let digits = Self.decimal(format) {
                (form, scale) = (.decimal, digits)
            } else {
                throw RealmError(
                    .notSupported, "Column '\(name)' is of a type that is not taken: '\(format)' in Arrow's letters")
            }
        }
    }

    private static func number(_ text: String, after prefix: String) -> Int? {
        text.hasPrefix(prefix) ? Int(text.dropFirst(prefix.count)) : nil
    }

    /// `d:precision,scale[,128]`; nil for other widths.
    private static func decimal(_ text: String) -> Int? {
        let parts = text.dropFirst(2).split(separator: ",").map { Int($0) }
        guard parts.count == 2 || (parts.count == 3 && parts[2] == 128), let scale = parts[1], scale >= -6000,
            scale <= 6000
        else { return nil }
        return scale
    }
}

/// The metadata entries of a schema that matter to a batch.
struct BatchMetadata {
    private(set) var isLink = false
    private(set) var isJSON = false

    /// The metadata block holds the number of pairs, then each text preceded by its length.
    init(_ pointer: UnsafePointer<CChar>?) throws(RealmError) {
        guard let pointer else { return }
        var at = UnsafeRawPointer(pointer)
        func count() throws(RealmError) -> Int {
            let number = Int(at.loadUnaligned(as: Int32.self))
            guard number >= 0, number <= 1 << 24 else {
                throw RealmError(.invalidArgument, "Metadata of an Arrow schema are malformed")
            }
            at += 4
            return number
        }
        for _ in 0..<(try count()) {
            let key = try count()
            let name = Bytes(start: at, count: key)
            at += key
            at += try count()
            if name.elementsEqual("realm.link".utf8) { isLink = true }
            if name.elementsEqual("realm.mixed".utf8) { isJSON = true }
        }
    }
}
