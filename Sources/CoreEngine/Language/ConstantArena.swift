/// Holds the bytes of constants. Their addresses stay valid as long as the query lives.
package final class ConstantArena {
    private var buffers: [UnsafeMutableRawPointer] = []

    package init() {}

    deinit { for buffer in buffers { buffer.deallocate() } }

    func keep(_ bytes: some Collection<UInt8>) -> Bytes {
        let count = bytes.count
        let start = UnsafeMutableRawPointer.allocate(byteCount: max(count, 1), alignment: 16)
        buffers.append(start)
        var position = 0
        for byte in bytes {
            start.storeBytes(of: byte, toByteOffset: position, as: UInt8.self)
            position += 1
        }
        return Bytes(start: start, count: count)
    }

    /// A copy of a value whose bytes have another owner.
    func keep(_ value: Mixed) -> Mixed {
        switch value {
        case .string(let bytes): .string(keep(bytes))
        case .binary(let bytes): .binary(keep(bytes))
        default: value
        }
    }
}
