import CRealmHeaders
import CoreEngine

#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What a pointer handed to C refers to. One final class per kind; the base carries the kind, so that a handle of another kind is told apart
/// without trusting its class.
///
/// A handle is retained once when it goes out (`out()`) and released by `realm_release`. Using a pointer after its release is undefined, as
/// the header says.
class Handle {
    enum Kind: UInt32 {
        case asyncError = 0x43_52_01, config, schema, scheduler, realm, object, list, set, dictionary, results, token, workQueue, query
    }
    let kind: Kind
    init(_ kind: Kind) { self.kind = kind }

    /// The pointer for C, owning one reference.
    @inline(__always) final func out() -> OpaquePointer { OpaquePointer(Unmanaged.passRetained(self).toOpaque()) }
    func isEqual(to other: Handle) -> Bool { self === other }
    /// A new handle to the same thing; nil for kinds that cannot be cloned.
    func cloned() -> Handle? { nil }
    func clonedPointer() -> OpaquePointer? { cloned()?.out() }
}

/// The handle behind a pointer, when it is of the wanted kind; otherwise the last error is set.
@inline(__always) func handle<H: Handle>(_ p: OpaquePointer?, _ kind: Handle.Kind, _ type: H.Type) -> H? {
    guard let p else { return fail(nullArgument()) }
    let h = Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(p)).takeUnretainedValue()
    guard h.kind == kind else { return fail(RealmError(.invalidArgument, "A handle of another kind was passed")) }
    return unsafeDowncast(h, to: H.self)
}
@inline(never) func nullArgument() -> RealmError { RealmError(.invalidArgument, "A required argument is NULL") }

/// As `handle`, for the hot functions: runs `body` on the handle without counting a reference; the caller of the C function holds one.
@inline(__always) func withObject(_ p: OpaquePointer?, _ body: (ObjectHandle) throws(RealmError) -> Void) -> Bool {
    guard let p else { return failed(nullArgument()) }
    let u = Unmanaged<ObjectHandle>.fromOpaque(UnsafeRawPointer(p))
    do throws(RealmError) {
        try u.borrow { (o: ObjectHandle) throws(RealmError) in
            guard o.kind == .object else { throw RealmError(.invalidArgument, "A handle of another kind was passed") }
            try body(o)
        }
        return true
    } catch { return failed(error) }
}

/// One open Realm and the C strings that its schema's views point to. All handles that came from the Realm hold it.
final class RealmBox {
    let realm: Realm
    /// The same, for calls that count no reference.
    let unmanagedRealm: Unmanaged<Realm>
    private var strings: [Name: UnsafeMutablePointer<CChar>] = [:]
    /// Keeps the C scheduler's and callbacks' owners alive as long as the Realm.
    var keepAlive: [AnyObject] = []
    init(_ realm: Realm) {
        self.realm = realm
        unmanagedRealm = .passUnretained(realm)
    }
    deinit { for p in strings.values { p.deallocate() } }

    /// A C string that lives as long as the Realm.
    func view(_ text: Name) -> UnsafePointer<CChar> {
        if let p = strings[text] { return UnsafePointer(p) }
        let bytes = Array(text.utf8)
        let p = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
        for (i, b) in bytes.enumerated() { p[i] = CChar(bitPattern: b) }
        p[bytes.count] = 0
        strings[text] = p
        return UnsafePointer(p)
    }
}

final class RealmHandle: Handle {
    let box: RealmBox
    var realm: Realm { box.realm }
    init(_ box: RealmBox) {
        self.box = box
        super.init(.realm)
    }
    override func isEqual(to other: Handle) -> Bool { (other as? RealmHandle)?.box.realm === box.realm }
    override func cloned() -> Handle? { RealmHandle(box) }
}
@inline(__always) func realmHandle(_ p: OpaquePointer?) -> RealmHandle? { handle(p, .realm, RealmHandle.self) }

/// An object: its Realm and its keys.
///
/// Programs make and release these by the million, so released ones wait in a pool of their thread for the next use. An object handle is
/// referred to by its C pointer only, never from inside the library; that is what makes recycling it at release right.
final class ObjectHandle: Handle {
    /// Owned; empty while in a pool.
    private var ownedBox: Unmanaged<RealmBox>
    /// Kept alive by the box.
    private(set) var unmanagedRealm: Unmanaged<Realm>
    private(set) var table: TableKey
    private(set) var named: BornKey
    /// Null once the transaction that made the object was rolled back.
    @inline(__always) var key: ObjKey { named.key }
    private var isPooled = false
    var box: RealmBox { ownedBox.takeUnretainedValue() }
    @inline(__always) var realm: Realm { unmanagedRealm.takeUnretainedValue() }

