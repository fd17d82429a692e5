import CRealmHeaders
import CoreEngine

/// # The door
///
/// Every exported function that takes a handle comes through one of these, and what a handle leads to is visible in
/// this file only. So there is no way from C to a Realm without these checks: a pointer, of the right kind, to
/// something whose Realm is open, on the Realm's own thread, in a file that has all its pages; and while the function
/// runs nobody takes the Realm away.
///
///     inside(.list, l) { (list, realm) in … }      bool functions:     what is confined to the Realm's thread
///     from(.list, l) { (list, realm) in … }        pointer functions:  the same
///     handle(.list, l) { (list, realm) in … }      … that return a new handle
///     readProperty, writeProperty, readObject      confined, too: the same checks, in line in the engine
///     anywhere(.realm, r) { (realm) in … }         what any thread may ask: the handle, and nothing behind it
///
/// `Scripts/check_doors.py` compares the door that each function takes with the thread rule that the header states.

/// What a handle keeps alive; only the door opens it.
struct Sealed<Content: AnyObject> {
    fileprivate let content: Unmanaged<Content>

    init(_ content: Content) { self.content = .passUnretained(content) }
}

/// Which kind of handle a pointer is; nil for NULL. For functions that take handles of several kinds.
func kind(of p: UnsafeRawPointer?) -> Handle.Kind? {
    p.map { Unmanaged<Handle>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.kind } }
}

/// A handle of something in a Realm.
protocol Confined: Handle {
    associatedtype Content: AnyObject

    /// Decides how the caller learns that the Realm was closed.
    static var accessor: Realm.Accessor { get }

    /// Callbacks run inside its functions, and may release the handle.
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

/// Runs `body` on the handle without counting a reference: the caller of the C function holds one. For second handles
/// that lead to no Realm.
@inline(__always) func borrow<H: Handle, R>(_ door: Door<H>, _ p: OpaquePointer?, _ body: (H) throws(RealmError) -> R)
    throws(RealmError) -> R
{
    guard let p else { throw nullArgument() }
    return try Unmanaged<H>.fromOpaque(UnsafeRawPointer(p)).borrow { (h: H) throws(RealmError) -> R in
        guard h.kind == door.kind else { throw otherKind() }
        return try body(h)
    }
}

/// For second handles of a function, and where closed Realms are no error.
@inline(__always) func visit<H: Confined, R>(
    _ door: Door<H>, _ p: OpaquePointer?, outcomeStands: Bool = false, _ body: (H, H.Content) throws(RealmError) -> R
) throws(RealmError) -> R {
    try borrow(door, p) { (h: H) throws(RealmError) -> R in
        try h.visit(outcomeStands: outcomeStands) { (content) throws(RealmError) in try body(h, content) }
    }
}

extension Confined {
    /// - Parameter outcomeStands: what was done is done, whatever happens to the file afterwards.
    @inline(__always) func visit<R>(outcomeStands: Bool = false, _ body: (Content) throws(RealmError) -> R)
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
            // Whatever the call found or complained of: it may have read zeros in place of lost pages.
            if anyLost, !outcomeStands { try realm.verifyWhole() }
            return try result.get()
        }
    }
}

@inline(__always) func inside<H: Confined>(
    _ door: Door<H>, _ p: OpaquePointer?, outcomeStands: Bool = false, _ body: (H, H.Content) throws(RealmError) -> Void
) -> Bool {
    do throws(RealmError) {
        try visit(door, p, outcomeStands: outcomeStands, body)
        return true
    } catch { return failed(error) }
}

/// nil without an error is allowed.
@inline(__always) func from<H: Confined, R>(
    _ door: Door<H>, _ p: OpaquePointer?, _ body: (H, H.Content) throws(RealmError) -> R?
) -> R? {
    do throws(RealmError) { return try visit(door, p, body) } catch { return fail(error) }
}

/// The same, for a new handle.
@inline(__always) func handle<H: Confined>(
    _ door: Door<H>, _ p: OpaquePointer?, _ body: (H, H.Content) throws(RealmError) -> Handle?
) -> OpaquePointer? {
    do throws(RealmError) { return try visit(door, p, body)?.out() } catch { return fail(error) }
}

/// - Parameter failure: what the function returns when it fails.
@inline(__always) func anywhere<H: Handle, R>(
    _ door: Door<H>, _ p: OpaquePointer?, _ failure: R, _ body: (H) throws(RealmError) -> R
) -> R {
    do throws(RealmError) {
        return try borrow(door, p) { (h: H) throws(RealmError) -> R in
            if h.isInherited { throw Realm.inheritedError() }
            return try body(h)
        }
    } catch {
        setLastError(error)
        return failure
    }
}

