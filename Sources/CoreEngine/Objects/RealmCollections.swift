/// Live lists, sets and dictionaries for Swift programs. A value is a place in a Realm; elements are read in place.
/// Copies of a value refer to the same collection. Rules of reading: `LiveCollection`.
///
/// Thread rule: that of the Realm. Every method that throws reports 2010 when the owner of the collection was deleted.

extension Realm {
    fileprivate func elements(of path: CollectionPath) throws(RealmError) -> ElementList {
        guard case .list(let list)? = try collection(path) else { throw invalidated() }
        return list
    }

    @inline(__always) fileprivate func element(_ index: Int, of path: CollectionPath) throws(RealmError) -> RealmValue {
        try inside(.collection) { () throws(RealmError) in try reading().group.copy(try elements(of: path).get(index)) }
    }

    fileprivate func elements(_ bounds: Range<Int>?, of path: CollectionPath) throws(RealmError) -> [RealmValue] {
        try inside(.collection) { () throws(RealmError) in
            let list = try elements(of: path), group = try reading().group
            var all: [RealmValue] = []
            for i in try Range.checked(bounds, count: list.count) { all.append(try group.copy(try list.get(i))) }
            return all
        }
    }

    fileprivate func index(of value: RealmValue, in path: CollectionPath) throws(RealmError) -> Int? {
        try inside(.collection) { () throws(RealmError) in
            let list = try elements(of: path)
            return try value.withMixed { (m) throws(RealmError) in try list.find(m) }
        }
    }
}

/// A list: elements keep their order of insertion.
public struct RealmList: LiveCollection {
    public typealias Element = RealmValue
    public typealias Iterator = IndexingIterator<[RealmValue]>

    /// The Realm that the list belongs to.
    public let realm: Realm
    let path: CollectionPath

    private func content() throws(RealmError) -> ElementList { try realm.elements(of: path) }

    /// Whether the list still exists.
    public var isValid: Bool {
        Misuse.isThere("RealmList.isValid") { () throws(RealmError) in try load() >= 0 }
    }

    /// Number of elements now.
    ///
    /// - Throws: 2010 when the owner was deleted.
    public func load() throws(RealmError) -> Int {
        try realm.inside(.collection) { () throws(RealmError) in try content().count }
    }

    /// The element at an index, copied; a nested collection is copied with its elements.
    ///
    /// - Throws: 3017 when the index is out of range, 2010 when the owner was deleted.
    public func element(at i: Int) throws(RealmError) -> RealmValue { try realm.element(i, of: path) }

    /// The current elements, copied: those in `bounds`, or all of them.
    public func elements(in bounds: Range<Int>?) throws(RealmError) -> [RealmValue] {
        try realm.elements(bounds, of: path)
    }

    /// Placeholder element that `Misuse` returns when its handler lets the program continue.
    public var noElement: RealmValue { .null }

    /// The element at an index, copied; a nested collection is copied with its elements.
    public func get(_ i: Int) throws(RealmError) -> RealmValue { try element(at: i) }

    /// The current element at a position, copied.
    public subscript(position: Int) -> RealmValue {
        Misuse.avoided("RealmList.subscript", else: .null) { () throws(RealmError) in try element(at: position) }
    }

    /// All elements, copied.
    public func values() throws(RealmError) -> [RealmValue] { try elements() }

    /// The object that an element links to; nil when the element is not a link.
    public func object(_ i: Int) throws(RealmError) -> RealmObject? {
        guard
            case .typedLink(let table, let key) = try realm.inside(
                .collection, { () throws(RealmError) in try content().get(i) })
        else { return nil }
        return RealmObject(realm: realm, table: table, key: key)
    }

    /// First index of an equal value.
    public func find(_ value: RealmValue) throws(RealmError) -> Int? { try realm.index(of: value, in: path) }

    // MARK: Changes, inside a write transaction

    /// Appends an element. In a list of Mixed values, a list or dictionary becomes a nested collection.
    public func append(_ value: RealmValue) throws(RealmError) {
        try insert(value, at: try load())
    }

    /// Appends an object.
    ///
    /// - Throws: 2007 for an object of another file, because its keys would name another object here.
    public func append(_ object: RealmObject) throws(RealmError) {
        try realm.checkSameFile(object.realm)
        try append(object.link)
    }

