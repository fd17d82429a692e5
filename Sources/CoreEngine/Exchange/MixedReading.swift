extension JSONValue {
    /// Reads a text of `MixedText`, or any other JSON. An object without `$` marks is a dictionary.
    ///
    /// - Parameter link: finds an object by the primary key of its class, or by its object key.
    static func mixed(
        _ json: JSONValue, _ link: (Name, Mixed, _ isKey: Bool) throws(RealmError) -> Mixed
    ) throws(RealmError) -> JSONValue {
        switch json {
        case .array(let elements):
            var all: [JSONValue] = []
            for element in elements { all.append(try mixed(element, link)) }
            return .array(all)
        case .object(let members):
            if let first = members.first, first.name.first == UInt8(ascii: "$"), let value = try marked(members, link) {
                return value
            }
            var all: [(name: [UInt8], value: JSONValue)] = []
            for member in members { all.append((member.name, try mixed(member.value, link))) }
            return .object(all)
        default: return json
        }
    }

    private static func marked(
        _ members: [(name: [UInt8], value: JSONValue)], _ link: (Name, Mixed, Bool) throws(RealmError) -> Mixed
    ) throws(RealmError) -> JSONValue? {
        func member(_ name: StaticString) -> JSONValue? {
            members.first {
                $0.name.elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
            }?.value
        }
        if members.count == 2 {
            if case .int(let seconds)? = member("$seconds"), case .int(let rest)? = member("$nanoseconds"),
                let nanoseconds = Int32(exactly: rest)
            {
                return .single(.timestamp(Timestamp(seconds: seconds, nanoseconds: nanoseconds)))
            }
            if case .string(let name)? = member("$class") {
                let name = Name(String(decoding: name, as: UTF8.self))
                if case .int(let key)? = member("$ref") { return .single(try link(name, .int(key), true)) }
                guard let id = member("$primaryKey") else { return nil }
                return .single(
                    try primaryKey(try mixed(id, link)) { (v) throws(RealmError) in try link(name, v, false) })
            }
            return nil
        }
        guard members.count == 1 else { return nil }
        if case .array(let pairs)? = member("$dict") {
            var all: [(name: [UInt8], value: JSONValue)] = []
            for pair in pairs {
                guard case .array(let both) = pair, both.count == 2, case .string(let name) = both[0] else {
                    return nil
                }
                all.append((name, try mixed(both[1], link)))
            }
            return .object(all)
        }
        switch member("$float32") {
        case .double(let number)?: return .single(.float(Float(number)))
        case .int(let i)?: return .single(.float(Float(i)))
        case .string(let text)?: return special(text, Float.self).map { .single(.float($0)) }
        default: break
        }
        if case .string(let text)? = member("$float") {
            if let number = special(text, Double.self) { return .single(.double(number)) }
            return Double(String(decoding: text, as: UTF8.self)).flatMap { $0.isFinite ? .double($0) : nil }
        }
        if case .string(let text)? = member("$decimal") { return decimal(text).map { .single(.decimal($0)) } }
        if case .string(let text)? = member("$bytes") {
            return Base64.decode(String(decoding: text, as: UTF8.self)).map { .binary($0) }
        }
        if case .string(let text)? = member("$objectId"), let words = words(text, digits: 24),
            let low = UInt32(exactly: words.low >> 32)
        {
            return .single(.objectId(ObjectId(high: words.high, low: low)))
        }
        if case .string(let text)? = member("$uuid"), let words = words(text, digits: 32) {
            return .single(.uuid(UUIDValue(high: words.high, low: words.low)))
        }
        return nil
    }

    private static func primaryKey(_ value: JSONValue, _ body: (Mixed) throws(RealmError) -> Mixed) throws(RealmError)
        -> Mixed
    {
        switch value {
        case .string(let text): try text.withBytes { (b) throws(RealmError) in try body(.string(b)) }
        case .int(let i): try body(.int(i))
        case .single(let value): try body(value)
        default: try body(.null)
        }
    }

    /// Reads what `MixedText` writes for an infinity or a NaN.
    private static func special<F: BinaryFloatingPoint>(_ text: [UInt8], _: F.Type) -> F? {
        var rest = text[...]
        let sign: FloatingPointSign = rest.first == UInt8(ascii: "-") ? .minus : .plus
        if sign == .minus { rest = rest.dropFirst() }
        if rest.elementsEqual("Infinity".utf8) { return sign == .minus ? -.infinity : .infinity }
        guard rest.prefix(3).elementsEqual("NaN".utf8) else { return nil }
        rest = rest.dropFirst(3)
        var bits = F.nan.significandBitPattern
        if rest.first == UInt8(ascii: ":") {
            guard let read = number(rest.dropFirst()), read != 0, let fits = F.RawSignificand(exactly: read),
                fits >> F.significandBitCount == 0
            else { return nil }
            (bits, rest) = (fits, [])
        }
        return rest.isEmpty
            ? F(sign: sign, exponentBitPattern: F.infinity.exponentBitPattern, significandBitPattern: bits) : nil
    }

    private static func decimal(_ text: [UInt8]) -> Decimal128? {
        guard text.starts(with: "bits:".utf8) else { return Decimal128(text: text) }
        return words(text.dropFirst(5), digits: 32).map { Decimal128(low: $0.low, high: $0.high) }
    }

    /// A hexadecimal number of at most 64 bits.
    private static func number(_ digits: some Collection<UInt8>) -> UInt64? {
        guard !digits.isEmpty, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else { return nil }
        return UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    /// Hexadecimal digits, possibly with hyphens, as two words filled from the most significant end.
    private static func words(_ text: some Collection<UInt8>, digits: Int) -> (high: UInt64, low: UInt64)? {
        let all = text.filter { $0 != UInt8(ascii: "-") }
        guard all.count == digits, let high = number(all.prefix(16)), let low = number(all.dropFirst(16)) else {
            return nil
        }
        return (high, low << UInt64((32 - digits) * 4))
    }
}
