/// Whether the bytes are valid UTF-8. ASCII is checked eight bytes at a time.
@inline(__always) package func isUTF8(_ bytes: Bytes) -> Bool {
    guard let p = bytes.baseAddress else { return true }
    var position = 0
    while position &+ 8 <= bytes.count {
        if p.loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 {
            return isUTF8Slow(bytes, from: position)
        }
        position &+= 8
    }
    while position < bytes.count {
        if p.load(fromByteOffset: position, as: UInt8.self) >= 0x80 { return isUTF8Slow(bytes, from: position) }
        position &+= 1
    }
    return true
}

@inline(never) package func isUTF8Slow(_ bytes: Bytes, from start: Int) -> Bool {
    var position = start
    while position < bytes.count {
        let first = bytes[position]
        let length: Int
        let least: UInt32
        var point: UInt32
        switch first {
        case 0x00...0x7F:
            position += 1
            continue
        case 0xC2...0xDF: (length, least, point) = (2, 0x80, UInt32(first & 0x1F))
        case 0xE0...0xEF: (length, least, point) = (3, 0x800, UInt32(first & 0x0F))
        case 0xF0...0xF4: (length, least, point) = (4, 0x1_0000, UInt32(first & 0x07))
        default: return false
        }
        guard position + length <= bytes.count else { return false }
        for j in 1..<length {
            let byte = bytes[position + j]
            guard byte & 0xC0 == 0x80 else { return false }
            point = point << 6 | UInt32(byte & 0x3F)
        }
        guard point >= least, point <= 0x10_FFFF, !(0xD800...0xDFFF).contains(point) else { return false }
        position += length
    }
    return true
}
