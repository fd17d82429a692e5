/// Live lists, sets and dictionaries for Swift programs: a place in a Realm, read where it lies. A copy is the same collection.
///
/// Thread rule: that of the Realm. Reading a collection whose owner is gone shows it empty; methods that throw say 2010 then.

extension Realm {
    fileprivate func elements(of path: CollectionPath) throws(RealmError) -> ElementList {
        guard case .list(let l)? = try collection(path) else { throw invalidated() }
        return l
    }
}

/// A list: elements keep the order they were put in.
public struct RealmList: RandomAccessCollection, Sendable {
    public let realm: Realm
    let path: CollectionPath

    private func content() throws(RealmError) -> ElementList { try realm.elements(of: path) }
    /// Whether the list still exists.
    public var isValid: Bool { (try? realm.inside(.collection) { () throws(RealmError) in _ = try content() }) != nil }
    public var startIndex: Int { 0 }
    public var endIndex: Int { (try? realm.inside(.collection) { () throws(RealmError) in try content().count }) ?? 0 }
    /// The element, copied; null where there is none any more.
    public subscript(position: Int) -> RealmValue { (try? get(position)) ?? .null }
    /// The element, copied; nested collections with their elements.
    public func get(_ i: Int) throws(RealmError) -> RealmValue {
        try realm.inside(.collection) { () throws(RealmError) in try realm.reading().group.copy(try content().get(i)) }
    }
    /// All elements, copied.
    public func values() throws(RealmError) -> [RealmValue] {
        try realm.inside(.collection) { () throws(RealmError) in
            let list = try content()
            let group = try realm.reading().group
            var all: [RealmValue] = []
            for i in 0..<list.count { all.append(try group.copy(try list.get(i))) }
            return all
        }
    }
    public func object(_ i: Int) throws(RealmError) -> RealmObject? {
        guard case .typedLink(let t, let k) = try realm.inside(.collection, { () throws(RealmError) in try content().get(i) }) else { return nil }
        return RealmObject(realm: realm, table: t, key: k)
    }
    /// First index of an equal value.
    public func find(_ value: RealmValue) throws(RealmError) -> Int? {
        try realm.inside(.collection) { () throws(RealmError) in
            let list = try content()
            return try value.withMixed { (m) throws(RealmError) in try list.find(m) }
        }
    }

    // MARK: Changing; inside a write transaction

    public func append(_ value: RealmValue) throws(RealmError) {
        try insert(value, at: try realm.inside(.collection) { () throws(RealmError) in try content().count })
    }
    /// Inserts before element `i` (`i ≤ count`).
    public func insert(_ value: RealmValue, at i: Int) throws(RealmError) {
        switch value {
        case .list(let elements): try insertList(at: i).replace(with: elements)
        case .dictionary(let entries): try insertDictionary(at: i).replace(with: entries)
        default: try value.withMixed { (m) throws(RealmError) in try realm.inside(.collection, do: try realm.insert(m, at: i, in: path)) }
        }
    }
    public func set(_ value: RealmValue, at i: Int) throws(RealmError) {
        switch value {
        case .list(let elements): try setList(at: i).replace(with: elements)
        case .dictionary(let entries): try setDictionary(at: i).replace(with: entries)
        default: try value.withMixed { (m) throws(RealmError) in try realm.inside(.collection, do: try realm.set(m, at: i, in: path)) }
        }
    }
    public func remove(at i: Int) throws(RealmError) { try realm.inside(.collection, do: try realm.erase(at: i, in: path)) }
    /// Moves an element so that it ends up at `to`.
    public func move(from: Int, to: Int) throws(RealmError) { try realm.inside(.collection, do: try realm.move(from, to: to, in: path)) }
    /// Removes all elements; embedded objects go with them, other objects stay.
    public func removeAll() throws(RealmError) { try realm.inside(.collection, do: try realm.clear(path, .list)) }
    /// Removes all elements and deletes the objects they link to.
    public func deleteAllObjects() throws(RealmError) { try realm.inside(.collection, do: try realm.removeAll(path, .list)) }
    public func replace(with elements: [RealmValue]) throws(RealmError) {
        try removeAll()
        for (i, v) in elements.enumerated() { try insert(v, at: i) }
    }
    /// A new embedded object before element `i`.
    public func insertEmbedded(at i: Int) throws(RealmError) -> RealmObject {
        let (t, k) = try realm.inside(.collection, do: try realm.insertNewObject(at: i, in: path))
        return RealmObject(realm: realm, table: t, key: k)
    }
    /// A new embedded object in place of element `i`.
    public func setEmbedded(at i: Int) throws(RealmError) -> RealmObject {
        let (t, k) = try realm.inside(.collection, do: try realm.setNewObject(at: i, in: path))
        return RealmObject(realm: realm, table: t, key: k)
    }

