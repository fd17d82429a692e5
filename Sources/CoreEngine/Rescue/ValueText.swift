/// Writes values of a file as JSON, as far as they can be read.
///
/// What JSON lacks stands in an object with one member: `$binary` (base64), `$timestamp` (seconds, nanoseconds),
/// `$decimal`, `$oid`, `$uuid`, `$double` (`nan`, `inf`), `$link` (class, object key), `$dictionary`.
struct ValueText {
    let store: NodeStore

    /// Names of classes.
    let name: (TableKey) -> Name?

    /// Whether a subtree may be read as part of the value at hand.
    var mayRead: (Ref) -> Bool = { _ in true }

    /// A value that the column cannot hold is lost: null where there is none, text that is not UTF-8 or not written as
    /// such.
    var isStrict = false

    /// Something of the last value is lost.
    private(set) var isBroken = false

    init(_ store: NodeStore, name: @escaping (TableKey) -> Name?) {
        self.store = store
        self.name = name
    }

    /// - Parameter c: the column, as the root of the value has it.
    mutating func write(_ v: Mixed, _ c: Column, _ out: inout JSONText) {
        isBroken = false
        var visited = Visited(0)
        if let shape = c.shape {
            guard case .slot(let slot) = v, !slot.isTagged else { return lose(&out) }
            return collection(slot.subtree ?? .null, shape, c.elementKind, c, &out, &visited, depth: 0)
        }
        value(v, c, &out, &visited, depth: 0)
    }

    private mutating func lose(_ out: inout JSONText) {
        isBroken = true
        out.null()
    }

    private mutating func value(_ v: Mixed, _ c: Column, _ out: inout JSONText, _ visited: inout Visited, depth: Int) {
        switch v {
        case .null where isStrict && !(c.isNullable || c.type == .mixed || c.type == .link): lose(&out)
        case .string(let b) where isStrict && !isUTF8(b): lose(&out)
        case .timestamp(let t) where isStrict && !t.isValid: lose(&out)
        case .null: out.null()
        case .int(let i): out.number(i)
        case .bool(let b): out.bool(b)
        case .float(let f): number(Double(f), "\(f)", &out)
        case .double(let d): number(d, "\(d)", &out)
        case .string(let b): out.text(b)
        case .binary(let b): out.typed("$binary", Crypto.base64(b))
        case .timestamp(let t):
            out.object { o in
                o.field("$timestamp") { $0.array([t.seconds, Int64(t.nanoseconds)]) { $0.number($1) } }
            }
        case .decimal(let d): out.typed("$decimal", d.description)
        case .objectId(let id): out.typed("$oid", id.description)
        case .uuid(let id): out.typed("$uuid", id.description)
        case .link(let k): link(c.oppositeTable, k, &out)
        case .typedLink(let t, let k): link(t, k, &out)
        case .list(let root): collection(root, .list, .mixed, c, &out, &visited, depth: depth + 1)
        case .dictionary(let root): collection(root, .dictionary, .mixed, c, &out, &visited, depth: depth + 1)
        case .slot: lose(&out)
        }
    }

    private func number(_ d: Double, _ text: String, _ out: inout JSONText) {
        if d.isFinite { out.raw(text) } else { out.typed("$double", d.isNaN ? "nan" : d < 0 ? "-inf" : "inf") }
    }

    private func link(_ table: TableKey, _ k: ObjKey, _ out: inout JSONText) {
        if k.isNull || k.isUnresolved { return out.null() }
        let text = name(table).map { $0.after(Tables.classPrefix) ?? $0 }
        out.object { o in
            o.field("$link") { a in
                a.array { a in
                    a.text(text?.text)
                    a.number(k.raw)
                }
            }
        }
    }

    private mutating func collection(
        _ root: Ref, _ shape: CollectionShape, _ kind: LeafKind?, _ c: Column, _ out: inout JSONText,
        _ visited: inout Visited, depth: Int
    ) {
        guard let kind, depth < Table.maxNesting, root.isNull || depth > 0 || mayRead(root) else { return lose(&out) }
        if shape == .dictionary { return dictionary(root, c, &out, &visited, depth: depth) }
        var elements: [Mixed] = []
        if !root.isNull {
            let tree = FoundTree(store, kind, root, &visited)
            if tree.lost > 0 || tree.isBroken { isBroken = true }
            if isStrict, kind == .string, !tree.leaves.allSatisfy({ LeafForm.areTexts(store, $0.ref) }) {
                isBroken = true
            }
            try? tree.eachElement { (_, v) throws(RealmError) in if let v { elements.append(v) } }
            if elements.count < tree.total { isBroken = true }
            // A node without elements has the form of many others: it does not say that this list was empty.
            if isStrict, elements.isEmpty { isBroken = true }
        }
        out.array { a in for v in elements { self.value(v, c, &a, &visited, depth: depth) } }
    }

    private mutating func dictionary(
        _ root: Ref, _ c: Column, _ out: inout JSONText, _ visited: inout Visited, depth: Int
    ) {
        var entries: [(Bytes, Mixed)] = []
        if !root.isNull {
            guard visited.insert(root), let top = try? store.refsNode(root), !top.isInner, let k = try? top.child(0),
                let v = try? top.child(1)
            else {
                return lose(&out)
            }
            let keys = FoundTree(store, .string, k, &visited), values = FoundTree(store, .mixed, v, &visited)
            if keys.lost + values.lost > 0 || keys.isBroken || values.isBroken || keys.total != values.total {
                return lose(&out)
            }
            try? keys.eachElement { (i, name) throws(RealmError) in
                if case .string(let name)? = name, let v = values.value(at: i) { entries.append((name, v)) }
            }
            if entries.count < keys.total { isBroken = true }
        }
        out.object { o in
            o.field("$dictionary") { d in
                d.object { d in
                    for (name, v) in entries {
                        d.field(String(decoding: name, as: UTF8.self)) { self.value(v, c, &$0, &visited, depth: depth) }
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
    /// Whether all texts of a leaf are written as texts are.
    static func areTexts(_ s: NodeStore, _ ref: Ref) -> Bool { (try? texts(s, try s.node(ref)).isEmpty) ?? false }
}
