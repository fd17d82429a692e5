internal import CoreEngine
import Foundation

/// A reference that carries a managed value to another thread or queue. `realm.resolve(reference)` returns the value
/// there, once.
///
/// The reference pins the version at which it was created until it is resolved or released. A Realm that shows no
/// version yet starts with the pinned one. A Realm that shows an older version advances to the newest. A Realm that
/// shows a newer version stays at its version. So a value that was deleted meanwhile is found if the Realm still shows
/// it.
public final class ThreadSafeReference<Confined: ThreadConfined>: Sendable {
    private let carried: Lock<_Carried?>

    /// Creates a reference.
    ///
    /// - Parameter threadConfined: A value that a Realm manages.
    public init(to threadConfined: Confined) {
        guard !threadConfined.isInvalidated else { misuse("Cannot construct reference to invalidated object") }
        guard threadConfined.realm != nil, let carried = threadConfined._rlmCarried() else {
            misuse("Cannot construct reference to unmanaged object, which can be passed across threads directly")
        }
        self.carried = Lock(initial: carried)
    }

    /// A Boolean value that indicates whether the reference was resolved.
    public var isInvalidated: Bool { carried.with { $0 == nil } }

    fileprivate func resolve(in realm: Realm) -> Confined? {
        let taken = carried.with { c in
            defer { c = nil }
            return c
        }
        guard let taken else { misuse("Can only resolve a thread safe reference once.") }
        return taken.show(in: realm.core) as? Confined
    }
}

extension Realm {
    /// Returns the referenced value in this Realm; nil if it does not exist in the version of this Realm.
    public func resolve<Confined: ThreadConfined>(_ reference: ThreadSafeReference<Confined>) -> Confined? {
        reference.resolve(in: self)
    }
}

/// The content of a reference: names in a file, the version in which they are valid, and a function that makes the
/// value in another Realm.
// Sendable: the functions capture only types and blocks of the program, and no object of any Realm.
public struct _Carried: @unchecked Sendable {
    private let reference: CoreEngine.ThreadSafeReference
    private let kind: CoreEngine.ThreadSafeReference.Kind
    private let make: (CoreEngine.ThreadSafeReference.Target, RealmCore) -> Any?

    init(
        _ kind: CoreEngine.ThreadSafeReference.Kind,
        _ reference: () throws(EngineError) -> CoreEngine.ThreadSafeReference,
        _ make: @escaping (CoreEngine.ThreadSafeReference.Target, RealmCore) -> Any?
    ) {
        self.reference = must(reference)
        self.kind = kind
        self.make = make
    }
    private init(
        _ other: _Carried, _ make: @escaping (CoreEngine.ThreadSafeReference.Target, RealmCore) -> Any?
    ) { (reference, kind, self.make) = (other.reference, other.kind, make) }
    /// Returns the same content for a value that is made from the original one.
    func map<T, U>(_ type: T.Type, _ body: @escaping (T) -> U?) -> _Carried {
        let make = make
        return _Carried(self) { target, core in (make(target, core) as? T).flatMap(body) }
    }
    fileprivate func show(in core: RealmCore) -> Any? {
        let target: CoreEngine.ThreadSafeReference.Target
        do throws(EngineError) {
            target = try core.realm.inside { () throws(EngineError) in try reference.target(kind, in: core.realm) }
        } catch {
            // A Realm of another file does not contain the value.
            if error.code == .illegalOperation { return nil }
            misuse(error)
        }
        return make(target, core)
    }
}

extension ObjectBase {
    public final func _rlmCarried() -> _Carried? {
        guard let managed else { return nil }
        let realm = managed.core.realm, info = managed.info, table = managed.table, named = named
        return _Carried(
            .object,
            { () throws(EngineError) in
                try realm.inside(.object) { () throws(EngineError) in
                    try CoreEngine.ThreadSafeReference(realm, table, named, isPinning: true)
                }
            },
            { target, core in
                guard case .object(let table, let named) = target, core.realm.isValid(table, named.key) else {
                    return nil
                }
                return info.isDynamic ? core.dynamic(table, named.key) : core.object(info.type, table, named.key)
            })
    }
}

