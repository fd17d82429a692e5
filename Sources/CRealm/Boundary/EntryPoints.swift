import CRealmHeaders
import CoreEngine

/// # Entry points
///
/// Every exported function that takes a handle calls one of the functions below (their parameter `type` names the kind
/// of the handle). Only this file can access the object behind a handle. So C code cannot reach a Realm without these
/// checks: the pointer is not NULL, the handle has the right kind, its Realm is open, the call is on the Realm's
/// thread, and the file has all its pages. While the function runs, the Realm cannot be released.
///
///     inside(.list, l) { (list, realm) in … }      bool functions:     confined to the Realm's thread
///     from(.list, l) { (list, realm) in … }        pointer functions:  confined
///     handle(.list, l) { (list, realm) in … }      confined; returns a new handle
///     readProperty, writeProperty, readObject      confined; the engine performs the same checks inline
///     anywhere(.realm, r) { (realm) in … }         any thread: access only to the handle, not to its Realm
///
/// `Scripts/check_entry_points.py` compares the entry point of each function with the thread rule in the header.

/// The object that a handle keeps alive. Only the entry points can access it.
struct Sealed<Content: AnyObject> {
    fileprivate let content: Unmanaged<Content>

    init(_ content: Content) { self.content = .passUnretained(content) }
}

/// Returns the kind of the handle at a pointer; nil for NULL. For functions that take handles of several kinds.
func kind(of pointer: UnsafeRawPointer?) -> Handle.Kind? {
    pointer.map { Unmanaged<Handle>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.kind } }
}

/// A handle whose functions are confined to the thread of its Realm.
protocol Confined: Handle {
    associatedtype Content: AnyObject

    /// The kind of access, which determines the error for a closed Realm.
    static var accessor: Realm.Accessor { get }

    /// Whether callbacks run inside functions on this handle. A callback may release the handle.
    static var runsCallbacks: Bool { get }
    var box: RealmBox { get }
    var realm: Sealed<Realm> { get }
    var content: Sealed<Content> { get }
}

extension Confined { static var runsCallbacks: Bool { false } }

extension Confined where Content == Realm {
    var content: Sealed<Realm> { @inline(__always) get { realm } }
}

@inline(never) func nullArgument() -> RealmError { RealmError(.invalidArgument, "A required argument is NULL") }

@inline(never) private func otherKind() -> RealmError {
    RealmError(.invalidArgument, "A handle of another kind was passed")
}

/// Runs `body` on the handle without counting a reference, because the caller of the C function holds one. Used by the
/// entry points, and for additional arguments that are handles without access to a Realm.
@inline(__always) func borrow<H: Handle, R>(
    _ type: HandleType<H>, _ pointer: OpaquePointer?, _ body: (H) throws(RealmError) -> R
)
    throws(RealmError) -> R
{
    guard let pointer else { throw nullArgument() }
    return try Unmanaged<H>.fromOpaque(UnsafeRawPointer(pointer)).borrow { (handle: H) throws(RealmError) -> R in
        guard handle.kind == type.kind else { throw otherKind() }
        return try body(handle)
    }
}

/// Runs `body` on a handle and its content, after the checks of an entry point. For additional arguments that are
/// handles, and for functions that do not fail when the Realm is closed.
@inline(__always) func insideRealm<H: Confined, R>(
    _ type: HandleType<H>, _ pointer: OpaquePointer?, outcomeStands: Bool = false,
    _ body: (H, H.Content) throws(RealmError) -> R
) throws(RealmError) -> R {
    try borrow(type, pointer) { (handle: H) throws(RealmError) -> R in
        try handle.insideRealm(outcomeStands: outcomeStands) { (content) throws(RealmError) in try body(handle, content)
        }
    }
}

extension Confined {
    /// - Parameter outcomeStands: true if the effect of the call remains valid even if pages of the file are lost
    ///   afterwards.
    @inline(__always) func insideRealm<R>(outcomeStands: Bool = false, _ body: (Content) throws(RealmError) -> R)
        throws(RealmError) -> R
    {
        let alive = Self.runsCallbacks ? box : nil
        defer { withExtendedLifetime(alive) {} }
        return try realm.content.borrow { (realm: Realm) throws(RealmError) -> R in
            try realm.enter(Self.accessor)
            let result: Result<R, RealmError>
            do throws(RealmError) {
                result = .success(
                    try content.content.borrow { (content: Content) throws(RealmError) in try body(content) })
            } catch { result = .failure(error) }
            let anyLost = realm.leave()
            // This applies to results and to errors: the call may have read zeros in place of lost pages.
            if anyLost, !outcomeStands { try realm.verifyWhole() }
            return try result.get()
        }
    }
}

