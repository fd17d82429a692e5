extension JSONValue {
    /// The member of an object with this name; nil if there is none, or the value is no object.
    func member(_ name: StaticString) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return members.first { $0.name.elementsEqual(wanted) }?.value
    }

    /// Whether the value is this text, byte for byte.
    func isText(_ text: some Collection<UInt8>) -> Bool {
        if case .string(let bytes) = self { bytes.elementsEqual(text) } else { false }
    }

    var integer: Int64? { if case .int(let number) = self { number } else { nil } }
    var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }
    var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
    var members: [(name: [UInt8], value: JSONValue)]? { if case .object(let members) = self { members } else { nil } }
    var text: String? { if case .string(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil } }
    var isNull: Bool { if case .null = self { true } else { false } }

    /// Writes the value; the names of objects ascend.
    func write(to out: inout JSONText) {
        switch self {
        case .null, .binary, .single: out.null()
        case .bool(let flag): out.bool(flag)
        case .int(let number): out.number(number)
        case .double(let number): out.raw("\(number)")
        case .string(let text): out.quoted(text)
        case .array(let elements):
            out.open("[")
            for element in elements { element.write(to: &out) }
            out.close("]")
        case .object(let members):
            out.open("{")
            for member in members.sorted(by: { $0.name.lexicographicallyPrecedes($1.name) }) {
                out.name(member.name)
                member.value.write(to: &out)
            }
            out.close("}")
        }
    }

    var json: [UInt8] {
        var out = JSONText()
        write(to: &out)
        return out.bytes
    }

    static func parse(_ bytes: [UInt8]) throws(RealmError) -> JSONValue {
        try bytes.withBytes { (text) throws(RealmError) in try parse(text) }
    }
}