extension _Rows {
    /// - Parameter make: Makes the public collection type from the rows.
    func carried<T>(_ make: @escaping (_Rows) -> T) -> _Carried {
        let info = elements?.info
        return _Carried(
            .results,
            { () throws(EngineError) in
                try core.realm.inside(.results) { () throws(EngineError) in try CoreEngine.ThreadSafeReference(found) }
            },
            { target, core in
                guard case .results(let recipe) = target else { return nil }
                let found = must { () throws(EngineError) in
                    try core.realm.inside(.results) { () throws(EngineError) in try ResultSet(core.realm, recipe) }
                }
                let elements = info.flatMap { info in
                    info.isDynamic ? found.table.flatMap { core.dynamicClass(of: $0) } : core.managed(info.type)
                }
                return make(_Rows(core, found, elements))
            })
    }
}

extension ManagedCollection {
    /// - Parameters:
    ///   - element: The type of the elements.
    ///   - make: Makes the public collection type from the managed collection.
    func carried<T>(_ element: _PropertyShape, _ make: @escaping (ManagedCollection) -> T) -> _Carried {
        let realm = core.realm, path = path, shape = shape
        let kind: CoreEngine.ThreadSafeReference.Kind =
            switch shape {
            case .list: .list
            case .set: .set
            case .dictionary: .dictionary
            }
        return _Carried(
            kind,
            { () throws(EngineError) in
                try realm.inside(.collection) { () throws(EngineError) in
                    try CoreEngine.ThreadSafeReference(realm, path, shape, isPinning: true)
                }
            },
            { target, core in
                guard case .collection(let path, _) = target else { return nil }
                let moved = ManagedCollection(core, path, shape, element)
                return moved.isThere ? make(moved) : nil
            })
    }
}

extension Results {
    public func _rlmCarried() -> _Carried? { rows.carried { Results($0) } }
}

extension LinkingObjects {
    public func _rlmCarried() -> _Carried? { rows.map { $0.carried { LinkingObjects($0) } } }
}

extension List {
    public func _rlmCarried() -> _Carried? { managed.map { $0.carried(Element._rlmShape) { List($0) } } }
}

extension MutableSet {
    public func _rlmCarried() -> _Carried? { managed.map { $0.carried(Element._rlmShape) { MutableSet($0) } } }
}

extension Map {
    public func _rlmCarried() -> _Carried? { managed.map { $0.carried(Value._rlmShape) { Map($0) } } }
}

/// A variable that may be read on any thread. Each thread gets the value in its own Realm.
///
///     @ThreadSafe var person: Person? = …
///     Task.detached { print(person?.name ?? "") }
///
/// Each read resolves the stored reference, like a `ThreadSafeReference`, and stores a new reference.
@propertyWrapper
public final class ThreadSafe<T: ThreadConfined>: @unchecked Sendable {  // The mutable state is behind a lock.
    private let lock = NSRecursiveLock()
    private var kept: (reference: ThreadSafeReference<T>, configuration: Realm.Configuration)?

    public init(wrappedValue: T?) { kept = Self.kept(wrappedValue) }

    public var wrappedValue: T? {
        get {
            lock.lock()
            defer { lock.unlock() }
            guard let (reference, configuration) = kept else { return nil }
            let realm: Realm
            do { realm = try Realm(configuration: configuration) } catch { misuse("\(error)") }
            let value = realm.resolve(reference)
            kept = Self.kept(value)
            return value
        }
        set {
            let new = Self.kept(newValue)
            lock.withLock { kept = new }
        }
    }

    private static func kept(_ value: T?) -> (ThreadSafeReference<T>, Realm.Configuration)? {
        guard let value else { return nil }
        guard let realm = value.realm else { misuse("Only managed objects may be wrapped as thread safe.") }
        return (ThreadSafeReference(to: value), realm.configuration)
    }
}