    private init(_ box: RealmBox, _ table: TableKey, _ key: ObjKey) {
        ownedBox = .passRetained(box)
        unmanagedRealm = box.unmanagedRealm
        self.table = table
        named = Self.name(box, table, key)
        super.init(.object)
    }
    deinit { if !isPooled { ownedBox.release() } }

    @inline(__always) private static func name(_ box: RealmBox, _ table: TableKey, _ key: ObjKey) -> BornKey {
        BornKey(key, box.unmanagedRealm._withUnsafeGuaranteedRef { $0.transaction.birth(table, key) })
    }
    /// A handle, for C to own.
    @inline(__always) static func make(_ box: RealmBox, _ table: TableKey, _ key: ObjKey) -> OpaquePointer {
        if let u = ObjectPool.current?.pop() {
            u._withUnsafeGuaranteedRef { h in
                h.ownedBox = .passRetained(box)
                h.unmanagedRealm = box.unmanagedRealm
                h.table = table
                h.named = name(box, table, key)
                h.isPooled = false
            }
            return OpaquePointer(u.toOpaque())
        }
        return ObjectHandle(box, table, key).out()
    }
    /// C gives its reference back.
    @inline(__always) static func recycle(_ u: Unmanaged<ObjectHandle>) {
        guard let pool = ObjectPool.current, pool.hasRoom else { return u.release() }
        u._withUnsafeGuaranteedRef { h in
            h.ownedBox.release()
            h.named = BornKey(.null, nil)
            h.isPooled = true
        }
        pool.push(u)
    }
    override func isEqual(to other: Handle) -> Bool {
        guard let o = other as? ObjectHandle else { return false }
        return o.realm === realm && o.table == table && o.named == named
    }
    override func clonedPointer() -> OpaquePointer? { ObjectHandle.make(box, table, key) }
}

/// Released object handles of one thread.
struct ObjectPool {
    private static let capacity = 64
    /// Word 0: how many; then the handles.
    private let words: UnsafeMutablePointer<UInt>

    static var current: ObjectPool? {
        @inline(__always) get {
            if let p = pthread_getspecific(ThreadSlots.objectPool) { return ObjectPool(words: p.assumingMemoryBound(to: UInt.self)) }
            return make()
        }
    }
    @inline(never) private static func make() -> ObjectPool? {
        let words = UnsafeMutablePointer<UInt>.allocate(capacity: capacity + 1)
        words.initialize(repeating: 0, count: capacity + 1)
        guard pthread_setspecific(ThreadSlots.objectPool, words) == 0 else {
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
        guard words[0] > 0, let p = UnsafeRawPointer(bitPattern: words[Int(words[0])]) else { return nil }
        words[0] &-= 1
        return Unmanaged.fromOpaque(p)
    }
    /// The thread ends.
    static func destroy(_ p: UnsafeMutableRawPointer) {
        let pool = ObjectPool(words: p.assumingMemoryBound(to: UInt.self))
        while let u = pool.pop() { u.release() }
        pool.words.deallocate()
    }
}
@inline(__always) func objectHandle(_ p: OpaquePointer?) -> ObjectHandle? { handle(p, .object, ObjectHandle.self) }

/// A list, set or dictionary: where it stands. What was resolved is kept while the Realm's state does not change.
final class CollectionHandle: Handle {
    let box: RealmBox
    let path: CollectionPath
    /// Kept alive by the box.
    private let unmanagedRealm: Unmanaged<Realm>
    private var elements: ElementList?
    private var entries: ElementDictionary?
    private var resolvedAt = UInt64.max
    /// Index of the last insertion: the next one behind it makes it worth to keep the list open.
    private var lastInserted = -2
    var realm: Realm { box.realm }
    init(_ kind: Kind, _ box: RealmBox, _ path: CollectionPath) {
        self.box = box
        self.path = path
        unmanagedRealm = box.unmanagedRealm
        super.init(kind)
    }
    /// Brings `elements` or `entries` to the present version; 2010 when the collection is gone.
    @inline(__always) private func resolve() throws(RealmError) {
        try unmanagedRealm.borrow { (realm: Realm) throws(RealmError) in
            try realm.verifyCollection()
            if resolvedAt != realm.stateCount { try resolveAnew(realm) }
        }
    }
    @inline(never) private func resolveAnew(_ realm: Realm) throws(RealmError) {
        (elements, entries) = (nil, nil)
        resolvedAt = .max
        switch try realm.collection(path) {
        case .list(let l)? where kind != .dictionary: elements = l
        case .dictionary(let d)? where kind == .dictionary: entries = d
        default: throw gone()
        }
        resolvedAt = realm.stateCount
    }
    @inline(never) private func gone() -> RealmError { RealmError(.invalidatedObject, "The collection has been deleted or replaced") }

