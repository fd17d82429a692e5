/// Bytes as text of 64 letters (RFC 4648, section 4).
enum Base64 {
    /// The text of `bytes`, with padding.
    static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
        let letters: StaticString = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        var out: [UInt8] = []
        out.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            var group = 0
            for i in 0..<3 { group = group << 8 | (start + i < bytes.count ? Int(bytes[start + i]) : 0) }
            for i in 0..<4 {
                let isPadding = start + i > bytes.count
                out.append(isPadding ? 0x3D : letters.utf8Start[group >> (18 - 6 * i) & 63])
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// The bytes of `text`; padding is optional. nil when the text is not valid.
    static func decode(_ text: String) -> [UInt8]? {
        var out: [UInt8] = []
        var buffer: UInt32 = 0, bits = 0
        var padding = 0, count = 0
        for byte in text.utf8 {
            if byte == 0x3D {
                padding += 1
                continue
            }
            guard padding == 0 else { return nil }
            let sextet: UInt8
            switch byte {
            case 0x41...0x5A: sextet = byte - 0x41
            case 0x61...0x7A: sextet = byte - 0x61 + 26
            case 0x30...0x39: sextet = byte - 0x30 + 52
            case 0x2B: sextet = 62
            case 0x2F: sextet = 63
            default: return nil
            }
            count += 1
            buffer = (buffer << 6 | UInt32(sextet)) & 0xFF_FFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                out.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        return count % 4 == 1 || padding > 2 ? nil : out
    }
}
