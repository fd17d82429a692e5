/// Whether the bytes are UTF-8. ASCII goes eight bytes at a time.
@inline(__always) package func isUTF8(_ b: Bytes) -> Bool {
    guard let p = b.baseAddress else { return true }
    var i = 0
    while i &+ 8 <= b.count {
        if p.loadUnaligned(fromByteOffset: i, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 {
            return isUTF8Slow(b, from: i)
        }
        i &+= 8
    }
    while i < b.count {
        if p.load(fromByteOffset: i, as: UInt8.self) >= 0x80 { return isUTF8Slow(b, from: i) }
        i &+= 1
    }
    return true
}

@inline(never) package func isUTF8Slow(_ b: Bytes, from start: Int) -> Bool {
    var i = start
    while i < b.count {
        let c = b[i]
        let length: Int
        let least: UInt32
        var point: UInt32
        switch c {
        case 0x00...0x7F:
            i += 1
            continue
        case 0xC2...0xDF: (length, least, point) = (2, 0x80, UInt32(c & 0x1F))
        case 0xE0...0xEF: (length, least, point) = (3, 0x800, UInt32(c & 0x0F))
        case 0xF0...0xF4: (length, least, point) = (4, 0x1_0000, UInt32(c & 0x07))
        default: return false
        }
        guard i + length <= b.count else { return false }
        for j in 1..<length {
            let d = b[i + j]
            guard d & 0xC0 == 0x80 else { return false }
            point = point << 6 | UInt32(d & 0x3F)
        }
        guard point >= least, point <= 0x10_FFFF, !(0xD800...0xDFFF).contains(point) else { return false }
        i += length
    }
    return true
}
