/// How values, objects and collections print. Printing never is a mistake: what cannot be read says why.

extension RealmValue: CustomStringConvertible, CustomDebugStringConvertible {
    /// A text as it is; texts inside of collections in quotes.
    public var description: String {
        switch self {
        case .null: "null"
        case .int(let v): String(v)
        case .bool(let v): String(v)
        case .string(let v): v
        case .data(let v): "\(v.count) bytes"
        case .date(let v): v.description
        case .float(let v): String(v)
        case .double(let v): String(v)
        case .decimal(let v): v.description
        case .objectId(let v): v.description
        case .uuid(let v): v.description
        case .link(_, let k): "object \(k.raw)"
        case .list(let v): "[" + v.map(\.debugDescription).joined(separator: ", ") + "]"
        case .dictionary(let v): v.isEmpty ? "[:]" : "[" + v.map(\.description).joined(separator: ", ") + "]"
        }
    }

    /// Texts in quotes.
    public var debugDescription: String { if case .string(let v) = self { v.debugDescription } else { description } }
}

extension RealmValue.Entry: CustomStringConvertible {
    /// `"key": value`
    public var description: String { "\(key.text.debugDescription): \(value.debugDescription)" }
}

/// The first of many, and how many more there are.
private func list<S: Collection>(_ all: S, _ total: Int) -> String where S.Element: CustomStringConvertible {
    let shown = all.map { String(reflecting: $0) }.joined(separator: ", ")
    return all.count == total ? "[\(shown)]" : "[\(shown), … \(total - all.count) more]"
}

private let mostShown = 20

extension RealmObject: CustomStringConvertible {
    /// The class with the values of the properties: `Person(id: 1, name: "Ann", best: object 3, dogs: 2 values)`.
    public var description: String {
        do throws(RealmError) {
            guard let i = realm.schema.index(of: table) else { return "object \(key.raw)" }
            var parts: [String] = []
            for p in realm.schema.classes[i].properties { parts.append("\(p.name): \(try text(p))") }
            return "\(className)(\(parts.joined(separator: ", ")))"
        } catch { return "\(className)(\(error))" }
    }

    private func text(_ p: Property) throws(RealmError) -> String {
        switch p.collection {
        case .none: try get(p.name).debugDescription
        case .list: "\(try list(p.name).load()) values"
        case .set: "\(try set(p.name).load()) values"
        case .dictionary: "\(try dictionary(p.name).load()) values"
        }
    }
}

extension LiveCollection where Element: CustomStringConvertible {
    /// The first elements, and how many more there are.
    public var description: String {
        do throws(RealmError) {
            let count = try load()
            return list(try elements(in: 0..<Swift.min(count, mostShown)), count)
        } catch { return "[\(error)]" }
    }
}

extension RealmList: CustomStringConvertible {}

extension RealmSet: CustomStringConvertible {}

extension RealmDictionary: CustomStringConvertible {}

extension Results: CustomStringConvertible {}

extension LiveSlice: CustomStringConvertible where Element: CustomStringConvertible {
    /// The first elements, and how many more there are.
    public var description: String { list(prefix(mostShown).map { $0 }, count) }
}

extension Realm: CustomStringConvertible {
    /// The file, and what the Realm is of it. Any thread.
    public var description: String {
        let state = isClosed ? ", closed" : isFrozen ? ", frozen" : isWriting ? ", writing" : ""
        return "Realm(\(configuration.path)\(state))"
    }
}
