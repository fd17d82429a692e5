/// Constants as the query language writes them: a text that parses to the same value, where there is one. Rules:
/// query-language §15.
enum ConstantText {
    /// The text of a value. A link that names its class needs the table: its text is the caller's.
    static func of(_ value: Mixed) -> String {
        switch value {
        case .null, .slot: "NULL"
        case .int(let integer): String(integer)
        case .bool(let flag): flag ? "true" : "false"
        case .float(let float): number(Double(float), digits: 9)
        case .double(let double): number(double, digits: 17)
        case .decimal(let decimal): self.decimal(decimal)
        case .string(let bytes): text(bytes)
        case .binary(let bytes): "binary(\(text(bytes)))"
        case .timestamp(let time): "T\(time.seconds):\(time.nanoseconds)"
        case .objectId(let id): "oid(\(id))"
        case .uuid(let id): "uuid(\(id))"
        case .link(let key): "O\(key.raw)"
        case .typedLink(let table, let key): "L\(table.raw):\(key.raw)"
        case .list: "[]"
        case .dictionary: "{}"
        }
    }

    private static func number(_ value: Double, digits: Int) -> String {
        if value.isNaN { return "nan" }
        if value.isInfinite { return value < 0 ? "-inf" : "inf" }
        return CNumbers.general(value, digits: digits)
    }

    private static func text(_ bytes: Bytes) -> String {
        var plain = true
        var position = 0
        while position < bytes.count {
            let byte = bytes[position]
            if byte < 0x80 {
                let isSafe = (byte >= 0x20 && byte < 0x7F) && byte != 0x22 && byte != 0x27 && byte != 0x5C
                if !isSafe {
                    plain = false
                    break
                }
                position += 1
            } else {
                let length = byte >= 0xF0 && byte < 0xF8 ? 4 : (byte >= 0xE0 ? 3 : (byte >= 0xC2 ? 2 : 0))
                guard length > 0, position + length <= bytes.count,
                    !(1..<length).contains(where: { bytes[position + $0] & 0xC0 != 0x80 })
                else {
                    plain = false
                    break
                }
                position += length
            }
        }
        return plain ? "\"" + String(decoding: bytes, as: UTF8.self) + "\"" : "B64\"" + Base64.encode(bytes) + "\""
    }

    /// The stored digits, with a point or an exponent.
    private static func decimal(_ value: Decimal128) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value.isNegative ? "-Inf" : "Inf" }
        let (coefficient, exponent) = value.parts
        let digits = String(coefficient)
        let sign = value.isNegative ? "-" : ""
        if coefficient > UInt128(UInt64.max) {
            let (one, two) = (value.isNegative ? "-" : "+", exponent < 0 ? "-" : "+")
            return one + digits + "E" + two + String(exponent.magnitude)
        }
        // Plain digits would be read as an integer and saturate, so add an exponent.
        if exponent == 0 { return sign + digits + (coefficient > UInt128(Int64.max) ? "E0" : "") }
        let point = digits.utf8.count + exponent
        if exponent < 0 && point > 0 { return sign + digits.prefix(point) + "." + digits.dropFirst(point) }
        let tail = digits.dropFirst()
        return sign + digits.prefix(1) + (tail.isEmpty ? "" : "." + tail) + "E" + String(point - 1)
    }
}