@inline(__always) func inside<H: Confined>(
    _ type: HandleType<H>, _ pointer: OpaquePointer?, outcomeStands: Bool = false,
    _ body: (H, H.Content) throws(RealmError) -> Void
) -> Bool {
    do throws(RealmError) {
        try insideRealm(type, pointer, outcomeStands: outcomeStands, body)
        return true
    } catch { return failed(error) }
}

/// Entry point of pointer functions. `body` may return nil without an error.
@inline(__always) func from<H: Confined, R>(
    _ type: HandleType<H>, _ pointer: OpaquePointer?, _ body: (H, H.Content) throws(RealmError) -> R?
) -> R? {
    do throws(RealmError) { return try insideRealm(type, pointer, body) } catch { return fail(error) }
}

/// Entry point of pointer functions that return a new handle.
@inline(__always) func handle<H: Confined>(
    _ type: HandleType<H>, _ pointer: OpaquePointer?, _ body: (H, H.Content) throws(RealmError) -> Handle?
) -> OpaquePointer? {
    do throws(RealmError) { return try insideRealm(type, pointer, body)?.out() } catch { return fail(error) }
}

/// Entry point of functions that may be called on any thread.
///
/// - Parameter failure: The result of the function if it fails.
@inline(__always) func anywhere<H: Handle, R>(
    _ type: HandleType<H>, _ pointer: OpaquePointer?, _ failure: R, _ body: (H) throws(RealmError) -> R
) -> R {
    do throws(RealmError) {
        return try borrow(type, pointer) { (handle: H) throws(RealmError) -> R in
            if handle.isInherited { throw Realm.inheritedError() }
            return try body(handle)
        }
    } catch {
        setLastError(error)
        return failure
    }
}

// Functions that programs call for each object in a loop. The engine performs the checks of the entry point inline.

/// Reads the value of a property.
@inline(__always) func readProperty(_ object: OpaquePointer?, _ property: Int64) throws(RealmError) -> Mixed {
    try borrow(.object, object) { (object: ObjectHandle) throws(RealmError) -> Mixed in
        try object.realm.content.borrow { (realm: Realm) throws(RealmError) in
            try realm.read(object.table, object.key, ColKey(property))
        }
    }
}

@inline(__always) func writeProperty(_ object: OpaquePointer?, _ property: Int64, _ value: realm_value_t)
    throws(RealmError)
{
    try borrow(.object, object) { (object: ObjectHandle) throws(RealmError) in
        try object.realm.content.borrow { (realm: Realm) throws(RealmError) in
            try realm.write(object.table, object.key, ColKey(property), try load(value))
        }
    }
}

/// Returns a handle of the object in a row of results.
@inline(__always) func readObject(_ results: OpaquePointer?, _ index: Int) throws(RealmError) -> OpaquePointer {
    try borrow(.results, results) { (results: ResultsHandle) throws(RealmError) -> OpaquePointer in
        let (table, named) = try results.realm.content.borrow { (realm: Realm) throws(RealmError) in
            try results.content.content.borrow { (results: ResultSet) throws(RealmError) in
                try realm.object(of: results, at: index)
            }
        }
        return ObjectHandle.make(results.box, table, named)
    }
}

// MARK: Handles of a Realm and their content

/// An open Realm and the C strings that the views of its schema point to. All handles that come from the Realm retain
/// it.
final class RealmBox {
    private let kept: Realm
    let realm: Sealed<Realm>
    let texts = TextPool()

    init(_ realm: Realm) {
        kept = realm
        self.realm = Sealed(realm)
    }

    /// Returns a C string that lives as long as the Realm.
    func view(_ text: Name) -> UnsafePointer<CChar> { texts.view(text) }
}

final class RealmHandle: Handle, Confined {
    static var accessor: Realm.Accessor { .realm }
    static var runsCallbacks: Bool { true }
    let box: RealmBox
    var realm: Sealed<Realm> { box.realm }