    /// Inserts an element before element `i` (`i ≤ count`).
    public func insert(_ value: RealmValue, at i: Int) throws(RealmError) {
        switch value {
        case .list(let elements): try insertList(at: i).replace(with: elements)
        case .dictionary(let entries): try insertDictionary(at: i).replace(with: entries)
        default:
            try value.withMixed { (mixed) throws(RealmError) in
                try realm.inside(.collection, do: try realm.insert(mixed, at: i, in: path))
            }
        }
    }

    /// Replaces element `i`.
    public func set(_ value: RealmValue, at i: Int) throws(RealmError) {
        switch value {
        case .list(let elements): try setList(at: i).replace(with: elements)
        case .dictionary(let entries): try setDictionary(at: i).replace(with: entries)
        default:
            try value.withMixed { (mixed) throws(RealmError) in
                try realm.inside(.collection, do: try realm.set(mixed, at: i, in: path))
            }
        }
    }

    /// Removes element `i`; an embedded object is deleted with it.
    public func remove(at i: Int) throws(RealmError) {
        try realm.inside(.collection, do: try realm.erase(at: i, in: path))
    }

    /// Moves an element; afterwards its index is `to`.
    public func move(from: Int, to: Int) throws(RealmError) {
        try realm.inside(.collection, do: try realm.move(from, to: to, in: path))
    }

    /// Removes all elements. Embedded objects are deleted, other objects stay.
    public func removeAll() throws(RealmError) { try realm.inside(.collection, do: try realm.clear(path, .list)) }

    /// Removes all elements and deletes the objects they link to.
    public func deleteAllObjects() throws(RealmError) {
        try realm.inside(.collection, do: try realm.removeAll(path, .list))
    }

    /// Replaces all elements.
    public func replace(with elements: [RealmValue]) throws(RealmError) {
        try removeAll()
        for (i, value) in elements.enumerated() { try insert(value, at: i) }
    }

    /// Inserts a new embedded object before element `i`.
    public func insertEmbedded(at i: Int) throws(RealmError) -> RealmObject {
        let (table, key) = try realm.inside(.collection, do: try realm.insertNewObject(at: i, in: path))
        return RealmObject(realm: realm, table: table, key: key)
    }

    /// Replaces element `i` by a new embedded object.
    public func setEmbedded(at i: Int) throws(RealmError) -> RealmObject {
        let (table, key) = try realm.inside(.collection, do: try realm.setNewObject(at: i, in: path))
        return RealmObject(realm: realm, table: table, key: key)
    }

    // MARK: Collections inside lists of Mixed values

    private func nestedPath(_ i: Int) throws(RealmError) -> CollectionPath {
        path.appending(
            .stableKey(try realm.inside(.collection) { () throws(RealmError) in try content().stableKey(i) }))
    }

    /// The nested list at `i`; not valid when the element is not a list.
    public func list(_ i: Int) throws(RealmError) -> RealmList { RealmList(realm: realm, path: try nestedPath(i)) }

    /// The nested dictionary at `i`; not valid when the element is not a dictionary.
    public func dictionary(_ i: Int) throws(RealmError) -> RealmDictionary {
        RealmDictionary(realm: realm, path: try nestedPath(i))
    }

    /// Inserts an empty list before element `i`.
    public func insertList(at i: Int) throws(RealmError) -> RealmList {
        RealmList(
            realm: realm, path: try realm.inside(.collection, do: try realm.insertCollection(.list, at: i, in: path)))
    }

    /// Inserts an empty dictionary before element `i`.
    public func insertDictionary(at i: Int) throws(RealmError) -> RealmDictionary {
        RealmDictionary(
            realm: realm,
            path: try realm.inside(.collection, do: try realm.insertCollection(.dictionary, at: i, in: path)))
    }

    /// Makes element `i` a list; an existing list is kept.
    public func setList(at i: Int) throws(RealmError) -> RealmList {
        RealmList(
            realm: realm, path: try realm.inside(.collection, do: try realm.setCollection(.list, at: i, in: path)))
    }

    /// Makes element `i` a dictionary; an existing dictionary is kept.
    public func setDictionary(at i: Int) throws(RealmError) -> RealmDictionary {
        RealmDictionary(
            realm: realm, path: try realm.inside(.collection, do: try realm.setCollection(.dictionary, at: i, in: path))
        )
    }
}

/// A set: unique elements in value order.
public struct RealmSet: LiveCollection {
    public typealias Element = RealmValue
    public typealias Iterator = IndexingIterator<[RealmValue]>

    /// The Realm that the set belongs to.
    public let realm: Realm
    let path: CollectionPath

