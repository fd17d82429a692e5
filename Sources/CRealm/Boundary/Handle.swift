import CRealmHeaders
import CoreEngine

/// The object behind a pointer in C. Each kind of handle has one final class. The base class holds the kind, so that a
/// handle of a wrong kind is detected without trusting its class.
///
/// A handle is retained once when it is passed to C (`out()`), and released by `realm_release`. The use of a pointer
/// after its release is undefined, as the header says.
class Handle {
    enum Kind: UInt32 {
        case asyncError = 0x43_52_01, config, schema, scheduler, realm, object, list, set, dictionary, results, token,
            workQueue, query, keyPaths,
            objectChanges
        case collectionChanges, dictionaryChanges, notificationToken, reference

        /// Whether the handle is invalid in a forked child. Errors, configurations, schemas, key paths and change sets
        /// are plain values and stay valid.
        var isProcessBound: Bool {
            switch self {
            case .asyncError, .config, .schema, .keyPaths, .objectChanges, .collectionChanges, .dictionaryChanges: false
            default: true
            }
        }
    }

    let kind: Kind

    /// The generation of the fork guard when the handle was made.
    final var generation = ForkGuard.generation

    init(_ kind: Kind) { self.kind = kind }

    /// Whether the parent process opened the object behind the handle. A forked child must not use it.
    final var isInherited: Bool { generation != ForkGuard.generation && kind.isProcessBound }

    /// Returns the pointer for C, which owns one reference.
    @inline(__always) final func out() -> OpaquePointer { OpaquePointer(Unmanaged.passRetained(self).toOpaque()) }

    func isEqual(to other: Handle) -> Bool { self === other }

    /// Whether the content never changes and may be read on any thread.
    var isFrozen: Bool { false }

    /// Returns a new handle to the same object; nil for kinds that cannot be cloned.
    func cloned() -> Handle? { nil }

    func clonedPointer() -> OpaquePointer? { cloned()?.out() }
}

/// The released object handles of one thread.
struct ObjectPool {
    private static let capacity = 64

    /// Word 0 is the number of handles; the handles follow.
    private let words: UnsafeMutablePointer<UInt>

    static var current: ObjectPool? {
        @inline(__always) get {
            if let pool = ThreadSlots.objectPool.pointer {
                return ObjectPool(words: pool.assumingMemoryBound(to: UInt.self))
            }
            return make()
        }
    }

    @inline(never) private static func make() -> ObjectPool? {
        let words = UnsafeMutablePointer<UInt>.allocate(capacity: capacity + 1)
        words.initialize(repeating: 0, count: capacity + 1)
        guard ThreadSlots.objectPool.set(words) else {
            words.deallocate()
            return nil
        }
        return ObjectPool(words: words)
    }

    @inline(__always) var hasRoom: Bool { words[0] < UInt(Self.capacity) }

    @inline(__always) func push(_ object: Unmanaged<ObjectHandle>) {
        words[0] &+= 1
        words[Int(words[0])] = UInt(bitPattern: object.toOpaque())
    }

    @inline(__always) func pop() -> Unmanaged<ObjectHandle>? {
        guard words[0] > 0, let object = UnsafeRawPointer(bitPattern: words[Int(words[0])]) else { return nil }
        words[0] &-= 1
        return Unmanaged.fromOpaque(object)
    }

    /// Releases the pool when the thread ends.
    static func destroy(_ pointer: UnsafeMutableRawPointer) {
        let pool = ObjectPool(words: pointer.assumingMemoryBound(to: UInt.self))
        while let object = pool.pop() { object.release() }
        pool.words.deallocate()
    }
}

/// A token of registered callbacks. The callbacks are removed when the token is released.
final class TokenHandle: Handle {
    private weak var realm: Realm?
    private let id: Int

    init(_ realm: Realm, _ id: Int) {
        self.realm = realm
        self.id = id
        super.init(.token)
    }

    deinit { realm?.removeCallback(id) }
}

/// A C user-data pointer with its free function, which runs exactly once.
// Sendable: it changes only while it is set up. The client decides on which threads its pointer may be used.
final class UserData: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer?
    private var free: realm_free_userdata_func_t?

    init(_ pointer: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?) {
        self.pointer = pointer
        self.free = free
    }

    deinit { free?(pointer) }

    /// Disables the free function, because another owner frees the pointer.
    func forgetFree() { free = nil }
}

/// A kind of handle, with its class.
struct HandleType<H: Handle> { let kind: Handle.Kind }

extension HandleType where H == RealmHandle { static var realm: Self { Self(kind: .realm) } }

extension HandleType where H == ObjectHandle { static var object: Self { Self(kind: .object) } }

extension HandleType where H == CollectionHandle {
    static var list: Self { Self(kind: .list) }
    static var set: Self { Self(kind: .set) }
    static var dictionary: Self { Self(kind: .dictionary) }
}

extension HandleType where H == ResultsHandle { static var results: Self { Self(kind: .results) } }

extension HandleType where H == QueryHandle { static var query: Self { Self(kind: .query) } }

extension HandleType where H == ConfigHandle { static var config: Self { Self(kind: .config) } }

extension HandleType where H == SchemaHandle { static var schema: Self { Self(kind: .schema) } }

extension HandleType where H == SchedulerHandle { static var scheduler: Self { Self(kind: .scheduler) } }

extension HandleType where H == ReferenceHandle { static var reference: Self { Self(kind: .reference) } }

extension HandleType where H == WorkQueue { static var workQueue: Self { Self(kind: .workQueue) } }

extension HandleType where H == AsyncErrorHandle { static var asyncError: Self { Self(kind: .asyncError) } }