    init(_ box: RealmBox) {
        self.box = box
        super.init(.realm)
    }

    override var isFrozen: Bool { everywhere.isFrozen }

    override func isEqual(to other: Handle) -> Bool {
        (other as? RealmHandle)?.realm.content.toOpaque() == realm.content.toOpaque()
    }

    override func cloned() -> Handle? { RealmHandle(box) }

    // The part of the Realm that any thread may read.
    private var everywhere: Realm { realm.content.takeUnretainedValue() }
    var isClosed: Bool { everywhere.isClosed }
    var isWriting: Bool { everywhere.isWritingOrWaiting }
    var schema: Schema { everywhere.schema }
    var schemaVersion: UInt64 { everywhere.schemaVersion }

    func close() { everywhere.close() }

    func interrupt() { everywhere.interrupt() }

    func reference() throws(RealmError) -> ThreadSafeReference { try ThreadSafeReference(everywhere) }
}

/// The handle of an object: its Realm and its keys.
///
/// Programs make and release these handles by the million, so each thread keeps released handles in a pool for reuse.
/// Only C pointers refer to an object handle; no other object of the library retains one. So the handle can be reused
/// as soon as C releases it.
final class ObjectHandle: Handle, Confined {
    static var accessor: Realm.Accessor { .object }

    /// Retained by this handle; invalid while the handle is in a pool.
    private var ownedBox: Unmanaged<RealmBox>
    private(set) var realm: Sealed<Realm>
    private(set) var table: TableKey
    private(set) var named: TrackedKey { didSet { creation = named.creation.map { .passUnretained($0) } } }

    /// The creation of the object. `named` keeps it alive.
    private var creation: Unmanaged<Creation>?

    /// The key of the object; null after a rollback of the transaction that made it.
    @inline(__always) var key: ObjKey {
        guard let creation, creation._withUnsafeGuaranteedRef({ $0.isUndone }) else { return named.made }
        return .null
    }

    private var isPooled = false

    /// The notifier of the handle. The notifier's callbacks end when the handle is released.
    var notifier: Notifier?
    var box: RealmBox { ownedBox.takeUnretainedValue() }

    private init(_ box: RealmBox, _ table: TableKey, _ named: TrackedKey) {
        ownedBox = .passRetained(box)
        realm = box.realm
        self.table = table
        self.named = named
        creation = named.creation.map { .passUnretained($0) }
        super.init(.object)
    }

    deinit {
        notifier?.end()
        if !isPooled { ownedBox.release() }
    }

    /// Makes a handle that C owns. Called inside an entry point of the Realm.
    @inline(__always) static func make(_ box: RealmBox, _ table: TableKey, _ key: ObjKey) -> OpaquePointer {
        make(box, table, TrackedKey(key, box.realm.content._withUnsafeGuaranteedRef { $0.creation(table, key) }))
    }

    @inline(__always) static func make(_ box: RealmBox, _ table: TableKey, _ named: TrackedKey) -> OpaquePointer {
        if let pooled = ObjectPool.current?.pop() {
            pooled._withUnsafeGuaranteedRef { handle in
                // The reference is counted manually, because passing it as an argument would count a second one.
                handle.realm = box.realm
                handle.ownedBox = Unmanaged.passUnretained(box).retain()
                handle.table = table
                handle.named = named
                handle.generation = ForkGuard.generation
                handle.isPooled = false
            }
            return OpaquePointer(pooled.toOpaque())
        }
        return ObjectHandle(box, table, named).out()
    }

    /// Called when C releases the handle: puts it into the pool of the thread, or releases it.
    @inline(__always) static func recycle(_ object: Unmanaged<ObjectHandle>) {
        guard object._withUnsafeGuaranteedRef({ $0.notifier == nil }), let pool = ObjectPool.current, pool.hasRoom
        else {
            return object.release()
        }
        object._withUnsafeGuaranteedRef { handle in
            handle.ownedBox.release()
            handle.named = TrackedKey(.null, nil)
            handle.isPooled = true
        }
        // The release may have destroyed the Realm and called functions of the program, which may have put other
        // handles into the pool.
        guard pool.hasRoom else { return object.release() }
        pool.push(object)
    }

