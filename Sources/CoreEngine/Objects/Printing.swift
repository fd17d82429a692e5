/// How values, objects and collections print. Printing is never a `Misuse`: a value that cannot be read prints its
/// error.

extension RealmValue: CustomStringConvertible, CustomDebugStringConvertible {
    /// A text without quotes; texts inside collections in quotes.
    public var description: String {
        switch self {
        case .null: "null"
        case .int(let value): String(value)
        case .bool(let value): String(value)
        case .string(let value): value
        case .data(let value): "\(value.count) bytes"
        case .date(let value): value.description
        case .float(let value): String(value)
        case .double(let value): String(value)
        case .decimal(let value): value.description
        case .objectId(let value): value.description
        case .uuid(let value): value.description
        case .link(_, let key): "object \(key.raw)"
        case .list(let value): "[" + value.map(\.debugDescription).joined(separator: ", ") + "]"
        case .dictionary(let value):
            value.isEmpty ? "[:]" : "[" + value.map(\.description).joined(separator: ", ") + "]"
        }
    }

    /// As `description`, with texts in quotes.
    public var debugDescription: String {
        if case .string(let text) = self { text.debugDescription } else { description }
    }
}

extension RealmValue.Entry: CustomStringConvertible {
    /// `"key": value`
    public var description: String { "\(key.text.debugDescription): \(value.debugDescription)" }
}

/// The first elements, and the number of the others.
private func list<S: Collection>(_ all: S, _ total: Int) -> String where S.Element: CustomStringConvertible {
    let shown = all.map { String(reflecting: $0) }.joined(separator: ", ")
    return all.count == total ? "[\(shown)]" : "[\(shown), … \(total - all.count) more]"
}

private let mostShown = 20

extension RealmObject: CustomStringConvertible {
    /// The class and the values of the properties: `Person(id: 1, name: "Ann", best: object 3, dogs: 2 values)`.
    public var description: String {
        do throws(RealmError) {
            guard let index = realm.schema.index(of: table) else { return "object \(key.raw)" }
            var parts: [String] = []
            for property in realm.schema.classes[index].properties {
                parts.append("\(property.name): \(try text(property))")
            }
            return "\(className)(\(parts.joined(separator: ", ")))"
        } catch { return "\(className)(\(error))" }
    }

    private func text(_ property: Property) throws(RealmError) -> String {
        switch property.collection {
        case .none: try get(property.name).debugDescription
        case .list: "\(try list(property.name).load()) values"
        case .set: "\(try set(property.name).load()) values"
        case .dictionary: "\(try dictionary(property.name).load()) values"
        }
    }
}

extension LiveCollection where Element: CustomStringConvertible {
    /// The first elements, and the number of the others.
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
    /// The first elements, and the number of the others.
    public var description: String { list(prefix(mostShown).map { $0 }, count) }
}

extension Realm: CustomStringConvertible {
    /// The path of the file and the state of the Realm. Any thread.
    public var description: String {
        let state = isClosed ? ", closed" : isFrozen ? ", frozen" : isWriting ? ", writing" : ""
        return "Realm(\(configuration.path)\(state))"
    }
}