    /// Whether the set still exists.
    public var isValid: Bool { Misuse.isThere("RealmSet.isValid") { () throws(RealmError) in try load() >= 0 } }

    /// Number of elements now.
    ///
    /// - Throws: 2010 when the owner was deleted.
    public func load() throws(RealmError) -> Int {
        try realm.inside(.collection) { () throws(RealmError) in try realm.elements(of: path).count }
    }

    /// The element at an index, copied.
    ///
    /// - Throws: 3017 when the index is out of range, 2010 when the owner was deleted.
    public func element(at i: Int) throws(RealmError) -> RealmValue { try realm.element(i, of: path) }

    /// The current elements, copied: those in `bounds`, or all of them.
    public func elements(in bounds: Range<Int>?) throws(RealmError) -> [RealmValue] {
        try realm.elements(bounds, of: path)
    }

    /// Placeholder element that `Misuse` returns when its handler lets the program continue.
    public var noElement: RealmValue { .null }

    /// The element at an index, copied.
    public func get(_ i: Int) throws(RealmError) -> RealmValue { try element(at: i) }

    /// Index of an equal value; nil when the set has no equal value.
    public func find(_ value: RealmValue) throws(RealmError) -> Int? { try realm.index(of: value, in: path) }

    /// Inserts a value.
    ///
    /// - Returns: whether the value is new, and its index.
    @discardableResult
    public func insert(_ value: RealmValue) throws(RealmError) -> (inserted: Bool, index: Int) {
        let (index, new) = try value.withMixed { (mixed) throws(RealmError) in
            try realm.inside(.collection, do: try realm.insertIntoSet(mixed, path))
        }
        return (new, index)
    }

    /// Removes a value.
    ///
    /// - Returns: whether the set contained it.
    @discardableResult
    public func remove(_ value: RealmValue) throws(RealmError) -> Bool {
        try value.withMixed { (mixed) throws(RealmError) in
            try realm.inside(.collection, do: try realm.eraseFromSet(mixed, path))
        }
    }

    /// Removes all elements; the objects stay.
    public func removeAll() throws(RealmError) { try realm.inside(.collection, do: try realm.clear(path, .set)) }

    /// Removes all elements and deletes the objects they link to.
    public func deleteAllObjects() throws(RealmError) {
        try realm.inside(.collection, do: try realm.removeAll(path, .set))
    }
}

/// A dictionary: string keys in byte order.
public struct RealmDictionary: LiveCollection {
    public typealias Element = RealmValue.Entry
    public typealias Iterator = IndexingIterator<[RealmValue.Entry]>

    /// The Realm that the dictionary belongs to.
    public let realm: Realm
    let path: CollectionPath

    private func content() throws(RealmError) -> ElementDictionary {
        guard case .dictionary(let dictionary)? = try realm.collection(path) else { throw realm.invalidated() }
        return dictionary
    }

    /// Whether the dictionary still exists.
    public var isValid: Bool { Misuse.isThere("RealmDictionary.isValid") { () throws(RealmError) in try load() >= 0 } }

    /// Number of elements now.
    ///
    /// - Throws: 2010 when the owner was deleted.
    public func load() throws(RealmError) -> Int {
        try realm.inside(.collection) { () throws(RealmError) in try content().count }
    }

    /// The entry at an index, copied; a nested collection is copied with its elements.
    ///
    /// - Throws: 3017 when the index is out of range, 2010 when the owner was deleted.
    public func element(at i: Int) throws(RealmError) -> RealmValue.Entry {
        try realm.inside(.collection) { () throws(RealmError) in
            try entry(i, of: try content(), try realm.reading().group)
        }
    }

    /// The current entries, copied: those in `bounds`, or all of them.
    public func elements(in bounds: Range<Int>?) throws(RealmError) -> [RealmValue.Entry] {
        try realm.inside(.collection) { () throws(RealmError) in
            let dictionary = try content(), group = try realm.reading().group
            var all: [RealmValue.Entry] = []
            for i in try Range.checked(bounds, count: dictionary.count) {
                all.append(try entry(i, of: dictionary, group))
            }
            return all
        }
    }

    /// Placeholder entry that `Misuse` returns when its handler lets the program continue.
    public var noElement: RealmValue.Entry { RealmValue.Entry(key: "", value: .null) }

    private func entry(_ index: Int, of dictionary: ElementDictionary, _ group: Group) throws(RealmError)
        -> RealmValue.Entry
    {
        RealmValue.Entry(
            key: Name(try group.copy(try dictionary.key(index)).string ?? ""),
            value: try group.copy(try dictionary.value(index)))
    }