// What programs call for each object of a loop. The engine makes the checks of the door, in line.

/// The value of a property.
@inline(__always) func readProperty(_ o: OpaquePointer?, _ property: Int64) throws(RealmError) -> Mixed {
    try borrow(.object, o) { (h: ObjectHandle) throws(RealmError) -> Mixed in
        try h.realm.content.borrow { (realm: Realm) throws(RealmError) in
            try realm.read(h.table, h.key, ColKey(property))
        }
    }
}

@inline(__always) func writeProperty(_ o: OpaquePointer?, _ property: Int64, _ value: realm_value_t) throws(RealmError)
{
    try borrow(.object, o) { (h: ObjectHandle) throws(RealmError) in
        try h.realm.content.borrow { (realm: Realm) throws(RealmError) in
            try realm.write(h.table, h.key, ColKey(property), try load(value))
        }
    }
}

/// A handle of the object in a row of results.
@inline(__always) func readObject(_ r: OpaquePointer?, _ index: Int) throws(RealmError) -> OpaquePointer {
    try borrow(.results, r) { (h: ResultsHandle) throws(RealmError) -> OpaquePointer in
        let (table, named) = try h.realm.content.borrow { (realm: Realm) throws(RealmError) in
            try h.content.content.borrow { (results: ResultSet) throws(RealmError) in
                try realm.object(of: results, at: index)
            }
        }
        return ObjectHandle.make(h.box, table, named)
    }
}

// MARK: What stands behind it

/// One open Realm and the C strings that its schema's views point to. All handles that came from the Realm hold it.
final class RealmBox {
    private let kept: Realm
    let realm: Sealed<Realm>
    let texts = TextPool()

    init(_ realm: Realm) {
        kept = realm
        self.realm = Sealed(realm)
    }

    /// A C string that lives as long as the Realm.
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

    // What any thread may ask.
    private var everywhere: Realm { realm.content.takeUnretainedValue() }
    var isClosed: Bool { everywhere.isClosed }
    var isWriting: Bool { everywhere.isWritingOrWaiting }
    var schema: Schema { everywhere.schema }
    var schemaVersion: UInt64 { everywhere.schemaVersion }

    func close() { everywhere.close() }

    func interrupt() { everywhere.interrupt() }

    func reference() throws(RealmError) -> ThreadSafeReference { try ThreadSafeReference(everywhere) }
}

/// An object: its Realm and its keys.
///
/// Programs make and release these by the million, so released ones wait in a pool of their thread for the next use. An
/// object handle is referred to by its C pointer only, never from inside the library; that is what makes recycling it
/// at release right.
final class ObjectHandle: Handle, Confined {
    static var accessor: Realm.Accessor { .object }

    /// Owned; empty while in a pool.
    private var ownedBox: Unmanaged<RealmBox>
    private(set) var realm: Sealed<Realm>
    private(set) var table: TableKey
    private(set) var named: BornKey { didSet { birth = named.birth.map { .passUnretained($0) } } }

    /// The object's birth, kept alive by `named`.
    private var birth: Unmanaged<Birth>?

    /// Null once the transaction that made the object was rolled back.
    @inline(__always) var key: ObjKey {
        guard let birth, birth._withUnsafeGuaranteedRef({ $0.isUndone }) else { return named.made }
        return .null
    }

    private var isPooled = false

    /// Its callbacks end with the handle.
    var notifier: Notifier?
    var box: RealmBox { ownedBox.takeUnretainedValue() }

    private init(_ box: RealmBox, _ table: TableKey, _ named: BornKey) {
        ownedBox = .passRetained(box)
        realm = box.realm
        self.table = table
        self.named = named
        birth = named.birth.map { .passUnretained($0) }
        super.init(.object)
    }

    deinit {
        notifier?.end()
        if !isPooled { ownedBox.release() }
    }

    /// A handle, for C to own; made inside the Realm's door.
    @inline(__always) static func make(_ box: RealmBox, _ table: TableKey, _ key: ObjKey) -> OpaquePointer {
        make(box, table, BornKey(key, box.realm.content._withUnsafeGuaranteedRef { $0.birth(table, key) }))
    }