    // MARK: Collections inside lists of Mixed values

    private func nestedPath(_ i: Int) throws(RealmError) -> CollectionPath {
        path.appending(.salt(try realm.inside(.collection) { () throws(RealmError) in try content().nestedKey(i) }))
    }
    /// The nested list at `i`; not valid when something else stands there.
    public func list(_ i: Int) throws(RealmError) -> RealmList { RealmList(realm: realm, path: try nestedPath(i)) }
    public func dictionary(_ i: Int) throws(RealmError) -> RealmDictionary {
        RealmDictionary(realm: realm, path: try nestedPath(i))
    }
    public func insertList(at i: Int) throws(RealmError) -> RealmList {
        RealmList(realm: realm, path: try realm.inside(.collection, do: try realm.insertCollection(.list, at: i, in: path)))
    }
    public func insertDictionary(at i: Int) throws(RealmError) -> RealmDictionary {
        RealmDictionary(realm: realm, path: try realm.inside(.collection, do: try realm.insertCollection(.dictionary, at: i, in: path)))
    }
    /// Makes element `i` a list, keeping one that is there.
    public func setList(at i: Int) throws(RealmError) -> RealmList {
        RealmList(realm: realm, path: try realm.inside(.collection, do: try realm.setCollection(.list, at: i, in: path)))
    }
    public func setDictionary(at i: Int) throws(RealmError) -> RealmDictionary {
        RealmDictionary(realm: realm, path: try realm.inside(.collection, do: try realm.setCollection(.dictionary, at: i, in: path)))
    }
}

/// A set: unique elements in value order.
public struct RealmSet: RandomAccessCollection, Sendable {
    public let realm: Realm
    let path: CollectionPath

    private func content() throws(RealmError) -> ElementList { try realm.elements(of: path) }
    public var isValid: Bool { (try? realm.inside(.collection) { () throws(RealmError) in _ = try content() }) != nil }
    public var startIndex: Int { 0 }
    public var endIndex: Int { (try? realm.inside(.collection) { () throws(RealmError) in try content().count }) ?? 0 }
    public subscript(position: Int) -> RealmValue { (try? get(position)) ?? .null }
    public func get(_ i: Int) throws(RealmError) -> RealmValue {
        try realm.inside(.collection) { () throws(RealmError) in try realm.reading().group.copy(try content().get(i)) }
    }
    public func find(_ value: RealmValue) throws(RealmError) -> Int? {
        try realm.inside(.collection) { () throws(RealmError) in
            let list = try content()
            return try value.withMixed { (m) throws(RealmError) in try list.find(m) }
        }
    }
    /// - Returns: whether the value is new, and where it stands.
    @discardableResult
    public func insert(_ value: RealmValue) throws(RealmError) -> (inserted: Bool, index: Int) {
        let (i, new) = try value.withMixed { (m) throws(RealmError) in try realm.inside(.collection, do: try realm.insertIntoSet(m, path)) }
        return (new, i)
    }
    /// - Returns: whether the value was there.
    @discardableResult
    public func remove(_ value: RealmValue) throws(RealmError) -> Bool {
        try value.withMixed { (m) throws(RealmError) in try realm.inside(.collection, do: try realm.eraseFromSet(m, path)) }
    }
    public func removeAll() throws(RealmError) { try realm.inside(.collection, do: try realm.clear(path, .set)) }
    public func deleteAllObjects() throws(RealmError) { try realm.inside(.collection, do: try realm.removeAll(path, .set)) }
}

/// A dictionary: string keys in byte order.
public struct RealmDictionary: RandomAccessCollection, Sendable {
    public let realm: Realm
    let path: CollectionPath

