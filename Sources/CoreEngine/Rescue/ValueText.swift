/// Writes values of a file as JSON, as far as they can be read.
///
/// A value that JSON has no type for becomes an object with one member: `$binary` (base64), `$timestamp` (seconds,
/// nanoseconds), `$decimal`, `$oid`, `$uuid`, `$double` (`nan`, `inf`), `$link` (class, object key), `$dictionary`.
struct ValueText {
    let store: NodeStore

    /// Returns the name of a class.
    let name: (TableKey) -> Name?

    /// Whether a subtree may be read as part of the current value.
    var mayRead: (Ref) -> Bool = { _ in true }

    /// Treats values that the column cannot hold as lost: null in a non-nullable column, and text that is not UTF-8 or
    /// not stored in the form of a text.
    var isStrict = false

    /// Part of the last value is lost.
    private(set) var isBroken = false

    init(_ store: NodeStore, name: @escaping (TableKey) -> Name?) {
        self.store = store
        self.name = name
    }

    /// - Parameter column: the column, as described by the root of the value.
    mutating func write(_ element: Mixed, _ column: Column, _ out: inout JSONText) {
        isBroken = false
        var visited = Visited(0)
        if let shape = column.shape {
            guard case .slot(let slot) = element, !slot.isTagged else { return lose(&out) }
            return collection(slot.subtree ?? .null, shape, column.elementKind, column, &out, &visited, depth: 0)
        }
        value(element, column, &out, &visited, depth: 0)
    }

    private mutating func lose(_ out: inout JSONText) {
        isBroken = true
        out.null()
    }

    private mutating func value(
        _ value: Mixed, _ column: Column, _ out: inout JSONText, _ visited: inout Visited, depth: Int
    ) {
        switch value {
        case .null where isStrict && !(column.isNullable || column.type == .mixed || column.type == .link): lose(&out)
        case .string(let text) where isStrict && !isUTF8(text): lose(&out)
        case .timestamp(let time) where isStrict && !time.isValid: lose(&out)
        case .null: out.null()
        case .int(let i): out.number(i)
        case .bool(let flag): out.bool(flag)
        case .float(let float): number(Double(float), "\(float)", &out)
        case .double(let double): number(double, "\(double)", &out)
        case .string(let text): out.text(text)
        case .binary(let bytes): out.typed("$binary", Base64.encode(bytes))
        case .timestamp(let time):
            out.object { object in
                object.field("$timestamp") { $0.array([time.seconds, Int64(time.nanoseconds)]) { $0.number($1) } }
            }
        case .decimal(let decimal): out.typed("$decimal", decimal.description)
        case .objectId(let id): out.typed("$oid", id.description)
        case .uuid(let id): out.typed("$uuid", id.description)
        case .link(let key): link(column.oppositeTable, key, &out)
        case .typedLink(let table, let key): link(table, key, &out)
        case .list(let root): collection(root, .list, .mixed, column, &out, &visited, depth: depth + 1)
        case .dictionary(let root): collection(root, .dictionary, .mixed, column, &out, &visited, depth: depth + 1)
        case .slot: lose(&out)
        }
    }

    private func number(_ number: Double, _ text: String, _ out: inout JSONText) {
        if number.isFinite {
            out.raw(text)
        } else {
            out.typed("$double", number.isNaN ? "nan" : number < 0 ? "-inf" : "inf")
        }
    }

    private func link(_ table: TableKey, _ key: ObjKey, _ out: inout JSONText) {
        if key.isNull || key.isUnresolved { return out.null() }
        let text = name(table).map { $0.after(Format.classPrefix) ?? $0 }
        out.object { object in
            object.field("$link") { field in
                field.array { array in
                    array.text(text?.text)
                    array.number(key.raw)
                }
            }
        }
    }

    private mutating func collection(
        _ root: Ref, _ shape: CollectionShape, _ kind: LeafKind?, _ column: Column, _ out: inout JSONText,
        _ visited: inout Visited, depth: Int
    ) {
        guard let kind, depth < Table.maxNesting, root.isNull || depth > 0 || mayRead(root) else { return lose(&out) }
        if shape == .dictionary { return dictionary(root, column, &out, &visited, depth: depth) }
        var elements: [Mixed] = []
        if !root.isNull {
            let tree = FoundTree(store, kind, root, &visited)
            if tree.lost > 0 || tree.isBroken { isBroken = true }
            if isStrict, kind == .string, !tree.leaves.allSatisfy({ LeafForm.areTexts(store, $0.ref) }) {
                isBroken = true
            }
            try? tree.eachElement { (_, value) throws(RealmError) in if let value { elements.append(value) } }
            if elements.count < tree.total { isBroken = true }
            // An empty node looks like many other nodes, so it does not prove that the list was empty.
            if isStrict, elements.isEmpty { isBroken = true }
        }
        out.array { a in for value in elements { self.value(value, column, &a, &visited, depth: depth) } }
    }

    private mutating func dictionary(
        _ root: Ref, _ column: Column, _ out: inout JSONText, _ visited: inout Visited, depth: Int
    ) {
        var entries: [(Bytes, Mixed)] = []
        if !root.isNull {
            let found = FoundDictionary(
                store, root: root, keyType: .string, format: Format.currentVersion, &visited)
            guard let found, found.isWhole else { return lose(&out) }
            try? found.eachEntry { (name, value) throws(RealmError) in
                if let value { entries.append((name, value)) } else { isBroken = true }
            }
        }
        out.object { object in
            object.field("$dictionary") { field in
                field.object { dictionary in
                    for (name, value) in entries {
                        dictionary.field(String(decoding: name, as: UTF8.self)) {
                            self.value(value, column, &$0, &visited, depth: depth)
                        }
                    }
                }
            }
        }
    }
}

extension JSONText {
    fileprivate mutating func typed(_ type: String, _ text: String) { object { o in o.field(type) { $0.text(text) } } }
}

extension LeafForm {
    /// Whether all texts of a leaf are stored in the form of texts.
    static func areTexts(_ store: NodeStore, _ ref: Ref) -> Bool {
        (try? texts(store, try store.node(ref)).isEmpty) ?? false
    }
}