    @inline(__always) static func make(_ box: RealmBox, _ table: TableKey, _ named: BornKey) -> OpaquePointer {
        if let pooled = ObjectPool.current?.pop() {
            pooled._withUnsafeGuaranteedRef { h in
                // One reference is counted; passing it on would count another one for the way.
                h.realm = box.realm
                h.ownedBox = Unmanaged.passUnretained(box).retain()
                h.table = table
                h.named = named
                h.generation = ForkGuard.generation
                h.isPooled = false
            }
            return OpaquePointer(pooled.toOpaque())
        }
        return ObjectHandle(box, table, named).out()
    }

    /// C gives its reference back.
    @inline(__always) static func recycle(_ u: Unmanaged<ObjectHandle>) {
        guard u._withUnsafeGuaranteedRef({ $0.notifier == nil }), let pool = ObjectPool.current, pool.hasRoom else {
            return u.release()
        }
        u._withUnsafeGuaranteedRef { h in
            h.ownedBox.release()
            h.named = BornKey(.null, nil)
            h.isPooled = true
        }
        // The last reference to a Realm may have gone, and functions of the program with it, which released other
        // objects.
        guard pool.hasRoom else { return u.release() }
        pool.push(u)
    }

    override func isEqual(to other: Handle) -> Bool {
        guard let peer = other as? ObjectHandle else { return false }
        return peer.realm.content.toOpaque() == realm.content.toOpaque() && peer.table == table && peer.named == named
    }

    override var isFrozen: Bool { realm.content.takeUnretainedValue().isFrozen }

    /// On a foreign thread it only tells that the Realm is open.
    var isValid: Bool {
        let realm = realm.content.takeUnretainedValue()
        return realm.isOnThread ? realm.isValid(table, key) : !realm.isClosed
    }

    override func clonedPointer() -> OpaquePointer? { ObjectHandle.make(box, table, named) }
}

/// A list, set or dictionary: where it stands. What was resolved is kept while the Realm's state does not change; that
/// of a frozen Realm is kept by the readers of the threads, since all of them may use the handle at once.
final class CollectionHandle: Handle, Confined {
    static var accessor: Realm.Accessor { .collection }
    let box: RealmBox
    let path: CollectionPath
    let realm: Sealed<Realm>
    private let isOfFrozen: Bool
    private var elements: ElementList?
    private var entries: ElementDictionary?
    private var resolvedAt = UInt64.max

    /// Index of the last insertion: the next one behind it makes it worth to keep the list open.
    private var lastInserted = -2

    /// Its callbacks end with the handle.
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
    // What follows is for calls inside the Realm's door.

    /// Brings `elements` or `entries` to the present version; 2010 when the collection is gone.
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

    /// Whether the collection is there at the present version; an error where that cannot be asked.
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

    /// The collection at the present version; 2010 when it is gone.
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

    /// Element of a list or set.
    @inline(__always) func element(_ i: Int, _ out: UnsafeMutablePointer<realm_value_t>?) throws(RealmError) {
        let value: Mixed
        if isOfFrozen {
            value = try list().get(i)
        } else {
            try resolve()
            guard let elements else { throw gone() }
            value = try elements.get(i)
        }
        if let out { store(value, out) }
    }

    func insert(_ v: Mixed, _ i: Int) throws(RealmError) {
        try realm.content.borrow { (realm: Realm) throws(RealmError) in
            if isOfFrozen { return try realm.insert(v, at: i, in: path) }
            if i == lastInserted &+ 1, resolvedAt != realm.stateCount { try resolve() }
            lastInserted = i
            if resolvedAt == realm.stateCount, let elements, i == elements.count,
                try realm.appendInPlace(v, to: elements, path)
            {
                resolvedAt = realm.stateCount
                return
            }
            try realm.insert(v, at: i, in: path)
        }
    }

    override func isEqual(to other: Handle) -> Bool {
        guard let peer = other as? CollectionHandle else { return false }
        guard peer.kind == kind, peer.realm.content.toOpaque() == realm.content.toOpaque() else { return false }
        return peer.path.table == path.table && peer.path.object == path.object && peer.path.column == path.column
    }

    override func cloned() -> Handle? { CollectionHandle(kind, box, path) }
}

/// Results: rows that follow the data.
final class ResultsHandle: Handle, Confined {
    static var accessor: Realm.Accessor { .results }
    let box: RealmBox
    let realm: Sealed<Realm>
    let content: Sealed<ResultSet>
    private let kept: ResultSet

    /// Its callbacks end with the handle.
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

    /// The text handed out last; replaced by the next call where that may say something else.
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