    override func isEqual(to other: Handle) -> Bool {
        guard let peer = other as? ObjectHandle else { return false }
        return peer.realm.content.toOpaque() == realm.content.toOpaque() && peer.table == table && peer.named == named
    }

    override var isFrozen: Bool { realm.content.takeUnretainedValue().isFrozen }

    /// Whether the object exists. On a thread other than the Realm's, only whether the Realm is open.
    var isValid: Bool {
        realm.content.takeUnretainedValue().isValid(table, key)
    }

    override func clonedPointer() -> OpaquePointer? { ObjectHandle.make(box, table, named) }
}

/// The handle of a list, set or dictionary, which holds its path. The resolved content is cached while the state of the
/// Realm does not change. For a frozen Realm the readers of the threads cache it, because all threads may use the
/// handle at the same time.
final class CollectionHandle: Handle, Confined {
    static var accessor: Realm.Accessor { .collection }
    let box: RealmBox
    let path: CollectionPath
    let realm: Sealed<Realm>
    private let isOfFrozen: Bool
    private var elements: ElementList?
    private var entries: ElementDictionary?
    private var resolvedAt = UInt64.max

    /// The index of the last insertion. If the next insertion follows it directly, keeping the list open saves time.
    private var lastInserted = -2

    /// The notifier of the handle. The notifier's callbacks end when the handle is released.
    var notifier: Notifier?

    deinit { notifier?.end() }

    init(_ kind: Kind, _ box: RealmBox, _ path: CollectionPath) {
        self.box = box
        self.path = path
        realm = box.realm
        isOfFrozen = realm.content._withUnsafeGuaranteedRef { $0.isFrozen }
        super.init(kind)
    }

    override var isFrozen: Bool { isOfFrozen }
    // The following functions are called inside an entry point of the Realm.

    /// Resolves `elements` or `entries` at the current version. Throws 2010 if the collection does not exist any more.
    @inline(__always) private func resolve() throws(RealmError) {
        try realm.content.borrow { (realm: Realm) throws(RealmError) in
            if resolvedAt != realm.stateCount { try resolveAnew(realm) }
        }
    }

    @inline(never) private func resolveAnew(_ realm: Realm) throws(RealmError) {
        (elements, entries) = (nil, nil)
        resolvedAt = .max
        switch try found(realm) {
        case .list(let list): elements = list
        case .dictionary(let dictionary): entries = dictionary
        }
        resolvedAt = realm.stateCount
    }

    private func found(_ realm: Realm) throws(RealmError) -> CollectionContent {
        switch try realm.collection(path) {
        case .list(let list)? where kind != .dictionary: return .list(list)
        case .dictionary(let dictionary)? where kind == .dictionary: return .dictionary(dictionary)
        default: throw gone()
        }
    }

    @inline(never) private func gone() -> RealmError {
        RealmError(.invalidatedObject, "The collection has been deleted or replaced")
    }

    /// Returns whether the collection exists at the current version. Throws an error if this cannot be determined.
    func isThere() throws(RealmError) -> Bool {
        guard
            try realm.content.borrow({ (realm: Realm) throws(RealmError) in try realm.isAlive(path.table, path.object) }
            )
        else { return false }
        do throws(RealmError) { _ = try contents() } catch {
            if error.code == .invalidatedObject { return false }
            throw error
        }
        return true
    }

    /// Returns the collection at the current version. Throws 2010 if it does not exist any more.
    func contents() throws(RealmError) -> CollectionContent {
        if isOfFrozen { return try realm.content.borrow { (realm: Realm) throws(RealmError) in try found(realm) } }
        try resolve()
        if let elements { return .list(elements) }
        if let entries { return .dictionary(entries) }
        throw gone()
    }

    func list() throws(RealmError) -> ElementList {
        guard case .list(let list) = try contents() else { throw gone() }
        return list
    }

    func dictionary() throws(RealmError) -> ElementDictionary {
        guard case .dictionary(let dictionary) = try contents() else { throw gone() }
        return dictionary
    }

    @inline(__always) func size() throws(RealmError) -> Int {
        if isOfFrozen {
            switch try contents() {
            case .list(let list): return list.count
            case .dictionary(let dictionary): return dictionary.count
            }
        }
        try resolve()
        if let elements { return elements.count }
        return entries?.count ?? 0
    }