    private func content() throws(RealmError) -> ElementDictionary {
        guard case .dictionary(let d)? = try realm.collection(path) else { throw realm.invalidated() }
        return d
    }
    public var isValid: Bool { (try? realm.inside(.collection) { () throws(RealmError) in _ = try content() }) != nil }
    public var startIndex: Int { 0 }
    public var endIndex: Int { (try? realm.inside(.collection) { () throws(RealmError) in try content().count }) ?? 0 }
    public subscript(position: Int) -> RealmValue.Entry { (try? entry(position)) ?? RealmValue.Entry(key: "", value: .null) }
    public func entry(_ i: Int) throws(RealmError) -> RealmValue.Entry {
        try realm.inside(.collection) { () throws(RealmError) in
            let d = try content()
            let group = try realm.reading().group
            return RealmValue.Entry(key: Name(try group.copy(try d.key(i)).string ?? ""), value: try group.copy(try d.value(i)))
        }
    }
    private func index(_ key: Name) throws(RealmError) -> Int? {
        try realm.inside(.collection) { () throws(RealmError) in
            let d = try content()
            return try Array(key.utf8).withBytes { (b) throws(RealmError) in try d.find(b) }
        }
    }
    /// The value of a key, copied; nil when the key is absent.
    public func get(_ key: Name) throws(RealmError) -> RealmValue? {
        guard let i = try index(key) else { return nil }
        return try entry(i).value
    }
    public subscript(key: Name) -> RealmValue? { try? get(key) }
    public var keys: [Name] { map(\.key) }
    public func object(_ key: Name) throws(RealmError) -> RealmObject? {
        guard let i = try index(key), case .link(let t, let k) = try entry(i).value else { return nil }
        return RealmObject(realm: realm, table: t, key: k)
    }

    // MARK: Changing; inside a write transaction

    public func set(_ value: RealmValue, for key: Name) throws(RealmError) {
        switch value {
        case .list(let elements): try setList(for: key).replace(with: elements)
        case .dictionary(let entries): try setDictionary(for: key).replace(with: entries)
        default:
            try Array(key.utf8).withBytes { (name) throws(RealmError) in
                _ = try value.withMixed { (m) throws(RealmError) in try realm.inside(.collection, do: try realm.setValue(m, forKey: name, in: path)) }
            }
        }
    }
    /// - Returns: whether the key was there.
    @discardableResult
    public func removeValue(for key: Name) throws(RealmError) -> Bool {
        try Array(key.utf8).withBytes { (name) throws(RealmError) in try realm.inside(.collection, do: try realm.eraseKey(name, in: path)) }
    }
    public func removeAll() throws(RealmError) { try realm.inside(.collection, do: try realm.clear(path, .dictionary)) }
    public func replace(with entries: [RealmValue.Entry]) throws(RealmError) {
        try removeAll()
        for e in entries { try set(e.value, for: e.key) }
    }
    /// A new embedded object under a key.
    public func setEmbedded(for key: Name) throws(RealmError) -> RealmObject {
        let (t, k) = try Array(key.utf8).withBytes { (name) throws(RealmError) in
            try realm.inside(.collection, do: try realm.setNewObject(forKey: name, in: path))
        }
        return RealmObject(realm: realm, table: t, key: k)
    }

    // MARK: Collections inside dictionaries of Mixed values

    public func list(_ key: Name) -> RealmList { RealmList(realm: realm, path: path.appending(.name(Array(key.utf8)))) }
    public func dictionary(_ key: Name) -> RealmDictionary { RealmDictionary(realm: realm, path: path.appending(.name(Array(key.utf8)))) }
    private func setCollection(_ kind: CollectionShape, _ key: Name) throws(RealmError) -> CollectionPath {
        try Array(key.utf8).withBytes { (name) throws(RealmError) in
            try realm.inside(.collection, do: try realm.setCollection(kind, forKey: name, in: path))
        }
    }
    public func setList(for key: Name) throws(RealmError) -> RealmList {
        RealmList(realm: realm, path: try setCollection(.list, key))
    }
    public func setDictionary(for key: Name) throws(RealmError) -> RealmDictionary {
        RealmDictionary(realm: realm, path: try setCollection(.dictionary, key))
    }
}

