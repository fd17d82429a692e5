/// Objects, collections and results for other threads: frozen, thawed, and as references. Rules: docs/live-objects.md
/// §4.6, §4.7.
///
/// What was frozen is read on any thread, by many at once: `Frozen` carries it there. What is live is good on the
/// thread of its Realm, and throws 2006 elsewhere; the compiler lets it go nowhere else, and a `ThreadSafeReference`
/// leads to it there.

/// What can be frozen: Realms, objects, collections and results.
public protocol Freezable {
    /// Whether it never changes, and is read on any thread.
    var isFrozen: Bool { get }

    /// The same at this moment, for any thread; itself, if it is frozen.
    func freeze() throws(RealmError) -> Self
}

extension Realm: Freezable {}

extension RealmObject: Freezable {}

extension RealmList: Freezable {}

extension RealmSet: Freezable {}

extension RealmDictionary: Freezable {}

extension Results: Freezable {}

/// Something frozen, on its way to other tasks and threads, which may all read it at once.
///
///     let adults = try Frozen(realm.objects("Person").where("age >= 18"))
///     Task.detached { print(adults.count, adults.value[0]["name"]) }
@dynamicMemberLookup
public struct Frozen<Value: Freezable>: @unchecked Sendable {  // Nothing of a frozen Realm belongs to a thread.

    /// What was frozen.
    public let value: Value

    /// Freezes something, unless it is frozen.
    ///
    /// Thread rule: that of what is frozen.
    /// - Throws: what `freeze` throws: 2010 for what is gone.
    public init(_ value: Value) throws(RealmError) { self.value = try value.freeze() }

    /// A property of what was frozen.
    public subscript<T>(dynamicMember path: Swift.KeyPath<Value, T>) -> T { value[keyPath: path] }
}

extension Frozen: Equatable where Value: Equatable {}

@available(*, unavailable, message: "A Realm belongs to its scheduler: pass a ThreadSafeReference, or Frozen(realm)")

extension Realm: Sendable {}
@available(
    *, unavailable, message: "An object belongs to its Realm's scheduler: pass a ThreadSafeReference, or Frozen(object)"
)

extension RealmObject: Sendable {}
@available(
    *, unavailable, message: "A list belongs to its Realm's scheduler: pass a ThreadSafeReference, or Frozen(list)"
)

extension RealmList: Sendable {}
@available(
    *, unavailable, message: "A set belongs to its Realm's scheduler: pass a ThreadSafeReference, or Frozen(set)"
)

extension RealmSet: Sendable {}
@available(
    *, unavailable,
    message: "A dictionary belongs to its Realm's scheduler: pass a ThreadSafeReference, or Frozen(dictionary)"
)

extension RealmDictionary: Sendable {}
@available(
    *, unavailable, message: "Results belong to their Realm's scheduler: pass a ThreadSafeReference, or Frozen(results)"
)

extension Results: Sendable {}

extension Realm {
    /// A live Realm of the same file and schema; this one, if it is live.
    ///
    /// - Parameter scheduler: where it is to live; nil: on the calling thread.
    public func thaw(on scheduler: (any Scheduler)? = nil) throws(RealmError) -> Realm {
        guard isFrozen else { return self }
        var configuration = configuration
        configuration.scheduler = scheduler
        return try Realm.open(configuration)
    }

    fileprivate func has(_ path: CollectionPath, _ shape: CollectionShape) throws(RealmError) -> Bool {
        try inside(.collection) { () throws(RealmError) in
            switch try collection(path) {
            case .list?: shape != .dictionary
            case .dictionary?: shape == .dictionary
            case nil: false
            }
        }
    }

    func checkSameFile(_ other: Realm) throws(RealmError) {
        guard path == other.path else {
            throw RealmError(.illegalOperation, "The Realms show different files: '\(path)' and '\(other.path)'")
        }
    }

    /// Something of this Realm as `make` finds it in the frozen one.
    fileprivate func freezing<R>(_ make: (Realm) throws(RealmError) -> R?) throws(RealmError) -> R {
        guard let found = try make(try freeze()) else { throw invalidated() }
        return found
    }
}

