/// Objects, collections and results for other threads: frozen, thawed, and as references. Rules: docs/live-objects.md
/// §4.6, §4.7.
///
/// A frozen value can be read on any thread, by many threads at once; `Frozen` carries it to another thread. A live
/// value is used on the thread of its Realm, and throws 2006 elsewhere. The compiler does not let it go to another
/// thread; a `ThreadSafeReference` can be resolved there.

/// A type that can be frozen: Realms, objects, collections and results.
public protocol Freezable {
    /// Whether the value never changes and can be read on any thread.
    var isFrozen: Bool { get }

    /// Returns the value as it is now, for any thread; itself if it is frozen.
    func freeze() throws(RealmError) -> Self
}

extension Realm: Freezable {}

extension RealmObject: Freezable {}

extension RealmList: Freezable {}

extension RealmSet: Freezable {}

extension RealmDictionary: Freezable {}

extension Results: Freezable {}

/// A frozen value that can be sent to other tasks and threads, which may all read it at once.
///
///     let adults = try Frozen(realm.objects("Person").where("age >= 18"))
///     Task.detached { print(adults.count, adults.value[0]["name"]) }
@dynamicMemberLookup
public struct Frozen<Value: Freezable>: @unchecked Sendable {  // Nothing of a frozen Realm belongs to a thread.

    /// The frozen value.
    public let value: Value

    /// Freezes a value; keeps it if it is frozen already.
    ///
    /// Thread rule: that of the value.
    /// - Throws: the errors of `freeze`: 2010 for a deleted object or collection.
    public init(_ value: Value) throws(RealmError) { self.value = try value.freeze() }

    /// A property of the frozen value.
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
    /// Returns a live Realm of the same file and schema; this one if it is live.
    ///
    /// - Parameter scheduler: the scheduler of the live Realm; nil: that of the calling thread.
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

    /// Freezes this Realm and returns what `make` finds in the frozen Realm.
    fileprivate func freezing<R>(_ make: (Realm) throws(RealmError) -> R?) throws(RealmError) -> R {
        guard let found = try make(try freeze()) else { throw invalidated() }
        return found
    }
}

extension RealmObject {
    /// Whether the value never changes and can be read on any thread.
    public var isFrozen: Bool { realm.isFrozen }

    /// Returns the object as it is now, for any thread; inside a write transaction as it was before the transaction.
    ///
    /// - Throws: 2010 when the object is deleted, or did not exist before the write transaction.
    public func freeze() throws(RealmError) -> RealmObject {
        isFrozen ? self : try realm.freezing { (frozen) throws(RealmError) in try resolved(in: frozen) }
    }

    /// Returns the live object for a frozen one, in a Realm of the calling thread; nil when the object is deleted.
    public func thaw() throws(RealmError) -> RealmObject? { isFrozen ? try resolved(in: try realm.thaw()) : self }

    /// Returns the same object in another Realm of the file; nil unless the object exists in both.
    public func resolved(in other: Realm) throws(RealmError) -> RealmObject? {
        try realm.checkSameFile(other)
        let isHere = try realm.inside(.object) { () throws(RealmError) in try realm.isAlive(table, key) }
        let isThere = try other.inside { () throws(RealmError) in try other.isAlive(table, key) }
        return isHere && isThere ? RealmObject(realm: other, table: table, key: key) : nil
    }
}

/// The common interface of the three kinds of collections in this file.
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

    /// Whether the value never changes and can be read on any thread.
    public var isFrozen: Bool { realm.isFrozen }

    /// As `RealmObject.freeze`.
    public func freeze() throws(RealmError) -> RealmList { try frozen() }

    /// Returns the live list for a frozen one, in a Realm of the calling thread; nil when it no longer exists.
    public func thaw() throws(RealmError) -> RealmList? { try thawed() }

    /// Returns the same list in another Realm of the file; nil unless the list exists in both.
    public func resolved(in other: Realm) throws(RealmError) -> RealmList? { try found(in: other) }
}

extension RealmSet: Handed {
    fileprivate static var shape: CollectionShape { .set }

    /// Whether the value never changes and can be read on any thread.
    public var isFrozen: Bool { realm.isFrozen }

