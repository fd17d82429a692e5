/// A view of one node: a validated header and the address of its bytes. Trivial; owns nothing.
///
/// Valid while the snapshot exists (nodes of the file), or until the node is freed or reallocated (slab nodes). Element
/// accessors expect `0 ≤ i < count`; a caller that gets `i` from a file or a user checks it first.
struct Node {
    /// Address of the header; the payload starts 8 bytes later.
    var address: UnsafeMutableRawPointer
    var ref: Ref
    var count: Int

    /// Bits per element (width type bits), or bytes (multiply).
    var width: Int
    var flags: UInt8

    /// All refs in this node must be below this limit: a node of the file never refers to the slab, whatever its bytes
    /// contain.
    var refLimit = Int64.max

    @inline(__always) var payload: UnsafeMutableRawPointer { address + 8 }
    @inline(__always) var isInner: Bool { flags & NodeHeader.innerFlag != 0 }
    @inline(__always) var hasRefs: Bool { flags & NodeHeader.hasRefsFlag != 0 }
    @inline(__always) var context: Bool { flags & NodeHeader.contextFlag != 0 }
    @inline(__always) var widthType: UInt8 { flags >> 3 & 3 }
    @inline(__always) var header: NodeHeader { NodeHeader(flags: flags, count: count) }

    /// Bytes of payload that hold elements.
    @inline(__always) var payloadSize: Int { header.payloadSize ?? 0 }

    /// Bytes the node occupies on disk.
    @inline(__always) var size: Int { 8 &+ Format.padded(payloadSize) }

    /// Payload bytes of a blob.
    @inline(__always) var blob: Bytes { Bytes(start: payload, count: count) }

    /// Whether two views describe the same node with the same header.
    func isSame(as other: Node) -> Bool {
        ref == other.ref && count == other.count && width == other.width && flags == other.flags
    }

    /// Element `i` of an ordinary integer array: widths 1, 2, 4 unsigned, 8 to 64 signed.
    @inline(__always) func get(_ i: Int) -> Int64 {
        switch width {
        case 64: return payload.load(fromByteOffset: i &* 8, as: Int64.self)
        case 32: return Int64(payload.load(fromByteOffset: i &* 4, as: Int32.self))
        case 16: return Int64(payload.load(fromByteOffset: i &* 2, as: Int16.self))
        case 8: return Int64(payload.load(fromByteOffset: i, as: Int8.self))
        case 4:
            return Int64(
                payload.load(fromByteOffset: i >> 1, as: UInt8.self) >> UInt8(truncatingIfNeeded: i & 1 &* 4) & 15)
        case 2:
            return Int64(
                payload.load(fromByteOffset: i >> 2, as: UInt8.self) >> UInt8(truncatingIfNeeded: i & 3 &* 2) & 3)
        case 1:
            return Int64(payload.load(fromByteOffset: i >> 3, as: UInt8.self) >> UInt8(truncatingIfNeeded: i & 7) & 1)
        default: return 0
        }
    }

    /// The index of the first element with a value; nil: no element has it.
    func firstIndex(of value: Int64) -> Int? {
        switch width {
        case 64: return firstIndex(value)
        case 32: return Int32(exactly: value).flatMap { firstIndex($0) }
        case 16: return Int16(exactly: value).flatMap { firstIndex($0) }
        case 8: return Int8(exactly: value).flatMap { firstIndex($0) }
        default:
            for i in 0..<count where get(i) == value { return i }
            return nil
        }
    }

    /// For elements of the type's width: sixteen are compared at once.
    @inline(__always) private func firstIndex<E: FixedWidthInteger>(_ value: E) -> Int? {
        let elements = payload.assumingMemoryBound(to: E.self)
        var i = 0
        while i &+ 16 <= count {
            var isAmong: E = 0
            for j in 0..<16 { isAmong |= elements[i &+ j] == value ? 1 : 0 }
            if isAmong != 0 { break }
            i &+= 16
        }
        while i < count {
            if elements[i] == value { return i }
            i &+= 1
        }
        return nil
    }

    /// Copies all elements, 64 bits wide.
    /// - Returns: if the elements are refs, whether all refs among them are below `refLimit`.
    func widen(to copy: UnsafeMutablePointer<Int64>) -> Bool {
        switch width {
        case 64: widen(to: copy, payload.assumingMemoryBound(to: Int64.self))
        case 32: widen(to: copy, payload.assumingMemoryBound(to: Int32.self))
        case 16: widen(to: copy, payload.assumingMemoryBound(to: Int16.self))
        default: widen(to: copy) { get($0) }
        }
    }