extension RealmObject {
    /// Whether it never changes, and is read on any thread.
    public var isFrozen: Bool { realm.isFrozen }

    /// The object as it is at this moment, for any thread; inside a write transaction as it was before.
    ///
    /// - Throws: 2010 when it is gone, or did not exist before the write transaction.
    public func freeze() throws(RealmError) -> RealmObject {
        isFrozen ? self : try realm.freezing { (frozen) throws(RealmError) in try resolved(in: frozen) }
    }

    /// The live object of a frozen one, in a Realm of the calling thread; nil when it is deleted.
    public func thaw() throws(RealmError) -> RealmObject? { isFrozen ? try resolved(in: try realm.thaw()) : self }

    /// The same object in another Realm of the file; nil when it does not exist there or here.
    public func resolved(in other: Realm) throws(RealmError) -> RealmObject? {
        try realm.checkSameFile(other)
        let isHere = try realm.inside(.object) { () throws(RealmError) in try realm.isAlive(table, key) }
        let isThere = try other.inside { () throws(RealmError) in try other.isAlive(table, key) }
        return isHere && isThere ? RealmObject(realm: other, table: table, key: key) : nil
    }
}

/// What the three kinds of collections share here.
private protocol Handed {
    var realm: Realm { get }
    var path: CollectionPath { get }
    static var shape: CollectionShape { get }

    init(realm: Realm, path: CollectionPath)
}

extension Handed {
    fileprivate func found(in other: Realm) throws(RealmError) -> Self? {
        try realm.checkSameFile(other)
        let isHere = try realm.has(path, Self.shape), isThere = try other.has(path, Self.shape)
        return isHere && isThere ? Self(realm: other, path: path) : nil
    }

    fileprivate func frozen() throws(RealmError) -> Self {
        realm.isFrozen ? self : try realm.freezing { (frozen) throws(RealmError) in try found(in: frozen) }
    }

    fileprivate func thawed() throws(RealmError) -> Self? { realm.isFrozen ? try found(in: try realm.thaw()) : self }
}

extension RealmList: Handed {
    fileprivate static var shape: CollectionShape { .list }

    /// Whether it never changes, and is read on any thread.
    public var isFrozen: Bool { realm.isFrozen }

    /// As of `RealmObject`.
    public func freeze() throws(RealmError) -> RealmList { try frozen() }

    /// The live list of a frozen one, in a Realm of the calling thread; nil when it is gone.
    public func thaw() throws(RealmError) -> RealmList? { try thawed() }

    /// The same list in another Realm of the file; nil when it does not exist there or here.
    public func resolved(in other: Realm) throws(RealmError) -> RealmList? { try found(in: other) }
}

extension RealmSet: Handed {
    fileprivate static var shape: CollectionShape { .set }

    /// Whether it never changes, and is read on any thread.
    public var isFrozen: Bool { realm.isFrozen }

    /// As of `RealmObject`.
    public func freeze() throws(RealmError) -> RealmSet { try frozen() }

    /// The live set of a frozen one, in a Realm of the calling thread; nil when it is gone.
    public func thaw() throws(RealmError) -> RealmSet? { try thawed() }

    /// The same set in another Realm of the file; nil when it does not exist there or here.
    public func resolved(in other: Realm) throws(RealmError) -> RealmSet? { try found(in: other) }
}

extension RealmDictionary: Handed {
    fileprivate static var shape: CollectionShape { .dictionary }

    /// Whether it never changes, and is read on any thread.
    public var isFrozen: Bool { realm.isFrozen }

    /// As of `RealmObject`.
    public func freeze() throws(RealmError) -> RealmDictionary { try frozen() }

    /// The live dictionary of a frozen one, in a Realm of the calling thread; nil when it is gone.
    public func thaw() throws(RealmError) -> RealmDictionary? { try thawed() }

    /// The same dictionary in another Realm of the file; nil when it does not exist there or here.
    public func resolved(in other: Realm) throws(RealmError) -> RealmDictionary? { try found(in: other) }
}

extension Results {
    /// Whether it never changes, and is read on any thread.
    public var isFrozen: Bool { realm.isFrozen }