extension RealmObject {
    private func path(_ name: Name, _ shape: CollectionShape) throws(RealmError) -> CollectionPath {
        let p = try property(name)
        try realm.inside(.object, do: try realm.checkCollection(table, key, p.key, as: shape))
        return CollectionPath(table: table, owner: named, column: p.key)
    }
    /// The list in a property (or in a Mixed property, once it holds one).
    public func list(_ name: Name) throws(RealmError) -> RealmList { RealmList(realm: realm, path: try path(name, .list)) }
    public func set(_ name: Name) throws(RealmError) -> RealmSet { RealmSet(realm: realm, path: try path(name, .set)) }
    public func dictionary(_ name: Name) throws(RealmError) -> RealmDictionary { RealmDictionary(realm: realm, path: try path(name, .dictionary)) }
    /// Makes a Mixed property a list, keeping one that is there.
    public func setList(_ name: Name) throws(RealmError) -> RealmList {
        try realm.inside(.object, do: try realm.setCollection(.list, table, key, try property(name).key))
        return try list(name)
    }
    public func setDictionary(_ name: Name) throws(RealmError) -> RealmDictionary {
        try realm.inside(.object, do: try realm.setCollection(.dictionary, table, key, try property(name).key))
        return try dictionary(name)
    }
    /// A new embedded object in a link property, in place of one that is there.
    public func setEmbedded(_ name: Name) throws(RealmError) -> RealmObject {
        let (t, k) = try realm.inside(.object, do: try realm.setNewObject(table, key, try property(name).key))
        return RealmObject(realm: realm, table: t, key: k)
    }
    /// The object that an embedded object belongs to.
    public func parent() throws(RealmError) -> RealmObject? {
        try realm.inside(.object, do: try realm.parent(table, key)).map { RealmObject(realm: realm, table: $0.0, key: $0.1) }
    }

    /// Replaces the contents of a collection property.
    func replace(_ p: Property, with value: RealmValue) throws(RealmError) {
        let path = CollectionPath(table: table, owner: named, column: p.key)
        switch (p.collection, value) {
        case (.list, .list(let elements)): try RealmList(realm: realm, path: path).replace(with: elements)
        case (.set, .list(let elements)):
            let s = RealmSet(realm: realm, path: path)
            try s.removeAll()
            for v in elements { try s.insert(v) }
        case (.dictionary, .dictionary(let entries)): try RealmDictionary(realm: realm, path: path).replace(with: entries)
        case (.none, .list(let elements)):
            try realm.inside(.object, do: try realm.setCollection(.list, table, key, p.key))
            try RealmList(realm: realm, path: path).replace(with: elements)
        case (.none, .dictionary(let entries)):
            try realm.inside(.object, do: try realm.setCollection(.dictionary, table, key, p.key))
            try RealmDictionary(realm: realm, path: path).replace(with: entries)
        default: throw RealmError(.typeMismatch, "Property '\(className).\(p.name)' does not take a value of this type")
        }
    }

    // MARK: Whole objects as values

    /// The object's properties by name. Links are followed `depth` levels; embedded objects always; an object on the way to itself, and what
    /// lies deeper, stays a link.
    public func toDictionary(depth: Int = 1) throws(RealmError) -> RealmValue {
        var way: [RealmObject] = []
        return try expand(depth, &way)
    }
    private func expand(_ depth: Int, _ way: inout [RealmObject]) throws(RealmError) -> RealmValue {
        guard let i = realm.schema.index(of: table) else { throw RealmError(.noSuchTable, "The class is not in the schema") }
        way.append(self)
        defer { way.removeLast() }
        var entries: [RealmValue.Entry] = []
        for p in realm.schema.classes[i].properties { entries.append(RealmValue.Entry(key: p.name, value: try expand(try get(p.name), depth, &way))) }
        return .dictionary(entries)
    }
    private func expand(_ v: RealmValue, _ depth: Int, _ way: inout [RealmObject]) throws(RealmError) -> RealmValue {
        switch v {
        case .link(let t, let k):
            let o = RealmObject(realm: realm, table: t, key: k)
            let isEmbedded = try realm.inside(.object, do: try realm.isEmbedded(t))
            guard depth > 0 || isEmbedded, !way.contains(o), way.count < Table.maxNesting, realm.schema.index(of: t) != nil else { return v }
            return try o.expand(isEmbedded ? depth : depth - 1, &way)
        case .list(let elements):
            var all: [RealmValue] = []
            for e in elements { all.append(try expand(e, depth, &way)) }
            return .list(all)
        case .dictionary(let entries):
            var all: [RealmValue.Entry] = []
            for e in entries { all.append(RealmValue.Entry(key: e.key, value: try expand(e.value, depth, &way))) }
            return .dictionary(all)
        default: return v
        }
    }
    /// One line of JSON: properties in column order, links as keys, embedded objects in full.
    public func json() throws(RealmError) -> String { try realm.inside(.object, do: try realm.json(table, key)) }
    /// Replaces a Mixed property by the value of a JSON text.
    public func setJSON(_ name: Name, _ text: String) throws(RealmError) {
        let p = try property(name)
        try Array(text.utf8).withBytes { (b) throws(RealmError) in try realm.inside(.object, do: try realm.setJSON(table, key, p.key, b)) }
    }
}
