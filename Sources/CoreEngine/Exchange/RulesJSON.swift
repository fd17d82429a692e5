/// The rules of a class as JSON: how programs of every language declare them and read them back. Grammar: docs/rules.md,
/// "The JSON form".
extension ClassRules {
    /// Reads the rules of one class.
    ///
    /// - Parameter property: the type of a property, for short forms; nil when there is no such property.
    /// - Throws: 4201 for malformed JSON, 3000 for an unknown name or a value of a wrong kind.
    package init(json text: Bytes) throws(RealmError) { self = try Self.read(try JSONValue.parse(text)) }

    /// Reads the rules of several classes: an object with the rules of each class by its name.
    package static func classes(json text: Bytes) throws(RealmError) -> [Name: ClassRules] {
        guard case .object(let members) = try JSONValue.parse(text) else {
            throw wrong("an object of classes is needed")
        }
        var all: [Name: ClassRules] = [:]
        for member in members { all[name(member.name)] = try read(member.value) }
        return all
    }

    private static func wrong(_ what: String) -> RealmError { RealmError(.invalidArgument, "Rules in JSON: \(what)") }

    private static func name(_ bytes: [UInt8]) -> Name { Name(String(decoding: bytes, as: UTF8.self)) }

    private static func text(_ json: JSONValue, _ what: String) throws(RealmError) -> String {
        guard case .string(let bytes) = json else { throw wrong("'\(what)' is a text") }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func flag(_ json: JSONValue, _ what: String) throws(RealmError) -> Bool {
        guard case .bool(let flag) = json else { throw wrong("'\(what)' is true or false") }
        return flag
    }

    private static func read(_ json: JSONValue) throws(RealmError) -> ClassRules {
        var rules = ClassRules()
        guard case .object(let members) = json else { throw wrong("the rules of a class are an object") }
        for member in members {
            switch name(member.name).text {
            case "properties":
                guard case .object(let properties) = member.value else { throw wrong("'properties' is an object") }
                for property in properties { try rules.add(property.value, of: name(property.name)) }
            case "unique":
                guard case .array(let all) = member.value else { throw wrong("'unique' is a list") }
                for one in all { rules.unique.append(try unique(one)) }
            case "checks":
                guard case .array(let all) = member.value else { throw wrong("'checks' is a list") }
                for one in all { rules.checks.append(try check(one)) }
            case "renamed_from": rules.renamedFrom = Name(try text(member.value, "renamed_from"))
            case "subclasses": try rules.addSubclasses(member.value)
            case "computed":
                guard case .object(let all) = member.value else { throw wrong("'computed' is an object") }
                for one in all { rules.computed[name(one.name)] = try text(one.value, "computed") }
            case let other: throw wrong("unknown name '\(other)' in the rules of a class")
            }
        }
        return rules
    }

    private mutating func addSubclasses(_ json: JSONValue) throws(RealmError) {
        guard case .object(let members) = json else { throw Self.wrong("'subclasses' is an object") }
        for member in members {
            let what = Self.name(member.name).text
            switch what {
            case "by": typeProperty = Name(try Self.text(member.value, what))
            case "name": typeName = try Self.text(member.value, what)
            case "abstract": isAbstract = try Self.flag(member.value, what)
            case "classes":
                guard case .object(let all) = member.value else { throw Self.wrong("'classes' is an object") }
                for one in all { subclasses.append(try Self.subclass(Self.name(one.name).text, one.value)) }
            default: throw Self.wrong("unknown name '\(what)' in 'subclasses'")
            }
        }
        guard typeProperty != nil else { throw Self.wrong("'subclasses' needs 'by', the property that names them") }
    }

    private static func subclass(_ called: String, _ json: JSONValue) throws(RealmError) -> Subclass {
        guard case .object(let members) = json else { throw wrong("the subclass '\(called)' is an object") }
        var subclass = Subclass(called)
        for member in members {
            switch name(member.name).text {
            case "extends": subclass.parent = try text(member.value, "extends")
            case "abstract": subclass.isAbstract = try flag(member.value, "abstract")
            case "properties":
                guard case .array(let names) = member.value else { throw wrong("'properties' is a list") }
                for one in names { subclass.properties.append(Name(try text(one, "properties"))) }
            case let other: throw wrong("unknown name '\(other)' in the subclass '\(called)'")
            }
        }
        return subclass
    }

    private static func unique(_ json: JSONValue) throws(RealmError) -> Unique {
        var list = json, unique = Unique([])
        if case .object(let members) = json {
            list = .null
            for member in members {
                switch name(member.name).text {
                case "properties": list = member.value
                case "name": unique.name = try text(member.value, "name")
                case "ignore_case": unique.ignoresCase = try flag(member.value, "ignore_case")
                case "nulls_equal": unique.nullsAreEqual = try flag(member.value, "nulls_equal")
                case let other: throw wrong("unknown name '\(other)' in a unique rule")
                }
            }
        }
        if case .string(let only) = list { list = .array([.string(only)]) }
        guard case .array(let names) = list else { throw wrong("a unique rule has a list of properties") }
        for one in names { unique.properties.append(Name(try text(one, "unique"))) }
        return unique
    }

    private static func check(_ json: JSONValue) throws(RealmError) -> Check {
        guard case .object(let members) = json else { return Check(try text(json, "check")) }
        var check = Check("")
        for member in members {
            switch name(member.name).text {
            case "condition": check.condition = try text(member.value, "condition")
            case "name": check.name = try text(member.value, "name")
            case "at":
                guard ["call", "commit"].contains(try text(member.value, "at")) else {
                    throw wrong("'at' of a check is 'call' or 'commit'")
                }
                check.isAtCall = member.value.isText("call")
            case let other: throw wrong("unknown name '\(other)' in a check")
            }
        }
        return check
    }

    private mutating func add(_ json: JSONValue, of property: Name) throws(RealmError) {
        guard case .object(let members) = json else {
            throw Self.wrong("the rules of property '\(property)' are an object")
        }
        for member in members {
            let what = Self.name(member.name).text
            switch what {
            case "on_delete": onDelete[property] = try Self.deleteRule(member.value, what)
            case "on_target_delete": onTargetDelete[property] = try Self.deleteRule(member.value, what)
            case "renamed_from": renamedProperties[property] = Name(try Self.text(member.value, what))
            case "auto": if try Self.flag(member.value, what) { automatic.insert(property) }
            case "created": if try Self.flag(member.value, what) { created.insert(property) }
            case "modified": if try Self.flag(member.value, what) { modified.insert(property) }
            case "revision": if try Self.flag(member.value, what) { revision.insert(property) }
            case "unique": if try Self.flag(member.value, what) { unique.append(Unique([property])) }
            case "default": initial[property] = try Self.initial(member.value, property)
            case "required": if try Self.flag(member.value, what) { try add(.required, property, .null) }
            default:
                guard let form = ShortForm(rawValue: what) else {
                    throw Self.wrong("unknown name '\(what)' in the rules of property '\(property)'")
                }
                try add(form, property, try Self.limit(member.value, what))
            }
        }
    }

    private static func limit(_ json: JSONValue, _ what: String) throws(RealmError) -> Mixed {
        let value = try JSONValue.mixed(json) { (_, _, _) throws(RealmError) in throw wrong("'\(what)' is a link") }
        switch value {
        case .int(let integer): return .int(integer)
        case .double(let number): return .double(number)
        case .single(let mixed): return mixed
        default: return .null
        }
    }

    private static let deleteRules: [(String, DeleteRule)] = [
        ("nullify", .nullify), ("cascade", .cascade), ("cascade_last", .cascadeLast), ("deny", .deny),
    ]

    private static func deleteRule(_ json: JSONValue, _ what: String) throws(RealmError) -> DeleteRule {
        let text = try text(json, what)
        guard let rule = deleteRules.first(where: { $0.0 == text }) else {
            throw wrong("'\(what)' is nullify, cascade, cascade_last or deny, not '\(text)'")
        }
        return rule.1
    }

    private static func initial(_ json: JSONValue, _ property: Name) throws(RealmError) -> Initial {
        if case .object(let members) = json, members.count == 1 {
            switch name(members[0].name).text {
            case "$now": return .now
            case "$new" where members[0].value.isText("uuid"): return .newUUID
            case "$new" where members[0].value.isText("objectid"): return .newObjectId
            default: break
            }
        }
        let value = try JSONValue.mixed(json) { (_, _, _) throws(RealmError) in
            throw wrong("the default of property '\(property)' is a link")
        }
        switch value {
        case .null: return .constant(.single(.null))
        case .bool(let flag): return .constant(.single(.bool(flag)))
        case .int(let integer): return .constant(.single(.int(integer)))
        case .double(let number): return .constant(.single(.double(number)))
        case .string(let text): return .constant(.string(text))
        case .binary(let bytes): return .constant(.binary(bytes))
        case .single(let mixed): return .constant(StoredValue(mixed))
        case .array, .object: throw wrong("the default of property '\(property)' is no plain value")
        }
    }

    // MARK: Writing

    /// The rules as JSON; the same rules have the same text.
    func json(_ group: Group) throws(RealmError) -> String {
        var constants: [Name: String] = [:]
        for (name, value) in initial { constants[name] = try Self.text(value, group) }
        var out = JSONText()
        out.object { object in
            let names = Set(onDelete.keys).union(onTargetDelete.keys).union(automatic).union(initial.keys)
                .union(created).union(modified).union(revision)
            object.field("properties") { field in
                field.object { properties in
                    for name in names.sorted() {
                        properties.field(name.text) { property in
                            property.object { write(name, constants[name], to: &$0) }
                        }
                    }
                }
            }
            object.field("unique") { field in
                field.open("[")
                for one in unique { Self.write(one, to: &field) }
                field.close("]")
            }
            object.field("checks") { field in
                field.open("[")
                for one in checks {
                    field.object { check in
                        if !one.name.isEmpty { check.field("name") { $0.text(one.name) } }
                        check.field("condition") { $0.text(one.condition) }
                        if one.isAtCall { check.field("at") { $0.text("call") } }
                    }
                }
                field.close("]")
            }
            if typeProperty != nil { object.field("subclasses") { writeSubclasses(to: &$0) } }
            if !computed.isEmpty {
                object.field("computed") { field in
                    field.object { all in
                        for (name, expression) in computed.sorted(by: { $0.key < $1.key }) {
                            all.field(name.text) { $0.text(expression) }
                        }
                    }
                }
            }
        }
        return out.text
    }

    private func write(_ name: Name, _ constant: String?, to out: inout JSONText) {
        func rule(_ rule: DeleteRule?) -> String? { Self.deleteRules.first { $0.1 == rule }?.0 }
        if let text = rule(onDelete[name]) { out.field("on_delete") { $0.text(text) } }
        if let text = rule(onTargetDelete[name]) { out.field("on_target_delete") { $0.text(text) } }
        if automatic.contains(name) { out.field("auto") { $0.bool(true) } }
        if let constant { out.field("default") { $0.raw(constant) } }
        if created.contains(name) { out.field("created") { $0.bool(true) } }
        if modified.contains(name) { out.field("modified") { $0.bool(true) } }
        if revision.contains(name) { out.field("revision") { $0.bool(true) } }
    }

    private func writeSubclasses(to out: inout JSONText) {
        out.object { object in
            object.field("by") { $0.text(typeProperty?.text ?? "") }
            if !typeName.isEmpty { object.field("name") { $0.text(typeName) } }
            if isAbstract { object.field("abstract") { $0.bool(true) } }
            object.field("classes") { field in
                field.object { all in
                    for one in subclasses.sorted(by: { Name($0.name) < Name($1.name) }) {
                        all.field(one.name) { field in
                            field.object { subclass in
                                subclass.field("extends") { $0.text(one.parent) }
                                subclass.field("properties") { list in
                                    list.open("[")
                                    for name in one.properties { list.text(name.text) }
                                    list.close("]")
                                }
                                if one.isAbstract { subclass.field("abstract") { $0.bool(true) } }
                            }
                        }
                    }
                }
            }
        }
    }

    private static func write(_ unique: Unique, to out: inout JSONText) {
        out.object { object in
            if !unique.name.isEmpty { object.field("name") { $0.text(unique.name) } }
            object.field("properties") { field in
                field.open("[")
                for property in unique.properties { field.text(property.text) }
                field.close("]")
            }
            if unique.ignoresCase { object.field("ignore_case") { $0.bool(true) } }
            if unique.nullsAreEqual { object.field("nulls_equal") { $0.bool(true) } }
        }
    }

    private static func text(_ initial: Initial, _ group: Group) throws(RealmError) -> String {
        switch initial {
        case .now: return "{\"$now\":true}"
        case .newUUID: return "{\"$new\":\"uuid\"}"
        case .newObjectId: return "{\"$new\":\"objectid\"}"
        case .constant(let stored):
            var writer = MixedText(group), text = ""
            try stored.withMixed { (value) throws(RealmError) in
                try writer.write(value) { (bytes) throws(RealmError) in text = String(decoding: bytes, as: UTF8.self) }
            }
            return text
        }
    }
}

extension Realm {
    /// The rules of a class as JSON.
    package func rulesJSON(of table: TableKey) throws(RealmError) -> String {
        try rules(of: table).json(try reading().group)
    }
}

extension JSONValue {
    fileprivate func isText(_ text: String) -> Bool {
        if case .string(let bytes) = self { bytes.elementsEqual(text.utf8) } else { false }
    }
}