    /// The entry at an index, in the order of the keys; copied.
    public func entry(_ i: Int) throws(RealmError) -> RealmValue.Entry { try element(at: i) }

    private func index(_ key: Name) throws(RealmError) -> Int? {
        try realm.inside(.collection) { () throws(RealmError) in
            let dictionary = try content()
            return try Array(key.utf8).withBytes { (b) throws(RealmError) in try dictionary.find(b) }
        }
    }

    /// The value of a key, copied; nil when the key is absent.
    public func get(_ key: Name) throws(RealmError) -> RealmValue? {
        guard let position = try index(key) else { return nil }
        return try entry(position).value
    }

    /// The value of a key, copied; nil when the key is absent. Errors go to `Misuse`.
    public subscript(key: Name) -> RealmValue? {
        Misuse.avoided("RealmDictionary.subscript", else: nil) { () throws(RealmError) in try get(key) }
    }

    /// All keys, in byte order.
    public var keys: [Name] { map(\.key) }

    /// The object that the value of a key links to; nil when the key is absent or its value is not a link.
    public func object(_ key: Name) throws(RealmError) -> RealmObject? {
        guard let position = try index(key), case .link(let table, let key) = try entry(position).value else {
            return nil
        }
        return RealmObject(realm: realm, table: table, key: key)
    }

    // MARK: Changes, inside a write transaction

    /// Stores a value under a new or existing key. In a dictionary of Mixed values, a list or dictionary becomes a
    /// nested collection.
    ///
    /// - Throws: 3011 for a key that begins with `$` or contains a dot.
    public func set(_ value: RealmValue, for key: Name) throws(RealmError) {
        switch value {
        case .list(let elements): try setList(for: key).replace(with: elements)
        case .dictionary(let entries): try setDictionary(for: key).replace(with: entries)
        default:
            try Array(key.utf8).withBytes { (name) throws(RealmError) in
                _ = try value.withMixed { (mixed) throws(RealmError) in
                    try realm.inside(.collection, do: try realm.setValue(mixed, forKey: name, in: path))
                }
            }
        }
    }

    /// Removes a key and its value.
    ///
    /// - Returns: whether the key existed.
    @discardableResult
    public func removeValue(for key: Name) throws(RealmError) -> Bool {
        try Array(key.utf8).withBytes { (name) throws(RealmError) in
            try realm.inside(.collection, do: try realm.eraseKey(name, in: path))
        }
    }

    /// Removes all keys. Embedded objects are deleted, other objects stay.
    public func removeAll() throws(RealmError) { try realm.inside(.collection, do: try realm.clear(path, .dictionary)) }

    /// Replaces all entries.
    public func replace(with entries: [RealmValue.Entry]) throws(RealmError) {
        try removeAll()
        for entry in entries { try set(entry.value, for: entry.key) }
    }

    /// Stores a new embedded object under a key.
    public func setEmbedded(for key: Name) throws(RealmError) -> RealmObject {
        let (table, newKey) = try Array(key.utf8).withBytes { (name) throws(RealmError) in
            try realm.inside(.collection, do: try realm.setNewObject(forKey: name, in: path))
        }
        return RealmObject(realm: realm, table: table, key: newKey)
    }

    // MARK: Collections inside dictionaries of Mixed values

    /// The nested list under a key; not valid when the value is not a list.
    public func list(_ key: Name) -> RealmList { RealmList(realm: realm, path: path.appending(.name(Array(key.utf8)))) }

    /// The nested dictionary under a key; not valid when the value is not a dictionary.
    public func dictionary(_ key: Name) -> RealmDictionary {
        RealmDictionary(realm: realm, path: path.appending(.name(Array(key.utf8))))
    }

    private func setCollection(_ kind: CollectionShape, _ key: Name) throws(RealmError) -> CollectionPath {
        try Array(key.utf8).withBytes { (name) throws(RealmError) in
            try realm.inside(.collection, do: try realm.setCollection(kind, forKey: name, in: path))
        }
    }

    /// Makes the value of a key a list; an existing list is kept.
    public func setList(for key: Name) throws(RealmError) -> RealmList {
        RealmList(realm: realm, path: try setCollection(.list, key))
    }

    /// Makes the value of a key a dictionary; an existing dictionary is kept.
    public func setDictionary(for key: Name) throws(RealmError) -> RealmDictionary {
        RealmDictionary(realm: realm, path: try setCollection(.dictionary, key))
    }
}