    @inline(__always) private func widen(
        to copy: UnsafeMutablePointer<Int64>, _ elements: UnsafePointer<some FixedWidthInteger>
    ) -> Bool {
        widen(to: copy) { Int64(truncatingIfNeeded: elements[$0]) }
    }

    @inline(__always) private func widen(to copy: UnsafeMutablePointer<Int64>, _ element: (Int) -> Int64) -> Bool {
        let last = refLimit &- 1
        var beyond: Int64 = 0
        for i in 0..<count {
            let value = element(i)
            copy[i] = value
            // Without branches; odd elements are integers.
            beyond |= (last &- value) & ((value & 1) &- 1)
        }
        return beyond >= 0
    }

    /// Element `i` of an unsigned array (cluster keys, tree offsets).
    @inline(__always) func getUnsigned(_ i: Int) -> UInt64 {
        switch width {
        case 64: return payload.load(fromByteOffset: i &* 8, as: UInt64.self)
        case 32: return UInt64(payload.load(fromByteOffset: i &* 4, as: UInt32.self))
        case 16: return UInt64(payload.load(fromByteOffset: i &* 2, as: UInt16.self))
        case 8: return UInt64(payload.load(fromByteOffset: i, as: UInt8.self))
        default: return UInt64(bitPattern: get(i))
        }
    }

    /// Stores an element into a slab node; its width must hold `value`.
    @inline(__always) func put(_ i: Int, _ value: Int64) {
        switch width {
        case 64: payload.storeBytes(of: value, toByteOffset: i &* 8, as: Int64.self)
        case 32: payload.storeBytes(of: Int32(truncatingIfNeeded: value), toByteOffset: i &* 4, as: Int32.self)
        case 16: payload.storeBytes(of: Int16(truncatingIfNeeded: value), toByteOffset: i &* 2, as: Int16.self)
        case 8: payload.storeBytes(of: Int8(truncatingIfNeeded: value), toByteOffset: i, as: Int8.self)
        case 4: putBits(i >> 1, UInt8(truncatingIfNeeded: i & 1 &* 4), 15, value)
        case 2: putBits(i >> 2, UInt8(truncatingIfNeeded: i & 3 &* 2), 3, value)
        case 1: putBits(i >> 3, UInt8(truncatingIfNeeded: i & 7), 1, value)
        default: break
        }
    }

    @inline(__always) private func putBits(_ byte: Int, _ shift: UInt8, _ mask: UInt8, _ value: Int64) {
        let old = payload.load(fromByteOffset: byte, as: UInt8.self)
        payload.storeBytes(
            of: old & ~(mask << shift) | (UInt8(truncatingIfNeeded: value) & mask) << shift, toByteOffset: byte,
            as: UInt8.self)
    }

    /// Zeroes the unused bits in the last byte of a slab node, so that the bytes on disk depend only on the elements.
    func clearUnusedBits() {
        guard widthType == 0, count &* width & 7 != 0 else { return }
        let last = (count &* width) >> 3
        let kept = UInt8(1) << UInt8(count &* width & 7) &- 1
        payload.storeBytes(
            of: payload.load(fromByteOffset: last, as: UInt8.self) & kept, toByteOffset: last, as: UInt8.self)
    }

    /// Element `i` as a child ref or tagged integer; `i` is checked.
    @inline(__always) func slot(_ i: Int) throws(RealmError) -> RefOrTagged {
        guard i >= 0 && i < count && hasRefs else { throw .corrupt("array has too few slots", at: ref.offset) }
        let slot = RefOrTagged(raw: get(i))
        guard slot.raw < refLimit || slot.isTagged else {
            throw .corrupt("ref beyond the end of the file", at: ref.offset)
        }
        return slot
    }

    /// Element `i`, which must be an untagged, possibly null ref.
    @inline(__always) func child(_ i: Int) throws(RealmError) -> Ref {
        let element = try slot(i)
        guard !element.isTagged else { throw .corrupt("an integer stands where a ref is expected", at: ref.offset) }
        return element.ref
    }

    /// First `i` in an ascending ordinary array with `get(i) >= value`.
    @inline(__always) func lowerBound(_ value: Int64) -> Int {
        var low = 0
        var length = count
        while length > 0 {
            let half = length >> 1
            if get(low &+ half) < value {
                low = low &+ half &+ 1
                length = length &- half &- 1
            } else {
                length = half
            }
        }
        return low
    }

    /// First `i` in an ascending unsigned array with `getUnsigned(i) >= value`.
    @inline(__always) func lowerBoundUnsigned(_ value: UInt64) -> Int {
        var low = 0
        var length = count
        while length > 0 {
            let half = length >> 1
            if getUnsigned(low &+ half) < value {
                low = low &+ half &+ 1
                length = length &- half &- 1
            } else {
                length = half
            }
        }
        return low
    }
}
