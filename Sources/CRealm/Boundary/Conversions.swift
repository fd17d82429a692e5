import CRealmHeaders
import CoreEngine

/// A non-null address for empty strings and binaries, because a null pointer would mean a null value.
nonisolated(unsafe) private let emptyBytes: UnsafePointer<UInt8> = {  // Never written after initialization.
    let pointer = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
    pointer.pointee = 0
    return UnsafePointer(pointer)
}()

/// Converts an engine value to a C value. Strings and binaries point into the snapshot.
@inline(__always) func store(_ value: Mixed, _ out: UnsafeMutablePointer<realm_value_t>) {
    switch value {
    case .null: out.pointee.type = RLM_TYPE_NULL
    case .int(let content):
        out.pointee.integer = content
        out.pointee.type = RLM_TYPE_INT
    case .string(let bytes):
        out.pointee.string = realm_string_t(
            data: UnsafeRawPointer(bytes.baseAddress ?? UnsafeRawPointer(emptyBytes)).assumingMemoryBound(
                to: CChar.self),
            size: bytes.count)
        out.pointee.type = RLM_TYPE_STRING
    case .double(let content):
        out.pointee.dnum = content
        out.pointee.type = RLM_TYPE_DOUBLE
    case .typedLink(let table, let key):
        out.pointee.link = realm_link_t(target_table: table.raw, target: key.raw)
        out.pointee.type = RLM_TYPE_LINK
    default: storeOther(value, out)
    }
}

private func storeOther(_ value: Mixed, _ out: UnsafeMutablePointer<realm_value_t>) {
    switch value {
    case .bool(let content):
        out.pointee.boolean = content
        out.pointee.type = RLM_TYPE_BOOL
    case .binary(let content):
        out.pointee.binary = realm_binary_t(
            data: UnsafeRawPointer(content.baseAddress ?? UnsafeRawPointer(emptyBytes)).assumingMemoryBound(
                to: UInt8.self),
            size: content.count)
        out.pointee.type = RLM_TYPE_BINARY
    case .timestamp(let content):
        out.pointee.timestamp = realm_timestamp_t(seconds: content.seconds, nanoseconds: content.nanoseconds)
        out.pointee.type = RLM_TYPE_TIMESTAMP
    case .float(let content):
        out.pointee.fnum = content
        out.pointee.type = RLM_TYPE_FLOAT
    case .decimal(let content):
        out.pointee.decimal128 = realm_decimal128_t(w: (content.low, content.high))
        out.pointee.type = RLM_TYPE_DECIMAL128
    case .objectId(let content):
        var id = realm_object_id_t()
        withUnsafeMutableBytes(of: &id) { content.copy(to: $0.start) }
        out.pointee.object_id = id
        out.pointee.type = RLM_TYPE_OBJECT_ID
    case .uuid(let content):
        var id = realm_uuid_t()
        withUnsafeMutableBytes(of: &id) { content.copy(to: $0.start) }
        out.pointee.uuid = id
        out.pointee.type = RLM_TYPE_UUID
    case .list: out.pointee.type = RLM_TYPE_LIST
    case .dictionary: out.pointee.type = RLM_TYPE_DICTIONARY
    default: out.pointee.type = RLM_TYPE_NULL
    }
}

/// Converts a C value to an engine value, which borrows the bytes of the caller. Strings must be UTF-8.
@inline(__always) func load(_ value: realm_value_t) throws(RealmError) -> Mixed {
    switch value.type {
    case RLM_TYPE_INT: return .int(value.integer)
    case RLM_TYPE_STRING:
        let string = value.string
        guard let start = string.data else { return .null }
        let bytes = Bytes(start: start, count: try length(string.size))
        guard isUTF8(bytes) else { throw RealmError(.invalidArgument, "A string argument is not valid UTF-8") }
        return .string(bytes)
    case RLM_TYPE_DOUBLE: return .number(value.dnum)
    // A link without a target is null.
    case RLM_TYPE_LINK:
        return value.link.target == -1
            ? .null : .typedLink(TableKey(value.link.target_table), ObjKey(value.link.target))
    default: return try loadOther(value)
    }
}

private func length(_ size: Int) throws(RealmError) -> Int {
    guard size >= 0, size <= 1 << 40 else {
        throw RealmError(.invalidArgument, "A string or binary argument has an impossible size")
    }
    return size
}

private func loadOther(_ value: realm_value_t) throws(RealmError) -> Mixed {
    switch value.type {
    case RLM_TYPE_NULL: return .null
    // The field is read as a byte, because a C program may store any value in it.
    case RLM_TYPE_BOOL: return .bool(withUnsafeBytes(of: value) { $0[0] != 0 })
    case RLM_TYPE_BINARY:
        let binary = value.binary
        guard let start = binary.data else { return .null }
        return .binary(Bytes(start: start, count: try length(binary.size)))
    case RLM_TYPE_TIMESTAMP:
        return .timestamp(Timestamp(seconds: value.timestamp.seconds, nanoseconds: value.timestamp.nanoseconds))
    case RLM_TYPE_FLOAT: return .number(value.fnum)
    case RLM_TYPE_DECIMAL128: return .number(Decimal128(low: value.decimal128.w.0, high: value.decimal128.w.1))
    case RLM_TYPE_OBJECT_ID: return .objectId(withUnsafeBytes(of: value.object_id) { ObjectId(bytes: $0.start) })
    case RLM_TYPE_UUID: return .uuid(withUnsafeBytes(of: value.uuid) { UUIDValue(bytes: $0.start) })
    // A collection value has no contents: it represents an empty collection.
    case RLM_TYPE_LIST: return .emptyList
    case RLM_TYPE_DICTIONARY: return .emptyDictionary
    default: throw RealmError(.invalidArgument, "A value of unknown type \(value.type.rawValue)")
    }
}

/// Converts a C string argument. nil and invalid UTF-8 are errors.
func text(_ start: UnsafePointer<CChar>?) throws(RealmError) -> String {
    guard let start else { throw nullArgument() }
    let bytes = Bytes(start: start, count: CMemory.length(start))
    guard isUTF8(bytes) else { throw RealmError(.invalidArgument, "A text argument is not valid UTF-8") }
    return String(decoding: bytes, as: UTF8.self)
}