    /// Reads an element of a list or set.
    @inline(__always) func element(_ index: Int, _ out: UnsafeMutablePointer<realm_value_t>?) throws(RealmError) {
        let value: Mixed
        if isOfFrozen {
            value = try list().get(index)
        } else {
            try resolve()
            guard let elements else { throw gone() }
            value = try elements.get(index)
        }
        if let out { store(value, out) }
    }

    func insert(_ value: Mixed, _ index: Int) throws(RealmError) {
        try realm.content.borrow { (realm: Realm) throws(RealmError) in
            if isOfFrozen { return try realm.insert(value, at: index, in: path) }
            if index == lastInserted &+ 1, resolvedAt != realm.stateCount { try resolve() }
            lastInserted = index
            if resolvedAt == realm.stateCount, let elements, index == elements.count,
                try realm.appendInPlace(value, to: elements, path)
            {
                resolvedAt = realm.stateCount
                return
            }
            try realm.insert(value, at: index, in: path)
        }
    }

    // MARK: Blobs

    /// Where the elements begin, and the state of the Realm for which that holds. All threads may use the handle of a
    /// frozen Realm.
    private let pieces = Lock(initial: (known: BlobPieces?.none, at: UInt64.max))

    /// Runs `body` with the list and the places of its elements, which `body` keeps up to date.
    func withBlob<R>(_ realm: Realm, _ body: (ElementList, inout BlobPieces) throws(RealmError) -> R) throws(RealmError)
        -> R
    {
        let list = try list()
        let state = isOfFrozen ? 0 : realm.stateCount
        let last = pieces.with { $0.at == state ? $0.known : nil }
        var current: BlobPieces
        if let last { current = last } else { current = try realm.blobPieces(list, path) }
        let result = try body(list, &current)
        let kept = current
        let end = isOfFrozen ? 0 : realm.stateCount
        if last == nil || end != state { pieces.with { $0 = (kept, end) } }
        return result
    }

    override func isEqual(to other: Handle) -> Bool {
        guard let peer = other as? CollectionHandle else { return false }
        guard peer.kind == kind, peer.realm.content.toOpaque() == realm.content.toOpaque() else { return false }
        return peer.path.table == path.table && peer.path.object == path.object && peer.path.column == path.column
    }

    override func cloned() -> Handle? { CollectionHandle(kind, box, path) }
}

/// The handle of live results.
final class ResultsHandle: Handle, Confined {
    static var accessor: Realm.Accessor { .results }
    let box: RealmBox
    let realm: Sealed<Realm>
    let content: Sealed<ResultSet>
    private let kept: ResultSet

    /// The notifier of the handle. The notifier's callbacks end when the handle is released.
    var notifier: Notifier?

    deinit { notifier?.end() }

    init(_ box: RealmBox, _ results: ResultSet) {
        self.box = box
        realm = box.realm
        kept = results
        content = Sealed(results)
        super.init(.results)
    }

    var isClosed: Bool { realm.content.takeUnretainedValue().isClosed }
    override var isFrozen: Bool { realm.content.takeUnretainedValue().isFrozen }

    override func cloned() -> Handle? { ResultsHandle(box, kept) }
}

final class QueryHandle: Handle, Confined {
    static var accessor: Realm.Accessor { .realm }
    let box: RealmBox
    let realm: Sealed<Realm>
    let content: Sealed<ObjectQuery>
    private let kept: ObjectQuery

    /// The text that was returned last. The next call replaces it, unless the Realm is frozen.
    private let description = Lock(initial: UnsafeMutablePointer<CChar>?.none)

    init(_ box: RealmBox, _ query: ObjectQuery) {
        self.box = box
        realm = box.realm
        kept = query
        content = Sealed(query)
        super.init(.query)
    }

    deinit { description.with { $0?.deallocate() } }

    override func cloned() -> Handle? { QueryHandle(box, kept) }

    func show(_ text: String) -> UnsafePointer<CChar> {
        let isFixed = realm.content._withUnsafeGuaranteedRef { $0.isFrozen }
        return description.with { last in
            if isFixed, let last { return UnsafePointer(last) }
            let bytes = text.utf8
            last?.deallocate()
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
            for (i, byte) in bytes.enumerated() { copy[i] = CChar(bitPattern: byte) }
            copy[bytes.count] = 0
            last = copy
            return UnsafePointer(copy)
        }
    }
}