    /// The rows of this moment for any thread, found by whoever looks first.
    public func freeze() throws(RealmError) -> Results { isFrozen ? self : try resolved(in: try realm.freeze()) }

    /// The live results of frozen ones, in a Realm of the calling thread.
    public func thaw() throws(RealmError) -> Results { isFrozen ? try resolved(in: try realm.thaw()) : self }

    /// The same results in another Realm of the file.
    ///
    /// - Throws: 2009 when the owner of the collection behind them is gone.
    public func resolved(in other: Realm) throws(RealmError) -> Results {
        try realm.checkSameFile(other)
        let recipe = try realm.inside(.results) { () throws(RealmError) in
            try found.verifyOwner()
            return found.recipe
        }
        return Results(try other.inside { () throws(RealmError) in try ResultSet(other, recipe) }, table)
    }
}

// MARK: References

/// For Swift programs: made where something lives, `object(in:)` and its like where it is wanted. Both throw what §4.7
/// says.
extension ThreadSafeReference {
    /// To a Realm, which whoever resolves the reference takes over. Any thread.
    public convenience init(to realm: Realm) throws(RealmError) { try self.init(realm) }

    /// To an object. Thread rule: that of its Realm.
    public convenience init(to object: RealmObject) throws(RealmError) {
        try object.realm.enter(.object)
        defer { object.realm.leave() }
        try self.init(object.realm, object.table, object.named)
    }

    private convenience init(_ collection: some Handed) throws(RealmError) {
        try collection.realm.enter(.collection)
        defer { collection.realm.leave() }
        try self.init(collection.realm, collection.path, type(of: collection).shape)
    }

    /// To a list. Thread rule: that of its Realm.
    public convenience init(to list: RealmList) throws(RealmError) { try self.init(list) }

    /// To a set. Thread rule: that of its Realm.
    public convenience init(to set: RealmSet) throws(RealmError) { try self.init(set) }

    /// To a dictionary. Thread rule: that of its Realm.
    public convenience init(to dictionary: RealmDictionary) throws(RealmError) { try self.init(dictionary) }

    /// To results. Thread rule: that of their Realm.
    public convenience init(to results: Results) throws(RealmError) {
        try results.realm.enter(.results)
        defer { results.realm.leave() }
        try self.init(results.found)
    }

    /// The Realm itself, which lives on the scheduler from now on.
    ///
    /// - Parameter scheduler: nil: that of the calling thread.
    public func realm(on scheduler: (any Scheduler)? = nil) throws(RealmError) -> Realm {
        try takeRealm(to: scheduler ?? ThreadScheduler.current)
    }

    /// The object; not valid when it is deleted.
    public func object(in realm: Realm) throws(RealmError) -> RealmObject {
        guard case .object(let table, let named) = try found(.object, in: realm) else { throw Self.mismatch() }
        return RealmObject(realm: realm, table: table, key: named.key)
    }

    /// The collection; not valid when it is gone.
    public func list(in realm: Realm) throws(RealmError) -> RealmList { try collection(.list, in: realm) }

    /// The set, in a Realm of the file.
    public func set(in realm: Realm) throws(RealmError) -> RealmSet { try collection(.set, in: realm) }

    /// The dictionary, in a Realm of the file.
    public func dictionary(in realm: Realm) throws(RealmError) -> RealmDictionary {
        try collection(.dictionary, in: realm)
    }

    /// The results, in a Realm of the file.
    public func results(in realm: Realm) throws(RealmError) -> Results {
        guard case .results(let recipe) = try found(.results, in: realm) else { throw Self.mismatch() }
        let found = try realm.inside { () throws(RealmError) in try ResultSet(realm, recipe) }
        return Results(found, found.table ?? .null)
    }

    private func collection<C: Handed>(_ kind: Kind, in realm: Realm) throws(RealmError) -> C {
        guard case .collection(let path, _) = try found(kind, in: realm) else { throw Self.mismatch() }
        return C(realm: realm, path: path)
    }

    private func found(_ kind: Kind, in realm: Realm) throws(RealmError) -> Target {
        try realm.inside { () throws(RealmError) in try target(kind, in: realm) }
    }
}