    /// As `RealmObject.freeze`.
    public func freeze() throws(RealmError) -> RealmSet { try frozen() }

    /// Returns the live set for a frozen one, in a Realm of the calling thread; nil when it no longer exists.
    public func thaw() throws(RealmError) -> RealmSet? { try thawed() }

    /// Returns the same set in another Realm of the file; nil unless the set exists in both.
    public func resolved(in other: Realm) throws(RealmError) -> RealmSet? { try found(in: other) }
}

extension RealmDictionary: Handed {
    fileprivate static var shape: CollectionShape { .dictionary }

    /// Whether the value never changes and can be read on any thread.
    public var isFrozen: Bool { realm.isFrozen }

    /// As `RealmObject.freeze`.
    public func freeze() throws(RealmError) -> RealmDictionary { try frozen() }

    /// Returns the live dictionary for a frozen one, in a Realm of the calling thread; nil when it no longer exists.
    public func thaw() throws(RealmError) -> RealmDictionary? { try thawed() }

    /// Returns the same dictionary in another Realm of the file; nil unless the dictionary exists in both.
    public func resolved(in other: Realm) throws(RealmError) -> RealmDictionary? { try found(in: other) }
}

extension Results {
    /// Whether the value never changes and can be read on any thread.
    public var isFrozen: Bool { realm.isFrozen }

    /// Returns the results of this moment, for any thread. The first access finds the rows.
    public func freeze() throws(RealmError) -> Results { isFrozen ? self : try resolved(in: try realm.freeze()) }

    /// Returns the live results for frozen ones, in a Realm of the calling thread.
    public func thaw() throws(RealmError) -> Results { isFrozen ? try resolved(in: try realm.thaw()) : self }

    /// Returns the same results in another Realm of the file.
    ///
    /// - Throws: 2009 when the owner of the collection that they query is deleted.
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

/// The Swift interface of references: a reference is made on the thread of its target, and resolved by `object(in:)`
/// and similar calls on another thread. Errors: §4.7.
extension ThreadSafeReference {
    /// A reference to a Realm, which the resolving thread takes over. Any thread.
    public convenience init(to realm: Realm) throws(RealmError) { try self.init(realm) }

    /// A reference to an object. Thread rule: that of its Realm.
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

    /// A reference to a list. Thread rule: that of its Realm.
    public convenience init(to list: RealmList) throws(RealmError) { try self.init(list) }

    /// A reference to a set. Thread rule: that of its Realm.
    public convenience init(to set: RealmSet) throws(RealmError) { try self.init(set) }

    /// A reference to a dictionary. Thread rule: that of its Realm.
    public convenience init(to dictionary: RealmDictionary) throws(RealmError) { try self.init(dictionary) }

    /// A reference to results. Thread rule: that of their Realm.
    public convenience init(to results: Results) throws(RealmError) {
        try results.realm.enter(.results)
        defer { results.realm.leave() }
        try self.init(results.found)
    }

    /// Resolves to the Realm itself, which belongs to the scheduler from now on.
    ///
    /// - Parameter scheduler: the new scheduler of the Realm; nil: that of the calling thread.
    public func realm(on scheduler: (any Scheduler)? = nil) throws(RealmError) -> Realm {
        try takeRealm(to: scheduler ?? ThreadScheduler.current)
    }

    /// Resolves to the object, in a Realm of the file; not valid when the object is deleted.
    public func object(in realm: Realm) throws(RealmError) -> RealmObject {
        guard case .object(let table, let named) = try found(.object, in: realm) else { throw Self.mismatch() }
        return RealmObject(realm: realm, table: table, key: named.key)
    }

    /// Resolves to the list, in a Realm of the file; not valid when it no longer exists.
    public func list(in realm: Realm) throws(RealmError) -> RealmList { try collection(.list, in: realm) }

    /// Resolves to the set, in a Realm of the file; not valid when it no longer exists.
    public func set(in realm: Realm) throws(RealmError) -> RealmSet { try collection(.set, in: realm) }

    /// Resolves to the dictionary, in a Realm of the file; not valid when it no longer exists.
    public func dictionary(in realm: Realm) throws(RealmError) -> RealmDictionary {
        try collection(.dictionary, in: realm)
    }

    /// Resolves to the results, in a Realm of the file.
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
