/// What a check found, as JSON.
extension FileCheck {
    package var json: String {
        JSONLine.object([
            ("file", .text(facts.path)), ("result", .text(["sound", "faulty", "unreadable"][Int(result.rawValue)])),
            ("sound", result == .unreadable ? .null : .bool(result == .sound)), ("info", facts.jsonLine),
            ("versions", .array(versions.map(\.jsonLine))), ("faultCount", .number(UInt64(total))),
            ("faults", .array(faults.map { Self.jsonLine($0.fault, $0.slot) })),
        ]).text
    }
    private static func jsonLine(_ f: Fault, _ slot: Int?) -> JSONLine {
        .object([
            ("slot", .number(slot)), ("kind", .text(f.kind.name)), ("offset", .number(UInt64(f.offset))), ("class", .text(f.table?.text)),
            ("property", .text(f.property?.text)), ("object", .number(f.object.map { Int($0.raw) })), ("message", .text(f.message)),
        ])
    }
}
extension FileCheck.Version {
    fileprivate var jsonLine: JSONLine {
        .object([
            ("version", .number(number)), ("slot", .number(slot)), ("newest", .bool(isNewest)),
            ("state", .text(["sound", "faulty", "reused"][Int(state.rawValue) - 1])),
            ("faultCount", .number(UInt64(faultCount))),
        ])
    }
}
extension FileFacts {
    fileprivate var jsonLine: JSONLine {
        .object([
            ("kind", .text(["empty", "realm", "encrypted", "other"][Int(kind.rawValue)])),
            ("encryption", .text(["none", "CRealm", "Realm"][Int(form.rawValue)])),
            ("use", .text(["none", "read", "upgrade", "write"][Int(use.rawValue)])), ("size", .number(UInt64(fileSize))),
            ("dataSize", kind == .realm ? .number(UInt64(dataSize)) : .null), ("format", newest.format == 0 ? .null : .number(UInt64(newest.format))),
            ("streaming", .bool(isStreaming)), ("selectedSlot", .number(selectedSlot)),
            ("slots", .array(slots.map(\.jsonLine))), ("newest", newest.jsonLine), ("writer", .text(writer)), ("problem", .text(problem)),
        ])
    }
}
extension FileFacts.Slot {
    private var historyName: String {
        switch historyType {
        case 0: "none"
        case 1: "outside the file"
        case 2: "in the file"
        case 3: "sync client"
        case 4: "sync server"
        default: "\(historyType)"
        }
    }
    fileprivate var jsonLine: JSONLine {
        .object([
            ("state", .text(["empty", "version", "damaged", "streaming mark", "unknown"][Int(state.rawValue)])), ("format", .number(UInt64(format))),
            ("topRef", .number(topRef)), ("version", state == .version ? .number(version) : .null),
            ("logicalSize", state == .version ? .number(UInt64(logicalSize)) : .null),
            ("history", state == .version ? .text(historyName) : .null), ("problem", .text(problem)),
        ])
    }
}

/// A JSON value to be written.
private indirect enum JSONLine {
    case text(String?)
    case number(UInt64)
    case bool(Bool)
    case null
    case array([JSONLine])
    case object([(String, JSONLine)])

    static func number(_ n: Int?) -> JSONLine { n.map { $0 < 0 ? .null : .number(UInt64($0)) } ?? .null }

    var text: String {
        var out = ""
        write(to: &out)
        return out
    }
    private func write(to out: inout String) {
        switch self {
        case .null, .text(nil): out += "null"
        case .bool(let b): out += b ? "true" : "false"
        case .number(let n): out += String(n)
        case .text(let text?): Self.quote(text, &out)
        case .array(let elements): Self.join(elements, "[", "]", &out) { $0.write(to: &$1) }
        case .object(let members):
            Self.join(members, "{", "}", &out) { member, out in
                Self.quote(member.0, &out)
                out += ": "
                member.1.write(to: &out)
            }
        }
    }
    private static func join<Element>(
        _ elements: [Element], _ open: String, _ close: String, _ out: inout String, _ write: (Element, inout String) -> Void
    ) {
        out += open
        for (i, element) in elements.enumerated() {
            if i > 0 { out += ", " }
            write(element, &out)
        }
        out += close
    }
    private static func quote(_ text: String, _ out: inout String) {
        out += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                out += "\\"
                out.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            default: out.unicodeScalars.append(scalar)
            }
        }
        out += "\""
    }
}
