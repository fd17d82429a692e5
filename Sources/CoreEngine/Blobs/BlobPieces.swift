/// Where the elements of a blob begin. Valid for one state of the Realm: its owner compares state counts.
package struct BlobPieces: Sendable {
    /// The number of bytes of the elements that this library makes.
    package static let pieceSize = 1 << 16

    /// The longest blob, in bytes.
    package static let maxSize = 1 << 32

    /// The first byte of each element, and then the number of all bytes. Ascending.
    private var starts = [0]

    /// The number of elements.
    var count: Int { starts.count - 1 }

    /// The number of bytes.
    package var size: Int { starts[count] }

    init(_ elements: ElementList) throws(RealmError) {
        try starts.makeRoom(for: elements.count)
        for index in 0..<elements.count { append(try elements.length(index)) }
    }

    /// The bytes of an element.
    func range(_ index: Int) -> Range<Int> { starts[index]..<starts[index + 1] }

    /// The element that contains a byte of the blob.
    func index(of offset: Int) -> Int {
        assert(offset >= 0 && offset < size, "no element contains this byte")
        return starts.place { $0 <= offset } - 1
    }

    mutating func append(_ length: Int) { starts.append(starts[count] + length) }

    mutating func removeLast() { starts.removeLast() }
}
