internal import CoreEngine
import Foundation

/// Something of a Realm on its way to another thread or queue: `realm.resolve(reference)` gives it there, once.
///
/// It keeps the version at which it was made until it is resolved or let go of.
public final class ThreadSafeReference<Confined: ThreadConfined>: @unchecked Sendable {  // What changes is behind a lock.
    private struct Carried: @unchecked Sendable {
        /// What is frozen may be looked at anywhere.
        let frozen: Confined
        let wasFrozen: Bool
    }
    private let carried: Lock<Carried?>

    /// - Parameter threadConfined: something that a Realm manages.
    public init(to threadConfined: Confined) {
        guard threadConfined.realm != nil else {
            misuse("Cannot construct reference to unmanaged object, which can be passed across threads directly")
        }
        guard !threadConfined.isInvalidated else { misuse("Cannot construct reference to invalidated object") }
        // Inside a write transaction there is no version that could be kept: what exists already is carried by the one before.
        carried = Lock(initial: Carried(frozen: threadConfined.freeze(), wasFrozen: threadConfined.isFrozen))
    }
    /// Whether it was resolved.
    public var isInvalidated: Bool { carried.with { $0 == nil } }

    fileprivate func resolve(in realm: Realm) -> Confined? {
        guard
            let c = carried.with({ c in
                defer { c = nil }
                return c
            })
        else { misuse("Can only resolve a thread safe reference once.") }
        if c.wasFrozen, realm.isFrozen { return c.frozen }
        // Never older than what it was made of.
        realm.catchUp()
        return c.frozen._rlmMove(to: realm)
    }
}
extension Realm {
    /// Moves to the newest version, where the Realm may.
    fileprivate func catchUp() { if !isFrozen, !isInWriteTransaction, !core.configuration.readOnly { refresh() } }
    /// What a reference leads to, in this Realm; nil when it was deleted.
    public func resolve<Confined: ThreadConfined>(_ reference: ThreadSafeReference<Confined>) -> Confined? { reference.resolve(in: self) }
}

/// A variable that may be read on any thread: each gets the value in a Realm of its own.
///
///     @ThreadSafe var person: Person? = …
///     Task.detached { print(person?.name ?? "") }
@propertyWrapper
public final class ThreadSafe<T: ThreadConfined>: @unchecked Sendable {  // What changes is behind a lock.
    private struct Kept: @unchecked Sendable { var value: T? }
    private let kept: Lock<Kept>

    public init(wrappedValue: T?) { kept = Lock(initial: Kept(value: wrappedValue.map { Self.frozen($0) })) }
    public var wrappedValue: T? {
        get {
            guard let value = kept.with({ $0 }).value else { return nil }
            guard value.realm != nil else { return value }
            guard let live = value.thaw(), let realm = live.realm else { return nil }
            // Never older than what it was set to.
            realm.catchUp()
            return live.isInvalidated ? nil : live
        }
        set {
            let new = Kept(value: newValue.map { Self.frozen($0) })
            kept.with { $0 = new }
        }
    }
    /// Unmanaged values stay what they are.
    private static func frozen(_ value: T) -> T { value.realm == nil ? value : value.freeze() }
}