    /// Whether the collection is there at the present version; an error where that cannot be asked.
    func isThere() throws(RealmError) -> Bool {
        try realm.verifyCollection()
        guard try realm.isAlive(path.table, path.object) else { return false }
        do throws(RealmError) { try resolve() } catch {
            if error.code == .invalidatedObject { return false }
            throw error
        }
        return true
    }
    /// The collection at the present version; 2010 when it is gone.
    func content() throws(RealmError) -> CollectionContent {
        try resolve()
        if let elements { return .list(elements) }
        if let entries { return .dictionary(entries) }
        throw gone()
    }
    func list() throws(RealmError) -> ElementList {
        try resolve()
        guard let elements else { throw gone() }
        return elements
    }
    func dictionary() throws(RealmError) -> ElementDictionary {
        try resolve()
        guard let entries else { throw gone() }
        return entries
    }
    @inline(__always) func size() throws(RealmError) -> Int {
        try resolve()
        if let elements { return elements.count }
        return entries?.count ?? 0
    }
    /// Element of a list or set.
    @inline(__always) func element(_ i: Int, _ out: UnsafeMutablePointer<realm_value_t>?) throws(RealmError) {
        try resolve()
        guard let elements else { throw gone() }
        let v = try elements.get(i)
        if let out { store(v, out) }
    }
    func insert(_ v: Mixed, _ i: Int) throws(RealmError) {
        try unmanagedRealm.borrow { (realm: Realm) throws(RealmError) in
            if i == lastInserted &+ 1, resolvedAt != realm.stateCount { try resolve() }
            lastInserted = i
            if resolvedAt == realm.stateCount, let elements, i == elements.count, try realm.appendInPlace(v, to: elements, path) {
                resolvedAt = realm.stateCount
                return
            }
            try realm.insert(v, at: i, in: path)
        }
    }
    override func isEqual(to other: Handle) -> Bool {
        guard let o = other as? CollectionHandle else { return false }
        return o.kind == kind && o.box.realm === box.realm && o.path.table == path.table && o.path.object == path.object && o.path.column == path.column
    }
    override func cloned() -> Handle? { CollectionHandle(kind, box, path) }
}
/// As `withObject`, for lists and sets.
@inline(__always) func withCollection(_ p: OpaquePointer?, _ kind: Handle.Kind, _ body: (CollectionHandle) throws(RealmError) -> Void) -> Bool {
    guard let p else { return failed(nullArgument()) }
    let u = Unmanaged<CollectionHandle>.fromOpaque(UnsafeRawPointer(p))
    do throws(RealmError) {
        try u.borrow { (h: CollectionHandle) throws(RealmError) in
            guard h.kind == kind else { throw RealmError(.invalidArgument, "A handle of another kind was passed") }
            try body(h)
        }
        return true
    } catch { return failed(error) }
}

extension Realm {
    /// As for objects: a closed Realm invalidates its collections.
    func verifyCollection() throws(RealmError) {
        if isClosed { throw RealmError(.invalidatedObject, "Access to invalidated collection: the Realm has been closed") }
        try verify()
    }
}

/// Registered callbacks are taken away when the token goes.
final class TokenHandle: Handle {
    private let remove: () -> Void
    init(_ remove: @escaping () -> Void) {
        self.remove = remove
        super.init(.token)
    }
    deinit { remove() }
}

/// A C user-data pointer with its free function, which runs exactly once.
final class UserData: @unchecked Sendable {  // Changes only while it is set up; the client decides on which threads its pointer may be used.
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
