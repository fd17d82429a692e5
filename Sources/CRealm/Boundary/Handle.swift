import CRealmHeaders
import CoreEngine

/// What a pointer handed to C refers to. One final class per kind; the base carries the kind, so that a handle of
/// another kind is told apart without trusting its class.
///
/// A handle is retained once when it goes out (`out()`) and released by `realm_release`. Using a pointer after its
/// release is undefined, as the header says.
class Handle {
    enum Kind: UInt32 {
        case asyncError = 0x43_52_01, config, schema, scheduler, realm, object, list, set, dictionary, results, token,
            workQueue, query, keyPaths,
            objectChanges
        case collectionChanges, dictionaryChanges, notificationToken, reference

        /// Errors, configurations, schemas, key paths and change sets are values; all else ends with the process.
        var isProcessBound: Bool {
            switch self {
            case .asyncError, .config, .schema, .keyPaths, .objectChanges, .collectionChanges, .dictionaryChanges: false
            default: true
            }
        }
    }

    let kind: Kind

    /// Under which number of the fork guard it was handed out.
    final var generation = ForkGuard.generation

    init(_ kind: Kind) { self.kind = kind }

    /// Whether the handle belongs to something that the parent process opened, and that this forked child must leave
    /// alone.
    final var isInherited: Bool { generation != ForkGuard.generation && kind.isProcessBound }

    /// The pointer for C, owning one reference.
    @inline(__always) final func out() -> OpaquePointer { OpaquePointer(Unmanaged.passRetained(self).toOpaque()) }

    func isEqual(to other: Handle) -> Bool { self === other }

    /// Whether what it leads to never changes, and may be read on any thread.
    var isFrozen: Bool { false }

    /// A new handle to the same thing; nil for kinds that cannot be cloned.
    func cloned() -> Handle? { nil }

    func clonedPointer() -> OpaquePointer? { cloned()?.out() }
}

/// Released object handles of one thread.
struct ObjectPool {
    private static let capacity = 64

    /// Word 0: how many; then the handles.
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

    @inline(__always) func push(_ u: Unmanaged<ObjectHandle>) {
        words[0] &+= 1
        words[Int(words[0])] = UInt(bitPattern: u.toOpaque())
    }

    @inline(__always) func pop() -> Unmanaged<ObjectHandle>? {
        guard words[0] > 0, let object = UnsafeRawPointer(bitPattern: words[Int(words[0])]) else { return nil }
        words[0] &-= 1
        return Unmanaged.fromOpaque(object)
    }

    /// The thread ends.
    static func destroy(_ p: UnsafeMutableRawPointer) {
        let pool = ObjectPool(words: p.assumingMemoryBound(to: UInt.self))
        while let object = pool.pop() { object.release() }
        pool.words.deallocate()
    }
}

/// Registered callbacks are taken away when the token goes.
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
// Changes only while it is set up; the client decides on which threads its pointer may be used.
final class UserData: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer?
    private var free: realm_free_userdata_func_t?

    init(_ pointer: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?) {
        self.pointer = pointer
        self.free = free
    }

    deinit { free?(pointer) }

    /// Somebody else frees this pointer.
    func forgetFree() { free = nil }
}

/// A kind of handle, and its class.
struct Door<H: Handle> { let kind: Handle.Kind }

extension Door where H == RealmHandle { static var realm: Self { Self(kind: .realm) } }

extension Door where H == ObjectHandle { static var object: Self { Self(kind: .object) } }

extension Door where H == CollectionHandle {
    static var list: Self { Self(kind: .list) }
    static var set: Self { Self(kind: .set) }
    static var dictionary: Self { Self(kind: .dictionary) }
}

extension Door where H == ResultsHandle { static var results: Self { Self(kind: .results) } }

extension Door where H == QueryHandle { static var query: Self { Self(kind: .query) } }

extension Door where H == ConfigHandle { static var config: Self { Self(kind: .config) } }

extension Door where H == SchemaHandle { static var schema: Self { Self(kind: .schema) } }

extension Door where H == SchedulerHandle { static var scheduler: Self { Self(kind: .scheduler) } }

extension Door where H == ReferenceHandle { static var reference: Self { Self(kind: .reference) } }

extension Door where H == WorkQueue { static var workQueue: Self { Self(kind: .workQueue) } }

extension Door where H == AsyncErrorHandle { static var asyncError: Self { Self(kind: .asyncError) } }
