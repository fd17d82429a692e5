import CRealmHeaders
import CoreEngine

/// Results: all objects of a class, the objects that link to one, the elements of a collection.
final class ResultsHandle: Handle {
    enum Source {
        case all(TableKey)
        case backlinks(of: TableKey, ObjKey, from: TableKey, ColKey)
        /// Elements of a list or set, values of a dictionary.
        case collection(CollectionHandle)
        /// Keys of a dictionary.
        case keys(CollectionHandle)
    }
    let box: RealmBox
    let source: Source
    /// Rows of a backlink source, while the Realm's state does not change.
    private var rows: [ObjKey] = []
    private var rowsAt = UInt64.max
    init(_ box: RealmBox, _ source: Source) {
        self.box = box
        self.source = source
        super.init(.results)
    }
    override func cloned() -> Handle? { ResultsHandle(box, source) }

    @inline(__always) func verify() throws(RealmError) {
        if box.realm.isClosed { throw stale() }
        if !box.realm.isOnThread { throw RealmError(.wrongThread, "Realm accessed from incorrect thread.") }
    }
    @inline(never) private func stale() -> RealmError { RealmError(.staleAccessor, "Access to invalidated Results objects") }
    private func refreshRows() throws(RealmError) {
        guard case .backlinks(let t, let k, let source, let column) = source, rowsAt != box.realm.stateCount else { return }
        rows = box.realm.isValid(t, k) ? try box.realm.backlinks(t, k, from: source, column) : []
        rowsAt = box.realm.stateCount
    }
    func count() throws(RealmError) -> Int {
        try verify()
        switch source {
        case .all(let t): return try box.realm.objectCount(t)
        case .backlinks:
            try refreshRows()
            return rows.count
        case .collection(let c), .keys(let c):
            guard let content = try content(c) else { return 0 }
            switch content {
            case .list(let l): return l.count
            case .dictionary(let d): return d.count
            }
        }
    }
    /// What the collection holds now. Without its owner there are no objects (nil); values are an error then.
    private func content(_ c: CollectionHandle) throws(RealmError) -> CollectionContent? {
        do throws(RealmError) { return try c.content() } catch {
            guard error.code == .invalidatedObject else { throw error }
            if case .collection = source, (try? box.realm.isLinkCollection(c.path)) ?? false { return nil }
            throw stale()
        }
    }
    /// Whether the rows can still be read.
    func isValid() throws(RealmError) -> Bool {
        if box.realm.isClosed { return false }
        try verify()
        switch source {
        case .collection(let c), .keys(let c):
            do throws(RealmError) { _ = try content(c) } catch { return false }
            return true
        default: return true
        }
    }
    /// The row at an index: a link for objects.
    func value(_ index: Int) throws(RealmError) -> Mixed {
        switch source {
        case .collection(let c):
            try verify()
            switch try content(c) {
            case .list(let l): return try l.get(index)
            case .dictionary(let d): return try d.value(index)
            case nil: throw RealmError(.indexOutOfBounds, "Requested index \(index) calling get() on Results of 0 objects")
            }
        case .keys(let c):
            try verify()
            guard case .dictionary(let d) = try content(c) else { throw stale() }
            return try d.key(index)
        default:
            let (t, k) = try object(index)
            return .typedLink(t, k)
        }
    }
    @inline(__always) func object(_ index: Int) throws(RealmError) -> (TableKey, ObjKey) {
        try box.unmanagedRealm.borrow { (realm: Realm) throws(RealmError) in
            if realm.isClosed { throw stale() }
            if !realm.isOnThread { throw RealmError(.wrongThread, "Realm accessed from incorrect thread.") }
            switch source {
            case .all(let t): return (t, try realm.objectKey(t, at: index))
            case .backlinks: return try backlink(index)
            case .collection, .keys:
                guard case .typedLink(let t, let k) = try value(index) else {
                    throw RealmError(.indexOutOfBounds, "Element \(index) of the Results is no object")
                }
                return (t, k)
            }
        }
    }
    private func backlink(_ index: Int) throws(RealmError) -> (TableKey, ObjKey) {
        try refreshRows()
        guard case .backlinks(_, _, let table, _) = source, index >= 0, index < rows.count else {
            throw RealmError(.indexOutOfBounds, "Requested index \(index) calling get() on Results of \(rows.count) objects")
        }
        return (table, rows[index])
    }
}
@inline(__always) private func results(_ p: OpaquePointer?) -> ResultsHandle? { handle(p, .results, ResultsHandle.self) }

@_cdecl("realm_object_find_all")
public func realm_object_find_all(_ r: OpaquePointer?, _ table: UInt32) -> OpaquePointer? {
    guard let r = realmHandle(r) else { return nil }
    return attemptHandle { () throws(RealmError) in
        _ = try r.realm.tableName(TableKey(table))
        return ResultsHandle(r.box, .all(TableKey(table)))
    }
}
@_cdecl("realm_get_backlinks")
public func realm_get_backlinks(_ o: OpaquePointer?, _ table: UInt32, _ property: Int64) -> OpaquePointer? {
    guard let o = objectHandle(o) else { return nil }
    return attemptHandle { () throws(RealmError) in
        _ = try o.realm.backlinks(o.table, o.key, from: TableKey(table), ColKey(property))
        return ResultsHandle(o.box, .backlinks(of: o.table, o.key, from: TableKey(table), ColKey(property)))
    }
}
@_cdecl("realm_results_is_valid")
public func realm_results_is_valid(_ r: OpaquePointer?, _ out: UnsafeMutablePointer<Bool>?) -> Bool {
    guard let r = results(r) else { return false }
    return attempt { () throws(RealmError) in
        let valid = try r.isValid()
        out?.pointee = valid
    }
}
@_cdecl("realm_results_count")
public func realm_results_count(_ r: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool {
    guard let r = results(r) else { return false }
    return attempt { () throws(RealmError) in
        let n = try r.count()
        out?.pointee = n
    }
}
@_cdecl("realm_results_get")
public func realm_results_get(_ r: OpaquePointer?, _ index: Int, _ out: UnsafeMutablePointer<realm_value_t>?) -> Bool {
    guard let r = results(r) else { return false }
    return attempt { () throws(RealmError) in
        let v = try r.value(index)
        if let out { store(v, out) }
    }
}
@_cdecl("realm_results_get_object")
public func realm_results_get_object(_ r: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    guard let r else { return fail(nullArgument()) }
    let u = Unmanaged<ResultsHandle>.fromOpaque(UnsafeRawPointer(r))
    do throws(RealmError) {
        return try u.borrow { (r: ResultsHandle) throws(RealmError) -> OpaquePointer in
            guard r.kind == .results else { throw RealmError(.invalidArgument, "A handle of another kind was passed") }
            let (t, k) = try r.object(index)
            return ObjectHandle.make(r.box, t, k)
        }
    } catch { return fail(error) }
}
