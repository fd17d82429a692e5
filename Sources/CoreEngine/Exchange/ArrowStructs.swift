/// The structs of the Arrow C data interface and of its streams, as `include/crealm.h` declares them for C. The
/// producer of a struct sets `release`. The consumer calls it to free the content of the struct; `release` is nil
/// afterwards.

/// The type of a column.
struct ArrowSchema {
    typealias Release = @convention(c) (_ schema: UnsafeMutableRawPointer?) -> Void

    /// The type in the format letters of the interface, such as `l` for 64-bit integers.
    var format: UnsafePointer<CChar>?
    var name: UnsafePointer<CChar>?

    /// Key-value pairs, each text preceded by its length.
    var metadata: UnsafePointer<CChar>?
    var flags: Int64 = 0
    var childCount: Int64 = 0
    var children: UnsafeMutablePointer<UnsafeMutablePointer<ArrowSchema>?>?
    var dictionary: UnsafeMutablePointer<ArrowSchema>?
    var release: Release?
    var privateData: UnsafeMutableRawPointer?

    /// Bits of `flags`.
    static let nullable: Int64 = 2, mapKeysSorted: Int64 = 4
}

/// The values of a column, or of a range of its rows.
struct ArrowArray {
    typealias Release = @convention(c) (_ array: UnsafeMutableRawPointer?) -> Void

    var length: Int64 = 0

    /// -1 if not counted.
    var nullCount: Int64 = 0

    /// Number of buffer elements before the first value.
    var offset: Int64 = 0
    var bufferCount: Int64 = 0
    var childCount: Int64 = 0
    var buffers: UnsafeMutablePointer<UnsafeRawPointer?>?
    var children: UnsafeMutablePointer<UnsafeMutablePointer<ArrowArray>?>?
    var dictionary: UnsafeMutablePointer<ArrowArray>?
    var release: Release?
    var privateData: UnsafeMutableRawPointer?
}

/// A sequence of arrays that share one schema. The functions return 0 or an errno number.
struct ArrowArrayStream {
    typealias GetSchema = @convention(c) (_ stream: UnsafeMutableRawPointer?, _ out: UnsafeMutableRawPointer?) -> CInt
    typealias GetNext = @convention(c) (_ stream: UnsafeMutableRawPointer?, _ out: UnsafeMutableRawPointer?) -> CInt
    typealias GetLastError = @convention(c) (_ stream: UnsafeMutableRawPointer?) -> UnsafePointer<CChar>?
    typealias Release = @convention(c) (_ stream: UnsafeMutableRawPointer?) -> Void

    var getSchema: GetSchema?

    /// An array whose `release` is nil marks the end.
    var getNext: GetNext?

    /// The message of the last failure; nil when the last call did not fail.
    var getLastError: GetLastError?
    var release: Release?
    var privateData: UnsafeMutableRawPointer?
}
