/// The result of a check as JSON.
extension FileCheck {
    package var json: String {
        JSONLine.object([
            ("file", .text(facts.path)), ("result", .text(["sound", "faulty", "unreadable"][Int(result.rawValue)])),
            ("sound", result == .unreadable ? .null : .bool(result == .sound)), ("info", facts.jsonLine),
            ("versions", .array(versions.map(\.jsonLine))), ("faultCount", .number(UInt64(total))),
            ("faults", .array(faults.map { Self.jsonLine($0.fault, $0.slot) })),
        ]).text
    }

    private static func jsonLine(_ fault: Fault, _ slot: Int?) -> JSONLine {
        .object([
            ("slot", .number(slot)), ("kind", .text(fault.kind.name)), ("offset", .number(UInt64(fault.offset))),
            ("class", .text(fault.table?.text)),
            ("property", .text(fault.property?.text)), ("object", .number(fault.object.map { Int($0.raw) })),
            ("message", .text(fault.message)),
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
            ("use", .text(["none", "read", "upgrade", "write"][Int(use.rawValue)])),
            ("size", .number(UInt64(fileSize))),
            ("dataSize", kind == .realm ? .number(UInt64(dataSize)) : .null),
            ("format", newest.format == 0 ? .null : .number(UInt64(newest.format))),
            ("streaming", .bool(isStreaming)), ("selectedSlot", .number(selectedSlot)),
            ("slots", .array(slots.map(\.jsonLine))), ("newest", newest.jsonLine), ("writer", .text(writer)),
            ("problem", .text(problem)),
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
            ("state", .text(["empty", "version", "damaged", "streaming mark", "unknown"][Int(state.rawValue)])),
            ("format", .number(UInt64(format))),
            ("topRef", .number(topRef)), ("version", state == .version ? .number(version) : .null),
            ("logicalSize", state == .version ? .number(UInt64(logicalSize)) : .null),
            ("history", state == .version ? .text(historyName) : .null), ("problem", .text(problem)),
        ])
    }
}

/// A JSON value to write.
private indirect enum JSONLine {
    case text(String?)
    case number(UInt64)
    case bool(Bool)
    case null
    case array([JSONLine])
    case object([(String, JSONLine)])

    static func number(_ number: Int?) -> JSONLine { number.map { $0 < 0 ? .null : .number(UInt64($0)) } ?? .null }

    var text: String {
        var out = JSONText()
        write(to: &out)
        return out.text
    }

    private func write(to out: inout JSONText) {
        switch self {
        case .null: out.null()
        case .bool(let flag): out.bool(flag)
        case .number(let number): out.number(number)
        case .text(let text): out.text(text)
        case .array(let elements): out.array(elements) { $1.write(to: &$0) }
        case .object(let members):
            out.object { out in for (name, value) in members { out.field(name) { value.write(to: &$0) } } }
        }
    }
}
