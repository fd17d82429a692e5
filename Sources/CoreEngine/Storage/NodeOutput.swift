/// Where a `NodeOutput` writes to.
protocol NodeSink {
    mutating func write(_ from: UnsafeRawPointer, _ count: Int, at position: Int) throws(RealmError)
}

/// Nodes on their way into a file, as they stand there: header, elements at a given width, padding. They pass through
/// one buffer, so that neighbours are one write. Format: storage §2.2.
///
/// Where a node goes is the owner's decision: `seek`, then `write`.
struct NodeOutput<Sink: NodeSink> {
    var sink: Sink
    private let buffer: UnsafeMutableRawPointer
    private let size: Int

    /// Position in the file of the buffer's first byte, and bytes in it.
    private var start = 0
    private var buffered = 0

    /// - Parameter buffer: the caller's, as long as there is output; at least a page.
    init(_ sink: Sink, buffer: UnsafeMutableRawPointer, size: Int) {
        self.sink = sink
        self.buffer = buffer
        self.size = size
    }

    /// The next node goes to `position`.
    @inline(__always) mutating func seek(_ position: Int) throws(RealmError) {
        if position == start &+ buffered { return }
        try flush()
        start = position
    }

    /// What is written next, up to `bytes` and no more than the buffer holds, is one write.
    @inline(__always) mutating func makeRoom(_ bytes: Int) throws(RealmError) {
        if bytes > size &- buffered { try flush() }
    }

    mutating func flush() throws(RealmError) {
        if buffered > 0 { try sink.write(buffer, buffered, at: start) }
        start += buffered
        buffered = 0
    }

    /// A node as it is.
    mutating func write(_ node: Node) throws(RealmError) {
        let payload = node.payloadSize, padded = Format.padded(payload)
        try makeRoom(8 + padded)
        put(node.header)
        if 8 + padded <= size {
            pad(padded)
            Platform.copy(buffer + buffered, node.payload, payload)
            buffered += padded
        } else {
            // Straight from where it lies, then what pads it.
            try flush()
            try sink.write(node.payload, payload, at: start)
            start += payload
            buffer.storeBytes(of: 0, as: UInt64.self)
            buffered = padded - payload
            try flush()
        }
    }

    /// An array of numbers, all of which fit `width`.
    mutating func write(_ values: UnsafePointer<Int64>, count: Int, width: Int, flags: UInt8) throws(RealmError) {
        let padded = NodeHeader.size(count: count, width: width) - 8
        try makeRoom(8 + padded)
        put(NodeHeader(flags: flags & 0xF8 | NodeHeader.widthCode(width), count: count))
        if 8 + padded <= size {
            pad(padded)
            Self.store(values, count, width, at: buffer + buffered)
            buffered += padded
        } else {
            try flush()
            let memory = try HiddenMemory(padded)
            defer { withExtendedLifetime(memory) {} }
            (memory.base + padded - 8).storeBytes(of: 0, as: UInt64.self)
            Self.store(values, count, width, at: memory.base)
            try sink.write(memory.base, padded, at: start)
            start += padded
        }
    }

    mutating func write(_ values: [Int64], width: Int, flags: UInt8 = 0) throws(RealmError) {
        try write(values, count: values.count, width: width, flags: flags)
    }

    /// Bytes that are no node; no more than the buffer holds.
    mutating func write(_ count: Int, _ fill: (UnsafeMutableRawPointer) -> Void) throws(RealmError) {
        try makeRoom(count)
        fill(buffer + buffered)
        buffered += count
    }

    @inline(__always) private mutating func put(_ header: NodeHeader) {
        (buffer + buffered).storeBytes(of: header.diskWord.littleEndian, as: UInt64.self)
        buffered += 8
    }

    /// The last word of the next `padded` bytes is zero where nothing is stored over it.
    @inline(__always) private func pad(_ padded: Int) {
        if padded > 0 { (buffer + buffered + padded - 8).storeBytes(of: 0, as: UInt64.self) }
    }

    private static func store(
        _ values: UnsafePointer<Int64>, _ count: Int, _ width: Int, at payload: UnsafeMutableRawPointer
    ) {
        switch width {
        case 32:
            let to = payload.assumingMemoryBound(to: Int32.self)
            for i in 0..<count { to[i] = Int32(truncatingIfNeeded: values[i]) }
        case 64: Platform.copy(payload, values, count * 8)
        default:
            let node = Node(address: payload - 8, ref: .null, count: count, width: width, flags: 0)
            for i in 0..<count { node.put(i, values[i]) }
        }
    }
}
