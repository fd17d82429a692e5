/// The destination of a `NodeOutput`.
protocol NodeSink {
    mutating func write(_ from: UnsafeRawPointer, _ count: Int, at position: Int) throws(RealmError)
}

/// Writes nodes in the form in which the file stores them: header, elements at a given width, padding. They pass
/// through one buffer, so that adjacent nodes are written together. Format: storage §2.2.
///
/// The owner decides the position of each node: it calls `seek`, then `write`.
struct NodeOutput<Sink: NodeSink> {
    var sink: Sink
    private let buffer: UnsafeMutableRawPointer
    private let size: Int

    /// Position of the first buffered byte in the file, and number of buffered bytes.
    private var start = 0
    private var buffered = 0

    /// The number of bytes that were passed to the sink.
    private var passed = 0

    /// The number of bytes of all nodes that were written.
    var written: Int { passed + buffered }

    /// - Parameter buffer: at least a page; belongs to the caller, who keeps it while this output is used.
    init(_ sink: Sink, buffer: UnsafeMutableRawPointer, size: Int) {
        self.sink = sink
        self.buffer = buffer
        self.size = size
    }

    /// Sets the position of the next node.
    @inline(__always) mutating func seek(_ position: Int) throws(RealmError) {
        if position == start &+ buffered { return }
        try flush()
        start = position
    }

    /// Makes sure that the next `bytes` bytes go into one write, if the buffer can hold them.
    @inline(__always) mutating func makeRoom(_ bytes: Int) throws(RealmError) {
        if bytes > size &- buffered { try flush() }
    }

    mutating func flush() throws(RealmError) {
        if buffered > 0 { try sink.write(buffer, buffered, at: start) }
        start += buffered
        passed += buffered
        buffered = 0
    }

    /// Writes a node unchanged.
    mutating func write(_ node: Node) throws(RealmError) {
        let payload = node.payloadSize, padded = Format.padded(payload)
        try makeRoom(8 + padded)
        put(node.header)
        if 8 + padded <= size {
            pad(padded)
            CMemory.copy(buffer + buffered, node.payload, payload)
            buffered += padded
        } else {
            // Written directly from its memory; the padding follows.
            try flush()
            try sink.write(node.payload, payload, at: start)
            start += payload
            passed += payload
            buffer.storeBytes(of: 0, as: UInt64.self)
            buffered = padded - payload
            try flush()
        }
    }

    /// Writes an array of numbers, all of which fit `width`.
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
            passed += padded
        }
    }

    mutating func write(_ values: [Int64], width: Int, flags: UInt8 = 0) throws(RealmError) {
        try write(values, count: values.count, width: width, flags: flags)
    }

    /// Writes bytes that are not a node; at most as many as the buffer holds.
    mutating func write(_ count: Int, _ fill: (UnsafeMutableRawPointer) -> Void) throws(RealmError) {
        try makeRoom(count)
        fill(buffer + buffered)
        buffered += count
    }

    @inline(__always) private mutating func put(_ header: NodeHeader) {
        (buffer + buffered).storeBytes(of: header.diskWord.littleEndian, as: UInt64.self)
        buffered += 8
    }

    /// Zeroes the last word of the next `padded` bytes; stored elements overwrite a part of it.
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
        case 64: CMemory.copy(payload, values, count * 8)
        default:
            let node = Node(address: payload - 8, ref: .null, count: count, width: width, flags: 0)
            for i in 0..<count { node.put(i, values[i]) }
        }
    }
}
